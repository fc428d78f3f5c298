"""The search for the cheapest safe pattern of one task: cuts, patterns, and a tree.

    cut        solve the relaxed master, attack its point, add the cuts, again
    round      hide what the point hides, show again what need not be hidden: a safe pattern
    fix        leave out cells whose reduced cost says that no cheaper pattern hides them
    branch     the master with whole numbers; attack its solution; again until nothing is found against it

Every bound comes from a relaxation, every pattern from a table for each question; so at any moment the best pattern so
far and the bound bracket the optimum (Fischetti and Salazar 2000, section 4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protect.cleaning import Cleaner
from celosia.protect.cuts import Cut, Workshop
from celosia.protect.halves import zero_half_cuts
from celosia.protect.hidden import Hidden
from celosia.protect.improving import Improver
from celosia.protect.master import Master, Point, Pool
from celosia.protect.separation import Separator
from celosia.protect.sides import sides_of
from celosia.protect.standing import Outcome, Standing, refusals
from celosia.protect.starting import bridgeless_cuts, one_row_cuts
from celosia.protect.task import Task
from celosia.protect.whole import Whole
from celosia.solve.backend import Backend, Capability, Row
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Solution, Status

_HIDDEN = 1e-6
_HALF = 0.5
_ONE = 1.001
_PURGE_EVERY = 5
_LITTLE = 1e-4
"""When the bound has risen by less than this part of itself ..."""
_LONG = 6
"""... in so many rounds, cutting at the root ends."""
_RESTARTS, _FEW_RESTARTS = 3, 2
"""So many clean-ups in a row that come to nothing end the drawing, at the root and later."""
_SPREAD = 0.3
_LARGE = 1_000_000
"""With so many cells times questions cutting takes its time, and a pattern comes first."""
_SMALL = 40
"""Parts of a pattern up to this size are cleaned up in no time, even where they are no networks."""
_TOO_MANY = 4000
"""More columns than this are not built from."""
_DEAR = 0.1
"""A cell whose reduced cost is more than this part of the bound is not in a good pattern."""
_FIRST_BUILDS, _FEW_BUILDS = 25, 4
"""So many patterns in a row that are no better end the building, at the root and later."""
_SHARE_OF_BUILDING = 0.2
"""Of the time that is left goes into building."""
_SHARE_OF_CUTTING = 0.1
"""Of the time that is left goes into cutting off one point after the other, once there is a pattern."""
_SHARE_OF_ROUNDS = 0.5
"""Of the time goes into rounds before a tree takes the rest, ..."""
_MOST_ROUNDS = 40
"""... or so many of them, where there is no limit."""
_EASY_ROUNDS = 5
"""The first rounds go to the solver of the linear masters, which opens faster than a tree."""


class _OutOfTimeError(Exception):
    """The time of a search is up."""


class Search(Standing):
    """A search for the cheapest safe pattern of a task, which can be left at any moment.

    Parameters
    ----------
    task
        The task, one component of the problem.
    backend
        Solves the masters and the attackers' programs.
    tree
        Solves the master with whole numbers.
    clock
        When to stop.
    listen
        Hears of every better pattern or bound.
    rows
        Further rows of the master, such as a greatest number of hidden cells.
    seed
        From which restarts draw.

    Its attributes are those of `celosia.protect.standing.Standing`.
    """

    def __init__(
        self,
        task: Task,
        backend: Backend,
        tree: Backend,
        clock: Clock,
        listen: Callable[[Search], None],
        rows: Sequence[Cut] = (),
        seed: int = 0,
    ) -> None:
        super().__init__(task, rows)
        self.clock = clock
        self.pool = Pool()
        self.separator = Separator(Workshop.of(task), sides_of(task.goals), backend).pressing()
        self._tree = tree
        self._tell = listen
        self._master = Master(_program(task), backend, self.pool)
        self._cleaner = Cleaner(self.separator, self.pool, self._late)
        self._random = np.random.default_rng(seed)
        self._gap = 0.0
        self._until = self._built_until = np.inf
        self._point = self._no_point

    @property
    def _no_point(self) -> Point:
        """What is known without any cut."""
        return Point(self.task.forced.astype(np.float64), 0.0, np.where(self.task.forced, 0.0, self.task.cost))

    def _listen(self) -> None:
        self._tell(self)

    def forbid(self, missed: NDArray[np.int64], *, proved: bool) -> None:
        """Go back to an earlier pattern, or none: the audit says that the best one misses these columns' levels.

        What was fixed because of the pattern's cost is free again.
        """
        if self.pattern is not None:
            self._master.release()
            self._point = self._no_point  # its bound may rest on what was fixed
            self._master.add(self.refute(missed, proved=proved))

    def outcome(self) -> Outcome:
        """Return what was found, to be sent elsewhere."""
        return Outcome(self.pattern, self.bound, self.impossible, self.exhausted, self.pool.cuts)

    @property
    def known(self) -> tuple[list[Cut], list[Cut]]:
        """The cuts so far, and what they say about refuted patterns; for `learn`."""
        return self.pool.cuts, self.refuted

    def learn(self, cuts: Sequence[Cut], refuted: Sequence[Cut]) -> None:
        """Take over cuts that were found elsewhere, and patterns that were refuted there."""
        self.refuted += refuted
        self._master.add([*cuts, *refuted])

    def adopt(self, found: Outcome) -> None:
        """Take over what was found elsewhere."""
        if found.pattern is not None:
            self._keep(found.pattern)
        self.take_over(found)
        self._master.add(found.cuts)

    def any_pattern(self) -> None:
        """Hide everything, and show again what need not be hidden, without regard to time."""
        self._offer(np.ones(len(self.task), dtype=bool), self.task.cost)

    def run(self, gap: float, time_limit: float = np.inf) -> None:
        """Search until the pattern is optimal, or closer to the bound than the gap, or time is up.

        If no pattern is known by then, everything is hidden: where that is not safe, nothing is.
        """
        self._gap = gap
        self._until = self.clock.seconds + time_limit
        try:
            self._first_pattern()
            self._cut_off_root(deep=False)
            self._round()
            if not self._one_step_left or not self.separator.is_network:
                self._cut_off_root(deep=not self.separator.is_network, halves=True)
                self._round()
            self._branch()
        except _OutOfTimeError:
            if self.pattern is None:
                self._keep(self._cleaner.settled(np.ones(len(self.task), dtype=bool)))

    @property
    def _good_enough(self) -> bool:
        return (
            self.done
            or self.exhausted
            or (self.pattern is not None and self.cost - self.bound <= self._gap * self.cost)
        )

    @property
    def _one_step_left(self) -> bool:
        """Whether nothing lies between the bound and the cost: a tree tells at once which of the two it is."""
        return self.cost - self.bound <= self.step.size * _ONE

    def _check_time(self) -> None:
        if self._left <= 0:
            raise _OutOfTimeError

    def _late(self) -> bool:
        """Return whether patterns must do as they are: time is up, or that which goes into building them."""
        return self._left <= 0 or (self.pattern is not None and self.clock.seconds > self._built_until)

    @property
    def _left(self) -> float:
        return min(self.clock.left, self._until - self.clock.seconds)

    def _first_pattern(self) -> None:
        """Hide everything, and show again what need not be hidden, where that is quick and needed soon."""
        self._master.add(self.rows)
        self._master.add(one_row_cuts(self.separator))
        if self.separator.is_network and len(self.task) * len(self.separator.sides) > _LARGE:
            self._clean_everything(self.task.cost)

    def _clean_everything(self, weight: NDArray[np.float64]) -> None:
        """Make a pattern of a network: one that is not safe when everything is hidden is never."""
        self._offer(np.ones(len(self.task), dtype=bool), weight)
        if self.pattern is None and not self.rows and not self.refuted:
            self.impossible = True

    def _cut_off_root(self, *, deep: bool, halves: bool = False) -> None:
        """Cut until nothing is found, or the bound hardly rises for the time that it takes.

        Parameters
        ----------
        deep
            Solve attackers' programs where flows find nothing.
        halves
            Add zero-half cuts as well.
        """
        until = self.clock.seconds + _SHARE_OF_CUTTING * self._left
        history: list[float] = []
        while not self._good_enough:
            self._check_time()
            point = self._master.solve()
            if point is None:
                self.conclude()
                return
            self._point = point
            self.raise_bound(point.bound)
            history.append(point.bound)
            self._fix()
            added = self._add(point.x, whole=False, deep=deep)
            if halves and not self._good_enough:
                added += self._master.add(zero_half_cuts(*self._master.inside, point.x))
            if not added:
                return
            if len(history) % _PURGE_EVERY == 0:
                self._master.purge()
            late = self.pattern is not None and self.clock.seconds > until
            if late or _hardly_rises(history, self.base):
                return

    def _add(self, x: NDArray[np.float64], *, whole: bool, deep: bool = True) -> int:
        """Add cuts that a point violates; return how many."""
        returned = self._master.recall(x)
        bridges = self._master.add(bridgeless_cuts(self.separator.workshop, x))
        if returned + bridges and not whole:
            return returned + bridges
        cuts = (
            self._against(x, self._check_time)
            if whole
            else self.separator.attack(x, deep=deep, check=self._check_time).cuts
        )
        return returned + bridges + self._master.add(cuts)

    def _round(self) -> None:
        """Make patterns of the point: where cells form networks by cleaning up, else by building."""
        if self._good_enough:
            return
        start = self._point.x > _HIDDEN
        if self.separator.is_network or self._cleans_quickly(start):
            self._clean_up(start)
        else:
            self._build(_FIRST_BUILDS, self._left * _SHARE_OF_BUILDING)

    def _cleans_quickly(self, pattern: NDArray[np.bool_]) -> bool:
        """Return whether what a pattern hides falls into networks and small parts, or is too much to build anew."""
        parts = Hidden.of(self.task, np.flatnonzero(pattern)).parts
        sizes = np.diff(parts.starts)[~parts.network]
        return int(sizes.max(initial=0)) <= _SMALL or len(self._candidates()) > _TOO_MANY

    def _clean_up(self, start: NDArray[np.bool_]) -> None:
        """Clean up what the point hides, with its own weights first, then with weights drawn around them."""
        weight = self.task.cost * (1.0 - self._point.x)
        if self._offer(start, weight) is None:
            if self.pattern is not None:
                self._offer(self.pattern, weight)
            elif self.separator.is_network:
                self._clean_everything(weight)
        self._draw(weight, start, _RESTARTS)

    def _draw(self, weight: NDArray[np.float64], start: NDArray[np.bool_], most: int) -> None:
        """Clean up with weights drawn around some, until that has come to nothing so many times in a row."""
        idle = 0
        while idle < most and not self._good_enough:
            self._check_time()
            before = self.cost
            noisy = weight * np.exp(_SPREAD * self._random.standard_normal(len(weight)))
            self._offer(start if not self.separator.is_network else self._master.upper > 0, noisy)
            idle = 0 if self.cost < before else idle + 1

    def _candidates(self) -> NDArray[np.int64]:
        """Return the columns that a good pattern may hide: not those whose reduced cost is too high."""
        return np.flatnonzero(
            self.task.forced | ((self._point.reduced < _DEAR * max(self._point.bound, 0.0)) & (self._master.upper > 0))
        )

    def _build(self, most: int, seconds: float) -> None:
        """Build patterns around the point for a while, as long as they get better."""
        columns = self._candidates()
        if len(columns) > _TOO_MANY:
            return
        improver = Improver.of(self._cleaner, self._point, columns, self.separator.backend, self._random)
        self._built_until, idle = self.clock.seconds + seconds, 0
        for found in improver.patterns(self.pattern):
            before = self.cost
            if found is not None:
                self._keep(found)
            idle = 0 if self.cost < before else idle + 1
            if self._good_enough or idle >= most or self._late():
                break
        self._built_until = np.inf

    def _offer(self, pattern: NDArray[np.bool_], weight: NDArray[np.float64]) -> NDArray[np.bool_] | None:
        """Clean a pattern, and keep it where it is the best so far; return it, None where it is not safe."""
        cleaned = self._cleaner.cleaned(pattern, weight)
        if cleaned is None:
            return None
        if self._keep(cleaned):
            return cleaned
        settled = self._cleaner.settled(pattern)
        return settled if self._keep(settled) else None

    def _keep(self, pattern: NDArray[np.bool_]) -> bool:
        """Keep a safe pattern where it is the best so far; return whether it is allowed."""
        if not self.allows(pattern):
            return False
        if self.improve(pattern):
            self._fix()
        return True

    def _fix(self) -> None:
        """Show cells whose hiding would cost more than the best pattern, and hide those whose showing would.

        The best pattern itself may be cut off by this: it is kept aside.
        """
        if self.pattern is None:
            return
        room = self.step.below(self.cost - self.base) - self._point.bound
        open_ = self._master.lower < self._master.upper
        shown = np.flatnonzero(open_ & (self._point.reduced > room))
        hidden = np.flatnonzero(open_ & (-self._point.reduced > room))
        if len(shown):
            self._master.fix(shown, 0.0)
        if len(hidden):
            self._master.fix(hidden, 1.0)

    def _branch(self) -> None:
        """Solve the master with whole numbers until nothing is found against its solution.

        As long as that is quick, after every solution the linear master is cut again; then a tree takes the rest.
        """
        lazy, rounds = Capability.LAZY in self._tree.capabilities, 0
        while not self._good_enough:
            self._check_time()
            late = self._left < (1 - _SHARE_OF_ROUNDS) * (self._left + self.clock.seconds)
            if lazy and (late or rounds >= _MOST_ROUNDS):
                self._grow_tree()
                return
            solver = self.separator.backend if rounds < _EASY_ROUNDS else self._tree
            rounds += 1
            whole = self._with_cutoff()
            solution = solver.open(whole.problem).solve(time_limit=self._left, absolute_gap=self._absolute_gap())
            x = self._concluded(whole, solution)
            if x is None:
                return
            if not self._add(x, whole=True):
                self._take(x)
                return
            self._repair(x)
            self._cut_off_root(deep=False, halves=not self.separator.is_network)

    def _concluded(self, whole: Whole, solution: Solution) -> NDArray[np.float64] | None:
        """Take note of what a solver says of the master; return its point, None where it has none, and all is said."""
        if solution.status is Status.INFEASIBLE:
            self.conclude()
            return None
        self.raise_bound(whole.bound(solution.bound))
        point = None if solution.x is None else whole.point(solution.x)
        if solution.status is Status.STOPPED or point is None:
            if point is not None:
                self._offer(point > _HALF, self.task.cost)
            raise _OutOfTimeError
        return point

    def _repair(self, x: NDArray[np.float64]) -> None:
        """Make a pattern of a solution of the master, where that is quick."""
        together = np.maximum(x, self._point.x) > _HIDDEN
        if self.separator.is_network or self._cleans_quickly(together):
            weight = self.task.cost * (1.0 - x)
            self._offer(together, weight)
            self._draw(self.task.cost * (1.0 - self._point.x), together, _FEW_RESTARTS)
        else:
            self._build(_FEW_BUILDS, self._left * _SHARE_OF_BUILDING)

    def _absolute_gap(self) -> float:
        return 0.99 * self.step.size / self._master.scale

    def _grow_tree(self) -> None:
        """Let the solver branch, and attack every pattern that it finds."""
        whole = self._with_cutoff()

        def separate(x: NDArray[np.float64]) -> list[Row]:
            return [whole.row(cut) for cut in self._separate(whole.point(x))]

        model = self._tree.open(whole.problem)
        solution = model.solve_lazily(separate, time_limit=self._left, absolute_gap=self._absolute_gap())
        x = self._concluded(whole, solution)
        if x is not None:
            self._take(x)

    def _with_cutoff(self) -> Whole:
        """Return the master with whole numbers, for patterns that are cheaper than the best."""
        return Whole.of(self._master, self.step.below(self.cost - self.base))

    def _against(self, x: NDArray[np.float64], check: Callable[[], None] = lambda: None) -> list[Cut]:
        """Return cuts against a pattern, none where it is safe.

        Where doubles find that a goal is missed, and no cut, the pattern itself is one: hiding less is no safer.
        """
        found = self.separator.attack(x, whole=True, check=check)
        if not found.cuts and len(found.open):
            return refusals(self.task, x > _HIDDEN, self.task.goals.columns[found.open])
        return found.cuts

    def _separate(self, x: NDArray[np.float64]) -> list[Cut]:
        cuts = self._against(x)
        self.pool.add(cuts)
        if cuts and self.separator.is_network:
            self._offer(np.maximum(x, self._point.x) > _HIDDEN, self.task.cost * (1.0 - x))
        return cuts

    def _take(self, x: NDArray[np.float64]) -> None:
        """Keep the cheapest pattern against which nothing was found.

        It may miss a level by so little that no cut shows it in doubles: then the audit decides.
        """
        if self._offer(x > _HALF, self.task.cost) is None:
            self._keep(x > _HALF)
        self.conclude()


def _hardly_rises(history: list[float], base: float) -> bool:
    return len(history) > _LONG and history[-1] - history[-_LONG] <= _LITTLE * (base + abs(history[-1]))


def _program(task: Task) -> LinearProgram:
    """Return what is known without cuts: cells are shown or hidden, and forced ones are hidden at no further cost."""
    nothing, n = np.zeros(0), len(task)
    cost = np.where(task.forced, 0.0, task.cost)
    lower, upper = task.forced.astype(np.float64), np.ones(n)
    return LinearProgram(sp.csr_array((0, n)), nothing, nothing, lower, upper, cost, integer=np.ones(n, dtype=bool))
