"""Cutting planes for the relaxed master of any modes of publication: solve it, separate its point, add the cuts, again.

Without whole numbers that is the whole search (`celosia.protection.engine.modes.branch_and_cut` has the rest). Points
count as safe when every level is reached in doubles; what is published is audited afterwards.

An oracle may add requirements while a search runs, as in `celosia.protection.engine.oracle`: it attacks the points that
would become the incumbent, and what would have stopped the attack is required from then on. Cuts stay valid: each
follows from one level, from the bounds of an attacker, and from the bounds of variables, and none of these changes when
there are more levels and attackers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.master import CutPool, Master, Point
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.parameters import SEARCH, ModeSearchParameters
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.engine.warm_start import cuts_of_search, pack_cuts
from celosia.protection.run import Run
from celosia.protection.state.file import PackedCuts
from celosia.protection.state.fingerprint import digest_of
from celosia.solve.backend import Backend
from celosia.tolerance import (
    CUT_SATISFIED,
    GAP_CLOSED,
    LEVEL_REACHED,
    LEVEL_REACHED_BY_CUTS,
    TREE_BOUND,
    WITNESS_EXCEEDS,
)


@dataclass(frozen=True, slots=True, eq=False)
class FurtherRequirements:
    """A problem with more requirements than before, of more attackers, who come last.

    Parameters
    ----------
    problem
        The problem, with the same columns.
    necessary
        Every safe point satisfies the new requirements. If false they are only sufficient, and bounds must not use
        them.
    """

    problem: ProtectionProblem
    necessary: bool


PointOracle = Callable[[Modes, NDArray[np.float64]], FurtherRequirements | None]
"""Attacks a point that meets all requirements; returns those that would have stopped the attack, None if it is safe.

