"""How interval publication is run: from a risk to safe ranges, published and audited, with a lower bound.

Ranges by widths are solved by cuts (`formulate_by_placed_widths`), their cuts then serve the general model
(`formulate_by_ends`); large products of three or more trees are solved by the splitting method (ADMM).
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.decomposition import decompose
from celosia.errors import CelosiaError, InfeasibleError, SpecError, list_items
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.modes.branch_and_cut import ModeSearch
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.relaxation import FurtherRequirements, ModeCuttingPlanes
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.infeasibility import refuse_unreachable_levels
from celosia.protection.intervals.admm.product import Product, product_of
from celosia.protection.intervals.admm.search import SplittingSearch, can_split
from celosia.protection.intervals.formulation import formulate_by_ends, formulate_by_placed_widths, offer_range_ends
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.parameters import INTERVALS, IntervalParameters
from celosia.protection.intervals.publish.publication import RangePublication
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.widen import widen_ranges
from celosia.protection.intervals.wishes import refuse_hidden, refuse_widths
from celosia.protection.result import Protection
from celosia.protection.run import NewColumnsError, Run, ViolatedRequirements
from celosia.risk.risk import Risk
from celosia.solve import deadline
from celosia.solve.registry import backends
from celosia.tolerance import LEVEL_REACHED


def solve(
    risk: Risk,
    method: Intervals,
    run: Run,
    kind: type[IntervalSearch] | None = None,
    parameters: IntervalParameters = INTERVALS,
) -> Protection:
    """Return ranges that are safe, as narrow as time allows, with a bound on what any safe ranges cost.

    Guarantee: see `celosia.protect`; every range is what attackers can conclude, rounded outward where it does not end
    on the published decimals, or where that was asked for.

    Parameters
    ----------
    risk, method, run
        What to protect, how, and when to stop.
    kind
        The search of a method that publishes more than ranges; by default that of ranges alone.
    parameters
        How ranges are searched for and published.
    """
    if method.shift and method.secret is None:
        method = replace(method, secret=secrets.randbits(parameters.secret_bits))
    method.refuse_base(risk, integer=run.integer)
    required = method.require_widths(risk)
    refuse_widths(required, method)
    refuse_unreachable_levels(required)
    refuse_hidden(required, method)
    searching = replace(run, clock=run.clock.share(parameters.search_share))
    search = (kind or IntervalSearch)(risk, required, method, searching, parameters)
    try:
        return search.protection()
    except NewColumnsError:
        told = search.told
        assert told is not None and isinstance(told.method, Intervals)  # noqa: S101, PT018  (it was told of ranges)
        return solve(told.risk, replace(told.method, secret=method.secret), run, kind, parameters)


@dataclass(eq=False)
class IntervalSearch(RangePublication):
    """A search for ranges, and their publication."""

    necessary: bool = True
    told: ViolatedRequirements | None = None

    @property
    def by_width(self) -> bool:
        """Whether the width model holds: one attacker, equal costs, sliding levels or symmetric ones."""
        requirements = self.problem.requirements
        alike = bool(np.array_equal(self.costs[0][self.problem.cells], self.costs[1][self.problem.cells]))
        symmetric = bool(
            np.all(
                (requirements.up == requirements.down) & (requirements.sliding <= requirements.up + requirements.down)
            )
        )
        return self.problem.n_attackers == 1 and alike and (self.sliding or symmetric)

    def protection(self) -> Protection:
        """Return published ranges."""
        if not len(self.problem.requirements):
            return self._result(
                self._publish(RangeSlacks(np.zeros(len(self.problem)), np.zeros(len(self.problem)))), 0.0
            )
        self._refuse_determined_cells()
        product = self._product()
        if product is not None:
            slacks, bound = self._solve_by_splitting(product)
        else:
            found = self._solve_by_widths() if self.by_width else None
            slacks, bound = found if found is not None else self._solve_by_ends()
        return self._result(self._publish(slacks), bound)

    def _refuse_determined_cells(self) -> None:
        """Refuse sensitive cells that are a linear combination of cells that must be shown."""
        requirements = self.problem.requirements
        determined = decompose(self.problem.system(np.arange(len(self.problem)))).component[requirements.columns] < 0
        if bool(determined.any()):
            raise self._refusal(requirements.columns[determined])

    def _product(self) -> Product | None:
        """Return the product of trees that the table is, where the splitting method suits it; None elsewhere."""
        how, n = self.method.search, len(self.problem) * len(self.problem.requirements)
        if how == "cuts" or not can_split(self.problem) or bool(np.isfinite(self.most).any()):
            return None
        product = product_of(self.asked.table.relations.matrix)
        large = n > self.parameters.splitting_size or self.run.gap >= self.parameters.splitting.best_gap
        deep = product is not None and len(product.sizes) > self.parameters.splitting_dimensions
        suits = product is not None and (how == "splitting" or (deep and large))
        return product if suits else None

    def _solve_by_splitting(self, product: Product) -> tuple[RangeSlacks, float]:
        """Return ranges by the splitting method, and a bound."""
        clock, splitting = self.run.clock, self.parameters.splitting
        search = SplittingSearch(self.problem, self.prices, product, backends()[0], clock, self._listen, splitting)
        try:
            search.run(self.run.gap)
        except KeyboardInterrupt:
            self.run.clock.stop()
        if search.ends is None:
            return self._widen_one_by_one(), search.bound
        slacks = self._slacks_of_splitting(search.ends)
        return slacks if search.safe else self._widen_one_by_one(slacks), search.bound

    def _slacks_of_splitting(self, ends: tuple[NDArray[np.float64], NDArray[np.float64]]) -> RangeSlacks:
        """Return ranges of the splitting method, widened by more than rounding errors."""
        wider = 1 + self.parameters.splitting_widening
        return RangeSlacks(ends[0] * wider, ends[1] * wider)

    def _solve_by_widths(self) -> tuple[RangeSlacks, float] | None:
        """Return the cheapest ranges with one shift of all centres, or cheaper ones by both ends, and a bound.

        The cuts of the width model are valid by both ends, where its ranges are mostly the cheapest ones, too.
        """
        n, bound, margin = len(self.problem), self._least_cost, self.parameters.placing_margin
        modes = self._formulate_by_ends()
        widths = formulate_by_placed_widths(self.problem, self.prices, self.most, shifted=self.sliding, margin=margin)

        def ends_of(modes_of_widths: Modes, v: NDArray[np.float64]) -> NDArray[np.float64]:
            half, centre = v[:n] / 2, v[n:] if self.sliding else 0.0
            return np.asarray(np.concatenate([half + centre, half - centre]) * (modes_of_widths.unit / modes.unit))

        def slacks_of(modes_of_widths: Modes, v: NDArray[np.float64]) -> RangeSlacks:
            return self._slacks(modes, ends_of(modes_of_widths, v))

        hear = partial(self._hear, bound=bound, slacks_of=slacks_of)
        width = ModeSearch(*widths, backends()[0], self.run, hear, parameters=self.parameters.search)
        self._run_to_end(width)
        start, same = None, width.modes.unit / modes.unit
        if width.best is not None:
            start = ends_of(width.modes, width.best)
        search = self._search(modes)
        search.learn([_cut_of_ends(cut, n, same) for cut in width.pool.cuts], bound, start)
        self._run_to_end(search)
        return self._read(search)

    @property
    def _least_cost(self) -> float:
        """What any safe ranges cost at least: every sensitive cell is as wide as its level."""
        requirements = self.problem.requirements
        level = np.zeros(len(self.problem))
        np.maximum.at(
            level,
            requirements.columns,
            np.maximum(requirements.sliding, requirements.up + requirements.down).astype(np.float64),
        )
        return float(level @ np.minimum(self.prices.down, self.prices.up) / 10.0**self.problem.decimals)

    def _formulate_by_ends(self) -> Modes:
        """Return the modes in which both ends of every range are variables."""
        return formulate_by_ends(self.problem, self.prices, self.most)

    def _solve_by_ends(self) -> tuple[RangeSlacks, float]:
        """Return slacks by the model whose variables are both ends of every range, and a bound."""
        search = self._search(self._formulate_by_ends())
        self._run_to_end(search)
        return self._read(search)

    def _search(
        self, modes: Modes, run: Run | None = None, hear: Callable[[ModeCuttingPlanes], None] | None = None
    ) -> ModeSearch:
        """Return a search whose points are both ends of every range; respondents, if they attack, are its oracle."""
        oracle = None if self.run.oracle is None else self._ask_respondents
        parameters = self.parameters.search
        return ModeSearch(self.problem, modes, backends()[0], run or self.run, hear or self._hear, oracle, parameters)

    def _read(self, search: ModeSearch) -> tuple[RangeSlacks, float]:
        """Return the ranges of the incumbent, and the bound; without an incumbent, ranges widened one by one."""
        best = search.best
        return (self._widen_one_by_one() if best is None else self._slacks(search.modes, best)), search.bound

    def _run_to_end(self, search: ModeSearch) -> None:
        """Run a search to its end, or until Ctrl-C stops the clock."""
        self._update_requirements(search)
        try:
            search.solve()
        except KeyboardInterrupt:
            self.run.clock.stop()

    def _slacks(self, modes: Modes, v: NDArray[np.float64]) -> RangeSlacks:
        """Return the ranges of a point whose variables are both ends of every range."""
        up, down = modes.slacks(v)
        return RangeSlacks(down * modes.unit, up * modes.unit)

    def _ask_respondents(self, modes: Modes, v: NDArray[np.float64]) -> FurtherRequirements | None:
        """Return the problem with the requirements that would have stopped an attack on a point, None where it is safe.

        Known requirements that are missed by rounding errors are left to placing.

        Raises
        ------
        NewColumnsError
            The new problem has other columns or counts, or ranges may be wider.
        InfeasibleError
            No ranges would have stopped the attack.
        """
        told = (
            None if self.run.oracle is None else self.run.oracle.violated(self._placement.draft(self._slacks(modes, v)))
        )
        if told is None:
            return None
        self.told = told
        if len(told.risk) > len(self.asked):
            raise NewColumnsError
        required = self.method.require_widths(told.risk)
        problem = problem_of(required, integer=self.run.integer)
        if len(problem.requirements) == len(self.problem.requirements):
            return None
        if problem.decimals != self.problem.decimals or not np.array_equal(
            self._furthest(problem), self._furthest(self.problem)
        ):
            raise NewColumnsError
        self.asked, self.required, self.problem, self.necessary = told.risk, required, problem, told.necessary
        refuse_unreachable_levels(required)
        self._refuse_determined_cells()
        return FurtherRequirements(problem, self.necessary)

    def _furthest(self, problem: ProtectionProblem) -> NDArray[np.float64]:
        """Return how far ranges may reach, ``(2 n,)``."""
        return offer_range_ends(problem, self.prices, self.most, 1.0).upper

    def _update_requirements(self, search: ModeSearch) -> None:
        """Add the requirements that other searches have learnt from the oracle since this one was made."""
        if search.oracle is not None and search.separator.problem is not self.problem:
            search.require(FurtherRequirements(self.problem, self.necessary))

    def _widen_one_by_one(self, slacks: RangeSlacks | None = None) -> RangeSlacks:
        """Return slacks widened until all requirements are met, one requirement after the other.

        Raises
        ------
        InfeasibleError
            Some cannot be protected.
        """
        problem = replace(self.problem, whole=np.zeros(len(self.problem), dtype=bool))  # placing makes ends whole
        down, up = (np.zeros(len(problem)), np.zeros(len(problem))) if slacks is None else (slacks.down, slacks.up)
        hopeless = []
        prices, parameters = (self.prices.down, self.prices.up), self.parameters
        for requirement in self._find_unmet(down, up).tolist():
            try:
                more = widen_ranges(
                    problem,
                    requirement,
                    parameters.single_step,
                    (down, up),
                    prices,
                    self.most,
                    self.run,
                    parameters.least_cost,
                )
                down, up = down + more[0], up + more[1]
            except InfeasibleError:
                hopeless.append(requirement)
        if hopeless:
            raise self._refusal(problem.requirements.columns[hopeless])
        return RangeSlacks(down, up)

    def _find_unmet(self, down: NDArray[np.float64], up: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the requirements that ranges do not meet."""
        modes = self._formulate_by_ends()
        separator = CapacitySeparator(self.problem, modes, backends()[0], self.parameters.search.separation)
        reached = separator.separate(np.concatenate([up, down]) / modes.unit).reached
        return np.unique(separator.sides.requirements[reached < 1.0 - LEVEL_REACHED])

    def _hear(
        self,
        search: ModeCuttingPlanes,
        bound: float | None = None,
        slacks_of: Callable[[Modes, NDArray[np.float64]], RangeSlacks] | None = None,
    ) -> None:
        """Note incumbent and bound of a search; another bound is given where its own does not hold for all ranges."""
        cost = search.cost if search.confirmed else None
        cuts, least = len(search.pool.cuts), search.bound if bound is None else bound
        self.trace.append((self.run.clock.seconds, cost, least, cuts))
        self.run.progress.search(cost, least, cuts)
        if search.best is not None and search.confirmed:
            best = search.best
            self._insure(lambda: (slacks_of or self._slacks)(search.modes, best), least)

    def _insure(self, slacks: Callable[[], RangeSlacks], bound: float) -> None:
        """Publish and audit ranges as a fallback, where that is due: there may be no time for better ones."""
        fallback = self.run.fallback
        if fallback is None or not fallback.due:
            return
        with fallback.measure_audit(), deadline.in_all():
            placed = self._place_quickly(slacks())
        if placed is not None:
            fallback.offer(self._result_without_warning(placed, bound))

    def _refusal(self, columns: NDArray[np.int64]) -> CelosiaError:
        """Return the error for cells that no ranges protect: a wish for a width, which is bad input, or a level."""
        cells = np.unique(self.problem.cells[columns])
        wished = np.isin(cells, list(self.method.least_width))
        own = cells[wished] if bool(wished.any()) else cells
        labels = list_items([self.required.table.label(int(cell)) for cell in own])
        said = f"is impossible: even with the widest ranges that are allowed attackers come too close to {labels}."
        remedy = "Ask for less there, or allow more cells to be ranges, or wider ones."
        if bool(wished.any()):
            return SpecError.one("least_width", said, remedy)
        return InfeasibleError.one("protection", said, remedy)

    def _listen(self, search: SplittingSearch) -> None:
        """Note how far splitting has come, and in how many steps."""
        cost = search.cost if np.isfinite(search.cost) else None
        self.trace.append((self.run.clock.seconds, cost, search.bound, search.steps))
        self.run.progress.search(cost, search.bound, search.steps)
        if search.ends is not None and search.safe:
            ends = search.ends
            self._insure(lambda: self._slacks_of_splitting(ends), search.bound)


def _cut_of_ends(cut: Cut, n: int, same: float) -> Cut:
    """Return a cut over the widths of ranges as a cut over their two ends, whose sum is the width, in another unit."""
    return Cut(np.concatenate([cut.columns, cut.columns + n]), np.tile(cut.values, 2), cut.right * same)
