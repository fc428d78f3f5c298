"""One attack of respondents, contribution by contribution, in fractions: who is right where doubles disagree.

The unknowns are those of `single_contributions`, and one more: which share of his box's corner the target's errors
reach. All of them can be zero, so the textbook simplex method of `attack_oracle` finds the largest share.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Literal

from tests.oracles import attack_oracle
from tests.oracles.attack_oracle import End
from tests.oracles.single_contributions import leaves_without_contributions, sizes_of

from celosia import Pattern, PPercent, PriorPosterior, Table
from celosia.attack.respondents.findings import RuleAudit
from celosia.risk.rules.contributor_rules import RespondentRule
from celosia.table.fixed import INFINITE

Knows = Literal["within q percent", "its sign", "nothing"]
"""What attackers know beforehand of a contribution of somebody else."""


def comes_too_close(
    pattern: Pattern,
    table: Table,
    rule: RespondentRule,
    attackers: tuple[int, ...],
    target: int,
    knows: Knows = "within q percent",
) -> bool:
    """Return whether attackers can exclude a corner of a target's box, exactly. All are anonymous numbers."""
    every, claims = sizes_of(table, rule.by)
    sizes = {key: size for key, size in every.items() if size}
    own = [key for key in sizes if key[1] == target and key in claims]
    return any(
        _largest_share(pattern, table, rule, sizes, attackers, dict(zip(own, signs, strict=True)), knows) < 1
        for signs in (product((1, -1), repeat=len(own)) if own else ())
    )


def _largest_share(
    pattern: Pattern,
    table: Table,
    rule: RespondentRule,
    sizes: dict[tuple[int, int], Fraction],
    attackers: tuple[int, ...],
    corner: dict[tuple[int, int], int],
    knows: Knows,
) -> Fraction:
    """Return which share of a corner is possible, one where all of it is."""
    q = Fraction(str(rule.q)) if isinstance(rule, PriorPosterior) else Fraction(100)
    p = Fraction(str(rule.p)) if isinstance(rule, PPercent | PriorPosterior) else None
    keys, n = list(sizes), len(table)
    m = len(keys)
    most = [Fraction(0) if who in attackers else q / 100 * size for (_, who), size in sizes.items()]
    lower: list[End] = [-bound for bound in most]
    upper: list[End] = list(most)
    negative = _negative(table, rule.by)
    for place, (key, size) in enumerate(sizes.items()):
        if knows != "within q percent" and key[1] not in attackers:
            lower[place] = -size if knows == "its sign" and key not in negative else None
            upper[place] = size if knows == "its sign" and key in negative else None
    for key in corner:
        lower[keys.index(key)] = upper[keys.index(key)] = None
    low, high = _published(pattern, table)
    rows = [
        [int(own == cell) for own, _ in keys] + [-int(cell == other) for other in range(n)] + [0]
        for cell in sorted({cell for cell, _ in keys} | set(leaves_without_contributions(table, keys)))
    ]
    rows += [[0] * m + [int(entry) for entry in row] + [0] for row in table.relations.matrix.toarray()]
    for key, sign in corner.items():
        error = Fraction(1, 10**table.decimals) if p is None else p / 100 * sizes[key]
        row = [0] * (m + n + 1)
        row[keys.index(key)], row[-1] = error.denominator, -sign * error.numerator
        rows.append(row)
    bounds = [*lower, *low, Fraction(0)], [*upper, *high, Fraction(1)]
    case = attack_oracle.Situation(rows, [Fraction(0)] * (m + n + 1), *bounds)
    share = attack_oracle.furthest(case, m + n)
    assert share is not None  # it has a bound
    return share


def _negative(table: Table, by: str) -> set[tuple[int, int]]:
    """Return whose contributions to which leaf cells are negative."""
    said = table.contributions
    assert said is not None
    sums: dict[tuple[int, int], int] = {}
    who = said.respondent if by == "respondent" else said.holding
    for cell, owner, amount in zip(said.cell.tolist(), who.tolist(), said.amount.tolist(), strict=True):
        sums[cell, owner] = sums.get((cell, owner), 0) + amount
    return {key for key, amount in sums.items() if amount < 0}


def _published(pattern: Pattern, table: Table) -> tuple[list[End], list[End]]:
    """Return how far below and above the truth a release lets every cell be, None where there is no end."""
    sides: list[list[End]] = []
    for side, nearest in zip(pattern.bounds(), (min, max), strict=True):
        ends = [Fraction(int(count), 10**side.decimals) for count in side.counts]
        truth = [Fraction(int(count), 10**table.decimals) for count in table.amounts.counts]
        sides.append(
            [
                None if abs(int(count)) >= INFINITE else nearest(end - value, Fraction(0))
                for count, end, value in zip(side.counts, ends, truth, strict=True)
            ]
        )
    return sides[0], sides[1]


def every_coalition(part: RuleAudit) -> set[tuple[tuple[int, ...], int]]:
    """Return the coalitions of full size, with their targets, that an audit calls open by one rule."""
    numbers: Sequence[int] = part.respondents.numbers.tolist()
    size = min(part.knowledge.coalition, len(numbers) - 1)
    out = set()
    for one in part.open:
        others = [k for k in range(len(numbers)) if k != one.target and k not in one.attackers]
        for more in combinations(others, size - len(one.attackers)):
            who = tuple(sorted(numbers[k] for k in (*one.attackers, *more)))
            out.add((who, numbers[one.target]))
    return out
