"""The search for the cheapest safe point of any modes of a task: cut, dive, branch.

    cut        solve the relaxed master, attack its point, add the cuts, again
    dive       fix whole numbers one part after another, cutting in between, down to a safe point
    branch     the master with whole numbers; attack its solution; again until nothing is found against it

Without whole numbers the first is all. Points count as safe when every level is reached in doubles; what is published
is audited afterwards.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from celosia.protect.call import Call
from celosia.protect.cuts import Cut
from celosia.protect.master import Master, Point, Pool
from celosia.protect.modes import Modes
from celosia.protect.pressing import REACHED, Press
from celosia.protect.task import Task
from celosia.solve.backend import Backend, Capability, Row
from celosia.solve.solution import Status

_WIDER = (0.1, 0.01, 0.001, 0.0)
"""How much wider slacks are taken, in units, one after the other: cuts found so use fewer columns."""
_MISSING = 1e-4
"""As long as slacks are taken wider, and at fractional points, levels missed by less are left for later."""
_WHOLE = 1e-6
_HALF = 0.5
_PURGE_EVERY = 10
_LITTLE, _LONG = 1e-4, 15
"""When the bound has risen by less than this part in so many rounds, cutting at the root ends, if there are integers."""
_QUARTER = 4
_GAP_OF_ROUNDS = 3
"""A master with whole numbers is solved to this part of the gap that is left."""


class _OutOfTimeError(Exception):
    """Time is up."""


class ModeSearch:
    """A search for the cheapest safe point of the modes of a task, which can be left at any moment.

    Parameters
    ----------
    task, modes
        What must be reached, and what may be published.
    backend
        Solves masters and attackers' programs.
    call
        When to stop, and the solver of masters with whole numbers.
    listen
        Hears of every better point or bound.

    Attributes
    ----------
    best
        The cheapest safe point so far, None where there is none.
    bound
        No safe point costs less.
    impossible
        There is no safe point.
    """

    def __init__(
        self, task: Task, modes: Modes, backend: Backend, call: Call, listen: Callable[[ModeSearch], None]
    ) -> None:
        self.modes, self.call = modes, call
        self.press = Press(task, modes, backend)
        self.pool = Pool()
        self.best: NDArray[np.float64] | None = None
        self.bound = -np.inf
        self.impossible = False
        self._listen = listen
        self._master = Master(modes.program, backend, self.pool)
        integer = modes.program.integer
        self._integer = np.zeros(0, dtype=np.int64) if integer is None else np.flatnonzero(integer)

    @property
    def cost(self) -> float:
        """What the best point costs, infinite where there is none."""
        return np.inf if self.best is None else self.modes.cost(self.best)

    @property
    def done(self) -> bool:
        """Whether the best point is as good as was asked for, or there is none."""
        if self.best is None:
            return self.impossible
        return self.cost - self.bound <= max(self.call.gap, REACHED) * abs(self.cost)

    def run(self) -> None:
        """Search until the best point is within the gap, or time is up."""
        try:
            point = self._cut_off(rising=bool(len(self._integer)))
            if point is None:
                self.impossible = not self._fixed
                return
            if len(self._integer):
                self._dive(point)
                self._branch()
        except _OutOfTimeError:
            return

    @property
    def _fixed(self) -> bool:
        base = self._master.base
        return bool(((self._master.lower != base.lower) | (self._master.upper != base.upper)).any())

    def _check_time(self) -> None:
        if self.call.clock.left <= 0:
            raise _OutOfTimeError

    def _cut_off(self, *, rising: bool = False, whole: bool = False) -> Point | None:
        """Cut until every level is reached, and keep the point where it is whole; None where no point is left.

        Parameters
        ----------
        rising
            End when the bound hardly rises.
        whole
            All integers are fixed: the point that is left is a safe one.
        """
        history: list[float] = []
        stage = 0
        while True:
            self._check_time()
            point = self._master.solve()
            if point is None:
                return None
            history.append(point.bound)
            if not self._fixed:
                self._raise_bound(point.bound)
            if whole and self.modes.constant + point.bound > self.cost:
                return None
            if self._master.recall(point.x):
                continue
            exact = stage == len(_WIDER) - 1
            found = self.press.attack(point.x, wider=_WIDER[stage], missing=REACHED if exact and not rising else _MISSING)
            if (exact or not found.cuts) and (whole or not len(self._integer)):
                self._offer_scaled(point.x, found.least if exact else self.press.attack(point.x).least)
                if self.done:
                    return point
            if not self._master.add(found.cuts):
                if exact:
                    return point
                stage += 1
                continue
            if len(history) % _PURGE_EVERY == 0:
                self._master.purge()
            if rising and len(history) > _LONG and history[-1] - history[-_LONG] <= _LITTLE * abs(history[-1]):
                return point

    def _raise_bound(self, bound: float) -> None:
        bound += self.modes.constant
        if bound > self.bound:
            self.bound = min(bound, self.cost)
            self._listen(self)

    def _offer(self, v: NDArray[np.float64]) -> None:
        if self.modes.cost(v) < self.cost:
            self.best = v.copy()
            self._listen(self)

    def _offer_scaled(self, v: NDArray[np.float64], least: float) -> None:
        """Keep a point whose widths are raised so that every level is reached, where that is allowed."""
        if least <= 0:
            return
        program = self.modes.program
        continuous = np.ones(len(v), dtype=bool)
        continuous[self._integer] = False
        wider = np.where(continuous, v / least * (1 + REACHED if least < 1 else 1.0), v)
        wider = np.minimum(wider, program.upper)
        rows = program.rows @ wider
        allowed = (rows >= program.row_lower - _WHOLE) & (rows <= program.row_upper + _WHOLE)
        if self.modes.cost(wider) < self.cost and bool(allowed.all()) and self.press.attack(wider).least >= 1 - REACHED:
            self._offer(wider)

    def _dive(self, point: Point) -> None:
        """Fix whole numbers, the surest first, and cut again, until all are fixed and the point is safe."""
        try:
            while True:
                self._check_time()
                open_ = self._integer[self._master.lower[self._integer] < self._master.upper[self._integer]]
                if not len(open_):
                    self._cut_off(whole=True)
                    return
                x = point.x[open_]
                base = np.floor(x + _WHOLE)
                part = x - base
                sure = open_[part <= _WHOLE]
                half = open_[part >= _HALF]
                chosen = half if len(half) else open_[np.argsort(-part)[: max(1, int((part > _WHOLE).sum()) // _QUARTER)]]
                if not bool((part > _WHOLE).any()):
                    self._master.fix(sure, base[part <= _WHOLE])
                else:
                    self._master.fix(chosen, np.floor(point.x[chosen] + _WHOLE) + (point.x[chosen] % 1.0 > _WHOLE))
                after = self._cut_off(rising=True)
                if after is None:
                    return
                point = after
        finally:
            self._master.release()

    def _complete(self, v: NDArray[np.float64]) -> None:
        """Make a safe point with the whole numbers of another, where there is one."""
        try:
            self._master.fix(self._integer, np.rint(v[self._integer]))
            self._cut_off(whole=True)
        finally:
            self._master.release()

    def _branch(self) -> None:
        """Solve the master with whole numbers until nothing is found against its solution."""
        while not self.done:
            self._check_time()
            gap = max(self.call.gap, (self.cost - self.bound) / abs(self.cost) / _GAP_OF_ROUNDS) if self.cost else 0.0
            model = self.call.solver.open(self._master.program(self.cost - self.modes.constant))
            if Capability.LAZY in self.call.solver.capabilities:
                solution = model.solve_lazily(self._separate, time_limit=self.call.clock.left, gap=self.call.gap)
            else:
                solution = model.solve(time_limit=self.call.clock.left, gap=gap)
            if solution.status is Status.INFEASIBLE:
                self._conclude()
                return
            self._raise_bound(solution.bound * self._master.scale)
            if solution.x is None or solution.status is Status.STOPPED:
                raise _OutOfTimeError
            found = self.press.attack(solution.x)
            added = self._master.add(found.cuts)
            if found.least >= 1 - REACHED:
                self._offer(solution.x)
            else:
                self._complete(solution.x)
            if not added and self.done:
                return
            if not added:
                self._conclude()
                return

    def _separate(self, v: NDArray[np.float64]) -> list[Row]:
        cuts = self.press.attack(v).cuts
        self.pool.add(cuts)
        return [Row(cut.columns, cut.values, cut.right, np.inf) for cut in cuts]

    def _conclude(self) -> None:
        """Conclude that the best point is optimal, or that there is none."""
        if self.best is None:
            self.impossible = True
        else:
            self.bound = max(self.bound, self.cost * (1 - REACHED))
        self._listen(self)

    @property
    def cuts(self) -> list[Cut]:
        """All cuts so far."""
        return self.pool.cuts
