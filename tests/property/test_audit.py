"""Thousands of small audits against an oracle in fractions, and what must hold of audits of any size."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from tests.property import attack_oracle as oracle

from celosia.attack.audit import Audit, audit
from celosia.pattern.interval import Interval
from celosia.pattern.mode import Mode
from celosia.pattern.pattern import Pattern
from celosia.pattern.perturbed import Perturbed
from celosia.pattern.rounded import Rounded
from celosia.pattern.suppressed import Suppressed
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Levels, Risk
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table

MOST_UNKNOWN = 8
FINE = 2  # decimals of bounds and levels beyond the table's

Tree = dict[int, list[int]]
"""The children of every parent; 0 is the total."""

FLAT_2: Tree = {0: [1, 2]}
FLAT_3: Tree = {0: [1, 2, 3]}
DEEP: Tree = {0: [1, 2], 1: [3, 4]}


@dataclass(frozen=True)
class Entry:
    """What is published about a cell that is not shown: counts of the table's decimal, None for nothing."""

    status: str
    numbers: tuple[int | None, ...] = ()


@dataclass(frozen=True)
class Case:
    """A table, a release, attackers and requirements in plain numbers; the oracle reads nothing else.

    Parameters
    ----------
    rows
        The coefficients of the relations.
    counts, decimals
        The true values, in counts of the last decimal.
    entries
        What is published about cells that are not shown.
    attackers
        Lower and upper bounds of each, in counts of a decimal that is `FINE` finer; None for none.
    levels
        Lower, upper and sliding levels of sensitive cells, as fine.
    whole
        Values are counts, and attackers know it.
    """

    rows: tuple[tuple[int, ...], ...]
    counts: tuple[int, ...]
    decimals: int
    entries: dict[int, Entry]
    attackers: tuple[tuple[tuple[int | None, ...], tuple[int | None, ...]], ...]
    levels: dict[int, tuple[int, int, int]]
    whole: bool = False

    def value(self, cell: int) -> Fraction:
        return Fraction(self.counts[cell], 10**self.decimals)

    def fine(self, count: int) -> Fraction:
        return Fraction(count, 10 ** (self.decimals + FINE))

    def situation(self, number: int) -> oracle.Situation:
        """Return what one of the attackers knows, as the oracle takes it."""
        lower, upper = [], []
        for cell in range(len(self.counts)):
            low, high = given_away(self, cell)
            own_low, own_high = (side[cell] for side in self.attackers[number])
            lows = [*([] if low is None else [low]), *([] if own_low is None else [self.fine(own_low)])]
            highs = [*([] if high is None else [high]), *([] if own_high is None else [self.fine(own_high)])]
            lower.append(max(lows) if lows else None)
            upper.append(min(highs) if highs else None)
        return oracle.Situation(self.rows, [self.value(cell) for cell in range(len(self.counts))], lower, upper)

    def truth(self, number: int) -> list[tuple[oracle.End, oracle.End]] | None:
        """Return the intervals of one of the attackers by the oracle; None where there are too many whole tables."""
        return oracle.whole_ends(self.situation(number)) if self.whole else oracle.ends(self.situation(number))


def given_away(case: Case, cell: int) -> tuple[oracle.End, oracle.End]:
    """Return what the entry itself tells a reader (the table in the design, section 1)."""
    unit = Fraction(1, 10**case.decimals)
    entry = case.entries.get(cell)
    if entry is None:
        return case.value(cell), case.value(cell)
    if entry.status == "hidden":
        return None, None
    if entry.status == "interval":
        low, high = entry.numbers
        return (None if low is None else low * unit), (None if high is None else high * unit)
    shown, reach = entry.numbers
    assert shown is not None
    assert reach is not None
    wide = (reach - 1 if entry.status == "rounded" else reach) * unit
    return shown * unit - wide, shown * unit + wide


# How cases are drawn


def seeded(name: str) -> random.Random:
    """Return chance that is the same in every run."""
    return random.Random(name)  # noqa: S311


def lattice_rows(trees: Sequence[Tree]) -> list[list[int]]:
    """Return all relations of a table whose dimensions are these trees."""
    nodes = [sorted({0, *(child for children in tree.values() for child in children)}) for tree in trees]
    place = {codes: k for k, codes in enumerate(product(*nodes))}
    rows = []
    for axis, tree in enumerate(trees):
        for parent, children in tree.items():
            for codes in product(*(codes for k, codes in enumerate(nodes) if k != axis)):
                row = [0] * len(place)
                row[place[*codes[:axis], parent, *codes[axis:]]] = -1
                for child in children:
                    row[place[*codes[:axis], child, *codes[axis:]]] = 1
                rows.append(row)
    return rows


