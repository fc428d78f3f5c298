"""A changed sign in a certificate is refused, unless nothing rests on what was changed.

A certificate may hold more than a proof needs: tables for a contributor whom those of a larger one in his cell protect,
too. The judge leaves out what does not hold, and proves the rest.
"""

from __future__ import annotations

import copy
import itertools
import json
import warnings
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.property.test_concealed_levels import draw_firms

import celosia as cz
from celosia.certificate.canonical import digests
from celosia.certificate.columns import column, read_column
from celosia.protection.method import Method

METHODS = {
    "suppress": cz.Suppress(),
    "ranges": cz.Intervals(conceal=False, shift=False),
    "concealed": cz.Intervals(levels="sliding", conceal=True, secret=3),
    "mixed": cz.Mixed(conceal=False, shift=False),
}
Way = tuple[str | int, ...]


def certify(seed: int, method: Method, *, respondents: bool) -> tuple[cz.Risk, cz.Release, dict[str, Any]]:
    """Return a problem, a safe release, and its certificate."""
    table = cz.tabulate(draw_firms(seed, 1), by=["r", "c"], value="v", respondent="f", contributions=respondents)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cz.protect(cz.assess(table, cz.PPercent(10), cost="unity"), method, time_limit=10)
    return result.risk, cz.publish(result), json.loads(cz.certify(result).text())


def find_columns(part: Any, way: Way = ()) -> Iterator[Way]:  # noqa: ANN401
    """Yield the ways to all columns of numbers."""
    if isinstance(part, dict) and isinstance(part.get("numbers"), str):
        yield way
    elif isinstance(part, dict | list):
        for key, entry in part.items() if isinstance(part, dict) else enumerate(part):
            yield from find_columns(entry, (*way, key))


def follow(content: Any, way: Way) -> Any:  # noqa: ANN401
    """Return what stands at the end of a way."""
    for step in way:
        content = content[step]
    return content


def is_proved(content: dict[str, Any], risk: cz.Risk, release: cz.Release, folder: Path) -> bool:
    """Return whether a certificate, its hashes made anew, proves the release safe."""
    content["sha256"] = digests(content)
    path = folder / "proof.json"
    path.write_text(json.dumps(content))
    try:
        return cz.verify(path, risk, release).proved
    except cz.DataError:
        return False


def flip(content: dict[str, Any], step: int) -> Iterator[tuple[Way, int, dict[str, Any]]]:
    """Yield certificates in which one sign is changed, of so many one, with the way to the column, and the place."""
    counted = itertools.count()
    for way in find_columns(content):
        entries = follow(content, way)
        written = read_column({name: entries[name] for name in ("numbers", "times")}, "").tolist()
        for place, number in enumerate(written):
            if way[0] != "sha256" and number and not next(counted) % step:
                numbers = np.array([*written[:place], -number, *written[place + 1 :]], dtype=object)
                altered = copy.deepcopy(content)
                follow(altered, way[:-1])[way[-1]] = follow(altered, way) | column(numbers)
                yield way, place, altered


Left = tuple[dict[str, Any], list[tuple[int, int]]]


def leave_out(content: dict[str, Any], way: Way, place: int) -> Left | None:
    """Return a certificate without the contributors whose tables rest on what was changed, and these; else None.

    A table that a requirement or a range names is none of those.
    """
    if way == ("witnesses", "moves"):
        ends = np.cumsum(read_column(content["witnesses"]["sizes"], ""))
        return _leave_out_table(content, int(np.searchsorted(ends, place, side="right")))
    if way[0] == "contributors" and way[2] in ("signs", "steps"):
        rule = int(way[1])
        part = _read_rule(content, rule)
        ends = np.cumsum(np.multiply(part["sizes"], part["covers"]))
        target = int(np.searchsorted(ends, place, side="right"))
        return _without(content, rule, {target}), [(rule, target)]
    return None


def _leave_out_table(content: dict[str, Any], table: int) -> Left | None:
    left: list[tuple[int, int]] = []
    for kind in ("proofs", "ranges"):
        if table in [*read_column(content[kind]["down"], ""), *read_column(content[kind]["up"], "")]:
            return None
    for rule in range(len(content["contributors"])):
        part, gone, cover, entry = _read_rule(content, rule), set(), 0, 0
        for target, (size, many) in enumerate(zip(part["sizes"], part["covers"], strict=True)):
            named = part["tables"][cover : cover + many] + part["steps"][entry : entry + size * many]
            gone |= {target} if table in named else set()
            cover, entry = cover + many, entry + size * many
        content = _without(content, rule, gone)
        left += [(rule, target) for target in sorted(gone)]
    return content, left


def _read_rule(content: dict[str, Any], rule: int) -> dict[str, list[int]]:
    return {name: read_column(one, "").tolist() for name, one in content["contributors"][rule].items()}


def _without(content: dict[str, Any], rule: int, gone: set[int]) -> dict[str, Any]:
    """Return a certificate without the tables of some targets."""
    part, kept = _read_rule(content, rule), copy.deepcopy(content)
    left: dict[str, list[int]] = {name: [] for name in part}
    cell = cover = entry = 0
    for target, (size, many) in enumerate(zip(part["sizes"], part["covers"], strict=True)):
        if target not in gone:
            for name, start, length in (
                ("targets", target, 1),
                ("sizes", target, 1),
                ("covers", target, 1),
                ("cells", cell, size),
                ("tables", cover, many),
                ("signs", entry, size * many),
                ("steps", entry, size * many),
            ):
                left[name] += part[name][start : start + length]
        cell, cover, entry = cell + size, cover + many, entry + size * many
    kept["contributors"][rule] = {name: column(np.array(one, dtype=np.int64)) for name, one in left.items()}
    return kept


