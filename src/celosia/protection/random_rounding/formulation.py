r"""The scheme of rounding sensitive cells at random: which sets of rounded values are allowed, and how likely each is.

Cell by cell the multiple above the true value is drawn with probability :math:`(a_i \bmod b) / b` and that below
otherwise, so that the expected value is the true one. Where their sum is to stay what it is, and the base b divides it,
cells are drawn together, systematically (Fellegi 1975): with their remainders laid end to end in an order that chance
chooses, and a start s drawn between 0 and b, the cells are raised in whose remainder one of s, s + b, ... lies. Each is
raised with the same probability as before, and always as many as keep the sum. A multiple that fails the protection
equations of its cell, (2.8), (2.9) and (2.11) of Tiwari, is never drawn, or drawn again, which makes a bias. The table
around a set is that of (3.2)-(3.3) (`celosia.protection.random_rounding.nearest`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from celosia.errors import InfeasibleError, list_items, round_up
from celosia.pattern.arithmetic import minus, plus
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed
from celosia.table.units import grains_of


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """The sensitive cells and where each may be rounded to.

    Parameters
    ----------
    cells
        The sensitive cells, ``(k,)``.
    truth
        Their values in counts, ``(k,)``.
    base
        The base in counts.
    down, up
        Whether the lower and the upper neighbouring multiple meet the cell's protection equations, ``(k,)``. A multiple
        has only a lower one: itself.
    keeps_sum
        The sum of the rounded values is that of the true ones, which the base divides.
    """

    cells: NDArray[np.int64]
    truth: NDArray[np.int64]
    base: int
    down: NDArray[np.bool_]
    up: NDArray[np.bool_]
    keeps_sum: bool = False

    @property
    def bias(self) -> list[Fraction]:
        """By how much the expected rounded value of each cell is above the true one.

        Zero where both multiples are allowed, or the value is one.
        """
        over = (self.truth % self.base).tolist()
        return [
            Fraction(0) if both else Fraction((self.base if up else 0) - left)
            for left, both, up in zip(over, (self.down & self.up).tolist(), self.up.tolist(), strict=True)
        ]

    def draw(self, random: np.random.Generator) -> NDArray[np.int64]:
        """Return rounded values, cell by cell: up with the probability of the remainder, unless it is forced.

        Where the sum is kept, nothing is forced, and what is drawn may not be allowed.
        """
        over = self.truth % self.base
        if self.keeps_sum:
            return np.asarray(self.truth - over + self.base * self._raise_systematically(over, random), dtype=np.int64)
        raised = random.integers(self.base, size=len(self.cells)) < over
        raised = np.where(self.down & self.up, raised, self.up)
        return np.asarray(self.truth - over + self.base * raised, dtype=np.int64)

    def _raise_systematically(self, over: NDArray[np.int64], random: np.random.Generator) -> NDArray[np.bool_]:
        """Return which cells are raised so that the sum stays, each with the probability of its remainder."""
        order = random.permutation(len(over))
        ends = np.cumsum(over[order])
        start = int(random.integers(self.base))
        raised = np.zeros(len(over), dtype=bool)
        raised[order] = (ends - 1 - start) // self.base > (ends - over[order] - 1 - start) // self.base
        return raised

    def allows(self, values: NDArray[np.int64]) -> bool:
        """Return whether every rounded value meets the protection equations of its cell."""
        raised = values > self.truth - self.truth % self.base
        return bool(np.where(raised, self.up, self.down).all())

    def all(self) -> Iterator[tuple[NDArray[np.int64], Fraction]]:
        """Yield every set of rounded values with its probability."""
        over = (self.truth % self.base).tolist()
        choices = [
            [(0, 1 - Fraction(left, self.base)), (self.base, Fraction(left, self.base))]
            if down and up
            else [(self.base if up else 0, Fraction(1))]
            for left, down, up in zip(over, self.down.tolist(), self.up.tolist(), strict=True)
        ]
        for chosen in product(*choices):
            probability = Fraction(1)
            for _, share in chosen:
                probability *= share
            yield (
                self.truth - self.truth % self.base + np.array([step for step, _ in chosen], dtype=np.int64),
                probability,
            )

    @property
    def number(self) -> int:
        """How many sets there are, or more."""
        return 1 << (len(self.cells) if self.keeps_sum else int((self.down & self.up).sum()))


def sets_of(risk: Risk, base: int, reach: int | NDArray[np.int64]) -> Sets:
    """Return the sets that meet the protection equations of single cells (Tiwari, (2.8), (2.9), (2.11)).

    A reader concludes ``x - reach .. x + reach`` from a published x, and no more than his own bounds. That must contain
    the levels of the cell, for every attacker. What relations add is for the audit.

    Raises
    ------
    InfeasibleError
        Neither multiple protects some cells, with a base that would.
    """
    table = risk.table
    cells = np.flatnonzero(risk.sensitive)
    truth = np.asarray(table.amounts.counts[cells], dtype=np.int64)
    over = truth % base
    far = np.broadcast_to(reach, len(table))[cells]
    down, up = (np.ones(len(cells), dtype=bool) for _ in range(2))
    for attacker in risk.attackers:
        down &= _protects(risk, cells, Fixed(truth - over, table.decimals), far, attacker)
        up &= _protects(risk, cells, Fixed(truth - over + base, table.decimals), far, attacker)
    up &= over > 0
    stuck = np.flatnonzero(~down & ~up)
    if len(stuck):
        raise _unprotectable(risk, cells[stuck], base, far[stuck])
    return Sets(cells, truth, base, down, up)


def _unprotectable(risk: Risk, cells: NDArray[np.int64], base: int, reach: NDArray[np.int64]) -> InfeasibleError:
    """Return the error that names cells which no multiple protects, and what would."""
    table = risk.table
    labels = list_items([table.label(int(cell)) for cell in cells])

    def text(count: int) -> str:
        return Fixed.of_counts(np.array([count], dtype=object), table.decimals).texts()[0]

    enough = _find_sufficient_base(risk, cells)
    usual = base - int(grains_of(table)[cells].max(initial=1))
    if int(reach.max(initial=0)) < usual and base >= enough:
        said = f"{text(int(reach.max(initial=0)))} leaves attackers too little to doubt about these cells: {labels}."
        return InfeasibleError.one("reach", said, f"A reach of {text(usual)} would do.")
    said = f"{text(base)} cannot protect these cells, whichever way they are rounded: {labels}."
    larger = round_up(enough)
    if larger > int(np.abs(table.amounts.counts).max(initial=0)):
        return InfeasibleError.one("base", said, "Nor can a larger one that suits the table: hide these cells.")
    return InfeasibleError.one("base", said, f"A base of {text(larger)} would.")


def _protects(
    risk: Risk, cells: NDArray[np.int64], rounded: Fixed, reach: NDArray[np.int64], attacker: Attacker
) -> NDArray[np.bool_]:
    """Return for which cells a rounded value leaves an attacker an interval that meets the levels, or is his own."""
    table, levels = risk.table, risk.levels if attacker.levels is None else attacker.levels
    far = Fixed(reach, table.decimals)
    lower, upper = minus(rounded, far), plus(rounded, far)
    says = np.zeros(len(cells), dtype=bool)
    for k, cell in enumerate(cells.tolist()):
        truth = table.amounts.fraction(cell)
        own_lower, own_upper = attacker.bounds(cell)
        low = lower.fraction(k) if own_lower is None else max(own_lower, lower.fraction(k))
        high = upper.fraction(k) if own_upper is None else min(own_upper, upper.fraction(k))
        wide = high - low >= levels.sliding.fraction(cell)
        says[k] = low <= truth - levels.lower.fraction(cell) and high >= truth + levels.upper.fraction(cell) and wide
    return says if attacker.own is None else says | attacker.own[cells]


def _find_sufficient_base(risk: Risk, cells: NDArray[np.int64]) -> int:
    """Return a base, in counts, whose nearest multiple protects every one of some cells by itself."""
    unit, grains = 10**risk.table.decimals, grains_of(risk.table)
    coarse, needed, levels = int(grains[cells].max(initial=1)), 1, risk.largest_levels
    for cell in cells.tolist():
        level, grain = max(levels.lower.fraction(cell), levels.upper.fraction(cell)) * unit, int(grains[cell])
        sliding = levels.sliding.fraction(cell) * unit
        needed = max(needed, 2 * (-(-level // 1) + grain), -(-sliding // 2) + grain)
    return -(-int(needed) // coarse) * coarse
