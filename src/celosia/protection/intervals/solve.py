"""From a risk to published ranges, as narrow as safety allows, with a bound."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.decomposition import decompose
from celosia.errors import CelosiaError, InfeasibleError, SpecError, listed
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.modes.branch_and_cut import ModeSearch
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.relaxation import ModeCutting, More
from celosia.protection.engine.modes.separation import REACHED, Press
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.intervals.admm.product import Product, product_of
from celosia.protection.intervals.admm.search import FLOOR, SplitSearch, splits
from celosia.protection.intervals.formulation import by_ends, by_placed_widths, ranged_offer
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.publish.placement import Slacks
from celosia.protection.intervals.publish.publish import Publishing
from celosia.protection.intervals.widen import mended
from celosia.protection.intervals.wishes import refuse_hidden, refuse_widths
from celosia.protection.levels import refuse_levels_that_nobody_meets
from celosia.protection.result import Protection
from celosia.protection.run import Call, NewColumnsError, ViolatedRequirements
from celosia.risk.risk import Risk
from celosia.solve import deadline
from celosia.solve.registry import backends

_SECRET_BITS = 64

_HALF = 0.5

_SEARCHING = 0.8
"""This share of a time limit goes into the search; placing and auditing what it found takes the rest."""

_WIDER = 1e-6
"""Ranges by splitting are widened by this part, more than placing takes away as what doubles make of the same."""

_STEP = Fraction(1, 1000)
"""Ranges that are widened one by one grow by steps of so many counts."""

_PLANE = 2
"""In tables of so many dimensions cuts are faster than splitting, whatever the costs."""

_MANY = 100_000
"""With fewer cells times sensitive cells cuts find the optimum within seconds, those of the general model as well."""


def solve(risk: Risk, method: Intervals, call: Call, work: type[Ranging] | None = None) -> Protection:
    """Return ranges that are safe, as narrow as time allows, with a bound on what any safe ranges cost.

    Guarantee: see `celosia.protect`; every range is what attackers can conclude, rounded outward where it does not end
    on the published decimals, or where that was asked for.
    """
    asked = method.applied(risk)
    if method.shift and method.secret is None:
        method = replace(method, secret=secrets.randbits(_SECRET_BITS))
    method.refuse_base(asked, integer=call.integer)
    required = method.required(asked)
    refuse_widths(required, method)
    refuse_levels_that_nobody_meets(required)
    refuse_hidden(required, method)
    searching = replace(call, clock=call.clock.share(_SEARCHING))
    ranging = (work or Ranging)(asked, required, method, searching)
    try:
        return ranging.protection()
    except NewColumnsError:
        told = ranging.told
        assert told is not None and isinstance(told.method, Intervals)  # noqa: S101, PT018  (it was told of ranges)
        return solve(told.risk, replace(told.method, secret=method.secret), call, work)


@dataclass(eq=False)
class Ranging(Publishing):
    """A search for ranges, and their publication."""

    needed: bool = True
    told: ViolatedRequirements | None = None

    @property
    def by_width(self) -> bool:
        """Whether the width model holds: one attacker, equal costs, sliding levels or symmetric ones."""
        goals = self.task.goals
        alike = bool(np.array_equal(self.costs[0][self.task.cells], self.costs[1][self.task.cells]))
        symmetric = bool(np.all((goals.up == goals.down) & (goals.sliding <= goals.up + goals.down)))
        return self.task.n_attackers == 1 and alike and (self.sliding or symmetric)

    def protection(self) -> Protection:
        """Return published ranges."""
        if not len(self.task.goals):
            return self._result(self._placed(Slacks(np.zeros(len(self.task)), np.zeros(len(self.task)))), 0.0)
        self._refuse_cells_that_follow()
        product = self._product()
        if product is not None:
            slacks, bound = self._by_splitting(product)
        else:
            found = self._by_width() if self.by_width else None
            slacks, bound = found if found is not None else self._in_general()
        return self._result(self._placed(slacks), bound)

    def _refuse_cells_that_follow(self) -> None:
        """Refuse sensitive cells that follow at once from what must be shown, whatever else is a range."""
        goals = self.task.goals
        follows = decompose(self.task.system(np.arange(len(self.task)))).component[goals.columns] < 0
        if bool(follows.any()):
            raise self._refusal(goals.columns[follows])

    def _product(self) -> Product | None:
        """Return what splitting needs where it suits: relations that are a product of three trees or more, and many."""
        how, n = self.method.search, len(self.task) * len(self.task.goals)
        if how == "cuts" or not splits(self.task, self.prices) or bool(np.isfinite(self.most).any()):
            return None
        product = product_of(self.asked.table.relations.matrix)
        large = n > _MANY or self.call.gap >= FLOOR
        suits = product is not None and (how == "splitting" or (len(product.sizes) > _PLANE and large))
        return product if suits else None

    def _by_splitting(self, product: Product) -> tuple[Slacks, float]:
        """Return ranges by splitting and a bound."""
        search = SplitSearch(self.task, self.prices, product, backends()[0], self.call.clock, self._listen)
        try:
            search.run(self.call.gap)
        except KeyboardInterrupt:
            self.call.clock.stop()
        if search.ends is None:
            return self._one_by_one(), search.bound
        down, up = search.ends
        slacks = Slacks(down * (1 + _WIDER), up * (1 + _WIDER))
        return slacks if search.safe else self._one_by_one(slacks), search.bound

    def _by_width(self) -> tuple[Slacks, float] | None:
        """Return the cheapest ranges with one shift of all centres, or cheaper ones in general, and a bound.

        The cuts of the width model hold in general, where its ranges are mostly the cheapest ones, too.
        """
        n, bound = len(self.task), self._least_cost
        modes = by_ends(self.task, self.prices, self.most)
        widths = by_placed_widths(self.task, self.prices, self.most, shifted=self.sliding)

        def ends_of(modes_of_widths: Modes, v: NDArray[np.float64]) -> NDArray[np.float64]:
            half, centre = v[:n] / 2, v[n:] if self.sliding else 0.0
            return np.asarray(np.concatenate([half + centre, half - centre]) * (modes_of_widths.unit / modes.unit))

        def slacks_of(modes_of_widths: Modes, v: NDArray[np.float64]) -> Slacks:
            return self._slacks(modes, ends_of(modes_of_widths, v))

        width = ModeSearch(*widths, backends()[0], self.call, partial(self._hear, bound=bound, slacks_of=slacks_of))
        self._finished(width)
        start, same = None, width.modes.unit / modes.unit
        if width.best is not None:
            start = ends_of(width.modes, width.best)
        search = self._search(modes)
        search.learn([_of_ends(cut, n, same) for cut in width.pool.cuts], bound, start)
        self._finished(search)
        return self._found(search)

    @property
    def _least_cost(self) -> float:
        """What any safe ranges cost at least: every sensitive cell is as wide as its level."""
        goals = self.task.goals
        level = np.zeros(len(self.task))
        np.maximum.at(level, goals.columns, np.maximum(goals.sliding, goals.up + goals.down).astype(np.float64))
        return float(level @ np.minimum(self.prices.down, self.prices.up) / 10.0**self.task.decimals)

    def _in_general(self) -> tuple[Slacks, float]:
        """Return slacks by the general model, with a slack up and one down for every cell, and a bound."""
        search = self._search(by_ends(self.task, self.prices, self.most))
        self._finished(search)
        return self._found(search)

    def _search(
        self, modes: Modes, call: Call | None = None, hear: Callable[[ModeCutting], None] | None = None
    ) -> ModeSearch:
        """Return a search whose points publish ranges by both ends, and may be attacked by more than is asked for."""
        grow = None if self.call.oracle is None else self._grown
        return ModeSearch(self.task, modes, backends()[0], call or self.call, hear or self._hear, grow)

    def _found(self, search: ModeSearch) -> tuple[Slacks, float]:
        """Return what the best point of a search publishes, and a bound; without one, ranges made one by one."""
        best = search.best
        return (self._one_by_one() if best is None else self._slacks(search.modes, best)), search.bound

    def _finished(self, search: ModeSearch) -> None:
        """Let a search run to its end."""
        self._tell(search)
        try:
            search.run()
        except KeyboardInterrupt:
            self.call.clock.stop()

    def _slacks(self, modes: Modes, v: NDArray[np.float64]) -> Slacks:
        """Return what a point of modes publishes whose variables are both ends of every range."""
        up, down = modes.slacks(v)
        hidden = None if self.prices.hide is None else modes.hidden(v) > _HALF
        return Slacks(down * modes.unit, up * modes.unit, hidden)

    def _grown(self, modes: Modes, v: NDArray[np.float64]) -> More | None:
        """Return the task that asks for what would have stopped an attack on a point, None where it is safe.

        What is asked for already, and missed by next to nothing, is left to placing.

        Raises
        ------
        NewColumnsError
            The task has other columns or counts, or ranges may be wider.
        InfeasibleError
            No ranges would have stopped it.
        """
        told = (
            None
            if self.call.oracle is None
            else self.call.oracle.violated(self._placing.drafted(self._slacks(modes, v)))
        )
        if told is None:
            return None
        self.told = told
        if len(told.risk) > len(self.asked):
            raise NewColumnsError
        asked = self.method.applied(told.risk)
        required = self.method.required(asked)
        task = problem_of(required, integer=self.call.integer)
        if len(task.goals) == len(self.task.goals):
            return None
        if task.decimals != self.task.decimals or not np.array_equal(self._furthest(task), self._furthest(self.task)):
            raise NewColumnsError
        self.asked, self.required, self.task, self.needed = asked, required, task, told.necessary
        refuse_levels_that_nobody_meets(required)
        self._refuse_cells_that_follow()
        return More(task, self.needed)

    def _furthest(self, task: ProtectionProblem) -> NDArray[np.float64]:
        """Return how far ranges may reach, ``(2 n,)``."""
        return ranged_offer(task, self.prices, self.most, 1.0).upper

    def _tell(self, search: ModeSearch) -> None:
        """Ask a search for what others were asked for since it was made."""
        if search.grow is not None and search.press.task is not self.task:
            search.ask(More(self.task, self.needed))

    def _engaged(
        self, task: ProtectionProblem, modes: Modes, start: NDArray[np.float64] | None = None, bound: float = -np.inf
    ) -> ModeSearch:
        """Return the search of the engine, at its end; it may start with whole numbers and a bound known before."""
        search = ModeSearch(task, modes, backends()[0], self.call, self._hear)
        try:
            if start is not None:
                search.begin(start, bound)
        except KeyboardInterrupt:
            self.call.clock.stop()
        self._finished(search)
        return search

    def _one_by_one(self, slacks: Slacks | None = None) -> Slacks:
        """Return slacks that protect all cells, one after the other where those given do not.

        Raises
        ------
        InfeasibleError
            Some cannot be protected.
        """
        task = replace(self.task, whole=np.zeros(len(self.task), dtype=bool))  # placing mends what is not whole
        down, up = (np.zeros(len(task)), np.zeros(len(task))) if slacks is None else (slacks.down, slacks.up)
        missed = self._missed(down, up)
        hopeless = []
        prices = self.prices.down, self.prices.up
        for goal in missed.tolist():
            try:
                down, up = mended(task, goal, _STEP, (down, up), prices, self.most, self.call)
            except InfeasibleError:
                hopeless.append(goal)
        if hopeless:
            raise self._refusal(task.goals.columns[hopeless])
        return Slacks(down, up)

    def _missed(self, down: NDArray[np.float64], up: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the goals that ranges do not reach."""
        modes = by_ends(self.task, self.prices, self.most)
        press = Press(self.task, modes, backends()[0])
        reached = press.attack(np.concatenate([up, down]) / modes.unit).reached
        return np.unique(press.sides.goals[reached < 1.0 - REACHED])

    def _hear(
        self,
        search: ModeCutting,
        bound: float | None = None,
        slacks_of: Callable[[Modes, NDArray[np.float64]], Slacks] | None = None,
    ) -> None:
        """Note how far a search has come; its bound may hold for a part of all ranges only, and another for all."""
        cost = search.cost if search.attacked else None
        cuts, least = len(search.pool.cuts), search.bound if bound is None else bound
        self.trace.append((self.call.clock.seconds, cost, least, cuts))
        self.call.progress.search(cost, least, cuts)
        if search.best is not None and search.attacked:
            best = search.best
            self._insure(lambda: (slacks_of or self._slacks)(search.modes, best), least)

    def _insure(self, slacks: Callable[[], Slacks], bound: float) -> None:
        """Have ranges published and audited, where that is due: there may be no time for better ones."""
        fallback = self.call.fallback
        if fallback is None or not fallback.due:
            return
        with fallback.measure_audit(), deadline.in_all():
            placed = self._audited_quickly(slacks())
        if placed is not None:
            fallback.offer(self._unsaid(placed, bound))

    def _refusal(self, columns: NDArray[np.int64]) -> CelosiaError:
        """Return what is impossible: a wish for a width, which is bad input, or a level."""
        cells = np.unique(self.task.cells[columns])
        wished = np.isin(cells, list(self.method.least_width))
        own = cells[wished] if bool(wished.any()) else cells
        labels = listed([self.required.table.label(int(cell)) for cell in own])
        said = f"is impossible: even with the widest ranges that are allowed attackers come too close to {labels}."
        remedy = "Ask for less there, or allow more cells to be ranges, or wider ones."
        if bool(wished.any()):
            return SpecError.one("least_width", said, remedy)
        return InfeasibleError.one("protection", said, remedy)

    def _listen(self, search: SplitSearch) -> None:
        """Note how far splitting has come, and in how many steps."""
        cost = search.cost if np.isfinite(search.cost) else None
        self.trace.append((self.call.clock.seconds, cost, search.bound, search.steps))
        self.call.progress.search(cost, search.bound, search.steps)
        if search.ends is not None and search.safe:
            down, up = search.ends
            self._insure(lambda: Slacks(down * (1 + _WIDER), up * (1 + _WIDER)), search.bound)


def _of_ends(cut: Cut, n: int, same: float) -> Cut:
    """Return a cut of widths for slacks up and then down, of which a width is the sum, in another unit."""
    return Cut(np.concatenate([cut.columns, cut.columns + n]), np.tile(cut.values, 2), cut.right * same)
