"""The verb: from a risk to a pattern that is safe, as cheap as time allows, with a bound."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import MET, Audit, audit
from celosia.attack.parts import parts_of
from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError, SolverError, SpecError, counted, listed
from celosia.pattern.pattern import Pattern
from celosia.progress import SILENT, Progress
from celosia.protect.conflict import conflict_of, freed
from celosia.protect.cuts import Cut
from celosia.protect.protection import Protection
from celosia.protect.search import Search
from celosia.protect.standing import Outcome
from celosia.protect.suppress import Suppress
from celosia.protect.task import Task, task_of
from celosia.protect.warm_up import warm_up
from celosia.risk.risk import HIDE, SENSITIVE, Risk
from celosia.solve.backend import Backend, Capability
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends

_SHORTEST, _SHORT = 1.0, 5.0
"""Seconds to find out which cells to free, and again what freeing them costs: as many as are left, within these."""


def protect(
    risk: Risk,
    method: Suppress | None = None,
    *,
    time_limit: float | None = None,
    gap: float = 0.0,
    solver: str | None = None,
    seed: int = 0,
    integer: bool | None = None,
    executor: Executor | None = None,
    progress: Progress = SILENT,
) -> Protection:
    """Return a safe pattern with its cost and a bound on what any safe pattern costs.

    Guarantee: the pattern has passed `celosia.audit`, whatever the search believes; without one that has, an error is
    raised. Ctrl-C and the time limit end the search with the best safe pattern so far. Unless they do, the same risk,
    method, seed and versions give the same pattern, with any number of workers.

    Parameters
    ----------
    risk
        The table with its sensitive cells, who attacks, and what hiding costs.
    method
        How to protect; by default complete suppression.
    time_limit
        Seconds for the search.
    gap
        End when the cost is within this share of the bound.
    solver
        ``scip`` or ``highs``; by default the best that is installed.
    seed
        Another seed, another path through the search.
    integer
        Attackers know that values are whole numbers; by default where all variables are counts.
    executor
        Shares out the components of the problem.
    progress
        Hears of every better pattern and bound.

    Raises
    ------
    SpecError
        The wishes contradict themselves or each other.
    InfeasibleError
        No safe pattern exists, with the cells that stand in the way.
    OutOfTimeError
        Time was up before a safe pattern was known.
    """
    _check(time_limit, gap)
    warm_up()
    clock = Clock(time_limit)
    method = method or Suppress()
    asked = method.applied(risk)
    whole = integer if integer is not None else set(risk.table.variables) <= risk.table.counts
    _refuse_levels_that_nobody_meets(asked)
    work = _Work(asked, method, _solver(solver), clock, gap, seed, progress, integer=whole)
    progress.start("protecting")
    try:
        return work.protection(executor)
    finally:
        progress.done()


def protect_again(protection: Protection, method: Suppress, time_limit: float) -> Protection | None:
    """Return the protection of the same risk with other wishes, None where there is no safe pattern.

    Raises
    ------
    OutOfTimeError
        Time was up before a safe pattern was known.
    """
    tree = backend_named(protection.solver.split()[0])
    risk = method.applied(protection.risk)
    whole = protection.audit.integer
    work = _Work(risk, method, tree, Clock(time_limit), 0.0, protection.seed, SILENT, integer=whole, explain=False)
    try:
        return work.protection(None)
    except InfeasibleError:
        return None


def _check(time_limit: float | None, gap: float) -> None:
    if time_limit is not None and not time_limit > 0:
        raise SpecError.one(
            "time_limit", f"must be above zero, not {time_limit}.", "It is in seconds; leave it out for none."
        )
    if not 0 <= gap <= 1:
        raise SpecError.one(
            "gap", f"must lie between 0 and 1, not {gap}.", "0.01 ends within one percent of the bound."
        )


def _solver(name: str | None) -> Backend:
    """Return the solver of masters with whole numbers."""
    if name is not None:
        return backend_named(name)
    lazy = backends(Capability.MIP | Capability.LAZY)
    return lazy[0] if lazy else backends(Capability.MIP)[0]


def _refuse_levels_that_nobody_meets(risk: Risk) -> None:
    """Refuse sensitive cells without a level, and levels beyond what an attacker knows anyway."""
    required = risk.requirements
    bare = [wanted.cell for wanted in required if not (wanted.lower or wanted.upper or wanted.sliding)]
    if bare:
        labels = listed([risk.table.label(cell) for cell in sorted(set(bare))])
        raise SpecError.one("levels", f"are all zero for sensitive cells: {labels}.", "Give each a level above zero.")
    beyond: dict[int, str] = {}
    for wanted in required:
        truth = risk.table.amounts.fraction(wanted.cell)
        lower, upper = risk.attackers[wanted.attacker].bounds(wanted.cell)
        up = None if upper is None else upper - truth
        down = None if lower is None else truth - lower
        narrow = up is not None and down is not None and up + down < wanted.sliding
        if narrow or (up is not None and up < wanted.upper) or (down is not None and down < wanted.lower):
            beyond.setdefault(wanted.cell, risk.attackers[wanted.attacker].name)
    if beyond:
        labels = listed([f"{risk.table.label(cell)} (attacker {name!r})" for cell, name in beyond.items()])
        raise InfeasibleError.one(
            "levels",
            f"lie beyond what attackers know already: {labels}.",
            "Lower the levels, or widen the attackers' bounds.",
        )


@dataclass(eq=False)
class _Work:
    """One protection at work: its searches, and what they have told so far."""

    risk: Risk
    method: Suppress
    tree: Backend
    clock: Clock
    gap: float
    seed: int
    progress: Progress
    integer: bool
    explain: bool = True
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)
    searches: list[tuple[Search, NDArray[np.int64]]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def task(self) -> Task:
        """What is to be done; cells that could never keep their width if they were hidden are shown."""
        task = task_of(self.risk, widths=self.method.widths, integer=self.integer)
        shown = np.zeros(len(task), dtype=bool)
        shown[task.goals.columns[task.beyond]] = True
        shown &= ~task.forced
        if not bool(shown.any()):
            return task
        return task.part(np.flatnonzero(~shown), np.flatnonzero(~shown[task.goals.columns]))

    def protection(self, executor: Executor | None) -> Protection:
        """Return the best pattern that passes the audit."""
        task = self.task
        rows = self.rows
        parts = [(task, np.arange(len(task)))] if rows else _components(task)
        self._refuse_cells_that_follow(task, parts)
        self.searches = [
            (Search(part, backends()[0], self.tree, self.clock, self._listen, rows, self.seed), columns)
            for part, columns in parts
        ]
        while True:
            self._search(executor)
            found = self._hidden()
            if found is None:
                raise self._failure()
            try:
                checked = self._audited(found)
            except KeyboardInterrupt:
                self.clock.stop()
                checked = self._audited(found)
            if checked.safe:
                return self._result(checked)
            self._forbid(checked)

    def _search(self, executor: Executor | None) -> None:
        """Let every search run; one after the other they leave the rest its share of the time."""
        todo = [search for search, _ in self.searches if not (search.done or search.exhausted)]
        try:
            if executor is not None:
                jobs = [
                    (search.task, self.tree.name, self.clock.left, self.gap, self.rows, search.known, self.seed)
                    for search in todo
                ]
                for search, found in zip(todo, executor.map(_elsewhere, *zip(*jobs, strict=True)), strict=True):
                    search.adopt(found)
                return
            for k, search in enumerate(todo):
                left = sum(len(other.task) for other in todo[k:])
                search.run(self.gap, self.clock.left * len(search.task) / left)
        except KeyboardInterrupt:
            self._finish_first_patterns(todo)

    def _finish_first_patterns(self, searches: list[Search]) -> None:
        """After Ctrl-C give searches that have no pattern yet the chance of a quick one."""
        self.clock.stop()
        for search in searches:
            if search.pattern is None:
                search.any_pattern()

    def _hidden(self) -> NDArray[np.bool_] | None:
        """Return which columns of the task are hidden, None where a search has no pattern."""
        hidden = self.task.forced.copy()
        for search, columns in self.searches:
            if search.pattern is None:
                return None
            hidden[columns] |= search.pattern
        return hidden

    def _audited(self, hidden: NDArray[np.bool_]) -> Audit:
        mask = np.zeros(len(self.risk), dtype=bool)
        mask[self.task.cells[hidden]] = True
        mask |= np.isin(self.risk.status, (SENSITIVE, HIDE))
        risk = self.method.conditional(self.risk, mask)
        return audit(Pattern.suppressing(self.risk.table, mask), risk, integer=self.integer)

    def _forbid(self, checked: Audit) -> None:
        """Tell the searches that their patterns are not safe: then none that hides less is, either.

        The search believes doubles, the audit does not. Where the audit could not decide, no bound rests on this.
        """
        cells = {verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET}
        proved = all(verdict.finding.exact for verdict in checked.verdicts if verdict.result != MET)
        columns = np.flatnonzero(np.isin(self.task.cells, list(cells)))
        hit = [(search, own) for search, own in self.searches if np.isin(own, columns).any()]
        if not hit:
            raise SolverError.one("audit", "refutes a pattern that no search made.", "Report this.")
        for search, own in hit:
            search.forbid(np.flatnonzero(np.isin(own, columns)), proved=proved)

    @cached_property
    def _outside(self) -> float:
        """What cells cost that are hidden in any case, and of which no search knows."""
        forced = math.fsum(self.risk.cost[np.isin(self.risk.status, (SENSITIVE, HIDE))].tolist())
        return forced - math.fsum(search.base for search, _ in self.searches)

    def _result(self, checked: Audit) -> Protection:
        cost = math.fsum(self.risk.cost[checked.release.status != "shown"].tolist())
        bound = self._outside + math.fsum(search.bound for search, _ in self.searches)
        done = all(search.done for search, _ in self.searches)
        return Protection(
            risk=self.risk,
            method=self.method,
            pattern=Pattern.suppressing(self.risk.table, checked.release.status != "shown"),
            cost=cost,
            bound=cost if done else min(bound, cost),
            audit=checked,
            seconds=self.clock.seconds,
            solver=f"{self.tree.name} {self.tree.version}",
            trace=tuple(self.trace),
            seed=self.seed,
        )

    def _listen(self, _search: Search) -> None:
        """Note how far all searches together have come."""
        with self._lock:
            searches = [search for search, _ in self.searches]
            cost = self._outside + sum(search.cost for search in searches)
            bound = self._outside + sum(search.bound for search in searches)
            cuts = sum(len(search.pool.cuts) for search in searches)
            self.trace.append((self.clock.seconds, cost if math.isfinite(cost) else None, bound, cuts))
            self.progress.search(cost if math.isfinite(cost) else None, bound, cuts)

    @cached_property
    def rows(self) -> list[Cut]:
        """Further rows of the master: at most so many cells are hidden."""
        if self.method.at_most is None:
            return []
        free = np.flatnonzero(~self.task.forced)
        left = self.method.at_most - int(np.isin(self.risk.status, (SENSITIVE, HIDE)).sum())
        if left < 0:
            raise InfeasibleError.one(
                "at_most",
                f"is {self.method.at_most}, but {counted(self.method.at_most - left, 'cell')} must be hidden.",
            )
        return [Cut(free, -np.ones(len(free)), -float(left))]

    def _refuse_cells_that_follow(self, task: Task, parts: Sequence[tuple[Task, NDArray[np.int64]]]) -> None:
        """Refuse sensitive cells that follow from cells that must be shown, whatever else is hidden."""
        reached = np.zeros(len(task), dtype=bool)
        for _, columns in parts:
            reached[columns] = True
        hopeless = ~reached[task.goals.columns] | task.beyond
        if bool((hopeless & task.forced[task.goals.columns]).any()):
            raise self._refusal()

    def _failure(self) -> CelosiaError:
        if any(search.impossible for search, _ in self.searches):
            return self._refusal()
        return OutOfTimeError.one("time_limit", "was reached before a safe pattern was known.", "Allow more time.")

    def _refusal(self) -> CelosiaError:
        """Return why nothing is safe, what would have to be freed, and what that costs."""
        if not self.explain:
            return InfeasibleError.one("protection", "is impossible.")

        def hiding(risk: Risk) -> NDArray[np.bool_] | None:
            found = self._tried(risk, replace(self.method, at_most=None))
            return None if found is None else found.pattern.status != "shown"

        found = conflict_of(self.risk, self.method, hiding, integer=self.integer)
        priced = self._tried(freed(self.risk, found), self.method) if len(found.shown) else None
        if priced is not None:
            found = replace(found, cost=priced.cost, bound=priced.bound)
        return InfeasibleError.one("protection", found.sentence(self.risk), found.remedy)

    def _tried(self, risk: Risk, method: Suppress) -> Protection | None:
        """Return what a short search finds for another risk, None where it finds nothing."""
        clock = Clock(min(_SHORT, max(_SHORTEST, self.clock.left)))
        work = _Work(risk, method, self.tree, clock, 0.0, self.seed, SILENT, integer=self.integer, explain=False)
        try:
            return work.protection(None)
        except CelosiaError:
            return None


def _elsewhere(
    task: Task,
    tree: str,
    time_limit: float,
    gap: float,
    rows: Sequence[Cut],
    known: tuple[list[Cut], list[Cut]],
    seed: int,
) -> Outcome:
    """Return the outcome of a search that runs in another thread or process."""
    clock = Clock(None if math.isinf(time_limit) else time_limit)
    search = Search(task, backends()[0], backend_named(tree), clock, lambda _: None, rows, seed)
    search.learn(*known)
    search.run(gap)
    return search.outcome()


def _components(task: Task) -> list[tuple[Task, NDArray[np.int64]]]:
    """Return the connected parts of a task that have goals, with their columns."""
    parts = parts_of(task.system(np.arange(len(task))))
    component = parts.component[task.goals.columns]
    found = []
    for number in np.unique(component[component >= 0]).tolist():
        columns = np.sort(parts.members(number))
        found.append((task.part(columns, np.flatnonzero(component == number)), columns))
    return found
