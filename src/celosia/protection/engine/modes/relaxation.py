"""Cuts for the relaxed master of any modes of a task: solve it, attack its point, add the cuts, again.

Without whole numbers that is all that a search needs (`celosia.protection.engine.modes.branch_and_cut` has the rest).
Points count as safe when every level is reached in doubles; what is published is audited afterwards.

A search may be asked for more while it runs, as in `celosia.protection.engine.oracle`: somebody attacks the points that
it would keep, and what would have stopped him is asked for from then on. Cuts hold on: each follows from one level,
from what an attacker knows, and from how far variables reach, and none of these changes when there are more levels and
attackers.
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
from celosia.protection.engine.modes.separation import REACHED, Press
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.run import Call
from celosia.solve.backend import Backend

_WIDER = (0.1, 0.01, 0.001, 0.0)
"""How much wider slacks are taken, in units, one after the other: cuts found so use fewer columns."""

_WIDER_OF_VALUES = (0.03, 0.0)
"""The same where costs differ much from column to column: there are fewer ties."""
_DIFFER = 10.0
"""Costs that differ by more than this factor differ much."""
_TAIL = 0.02
"""Where so few cuts are found, as a part of the questions, slacks are taken less wide."""
_NEARLY = 1e-5
"""A point that no cut is against may miss a level by so much: cuts are rounded, and solvers have tolerances."""

_MISSING = 1e-4
"""As long as slacks are taken wider, and at fractional points, levels missed by less are left for later."""

WHOLE = 1e-6
"""Numbers that miss whole ones by no more are whole, and rows missed by no more are kept."""

_PURGE_EVERY = 10

_LITTLE, _LONG = 1e-4, 15
"""When the bound has risen by less than this part in so many rounds, a point with fractions is cut no more."""

BRANCHED = 1e-5
"""By this part a bound is lowered that a tree proves: with whole numbers next to others it holds to its tolerances."""

_STEADY = 1e-6
"""A gap that is closed but for this is closed: rounding ends to decimals costs as much."""

_HASTY = (0.0, 0.3, 3.0, 30.0, 300.0)
"""How much wider ranges of the last point are taken where there is no time, one after the other."""

_WIDEST = 4.0
"""The first point opens everything as far as so many of the largest level."""

_TIMES = (1.0, 10.0, 100.0)
"""Widths are raised by so many times what is missing: they do it alone where other slacks are constants."""


class TimeIsUpError(Exception):
    """Time is up."""


@dataclass(frozen=True, slots=True, eq=False)
class More:
    """A task that asks for more than before: more levels, of more attackers, who come last.

    Parameters
    ----------
    task
        The task, with the same columns.
    needed
        Every point that nobody attacks with success meets its goals; otherwise no bound rests on them.
    """

    task: ProtectionProblem
    needed: bool


Grow = Callable[[Modes, NDArray[np.float64]], More | None]
"""Attacks a point of modes that meets all goals; returns what would have stopped it, None where it is safe.

