"""Small tables with amounts from one unit to 10^15 units side by side, for celosia and for the oracle in fractions."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from tests.oracles import attack_oracle
from tests.oracles.bare_tables import make_table, seeded
from tests.oracles.suppression_cases import drawn_rows

from celosia import Attacker, Pattern, Risk
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import INFINITE, Fixed

KINDS = ("flat", "tree", "trees", "cube", "linked")
_EXPONENTS = {"wide": (0.0, 13.7), "wide again": (0.0, 13.7), "large": (10.0, 13.7), "small": (0.0, 4.0)}

End = Fraction | int | None


@dataclass(frozen=True)
class Case:
    """A table in units of its last decimal: its relations, what an attacker knows, and what must be protected.

    Parameters
    ----------
    rows, values, decimals
        The relations, and amounts that satisfy them, in counts.
    lower, upper
        What the attacker knows, None for nothing.
    levels
        Lower, upper and sliding levels of sensitive cells.
    cost
        What hiding a cell, or a unit of width, costs.
    """

    rows: Sequence[Sequence[int]]
    values: Sequence[int]
    decimals: int
    lower: Sequence[int]
    upper: Sequence[int | None]
    levels: dict[int, tuple[int, int, int]]
    cost: Sequence[float]

    def missed(self, lower: Sequence[End], upper: Sequence[End], *, sliding: bool = False) -> list[int]:
        """Return the cells that an attacker concludes too much about when these ends are published, exactly.

        Parameters
        ----------
        lower, upper
            What the release says about every cell, None for nothing.
        sliding
            Separate levels are asked for as the width of both together.
        """
        low = [
            max((end for end in pair if end is not None), default=None) for pair in zip(lower, self.lower, strict=True)
        ]
        high = [
            min((end for end in pair if end is not None), default=None) for pair in zip(upper, self.upper, strict=True)
        ]
        situation = attack_oracle.Situation(
            self.rows, [Fraction(value) for value in self.values], _exact(low), _exact(high)
        )
        ends = attack_oracle.ends(situation)
        return [
            cell
            for cell, (down, up, both) in self.levels.items()
            if not attack_oracle.meets(
                Fraction(self.values[cell]),
                ends[cell],
                (Fraction(0), Fraction(0), Fraction(max(both, down + up)))
                if sliding
                else (Fraction(down), Fraction(up), Fraction(both)),
            )
        ]

    def possible(self, *, sliding: bool = False) -> bool:
        """Return whether hiding everything protects everything."""
        nothing: list[End] = [None] * len(self.values)
        return not self.missed(nothing, nothing, sliding=sliding)


def _exact(ends: Sequence[End]) -> list[Fraction | None]:
    return [None if end is None else Fraction(end) for end in ends]


def published(pattern: Pattern, case: Case) -> tuple[list[End], list[End]]:
    """Return what a pattern tells readers about every cell, in counts of the table."""
    sides: list[list[End]] = []
    for side in pattern.bounds():
        counts = [int(count) for count in side.counts]
        unit = Fraction(10**case.decimals, 10**side.decimals)
        sides.append([None if abs(count) >= INFINITE else count * unit for count in counts])
    return sides[0], sides[1]


def drawn(name: str, kind: str) -> Case:
    """Return a table of one kind."""
    chance = seeded(name)
    rows = drawn_rows(chance, kind)
    values = _values(chance, rows)
    knows = chance.choice(["sign", "share", "share"])
    lower: list[int] = []
    upper: list[int | None] = []
    for value in values:
        share = chance.choice([Fraction(1, 2), Fraction(1, 5), Fraction(1), Fraction(1, 10)])
        lower.append(0 if knows == "sign" else int(value * (1 - share)))
        upper.append(None if knows == "sign" else int(value * (1 + share)) + 1)
    levels = {}
    for cell in chance.sample(range(len(values)), chance.choice([1, 2, 3])):
        level = max(1, int(values[cell] * chance.choice([0.1, 0.01, 0.05, 0.3])))
        separate = (min(level, values[cell]), level, 0)
        levels[cell] = separate if chance.random() < 0.7 else (0, 0, 2 * level)
    prices = chance.choice(["value", "unity", "few"])
    cost = [
        {"value": float(max(value, 1)), "unity": 1.0, "few": float(chance.choice([1, 3, 7]))}[prices]
        for value in values
    ]
    return Case(rows, values, chance.choice([0, 2, 4]), lower, upper, levels, cost)


def _values(chance: random.Random, rows: Sequence[Sequence[int]]) -> list[int]:
    """Return amounts that satisfy the relations, some of them zero."""
    totals = {row.index(-1) for row in rows}
    least, most = _EXPONENTS[chance.choice(list(_EXPONENTS))]

    def amount() -> int:
        return 0 if chance.random() < 0.07 else max(1, round(10 ** chance.uniform(least, most)))

    values = [None if cell in totals else amount() for cell in range(len(rows[0]))]
    while None in values:
        for row in rows:
            parts = [values[cell] for cell, factor in enumerate(row) if factor == 1]
            if None not in parts:
                values[row.index(-1)] = sum(part for part in parts if part is not None)
    return [value for value in values if value is not None]


def put(case: Case) -> Risk:
    """Return a case as celosia takes it."""
    n, decimals = len(case.values), case.decimals
    table = make_table(case.rows, case.values, decimals=decimals)
    levels = np.zeros((3, n), dtype=np.int64)
    for cell, own in case.levels.items():
        levels[:, cell] = own
    status = np.array([SENSITIVE if cell in case.levels else SAFE for cell in range(n)])
    upper = [INFINITE if end is None else end for end in case.upper]
    ends = (Fixed(np.array(side, dtype=np.int64), decimals) for side in (case.lower, upper))
    attacker = Attacker("attacker", *ends)
    return Risk(table, status, Levels(*(Fixed(level, decimals) for level in levels)), np.array(case.cost), (attacker,))
