"""The engine at work on suppression: components, a search for each, the audit of what they find."""

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
from celosia.attack.system.decomposition import decompose
from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError, SolverError, counted
from celosia.pattern.pattern import Pattern
from celosia.presses import answered, waiting
from celosia.protection.engine.branch_and_cut import BranchAndCut
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.incumbent import Outcome
from celosia.protection.engine.oracle import Extension
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.engine.warm_start import Goal
from celosia.protection.fallback import Fallback
from celosia.protection.infeasibility import conflict_of, freed, rests_on
from celosia.protection.levels import refuse_levels_that_nobody_meets
from celosia.protection.result import Protection
from celosia.protection.run import Call, NewColumnsError
from celosia.protection.suppression.method import Suppress
from celosia.risk.risk import HIDE, SENSITIVE, SHOW, Risk
from celosia.solve import deadline
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends


def solve(risk: Risk, method: Suppress, call: Call, parameters: EngineParameters = PARAMETERS) -> Protection:
    """Return the cheapest safe pattern that shows or hides cells; see `celosia.protect`."""
    asked = method.applied(risk)
    refuse_levels_that_nobody_meets(asked)
    return _Work(asked, method, call, parameters=parameters).protection()


def protect_again(protection: Protection, method: Suppress, time_limit: float) -> Protection | None:
    """Return the protection of the same risk with other wishes, None where there is no safe pattern.

    Raises
    ------
    OutOfTimeError
        Time was up before a safe pattern was known.
    """
    solver = backend_named(protection.solver.split()[0])
    call = Call(Clock(time_limit), 0.0, solver, protection.seed, protection.audit.integer)
    try:
        with deadline.before(call.clock):
            return _Work(method.applied(protection.risk), method, call, explain=False).protection()
    except InfeasibleError:
        return None
    except deadline.DeadlineError:
        message = "was reached before a pattern was shown to be safe."
        raise OutOfTimeError.one("time_limit", message, "Allow more time.") from None