def additive(chance: random.Random, rows: Sequence[Sequence[int]], least: int, most: int) -> list[int]:
    """Return counts that satisfy relations whose totals have the coefficient -1, drawn from the leaves up."""
    n = len(rows[0])
    totals = {row.index(-1) for row in rows}
    counts: list[int | None] = [None if i in totals else chance.randint(least, most) for i in range(n)]
    while None in counts:
        for row in rows:
            parts = [counts[i] for i in range(n) if row[i] == 1]
            if None not in parts:
                counts[row.index(-1)] = sum(part for part in parts if part is not None)
    return [count for count in counts if count is not None]


def linked_rows(chance: random.Random) -> list[list[int]]:
    """Return two small tables that share a margin: 3 x 3 cells and 3 x 3 cells with the first column in common."""
    one = lattice_rows([FLAT_2, chance.choice([FLAT_2, FLAT_3])])
    n = len(one[0])
    width = n // 3
    other_place = [width * row if column == 0 else n + 2 * row + column - 1 for row in range(3) for column in range(3)]
    rows = [[*row, *[0] * 6] for row in one]
    for row in lattice_rows([FLAT_2, FLAT_2]):
        moved = [0] * (n + 6)
        for k, coefficient in enumerate(row):
            moved[other_place[k]] += coefficient
        rows.append(moved)
    return rows


def drawn_table(chance: random.Random, kind: str) -> tuple[list[list[int]], list[int]]:
    """Return relations and counts of one kind of table."""
    if kind == "equations":
        n = chance.randint(2, 7)
        small, large = [(-1, 0, 1), (-2, -1, 0, 1, 2), (-3, -1, 0, 0, 1, 2, 5)], (-40, 0, 0, 1, 7)
        coefficients = chance.choice([*small, large] if n < 5 else small)  # large ones keep integer programs busy
        rows = [[chance.choice(coefficients) for _ in range(n)] for _ in range(chance.randint(1, 3))]
        rows = [oracle.reduced(row) if chance.random() < 0.5 else row for row in rows if any(row)]
        return rows or [[1] * n], [chance.randint(-6, 12) for _ in range(n)]
    if kind == "linked":
        rows = linked_rows(chance)
    else:
        trees = {
            "flat": [chance.choice([FLAT_2, FLAT_3]), chance.choice([FLAT_2, FLAT_3])],
            "tree": [chance.choice([FLAT_2, FLAT_3]), DEEP],
            "trees": [DEEP, DEEP],
            "cube": [FLAT_2, FLAT_2, FLAT_2],
        }[kind]
        rows = lattice_rows(trees)
    least = chance.choice([0, 0, 0, -5])
    return rows, additive(chance, rows, least, chance.choice([2, 9, 40]))


