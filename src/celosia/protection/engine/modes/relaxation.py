"""The relaxed master of any modes of publication: solve it, separate its point, add the cuts, again.

Without whole numbers that is the whole search (`celosia.protection.engine.modes.search` has the rest). Points
count as safe when every level is reached in doubles; what is published is audited afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.cuts.mixed_rounding import mixed_rounding_cuts
from celosia.protection.engine.incumbent import Incumbent
from celosia.protection.engine.master import CutPool, Master, Point
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.parameters import SEARCH, ModeSearchParameters
from celosia.protection.engine.modes.separation import CapacitySeparator, Separation
from celosia.protection.engine.problem import Extend, Extension, ProtectionProblem
from celosia.protection.engine.stop import Stop, TimeUpError
from celosia.solve.backend import Backend
from celosia.tolerance import CUT_SATISFIED, INTEGRAL, LEVEL_REACHED, SUM_ROUNDING

Repair = Callable[[NDArray[np.float64], Separation, int, bool], None]
"""Makes safe points of one whose whole numbers are fixed: the point, its separation, how many of the cuts that it
violates are new, and whether slacks were taken as they are."""


class ModeRelaxation:
    """The relaxed master of the modes of a problem with its cut pool and its separator.

    Parameters
    ----------
    problem, modes
        The requirements, and what may be published.
    backend
        Solves masters and attackers' linear programs.
    incumbent
        Gets the bounds.
    stop
        When to end.
    touch
        Is called when there are new cuts.
    parameters
        How much effort cutting planes are worth.

    Attributes
    ----------
    pool
        All cuts that were found.
    separator
        Separates capacity cuts of the requirements so far.
    master
        The open linear program.
    last
        Its last solution, None before the first.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        modes: Modes,
        backend: Backend,
        incumbent: Incumbent[np.float64],
        stop: Stop,
        touch: Callable[[], None] = lambda: None,
        parameters: ModeSearchParameters = SEARCH,
    ) -> None:
        self.modes, self.parameters = modes, parameters
        self._incumbent, self._stop, self._touch = incumbent, stop, touch
        self.separator = CapacitySeparator(problem, modes, backend, parameters.separation)
        self.pool = CutPool()
        self.master = Master(modes.program, backend, self.pool)
        self.last: NDArray[np.float64] | None = None
        self._root: Point | None = None

    @cached_property
    def _width_costs(self) -> NDArray[np.float64]:
        """What a unit of width of every column costs, ``(n,)``."""
        return np.asarray((abs(self.modes.up) + abs(self.modes.down)) @ self.modes.program.cost)

    @cached_property
    def _stages(self) -> tuple[float, ...]:
        """How much wider slacks are taken, stage by stage."""
        costs, parameters = self._width_costs[self._width_costs > 0], self.parameters
        low, high = np.quantile(costs, [0.1, 0.9]) if len(costs) else (1.0, 1.0)
        uneven = high > parameters.uneven_costs * low and not len(self.modes.integers)
        return parameters.widenings_of_uneven_costs if uneven else parameters.widenings

    @cached_property
    def widening(self) -> NDArray[np.float64]:
        """How much of the extra width every column gets: less where width is dear, ``(n,)``."""
        costs = self._width_costs
        usual = np.median(costs[costs > 0]) if bool((costs > 0).any()) else 1.0
        if len(self.modes.integers):
            return np.ones(len(costs))
        return np.asarray(usual / np.maximum(costs, usual))

    def satisfies_rows(self, v: NDArray[np.float64]) -> bool:
        """Return whether a point satisfies the rows of the program."""
        program = self.modes.program
        rows = program.rows @ v
        low, high = program.row_lower - CUT_SATISFIED, program.row_upper + CUT_SATISFIED
        return bool(((rows >= low) & (rows <= high)).all())

    def raise_bound(self, bound: float) -> None:
        """Take note of a bound of the master, unless fixed variables make it hold for a part of all points only."""
        if not self.master.is_restricted:
            self._incumbent.raise_bound(bound)

    def solve(self) -> Point | None:
        """Solve the master and take note of its bound; None where it has no point."""
        point, restricted = self.master.solve(), self.master.is_restricted
        if point is not None:
            self.last = point.x
            if not restricted:
                self._incumbent.raise_bound(point.bound)
                if self._root is None or point.bound >= self._root.bound:
                    self._root = point
                self.fix_by_reduced_costs()
        elif not restricted:
            self._incumbent.conclude()
        return point

    def fix_by_reduced_costs(self) -> None:
        """Narrow the bounds of whole numbers to values with which a point may be cheaper than the incumbent.

        The incumbent itself may be cut off by this: it is kept aside.
        """
        found, root, integers = self._incumbent, self._root, self.modes.integers
        if root is None or found.best is None or not len(integers) or self.master.is_restricted:
            return
        gap = max(found.limit - root.bound, 0.0) + SUM_ROUNDING * abs(found.cost)
        priced = integers[np.abs(root.reduced[integers]) * self.parameters.most_steps > gap]
        steps = np.floor(gap / np.abs(root.reduced[priced]) + INTEGRAL)
        lower, upper = self.master.base.lower.copy(), self.master.base.upper.copy()
        up, down = root.reduced[priced] > 0, root.reduced[priced] < 0
        highest, lowest = lower[priced] + steps, upper[priced] - steps
        upper[priced[up]] = np.minimum(upper[priced], highest)[up]
        lower[priced[down]] = np.maximum(lower[priced], lowest)[down]
        self.master.tighten(lower, upper)

    def reset(self) -> None:
        """Open whole numbers that were fixed because of what an incumbent costs that is none any more."""
        self._root = None
        self.master.tighten(self.modes.program.lower, self.modes.program.upper)

    def cut(self, repair: Repair | None = None, worth: float = 0.0) -> Point | None:
        """Cut until every level is reached; return the last point, None where none is cheaper than the incumbent.

        Parameters
        ----------
        repair
            Makes safe points of what the master finds, where all whole numbers are fixed; None where they are not, and
            cutting ends when the bound hardly rises.
        worth
            Points that are cheaper than the incumbent by less than this share of its cost are not worth the time.
        """
        history: list[float] = []
        stage = 0
        while True:
            point, found = self.solve(), self._incumbent
            dear = point is None or found.base + point.bound >= found.cost - worth * abs(found.cost)
            if point is None or dear or self._stop.reached:
                return None
            history.append(point.bound)
            self._stop.check()
            if self.master.recall(point.x):
                continue
            new = self._separate_at(point.x, stage, repair)
            if new:
                stage = self._next_stage(stage, new)
                if len(history) % self.parameters.purge_rounds == 0:
                    self.master.purge(self.parameters.patience)
                if repair is None and self._stalls(history):
                    return point
            elif repair is not None and self._stop.reached:
                return point
            elif stage < len(self._stages) - 1:
                stage += 1
            else:
                return point

    def cut_by_rounding(self, point: Point) -> Point | None:
        """Cut a fractional point by mixed-integer rounding, and by capacity cuts again, as long as the bound rises.

        Return the last point, None where none is cheaper than the incumbent.
        """
        at: Point | None = point
        for _ in range(self.parameters.rounding_rounds):
            if at is None:
                break
            self._stop.check()
            rows, right = self.master.inside
            found = mixed_rounding_cuts(rows, right, at.x, self.modes.program, self.parameters.rounding)
            before = at.bound
            if not self.master.add(found):
                break
            at = self.cut()
            if at is not None and at.bound - before <= self.parameters.stall * abs(at.bound):
                break
        return at

    def _stalls(self, history: list[float]) -> bool:
        """Return whether the bound has hardly risen in the last rounds."""
        rounds = self.parameters.stall_rounds
        rise = self.parameters.stall * abs(history[-1])
        return len(history) > rounds and history[-1] - history[-rounds] <= rise

    def _next_stage(self, stage: int, new: int) -> int:
        """Return the stage of the next point, after so many new cuts."""
        last = len(self._stages) - 1
        return min(stage + 1, last) if new <= self.parameters.tail * len(self.separator.sides) else stage

    def _separate_at(self, v: NDArray[np.float64], stage: int, repair: Repair | None) -> int:
        """Add the cuts that a point violates, and have it repaired; return how many are new."""
        separator, exact = self.separator, stage == len(self._stages) - 1
        missing = LEVEL_REACHED if exact and repair is not None else self.parameters.postponed
        widening = self._stages[stage] * self.widening
        early = not exact and not len(self.modes.integers)
        found = separator.separate(v, widening=widening, missing=missing, effort="little" if early else "enough")
        new = self.master.add(found.cuts)
        if not new and not found.complete and not early:
            found = separator.separate(v, widening=widening, missing=missing)
            new = self.master.add(found.cuts)
        if new:
            self._touch()
        if repair is not None:
            repair(v, found, new, exact)
        if self.separator is not separator:  # the oracle has added requirements
            return self._separate_at(v, stage, repair)
        return 0 if self._stop.reached else new

    def extend(self, problem: ProtectionProblem) -> None:
        """Add requirements; their target cells are ranges where they may be nothing else."""
        old = self.separator
        self.separator = CapacitySeparator(problem, self.modes, old.backend, old.parameters)
        columns = np.unique(self.separator.sides.columns[self.separator.sides.certain])
        opening = self.modes.opening[columns[self.modes.hiding[columns] < 0]]
        self.master.add([Cut(np.array([variable]), np.ones(1)) for variable in opening[opening >= 0].tolist()])


