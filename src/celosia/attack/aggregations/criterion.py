r"""The criterion of Daalmans and de Waal (2010): no aggregation of hidden cells may be sensitive.

An aggregation is a linear combination :math:`\sum_i \lambda_i x_i` of hidden cells whose value follows from what is
published. Respondent r contributes :math:`X^r = \sum_i |\lambda_i x_i^r|` to it in absolute terms, and respondent s
comes within p percent of what t contributes if :math:`q \sum_{r \ne s,t} X^r` is less than :math:`p\,X^t` (5.3). Where
the two are equal the paper calls the aggregation sensitive; here a level that is reached is enough, unless ties are
to count.

Combinations are of leaf cells: in a hidden total every contribution would be counted twice. Cells that are shown are
aggregations by themselves, and matter alone: what they add to another is known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.risk.respondents.knowledge import Knowledge, Respondents
from celosia.risk.rules.contributor_rules import Ties
from celosia.table.table import Table

_Size = TypeVar("_Size", int, Fraction)


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation:
    r"""A linear combination of leaf cells whose value is known to all, with one attacker and one target. Confidential.

    Parameters
    ----------
    cells, coefficients
        The leaf cells and what they are multiplied by: the one in which the target counts most by one; of several in
        which he counts the same, the one to which he contributes most.
    attacker, target
        Who attacks whom: places in `respondents`.
    excess
        :math:`(p X^t - q \sum_{r \ne s,t} X^r) / 100`: by how much the attacker comes too close, zero
        for a tie, in units of the table.
    respondents, knowledge, table
        What it is about.
    worst
        It is proved, to the solver's accuracy, that no other has a larger excess. False where it is not, as when time
        was up before: then it is sensitive, and others may be more so.
    """

    cells: NDArray[np.int64]
    coefficients: tuple[Fraction, ...]
    attacker: int
    target: int
    excess: Fraction
    respondents: Respondents
    knowledge: Knowledge
    table: Table
    worst: bool = False

    @property
    def distance(self) -> Fraction:
        """How close the attacker comes to what the target contributes, in percent of it."""
        own = absolute_contributions(self.respondents, self.cells, self.coefficients)
        others = sum(own) - own[self.attacker] - own[self.target]
        return 100 * Fraction(self.knowledge.q, self.knowledge.unit) * others / own[self.target]

    def __str__(self) -> str:
        terms = [
            f"{'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor)}*'}{self.table.label(cell)}"
            for cell, factor in zip(self.cells.tolist(), self.coefficients, strict=True)
        ]
        said = " ".join(terms).removeprefix("+ ")
        closely = f"within {float(self.distance):.4g} percent" if self.distance else "exactly"
        more = "" if self.worst else "; it is not known whether another is worse"
        return (
            f"{self.respondents.name(self.attacker)} ({self._where(self.attacker)}) finds from {said} what "
            f"{self.respondents.name(self.target)} ({self._where(self.target)}) contributes {closely}: too close{more}"
        )

    def _where(self, place: int) -> str:
        """Return in words to which cells of the aggregation a respondent contributes."""
        rows = self.respondents.sizes[:, [place]].nonzero()[0]
        inside = np.intersect1d(self.respondents.leaves[rows], self.cells)
        return "in " + ", ".join(self.table.label(cell) for cell in inside.tolist()) if len(inside) else "elsewhere"


def absolute_contributions(
    respondents: Respondents, cells: NDArray[np.int64], coefficients: Sequence[Fraction]
) -> list[Fraction]:
    """Return the absolute contribution of every respondent to an aggregation of leaf cells, in counts (section 5)."""
    total = [Fraction(0)] * len(respondents)
    rows = np.searchsorted(respondents.leaves, cells)
    for row, factor in zip(rows.tolist(), coefficients, strict=True):
        part = respondents.sizes[[row], :]
        for place, size in zip(part.indices.tolist(), part.data.tolist(), strict=True):
            total[place] += abs(factor) * size
    return total


def aggregation_of(
    table: Table,
    weights: dict[int, Fraction],
    respondents: Respondents,
    knowledge: Knowledge,
    ties: Ties,
    attackers: Collection[int] | None,
    targets: Collection[int] | None,
) -> Aggregation | None:
    """Return an aggregation with its worst attacker and target, of all or of some; None if it is not sensitive."""
    cells = np.array(sorted(weights), dtype=np.int64)
    factors = tuple(weights[cell] for cell in cells.tolist())
    own = absolute_contributions(respondents, cells, factors)
    everybody = range(len(own))
    pair = worst_pair(
        own, everybody if attackers is None else attackers, everybody if targets is None else targets, knowledge
    )
    if pair is None:
        return None
    attacker, target = pair
    scale = _scale(respondents, cells, factors, target)
    factors = tuple(factor / scale for factor in factors)
    others = sum(own) - own[target] - own[attacker]
    excess = (knowledge.p * own[target] - knowledge.q * others) / (knowledge.unit * 10**table.decimals * abs(scale))
    if not own[target] or excess < 0 or (excess == 0 and ties == "safe"):
        return None
    return Aggregation(cells, factors, attacker, target, excess, respondents, knowledge, table)


def worst_pair(
    own: Mapping[int, _Size] | Sequence[_Size],
    attackers: Collection[int],
    targets: Collection[int],
    knowledge: Knowledge,
) -> tuple[int, int] | None:
    r"""Return the attacker and the target with the largest :math:`(p + q) X^t + q X^s` (6.3); None without a pair.

    The worst target is not always the largest one: where he alone attacks with much, the next may be the worse off.
    So the two largest of both are compared.

    Parameters
    ----------
    own
        Absolute contributions, by place.
    attackers, targets
        Who attacks whom; nobody attacks himself.
    """
    best, found = None, None
    largest = [nsmallest(2, some, key=lambda place: (-own[place], place)) for some in (attackers, targets)]
    for attacker, target in product(*largest):
        excess = (knowledge.p + knowledge.q) * own[target] + knowledge.q * own[attacker]
        if attacker != target and (best is None or excess > best):
            best, found = excess, (attacker, target)
    return found


def _scale(respondents: Respondents, cells: NDArray[np.int64], factors: Sequence[Fraction], target: int) -> Fraction:
    """Return the coefficient of the cell in which the target counts most, one where he counts nowhere."""
    sizes = respondents.sizes[:, [target]].toarray()[np.searchsorted(respondents.leaves, cells), 0].tolist()
    most = max(zip(factors, sizes, strict=True), key=lambda one: (abs(one[0]) * one[1], one[1]))
    return most[0] if most[1] else Fraction(1)
