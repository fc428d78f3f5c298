r"""The audit of respondents: who comes too close to whom, using what he contributes himself.

The criterion is that of Daalmans and de Waal (2010): no aggregation of hidden cells may be sensitive. For a target t
that contributes to one leaf cell :math:`i_0` it is a linear program for every coalition S (its dual is the search for
the aggregation, with :math:`\lambda_{i_0} = 1`): within

.. math:: |y_l| \le q \sum_{r \notin S} |x_l^r| \quad (l \ne i_0), \qquad M y = 0

and what is published, cell :math:`i_0` must be able to move by :math:`p\,|x^t| - q \sum_{r \notin S, r \ne t}
|x_{i_0}^r|`, up and down. Of the many coalitions few need a program: a table that proves t safe against one proves him
safe against all that take no more than it leaves (`celosia.attack.respondents.targets`), and of those who contribute to
one leaf only the largest matter.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from celosia.arguments import takes
from celosia.attack.protected import Protected, check_release
from celosia.attack.respondents.coalitions import CoalitionSearch
from celosia.attack.respondents.findings import RespondentAudit as RespondentAudit
from celosia.attack.respondents.findings import RuleAudit, TargetProof
from celosia.attack.respondents.linked import open_joint_cells
from celosia.attack.respondents.pairs import Numbers, Pairs
from celosia.attack.respondents.problem import respondent_problem
from celosia.attack.respondents.targets import Target, find_targets
from celosia.errors import SpecError
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import Release
from celosia.progress import SILENT, Progress
from celosia.risk.respondents.rules import Criterion, as_rules, criteria_of
from celosia.risk.risk import Risk
from celosia.risk.rules.contributor_rules import RespondentRule, Ties
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends
from celosia.table.table import Table

if TYPE_CHECKING:
    from celosia.attack.subproblems.proposals import ProposedWitnesses


@takes(release=(Protected, Release, Pattern), risk=(Risk, Table))
def audit_respondents(
    release: Release | Pattern | Protected,
    risk: Risk | Table | None = None,
    *,
    rule: RespondentRule | Sequence[RespondentRule] | None = None,
    criteria: tuple[Criterion, ...] | None = None,
    ties: Ties = "safe",
    again: RespondentAudit | None = None,
    most: int | None = None,
    attacker: Numbers = None,
    target: Numbers = None,
    prove: bool = False,
    solver: str | None = None,
    clock: Clock | None = None,
    progress: Progress = SILENT,
    proposed: ProposedWitnesses | None = None,
) -> RespondentAudit:
    """Return who comes too close to whom: every coalition of contributors against every other contributor.

    Of a selection of attackers or targets it is the reduced model of Daalmans and de Waal (2010, section 6), and its
    verdict is about these pairs alone.

    A contribution to linked tables, tabulated together, is one unknown, in a joint cell that nobody publishes
    (`celosia.risk.respondents.joint`); cells of attackers and targets are these.

    Guarantee: a target is called safe from a coalition only with a table in whole numbers that satisfies every
    relation, agrees with everything published, with what the coalition contributes and with all other
    contributions within q percent, and in which the target's is p percent off; in both directions, and for every
    combination of them where he contributes to several cells of a component.

    Parameters
    ----------
    release
        What is published: cells that are hidden, ranges, rounded values.
    risk
        The table with single contributions, or its risk; the result of a protection brings its own.
    rule
        What respondents know, how close they may come, how many work together, and whether respondents or holdings do:
        `PPercent` or `PriorPosterior`; by `MinFrequency` and `Dominance` no respondent may compute another's
        contribution exactly. Of several all hold. By default the rules of the risk.
    criteria
        What these rules ask of the contributors of the table, where that is known from another audit.
    ties
        ``safe``: as each rule says, by default that it is enough to be kept exactly p percent away; ``sensitive``: by
        no rule it is, as in the paper. Then contributions must be further off than p by a ten-thousandth of its last
        decimal.
    again
        An audit by the same rules: only those whom it found exposed, or did not judge, are attacked again. By default
        all.
    most
        Stop the search for a target when this number of coalitions come too close to it.
    attacker, target
        Anonymous numbers, one or several, to look at these alone; by default at all. Coalitions are of attackers. Where
        rules look at holdings they are numbers of holdings (`celosia.contributors`).
    prove
        Keep the tables that show targets safe, for a certificate.
    solver
        The name of a solver; by default the best that is installed.
    clock
        When to stop: targets that are left then are counted, and the release is not called safe.
    progress
        Hears about targets.
    proposed
        Moves of targets' cells that a search has found: they are tried first, and checked as all are.

    Raises
    ------
    SpecError
        The table knows no contributions, the rule does not say what respondents know, or there are no such numbers.
    DataError
        Contributions do not add up, the release does not belong to the table, or somebody's contributions to the
        parts of a sum have opposite signs, so that others know more of him than is judged.
    """
    rules = as_rules(rule) or _own_rules(release, risk)
    table, release = check_release(release, risk)
    criteria = criteria or criteria_of(table, rules)
    table, release = open_joint_cells(table, release)
    pairs = Pairs.of(attacker, target)
    _check_kinds(criteria, pairs)
    backend = backend_named(solver) if solver else backends()[0]
    when = clock or Clock(None)
    parts = []
    for place, one in enumerate(criteria):
        suspected = None if again is None else again.parts[place].suspected
        part = _audit_rule(
            table, release, one, ties, suspected, most, pairs, backend, when, progress, proposed, prove=prove
        )
        parts.append(part)
    return RespondentAudit(rules, tuple(parts), pairs)


def _check_kinds(criteria: Sequence[Criterion], pairs: Pairs) -> None:
    """Refuse numbers where some rules look at respondents and others at holdings."""
    if not pairs.all and len({one.respondents.kind for one in criteria}) > 1:
        name = "attacker" if pairs.attackers is not None else "target"
        message = "is not known: some rules look at respondents, others at holdings, whose numbers are others."
        raise SpecError.one(name, message, "Audit one rule at a time.")


def _audit_rule(
    table: Table,
    release: Release,
    one: Criterion,
    ties: Ties,
    targets: Collection[int] | None,
    most: int | None,
    pairs: Pairs,
    backend: Backend,
    clock: Clock,
    progress: Progress,
    proposed: ProposedWitnesses | None,
    *,
    prove: bool,
) -> RuleAudit:
    """Return who comes too close to whom by one rule; of some targets, where they are given."""
    people = pairs.narrow(one.respondents)
    knowledge = one.knowledge.with_larger_p() if ties == "sensitive" else one.knowledge
    attackers = pairs.find_attackers(people)
    problem = respondent_problem(table, release, people, knowledge, backend, clock, proposed, attackers, keep=prove)
    groups = find_targets(problem, knowledge.coalition)
    search = CoalitionSearch(problem, min(knowledge.coalition, len(people) - 1), most)
    progress.start("attacking respondents", len(groups))
    wanted = None if targets is None else set(np.flatnonzero(np.isin(people.numbers, list(targets))).tolist())
    unjudged: list[list[Target]] = []
    for group in groups:
        asked = wanted is None or not wanted.isdisjoint(target.place for target in group)
        if asked and not search.attack(group):
            unjudged.append(group)
        progress.advance(1)
    progress.done()
    found = sorted(search.found, key=lambda pair: (pair.target, pair.cells, pair.attackers))
    return RuleAudit(
        *(table, release, one.rule, people, knowledge, tuple(found)),
        targets=len(groups),
        pairs=search.pairs,
        programs=search.programs,
        unjudged=len(unjudged),
        left=tuple(sorted({int(people.numbers[target.place]) for group in unjudged for target in group})),
        proofs=tuple(TargetProof(*key, tuple(covers)) for key, covers in (problem.kept or {}).items()),
        system=problem.system if prove else None,
    )


def _own_rules(release: Release | Pattern | Protected, risk: Risk | Table | None) -> tuple[RespondentRule, ...]:
    """Return the rules by which a risk protects respondents."""
    own = risk if isinstance(release, Release | Pattern) or risk is not None else release.risk
    return own.respondents if isinstance(own, Risk) else ()
