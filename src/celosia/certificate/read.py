"""Certificates read from their files: the structure is checked, the content is not believed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from celosia.certificate.canonical import (
    ALL_REACHED,
    FORMAT,
    FORMAT_VERSION,
    NO_RANGES,
    NOT_SAFE,
    SAFE,
    SOME_REACHED,
)
from celosia.certificate.claim import Claim, JointTables, Pairs, RangeEnds, Required, Terms, cells_of
from celosia.certificate.columns import (
    MOST_ENTRIES,
    UnreadableError,
    check_keys,
    read_column,
    read_decimals,
    read_partial,
    read_places,
)
from celosia.certificate.respondents.tables import read_tables
from celosia.certificate.whole import LARGEST, Whole, starts_of, times
from celosia.errors import DataError
from celosia.files import read_bytes
from celosia.pattern.entries import STATUSES

_REMEDY = "Has the file been cut off or edited?"


def read_claim(path: str | Path) -> Claim:
    """Return what a certificate says.

    Raises
    ------
    DataError
        The file cannot be read: it is missing, no JSON, no certificate of this format, or lacks a part. Numbers with a
        decimal point outside of texts are refused: a reader might round them.
    """
    return claim_in(_text_of(path), str(path))


def _text_of(path: str | Path) -> str:
    try:
        return read_bytes(Path(path)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError.one(str(path), "is no text file.", "Give the certificate that celosia wrote.") from error


def claim_in(text: str, place: str) -> Claim:
    """Return what the text of a certificate says; errors name the place that it comes from."""
    try:
        content = json.loads(text, parse_float=_refuse, parse_constant=_refuse, object_pairs_hook=_once)
        del text
        return claim_of(content)
    except UnreadableError as error:
        raise DataError.one(place, str(error), _REMEDY) from None
    except (ValueError, RecursionError) as error:
        raise DataError.one(place, "is not JSON, or not to the end.", _REMEDY) from error


def _refuse(text: str) -> NoReturn:  # noqa: ARG001  (what is refused may be a true value)
    raise UnreadableError("has a number that is no whole number and no text.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dictionary, unless a key stands in it twice: two readers might take different ones."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise UnreadableError("says something twice.")
    return entries


def claim_of(content: object) -> Claim:
    """Return what a certificate says, or refuse it for the first thing that is not where it belongs."""
    linked = isinstance(content, dict) and "joint" in content
    top = check_keys(content, "", (*_KEYS, "joint") if linked else _KEYS)
    _check_head(top)
    table = check_keys(top["table"], "table", _TABLE)
    requirements = check_keys(top["requirements"], "requirements", _REQUIREMENTS)
    release = check_keys(top["release"], "release", ("words", "status", "published", "lower", "upper"))
    n = table["cells"]
    respondents = check_keys(top["respondents"], "respondents", ("rules", "unasked"))
    _texts(respondents["rules"], "respondents.rules", bool)
    _check(isinstance(respondents["unasked"], str), "respondents.unasked")
    _check(type(n) is int and 0 <= n <= MOST_ENTRIES, "table.cells")
    variable, codes = _labels(table, n)
    whole = _texts(top["whole_numbers"], "whole_numbers", lambda _: True)
    _check(whole == [name for name in table["variables"] if name in whole], "whole_numbers")
    relations = _relations(table["relations"], n)
    attackers = [
        check_keys(one, "requirements.attackers", ("name", "lower", "upper"))
        for one in _list(requirements["attackers"], "requirements.attackers")
    ]
    _check(all(isinstance(one["name"], str) for one in attackers), "requirements.attackers")
    values = read_decimals(table["values"], "table.values", n)
    right = read_decimals(table["right"], "table.right", len(relations))
    _check(release["words"] == list(STATUSES), "release.words")
    partial = [read_partial(release["published"], "release.published", n)]
    for part, place in ((release, "release"), *((one, "requirements.attackers") for one in attackers)):
        partial += [read_partial(part[side], f"{place}.{side}", n) for side in ("lower", "upper")]
    decimals = max([values[1], right[1], *(own for _, _, own in partial)])
    ends = [RangeEnds(given, times(counts, 10 ** (decimals - own))) for given, counts, own in partial]
    denominators, tables = _read_tables(top["witnesses"], "witnesses", n)
    joint = _read_joint(top["joint"], n) if linked else None
    own = (n, len(tables)) if joint is None else (n + joint.n_joint, len(joint.moves))
    required = _read_requirements(requirements, n, len(attackers))
    range_cells, ranges = _ranges(top["ranges"], n, len(tables))
    return Claim(
        content=top,
        unit=10**decimals,
        values=times(values[0], 10 ** (decimals - values[1])),
        relations=relations,
        right=times(right[0], 10 ** (decimals - right[1])),
        variable=variable,
        codes=codes,
        whole=cells_of(whole, table["variables"], variable),
        required=required,
        attackers=list(zip(ends[3::2], ends[4::2], strict=True)),
        status=read_places(release["status"], "release.status", below=len(STATUSES), n=n),
        published=ends[0],
        bounds=(ends[1], ends[2]),
        proofs=_pairs(check_keys(top["proofs"], "proofs", ("down", "up")), "proofs", len(required), len(tables)),
        range_cells=range_cells,
        ranges=ranges,
        contributors=read_tables(top["contributors"], *own),
        denominators=denominators,
        moves=tables,
        joint=joint,
    )


_KEYS = (
    "confidential",
    "note",
    "format",
    "format_version",
    "versions",
    "verdict",
    "whole_numbers",
    "sha256",
    "table",
    "requirements",
    "release",
    "respondents",
    "proofs",
    "ranges",
    "contributors",
    "witnesses",
)
_TABLE = ("cells", "variables", "counts", "variable", "axes", "codes", "values", "relations", "right")
_REQUIREMENTS = ("attackers", "cells", "attacker", "lower", "upper", "sliding")


def _check(says: bool, place: str) -> None:  # noqa: FBT001
    if not says:
        raise UnreadableError(f"has no {place}, or one that cannot be read.")


def _check_head(top: dict[str, Any]) -> None:
    if top["format"] != FORMAT or type(top["format_version"]) is not int or top["format_version"] != FORMAT_VERSION:
        raise UnreadableError(f"is no {FORMAT} of version {FORMAT_VERSION}.")
    for name, allowed in (("confidential", (True,)), ("verdict", (SAFE, NOT_SAFE))):
        _check(any(top[name] is word or (isinstance(word, str) and top[name] == word) for word in allowed), name)
    hashes = check_keys(top["sha256"], "sha256", ("table", "requirements", "release", "certificate"))
    _check(all(isinstance(text, str) for text in (top["note"], *hashes.values())), "sha256")
    versions = top["versions"]
    _check(isinstance(versions, dict) and all(isinstance(text, str) for text in versions.values()), "versions")


def _list(part: object, place: str, n: int | None = None) -> list[Any]:
    if not isinstance(part, list) or (n is not None and len(part) != n):
        raise UnreadableError(f"has no list {place}, or one of another length.")
    return part


def _texts(part: object, place: str, good: Callable[[Any], bool]) -> list[str]:
    texts = _list(part, place)
    _check(all(isinstance(text, str) and good(text) for text in texts), place)
    return texts


def _labels(table: dict[str, Any], n: int) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    variables = _texts(table["variables"], "table.variables", bool)
    _texts(table["counts"], "table.counts", variables.__contains__)
    variable = read_places(table["variable"], "table.variable", below=len(variables), n=n)
    axes = [_list(axis, "table.axes", 2) for axis in _list(table["axes"], "table.axes")]
    _check(all(isinstance(name, str) for name, _ in axes), "table.axes")
    sizes = [len(_texts(labels, "table.axes", lambda _: True)) for _, labels in axes]
    codes = _list(table["codes"], "table.codes", len(axes))
    return variable, [read_places(own, "table.codes", below=size, n=n) for own, size in zip(codes, sizes, strict=True)]


def _relations(part: object, n: int) -> Terms:
    entries = check_keys(part, "table.relations", ("sizes", "cells", "coefficients"))
    return _terms(entries, "table.relations", "coefficients", n, None)


def _terms(entries: dict[str, Any], place: str, numbers: str, n: int, parts: int | None) -> Terms:
    """Return cells with whole numbers, each cell at most once in its part."""
    sizes = read_places(entries["sizes"], f"{place}.sizes", below=MOST_ENTRIES, n=parts)
    starts = starts_of(sizes)
    cells = read_places(entries["cells"], f"{place}.cells", below=n, n=int(starts[-1]))
    part = np.repeat(np.arange(len(sizes)), sizes)
    _check(max(1, n) * max(1, len(sizes)) < LARGEST, place)  # so that a part and a cell make one number
    _check(bool(((part[1:] != part[:-1]) | (cells[1:] > cells[:-1])).all()), place)
    return Terms(starts, cells, read_column(entries[numbers], f"{place}.{numbers}", len(cells)))


def _read_tables(part: object, place: str, n: int) -> tuple[Whole, Terms]:
    """Return what the moves of tables are divided by, and the moves."""
    entries = check_keys(part, place, ("denominators", "sizes", "cells", "moves"))
    denominators = read_column(entries["denominators"], f"{place}.denominators")
    _check(not len(denominators) or int(denominators.min()) > 0, f"{place}.denominators")
    return denominators, _terms(entries, place, "moves", n, len(denominators))


def _read_joint(part: object, n: int) -> JointTables:
    """Return the tables for respondents of linked tables."""
    entries = check_keys(part, "joint", ("cells", "witnesses"))
    many = entries["cells"]
    _check(type(many) is int and 0 <= many <= MOST_ENTRIES, "joint.cells")
    return JointTables(many, *_read_tables(entries["witnesses"], "joint.witnesses", n + many))


def _read_requirements(part: dict[str, Any], n: int, attackers: int) -> Required:
    place = "requirements"
    cells = read_places(part["cells"], f"{place}.cells", below=n)
    who = read_places(part["attacker"], f"{place}.attacker", below=attackers, n=len(cells))
    levels = []
    for name in ("lower", "upper", "sliding"):
        counts, decimals = read_decimals(part[name], f"{place}.{name}", len(cells))
        _check(not len(counts) or int(counts.min()) >= 0, f"{place}.{name}")
        levels.append((counts, 10**decimals))
    return Required(cells, who, *levels)


def _pairs(part: dict[str, Any], place: str, n: int, tables: int) -> Pairs:
    """Return pairs of tables."""
    sides = [read_places(part[side], f"{place}.{side}", below=tables, n=n, least=-1) for side in ("down", "up")]
    return Pairs(sides[0], sides[1])


def _ranges(part: object, n: int, tables: int) -> tuple[NDArray[np.int64], Pairs]:
    entries = check_keys(part, "ranges", ("claim", "cells", "down", "up"))
    _check(entries["claim"] in (ALL_REACHED, SOME_REACHED, NO_RANGES), "ranges")
    cells = read_places(entries["cells"], "ranges.cells", below=n)
    return cells, _pairs(entries, "ranges", len(cells), tables)
