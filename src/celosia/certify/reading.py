"""Certificates read from their files: the structure is checked, the content is not believed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

from celosia.certify.canonical import (
    ALL_REACHED,
    FORMAT,
    FORMAT_VERSION,
    NO_RANGES,
    NOT_CERTIFIED,
    NOT_SAFE,
    SAFE,
    SOME_REACHED,
)
from celosia.certify.numerals import counted, fraction, is_decimal, is_fraction, places, whole_numbers
from celosia.errors import DataError
from celosia.pattern.entries import STATUSES

_REMEDY = "Has the file been cut off or edited?"


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """Two ends for every cell, in units of the last decimal, None where there is none.

    Parameters
    ----------
    lower, upper
        The ends, ``(n_cells,)`` each.
    """

    lower: list[int | None]
    upper: list[int | None]


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """What a certificate says, in exact numbers.

    Parameters
    ----------
    content
        The file as it is.
    unit
        How many units of the last decimal make one; values, right sides and bounds count in these.
    values, relations, right
        The table: ``(cell, coefficient)`` for the terms of each relation.
    required
        Cell, attacker, LPL, UPL and SPL.
    attackers
        What each attacker knows.
    status, published, bounds
        The release.
    witnesses
        Tables as denominator and moves, cell by cell.
    """

    content: dict[str, Any]
    unit: int
    values: list[int]
    relations: list[list[tuple[int, int]]]
    right: list[int]
    required: list[tuple[int, int, Fraction, Fraction, Fraction]]
    attackers: list[Bounds]
    status: list[str]
    published: list[int | None]
    bounds: Bounds
    witnesses: list[tuple[int, dict[int, int]]]

    def label(self, cell: int) -> str:
        """Return how people call a cell."""
        table = self.content["table"]
        codes = zip(table["axes"], table["codes"][cell], strict=True)
        said = [labels[code] for (_, labels), code in codes if code]
        names = [table["variables"][table["variable"][cell]], *said] if len(table["variables"]) > 1 else said
        return f"cell {cell} ({' x '.join(names)})" if names else f"cell {cell}"


def read_claim(path: str | Path) -> Claim:
    """Return what a certificate says.

    Raises
    ------
    DataError
        The file cannot be read: it is missing, no JSON, no certificate of this format, or lacks a part. Numbers with a
        decimal point outside of texts are refused: a reader might round them.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise DataError.one(str(path), f"cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise DataError.one(str(path), "is no text file.", "Give the certificate that celosia wrote.") from error
    try:
        content = json.loads(text, parse_float=_refuse, parse_constant=_refuse, object_pairs_hook=_once)
        return _claim(content)
    except _UnreadableError as error:
        raise DataError.one(str(path), str(error), _REMEDY) from None
    except (ValueError, RecursionError) as error:
        raise DataError.one(str(path), "is not JSON, or not to the end.", _REMEDY) from error


class _UnreadableError(Exception):
    """Why a file is no certificate."""


def _refuse(text: str) -> NoReturn:  # noqa: ARG001  (what is refused may be a true value)
    raise _UnreadableError("has a number that is no whole number and no text.")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a dictionary, unless a key stands in it twice: two readers might take different ones."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise _UnreadableError("says something twice.")
    return entries


def _claim(content: object) -> Claim:
    """Return what the file says, or refuse it for the first thing that is not where it belongs."""
    top = _object(content, "", _KEYS)
    if top["format"] != FORMAT or type(top["format_version"]) is not int or top["format_version"] != FORMAT_VERSION:
        raise _UnreadableError(f"is no {FORMAT} of version {FORMAT_VERSION}.")
    for name, allowed in (("confidential", (True,)), ("whole_numbers", (True, False)), ("verdict", (SAFE, NOT_SAFE))):
        _check(any(top[name] is word or (isinstance(word, str) and top[name] == word) for word in allowed), name)
    hashes = _object(top["sha256"], "sha256", ("table", "requirements", "release", "certificate"))
    _check(all(isinstance(text, str) for text in (top["note"], *hashes.values())), "sha256")
    versions = top["versions"]
    _check(isinstance(versions, dict) and all(isinstance(text, str) for text in versions.values()), "versions")
    table = _object(top["table"], "table", _TABLE)
    requirements = _object(top["requirements"], "requirements", ("attackers", "required"))
    release = _object(top["release"], "release", ("status", "published", "lower", "upper"))
    values = _texts(table["values"], "table.values", None, is_decimal)
    n = len(values)
    _check_labels(table, n)
    relations = _relations(table["relations"], n)
    right = _texts(table["right"], "table.right", len(relations), is_decimal)
    status = _texts(release["status"], "release.status", n, STATUSES.__contains__)
    published = _texts(release["published"], "release.published", n, lambda text: text == "" or is_decimal(text))
    given = [(release, "release"), *_attackers(requirements["attackers"])]
    ends = [_ends(part, place, n) for part, place in given]
    decimals = max(places(texts) for texts in (values, right, published, *(side for pair in ends for side in pair)))
    bounds = [Bounds(*(_counts(side, decimals) for side in pair)) for pair in ends]
    claim = Claim(
        content=top,
        unit=10**decimals,
        values=[counted(text, decimals) for text in values],
        relations=relations,
        right=[counted(text, decimals) for text in right],
        required=_required(requirements["required"], n, len(bounds) - 1),
        attackers=bounds[1:],
        status=status,
        published=_counts(published, decimals),
        bounds=bounds[0],
        witnesses=_witnesses(top["witnesses"], n),
    )
    _check_proofs(claim)
    return claim


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
    "proofs",
    "ranges",
    "witnesses",
)
_TABLE = ("variables", "counts", "variable", "axes", "codes", "values", "relations", "right")


