"""Suppression: branch and cut for every component of the problem, and the audit of what it finds."""

from __future__ import annotations

import contextlib
import math
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET
from celosia.attack.result import Audit
from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError, pluralise
from celosia.pattern.pattern import Pattern
from celosia.presses import answer_presses
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import Extension, KnownSystems, ProtectionProblem, problem_of
from celosia.protection.engine.warm_start import CELLS, cuts_for_problem, keep_cuts, pattern_for_problem
from celosia.protection.fallback import Fallback
from celosia.protection.infeasibility import refuse_unreachable_levels
from celosia.protection.result import Protection
from celosia.protection.run import NewColumnsError, Run
from celosia.protection.state.warm_start import RequirementKey
from celosia.protection.suppression.components import ComponentSearches
from celosia.protection.suppression.method import Suppress
from celosia.protection.suppression.presolve import Component, presolve
from celosia.protection.suppression.refusal import explain_infeasibility
from celosia.risk.risk import HIDE, SENSITIVE, SHOW, Risk
from celosia.solve import deadline
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends


def solve(risk: Risk, method: Suppress, run: Run, parameters: EngineParameters = PARAMETERS) -> Protection:
    """Return the cheapest safe pattern that shows or hides cells; see `celosia.protect`."""
    refuse_unreachable_levels(risk)
    return _Suppression(risk, method, run, parameters=parameters).solve()


def protect_again(protection: Protection, risk: Risk, time_limit: float) -> Protection | None:
    """Return the protection of another risk by the same method, None where there is no safe pattern.

    Raises
    ------
    OutOfTimeError
        Time was up before a safe pattern was known.
    """
    solver = backend_named(protection.solver.split()[0])
    assert isinstance(protection.method, Suppress)  # noqa: S101  (callers ask for `only_hides`)
    run = Run(Clock(time_limit), 0.0, solver, protection.seed, protection.audit.integer)
    try:
        with deadline.before(run.clock):
            return protect_part(risk, protection.method, run)
    except deadline.DeadlineError:
        message = "was reached before a pattern was shown to be safe."
        raise OutOfTimeError.one("time_limit", message, "Allow more time.") from None


def protect_part(risk: Risk, method: Suppress, run: Run) -> Protection | None:
    """Return the cheapest safe pattern of a part of what is to be protected, None where there is no safe one.

    Raises
    ------
    OutOfTimeError
        Time was up before a safe pattern was known.
    """
    try:
        return _Suppression(risk, method, run, explain=False).solve()
    except InfeasibleError:
        return None


def find_pattern(risk: Risk, run: Run) -> Protection | None:
    """Return a pattern that hides cells, for a method that starts from one; None where none is found in time."""
    try:
        with deadline.before(run.clock):
            return _Suppression(risk, Suppress(), run, explain=False).solve()
    except (CelosiaError, ArithmeticError):
        return None
    except deadline.DeadlineError:
        deadline.check()
        return None


