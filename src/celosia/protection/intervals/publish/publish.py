"""From how far ranges reach to ranges that are published: placed, moved at random, audited."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError
from celosia.library import OnFirstUse
from celosia.pattern.entries import INTERVAL
from celosia.pattern.midpoint import warn_of_midpoints
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.intervals.formulation import Prices
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.publish.placement import Placed, Placing, Slacks
from celosia.protection.intervals.publish.shift import shifted
from celosia.protection.result import Protection
from celosia.protection.run import Call
from celosia.risk.risk import Risk
from celosia.solve.registry import backends

csgraph = OnFirstUse("scipy.sparse.csgraph")

_T = TypeVar("_T")

_SAME = 1e-4
"""By this part ranges may cost more that are moved further: rounding their ends costs as much."""


@dataclass(eq=False)
class Publishing:
    """One publication of ranges.

    Parameters
    ----------
    asked, required
        The risk with the wishes of the method, and with widths as levels.
    method, call
        How to publish.
    trace
        How a search went so far.
    """

    asked: Risk
    required: Risk
    method: Intervals
    call: Call
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)

    @cached_property
    def task(self) -> ProtectionProblem:
        """The cells that may be ranges, and what must be reached."""
        return problem_of(self.required, integer=self.call.integer)

    @cached_property
    def costs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a unit below and above the truth costs, of every cell of the table."""
        return self.method.costs(self.asked)

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """The greatest widths in counts of the task."""
        most = np.full(len(self.task), np.inf)
        for cell, width in self.method.most.items():
            most[self.task.cells == cell] = width * 10**self.task.decimals
        return most

    @property
    def sliding(self) -> bool:
        """Whether only sliding levels are asked for."""
        return not bool(self.task.goals.up.any() or self.task.goals.down.any())

    @cached_property
    def prices(self) -> Prices:
        """What ranges of the columns of the task cost."""
        below, above = (cost[self.task.cells] for cost in self.costs)
        return Prices(below, above)

    def _placed(self, slacks: Slacks) -> Placed:
        """Return ranges on decimals, audited, and moved at random at the same cost where only sliding levels are asked.

        What an audit must judge is kept only if it costs no more: ranges that are moved further next to hidden cells
        and other numbers, and ranges tied to whole numbers, which are moved after they have been widened to whole ones.
        """
        whole, first = self._tied_to_whole, self._moved(slacks)
        placed = self._audited(first)
        if not (self.method.shift and self.sliding) or self.call.clock.left <= 0:
            return placed
        if bool(whole.any()):
            first = self._whole_slacks(first, placed.pattern, whole)
            further = self._shifted(first, step=10**self.task.decimals, among=whole)
            placed, first = self._no_dearer((placed, first), further)
        if bool((slacks.still(self.task.cells) & ~whole).any()):
            down, up = np.where(whole, first.down, slacks.down), np.where(whole, first.up, slacks.up)
            further = self._shifted(replace(slacks, down=down, up=up), freely=True, among=~whole)
            placed, _ = self._no_dearer((placed, first), further)
        return placed

    def _moved(self, slacks: Slacks) -> Slacks:
        """Return ranges where they can be placed: those tied to whole numbers moved as little as that takes."""
        whole = self._tied_to_whole
        moved = self._shifted(slacks, among=~whole) or slacks
        return self._shifted(moved, random=False, among=whole) or moved

    def _no_dearer(self, known: tuple[Placed, Slacks], further: Slacks | None) -> tuple[Placed, Slacks]:
        """Return ranges that were moved further, if these can be placed at the same cost; else those that are known."""
        if further is None:
            return known
        try:
            other = self._audited(further)
        except InfeasibleError:
            return known
        return (other, further) if self._loss(other.pattern) <= self._loss(known[0].pattern) * (1 + _SAME) else known

    @cached_property
    def _tied_to_whole(self) -> NDArray[np.bool_]:
        """Which columns are whole numbers, or tied by relations to columns that are, ``(n,)``."""
        matrix = self.task.matrix
        links = sp.block_array([[None, matrix], [matrix.T, None]], format="csr")
        _, label = csgraph.connected_components(links, directed=False)
        own = label[matrix.shape[0] :]
        return np.isin(own, own[self.task.whole])

    def _whole_slacks(self, slacks: Slacks, pattern: Pattern, whole: NDArray[np.bool_]) -> Slacks:
        """Return how far ranges among whole numbers reach in a pattern, in counts; the others stay."""
        cells, scale = self.task.cells, 10.0**self.task.decimals
        truth = self.asked.table.values[cells]
        lower, upper = (side.floats[cells] for side in pattern.bounds())
        ranges, stays = pattern.status[cells] == INTERVAL, slacks.still(cells) | ~whole
        down, up = (
            np.where(stays, own, np.where(ranges, np.rint(far * scale), 0.0))
            for own, far in ((slacks.down, truth - lower), (slacks.up, upper - truth))
        )
        return replace(slacks, down=down, up=up)

    def _audited(self, slacks: Slacks) -> Placed:
        return self._whatever_is_pressed(lambda: self._placing.place(slacks))

    def _audited_quickly(self, slacks: Slacks) -> Placed | None:
        """Return the same without a look at what can be concluded beside requirements; None where that fails."""
        try:
            return self._placing.place(self._moved(slacks), quickly=True)
        except CelosiaError:
            return None

    @property
    def _placing(self) -> Placing:
        fixed = None if self.prices.fixed is None else self._everywhere(self.prices.fixed)
        call = replace(self.call, clock=self.call.clock.whole)
        return Placing(self.required, self.method, call, self.task, self.costs, self.most, fixed)

    def _whatever_is_pressed(self, work: Callable[[], _T]) -> _T:
        """Return what is done after the search; the first Ctrl-C ends what is optional, and it begins again."""
        try:
            return work()
        except KeyboardInterrupt:
            self.call.clock.stop()
            return work()

    def _everywhere(self, prices: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return prices of columns as those of all cells, ``(n_cells,)``."""
        wide = np.zeros(len(self.required))
        wide[self.task.cells] = prices
        return wide

    def _shifted(
        self,
        slacks: Slacks,
        *,
        among: NDArray[np.bool_] | None = None,
        random: bool = True,
        freely: bool = False,
        step: int | None = None,
    ) -> Slacks | None:
        """Return ranges, all or some, moved at the same cost where levels are sliding, at random if that is asked for.

        None where they cannot be placed.
        """
        if not self.sliding or (among is not None and not bool(among.any())):
            return None
        prices = self.prices.down, self.prices.up

        def moved() -> Slacks | None:
            source = np.random.default_rng(self.method.secret) if random and self.method.shift else None
            return shifted(self.task, slacks, prices, backends()[0], source, among=among, freely=freely, step=step)

        return self._whatever_is_pressed(moved)

    def _result(self, placed: Placed, bound: float) -> Protection:
        warn_of_midpoints(placed.pattern)
        return self._unsaid(placed, bound)

    def _unsaid(self, placed: Placed, bound: float) -> Protection:
        """Return a result without a warning: it may not be the last."""
        cost = self._loss(placed.pattern)
        return Protection(
            risk=self.asked,
            method=self.method,
            pattern=placed.pattern,
            cost=cost,
            bound=min(bound, cost),
            found=placed.audit,
            seconds=self.call.clock.seconds,
            solver=f"{backends()[0].name} {backends()[0].version}",
            trace=tuple(self.trace),
            seed=self.call.seed,
            notes=placed.notes,
        )

    def _loss(self, pattern: Pattern) -> float:
        """Return what a pattern costs."""
        return pattern.loss(self.asked.cost)