It raises `celosia.protection.engine.stop.TimeUpError` where there is no time to find out.
"""


class ModeCuttingPlanes:
    """A search for the cheapest safe point of the modes of a problem, as far as cuts of the relaxed master lead.

    Parameters
    ----------
    problem, modes
        The requirements, and what may be published.
    backend
        Solves masters and attackers' linear programs.
    run
        When to stop, and the solver of masters with whole numbers.
    listen
        Hears of every better incumbent or bound.
    oracle
        Attacks points; None where the requirements of the problem are all.
    parameters
        How the search goes.

    Attributes
    ----------
    best
        The incumbent: the cheapest safe point so far, None where there is none.
    bound
        No safe point costs less.
    impossible
        There is no safe point.
    separator
        Separates capacity cuts of the requirements so far.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        modes: Modes,
        backend: Backend,
        run: Run,
        listen: Callable[[ModeCuttingPlanes], None],
        oracle: PointOracle | None = None,
        parameters: ModeSearchParameters = SEARCH,
    ) -> None:
        self.modes, self.run, self.parameters = modes, run, parameters
        self.separator = CapacitySeparator(problem, modes, backend, parameters.separation)
        self.pool = CutPool()
        self.best: NDArray[np.float64] | None = None
        self.bound = self._least_cost(modes)
        self.impossible = False
        self._last: NDArray[np.float64] | None = None
        self._no_goods: set[bytes] = set()
        self._listen = listen
        self.oracle = oracle
        self._bound_final = False
        self._master = Master(modes.program, backend, self.pool)
        integer = modes.program.integer
        self._integer = np.zeros(0, dtype=np.int64) if integer is None else np.flatnonzero(integer)

    @cached_property
    def _width_costs(self) -> NDArray[np.float64]:
        """What a unit of width of every column costs, ``(n,)``."""
        return np.asarray((abs(self.modes.up) + abs(self.modes.down)) @ self.modes.program.cost)

    @cached_property
    def _stages(self) -> tuple[float, ...]:
        """How much wider slacks are taken, stage by stage."""
        costs, parameters = self._width_costs[self._width_costs > 0], self.parameters
        low, high = np.quantile(costs, [0.1, 0.9]) if len(costs) else (1.0, 1.0)
        uneven = high > parameters.uneven_costs * low and not len(self._integer)
        return parameters.widenings_of_uneven_costs if uneven else parameters.widenings

    @cached_property
    def _widening(self) -> NDArray[np.float64]:
        """How much of the extra width every column gets: less where width is dear, ``(n,)``."""
        costs = self._width_costs
        usual = np.median(costs[costs > 0]) if bool((costs > 0).any()) else 1.0
        return np.ones(len(costs)) if len(self._integer) else np.minimum(1.0, usual / np.maximum(costs, 1e-300))

    @staticmethod
    def _least_cost(modes: Modes) -> float:
        """Return what every point costs at least, without any requirement."""
        program = modes.program
        ends = np.where(program.cost < 0, program.upper, program.lower)
        priced = program.cost != 0
        return modes.constant + float(program.cost[priced] @ ends[priced])

    @property
    def cost(self) -> float:
        """What the incumbent costs, infinite where there is none."""
        return np.inf if self.best is None else self.modes.cost(self.best)

    @property
    def done(self) -> bool:
        """Whether the incumbent is within the gap of the bound, or there is no safe point."""
        if self.best is None:
            return self.impossible
        close = 2 * TREE_BOUND if len(self._integer) else GAP_CLOSED
        return self.cost - self.bound <= max(self.run.gap, close) * abs(self.cost)

    @property
    def confirmed(self) -> bool:
        """Whether there is an incumbent, and the oracle, if there is one, has nothing against it."""
        return self.best is not None and (self.oracle is None or self.done or len(self._integer) > 0)

    def learn(self, cuts: list[Cut], bound: float, v: NDArray[np.float64] | None) -> None:
        """Take over valid cuts, a bound, and a safe point as the incumbent."""
        self._master.add(cuts)
        self.bound = max(self.bound, bound)
        self.best = v

    @cached_property
    def _name(self) -> str:
        """What tells this search from others: its variables and its requirements."""
        problem = self.separator.problem
        asked = problem.matrix, problem.up, problem.down, problem.requirements, problem.whole
        return digest_of((self.modes, asked))

    def begin_warm(self) -> None:
        """Begin with the cuts of the same search in another run, and have those of this one kept.

        Not where an oracle adds requirements: bounds may not use all of these.
        """
        if self.oracle is not None or (self.run.warm_start is None and self.run.keeper is None):
            return
        if self.run.warm_start is not None:
            self._master.add(cuts_of_search(self.run.warm_start, self._name, len(self.modes.program.cost)))
        if self.run.keeper is not None:
            self.run.keeper.keep_cuts(self._name, self._pack_cuts)

    def _pack_cuts(self, most: int) -> PackedCuts:
        """Return all cuts but no-good cuts, which may not be proved."""
        return pack_cuts((cut for cut in tuple(self.pool.cuts) if cut.key not in self._no_goods), most)

    @property
    def _restricted(self) -> bool:
        """Whether variables of the master are fixed, so that its bound does not hold for all points."""
        base = self._master.base
        return bool(((self._master.lower != base.lower) | (self._master.upper != base.upper)).any())

    def _check_time(self) -> None:
        if self.run.clock.left <= 0:
            raise TimeUpError

    def _cut(self, *, whole: bool) -> Point | None:
        """Cut until every level is reached; return the last point, None where none is cheaper than the incumbent.

        Parameters
        ----------
        whole
            All whole numbers are fixed: the last point is a safe one. Otherwise cutting ends when the bound hardly
            rises.
        """
        history: list[float] = []
        stage = 0
        while True:
            point = self._master.solve()
            if point is not None:
                self._last = point.x
                history.append(point.bound)
                self._raise_bound(point.bound)
            if point is None or self.done or self.modes.constant + point.bound >= self.cost:
                return None
            self._check_time()
            if self._master.recall(point.x):
                continue
            new = self._separate_at(point.x, stage, whole=whole)
            if new:
                stage = self._next_stage(stage, new)
                if len(history) % self.parameters.purge_rounds == 0:
                    self._master.purge()
                if not whole and self._stalls(history):
                    return point
            elif whole and self.done:
                return point
            elif stage < len(self._stages) - 1:
                stage += 1
            else:
                return point

    def _stalls(self, history: list[float]) -> bool:
        """Return whether the bound has hardly risen in the last rounds."""
        rounds = self.parameters.stall_rounds
        rise = self.parameters.stall * abs(history[-1])
        return len(history) > rounds and history[-1] - history[-rounds] <= rise

    def _next_stage(self, stage: int, new: int) -> int:
        """Return the stage of the next point, after so many new cuts."""
        last = len(self._stages) - 1
        return min(stage + 1, last) if new <= self.parameters.tail * len(self.separator.sides) else stage

    def _separate_at(self, v: NDArray[np.float64], stage: int, *, whole: bool) -> int:
        """Add the cuts that a point violates; return how many. A whole point without any is offered, slightly wider."""
        separator, exact = self.separator, stage == len(self._stages) - 1
        missing = LEVEL_REACHED if exact and whole else self.parameters.postponed
        widening = self._stages[stage] * self._widening
        early = not exact and not len(self._integer)
        found = separator.separate(v, widening=widening, missing=missing, effort="little" if early else "enough")
        new = self._master.add(found.cuts)
        if not new and not found.complete and not early:
            found = separator.separate(v, widening=widening, missing=missing)
            new = self._master.add(found.cuts)
        if new and self.run.keeper is not None and self.oracle is None:
            self.run.keeper.touch()
        if whole and separator.has_programs and not len(self._integer) and self.modes.only_widen:
            self._offer_witnesses(v)
        elif whole and (exact or not new):
            least = found.least if exact else separator.separate(v).least
            self._offer_scaled(v, least, LEVEL_REACHED_BY_CUTS if exact and not new else LEVEL_REACHED)
        if self.separator is not separator:  # the oracle has added requirements
            return self._separate_at(v, stage, whole=whole)
        return 0 if self.done else new

    def _raise_bound(self, bound: float) -> None:
        """Take note of a bound, unless it holds for a part of all points only."""
        bound += self.modes.constant
        if bound > self.bound and not self._restricted and not self._bound_final:
            self.bound = min(bound, self.cost)
            self._listen(self)

    def _offer(self, v: NDArray[np.float64]) -> None:
        """Make a safe point the incumbent if it is cheaper, unless the oracle refuses it.

        Without whole numbers such points are many, and the oracle is asked about the last only.
        """
        if self.modes.cost(v) >= self.cost:
            return
        before, self.best = self.best if len(self._integer) else None, v.copy()
        if (self.done or len(self._integer)) and self._oracle_refuses(v):
            self.best = before
        else:
            self._listen(self)

    def _oracle_refuses(self, v: NDArray[np.float64]) -> bool:
        """Return whether the oracle attacks a point with success, or has no time; add what would have stopped it."""
        try:
            further = None if self.oracle is None else self.oracle(self.modes, v)
        except TimeUpError:
            return True
        if further is not None:
            self.require(further)
        return further is not None

    def require(self, further: FurtherRequirements) -> None:
        """Add requirements from now on; their target cells are ranges where they may be nothing else."""
        old = self.separator
        self.separator = CapacitySeparator(further.problem, self.modes, old.backend, old.parameters)
        columns = np.unique(self.separator.sides.columns)
        opening = self.modes.opening[columns[self.modes.hiding[columns] < 0]]
        self._master.add([Cut(np.array([variable]), np.ones(1)) for variable in opening[opening >= 0].tolist()])
        self._bound_final |= not further.necessary

    def _offer_scaled(self, v: NDArray[np.float64], least: float, missing: float) -> None:
        """Offer a point with its widths raised so that every level is reached, where bounds and rows allow that.

        As it is, a point is offered that misses levels by no more than a share.
        """
        if least <= 0:
            return
        program = self.modes.program
        continuous = np.zeros(len(v), dtype=bool)
        continuous[np.concatenate([self.modes.up.indices, self.modes.down.indices])] = True
        continuous[self._integer] = False
        more = 0.0 if least >= 1 - LEVEL_REACHED else 1.0 / least - 1.0
        for times in self.parameters.raisings if more else (1.0,):
            wider = np.where(continuous, v * (1.0 + times * more), v)
            wider = self.modes.tidy(np.minimum(wider, program.upper))
            if not (self.modes.cost(wider) < self.cost and self._satisfies_rows(wider)):
                break
            if self.separator.separate(wider).safe:
                self._offer(wider)
                return
        if least >= 1 - missing:  # values that move protect no better the further they do
            self._offer(v)

    def _offer_witnesses(self, v: NDArray[np.float64]) -> None:
        """Offer a point whose slacks admit the last witnesses of all LPs, and are wide enough for all flows."""
        program = self.modes.program
        least = self.separator.least_by_flows(v)
        if least <= 0:
            return
        bare = not self.separator.has_flows and not program.rows.shape[0]
        wide = self.separator.widen_to_witnesses(program.lower if bare else v / least)
        if wide is not None and bool((wide <= program.upper * (1 + 2 * WITNESS_EXCEEDS)).all()):
            wide = np.minimum(wide, program.upper)
            if self._satisfies_rows(wide):
                self._offer(wide)

    def _offer_in_haste(self) -> None:
        """Where time is up without an incumbent, offer the last point made wide enough, or the one that opens all."""
        ranges = not len(self._integer) and self.modes.only_widen
        for widening in self.parameters.hasty_widenings if ranges and self._last is not None else ():
            if self.best is None and self._last is not None:
                least = self.separator.separate(self._last, widening=widening * self._widening).least
                if self.separator.has_programs:
                    self._offer_witnesses(self._last)
                else:
                    self._offer_scaled(self._last, least, LEVEL_REACHED)
        if self.best is None:
            self._offer_widest()

    def _offer_widest(self) -> None:
        """Offer the point that opens everything: dear, but mostly safe."""
        program = self.modes.program
        far = self.parameters.widest * float(self.separator.sides.levels.max(initial=0.0))
        v = np.minimum(program.upper, far)
        v[self._integer] = program.upper[self._integer]
        self.suggest(v)

    def suggest(self, v: NDArray[np.float64]) -> None:
        """Make a point the incumbent where rows allow it, it is safe, and cheaper."""
        if self._satisfies_rows(v) and self.separator.separate(v).safe:
            self._offer(v)

    def _satisfies_rows(self, v: NDArray[np.float64]) -> bool:
        """Return whether a point satisfies the rows of the program."""
        program = self.modes.program
        rows = program.rows @ v
        low, high = program.row_lower - CUT_SATISFIED, program.row_upper + CUT_SATISFIED
        return bool(((rows >= low) & (rows <= high)).all())