def drawn_entry(chance: random.Random, count: int, *, mixed: bool) -> Entry:
    status = chance.choice(["hidden", "interval", "rounded", "perturbed"]) if mixed else "hidden"
    if status == "interval":
        low, high = count - chance.randint(0, 6), count + chance.randint(0, 6)
        end = chance.random()
        return Entry(status, (None if end < 0.15 else low, None if end > 0.85 else high))
    if status == "rounded":
        base = chance.randint(1, 6)
        down = count // base * base
        return Entry(status, (chance.choice([down, -(-count // base) * base]), base))
    if status == "perturbed":
        reach = chance.randint(0, 6)
        return Entry(status, (count + chance.randint(-reach, reach), reach))
    return Entry(status)


def drawn_attacker(
    chance: random.Random, counts: Sequence[int]
) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    scale = 10**FINE
    style = chance.choice(["external", "nothing", "finite", "mixed", "mixed"])
    lower: list[int | None] = []
    upper: list[int | None] = []
    for count in counts:
        near = [chance.choice([0, 1, 50, 250, 333, 700, 1500]) for _ in range(2)]
        if style == "external" or (style == "mixed" and chance.random() < 0.5):
            lower.append(0 if count >= 0 else None)
            upper.append(None)
        elif style == "nothing" or (style == "mixed" and chance.random() < 0.2):
            lower.append(None)
            upper.append(None)
        else:
            lower.append(count * scale - near[0])
            upper.append(count * scale + near[1])
    return tuple(lower), tuple(upper)


def drawn_case(
    chance: random.Random, kind: str, *, whole: bool, decimals: int | None = None, attackers: int | None = None
) -> Case:
    rows, counts = drawn_table(chance, kind)
    n = len(counts)
    cells = chance.sample(range(n), min(n, chance.randint(2, MOST_UNKNOWN)))
    if kind != "equations" and chance.random() < 0.75:  # of cells hidden at random few can move
        cells = _corners(chance, rows, n)
    mixed = chance.random() < 0.4
    entries = {cell: drawn_entry(chance, counts[cell], mixed=mixed) for cell in cells}
    sensitive = chance.sample(cells, chance.randint(1, len(cells)))
    if len(cells) < n and chance.random() < 0.1:
        sensitive.append(chance.choice([cell for cell in range(n) if cell not in entries]))
    amounts = [0, 0, 1, 100, 150, 200, 400, 1000]
    drawn = {cell: (chance.choice(amounts), chance.choice(amounts), chance.choice(amounts)) for cell in sensitive}
    levels = {cell: own if any(own) else (0, 1, 0) for cell, own in drawn.items()}
    who = tuple(drawn_attacker(chance, counts) for _ in range(attackers or chance.choice([1, 1, 2])))
    places = 0 if whole else chance.choice([0, 0, 1, 2]) if decimals is None else decimals
    return Case(tuple(map(tuple, rows)), tuple(counts), places, entries, who, levels, whole)


def _corners(chance: random.Random, rows: Sequence[Sequence[int]], n: int) -> list[int]:
    """Return cells that can move together: no relation has just one of them, if that can be had with few cells."""
    members = [{i for i, entry in enumerate(row) if entry} for row in rows]
    cells: set[int] = set()
    for _ in range(40):
        cells = set(chance.sample(range(n), 2))
        while len(cells) <= MOST_UNKNOWN:
            alone = [row for row in members if len(row & cells) == 1]
            if not alone:
                return sorted(cells)
            cells.add(chance.choice(sorted(chance.choice(alone) - cells)))
    return sorted(cells)[:MOST_UNKNOWN]


def joined(cases: Sequence[Case]) -> Case:
    """Return cases of the same decimals and numbers of attackers side by side in one table."""
    n = sum(len(case.counts) for case in cases)
    rows: list[tuple[int, ...]] = []
    counts: list[int] = []
    entries: dict[int, Entry] = {}
    levels: dict[int, tuple[int, int, int]] = {}
    for case in cases:
        start = len(counts)
        rows += [(*[0] * start, *row, *[0] * (n - start - len(row))) for row in case.rows]
        counts += case.counts
        entries |= {start + cell: entry for cell, entry in case.entries.items()}
        levels |= {start + cell: level for cell, level in case.levels.items()}
    first = cases[0]
    attackers = tuple(
        (
            tuple(low for case in cases for low in case.attackers[number][0]),
            tuple(high for case in cases for high in case.attackers[number][1]),
        )
        for number in range(len(first.attackers))
    )
    return Case(tuple(rows), tuple(counts), first.decimals, entries, attackers, levels, first.whole)


# How they are put to celosia


def fixed(counts: Sequence[int | None], decimals: int, sign: int = 1) -> Fixed:
    return Fixed(np.array([sign * INFINITE if count is None else count for count in counts], dtype=np.int64), decimals)


def table_of(case: Case) -> Table:
    n = len(case.counts)
    matrix = sp.csr_array(np.array(case.rows, dtype=np.int64))
    amounts = Fixed(np.array(case.counts, dtype=np.int64), case.decimals)
    return Table(
        axes=(),
        codes=np.zeros((n, 0), dtype=np.int32),
        variables=("value",),
        variable=np.zeros(n, dtype=np.int32),
        amounts=amounts,
        relations=Relations(matrix, np.asarray(matrix @ amounts.counts)),
        counts=frozenset({"value"} if case.whole else ()),
    )


def pattern_of(case: Case, table: Table) -> Pattern:
    modes: list[Mode] = []
    for status in ("hidden", "interval", "rounded", "perturbed"):
        cells = [cell for cell, entry in case.entries.items() if entry.status == status]
        if not cells:
            continue
        places = np.array(cells, dtype=np.int64)
        first, second = (
            [case.entries[cell].numbers[k] for cell in cells] if status != "hidden" else [] for k in range(2)
        )
        if status == "hidden":
            modes.append(Suppressed(places, table))
        elif status == "interval":
            both = [low is None and high is None for low, high in zip(first, second, strict=True)]
            assert not any(both)
            modes.append(Interval(places, fixed(first, case.decimals, -1), fixed(second, case.decimals), table=table))
        elif status == "rounded":
            values, base = fixed(first, case.decimals), fixed(second, case.decimals)
            modes.append(Rounded(places, values, base, case.decimals, table=table))
        else:
            values, reach = fixed(first, case.decimals), fixed(second, case.decimals)
            modes.append(Perturbed(places, values, reach, table=table))
    return Pattern.of(table, *modes)


def risk_of(case: Case, table: Table) -> Risk:
    n = len(table)
    status = np.array(["u" if cell in case.levels else "s" for cell in range(n)])
    fine = case.decimals + FINE
    parts: list[NDArray[Any]] = [np.zeros(n, dtype=np.int64) for _ in range(3)]
    for cell, levels in case.levels.items():
        for part, level in zip(parts, levels, strict=True):
            part[cell] = level
    attackers = tuple(
        Attacker(f"attacker {number}", fixed(lower, fine, -1), fixed(upper, fine))
        for number, (lower, upper) in enumerate(case.attackers)
    )
    return Risk(table, status, Levels(*(Fixed(part, fine) for part in parts)), np.ones(n), attackers)


def audited(case: Case, **options: Any) -> Audit:  # noqa: ANN401
    table = table_of(case)
    return audit(pattern_of(case, table), risk_of(case, table), intervals=True, **options)


Found = dict[tuple[int, int], tuple[tuple[oracle.End, oracle.End], bool]]


def found_by(case: Case) -> Found:
    """Return interval and exactness by attacker and cell."""
    return {(f.attacker, f.cell): ((f.lower, f.upper), f.exact) for f in audited(case).intervals}


def intervals_of(cases: Sequence[Case]) -> list[list[tuple[oracle.End, oracle.End] | None]]:
    """Return the oracle's intervals by attacker and cell of the joined table, None where it does not judge."""
    out = []
    for number in range(len(cases[0].attackers)):
        line: list[tuple[oracle.End, oracle.End] | None] = []
        for case in cases:
            line += case.truth(number) or [None] * len(case.counts)
        out.append(line)
    return out


def judged(*cases: Case) -> Counter[str]:
    """Compare the audit of some cases, side by side in one table, with the oracle's; return what was compared."""
    case = joined(cases)
    said = audited(case)
    truths = intervals_of(cases)
    seen: Counter[str] = Counter(cases=len(cases))
    assert len(said.intervals) == len(case.entries) * len(case.attackers)
    for finding in said.intervals:
        true = truths[finding.attacker][finding.cell]
        interval, value = (finding.lower, finding.upper), case.value(finding.cell)
        assert oracle.inside((value, value), interval)
        seen["intervals"] += 1
        seen["open"] += not finding.exact
        if true is None:
            seen["not judged"] += 1
        elif finding.exact:
            assert interval == true, (finding.attacker, finding.cell, cases)
        else:
            assert oracle.inside(interval, true), (finding.attacker, finding.cell, cases)
    assert len(said.verdicts) == len(case.levels) * len(case.attackers)
    for verdict in said.verdicts:
        cell = verdict.requirement.cell
        true = truths[verdict.requirement.attacker][cell]
        if true is None:
            continue
        lower, upper, sliding = map(case.fine, case.levels[cell])
        good = oracle.meets(case.value(cell), true, (lower, upper, sliding))
        seen[verdict.result] += 1
        expected = {True: ("met", "not shown safe"), False: ("missed", "not shown safe")}[good]
        assert verdict.result in expected, (verdict.requirement, true, cases)
        assert verdict.result != "not shown safe" or not verdict.finding.exact
    assert said.safe == all(verdict.result == "met" for verdict in said.verdicts)
    return seen


KINDS = ["flat", "tree", "trees", "cube", "equations", "linked"]


@pytest.mark.parametrize("whole", [False, True], ids=["decimals", "whole"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_audit_of_small_tables_is_that_of_the_oracle(kind: str, *, whole: bool) -> None:
    seen: Counter[str] = Counter()
    for number in range(20):
        chance = seeded(f"{kind} {whole} {number}")
        decimals, attackers = (0 if whole else number % 3), 1 + number % 2
        cases = [
            drawn_case(chance, kind, whole=whole, decimals=decimals, attackers=attackers)
            for _ in range(1 if number % 4 == 0 else 14)
        ]
        seen += judged(*cases)
    assert seen["cases"] == 215
    assert seen["not judged"] < seen["intervals"] / 2
    assert min(seen["met"], seen["missed"]) > 20
    assert seen["open"] <= seen["intervals"] / 100, seen  # allowed, and rare: a method that gives up more shows here


@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_agrees_with_all_vertices_and_with_all_whole_tables(kind: str) -> None:
    """The judge is judged: simplex, vertices and enumeration have nothing in common but the elimination."""
    judged_by = Counter[str]()
    for number in range(40):
        case = drawn_case(seeded(f"oracle {kind} {number}"), kind, whole=True, attackers=1)
        near = tuple(tuple(count * 100 + sign * 300 for count in case.counts) for sign in (-1, 1))
        near_case = replace(case, attackers=((near[0], near[1]),))
        situation = near_case.situation(0)
        if len(oracle.solved(situation).free) > 3:
            continue
        loose = oracle.ends(situation)
        assert loose == oracle.ends_by_vertices(situation)
        judged_by["vertices"] += 1
        tight = oracle.whole_ends(situation)
        if tight is not None:
            judged_by["whole tables"] += 1
            assert all(oracle.inside(narrow, wide) for narrow, wide in zip(tight, loose, strict=True))
    assert min(judged_by["vertices"], judged_by["whole tables"]) >= 15


# What must hold whatever the oracle says


def drawn_cases(name: str, number: int = 16) -> list[Case]:
    """Return cases of every kind, many side by side in one table: with decimals, then with whole numbers."""
    out = []
    for kind, whole in product(KINDS, (False, True)):
        chance = seeded(f"{name} {kind} {whole}")
        decimals, attackers = (0 if whole else chance.choice([0, 1, 2])), chance.choice([1, 2])
        cases = [drawn_case(chance, kind, whole=whole, decimals=decimals, attackers=attackers) for _ in range(number)]
        out.append(joined(cases))
    return out


def compare(before: Found, after: Found, holds: Callable[[Any, Any], bool]) -> int:
    """Check what holds between the exact intervals before and after a change; return how many there were."""
    compared = 0
    for place, (interval, exact) in before.items():
        other, other_exact = after[place]
        if exact and other_exact:
            assert holds(interval, other), (place, interval, other)
            compared += 1
    return compared


def test_hiding_more_never_narrows_an_interval() -> None:
    compared = 0
    for case in drawn_cases("more"):
        chance = seeded(repr(case.counts))
        shown = [cell for cell in range(len(case.counts)) if cell not in case.entries]
        told = [cell for cell, entry in case.entries.items() if entry.status != "hidden"]
        more = [*chance.sample(shown, len(shown) // 6), *told[::3]]
        after = found_by(replace(case, entries=case.entries | {cell: Entry("hidden") for cell in more}))
        compared += compare(found_by(case), after, oracle.inside)
    assert compared > 1_000


def test_an_attacker_who_knows_more_never_gets_a_wider_interval() -> None:
    compared = 0
    for case in drawn_cases("knows"):
        chance = seeded(repr(case.counts))
        lower, upper = ([*side] for side in case.attackers[0])
        for cell in chance.sample(range(len(case.counts)), len(case.counts) // 4):
            near = chance.choice([0, 100, 250])
            low, high = lower[cell], upper[cell]
            least, most = case.counts[cell] * 100 - near, case.counts[cell] * 100 + near
            lower[cell] = least if low is None else max(least, low)
            upper[cell] = most if high is None else min(most, high)
        wiser = replace(case, attackers=((tuple(lower), tuple(upper)), *case.attackers[1:]))
        compared += compare(found_by(case), found_by(wiser), lambda wide, narrow: oracle.inside(narrow, wide))
    assert compared > 1_000


def test_the_unit_of_measurement_changes_nothing_but_the_unit() -> None:
    """Seven times as much of everything; rounded cells are left out, whose unit is that of the last decimal."""
    compared, factor = 0, 7
    for case in drawn_cases("unit"):
        entries = {cell: entry for cell, entry in case.entries.items() if entry.status != "rounded"}
        levels = {cell: level for cell, level in case.levels.items() if cell in entries}
        plain = replace(case, entries=entries, levels=levels, whole=False)
        scaled = replace(
            plain,
            counts=tuple(factor * count for count in case.counts),
            entries={cell: Entry(entry.status, _times(entry.numbers, factor)) for cell, entry in entries.items()},
            attackers=tuple((_times(lower, factor), _times(upper, factor)) for lower, upper in case.attackers),
        )
        before, after = found_by(plain), found_by(scaled)
        compared += compare(before, after, lambda one, other: _times(one, factor) == other)
    assert compared > 1_000


def _times(numbers: tuple[Any, ...], factor: int) -> tuple[Any, ...]:
    return tuple(None if number is None else number * factor for number in numbers)


def test_the_order_of_cells_and_relations_changes_nothing() -> None:
    compared = 0
    for case in drawn_cases("order"):
        chance = seeded(repr(case.counts))
        n = len(case.counts)
        old = chance.sample(range(n), n)  # the cell that stands in each place now
        new = {cell: place for place, cell in enumerate(old)}
        shuffled = replace(
            case,
            rows=tuple(tuple(row[cell] for cell in old) for row in chance.sample(case.rows, len(case.rows))),
            counts=tuple(case.counts[cell] for cell in old),
            entries={new[cell]: entry for cell, entry in case.entries.items()},
            attackers=tuple(
                (tuple(lower[cell] for cell in old), tuple(upper[cell] for cell in old))
                for lower, upper in case.attackers
            ),
            levels={new[cell]: level for cell, level in case.levels.items()},
        )
        before, after = found_by(case), found_by(shuffled)
        moved = {(who, old[place]): found for (who, place), found in after.items()}
        compared += compare(before, moved, lambda one, other: one == other)
    assert compared > 1_000


def test_splitting_cells_into_two_hidden_parts_changes_no_other() -> None:
    """The parts are hidden and sum to the old cell, which stays: nothing about the others is learnt or lost."""
    compared = 0
    for case in drawn_cases("split"):
        chance = seeded(repr(case.counts))
        n = len(case.counts)
        chosen = chance.sample(range(n), n // 8)
        nothing = (None,) * (2 * len(chosen))
        halves = [half for cell in chosen for half in (case.counts[cell] // 2, -(-case.counts[cell] // 2))]
        sums = [
            (*(-(i == cell) for i in range(n)), *(int(i // 2 == k) for i in range(len(nothing))))
            for k, cell in enumerate(chosen)
        ]
        split = replace(
            case,
            rows=(*((*row, *[0] * len(nothing)) for row in case.rows), *sums),
            counts=(*case.counts, *halves),
            entries=case.entries | {n + k: Entry("hidden") for k in range(len(nothing))},
            attackers=tuple(((*lower, *nothing), (*upper, *nothing)) for lower, upper in case.attackers),
        )
        compared += compare(found_by(case), found_by(split), lambda one, other: one == other)
    assert compared > 1_000


def test_a_requirement_is_met_exactly_up_to_the_end_of_the_interval() -> None:
    """Levels that equal the distance to the ends are met, a hundredth more is not: no tolerance, either way."""
    seen: Counter[str] = Counter()
    for drawn in drawn_cases("edge"):
        case = replace(drawn, attackers=drawn.attackers[:1])
        found = found_by(case)
        for more in (0, 1):
            levels: dict[int, tuple[int, int, int]] = {}
            for (_, cell), ((low, high), exact) in found.items():
                if exact and low is not None and high is not None:
                    down, up = (case.value(cell) - low) / case.fine(1), (high - case.value(cell)) / case.fine(1)
                    if down.denominator == up.denominator == 1:
                        own = [
                            (int(down) + more, int(up), 0),
                            (int(down), int(up) + more, 0),
                            (0, 0, int(down + up) + more),
                        ][cell % 3]
                        if any(own):
                            levels[cell] = own
            for verdict in audited(replace(case, levels=levels)).verdicts:
                # Of whole numbers it may stay open that nothing lies beyond the level; it is never said to be met.
                open_ = more and case.whole and verdict.result == "not shown safe"
                assert verdict.result == ("missed" if more else "met") or open_, verdict.requirement
                seen[verdict.result] += 1
    assert min(seen["met"], seen["missed"]) > 200
    assert seen["not shown safe"] < seen["missed"] / 100, seen
