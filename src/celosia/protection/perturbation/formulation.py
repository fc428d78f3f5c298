r"""The model of cell perturbation (Salazar 2002, section 6).

With the reach :math:`R_i` a perturbation publishes :math:`v_i = a_i + z_i^+ - z_i^-`, (13), and

.. math:: \min \sum_i w_i (z_i^+ + z_i^-) \quad\text{s.t.}\quad M (z^+ - z^-) = 0, \quad
    \mathrm{least}^\pm \le z^\pm \le \mathrm{most}^\pm,

such that every attacker, who knows that the truth lies in :math:`v_i \pm R_i`, is left the levels of the sensitive
cells: the second model (Figure 13), whose capacity cuts `celosia.protection.engine.modes` separates. Sensitive cells
are moved to one side by at least their level there, :math:`\mathrm{least}^\pm`; cells with a window of their own,
:math:`v_i \in [\lfloor a_i \rfloor .. \lceil a_i \rceil]`, have its width as reach; where at most so many cells may
change, each has a binary :math:`x_i`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.errors import InfeasibleError, list_items, round_up
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.offers import modes_of_all_cells, offer_perturbation
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.perturbation.method import Perturb
from celosia.risk.risk import SHOW, Risk
from celosia.table.fixed import Fixed
from celosia.table.units import count_units


@dataclass(frozen=True, slots=True, eq=False)
class MoveBounds:
    """How far values must and may move, in steps, ``(n,)`` each."""

    least_up: NDArray[np.int64]
    least_down: NDArray[np.int64]
    most_up: NDArray[np.int64]
    most_down: NDArray[np.int64]

    @property
    def range(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The lowest and the highest move."""
        lowest = np.where(self.least_up > 0, self.least_up, -self.most_down)
        return lowest, np.where(self.least_down > 0, -self.least_down, self.most_up)

    def take(self, cells: NDArray[np.int64]) -> MoveBounds:
        """Return the bounds of some cells."""
        return MoveBounds(self.least_up[cells], self.least_down[cells], self.most_up[cells], self.most_down[cells])


