"""The cheapest safe suppression of small tables, by plain means: an oracle for `celosia.protect`.

It shares nothing with `celosia.protect` or `celosia.attack`. `cheapest` solves one program with a copy of the table for
every requirement and side, as a textbook writes it down (Salazar 2002, section 3, before any decomposition);
`cheapest_in_order` looks at all patterns in the order of their cost. Whether a pattern is safe is decided in fractions
(`tests.oracles.attack_oracle`), so what either of them returns is safe beyond doubt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.oracles import attack_oracle as attack

Ends = Sequence[Fraction | None]
Levels = tuple[Fraction, Fraction, Fraction]
"""Lower, upper and sliding."""

_ROOM = 40
"""No cell of a small table need move by more than so many levels to let another move by one."""


@dataclass(frozen=True)
class Wishes:
    """What is asked of a suppression, in plain numbers.

    Parameters
    ----------
    rows
        The coefficients of the relations.
    values
        The true values.
    cost
        What hiding each cell costs.
    attackers
        Lower and upper bounds of each, None for none.
    levels
        Lower, upper and sliding levels of the sensitive cells.
    shown, hidden
        Cells that must be shown, and those that must be hidden without being sensitive.
    widths, distances
        What cells keep if they are hidden: widths, and how far below and above the truth.
    at_most
        How many cells may be hidden.
    zeros_known
        Everybody knows which cells are zero.
    whole
        Values are whole numbers, and attackers know it.
    """

    rows: Sequence[Sequence[int]]
    values: Sequence[Fraction]
    cost: Sequence[Fraction]
    attackers: Sequence[tuple[Ends, Ends]]
    levels: Mapping[int, Levels]
    shown: frozenset[int] = frozenset()
    hidden: frozenset[int] = frozenset()
    widths: Mapping[int, Fraction] = field(default_factory=dict)
    distances: Mapping[int, tuple[Fraction, Fraction]] = field(default_factory=dict)
    at_most: int | None = None
    zeros_known: bool = False
    whole: bool = False

    def __len__(self) -> int:
        return len(self.values)

    @property
    def forced(self) -> frozenset[int]:
        """Cells that are hidden in any case."""
        return frozenset(self.levels) | self.hidden

    def bounds(self, attacker: int, cell: int) -> tuple[Fraction | None, Fraction | None]:
        """Return what an attacker knows about a cell before anything is published."""
        if self.zeros_known and self.values[cell] == 0:
            return Fraction(0), Fraction(0)
        lower, upper = self.attackers[attacker]
        return lower[cell], upper[cell]

    def price(self, pattern: frozenset[int]) -> Fraction:
        """Return what a pattern costs."""
        return sum((self.cost[cell] for cell in pattern), Fraction(0))

    def required(self, pattern: frozenset[int]) -> Iterator[tuple[int, Levels]]:
        """Yield the cells that need protection in a pattern."""
        yield from self.levels.items()
        for cell, width in self.widths.items():
            if cell in pattern:
                yield cell, (Fraction(0), Fraction(0), width)
        for cell, (lower, upper) in self.distances.items():
            if cell in pattern:
                yield cell, (lower, upper, Fraction(0))


def is_safe(wishes: Wishes, pattern: frozenset[int]) -> bool:
    """Return whether nobody comes too close, and every other wish is met; in fractions."""
    if not wishes.forced <= pattern or wishes.shown & pattern:
        return False
    if wishes.at_most is not None and len(pattern) > wishes.at_most:
        return False
    return not unsafe_cells(wishes, pattern)


def unsafe_cells(wishes: Wishes, pattern: frozenset[int]) -> set[int]:
    """Return the cells to which somebody comes too close."""
    found: set[int] = set()
    for attacker in range(len(wishes.attackers)):
        ends = _ends(wishes, attacker, pattern)
        for cell, levels in wishes.required(pattern):
            if not attack.meets(wishes.values[cell], ends[cell], levels):
                found.add(cell)
    return found


def _ends(wishes: Wishes, attacker: int, pattern: frozenset[int]) -> list[tuple[attack.End, attack.End]]:
    known = [
        wishes.bounds(attacker, cell) if cell in pattern else (value, value) for cell, value in enumerate(wishes.values)
    ]
    case = attack.Situation(wishes.rows, wishes.values, [low for low, _ in known], [high for _, high in known])
    if not wishes.whole:
        return attack.ends(case)
    found = attack.whole_ends(case, most=200_000)
    assert found is not None, "too many whole tables for this oracle"
    return found


def cheapest(wishes: Wishes) -> frozenset[int] | None:
    """Return a cheap safe pattern, None where there is none: one program with a copy per requirement and side.

    It is the cheapest but for faults of the solver, which loses one in a thousand: what is cheaper, and safe in
    fractions, is right. Tables of whole numbers are left to `cheapest_in_order`.
    """
    assert not wishes.whole
    n = len(wishes)
    blocks = _Blocks(wishes)
    for cell, (lower, upper, sliding) in wishes.levels.items():
        for attacker in range(len(wishes.attackers)):
            if upper:
                blocks.one_sided(cell, attacker, upper, 1)
            if lower:
                blocks.one_sided(cell, attacker, lower, -1)
            if sliding:
                blocks.two_sided(cell, attacker, sliding, always=True)
    _add_conditions(wishes, blocks)
    low, high = np.zeros(n), np.ones(n)
    low[list(wishes.forced)] = 1
    high[list(wishes.shown)] = 0
    if bool((low > high).any()):
        return None
    return blocks.solved(low, high)


def _add_conditions(wishes: Wishes, blocks: _Blocks) -> None:
    """Add what cells keep if they are hidden."""
    for attacker in range(len(wishes.attackers)):
        for cell, width in wishes.widths.items():
            blocks.two_sided(cell, attacker, width, always=False)
        for cell, (lower, upper) in wishes.distances.items():
            for level, sign in ((lower, -1), (upper, 1)):
                if level:
                    blocks.one_sided(cell, attacker, level, sign, always=False)


class _Blocks:
    """The program under construction: x first, then copies of the table, each in parts of its level."""

    def __init__(self, wishes: Wishes) -> None:
        self.wishes = wishes
        self.n = len(wishes)
        self.n_copies = 0
        self.entries: list[tuple[int, int, float]] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        if wishes.at_most is not None:
            self.row([(cell, 1.0) for cell in range(self.n)], -np.inf, wishes.at_most)

    def row(self, terms: Sequence[tuple[int, float]], lower: float, upper: float) -> None:
        self.entries += [(len(self.lower), column, value) for column, value in terms]
        self.lower.append(lower)
        self.upper.append(upper)

    def copy(self, attacker: int, level: Fraction) -> int:
        """Add a copy of the table that an attacker considers possible; return where its columns begin."""
        self.n_copies += 1
        start = self.n * self.n_copies
        for relation in self.wishes.rows:
            self.row([(start + cell, float(entry)) for cell, entry in enumerate(relation) if entry], 0.0, 0.0)
        for cell, value in enumerate(self.wishes.values):
            low, high = self.wishes.bounds(attacker, cell)
            down = float(_ROOM) if low is None else min(float(_ROOM), float((value - low) / level))
            up = float(_ROOM) if high is None else min(float(_ROOM), float((high - value) / level))
            self.row([(start + cell, 1.0), (cell, -up)], -np.inf, 0.0)
            self.row([(start + cell, 1.0), (cell, down)], 0.0, np.inf)
        return start

    def one_sided(self, cell: int, attacker: int, level: Fraction, sign: int, *, always: bool = True) -> None:
        far = [(self.copy(attacker, level) + cell, float(sign))]
        self.row(far if always else [*far, (cell, -1.0)], 1.0 if always else 0.0, np.inf)

    def two_sided(self, cell: int, attacker: int, level: Fraction, *, always: bool) -> None:
        up, down = self.copy(attacker, level), self.copy(attacker, level)
        wide = [(up + cell, 1.0), (down + cell, -1.0)]
        self.row(wide if always else [*wide, (cell, -1.0)], 1.0 if always else 0.0, np.inf)

    def solved(self, low: NDArray[np.float64], high: NDArray[np.float64]) -> frozenset[int] | None:
        """Return the pattern; one that fractions refute is cut off, with all that hide less and leave it unsafe."""
        size = self.n * (1 + self.n_copies)
        cost = np.zeros(size)
        cost[: self.n] = [float(price) for price in self.wishes.cost]
        endless = np.full(size - self.n, np.inf)
        while True:
            row, column, value = zip(*self.entries, strict=True) if self.entries else ((), (), ())
            matrix = sp.csr_array((value, (row, column)), shape=(len(self.lower), size))
            found = milp(
                cost,
                integrality=(np.arange(size) < self.n).astype(int),
                bounds=Bounds(np.concatenate([low, -endless]), np.concatenate([high, endless])),
                constraints=LinearConstraint(matrix, self.lower, self.upper),
                options={"mip_rel_gap": 0.0, "presolve": False},  # with it more optima are lost
            )
            if found.x is None:
                assert found.status == 2, found.message
                return None
            pattern = frozenset(np.flatnonzero(found.x[: self.n] > 0.5).tolist())
            wrong = unsafe_cells(self.wishes, pattern)
            if not wrong:
                return pattern
            others = [(cell, 1.0) for cell in range(self.n) if cell not in pattern]
            for cell in wrong:
                self.row([*others, (cell, -1.0)], 0.0, np.inf)


def cheapest_in_order(wishes: Wishes) -> frozenset[int] | None:
    """Return a cheapest safe pattern, None where there is none: all patterns in the order of their cost."""
    free = [cell for cell in range(len(wishes)) if cell not in wishes.forced | wishes.shown]
    patterns = [
        wishes.forced | frozenset(chosen) for size in range(len(free) + 1) for chosen in combinations(free, size)
    ]
    if wishes.forced & wishes.shown:
        return None
    return next((pattern for pattern in sorted(patterns, key=wishes.price) if is_safe(wishes, pattern)), None)
