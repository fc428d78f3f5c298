"""The search for the cheapest safe pattern of one task: cuts, patterns, and a tree.

    cut        solve the relaxed master, attack its point, add the cuts, again
    round      hide what the point hides, show again what need not be hidden: a safe pattern
    fix        leave out cells whose reduced cost says that no cheaper pattern hides them
    branch     the master with whole numbers; attack its solution; again until nothing is found against it

Every bound comes from a relaxation, every pattern from a table for each question; so at any moment the best pattern so
far and the bound bracket the optimum (Fischetti and Salazar 2000, section 4).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.cuts.capacity import Cut
from celosia.protection.engine.cuts.initial import one_row_cuts
from celosia.protection.engine.incumbent import Outcome
from celosia.protection.engine.integer_master import Whole
from celosia.protection.engine.oracle import Grow, Growing
from celosia.protection.engine.problem import Task
from celosia.protection.engine.relaxation import HIDDEN, TimeUpError
from celosia.solve.backend import Backend, Capability, Row
from celosia.solve.clock import Clock
from celosia.solve.deadline import DeadlineError, Until, before, check
from celosia.solve.solution import Solution, Status

_HALF = 0.5
_LARGE = 1_000_000
"""With so many cells times questions cutting takes its time, and a pattern comes first."""
_SHARE_OF_ROUNDS = 0.5
"""Of the time goes into rounds before a tree takes the rest, ..."""
_MOST_ROUNDS = 40
"""... or so many of them, where there is no limit."""
_EASY_ROUNDS = 5
"""The first rounds go to the solver of the linear masters, which opens faster than a tree."""


class Search(Growing):
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
    grow
        Attacks every pattern that would be kept; None where the goals of the task are all that is asked for.
    insure
        Is called now and then: what is known by then may be audited.

    Its attributes are those of `celosia.protection.engine.incumbent.Standing`.
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
        grow: Grow | None = None,
        insure: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(task, backend, clock, rows, seed, grow)
        self._tree = tree
        self._tell, self._tell_time = listen, insure

    def _listen(self) -> None:
        self._tell(self)

    def _insure(self) -> None:
        self._tell_time()

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

    def begin(self, cuts: Iterable[Cut], pattern: NDArray[np.bool_] | None, new: NDArray[np.int64]) -> None:
        """Begin with cuts that hold, and with a pattern; more is hidden where it misses one of the new goals.

        Parameters
        ----------
        cuts
            What safe patterns satisfy.
        pattern
            A pattern that meets the other goals, ``(n,)``; None where none is known.
        new
            Those goals that it may miss.
        """
        self._master.add(cuts)
        if pattern is None:
            return
        self._newest = replace(
            self.separator, sides=self.separator.sides.take(np.isin(self.separator.sides.goals, new))
        )
        with contextlib.suppress(TimeUpError, DeadlineError), before(Until(lambda: self._left)):
            safe = self._mended(pattern, self.task.cost)
            if safe is not None:
                self._used(safe, self.task.cost)
        check()

    def adopt(self, found: Outcome) -> None:
        """Take over what was found elsewhere."""
        if found.pattern is not None:
            self._keep(found.pattern)
        self.take_over(found)
        self._master.add(found.cuts)

    def any_pattern(self) -> None:
        """Hide everything, and show again what need not be hidden, without regard to time."""
        with contextlib.suppress(TimeUpError):  # whoever watches may have no time
            self._offer(np.ones(len(self.task), dtype=bool), self.task.cost)

    def run(self, gap: float, time_limit: float = np.inf) -> None:
        """Search until the pattern is optimal, or closer to the bound than the gap, or time is up.

        If no pattern is known by then, everything is hidden: where that is not safe, nothing is.
        """
        self._gap = gap
        self._until = self.clock.seconds + time_limit
        try:
            with before(Until(lambda: self._left)):
                self._search()
        except (TimeUpError, DeadlineError):
            check()
            if self.pattern is None and self._grow is None:
                self._keep(self._cleaner.settled(np.ones(len(self.task), dtype=bool)))

    @property
    def is_slow(self) -> bool:
        """Whether the first pattern takes long: there are many questions, and programs answer them."""
        return not self.separator.is_network and len(self.task) * len(self.separator.sides) > _LARGE

    def _search(self) -> None:
        self._check_time()
        self._first_pattern()
        self._cut_while_growing()
        if not self._one_step_left or not self.separator.is_network:
            self._cut_off_root(deep=not self.separator.is_network, halves=True)
            self._round()
        self._branch()

    def _cut_while_growing(self) -> None:
        """Cut again as long as patterns are attacked with success, and more is asked for."""
        asked = None
        while asked is not self.task and not self._good_enough:
            asked = self.task
            self._cut_off_root(deep=False)
            self._round()

    def _first_pattern(self) -> None:
        """Hide everything, and show again what need not be hidden, where that is quick and needed soon."""
        self._master.add(self.rows)
        self._master.add(one_row_cuts(self.separator))
        if self.separator.is_network and len(self.task) * len(self.separator.sides) > _LARGE:
            self._clean_everything(self.task.cost)

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
            if not self._add(x, whole=True) and self._take(x):
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
            raise TimeUpError
        return point

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

    def _separate(self, x: NDArray[np.float64]) -> list[Cut]:
        cuts = self._against(x)
        self.pool.add(cuts)
        if cuts and self.separator.is_network:
            self._offer(np.maximum(x, self._point.x) > HIDDEN, self.task.cost * (1.0 - x))
        return cuts or self._opposed(x > _HALF)

    def _take(self, x: NDArray[np.float64]) -> bool:
        """Keep the cheapest pattern against which nothing was found, and conclude; False where somebody attacks it.

        It may miss a level by so little that no cut shows it in doubles: then the audit decides.
        """
        pattern = x > _HALF
        if self._opposed(pattern):
            return False
        try:
            self._offer(pattern, self.task.cost)
        finally:  # there may be no time to attack it once more without what it hides in vain
            self._keep(pattern)
            self.conclude()
        return True
