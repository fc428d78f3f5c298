"""What rounding and perturbation have in common: they publish a number for every cell that is not frozen."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.attack.result import Audit
from celosia.attack.system.decomposition import decompose
from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.fallback import Fallback
from celosia.protection.infeasibility import conflict_of
from celosia.protection.method import Method
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import SHOW, Risk
from celosia.solve import deadline


@dataclass(eq=False)
class NumberSearch:
    """A search for numbers to publish: what rounding and perturbation have in common.

    Parameters
    ----------
    risk
        What to protect, with the wishes of the method.
    run
        When to stop, and who solves.
    """

    risk: Risk
    run: Run
    trace: list[tuple[float, float | None, float, int]] = field(init=False, default_factory=list)

    @cached_property
    def problem(self) -> ProtectionProblem:
        """The requirements."""
        return problem_of(self.risk, integer=self.run.integer)

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The cells whose numbers are sought: all that are not frozen."""
        return np.flatnonzero(self.risk.status != SHOW)

    @cached_property
    def determined(self) -> NDArray[np.bool_]:
        """Which requirements have a target cell that is a linear combination of frozen cells, ``(q,)``."""
        return np.asarray(
            decompose(self.problem.system(np.arange(len(self.problem)))).component[self.problem.requirements.columns]
            < 0
        )

    def run_search(self, search: ModeSearch, what: str, remedy: str) -> NDArray[np.float64] | None:
        """Run a search and return its incumbent, None where there is none.

        A search also ends without one where the bounds of an attacker are so narrow that no publication makes a
        difference: there is no cut then.

        Raises
        ------
        OutOfTimeError
            Time was up before one was known.
        """
        try:
            search.solve()
        except KeyboardInterrupt:
            self.run.clock.stop()
        if search.best is None and not search.impossible and self.run.clock.left <= 0:
            raise OutOfTimeError.one("time_limit", f"was reached before {what} known.", remedy)
        return search.best

    def record(self, search: ModeSearch) -> None:
        """Note incumbent and bound of a search, and publish a fallback where that is due."""
        cost = search.cost if np.isfinite(search.cost) else None
        self.trace.append((self.run.clock.seconds, cost, search.bound, len(search.cuts)))
        self.run.progress.search(cost, search.bound, len(search.cuts))
        fallback = self.run.fallback
        if fallback is not None and search.best is not None and fallback.due:
            with fallback.measure_audit(), deadline.in_all(), suppress(CelosiaError):
                self.insure(search, fallback)

    def insure(self, search: ModeSearch, fallback: Fallback) -> None:
        """Publish and audit the incumbent of a search as a fallback: there may be no time for a better one."""

    def refuse_disclosing_cells(self) -> None:
        """Refuse frozen cells that disclose sensitive ones, whatever is published about the others.

        Raises
        ------
        InfeasibleError
            With a smallest set of frozen cells that do.
        """
        if len(self.problem.requirements):
            clash = conflict_of(self.risk, None, lambda _: None, integer=self.run.integer)
            if len(clash.unmet):
                raise InfeasibleError.one("protection", clash.sentence(self.risk), clash.remedy)

    def result(
        self,
        method: Method,
        pattern: Pattern,
        checked: Audit,
        cost: float,
        bound: float,
        notes: tuple[str, ...] = (),
    ) -> Protection:
        """Return the protection that was found."""
        return Protection(
            risk=self.risk,
            method=method,
            pattern=pattern,
            cost=cost,
            bound=min(bound, cost),
            found=checked,
            seconds=self.run.clock.seconds,
            solver=self.run.solver_name,
            trace=tuple(self.trace),
            seed=self.run.seed,
            notes=notes,
        )
