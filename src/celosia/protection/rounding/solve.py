"""From a risk to a rounded table that adds up and is safe, as near to the truth as that allows, with a bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET
from celosia.attack.result import Audit
from celosia.errors import CelosiaError, InfeasibleError, SolverError, SpecError, counted, listed, rounded_up
from celosia.pattern.modes.rounded import rounded_modes
from celosia.pattern.pattern import Pattern
from celosia.protection.cost_step import CostStep
from celosia.protection.engine.modes.all_cells import modes_of_all_cells
from celosia.protection.engine.modes.branch_and_cut import ModeSearch
from celosia.protection.engine.modes.numbered import Numbered
from celosia.protection.engine.modes.offers import offer_rounding
from celosia.protection.engine.modes.relaxation import ModeCuttingPlanes
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.fallback import Fallback
from celosia.protection.infeasibility import smallest
from celosia.protection.levels import refuse_levels_that_nobody_meets
from celosia.protection.result import Protection
from celosia.protection.rounding.levels import larger_base, within_reach
from celosia.protection.rounding.method import Round
from celosia.protection.run import Call
from celosia.risk.risk import Risk
from celosia.solve.backend import Capability
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Status
from celosia.table.fixed import Fixed
from celosia.table.units import grains_of, refuse_fractions

_SHORTEST, _SHORT = 1.0, 10.0
"""Seconds for a question on the side: as many as are left, within these."""


def solve(risk: Risk, method: Round, call: Call) -> Protection:
    """Return a rounded table that adds up, as near to the truth as time allows, with a bound.

    Guarantee: published values are multiples of their bases, satisfy every relation exactly, and lie less than
    (K + 1) bases from the truth. They have passed `celosia.audit`, unless levels were relaxed on request; then the
    result is not called safe.
    """
    if call.integer:
        refuse_fractions(risk.table, np.ones(len(risk), dtype=bool))
    try:
        refuse_levels_that_nobody_meets(risk)
    except InfeasibleError:
        if not method.relax_levels:
            raise
    if not call.named and not bool(risk.sensitive.any()):  # no tree is cut: the faster one at plain programs
        call = replace(call, solver=backends(Capability.MIP)[0])
    return _Work(risk, call, method).protection()


@dataclass(eq=False)
class _Work(Numbered):
    """One rounding at work."""

    method: Round
    ceiling: float = field(init=False, default=np.inf)
    _extra: int = field(init=False, default=0)

    @property
    def fine(self) -> int:
        """How many units of the table's last decimal are one unit: whole numbers where attackers know them."""
        return 10**self.risk.table.decimals if self.call.integer else 1

    @property
    def scale(self) -> int:
        """How many counts of the task are one unit."""
        return int(self.fine * 10**self.task.decimals // 10**self.risk.table.decimals)

    @cached_property
    def all_bases(self) -> NDArray[np.int64]:
        """Of every cell, in units."""
        bases = self.method.bases(self.risk.table)
        if bool((bases % self.fine).any()):
            raise SpecError.one("base", "is no whole number.", "Counts are rounded to multiples of 3, 5 or 10.")
        return bases // self.fine

    @cached_property
    def bases(self) -> NDArray[np.int64]:
        """Of the cells that are rounded, in units."""
        return self.all_bases[self.cells]

    @cached_property
    def grains(self) -> NDArray[np.int64]:
        """The smallest differences between values of the cells that are rounded, in units: 1, or one count."""
        return np.maximum(grains_of(self.risk.table)[self.cells] // self.fine, 1)

    @cached_property
    def all_truth(self) -> NDArray[np.int64]:
        """Of every cell, in units."""
        return np.asarray(self.risk.table.amounts.counts // self.fine, dtype=np.int64)

    @cached_property
    def truth(self) -> NDArray[np.int64]:
        """Of the cells that are rounded, in units."""
        return self.all_truth[self.cells]

    @cached_property
    def below(self) -> NDArray[np.int64]:
        """How many multiples below the next lower one may be published: no negative numbers where there are none."""
        far = np.full(len(self.cells), np.iinfo(np.int64).max)
        return self.truth // self.bases if self.risk.table.nonnegative else far

    @cached_property
    def most_extra(self) -> int:
        """So many extra multiples are more than any rounding needs."""
        return int((np.abs(self.truth) // np.maximum(self.bases, 1)).max(initial=0)) + 1

    def protection(self) -> Protection:
        """Return a rounded table."""
        given = self.method.extra
        extra = given or 0
        if bool(self.hopeless.any()) and not self.method.relax_levels:
            self._refuse_what_no_rounding_meets()
        out_of_reach = ~self._within_reach(extra) | self.hopeless
        if bool(out_of_reach.any()):
            if not self.method.relax_levels:
                raise self._beyond(out_of_reach, extra)
            return self._relaxed(extra)
        asked_why = False
        while True:
            found = self._searched(self.task, extra)
            if found is not None:
                return self._result(found, extra)
            if given is not None or extra >= self.most_extra:
                return self._without(extra)
            if self.method.relax_levels and len(self.task.goals) and self._adds_up(self.cells, extra):
                return self._relaxed(extra)
            if not asked_why:
                self._refuse_what_no_rounding_meets()
                asked_why = True
            extra += 1

    def _within_reach(self, extra: int) -> NDArray[np.bool_]:
        """Return which goals their cells' own roundings can meet, ``(q,)``."""
        goals = self.task.goals
        place = np.searchsorted(self.cells, self.task.cells[goals.columns])
        return within_reach(
            self.task,
            self.truth[place],
            self.bases[place],
            self.grains[place],
            extra,
            self.scale,
            signed=not self.risk.table.nonnegative,
        )

    def _search(self, task: ProtectionProblem, extra: int) -> ModeSearch:
        unit = float(self.scale) * int(np.gcd.reduce(self.bases)) if len(self.bases) else 1.0
        remainder = self.truth % self.bases
        offer = offer_rounding(
            self.cells,
            self.risk.cost[self.cells] * unit / 10.0**task.decimals,
            remainder * self.scale / unit,
            self.bases * self.scale / unit,
            self.grains * self.scale / unit,
            self.below,
            extra,
        )
        modes = modes_of_all_cells(task, self.risk.table, [offer], unit)
        self._extra = extra
        return ModeSearch(task, modes, backends()[0], self.call, self.listen)

    def insure(self, search: ModeCuttingPlanes, fallback: Fallback) -> None:
        """Have the best rounding so far audited."""
        if search.best is not None:
            found = self._published(search.best, min(search.bound, self.ceiling), self._extra)
            if found.audit.safe:
                fallback.offer(self._result(found, self._extra))

    def _searched(self, task: ProtectionProblem, extra: int, *, relaxed: bool = False) -> _Found | None:
        """Return the nearest rounding that passes the audit, None where there is none.

        Raises
        ------
        OutOfTimeError
            Time was up before one was known.
        """
        search = self._search(task, extra)
        while True:
            best = self.found(search, "a safe rounding was", "Allow more time, or a larger base.")
            if best is None:
                return None
            found = self._published(best, search.bound, extra)
            if found.audit.safe or relaxed:
                return found
            missed = [verdict for verdict in found.audit.verdicts if verdict.result != MET]
            if not all(verdict.finding.exact for verdict in missed):
                self.ceiling = min(self.ceiling, search.bound)
            if not search.forbid(best):
                raise SolverError.one(
                    "audit", "refutes what the search found.", "Say integer=False, or take another base."
                )

    def _published(self, best: NDArray[np.float64], bound: float, extra: int) -> _Found:
        """Return the rounded table of a point, exact, with its audit."""
        table, m = self.risk.table, len(self.cells)
        parts = np.rint(best).astype(np.int64).reshape(-1, m)
        signs = np.array([1, 1, -1], dtype=np.int64)[: len(parts)]
        values = (self.truth // self.bases + signs @ parts) * self.bases * self.fine
        counts = np.array(table.amounts.counts)
        counts[self.cells] = values
        if bool(table.relations.residuals(counts).any()):
            raise SolverError.one("rounding", "does not add up.", "Try another solver, or report this.")
        pattern = Pattern.of(
            table,
            *rounded_modes(
                self.cells,
                Fixed(values, table.decimals),
                Fixed(self.bases * self.fine, table.decimals),
                table,
                np.full(len(self.cells), extra),
            ),
        )
        return _Found(pattern, audit(pattern, self.risk, integer=self.call.integer), bound)

    def _relaxed(self, extra: int) -> Protection:
        """Return a rounding that meets levels as far as that goes: lowered to what each base can give, else none."""
        goals = self.task.goals.take(np.flatnonzero(~self.hopeless))
        place = np.searchsorted(self.cells, self.task.cells[goals.columns])
        grain = self.grains[place] * self.scale
        either = self.bases[place] * self.scale - grain
        remainder = (self.truth[place] % self.bases[place]) * self.scale
        up = np.maximum(either - remainder, 0)
        down = np.maximum(np.where(remainder > 0, remainder - grain, either), 0)
        modest = replace(
            goals,
            up=np.minimum(goals.up, up),
            down=np.minimum(goals.down, down),
            sliding=np.minimum(goals.sliding, up + down),
        )
        for task in (replace(self.task, goals=modest), replace(self.task, goals=goals.take(np.zeros(0, np.int64)))):
            found = self._searched(task, extra, relaxed=True)
            if found is not None:
                return self._result(found, extra)
        if self.method.extra is not None:
            return self._without(extra)
        self._refuse_what_no_rounding_meets()
        return self._relaxed(extra + 1)

    def _result(self, found: _Found, extra: int) -> Protection:
        cost = found.pattern.loss(self.risk.cost)
        step = replace(
            CostStep.of(self.risk.cost), size=CostStep.of(self.risk.cost).size * 10.0**-self.risk.table.decimals
        )
        bound = min(step.raised(found.bound), cost) if self.ceiling == np.inf else min(self.ceiling, found.bound, cost)
        method = replace(self.method, extra=extra)
        return self.result(method, found.pattern, found.audit, cost, bound, tuple(_notes(found.audit, extra)))

    def _adds_up(self, cells: NDArray[np.int64], extra: int) -> bool:
        """Return whether these cells can be rounded so that all adds up, as far as is soon known; levels aside."""
        table, base, truth = self.risk.table, self.all_bases[cells], self.all_truth[cells]
        remainder = truth % base
        lowest = -np.minimum(truth // base, extra) if table.nonnegative else np.full(len(cells), -extra)
        highest = (remainder > 0).astype(np.int64) + extra
        matrix = sp.csr_array(table.relations.matrix[:, cells], dtype=np.int64)
        right = np.asarray(matrix @ remainder)
        common = int(np.gcd.reduce(base)) if len(base) else 1
        if bool((right % common).any()):
            return False
        rows = sp.csr_array(matrix @ sp.diags_array((base // common).astype(np.float64)))
        side = (right // common).astype(np.float64)
        problem = LinearProgram(
            rows,
            side,
            side,
            lowest.astype(np.float64),
            highest.astype(np.float64),
            np.zeros(len(cells)),
            integer=np.ones(len(cells), dtype=bool),
        )
        limit = min(_SHORT, max(_SHORTEST, self.call.clock.left))
        solution = backends()[0].open(problem).solve(time_limit=limit)
        return solution.status is not Status.INFEASIBLE

    def _refuse_what_no_rounding_meets(self) -> None:
        """Refuse frozen cells with which nothing adds up or nothing is safe, however far values are rounded.

        Raises
        ------
        InfeasibleError
            With a smallest set of frozen cells that stands in the way.
        """
        risk, most = self.risk, self.most_extra
        if not self._adds_up(self.cells, most):
            frozen = np.setdiff1d(np.arange(len(risk)), self.cells)
            everything = np.arange(len(risk))
            if not len(frozen) or not self._adds_up(everything, most):
                raise InfeasibleError.one(
                    "base", "has no multiples that satisfy the relations.", "Take a base that divides their constants."
                )
            clash = smallest(frozen, lambda cells: not self._adds_up(np.setdiff1d(everything, cells), most))
            labels = listed([risk.table.label(int(cell)) for cell in clash])
            word = "is" if len(clash) == 1 else "are together"
            raise InfeasibleError.one(
                "frozen",
                f"cells leave no rounding that adds up: {labels} {word} enough for that.",
                "Free one of them, or give them a base that divides their values."
                if len(clash) > 1
                else "Free it, or freeze cells only on multiples of the base.",
            )
        self.refuse_what_is_given_away()

    def _beyond(self, missed: NDArray[np.bool_], extra: int) -> CelosiaError:
        """Return that levels are more than the base can give, and which base would do."""
        goals = self.task.goals.take(np.flatnonzero(missed))
        cells = np.unique(self.task.cells[goals.columns])
        place = np.searchsorted(self.cells, self.task.cells[goals.columns])
        task = replace(self.task, goals=goals)
        base = larger_base(task, self.truth[place], self.bases[place], self.grains[place], extra, self.scale)
        enough = rounded_up(int(base) * int(self.fine))
        text = Fixed.of_counts(np.array([enough], dtype=object), self.risk.table.decimals).texts()[0]
        fits = enough <= int(np.abs(self.risk.table.amounts.counts).max())
        larger = f"A base of {text} could meet them." if fits else "Hide these cells by another method."
        labels = listed([self.risk.table.label(int(cell)) for cell in cells])
        return InfeasibleError.one(
            "base",
            f"is too small for the protection levels of {labels}.",
            f"{larger} Or allow more with extra={extra + 1}, or say relax_levels=True.",
        )

    def _without(self, extra: int) -> Protection:
        """Relax levels where that was asked for and helps.

        Raises
        ------
        InfeasibleError
            No rounding is safe.
        """
        adds_up = self._adds_up(self.cells, extra)
        if adds_up and self.method.relax_levels:
            return self._relaxed(extra)
        self._refuse_what_no_rounding_meets()
        raise InfeasibleError.one(
            "protection",
            f"is impossible: no rounding{' that adds up' if not adds_up else ''} with extra={extra} "
            f"{'meets all levels.' if adds_up else 'exists.'}",
            "Leave extra out, or take a larger base.",
        )


def _notes(found: Audit, extra: int) -> Iterator[str]:
    """Yield what the office must know of a rounding that is not to neighbouring multiples, or not safe."""
    if extra:
        far = counted(extra, "multiple")
        yield (
            f"Values may be rounded {far} further than to the next one: readers are told that the truth lies within "
            f"{extra + 1} bases."
        )
    if not found.safe:
        missed = sum(verdict.result != MET for verdict in found.verdicts)
        asked = counted(len(found.verdicts), "requirement")
        yield f"Levels were relaxed: {missed:,} of {asked} not met. This is not a safe release."


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """A rounded table, what attackers conclude from it, and what any costs at least."""

    pattern: Pattern
    audit: Audit
    bound: float
