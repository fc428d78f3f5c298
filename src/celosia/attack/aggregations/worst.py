"""The most sensitive aggregation of a release: what respondents can compute, and come too close by."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from fractions import Fraction

import numpy as np

from celosia.arguments import takes
from celosia.attack.aggregations.criterion import Aggregation, aggregation_of, worst_pair
from celosia.attack.aggregations.search import AggregationSearch
from celosia.attack.protected import Protected, check_release
from celosia.attack.respondents.coalitions import CoalitionSearch
from celosia.attack.respondents.pairs import Numbers, Pairs
from celosia.attack.respondents.problem import RespondentProblem, respondent_problem
from celosia.attack.respondents.targets import find_targets
from celosia.errors import DataError, OutOfTimeError, SolverError, SpecError, pluralise
from celosia.kernels import compile_kernels
from celosia.pattern.entries import HIDDEN, SHOWN
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import Release
from celosia.progress import SILENT, Progress
from celosia.risk.respondents.knowledge import Knowledge, Respondents, respondents_of
from celosia.risk.risk import Risk
from celosia.risk.rules.contributor_rules import PPercent, PriorPosterior, Ties
from celosia.solve import deadline
from celosia.solve.backend import Capability
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends
from celosia.table.table import Table

_FAST = "Use celosia.audit_respondents."
_FOR_THE_AUDIT = 0.7  # of the time: the rest is for the search among the targets that it leaves open


@takes(release=(Protected, Release, Pattern), risk=(Risk, Table), rule=(PPercent, PriorPosterior))
def worst_aggregation(
    release: Release | Pattern | Protected,
    risk: Risk | Table | None = None,
    *,
    rule: PPercent | PriorPosterior,
    ties: Ties = "safe",
    attacker: Numbers = None,
    target: Numbers = None,
    solver: str | None = None,
    time_limit: float | None = 60,
    progress: Progress = SILENT,
) -> Aggregation | None:
    r"""Return the most sensitive aggregation of hidden cells; None where it is proved that none is sensitive.

    Most sensitive is the one with the largest excess :math:`p X^t - q \sum_{r \ne s,t} X^r`, scaled so that the cell in
    which the target counts most has the coefficient one. Leaf cells that are shown are aggregations by themselves.

    Guarantee: what comes back is an aggregation in exact arithmetic, and sensitive. None comes back only after a table
    in whole numbers has been found for every target (`celosia.audit_respondents`): where time does not suffice for
    that, there is an error. Where time was up before it was known whether another one is worse, `Aggregation.worst` is
    False.

    The programme of the paper, (6.6)-(6.18), looks for it among all pairs at once, with multipliers up to one. Its
    Theorem 3 calls a table safe when the optimum is negative; but multipliers of zero are feasible with the value zero,
    so that it never is. Here the excess must be above zero, or zero where ties count.

    Parameters
    ----------
    release
        What is published: cells are shown or hidden.
    risk
        The table, or its risk; the result of a protection brings its own.
    rule
        What respondents know, and how close they may come.
    ties
        What an aggregation is in which an attacker comes exactly as close as he may; sensitive in any case where the
        rule says so.
    attacker, target
        Anonymous numbers, one or several, to look at these alone: the reduced model at the end of section 6. What comes
        back is then about them, and so is None.
    solver
        One that solves mixed-integer programs.
    time_limit
        Seconds; None for no limit.
    progress
        Hears about targets.

    Raises
    ------
    SpecError
        The release shows ranges or other numbers that are not true values; coalitions; unknown numbers.
    OutOfTimeError
        Time was up before a sensitive aggregation was found, or before it was proved that there is none.
    SolverError
        A respondent is exposed, but by less than the solver's tolerance.
    """
    table, release = check_release(release, risk)
    ties = "sensitive" if rule.ties == "sensitive" else ties
    knowledge = Knowledge.of(replace(rule, ties="safe"))
    respondents = _check_respondents(table, release, knowledge)
    pairs = Pairs.of(attacker, target)
    respondents = pairs.narrow(respondents)
    attackers, targets = pairs.find_attackers(respondents), pairs.find_targets(respondents)
    backend = backend_named(solver) if solver else backends(Capability.MIP)[0]
    compile_kernels(progress, "celosia.attack")
    clock = Clock(time_limit)
    stricter = knowledge.with_larger_p() if ties == "sensitive" else knowledge
    problem = respondent_problem(
        table, release, respondents, stricter, backend, clock.share(_FOR_THE_AUDIT), attackers=attackers
    )
    exposed, unjudged = _find_exposed(problem, progress)
    found = _worst_shown(table, release, respondents, knowledge, ties, attackers, targets)

    def offer(weights: dict[int, Fraction], of: int) -> Aggregation | None:
        return aggregation_of(table, weights, respondents, knowledge, ties, attackers, (of,))

    hidden = AggregationSearch(table, release.status == HIDDEN, respondents, knowledge, backend, clock)
    searched = hidden.search(sorted(exposed), attackers, offer)
    if found is None or (searched.best is not None and searched.best.excess > found.excess):
        found = searched.best
    if found is not None:
        return replace(found, worst=searched.settled and not unjudged)
    if unjudged or searched.late:
        _refuse_for_time(respondents, exposed, unjudged)
    if not searched.settled:
        message = f"{pluralise(len(exposed), respondents.kind)} exposed by less than the solver can tell from nothing."
        raise SolverError.one("release", message, f"Another solver may find the aggregation. {_FAST}")
    return None


def _check_respondents(table: Table, release: Release, knowledge: Knowledge) -> Respondents:
    """Return the respondents of a table; refuse rules and releases for which aggregations are not defined."""
    if knowledge.coalition > 1:
        raise SpecError.one("rule", "is about coalitions, aggregations are not.", _FAST)
    if knowledge.least:
        raise SpecError.one("rule", "names no p, by which aggregations are compared.", _FAST)
    if not set(np.unique(release.status).tolist()) <= {SHOWN, HIDDEN}:
        raise SpecError.one("release", "is no suppression pattern.", _FAST)
    respondents = respondents_of(table, knowledge.by)
    if respondents.leaves.max() >= len(table):
        message = "stand in several leaf cells each, of linked tables, whose aggregations are not searched."
        raise DataError.one("contributions", message, _FAST)
    if respondents.protected.nnz < respondents.sizes.nnz:
        raise SpecError.one("contributions", "are waived in part, which aggregations do not know.", _FAST)
    return respondents


def _refuse_for_time(respondents: Respondents, exposed: set[int], unjudged: int) -> None:
    said = f"{pluralise(len(exposed), respondents.kind)} exposed, " if exposed else ""
    message = f"was reached before it was known whether an aggregation is sensitive: {said}"
    message += f"{pluralise(unjudged, 'target')} not judged." if unjudged else "the worst of them not found."
    raise OutOfTimeError.one("time_limit", message, f"Allow more time. {_FAST}")


def _find_exposed(problem: RespondentProblem, progress: Progress) -> tuple[set[int], int]:
    """Return the places of exposed targets, and how many targets were not judged in time."""
    groups = find_targets(problem, 1)
    search = CoalitionSearch(problem, 1, 1)
    unjudged = 0
    progress.start("attacking respondents", len(groups))
    with deadline.before(deadline.Until(lambda: problem.clock.left)):
        for group in groups:
            unjudged += not search.attack(group)
            progress.advance(1)
    progress.done()
    return {one.target for one in search.found}, unjudged


def _worst_shown(
    table: Table,
    release: Release,
    respondents: Respondents,
    knowledge: Knowledge,
    ties: Ties,
    attackers: frozenset[int] | None,
    targets: frozenset[int] | None,
) -> Aggregation | None:
    """Return the most sensitive leaf cell that is shown (5.3)."""
    sizes, worst, everybody = respondents.sizes, (-1, -1), range(len(respondents))
    for leaf in np.flatnonzero(release.status[respondents.leaves] == SHOWN).tolist():
        part = slice(sizes.indptr[leaf], sizes.indptr[leaf + 1])
        own = dict(zip(sizes.indices[part].tolist(), sizes.data[part].tolist(), strict=True))
        inside = [place for place in own if targets is None or place in targets]
        # Whoever attacks without contributing here takes nothing away.
        elsewhere = next((place for place in (everybody if attackers is None else attackers) if place not in own), None)
        who = [place for place in own if attackers is None or place in attackers]
        who += [] if elsewhere is None else [elsewhere]
        pair = worst_pair(defaultdict(int, own), who, inside, knowledge)
        if pair is not None:
            others = sum(own.values()) - own[pair[1]] - own.get(pair[0], 0)
            worst = max(worst, (knowledge.p * own[pair[1]] - knowledge.q * others, leaf))
    if worst[0] < 0:
        return None
    cell = int(respondents.leaves[worst[1]])
    return aggregation_of(table, {cell: Fraction(1)}, respondents, knowledge, ties, attackers, targets)
