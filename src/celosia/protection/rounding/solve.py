"""How a rounding is found: the nearest to the truth that adds up and is safe, audited, with a bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET
from celosia.attack.result import Audit
from celosia.errors import CelosiaError, InfeasibleError, SolverError, list_items, pluralise, round_up
from celosia.pattern.modes.rounded import rounded_modes
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.modes.number_search import NumberSearch
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.fallback import Fallback
from celosia.protection.infeasibility import find_smallest, refuse_unreachable_levels
from celosia.protection.result import Protection
from celosia.protection.rounding.formulation import RoundingModel
from celosia.protection.rounding.method import Round
from celosia.protection.rounding.parameters import ROUNDING, RoundingParameters
from celosia.protection.run import Run
from celosia.risk.cost_step import CostStep
from celosia.risk.risk import Risk
from celosia.solve.backend import Capability
from celosia.solve.registry import backends
from celosia.solve.solution import Status
from celosia.table.fixed import Fixed
from celosia.table.units import refuse_fractions


def solve(risk: Risk, method: Round, run: Run, parameters: RoundingParameters = ROUNDING) -> Protection:
    """Return a rounded table that adds up, as near to the truth as time allows, with a bound.

    Guarantee: published values are multiples of their bases, satisfy every relation exactly, and lie less than
    (K + 1) bases from the truth. They have passed `celosia.audit`, unless levels were relaxed on request; then the
    result is not called safe.
    """
    if run.integer:
        refuse_fractions(risk.table, np.ones(len(risk), dtype=bool))
    try:
        refuse_unreachable_levels(risk)
    except InfeasibleError:
        if not method.relax_levels:
            raise
    if not run.named and not bool(risk.sensitive.any()):  # no tree is cut: the faster one at plain programs
        run = replace(run, solver=backends(Capability.MIP)[0])
    return _RoundingSearch(risk, run, method, parameters).protection()


@dataclass(eq=False)
class _RoundingSearch(NumberSearch):
    """The search for one rounding, with ever more extra multiples.

    Parameters
    ----------
    method
        What is asked for.
    parameters
        How hard to search for explanations.

    Attributes
    ----------
    ceiling
        No bound above this may be claimed: a point was cut off although its audit was not exact.
    """

    method: Round
    parameters: RoundingParameters
    ceiling: float = field(init=False, default=np.inf)
    _extra: int = field(init=False, default=0)

    @cached_property
    def model(self) -> RoundingModel:
        """Variables, costs and slacks."""
        return RoundingModel(self.risk, self.method, self.run.integer, self.problem, self.cells)

    def protection(self) -> Protection:
        """Return a rounded table."""
        given = self.method.extra
        extra = given or 0
        self.model.refuse_limit()
        if bool(self.determined.any()) and not self.method.relax_levels:
            self._refuse_frozen()
        out_of_reach = ~self.model.find_goals_within_reach(extra) | self.determined
        if bool(out_of_reach.any()):
            if not self.method.relax_levels:
                raise self._too_small_base(out_of_reach, extra)
            return self._relax_levels(extra)
        asked_why = False
        while True:
            found = self._find_rounding(self.problem, extra)
            if found is not None:
                return self._result(found, extra)
            if given is not None or extra >= self.model.most_extra:
                return self._relax_or_refuse(extra)
            relaxes = self.method.relax_levels and len(self.problem.requirements) > 0
            if relaxes and self._adds_up(self.cells, extra, limited=True):
                return self._relax_levels(extra)
            if not asked_why:
                self._refuse_frozen()
                asked_why = True
            extra += 1

    def insure(self, search: ModeSearch, fallback: Fallback) -> None:
        """Have the best rounding so far audited."""
        if search.best is not None:
            found = self._publish(search.best, min(search.bound, self.ceiling), self._extra)
            if found.audit.safe:
                fallback.offer(self._result(found, self._extra))

    def _find_rounding(self, problem: ProtectionProblem, extra: int, *, relaxed: bool = False) -> _Candidate | None:
        """Return the nearest rounding that passes the audit, None where there is none.

        Raises
        ------
        OutOfTimeError
            Time was up before one was known.
        """
        search = ModeSearch(problem, self.model.modes(problem, extra), backends()[0], self.run, self.record)
        self._extra = extra
        while True:
            best = self.run_search(search, "a safe rounding was", "Allow more time, or a larger base.")
            if best is None:
                return None
            found = self._publish(best, search.bound, extra)
            if found.audit.safe or relaxed:
                return found
            missed = [verdict for verdict in found.audit.verdicts if verdict.result != MET]
            if not all(verdict.finding.exact for verdict in missed):
                self.ceiling = min(self.ceiling, search.bound)
            if not search.forbid(best):
                raise SolverError.one(
                    "audit", "refutes what the search found.", "Say integer=False, or take another base."
                )

    def _publish(self, best: NDArray[np.float64], bound: float, extra: int) -> _Candidate:
        """Return the rounded table of a point, exact, with its audit."""
        table, values = self.risk.table, self.model.values(best)
        counts = np.array(table.amounts.counts)
        counts[self.cells] = values
        if bool(table.relations.residuals(counts).any()):
            raise SolverError.one("rounding", "does not add up.", "Try another solver, or report this.")
        pattern = Pattern.of(
            table,
            *rounded_modes(
                self.cells,
                Fixed(values, table.decimals),
                Fixed(self.model.bases * self.model.unit, table.decimals),
                table,
                np.full(len(self.cells), extra),
            ),
        )
        return _Candidate(pattern, audit(pattern, self.risk, integer=self.run.integer), bound)

    def _relax_levels(self, extra: int) -> Protection:
        """Return a rounding that meets levels as far as that goes: lowered to what each base can give, else none."""
        requirements = self.problem.requirements.take(np.flatnonzero(~self.determined))
        for kept in (self.model.lower_levels(requirements), requirements.take(np.zeros(0, np.int64))):
            problem = replace(self.problem, requirements=kept)
            found = self._find_rounding(problem, extra, relaxed=True)
            if found is not None:
                return self._result(found, extra)
        if self.method.extra is not None:
            return self._relax_or_refuse(extra)
        self._refuse_frozen()
        return self._relax_levels(extra + 1)

    def _result(self, found: _Candidate, extra: int) -> Protection:
        cost = found.pattern.loss(self.risk.cost)
        step = replace(
            CostStep.of(self.risk.cost), size=CostStep.of(self.risk.cost).size * 10.0**-self.risk.table.decimals
        )
        bound = (
            min(step.raise_bound(found.bound), cost) if self.ceiling == np.inf else min(self.ceiling, found.bound, cost)
        )
        method = replace(self.method, extra=extra)
        return self.result(method, found.pattern, found.audit, cost, bound, tuple(_notes(found.audit, extra)))

    def _adds_up(self, cells: NDArray[np.int64], extra: int, *, limited: bool = False) -> bool:
        """Return whether these cells can be rounded so that all adds up, as far as is soon known; levels aside.

        Limited, no more of them change than may.
        """
        program = self.model.program(cells, extra, limited=limited)
        if program is None:
            return False
        limit = min(self.parameters.most_seconds, max(self.parameters.least_seconds, self.run.clock.left))
        solution = backends()[0].open(program).solve(time_limit=limit)
        return solution.status is not Status.INFEASIBLE

    def _refuse_frozen(self) -> None:
        """Refuse frozen cells with which no rounding adds up or none is safe, whatever K.

        Raises
        ------
        InfeasibleError
            With a smallest set of frozen cells that stands in the way.
        """
        risk, most = self.risk, self.model.most_extra
        if not self._adds_up(self.cells, most, limited=True) and self._adds_up(self.cells, most):
            said = f"is {self.method.at_most}: no rounding that adds up changes so few cells, whatever extra is."
            raise InfeasibleError.one("at_most", said, "Allow more.")
        if not self._adds_up(self.cells, most):
            frozen = np.setdiff1d(np.arange(len(risk)), self.cells)
            everything = np.arange(len(risk))
            if not len(frozen) or not self._adds_up(everything, most):
                raise InfeasibleError.one(
                    "base", "has no multiples that satisfy the relations.", "Take a base that divides their constants."
                )
            clash = find_smallest(frozen, lambda cells: not self._adds_up(np.setdiff1d(everything, cells), most))
            labels = list_items([risk.table.label(int(cell)) for cell in clash])
            word = "is" if len(clash) == 1 else "are together"
            raise InfeasibleError.one(
                "frozen",
                f"cells leave no rounding that adds up: {labels} {word} enough for that.",
                "Free one of them, or give them a base that divides their values."
                if len(clash) > 1
                else "Free it, or freeze cells only on multiples of the base.",
            )
        self.refuse_disclosing_cells()

    def _too_small_base(self, missed: NDArray[np.bool_], extra: int) -> CelosiaError:
        """Return that levels are more than the base can give, and which base would do."""
        requirements = self.problem.requirements.take(np.flatnonzero(missed))
        cells = np.unique(self.problem.cells[requirements.columns])
        base = self.model.find_larger_base(requirements, extra, self.parameters.tried_bases)
        enough = round_up(base * self.model.unit)
        text = Fixed.of_counts(np.array([enough], dtype=object), self.risk.table.decimals).texts()[0]
        fits = enough <= int(np.abs(self.risk.table.amounts.counts).max())
        larger = f"A base of {text} could meet them." if fits else "Hide these cells by another method."
        labels = list_items([self.risk.table.label(int(cell)) for cell in cells])
        return InfeasibleError.one(
            "base",
            f"is too small for the protection levels of {labels}.",
            f"{larger} Or allow more with extra={extra + 1}, or say relax_levels=True.",
        )

    def _relax_or_refuse(self, extra: int) -> Protection:
        """Relax levels where that was asked for and helps.

        Raises
        ------
        InfeasibleError
            No rounding is safe.
        """
        adds_up = self._adds_up(self.cells, extra, limited=True)
        if adds_up and self.method.relax_levels:
            return self._relax_levels(extra)
        self._refuse_frozen()
        raise InfeasibleError.one(
            "protection",
            f"is impossible: no rounding{' that adds up' if not adds_up else ''} with extra={extra} "
            f"{'meets all levels.' if adds_up else 'exists.'}",
            "Leave extra out, or take a larger base.",
        )


def _notes(found: Audit, extra: int) -> Iterator[str]:
    """Yield what the office must know of a rounding that is not to neighbouring multiples, or not safe."""
    if extra:
        far = pluralise(extra, "multiple")
        yield (
            f"Values may be rounded {far} further than to the next one: readers are told that the truth lies within "
            f"{extra + 1} bases."
        )
    if not found.safe:
        missed = sum(verdict.result != MET for verdict in found.verdicts)
        asked = pluralise(len(found.verdicts), "requirement")
        yield f"Levels were relaxed: {missed:,} of {asked} not met. This is not a safe release."


@dataclass(frozen=True, slots=True, eq=False)
class _Candidate:
    """A rounded table, what attackers conclude from it, and what any costs at least."""

    pattern: Pattern
    audit: Audit
    bound: float