@dataclass(eq=False)
class _Suppression:
    """One protection: a search for every component, and what they have found so far."""

    risk: Risk
    method: Suppress
    run: Run
    explain: bool = True
    parameters: EngineParameters = PARAMETERS
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)
    searches: ComponentSearches = field(init=False)
    problem: ProtectionProblem = field(init=False)
    _systems: KnownSystems = field(default_factory=dict)
    _outside: float = 0.0
    _begun: bool = False
    _necessary: bool = True
    _before: Collection[RequirementKey] = ()
    _refused: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    _last_audited: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    _offered: Protection | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.problem = self._make_problem()
        self.searches = ComponentSearches((), (), self.run, self.parameters)

    def _make_problem(self) -> ProtectionProblem:
        """Return the problem; cells that could never keep their width if they were hidden are shown."""
        conditional, integer = self.method.conditional, self.run.integer
        problem = problem_of(self.risk, conditional=conditional, integer=integer, known=self._systems)
        shown = np.zeros(len(problem), dtype=bool)
        shown[problem.requirements.columns[problem.beyond]] = True
        shown &= ~problem.forced
        if not bool(shown.any()):
            return problem
        return problem.part(np.flatnonzero(~shown), np.flatnonzero(~shown[problem.requirements.columns]))

    def solve(self) -> Protection:
        """Return the best pattern that passes the audit; Ctrl-C ends the search for a better one."""
        with answer_presses(self.run.clock.stop):
            return self._run()

    def _run(self) -> Protection:
        self._open_searches()
        while True:
            try:
                self.searches.solve(self._begin_warm)
            except NewColumnsError:
                self._reopen()
                continue
            found = self._join_patterns()
            if found is None:
                raise self._failure()
            self._keep(self._cells_of(found), self._requirement_keys())
            if self._offered is not None and np.array_equal(found, self._last_audited):
                return self._renew(self._offered)
            checked = self._audit(found)
            if checked.safe:
                return self._result(checked)
            self._forbid(checked)

    def _open_searches(self) -> None:
        """Open a search for every component; one for all where they share rows, or an oracle may connect them."""
        problem, rows = self.problem, self._limit_rows()
        apart = not rows and self.run.oracle is None
        parts = presolve(problem, self.parameters) if apart else [Component.whole(problem)]
        self._refuse_determined_cells(problem, parts)
        searches = [(self._open_search(part, rows), part) for part in parts]
        self.searches = ComponentSearches(searches, rows, self.run, self.parameters)
        forced = math.fsum(self.risk.cost[np.isin(self.risk.status, (SENSITIVE, HIDE))].tolist())
        # the cost of forced cells that no search counts
        self._outside = forced - math.fsum(part.forced_cost for part in parts)
        self._begun = False
        for search in self.searches:
            search.incumbent.freeze(unless=self._necessary)

    def _open_search(self, part: Component, rows: Sequence[Cut]) -> PatternSearch:
        """Return the search of a component."""
        run, extend = self.run, None if self.run.oracle is None else self._extend
        return PatternSearch(
            *(part.problem, backends()[0], run.solver, run.clock, self._listen, rows, run.seed),
            extend=extend,
            audit_if_due=self._audit_if_due,
            parameters=self.parameters,
            coordinates=part.coordinates,
            executor=None if self.run.oracle is not None else self.run.executor,
        )

    def _begin_warm(self) -> None:
        """Begin with what earlier searches found; where there is an oracle, there is one search."""
        warm_start = self.run.warm_start
        if warm_start is not None and not self._begun:
            unmet = [
                place for place, requirement in enumerate(self._requirement_keys()) if requirement not in warm_start.met
            ]
            for search in self.searches:
                # what another run has found is asked for everything, component by component
                new = unmet if self.run.oracle is not None else range(len(search.problem.requirements))
                search.begin(
                    cuts_for_problem(warm_start, search.problem),
                    pattern_for_problem(warm_start, search.problem),
                    np.array(new, dtype=np.int64),
                )
        self._begun = True

    def _keep(self, hidden: NDArray[np.bool_], met: Iterable[RequirementKey]) -> None:
        """Keep a pattern, the requirements that it satisfies, and cuts; no-good cuts may not be proved."""
        warm_start = self.run.warm_start
        if warm_start is not None:
            for problem, cuts in self.searches.valid_cuts:
                keep_cuts(warm_start, problem, cuts)
            warm_start.pattern, warm_start.met = hidden, frozenset(met)

    def _extend(self, pattern: NDArray[np.bool_]) -> Extension | None:
        """Return the problem with requirements that a pattern violates, None where it is safe.

        Raises
        ------
        InfeasibleError
            A requirement is about a cell that must be shown.
        """
        assert self.run.oracle is not None  # noqa: S101  (without an oracle nothing is extended)
        violated = self.run.oracle.violated(Pattern.hide(self.risk.table, self._cells_of(pattern)))
        if violated is None:
            return None
        known = {requirement: place for place, requirement in enumerate(self._requirement_keys())}
        self.risk = violated.risk
        self.problem = self._make_problem()
        self._necessary &= violated.necessary
        if violated.necessary and self._requires_shown_cells:
            raise self._refusal()
        self._refused, self._before = pattern, known.keys()
        before = [known.get(requirement, -1) for requirement in self._requirement_keys()]
        return Extension(self.problem, violated.necessary, np.array(before, dtype=np.int64))

    def _reopen(self) -> None:
        """Open another search, which begins with the best pattern, or with the one that the oracle refused."""
        (search,) = self.searches
        hidden = np.isin(self.risk.status, (SENSITIVE, HIDE))
        pattern = self._refused if search.incumbent.pattern is None else search.incumbent.pattern
        hidden[search.problem.cells_among(np.flatnonzero(pattern))] = True
        self._keep(hidden, self._before)
        self._open_searches()

    def _requirement_keys(self) -> Iterator[RequirementKey]:
        """Yield what tells requirements from each other."""
        requirements = self.problem.requirements
        names = [attacker.name for attacker in self.risk.attackers] + [corner.name for corner in self.risk.corners]
        cells = self.problem.cells[requirements.columns].tolist()
        seen: Counter[tuple[int, str]] = Counter()
        for cell, who in zip(cells, requirements.attackers.tolist(), strict=True):
            yield cell, names[who], seen[cell, names[who]]
            seen[cell, names[who]] += 1

    def _join_patterns(self) -> NDArray[np.bool_] | None:
        """Return which columns of the problem are hidden, None where a search has no pattern."""
        return self.searches.join_patterns(self.problem.forced)

    def _cells_of(self, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which cells of the table are hidden if these columns of the problem are, ``(n_cells,)``."""
        mask = np.isin(self.risk.status, (SENSITIVE, HIDE))
        mask[self.problem.cells_among(np.flatnonzero(hidden))] = True
        return mask

    def _audit(self, hidden: NDArray[np.bool_]) -> Audit:
        mask = self._cells_of(hidden)
        risk = self.method.require_widths(self.risk.without_corners, mask)
        pattern, proposed = Pattern.hide(self.risk.table, mask), self.searches.propose_witnesses()
        known = None if proposed is None else proposed.below(self.problem.n_own).of_cells(self.problem.cells)
        return audit(pattern, risk, integer=self.run.integer, proposed=known)

    def _audit_if_due(self) -> None:
        """Audit the best pattern so far, where that is due: there may be no time for a better one.

        Where none is known yet, the one that hides everything is audited.
        """
        fallback = self.run.fallback
        if self.run.keeper is not None:
            with self._lock:
                self.run.keeper.write_if_due()
        if fallback is None or not self.searches:
            return
        hidden = self._join_patterns()
        if hidden is None and self._may_hide_all and not len(self._last_audited):
            if fallback.wants_everything_hidden(large=self._large):
                self._last_audited = np.ones(len(self.problem), dtype=bool)
                with (
                    contextlib.suppress(deadline.DeadlineError),
                    deadline.in_all(),
                    deadline.before(fallback.limit_of_everything()),
                ):
                    self._audit_as_fallback(fallback, self._last_audited)
                with deadline.in_all():
                    deadline.check()
        elif hidden is not None and fallback.due and not np.array_equal(hidden, self._last_audited):
            self._last_audited = hidden
            with deadline.in_all():
                self._audit_as_fallback(fallback, hidden)

    def _audit_as_fallback(self, fallback: Fallback, hidden: NDArray[np.bool_]) -> None:
        with fallback.measure_audit():
            checked = self._audit(hidden)
        self._offered = self._result(checked) if checked.safe else None
        if self._offered is not None:
            fallback.offer(self._offered)

    @property
    def _large(self) -> bool:
        """Whether searches will take long to find a first pattern."""
        return any(search.is_slow for search in self.searches)

    @property
    def _may_hide_all(self) -> bool:
        """Whether everything may be hidden, and the requirements are all."""
        return self.run.oracle is None and self.method.hides_everything

    def _forbid(self, checked: Audit) -> None:
        """Forbid patterns that the audit refutes: then none that hides less is safe, either.

        Searches compute in doubles, the audit does not. Where the audit could not decide, bounds must not use this.
        """
        cells = {verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET}
        proved = all(verdict.finding.exact for verdict in checked.verdicts if verdict.result != MET)
        columns = np.flatnonzero(np.isin(self.problem.cells, list(cells)))
        self.searches.forbid(columns, proved=proved)
        if self.run.keeper is not None:
            self.run.keeper.withdraw_pattern()

    def _renew(self, found: Protection) -> Protection:
        """Return a result that was audited before, with what is known of it by now."""
        seconds, trace = self.run.clock.seconds, tuple(self.trace)
        return replace(found, bound=self._bound_below(found.cost), seconds=seconds, trace=trace)

    def _bound_below(self, cost: float) -> float:
        """Return the bound of all searches together, at most some cost; that where all of them are done."""
        bound = self._outside + math.fsum(search.incumbent.bound for search in self.searches)
        done = all(search.incumbent.done for search in self.searches)
        return cost if done and self._necessary else min(bound, cost)

    def _result(self, checked: Audit) -> Protection:
        cost = math.fsum(self.risk.cost[checked.release.status != "shown"].tolist())
        return Protection(
            risk=self.risk.without_corners,
            method=self.method,
            pattern=Pattern.hide(self.risk.table, checked.release.status != "shown"),
            cost=cost,
            bound=self._bound_below(cost),
            found=checked,
            seconds=self.run.clock.seconds,
            solver=self.run.solver_name,
            trace=tuple(self.trace),
            seed=self.run.seed,
        )

    def _listen(self) -> None:
        """Record cost and bound of all searches together."""
        with self._lock:
            cost = self._outside + sum(search.incumbent.cost for search in self.searches)
            bound = self._outside + sum(search.incumbent.bound for search in self.searches)
            cuts = sum(len(search.cuts) for search in self.searches)
            self.trace.append((self.run.clock.seconds, cost if math.isfinite(cost) else None, bound, cuts))
            self._keep_state(cost, bound)
            self.run.progress.search(cost if math.isfinite(cost) else None, bound, cuts)

    def _keep_state(self, cost: float, bound: float) -> None:
        """Have the best pattern so far written, with the bound and the cuts; not where requirements may be missing."""
        keeper = self.run.keeper
        if keeper is None or self.run.oracle is not None:
            return
        keeper.keep_cuts(CELLS, self.searches.pack_cuts)
        if math.isfinite(cost):
            keeper.keep_pattern(self._joined_pattern, cost)
        keeper.raise_bound(bound)

    def _joined_pattern(self) -> Pattern:
        hidden = self._join_patterns()
        assert hidden is not None  # noqa: S101  (every search has a pattern: the cost is finite)
        return Pattern.hide(self.risk.table, self._cells_of(hidden))

    def _limit_rows(self) -> list[Cut]:
        """Return further rows of the master: at most so many cells are hidden."""
        if self.method.at_most is None:
            return []
        free = np.flatnonzero(~self.problem.forced)
        left = self.method.at_most - int(np.isin(self.risk.status, (SENSITIVE, HIDE)).sum())
        if left < 0:
            raise InfeasibleError.one(
                "at_most",
                f"is {self.method.at_most}, but {pluralise(self.method.at_most - left, 'cell')} must be hidden.",
            )
        return [Cut(free, -np.ones(len(free)), -float(left))]

    def _refuse_determined_cells(self, problem: ProtectionProblem, parts: Sequence[Component]) -> None:
        """Refuse sensitive cells that are a linear combination of cells that must be shown."""
        reached = np.zeros(len(problem), dtype=bool)
        for part in parts:
            reached[part.columns[part.class_of >= 0]] = True
        hopeless = ~reached[problem.requirements.columns] | problem.beyond
        if bool((hopeless & problem.forced[problem.requirements.columns]).any()) or self._requires_shown_cells:
            raise self._refusal()

    @property
    def _requires_shown_cells(self) -> bool:
        """Whether there are requirements about cells that must be shown."""
        further = self.risk.further
        return further is not None and bool((self.risk.status[further.cells] == SHOW).any())

    def _failure(self) -> CelosiaError:
        if any(search.incumbent.impossible for search in self.searches):
            return self._refusal()
        return OutOfTimeError.one("time_limit", "was reached before a safe pattern was known.", "Allow more time.")

    def _refusal(self) -> CelosiaError:
        """Return why nothing is safe, what would have to be freed, and what that costs."""
        if not self.explain:
            return InfeasibleError.one("protection", "is impossible.")
        return explain_infeasibility(self.risk, self.method, self._search_shortly, integer=self.run.integer)

    def _search_shortly(self, risk: Risk, method: Suppress) -> Protection | None:
        """Return what a short search finds for another risk, None where it finds nothing."""
        least, most = self.parameters.explaining_seconds
        run = self.run.shortly(min(most, max(least, self.run.clock.left)))
        try:
            return _Suppression(risk, method, run, explain=False).solve()
        except CelosiaError:
            return None