@dataclass(eq=False)
class _Work:
    """One protection at work: its searches, and what they have told so far."""

    risk: Risk
    method: Suppress
    call: Call
    explain: bool = True
    parameters: EngineParameters = PARAMETERS
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)
    searches: list[tuple[BranchAndCut, NDArray[np.int64]]] = field(default_factory=list)
    problem: ProtectionProblem = field(init=False)
    rows: list[Cut] = field(init=False)
    _outside: float = 0.0
    _begun: bool = False
    _needed: bool = True
    _before: Collection[Goal] = ()
    _refused: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    _insured: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        self.problem = self._problem()

    def _problem(self) -> ProtectionProblem:
        """Return what is to be done; cells that could never keep their width if they were hidden are shown."""
        problem = problem_of(self.risk, widths=self.method.widths, integer=self.call.integer)
        shown = np.zeros(len(problem), dtype=bool)
        shown[problem.goals.columns[problem.beyond]] = True
        shown &= ~problem.forced
        if not bool(shown.any()):
            return problem
        return problem.part(np.flatnonzero(~shown), np.flatnonzero(~shown[problem.goals.columns]))

    def protection(self) -> Protection:
        """Return the best pattern that passes the audit; Ctrl-C ends the search for a better one."""
        with answered(self.call.clock.stop):
            return self._protection()

    def _protection(self) -> Protection:
        self._open()
        while True:
            try:
                self._search()
            except NewColumnsError:
                self._open_anew()
                continue
            found = self._hidden()
            if found is None:
                raise self._failure()
            self._remember(self._mask(found), self._goals())
            checked = self._audited(found)
            if checked.safe:
                return self._result(checked)
            self._forbid(checked)

    def _open(self) -> None:
        """Open a search for every component; one for all where they share rows, or may grow together."""
        problem, self.rows = self.problem, self._rows()
        apart = not self.rows and self.call.oracle is None
        parts = _components(problem) if apart else [(problem, np.arange(len(problem)))]
        self._refuse_cells_that_follow(problem, parts)
        backend, solver, clock, seed = backends()[0], self.call.solver, self.call.clock, self.call.seed
        rows, grow = self.rows, None if self.call.oracle is None else self._grown
        self.searches = [
            (
                BranchAndCut(
                    part, backend, solver, clock, self._listen, rows, seed, grow, self._insure, self.parameters
                ),
                columns,
            )
            for part, columns in parts
        ]
        forced = math.fsum(self.risk.cost[np.isin(self.risk.status, (SENSITIVE, HIDE))].tolist())
        # what cells cost that are hidden in any case, and of which no search knows
        self._outside = forced - math.fsum(search.incumbent.base for search, _ in self.searches)
        self._begun = False
        for search, _ in self.searches:
            search.incumbent.freeze(unless=self._needed)

    def _begin(self) -> None:
        """Begin with what is known, where somebody watches: then there is one search."""
        warm_start = self.call.warm_start
        if warm_start is not None and self.call.oracle is not None and not self._begun:
            new = [place for place, goal in enumerate(self._goals()) if goal not in warm_start.met]
            for search, _ in self.searches:
                search.begin(
                    warm_start.cuts(search.problem), warm_start.mask(search.problem), np.array(new, dtype=np.int64)
                )
        self._begun = True

    def _remember(self, hidden: NDArray[np.bool_], met: Iterable[Goal]) -> None:
        """Remember a pattern, the goals that it meets, and cuts; those of refuted patterns may not be proved."""
        warm_start = self.call.warm_start
        if warm_start is not None:
            for search, _ in self.searches:
                refuted = {cut.key for cut in search.incumbent.refuted}
                warm_start.keep(search.problem, (cut for cut in search.cuts if cut.key not in refuted))
            warm_start.pattern, warm_start.met = hidden, frozenset(met)

    def _grown(self, pattern: NDArray[np.bool_]) -> Extension | None:
        """Return the problem that asks for what would have stopped an attack on a pattern, None where it is safe.

        Raises
        ------
        InfeasibleError
            Somebody is exposed in a cell that must be shown.
        """
        assert self.call.oracle is not None  # noqa: S101  (searches that are not watched do not grow)
        told = self.call.oracle.violated(Pattern.suppressing(self.risk.table, self._mask(pattern)))
        if told is None:
            return None
        assert isinstance(told.method, Suppress)  # noqa: S101  (what is told is about the same method)
        known = {goal: place for place, goal in enumerate(self._goals())}
        self.risk, self.method = told.method.applied(told.risk), told.method
        self.problem = self._problem()
        self._needed &= told.necessary
        if told.necessary and self._asks_for_what_is_shown:
            raise self._refusal()
        self._refused, self._before = pattern, known.keys()
        before = [known.get(goal, -1) for goal in self._goals()]
        return Extension(self.problem, np.array(before, dtype=np.int64), told.necessary)

    def _open_anew(self) -> None:
        """Open another search, which begins with the best pattern, or with the one that was attacked with success."""
        ((search, _),) = self.searches
        hidden = np.isin(self.risk.status, (SENSITIVE, HIDE))
        hidden[
            search.problem.cells[
                np.flatnonzero(self._refused if search.incumbent.pattern is None else search.incumbent.pattern)
            ]
        ] = True
        self._remember(hidden, self._before)
        self._open()

    def _goals(self) -> Iterator[Goal]:
        """Yield what tells goals from each other."""
        goals, names = self.problem.goals, [attacker.name for attacker in self.risk.attackers]
        cells = self.problem.cells[goals.columns].tolist()
        seen: Counter[tuple[int, str]] = Counter()
        for cell, who in zip(cells, goals.attackers.tolist(), strict=True):
            yield cell, names[who], seen[cell, names[who]]
            seen[cell, names[who]] += 1

    def _search(self) -> None:
        """Let every search run; one after the other they leave the rest its share of the time."""
        todo = [search for search, _ in self.searches if not (search.incumbent.done or search.incumbent.exhausted)]
        try:
            self._begin()
            if self.call.executor is not None and self.call.oracle is None:
                jobs = [
                    (
                        search.problem,
                        self.call.solver.name,
                        self.call.clock.left,
                        self.call.gap,
                        self.rows,
                        search.known,
                        self.call.seed,
                        self.parameters,
                    )
                    for search in todo
                ]
                with waiting():
                    for search, found in zip(
                        todo, self.call.executor.map(_elsewhere, *zip(*jobs, strict=True)), strict=True
                    ):
                        search.adopt(found)
                return
            for k, search in enumerate(todo):
                left = sum(len(other.problem) for other in todo[k:])
                search.run(self.call.gap, self.call.clock.left * len(search.problem) / left)
        except KeyboardInterrupt:
            self._finish_first_patterns(todo)

    def _finish_first_patterns(self, searches: list[BranchAndCut]) -> None:
        """After Ctrl-C give searches that have no pattern yet the chance of a quick one."""
        self.call.clock.stop()
        for search in searches:
            if search.incumbent.pattern is None:
                try:
                    search.run(self.call.gap)
                except SolverError:  # still busy with what was interrupted
                    search.hide_everything()

    def _hidden(self) -> NDArray[np.bool_] | None:
        """Return which columns of the problem are hidden, None where a search has no pattern."""
        hidden = self.problem.forced.copy()
        for search, columns in self.searches:
            if search.incumbent.pattern is None:
                return None
            hidden[columns] |= search.incumbent.pattern
        return hidden

    def _mask(self, hidden: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which cells of the table are hidden if these columns of the problem are, ``(n_cells,)``."""
        mask = np.isin(self.risk.status, (SENSITIVE, HIDE))
        mask[self.problem.cells[np.flatnonzero(hidden)]] = True
        return mask

    def _audited(self, hidden: NDArray[np.bool_]) -> Audit:
        mask = self._mask(hidden)
        risk = self.method.conditional(self.risk, mask)
        return audit(Pattern.suppressing(self.risk.table, mask), risk, integer=self.call.integer)

    def _insure(self) -> None:
        """Have the best pattern so far audited, where that is due: there may be no time for a better one.

        Where none is known yet, all that may be hidden is.
        """
        fallback = self.call.fallback
        if fallback is None or not self.searches:
            return
        hidden = self._hidden()
        if hidden is None and self._may_hide_all and not len(self._insured):
            if fallback.needs_anything(large=self._large):
                self._insured = np.ones(len(self.problem), dtype=bool)
                with contextlib.suppress(deadline.DeadlineError), deadline.in_all(), deadline.before(fallback.part()):
                    self._offer(fallback, self._insured)
                with deadline.in_all():
                    deadline.check()
        elif hidden is not None and fallback.due and not np.array_equal(hidden, self._insured):
            self._insured = hidden
            with deadline.in_all():
                self._offer(fallback, hidden)

    def _offer(self, fallback: Fallback, hidden: NDArray[np.bool_]) -> None:
        with fallback.measured():
            checked = self._audited(hidden)
        if checked.safe:
            fallback.offer(self._result(checked))

    @property
    def _large(self) -> bool:
        """Whether searches will take long to find a first pattern."""
        return sum(search.is_slow for search, _ in self.searches) > 0

    @property
    def _may_hide_all(self) -> bool:
        """Whether everything may be hidden, and nothing is asked of that but its requirements."""
        return self.call.oracle is None and self.method.at_most is None and not self.method.width_if_hidden

    def _forbid(self, checked: Audit) -> None:
        """Tell the searches that their patterns are not safe: then none that hides less is, either.

        The search believes doubles, the audit does not. Where the audit could not decide, no bound rests on this.
        """
        cells = {verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET}
        proved = all(verdict.finding.exact for verdict in checked.verdicts if verdict.result != MET)
        columns = np.flatnonzero(np.isin(self.problem.cells, list(cells)))
        alone = len(self.searches) == 1
        hit = [(search, own) for search, own in self.searches if alone or np.isin(own, columns).any()]
        if not hit:
            raise SolverError.one("audit", "refutes a pattern that no search made.", "Report this.")
        for search, own in hit:
            search.forbid(np.flatnonzero(np.isin(own, columns)), proved=proved)

    def _result(self, checked: Audit) -> Protection:
        cost = math.fsum(self.risk.cost[checked.release.status != "shown"].tolist())
        bound = self._outside + math.fsum(search.incumbent.bound for search, _ in self.searches)
        done = all(search.incumbent.done for search, _ in self.searches)
        return Protection(
            risk=self.risk,
            method=self.method,
            pattern=Pattern.suppressing(self.risk.table, checked.release.status != "shown"),
            cost=cost,
            bound=cost if done and self._needed else min(bound, cost),
            found=checked,
            seconds=self.call.clock.seconds,
            solver=self.call.solver_name,
            trace=tuple(self.trace),
            seed=self.call.seed,
        )

    def _listen(self) -> None:
        """Note how far all searches together have come."""
        with self._lock:
            searches = [search for search, _ in self.searches]
            cost = self._outside + sum(search.incumbent.cost for search in searches)
            bound = self._outside + sum(search.incumbent.bound for search in searches)
            cuts = sum(len(search.cuts) for search in searches)
            self.trace.append((self.call.clock.seconds, cost if math.isfinite(cost) else None, bound, cuts))
            self.call.progress.search(cost if math.isfinite(cost) else None, bound, cuts)

    def _rows(self) -> list[Cut]:
        """Return further rows of the master: at most so many cells are hidden."""
        if self.method.at_most is None:
            return []
        free = np.flatnonzero(~self.problem.forced)
        left = self.method.at_most - int(np.isin(self.risk.status, (SENSITIVE, HIDE)).sum())
        if left < 0:
            raise InfeasibleError.one(
                "at_most",
                f"is {self.method.at_most}, but {counted(self.method.at_most - left, 'cell')} must be hidden.",
            )
        return [Cut(free, -np.ones(len(free)), -float(left))]

    def _refuse_cells_that_follow(
        self, problem: ProtectionProblem, parts: Sequence[tuple[ProtectionProblem, NDArray[np.int64]]]
    ) -> None:
        """Refuse sensitive cells that follow from cells that must be shown, whatever else is hidden."""
        reached = np.zeros(len(problem), dtype=bool)
        for _, columns in parts:
            reached[columns] = True
        hopeless = ~reached[problem.goals.columns] | problem.beyond
        if bool((hopeless & problem.forced[problem.goals.columns]).any()) or self._asks_for_what_is_shown:
            raise self._refusal()

    @property
    def _asks_for_what_is_shown(self) -> bool:
        """Whether there are requirements about cells that must be shown: somebody is exposed in them."""
        further = self.risk.further
        return further is not None and bool((self.risk.status[further.cells] == SHOW).any())

    def _failure(self) -> CelosiaError:
        if any(search.incumbent.impossible for search, _ in self.searches):
            return self._refusal()
        return OutOfTimeError.one("time_limit", "was reached before a safe pattern was known.", "Allow more time.")

    def _refusal(self) -> CelosiaError:
        """Return why nothing is safe, what would have to be freed, and what that costs."""
        if not self.explain:
            return InfeasibleError.one("protection", "is impossible.")
        try:
            return self._explained()
        except deadline.DeadlineError:
            message = "is impossible. There was no time to find out which cells stand in the way."
            return InfeasibleError.one("protection", message, "Allow more time to be told, or ask for less.")

    def _explained(self) -> CelosiaError:
        """Return the same in full; there may be no time for it."""

        def hiding(risk: Risk) -> NDArray[np.bool_] | None:
            found = self._tried(risk, replace(self.method, at_most=None))
            return None if found is None else rests_on(found.audit)

        found = conflict_of(self.risk, self.method, hiding, integer=self.call.integer)
        priced = self._tried(freed(self.risk, found), self.method) if len(found.shown) else None
        if priced is not None:
            found = replace(found, cost=priced.cost, bound=priced.bound)
        return InfeasibleError.one("protection", found.sentence(self.risk), found.remedy)

    def _tried(self, risk: Risk, method: Suppress) -> Protection | None:
        """Return what a short search finds for another risk, None where it finds nothing."""
        least, most = self.parameters.explaining_seconds
        call = self.call.shortly(min(most, max(least, self.call.clock.left)))
        try:
            return _Work(risk, method, call, explain=False).protection()
        except CelosiaError:
            return None


def _elsewhere(
    problem: ProtectionProblem,
    tree: str,
    time_limit: float,
    gap: float,
    rows: Sequence[Cut],
    known: tuple[list[Cut], list[Cut]],
    seed: int,
    parameters: EngineParameters,
) -> Outcome:
    """Return the outcome of a search that runs in another thread or process."""
    clock = Clock(None if math.isinf(time_limit) else time_limit)
    with deadline.before(clock):
        search = BranchAndCut(
            problem, backends()[0], backend_named(tree), clock, rows=rows, seed=seed, parameters=parameters
        )
        search.learn(*known)
        with contextlib.suppress(deadline.DeadlineError):
            search.run(gap)
    return search.outcome()


def _components(problem: ProtectionProblem) -> list[tuple[ProtectionProblem, NDArray[np.int64]]]:
    """Return the connected parts of a problem that have goals, with their columns."""
    parts = parts_of(problem.system(np.arange(len(problem))))
    component = parts.component[problem.goals.columns]
    found = []
    for number in np.unique(component[component >= 0]).tolist():
        columns = np.sort(parts.members(number))
        found.append((problem.part(columns, np.flatnonzero(component == number)), columns))
    return found