@dataclass(frozen=True, eq=False)
class PerturbationModel:
    """How far values must and may move. All numbers are steps: units of the last decimal that is published.

    Parameters
    ----------
    risk
        What to protect, with the wishes of the method.
    method
        The method.
    integer
        All values are whole numbers; None and False leave it to variables that count.
    """

    risk: Risk
    method: Perturb
    integer: bool | None

    @property
    def decimals(self) -> int:
        """How many decimals are published."""
        if self.integer:
            return 0
        return self.risk.table.decimals if self.method.decimals is None else self.method.decimals

    def _steps(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers of the table's decimals in steps, rounded down."""
        table = self.risk.table.decimals
        if self.decimals >= table:
            return np.asarray(units * 10 ** (self.decimals - table))
        return np.asarray(units // 10 ** (table - self.decimals))

    @cached_property
    def truth(self) -> NDArray[np.int64]:
        """Of every cell, ``(n,)``."""
        return self._steps(np.asarray(self.risk.table.amounts.counts, dtype=np.int64))

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """Of every cell, ``(n,)``."""
        return self._steps(self.method.reaches(self.risk.table))

    @cached_property
    def _windows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The lowest and highest value of every cell, ``(n,)`` each."""
        lowest, highest = self.method.count_windows(self.risk.table)
        return -self._steps(-lowest), self._steps(highest)

    @cached_property
    def sensitive(self) -> NDArray[np.int64]:
        """The sensitive cells, ``(k,)``."""
        return np.flatnonzero(self.risk.sensitive)

    @cached_property
    def sides(self) -> NDArray[np.object_]:
        """The side that is asked for of each of them: up, down or random, ``(k,)``."""
        asked = [self.method.sides.get(int(cell), self.method.side) for cell in self.sensitive]
        return np.array(asked, dtype=object)

    @cached_property
    def grain(self) -> NDArray[np.int64]:
        """The smallest move of every cell: one step, or a whole count, ``(n,)``."""
        return np.where(self.risk.table.is_count, 10**self.decimals, 1).astype(np.int64)

    def _level(self, name: str) -> NDArray[np.int64]:
        """Return a level of the sensitive cells, rounded up."""
        level: Fixed = getattr(self.risk.largest_levels, name)
        exact = [level.fraction(int(cell)) * 10**self.decimals for cell in self.sensitive]
        return self._round_up(
            np.array([-(-number.numerator // number.denominator) for number in exact], dtype=np.int64)
        )

    def _round_up(self, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers of the sensitive cells rounded up to their smallest moves."""
        grain = self.grain[self.sensitive]
        return np.asarray(-(-steps // grain) * grain)

    @cached_property
    def _levels(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Lower, upper and sliding ones of the sensitive cells."""
        return self._level("lower"), self._level("upper"), self._level("sliding")

    def moves(self, *, up: bool) -> NDArray[np.int64]:
        """Return how far sensitive cells are moved at least, to one side, ``(k,)``; zero where it leaves none."""
        lower, upper, sliding = self._levels
        if self.method.move is not None:
            return self._steps(count_units("move", self.method.move, self.risk.table))[self.sensitive]
        own, other = (upper, lower) if up else (lower, upper)
        wanted = np.where(
            own > 0, own, np.where(sliding > 0, self._round_up(-(-sliding // 2)), self._round_up(np.ones_like(own)))
        )
        moves = np.minimum(wanted, self.reach[self.sensitive] - other)
        return np.asarray(np.minimum(moves, self.most()[0 if up else 1][self.sensitive]))

    def _find_least_reach(self, *, up: bool) -> NDArray[np.int64]:
        """Return the smallest reach that lets a sensitive cell move to one side and keep its levels."""
        lower, upper, sliding = self._levels
        other = lower if up else upper
        move = self._round_up(np.ones_like(other)) if self.method.move is None else self.moves(up=up)
        return np.asarray(np.maximum(other + move, self._round_up(-(-np.maximum(lower + upper, sliding) // 2))))

    def refuse_reach(self) -> None:
        """Refuse a reach that cannot protect, on a side that may be taken.

        Raises
        ------
        InfeasibleError
            With the cells, and a reach that could.
        """
        ups, downs = (np.isin(self.sides, [word, "random"]) for word in ("up", "down"))
        needed = np.maximum(
            np.where(ups, self._find_least_reach(up=True), 0), np.where(downs, self._find_least_reach(up=False), 0)
        )
        small = np.flatnonzero(needed > self.reach[self.sensitive])
        if len(small):
            labels = list_items([self.risk.table.label(int(cell)) for cell in self.sensitive[small]])
            enough = np.array([round_up(int(needed[small].max()))], dtype=object)
            text = Fixed.of_counts(enough, self.decimals).texts()[0]
            less = "conceal no levels" if self.method.conceal else "move them less"
            raise InfeasibleError.one("reach", f"cannot protect {labels}.", f"A reach of {text} could; or {less}.")

    def most(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return how far up and down values may move, to which side soever, ``(n,)`` each; frozen ones do not."""
        lowest, highest = self._windows
        frozen = self.risk.status == SHOW
        up, down = (np.where(frozen, 0, far) for far in (highest - self.truth, self.truth - lowest))
        return up, np.minimum(down, self.truth) if self.risk.table.nonnegative else down

    def bound_moves(self, upward: NDArray[np.bool_]) -> MoveBounds:
        """Return how far values must and may move where sensitive cells take these sides, ``(k,)``."""
        most_up, most_down = (far.copy() for far in self.most())
        least_up, least_down = np.zeros_like(most_up), np.zeros_like(most_down)
        place = self.sensitive
        least_up[place] = np.where(upward, self.moves(up=True), 0)
        least_down[place] = np.where(upward, 0, self.moves(up=False))
        most_up[place] = np.where(upward, most_up[place], 0)
        most_down[place] = np.where(upward, 0, most_down[place])
        return MoveBounds(least_up, least_down, most_up, most_down)

    def modes(self, problem: ProtectionProblem, cells: NDArray[np.int64], bounds: MoveBounds) -> tuple[Modes, float]:
        """Return variables, costs and slacks of the moves of some cells, and how many steps one unit of them is.

        Where values need not be whole, a unit is about a level, so that moves are numbers around 1.
        """
        step = 10.0 ** (problem.decimals - self.decimals)
        unit, reach = step, self.reach[cells]
        if not self.integer:
            levels = np.maximum(
                problem.requirements.sliding, np.maximum(problem.requirements.up, problem.requirements.down)
            )
            unit = max(step, float(np.median(levels)) if len(levels) else float(np.median(reach)) * step)
        ratio = np.float64(step / unit)
        cost = self.risk.cost[cells] / ratio / 10.0**self.decimals
        offer = offer_perturbation(
            cells,
            (cost, cost),
            reach * ratio,
            (bounds.most_up * ratio, bounds.most_down * ratio),
            (bounds.least_up * ratio, bounds.least_down * ratio),
            integer=bool(self.integer),
            at_most=self.method.at_most,
        )
        return modes_of_all_cells(problem, self.risk.table, [offer], unit), 1 / ratio
