"""The audit: what every attacker can conclude from a release, and whether that is too much.

Guarantee: a requirement is called met only with two tables in exact numbers that satisfy every relation, agree with
everything published and with what the attacker knows, whole numbers included, and reach the required ends. Where such
tables are not found the verdict is *not shown safe*, whatever a solver says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib import import_module
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.attack.findings import MET, OPEN, Conclusions, Verdicts, judge_requirements, levels_in_counts
from celosia.attack.protected import Protected
from celosia.attack.result import Audit
from celosia.attack.subproblems.dispatch import list_unused_kernels, solve_questions
from celosia.attack.subproblems.proposals import ProposedWitnesses, answer_by_proposals
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.system.decomposition import Parts, decompose_into_networks
from celosia.attack.system.redundancy import find_implied_rows
from celosia.attack.system.system import System, attacker_system
from celosia.errors import DataError, Problems, SpecError
from celosia.kernels import compile_kernels
from celosia.pattern.entries import INTERVAL, SHOWN
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import Release, publish
from celosia.presses import shield_from_presses
from celosia.progress import SILENT, Progress
from celosia.risk.attacker import Attacker
from celosia.risk.requirement import Requirements
from celosia.risk.respondents.rules import NAMED_WITHOUT
from celosia.risk.risk import Risk
from celosia.solve import deadline
from celosia.solve.backend import Backend
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends
from celosia.table.table import find_broken_cells, simplify_integer, whole_cells
from celosia.tolerance import ENDLESS


@takes(release=(Protected, Release, Pattern), risk=Risk)
@deadline.limit_time
@shield_from_presses()  # a protection that is interrupted audits what it has found all the same
def audit(
    release: Release | Pattern | Protected,
    risk: Risk | None = None,
    *,
    attackers: Sequence[Attacker] | None = None,
    intervals: bool = False,
    integer: bool | None = None,
    solver: str | None = None,
    time_limit: float | None = None,  # noqa: ARG001 - see `limited`
    progress: Progress = SILENT,
    executor: Executor | None = None,
    proposed: ProposedWitnesses | None = None,
) -> Audit:
    """Return what attackers can conclude from a release, and whether every requirement is met.

    Parameters
    ----------
    release
        What is published.
    risk
        The table with its sensitive cells and their requirements; the result of a protection brings its own.
    attackers
        Who attacks; by default those of `risk`, with all its requirements, and contributors where it protects them
        from each other: those who come too close are attackers, too, each with a requirement that is missed.
    intervals
        Also compute the interval of every cell that is not shown.
    integer
        Attackers know that values are whole numbers: True for all cells, False for none; by default for the cells of
        variables that count.
    solver
        The name of a solver; by default the best that is installed.
    time_limit
        Seconds for all of it. What is not judged by then is *not shown safe*, never met, and has no interval.
    progress
        Hears about long steps.
    executor
        One of `concurrent.futures`, threads or processes: flows and linear programs are shared out among its workers.
        The result is the same, table by table.
    proposed
        Witnesses of requirements that a search has found. They are checked as all are, and believed as little: a
        requirement for which none is sound is judged as if there were none.

    Raises
    ------
    DataError
        The release does not belong to the table, or an attacker believes what is not true.
    """
    if not isinstance(release, Release | Pattern):
        risk = risk if risk is not None else release.risk
    if risk is None:
        raise SpecError.one("risk", "is missing.", "Say which table the release is about, and what it must protect.")
    if not isinstance(release, Release):
        release = publish(release)
    release.check(risk.table)
    whole = whole_cells(risk.table, integer)
    table, respondents = risk.table, bool(risk.respondents)
    if respondents:
        import_module("celosia.attack.respondents.audit")  # now, so that its kernels are compiled with the others
    compile_kernels(
        progress,
        "celosia.attack",
        spare=lambda: list_unused_kernels(table, whole, respondents=respondents, progress=progress),
    )
    risk, unjudged, exposed = _choose_attackers(release, risk, attackers, solver, progress)
    _check(risk, whole)
    backend = backend_named(solver) if solver else backends()[0]
    wanted, hidden = risk.requirements, np.flatnonzero(release.status != SHOWN)
    judged, seen, systems = [], [], []
    for number, (system, parts) in enumerate(_attacker_systems(release, risk, whole)):
        systems.append(system)
        problem = _AttackerProblem(system, parts, risk, number, backend, progress, executor, proposed)
        own = wanted.take(np.flatnonzero(wanted.attackers == number))
        if intervals:
            endless = np.full(len(hidden), ENDLESS)
            keep = (release.status[hidden] == INTERVAL) | np.isin(hidden, own.cells)
            seen.append(problem.conclude(hidden, endless, endless, keep))
            judged.append(problem.judge_by_intervals(own, seen[-1]))
        else:
            judged.append(problem.judge(own))
    found = Conclusions.join(judged)
    verdicts = Verdicts(wanted, found, judge_requirements(wanted, found, by_distance=release.criterion == "distance"))
    ranges = _keep_answered(Conclusions.join(seen)) if seen else found.take(np.zeros(0, dtype=np.int64))
    name, known = f"{backend.name} {backend.version}", simplify_integer(risk.table, integer)
    return Audit(risk, release, verdicts, ranges, tuple(systems), known, name, unjudged, exposed)


def _choose_attackers(
    release: Release, risk: Risk, attackers: Sequence[Attacker] | None, solver: str | None, progress: Progress
) -> tuple[Risk, int, int]:
    """Return the risk with those who attack, contributors who come too close among them, and how many were not judged.

    Attackers that are named one by one attack alone. In linked tables contributors know joint cells, and no requirement
    on a cell says what they must not know: how many they come too close to is returned last.
    """
    if not (risk.attackers if attackers is None else attackers):
        raise SpecError.one("attackers", "are missing.")
    if attackers is not None:
        own = risk.with_attackers(attackers)
        return replace(own, further=None, respondents=(), unasked=NAMED_WITHOUT), 0, 0
    if not risk.respondents or release.criterion == "distance":
        return risk, 0, 0
    from celosia.attack.respondents.audit import audit_respondents  # noqa: PLC0415 - most audits need none of it
    from celosia.attack.respondents.requirements import add_requirements  # noqa: PLC0415

    contributors = audit_respondents(release, risk, solver=solver, progress=progress)
    if len(contributors.table) > len(risk.table):
        return risk, contributors.unjudged, sum(len(part.exposed) for part in contributors.parts)
    return add_requirements(risk, contributors), contributors.unjudged, 0


def _attacker_systems(release: Release, risk: Risk, whole: NDArray[np.bool_]) -> Iterator[tuple[System, Parts | None]]:
    """Yield the system of every attacker and its components, None where there is no time to solve anything.

    Most attackers differ in bounds alone: with the same unknown cells as the last one, a system has its components.
    """
    relations = risk.table.relations.matrix
    last: tuple[System, Parts] | None = None
    none, redundant = np.zeros(relations.shape[0], dtype=bool), cache(partial(find_implied_rows, relations))
    for attacker in risk.attackers:
        known = [release.bounds(), (attacker.lower, attacker.upper)]
        names = ["release", f"attacker {attacker.name!r}"]
        system = attacker_system(risk.table, known, names=names, whole=whole, redundant=none)
        if deadline.left() <= 0:
            yield system, None
        elif last is not None and _have_same_relations(system, last[0]):
            yield replace(system, implied=last[0].implied), last[1]
        else:
            last = decompose_into_networks(system, redundant)
            yield last


def _have_same_relations(one: System, other: System) -> bool:
    """Return whether two systems of a table have the same unknown cells, counted in the same decimals."""
    return np.array_equal(one.cells, other.cells) and np.array_equal(one.matrix.data, other.matrix.data)


def _keep_answered(seen: Conclusions) -> Conclusions:
    """Return the intervals that were computed in time; for the other cells nothing is known."""
    if deadline.left() > 0:
        return seen
    answered = [answers.furthest | np.asarray(answers.reach > 0, dtype=bool) for answers in (seen.down, seen.up)]
    return seen.take(np.flatnonzero(answered[0] & answered[1]))


def _check(risk: Risk, whole: NDArray[np.bool_]) -> None:
    """Refuse attackers of another table, and whole numbers that are none."""
    found = Problems()
    for attacker in risk.attackers:
        if len(attacker) != len(risk.table):
            message = f"has bounds for {len(attacker)} cells, the table has {len(risk.table)}."
            found.add(f"attacker {attacker.name!r}", message)
    broken = find_broken_cells(risk.table, whole)
    if len(broken):
        values = "the values" if whole.all() else "the counts"
        found.add("integer", f"{values} are not all whole numbers.", "Say integer=False.")
    found.raise_as(DataError)


@dataclass(frozen=True, slots=True, eq=False)
class _AttackerProblem:
    """The problem of one attacker: his system and its components, None where there is no time to solve anything."""

    system: System
    parts: Parts | None
    risk: Risk
    attacker: int
    backend: Backend
    progress: Progress
    executor: Executor | None
    proposed: ProposedWitnesses | None

    def required_reach(self, wanted: Requirements, side: Literal["lower", "upper"]) -> NDArray[np.int64]:
        """Return how far cells must be able to move by their requirements, in counts, ``(k,)``."""
        decimals = self.system.digits_of(wanted.cells)
        level = wanted.lower if side == "lower" else wanted.upper
        return np.maximum(levels_in_counts(level, decimals), levels_in_counts(wanted.sliding, decimals))

    def judge(self, wanted: Requirements) -> Conclusions:
        """Return what the attacker can conclude about the cells of requirements, up to the required reach."""
        if self.proposed is None or not len(wanted):
            return self._judge_by_solving(wanted)
        found = self._judge_by_proposals(wanted, self.proposed)
        met = judge_requirements(wanted, found, by_distance=False) == MET
        if met.all():
            return found
        rest = np.flatnonzero(~met)
        both = Conclusions.join([found.take(np.flatnonzero(met)), self._judge_by_solving(wanted.take(rest))])
        return both.take(np.argsort(np.concatenate([np.flatnonzero(met), rest]), kind="stable"))

    def _judge_by_solving(self, wanted: Requirements) -> Conclusions:
        every = np.ones(len(wanted), dtype=bool)
        return self.conclude(
            wanted.cells, self.required_reach(wanted, "lower"), self.required_reach(wanted, "upper"), every
        )

    def _judge_by_proposals(self, wanted: Requirements, proposed: ProposedWitnesses) -> Conclusions:
        """Return what follows from proposed witnesses alone, each checked in exact arithmetic."""
        return self._ask(
            wanted.cells,
            self.required_reach(wanted, "lower"),
            self.required_reach(wanted, "upper"),
            lambda questions, _: answer_by_proposals(self.system, questions, self.attacker, proposed),
        )

    def judge_by_intervals(self, wanted: Requirements, seen: Conclusions) -> Conclusions:
        """Return the same; known intervals with witnesses that decide a requirement are not computed again."""
        place = np.minimum(np.searchsorted(seen.cells, wanted.cells), max(len(seen) - 1, 0))
        known = np.flatnonzero(seen.cells[place] == wanted.cells) if len(seen) else place[:0]
        found = seen.take(place[known])
        ends = (found.down.reach < ENDLESS) & (found.up.reach < ENDLESS)
        decides = ends & (judge_requirements(wanted.take(known), found, by_distance=False) != OPEN)
        sure = known[decides]
        if len(sure) == len(wanted):
            return found
        rest = np.setdiff1d(np.arange(len(wanted)), sure)
        both = Conclusions.join([found.take(np.flatnonzero(decides)), self.judge(wanted.take(rest))])
        return both.take(np.argsort(np.concatenate([sure, rest]), kind="stable"))

    def conclude(
        self,
        cells: NDArray[np.int64],
        far_down: NDArray[np.int64],
        far_up: NDArray[np.int64],
        keep: NDArray[np.bool_],
    ) -> Conclusions:
        """Return the interval of every cell, up to a reach down and up; with witnesses where `keep` says so."""
        parts = self.parts

        def solve(questions: Questions, unknown: NDArray[np.int64]) -> Answers:
            if parts is None:
                return Answers.of_nothing(len(questions), furthest=False)
            return solve_questions(
                self.system,
                questions,
                self.backend,
                self.progress,
                parts=parts,
                time_limit=None,
                keep=np.tile(keep[unknown], 2),
                executor=self.executor,
            )

        return self._ask(cells, far_down, far_up, solve)

    def _ask(
        self,
        cells: NDArray[np.int64],
        far_down: NDArray[np.int64],
        far_up: NDArray[np.int64],
        answer: Callable[[Questions, NDArray[np.int64]], Answers],
    ) -> Conclusions:
        """Return the interval of every cell as questions about those that are not known are answered."""
        system, n = self.system, len(cells)
        column_of = np.full(system.n_cells, -1, dtype=np.int64)
        column_of[system.cells] = np.arange(len(system))
        unknown = np.flatnonzero(column_of[cells] >= 0)
        upward = np.repeat([False, True], len(unknown))
        limits = np.concatenate([far_down[unknown], far_up[unknown]])
        found = answer(Questions(np.tile(column_of[cells[unknown]], 2), upward, limits), unknown)
        answers = Answers.join([Answers.of_nothing(1, furthest=True), found])  # a known cell does not move
        place = np.zeros((2, n), dtype=np.int64)
        place[:, unknown] = 1 + np.arange(2 * len(unknown)).reshape(2, -1)
        down, up = (answers.take(side) for side in place)  # both with the same witnesses
        who, decimals = np.full(n, self.attacker, dtype=np.int32), system.digits_of(cells)
        return Conclusions(cells, who, self.risk.table.amounts[cells], decimals, down, up)