class PointRequirements:
    """Accepts points that an oracle does not object to, and adds the requirements that others violate.

    Cuts stay valid: each follows from one level, from the bounds of an attacker, and from the bounds of variables, and
    none of these changes when there are more levels and attackers.

    Parameters
    ----------
    extend
        The oracle; None where the requirements of the problem are all.
    incumbent
        Gets the points.
    relaxation
        Is extended.
    stop
        Says which point would be the last.
    """

    def __init__(
        self, extend: Extend | None, incumbent: Incumbent[np.float64], relaxation: ModeRelaxation, stop: Stop
    ) -> None:
        self.extend, self._incumbent, self._relaxation, self._stop = extend, incumbent, relaxation, stop
        self._asked: NDArray[np.float64] | None = None

    @property
    def confirmed(self) -> bool:
        """Whether there is an incumbent, and the oracle, if there is one, has nothing against it."""
        best = self._incumbent.best
        return best is not None and (self.extend is None or best is self._asked or self._is_asked(self._incumbent.cost))

    def accept(self, v: NDArray[np.float64]) -> None:
        """Make a safe point the incumbent if it is cheaper, unless the oracle refuses it.

        Without whole numbers such points are many, and the oracle is asked about the last only; none takes the place of
        one that was offered, and that the oracle has nothing against.
        """
        found = self._incumbent
        cost = found.cost_of(v)
        if cost >= found.cost or (not self._is_asked(cost) and found.best is self._asked is not None):
            return
        if self._is_asked(cost) and self._is_refused(v):
            if not len(self._relaxation.modes.integers) and found.best is not self._asked:
                found.best = None  # nobody was asked about it
            return
        found.improve(v.copy())

    def confirm(self, v: NDArray[np.float64]) -> bool:
        """Make a safe point the incumbent if it is cheaper; return False where the oracle refuses it."""
        found = self._incumbent
        if found.cost_of(v) >= found.cost:
            return True
        if self._is_refused(v):
            return False
        found.improve(v.copy())
        self._asked = None if self.extend is None else found.best
        return True

    def _is_asked(self, cost: float) -> bool:
        """Return whether the oracle is asked about a point of some cost."""
        return len(self._relaxation.modes.integers) > 0 or self._stop.is_reached_at(cost)

    def _is_refused(self, v: NDArray[np.float64]) -> bool:
        """Return whether the oracle attacks a point with success, or has no time; add what would have stopped it."""
        try:
            extension = None if self.extend is None else self.extend(v)
        except TimeUpError:
            return True
        if extension is not None:
            self.add(extension)
        return extension is not None

    def add(self, extension: Extension) -> None:
        """Add requirements from now on."""
        self._relaxation.extend(extension.problem)
        self._incumbent.freeze(unless=extension.necessary)