def holds_against_everybody(content: dict[str, Any], rule: int, target: int, table: cz.Table) -> bool:
    """Return whether the tables of a target protect him from everybody else, by trying all of them and all corners.

    By p% with p = 10: others are known within what they contribute, and the target must be wrong by a tenth.
    """
    part = _read_rule(content, rule)
    size, many = part["sizes"][target], part["covers"][target]
    cells = part["cells"][sum(part["sizes"][:target]) :][:size]
    entry = sum(s * c for s, c in zip(part["sizes"][:target], part["covers"][:target], strict=True))
    covers = [
        (
            part["signs"][entry + k * size :][:size],
            part["tables"][sum(part["covers"][:target]) + k],
            part["steps"][entry + k * size :][:size],
        )
        for k in range(many)
    ]
    moves = _read_moves(content)
    gives = _read_gifts(table)
    own = gives[part["targets"][target]]
    for other, theirs in gives.items():
        for corner in itertools.product((1, -1), repeat=size):
            tables = [
                [one * move for move in _add(moves, middle, steps, [one * sign for sign in corner])]
                for signs, middle, steps in covers
                for one in (1, -1)
                if all(not sign or one * sign == wanted for sign, wanted in zip(signs, corner, strict=True))
            ]
            wrong = dict(zip(cells, (sign * own[c] / 10 for sign, c in zip(corner, cells, strict=True)), strict=True))
            if other != part["targets"][target] and not any(
                _believes(one, wrong, own, theirs, table) for one in tables
            ):
                return False
    return True


def _read_moves(content: dict[str, Any]) -> list[dict[int, Fraction]]:
    written = {name: read_column(one, "").tolist() for name, one in content["witnesses"].items()}
    found, start = [], 0
    for size, below in zip(written["sizes"], written["denominators"], strict=True):
        part = slice(start, start + size)
        found.append(
            {c: Fraction(m, below) for c, m in zip(written["cells"][part], written["moves"][part], strict=True)}
        )
        start += size
    return found


def _read_gifts(table: cz.Table) -> dict[int, dict[int, Fraction]]:
    """Return what every respondent contributes to which leaf, exactly."""
    single, found = table.contributions, defaultdict[int, dict[int, Fraction]](lambda: defaultdict(Fraction))
    assert single is not None
    for place in range(len(single.cell)):
        found[int(single.respondent[place])][int(single.cell[place])] += Fraction(
            int(single.amount[place]), 10**table.decimals
        )
    return found


def _add(moves: list[dict[int, Fraction]], middle: int, steps: list[int], signs: list[int]) -> list[Fraction]:
    cells = max(max(one, default=0) for one in moves) + 1
    said = [(1, middle), *((sign, step) for sign, step in zip(signs, steps, strict=True) if step >= 0)]
    return [sum((sign * moves[k].get(cell, Fraction(0)) for sign, k in said), Fraction(0)) for cell in range(cells)]


def _believes(
    move: list[Fraction],
    wrong: dict[int, Fraction],
    own: dict[int, Fraction],
    theirs: dict[int, Fraction],
    table: cz.Table,
) -> bool:
    """Return whether somebody must think a table possible in which the target is so wrong; one leaf scales it."""
    move = [*move, *([Fraction(0)] * (len(table) - len(move)))]
    values = [table.amounts.fraction(cell) for cell in range(len(table))]
    if any(table.relations.matrix.toarray().astype(object) @ np.array(move, dtype=object)):
        return False
    least, most = Fraction(0), Fraction(1)
    for cell in {cell for cell in range(len(table)) if not any(table.relations.matrix[:, [cell]].data < 0)}:
        room = values[cell] - theirs.get(cell, Fraction(0)) - (own[cell] if cell in wrong else 0)
        low, high = wrong.get(cell, Fraction(0)) - room, wrong.get(cell, Fraction(0)) + room
        if len(wrong) > 1:
            if not low <= move[cell] <= high:
                return False
        elif move[cell]:
            ends = sorted((low / move[cell], high / move[cell]))
            least, most = max(least, ends[0]), min(most, ends[1])
        elif not low <= 0 <= high:
            return False
    return least <= most


@pytest.mark.parametrize("respondents", [False, True], ids=["cells", "respondents"])
@pytest.mark.parametrize("method", sorted(METHODS))
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 3))])
def test_what_is_proved_with_a_changed_sign_is_proved_without_it(
    seed: int, method: str, tmp_path: Path, *, respondents: bool
) -> None:
    """Or what was changed still protects, which plain arithmetic finds, too."""
    risk, release, content = certify(seed, METHODS[method], respondents=respondents)
    assert is_proved(content, risk, release, tmp_path)
    for way, place, altered in flip(content, step=1 if seed else 29):
        if is_proved(altered, risk, release, tmp_path):
            assert respondents, f"{way} {place}: what protects cells is needed to the last sign"
            less = leave_out(content, way, place)
            assert less is not None, f"{way} {place} is proved"
            if not is_proved(less[0], risk, release, tmp_path):
                for rule, target in less[1]:
                    assert holds_against_everybody(altered, rule, target, risk.table), f"{way} {place} is relied on"
