"""By which rules contributors are kept from each other, and why they are not where they are not.

All p% and prior-posterior rules of an assessment hold for respondents, too: they are not ordered, since a smaller p may
come with a larger coalition or a smaller q. Frequency and dominance rules require that no respondent computes another's
contribution exactly.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, SpecError
from celosia.risk.respondents.contributions import numbers_of, single_contributions
from celosia.risk.respondents.joint import add_joint_cells
from celosia.risk.respondents.knowledge import (
    FEWEST,
    Knowledge,
    Respondents,
    kind_of,
    respondents_of,
)
from celosia.risk.respondents.leaf_sums import leaf_sums
from celosia.risk.respondents.opposite_signs import have_opposite_signs
from celosia.risk.respondents.sums import leave_out_sums, leaves_are_independent
from celosia.risk.rules.contributor_rules import Dominance, MinFrequency, PPercent, PriorPosterior, RespondentRule
from celosia.table.statistics import Statistics
from celosia.table.table import Table

NAMED_WITHOUT = "the attackers were named one by one"
OPPOSITE_SIGNS = (
    "somebody contributes a gain to one part of a sum and a loss to another, so that others who know the sum know more "
    "than what is judged"
)
LEFT_OUT = "they were left out on request"
NO_RULE = "no p%, prior-posterior, frequency or dominance rule says how close they may come"


@dataclass(frozen=True, slots=True)
class RespondentRules:
    """Whether contributors attack each other.

    Parameters
    ----------
    rules
        How close they may come, and what they know; all of these hold.
    reason
        Why they do not attack, a clause; empty where they do.
    """

    rules: tuple[RespondentRule, ...]
    reason: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Criterion:
    """One rule on the contributors of a table. Confidential.

    Parameters
    ----------
    rule, knowledge
        How close they may come, and what they know.
    respondents
        Who they are. A respondent whom another rule protects at least as much is not to be protected by this one.
    """

    rule: RespondentRule
    knowledge: Knowledge
    respondents: Respondents


def rules_of_respondents(rules: Iterable[object]) -> tuple[RespondentRule, ...]:
    """Return the rules that say how close contributors may come to each other."""
    known = (rule for rule in rules if isinstance(rule, PPercent | PriorPosterior | MinFrequency | Dominance))
    return tuple(rule for rule in known if not isinstance(rule, MinFrequency) or rule.n > 1)  # one is always there


def as_rules(said: RespondentRule | Sequence[RespondentRule] | None) -> tuple[RespondentRule, ...]:
    """Return rules that were given as one, several or none.

    Raises
    ------
    SpecError
        One of them does not say what respondents know.
    """
    rules = () if said is None else tuple(said) if isinstance(said, Sequence) else (said,)
    for rule in rules:
        Knowledge.of(rule)
    return rules


def default_rules(table: Table, rules: Iterable[object]) -> RespondentRules:
    """Return the rules by which contributors are kept from each other by default.

    They attack where single contributions are known and are what the rules look at: not with sampling weights or a
    shadow variable, in tables of counts, of a single contributor, or where a contribution stands in several leaf cells
    and it is not known in which (tables that were linked later, variables with relations other than that one is the sum
    of others), nor where somebody's contributions to the parts of a sum have opposite signs.
    """
    known = rules_of_respondents(rules)
    reason = NO_RULE if not known else next(_obstacles(table, known), "")
    if reason:
        return RespondentRules((), reason)
    several = tuple(rule for rule in known if _are_several(table, rule))  # one alone has no target
    return RespondentRules(several) if several else RespondentRules((), "there is only one contributor")


def _are_several(table: Table, rule: RespondentRule) -> bool:
    """Return whether a rule looks at two contributors or more."""
    said = table.contributions
    return said is not None and len(np.unique(numbers_of(said, kind_of(said, rule.by)))) >= FEWEST


def _obstacles(table: Table, rules: Sequence[RespondentRule]) -> Iterator[str]:
    """Yield why the contributors of a table cannot attack, nothing where they can."""
    said, found = table.contributions, table.statistics
    if set(table.variables) <= table.counts:
        yield "the table counts contributors, who contribute no amounts"
    if found is not None and _is_weighted(found):
        yield "the values are weighted by a sample, and the rules say nothing about that"
    if found is not None and found.shadow is not None:
        yield "the rules look at a shadow variable, and not at what is published"
    if said is None:
        yield "the table does not know single contributions"
        return
    if table.counts:
        yield "counts are linked to the amounts"
    try:
        split = leave_out_sums(add_joint_cells(table))
        independent = leaves_are_independent(split, leaf_sums(split, single_contributions(split)))
    except DataError:
        yield "the contributions to some cells are not known"
    else:
        if not independent:
            yield "a contribution stands in several leaf cells (linked tables, or variables that do not simply add up)"
        elif any(have_opposite_signs(table, kind) for kind in sorted({kind_of(said, rule.by) for rule in rules})):
            yield OPPOSITE_SIGNS


def _is_weighted(found: Statistics) -> bool:
    own = found.respondents
    return not (np.array_equal(own.weighted, own.largest) and np.array_equal(found.weighted_records, found.records))


def criteria_of(table: Table, rules: Sequence[RespondentRule]) -> tuple[Criterion, ...]:
    """Return what the rules ask of the contributors of a table, without what another of them asks anyway.

    Guarantee: a release that meets all of these meets all rules, and the other way round.

    Raises
    ------
    SpecError, DataError
        The table does not know its contributors, or what is known of them contradicts itself.
    """
    if not rules:
        raise SpecError.one("rule", "is missing.", "Say what respondents know: rule=PPercent(10), for instance.")
    every = [
        Criterion(rule, knowledge, respondents_of(table, knowledge.by))
        for rule, knowledge in ((rule, Knowledge.of(rule)) for rule in rules)
    ]
    kept: list[Criterion] = []
    for place, one in enumerate(every):
        left = np.ones(len(one.respondents), dtype=bool)
        for other_place, other in enumerate(every):
            if other_place != place and other.respondents.kind == one.respondents.kind:
                covered = _find_covered(other, one)
                if other_place < place or not bool(
                    _find_covered(one, other).all()
                ):  # of two equal ones the first stays
                    left &= ~covered
        if bool(left.all()):
            kept.append(one)
        elif bool(left.any()):
            kept.append(Criterion(one.rule, one.knowledge, one.respondents.protect_only(left)))
    return tuple(kept)


def _find_covered(by: Criterion, one: Criterion) -> NDArray[np.bool_]:
    """Return who is protected as one criterion says where another one is met, ``(n,)``."""
    n = len(one.respondents)
    if not by.knowledge.implies(one.knowledge):
        return np.zeros(n, dtype=bool)
    if by.knowledge.least >= one.knowledge.least:
        return np.ones(n, dtype=bool)
    # p percent of a small contribution may be less than the least distance.
    protected = one.respondents.protected.tocoo()
    short = by.knowledge.p * protected.data < one.knowledge.least * by.knowledge.unit
    return ~np.isin(np.arange(n), protected.col[short])