It raises `celosia.protection.engine.stop.TimeUpError` where there is no time to find out.
"""


class ModeCutting:
    """A search for the cheapest safe point of the modes of a task, as far as cuts of the relaxed master lead.

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
    grow
        Attacks points; None where what is asked for is all.

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
        self,
        task: ProtectionProblem,
        modes: Modes,
        backend: Backend,
        call: Call,
        listen: Callable[[ModeCutting], None],
        grow: Grow | None = None,
    ) -> None:
        self.modes, self.call = modes, call
        self.press = Press(task, modes, backend)
        self.pool = CutPool()
        self.best: NDArray[np.float64] | None = None
        self.bound = self._least_cost(modes)
        self.impossible = False
        self._last: NDArray[np.float64] | None = None
        self._listen = listen
        self.grow = grow
        self._frozen = False
        self._master = Master(modes.program, backend, self.pool)
        integer = modes.program.integer
        self._integer = np.zeros(0, dtype=np.int64) if integer is None else np.flatnonzero(integer)

    @cached_property
    def _price(self) -> NDArray[np.float64]:
        """What a unit of width of every column costs, ``(n,)``."""
        return np.asarray((abs(self.modes.up) + abs(self.modes.down)) @ self.modes.program.cost)

    @cached_property
    def _stages(self) -> tuple[float, ...]:
        """How much wider slacks are taken, one after the other."""
        price = self._price[self._price > 0]
        low, high = np.quantile(price, [0.1, 0.9]) if len(price) else (1.0, 1.0)
        return _WIDER_OF_VALUES if high > _DIFFER * low and not len(self._integer) else _WIDER

    @cached_property
    def _core(self) -> NDArray[np.float64]:
        """How much of the extra width every column gets: less where width is dear, ``(n,)``."""
        price = self._price
        usual = np.median(price[price > 0]) if bool((price > 0).any()) else 1.0
        return np.ones(len(price)) if len(self._integer) else np.minimum(1.0, usual / np.maximum(price, 1e-300))

    @staticmethod
    def _least_cost(modes: Modes) -> float:
        """Return what every point costs at least, whatever must be reached."""
        program = modes.program
        ends = np.where(program.cost < 0, program.upper, program.lower)
        priced = program.cost != 0
        return modes.constant + float(program.cost[priced] @ ends[priced])

    @property
    def cost(self) -> float:
        """What the best point costs, infinite where there is none."""
        return np.inf if self.best is None else self.modes.cost(self.best)

    @property
    def done(self) -> bool:
        """Whether the best point is as good as was asked for, or there is none."""
        if self.best is None:
            return self.impossible
        close = 2 * BRANCHED if len(self._integer) else _STEADY
        return self.cost - self.bound <= max(self.call.gap, close) * abs(self.cost)

    @property
    def attacked(self) -> bool:
        """Whether the best point was attacked by all who may do so."""
        return self.best is not None and (self.grow is None or self.done or len(self._integer) > 0)

    def learn(self, cuts: list[Cut], bound: float, v: NDArray[np.float64] | None) -> None:
        """Take over cuts and a bound that are known, and a point that is known to be safe."""
        self._master.add(cuts)
        self.bound = max(self.bound, bound)
        self.best = v

    @property
    def _fixed(self) -> bool:
        """Whether the master is fixed somewhere, so that its bound is not one of all points."""
        base = self._master.base
        return bool(((self._master.lower != base.lower) | (self._master.upper != base.upper)).any())

    def _check_time(self) -> None:
        if self.call.clock.left <= 0:
            raise TimeIsUpError

    def _cut_off(self, *, whole: bool) -> Point | None:
        """Cut until every level is reached; None where no point is left that is cheaper than the best.

        Parameters
        ----------
        whole
            No integer is open: the point that is left is a safe one. Otherwise cutting ends when the bound hardly
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
            new = self._cut_at(point.x, stage, whole=whole)
            if new:
                stage = self._next(stage, new)
                if len(history) % _PURGE_EVERY == 0:
                    self._master.purge()
                if not whole and len(history) > _LONG and history[-1] - history[-_LONG] <= _LITTLE * abs(history[-1]):
                    return point
            elif whole and self.done:
                return point
            elif stage < len(self._stages) - 1:
                stage += 1
            else:
                return point

    def _next(self, stage: int, new: int) -> int:
        """Return the stage of the next point, after so many new cuts."""
        last = len(self._stages) - 1
        return min(stage + 1, last) if new <= _TAIL * len(self.press.sides) else stage

    def _cut_at(self, v: NDArray[np.float64], stage: int, *, whole: bool) -> int:
        """Add cuts that a point violates, return how many; without any keep it, made a little wider, if it is whole."""
        press, exact = self.press, stage == len(self._stages) - 1
        missing = REACHED if exact and whole else _MISSING
        wider = self._stages[stage] * self._core
        early = not exact and not len(self._integer)
        found = self.press.attack(v, wider=wider, missing=missing, effort="little" if early else "enough")
        new = self._master.add(found.cuts)
        if not new and not found.complete and not early:
            found = self.press.attack(v, wider=wider, missing=missing)
            new = self._master.add(found.cuts)
        if whole and self.press.by_programs and not len(self._integer) and self.modes.widen:
            self._offer_raised(v)
        elif whole and (exact or not new):
            least = found.least if exact else self.press.attack(v).least
            self._offer_scaled(v, least, _NEARLY if exact and not new else REACHED)
        if self.press is not press:  # more is asked for since it was offered
            return self._cut_at(v, stage, whole=whole)
        return 0 if self.done else new

    def _raise_bound(self, bound: float) -> None:
        """Take note of a bound, unless it holds for a part of all points only."""
        bound += self.modes.constant
        if bound > self.bound and not self._fixed and not self._frozen:
            self.bound = min(bound, self.cost)
            self._listen(self)

    def _offer(self, v: NDArray[np.float64]) -> None:
        """Keep a point that is the cheapest so far, unless somebody attacks it with success.

        Without whole numbers points are many, and only the last is worth an attack.
        """
        if self.modes.cost(v) >= self.cost:
            return
        before, self.best = self.best if len(self._integer) else None, v.copy()
        if (self.done or len(self._integer)) and self._opposed(v):
            self.best = before
        else:
            self._listen(self)

    def _opposed(self, v: NDArray[np.float64]) -> bool:
        """Return whether somebody attacks a point with success, or there is no time to find out.

        What would have stopped him is asked for from now on.
        """
        try:
            more = None if self.grow is None else self.grow(self.modes, v)
        except TimeUpError:
            return True
        if more is not None:
            self.ask(more)
        return more is not None

    def ask(self, more: More) -> None:
        """Ask for more from now on; cells with a level are ranges where they may be nothing else."""
        self.press = Press(more.task, self.modes, self.press.backend)
        columns = np.unique(self.press.sides.columns)
        opening = self.modes.opening[columns[self.modes.hiding[columns] < 0]]
        self._master.add([Cut(np.array([variable]), np.ones(1)) for variable in opening[opening >= 0].tolist()])
        self._frozen |= not more.needed

    def _offer_scaled(self, v: NDArray[np.float64], least: float, missing: float) -> None:
        """Keep a point whose widths are raised so that every level is reached, where that is allowed.

        As it is, a point is kept that misses levels by no more than a part.
        """
        if least <= 0:
            return
        program = self.modes.program
        continuous = np.zeros(len(v), dtype=bool)
        continuous[np.concatenate([self.modes.up.indices, self.modes.down.indices])] = True
        continuous[self._integer] = False
        more = 0.0 if least >= 1 - REACHED else 1.0 / least - 1.0
        for times in _TIMES if more else (1.0,):
            wider = np.where(continuous, v * (1.0 + times * more), v)
            wider = self.modes.tidied(np.minimum(wider, program.upper))
            if not (self.modes.cost(wider) < self.cost and self._allowed_by_rows(wider)):
                break
            if self.press.attack(wider).least >= 1 - REACHED:
                self._offer(wider)
                return
        if least >= 1 - missing:  # values that move protect no better the further they do
            self._offer(v)

    def _offer_raised(self, v: NDArray[np.float64]) -> None:
        """Keep ranges as wide as the attackers' programs have needed them, and as flows do."""
        program = self.modes.program
        least = self.press.least_by_flows(v)
        if least <= 0:
            return
        bare = not self.press.by_flows and not program.rows.shape[0]
        wide = self.press.raised(program.lower if bare else v / least)
        if wide is not None and bool((wide <= program.upper * (1 + REACHED)).all()):
            wide = np.minimum(wide, program.upper)
            if self._allowed_by_rows(wide):
                self._offer(wide)

    def _offer_something(self) -> None:
        """Where time is up and no point is known, make the last one wide enough, or open everything."""
        ranges = not len(self._integer) and self.modes.widen
        for wider in _HASTY if ranges and self._last is not None else ():
            if self.best is None and self._last is not None:
                least = self.press.attack(self._last, wider=wider * self._core).least
                if self.press.by_programs:
                    self._offer_raised(self._last)
                else:
                    self._offer_scaled(self._last, least, REACHED)
        if self.best is None:
            self._offer_widest()

    def _offer_widest(self) -> None:
        """Keep the point that opens everything, where it is safe: dear, but there is a pattern from now on."""
        program = self.modes.program
        far = _WIDEST * float(self.press.sides.levels.max(initial=0.0))
        v = np.minimum(program.upper, far)
        v[self._integer] = program.upper[self._integer]
        self.suggest(v)

    def suggest(self, v: NDArray[np.float64]) -> None:
        """Keep a point where it is allowed, safe, and the cheapest so far."""
        if self._allowed_by_rows(v) and self.press.attack(v).least >= 1 - REACHED:
            self._offer(v)

    def _allowed_by_rows(self, v: NDArray[np.float64]) -> bool:
        """Return whether a point satisfies the rows of the program."""
        program = self.modes.program
        rows = program.rows @ v
        return bool(((rows >= program.row_lower - WHOLE) & (rows <= program.row_upper + WHOLE)).all())
