"""How an adjusted table is found: a search for every component, and the check of what they find."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.errors import OutOfTimeError, SolverError
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.pattern import Pattern
from celosia.protection.adjustment.branch_and_bound import AdjustmentSearch
from celosia.protection.adjustment.formulation import AdjustmentProblem, PublicationGrid, formulate
from celosia.protection.adjustment.infeasibility import conflict_of
from celosia.protection.adjustment.method import Adjust
from celosia.protection.adjustment.parameters import ADJUSTMENT, AdjustmentParameters
from celosia.protection.distances import distances_of
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import SHOW, Risk
from celosia.table.fixed import Fixed


def solve(risk: Risk, method: Adjust, run: Run, parameters: AdjustmentParameters = ADJUSTMENT) -> Protection:
    """Return the closest table in which every sensitive cell left its safety interval; see `celosia.protect`.

    Guarantee: the published table was checked outside the solver, in exact arithmetic: it adds up, lies within what
    attackers know, keeps what was to be kept, and every sensitive cell left its safety interval. The bound is proved by
    weak duality, or by a tree where that says more.
    """
    problem, grid = formulate(risk, method, integer=run.integer)
    return _Adjustment(risk, method, run, problem, grid, parameters).protection()


@dataclass(eq=False)
class _Adjustment:
    """One adjustment: a search for every component, and the table that they make together."""

    risk: Risk
    method: Adjust
    run: Run
    problem: AdjustmentProblem
    grid: PublicationGrid
    parameters: AdjustmentParameters
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)
    searches: list[tuple[AdjustmentSearch, NDArray[np.int64]]] = field(default_factory=list)

    def protection(self) -> Protection:
        """Return the best table that passes the check."""
        self.searches = [(self._search(columns), columns) for columns in self.problem.split_components()]
        try:
            for search, _ in self.searches:
                search.run(self.run.gap)
                if search.infeasible:
                    break
        except KeyboardInterrupt:
            self.run.clock.stop()
        if any(search.infeasible for search, _ in self.searches):
            raise conflict_of(self.risk, self.method, self.run, self.run.solver, self.parameters)
        if any(search.moves is None for search, _ in self.searches):
            raise OutOfTimeError.one("time_limit", "was reached before a table was known.", "Allow more time.")
        return self._result()

    def _search(self, columns: NDArray[np.int64]) -> AdjustmentSearch:
        """Return the search for the table of one component."""
        run, part = self.run, self.problem.restrict_to(columns)
        return AdjustmentSearch(part, run.solver, run.clock, self._listen, run.seed, self.parameters)

    def _result(self) -> Protection:
        counts = self.grid.floor.copy()
        for search, columns in self.searches:
            if search.moves is not None:
                cells = self.problem.cells[columns]
                counts[cells] += search.moves * self.grid.grain[cells]
        moved = np.flatnonzero(self.risk.status != SHOW)
        table = self.risk.table
        values = Fixed(counts[moved], self.grid.decimals)
        pattern = Pattern.of(table, Adjusted(moved, values, table))
        found = distances_of(pattern, self.risk)
        if not found.safe:
            raise SolverError.one("adjustment", f"made a table that does not pass: {found!r}.", "Report this.")
        cost, bound = self._sums()
        return Protection(
            risk=self.risk,
            method=self.method,
            pattern=pattern,
            cost=cost,
            bound=cost if all(search.done for search, _ in self.searches) else min(bound, cost),
            found=found,
            seconds=self.run.clock.seconds,
            solver=self.run.solver_name,
            trace=tuple(self.trace),
            seed=self.run.seed,
        )

    def _sums(self) -> tuple[float, float]:
        searches = [search for search, _ in self.searches]
        return math.fsum(search.cost for search in searches), math.fsum(search.bound for search in searches)

    def _listen(self) -> None:
        """Note how far all searches together have come."""
        cost, bound = self._sums()
        known = cost if math.isfinite(cost) else None
        self.trace.append((self.run.clock.seconds, known, bound, 0))
        self.run.progress.search(known, bound, 0)
