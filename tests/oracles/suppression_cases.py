"""Small tables drawn for suppression, and how they are put to celosia."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
from tests.oracles.bare_tables import DEEP, FLAT_2, FLAT_3, lattice, make_table
from tests.oracles.suppression_oracle import Ends, Levels, Wishes

from celosia import Attacker, Risk, Suppress
from celosia.risk.risk import SAFE, SENSITIVE
from celosia.risk.risk import Levels as RiskLevels
from celosia.table.fixed import INFINITE, Fixed

DECIMALS = 3
"""Everything that is drawn is a multiple of a thousandth."""

KINDS = ("flat", "tree", "trees", "cube", "linked", "equations")


def _linked() -> list[list[int]]:
    """Return two tables of 3 x 3 cells that share a column."""
    one = lattice([FLAT_2, FLAT_2])
    place = [3 * row if column == 0 else 9 + 2 * row + column - 1 for row in range(3) for column in range(3)]
    rows = [[*row, *[0] * 6] for row in one]
    for row in one:
        moved = [0] * 15
        for k, coefficient in enumerate(row):
            moved[place[k]] += coefficient
        rows.append(moved)
    return rows


def drawn_rows(chance: random.Random, kind: str) -> list[list[int]]:
    """Return the relations of one kind of table."""
    flat = [FLAT_2, FLAT_3]
    if kind == "equations":
        n = chance.randint(4, 8)
        drawn = [[chance.choice([-2, -1, -1, 0, 1, 1, 3]) for _ in range(n)] for _ in range(chance.randint(1, 3))]
        return [row for row in drawn if any(row)] or [[1] * n]
    if kind == "linked":
        return _linked()
    trees = {
        "flat": [chance.choice([*flat, {0: [1, 2, 3, 4]}]), chance.choice(flat)],
        "tree": [chance.choice(flat), DEEP],
        "trees": [DEEP, DEEP],
        "cube": [FLAT_2, FLAT_2, FLAT_2],
    }
    return lattice(trees[kind])


def drawn_values(chance: random.Random, rows: Sequence[Sequence[int]], kind: str) -> list[int]:
    """Return whole numbers that satisfy the relations, but for equations of any kind, which sum to what they sum to."""
    n = len(rows[0])
    most = chance.choice([3, 9, 40])
    if kind == "equations":
        return [chance.randint(0, most) for _ in range(n)]
    totals = {row.index(-1) for row in rows}
    values = [None if cell in totals else chance.choice([0, *range(most)]) for cell in range(n)]
    while None in values:
        for row in rows:
            parts = [values[cell] for cell in range(n) if row[cell] == 1]
            if None not in parts:
                values[row.index(-1)] = sum(part for part in parts if part is not None)
    return [value for value in values if value is not None]


def drawn_attacker(chance: random.Random, values: Sequence[int]) -> tuple[Ends, Ends]:
    """Return bounds that hold the values: none, natural ones, a share of the value, or anything."""
    style = chance.choice(["external", "external", "nothing", "factor", "factor", "near", "mixed"])
    lower: list[Fraction | None] = []
    upper: list[Fraction | None] = []
    for value in values:
        near = Fraction(chance.choice([0, 500, 1500, 2333, 7000, 20000, 20000]), 1000)
        own = chance.choice(["external", "nothing", "factor", "near"]) if style == "mixed" else style
        lower.append(None if own == "nothing" else Fraction(0) if own != "near" else value - near)
        upper.append(
            None if own in ("nothing", "external") else value + near if own == "near" else Fraction(11 * max(value, 1))
        )
    return lower, upper


def drawn(chance: random.Random, kind: str, *, wishes: bool = True, whole: bool = False) -> Wishes:
    """Return a table of one kind with sensitive cells, attackers, and on request all sorts of wishes."""
    rows = drawn_rows(chance, kind)
    values = drawn_values(chance, rows, kind)
    n = len(values)
    sensitive = chance.sample(range(n), chance.choice([1, 1, 2, 3]))
    half: list[Fraction | int] = [Fraction(1, 2), Fraction(7, 4), 3]
    styles: list[list[Fraction | int]] = [[1], [0, 1, 2, 5], [*range(1, 30)], half, [1, 1000]]
    prices = chance.choice(styles)
    attackers = [drawn_attacker(chance, values) for _ in range(chance.choice([1, 1, 2, 3]))]
    levels = {cell: _levels(chance, max(values[cell], 3)) for cell in sensitive}
    others = [cell for cell in range(n) if cell not in levels]

    def some(share: float, most: int) -> frozenset[int]:
        ok = wishes and chance.random() < share
        return frozenset(chance.sample(others, min(len(others), chance.randint(1, most)))) if ok else frozenset()

    shown = some(0.3, max(1, n // 4))
    hidden = some(0.2, 2) - shown
    widths = {cell: Fraction(chance.choice([1, 500, 1000, 2500, 9000]), 1000) for cell in some(0.3, 4)}
    case = Wishes(
        rows=rows,
        values=[Fraction(value) for value in values],
        cost=[Fraction(chance.choice(prices)) for _ in range(n - 1)] + [Fraction(1)],
        attackers=attackers,
        levels=levels,
        shown=shown,
        hidden=hidden,
        widths=widths,
        at_most=chance.randint(len(levels), n) if wishes and chance.random() < 0.15 else None,
        zeros_known=wishes and chance.random() < 0.15,
        whole=whole,
    )
    return within_knowledge(case)


def within_knowledge(wishes: Wishes) -> Wishes:
    """Return a case without what cells keep if they are hidden where somebody knows more: that is refused."""

    def fits(cell: int, lower: Fraction, upper: Fraction, width: Fraction) -> bool:
        value = wishes.values[cell]
        for attacker in range(len(wishes.attackers)):
            low, high = wishes.bounds(attacker, cell)
            down, up = None if low is None else value - low, None if high is None else high - value
            if (down is not None and down < lower) or (up is not None and up < upper):
                return False
            if down is not None and up is not None and up + down < width:
                return False
        return True

    none = Fraction(0)
    return replace(
        wishes,
        widths={cell: width for cell, width in wishes.widths.items() if fits(cell, none, none, width)},
        distances={cell: pair for cell, pair in wishes.distances.items() if fits(cell, *pair, none)},
    )


def _levels(chance: random.Random, size: int) -> Levels:
    """Return levels of every kind: none, less than a unit, a share of the value, more than that."""

    def level() -> Fraction:
        return chance.choice(
            [Fraction(0), Fraction(1, 1000), Fraction(1, 5), Fraction(1), Fraction(5, 2), Fraction(size, 2)]
        )

    kind = chance.choice(["both", "sliding", "upper", "lower", "all"])
    lower = level() if kind in ("both", "lower", "all") else Fraction(0)
    upper = level() if kind in ("both", "upper", "all") else Fraction(0)
    sliding = 2 * level() if kind in ("sliding", "all") else Fraction(0)
    return (lower, upper, sliding) if lower or upper or sliding else (Fraction(0), Fraction(1), Fraction(0))


def fixed(numbers: Sequence[Fraction | None], sign: int = 1, decimals: int = DECIMALS) -> Fixed:
    """Return numbers in decimals, None as infinite."""
    counts = [sign * INFINITE if number is None else int(number * 10**decimals) for number in numbers]
    return Fixed(np.array(counts, dtype=np.int64), decimals)


def put(wishes: Wishes) -> tuple[Risk, Suppress]:
    """Return a case as celosia takes it."""
    n = len(wishes)
    table = make_table(wishes.rows, [int(value) for value in wishes.values], counts=wishes.whole)
    nothing = (Fraction(0),) * 3
    lower, upper, sliding = zip(*(wishes.levels.get(cell, nothing) for cell in range(n)), strict=True)
    risk = Risk(
        table=table,
        status=np.array([SENSITIVE if cell in wishes.levels else SAFE for cell in range(n)]),
        levels=RiskLevels(fixed(lower), fixed(upper), fixed(sliding)),
        cost=np.array([float(price) for price in wishes.cost]),
        attackers=tuple(
            Attacker(f"number {k}", fixed(low, -1), fixed(high)) for k, (low, high) in enumerate(wishes.attackers)
        ),
    )
    method = Suppress(
        must_show=sorted(wishes.shown),
        must_hide=sorted(wishes.hidden),
        at_most=wishes.at_most,
        width_if_hidden=dict(wishes.widths),
        lower_if_hidden={cell: lower for cell, (lower, _) in wishes.distances.items() if lower},
        upper_if_hidden={cell: upper for cell, (_, upper) in wishes.distances.items() if upper},
        zeros_known=wishes.zeros_known,
    )
    return risk, method
