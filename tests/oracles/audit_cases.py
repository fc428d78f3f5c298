"""Small tables, releases, attackers and requirements for audits, drawn at random, and their audit."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.oracles import attack_oracle as oracle
from tests.oracles.bare_tables import DEEP, FLAT_2, FLAT_3, lattice, make_table

from celosia import Attacker, Pattern, Risk, Table, audit
from celosia.attack.result import Audit
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.suppressed import Suppressed
from celosia.risk.risk import Levels
from celosia.table.fixed import INFINITE, Fixed

MOST_UNKNOWN = 8
FINE = 2  # decimals of bounds and levels beyond the table's


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
    one = lattice([FLAT_2, chance.choice([FLAT_2, FLAT_3])])
    n = len(one[0])
    width = n // 3
    other_place = [width * row if column == 0 else n + 2 * row + column - 1 for row in range(3) for column in range(3)]
    rows = [[*row, *[0] * 6] for row in one]
    for row in lattice([FLAT_2, FLAT_2]):
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
        rows = lattice(trees)
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
    return make_table(case.rows, case.counts, decimals=case.decimals, counts=case.whole)


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


KINDS = ["flat", "tree", "trees", "cube", "equations", "linked"]