def _check(says: bool, place: str) -> None:  # noqa: FBT001
    if not says:
        raise _UnreadableError(f"has no {place}, or one that cannot be read.")


def _object(part: object, place: str, keys: Sequence[str]) -> dict[str, Any]:
    if not isinstance(part, dict) or set(part) != set(keys):
        raise _UnreadableError(f"does not have the entries {', '.join(keys)}{' in ' + place if place else ''}.")
    return part


def _list(part: object, place: str, n: int | None = None) -> list[Any]:
    if not isinstance(part, list) or (n is not None and len(part) != n):
        raise _UnreadableError(f"has no list {place}, or one of another length.")
    return part


def _texts(part: object, place: str, n: int | None, good: Callable[[Any], bool]) -> list[str]:
    texts = _list(part, place, n)
    _check(all(isinstance(text, str) and good(text) for text in texts), place)
    return texts


def _is_place(number: object, n: int) -> bool:
    return type(number) is int and 0 <= number < n


def _check_labels(table: dict[str, Any], n: int) -> None:
    variables = _texts(table["variables"], "table.variables", None, bool)
    _texts(table["counts"], "table.counts", None, variables.__contains__)
    of = _list(table["variable"], "table.variable", n)
    _check(all(_is_place(number, len(variables)) for number in of), "table.variable")
    axes = [_list(axis, "table.axes", 2) for axis in _list(table["axes"], "table.axes")]
    sizes = [len(_texts(labels, "table.axes", None, lambda _: True)) for _, labels in axes]
    _check(all(isinstance(name, str) for name, _ in axes), "table.axes")
    for codes in _list(table["codes"], "table.codes", n):
        entries = zip(_list(codes, "table.codes", len(sizes)), sizes, strict=True)
        _check(all(_is_place(code, size) for code, size in entries), "table.codes")


def _pairs(part: object, place: str, n: int) -> list[tuple[int, int]]:
    """Return cells with whole numbers, each cell at most once."""
    pairs = _list(part, place)
    _check(all(type(pair) is list and len(pair) == 2 for pair in pairs), place)  # noqa: PLR2004
    cells = [cell for cell, _ in pairs]
    _check(all(type(cell) is int for cell in cells) and len(set(cells)) == len(cells), place)
    _check(not cells or (min(cells) >= 0 and max(cells) < n), place)
    numbers = whole_numbers([text for _, text in pairs])
    if numbers is None:
        raise _UnreadableError(f"has texts in {place} that are no whole numbers.")
    return list(zip(cells, numbers, strict=True))


def _relations(part: object, n: int) -> list[list[tuple[int, int]]]:
    return [_pairs(terms, "table.relations", n) for terms in _list(part, "table.relations")]


def _attackers(part: object) -> list[tuple[dict[str, Any], str]]:
    place = "requirements.attackers"
    attackers = [_object(one, place, ("name", "lower", "upper")) for one in _list(part, place)]
    _check(all(isinstance(one["name"], str) for one in attackers), place)
    return [(one, place) for one in attackers]


def _ends(part: dict[str, Any], place: str, n: int) -> tuple[list[str], list[str]]:
    """Return lower and upper ends as texts, empty where there is none."""
    sides = []
    for name, endless in (("lower", "-inf"), ("upper", "inf")):
        texts = _list(part[name], f"{place}.{name}", n)
        _check(all(text == endless or is_decimal(text) for text in texts), f"{place}.{name}")
        sides.append(["" if text == endless else text for text in texts])
    return sides[0], sides[1]


def _counts(texts: list[str], decimals: int) -> list[int | None]:
    return [counted(text, decimals) if text else None for text in texts]


def _required(part: object, n: int, attackers: int) -> list[tuple[int, int, Fraction, Fraction, Fraction]]:
    place = "requirements.required"
    required = []
    for entry in _list(part, place):
        cell, attacker, *levels = _list(entry, place, 5)
        _check(_is_place(cell, n) and _is_place(attacker, attackers) and all(map(is_fraction, levels)), place)
        lower, upper, sliding = map(fraction, levels)
        _check(min(lower, upper, sliding) >= 0, place)
        required.append((cell, attacker, lower, upper, sliding))
    return required


def _witnesses(part: object, n: int) -> list[tuple[int, dict[int, int]]]:
    witnesses = []
    for entry in _list(part, "witnesses"):
        table = _object(entry, "witnesses", ("denominator", "moves"))
        denominators = whole_numbers([table["denominator"]]) or [0]
        _check(denominators[0] > 0, "witnesses")
        witnesses.append((denominators[0], dict(_pairs(table["moves"], "witnesses", n))))
    return witnesses


def _check_proofs(claim: Claim) -> None:
    n, attackers, tables = len(claim.values), len(claim.attackers), len(claim.witnesses)
    for proof in _list(claim.content["proofs"], "proofs", len(claim.required)):
        if proof is not None:
            _check(all(_is_place(place, tables) for place in _list(proof, "proofs", 2)), "proofs")
    ranges = _object(claim.content["ranges"], "ranges", ("claim", "reached"))
    _check(ranges["claim"] in (ALL_REACHED, SOME_REACHED, NO_RANGES, NOT_CERTIFIED), "ranges")
    for entry in _list(ranges["reached"], "ranges"):
        cell, attacker, *ends = _list(entry, "ranges", 4)
        _check(_is_place(cell, n) and _is_place(attacker, attackers), "ranges")
        _check(all(place is None or _is_place(place, tables) for place in ends), "ranges")
