r"""The criterion of Daalmans and de Waal (2010): no aggregation of hidden cells may be sensitive.

An aggregation is a linear combination :math:`\sum_i \lambda_i x_i` of hidden cells whose value follows from what is
published. Respondent r contributes :math:`X^r = \sum_i |\lambda_i x_i^r|` to it in absolute terms, and respondent s
comes within p percent of what t contributes if :math:`q \sum_{r \ne s,t} X^r` is less than :math:`p\,X^t` (5.3). Where
the two are equal the paper calls the aggregation sensitive; here a level that is reached is enough, unless ties are
asked for.

Combinations are of leaf cells: in a hidden total every contribution would be counted twice. Cells that are shown are
aggregations by themselves, and matter alone: what they add to another is known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.attack.aggregation_program import Program, program_of
from celosia.attack.protected import Protected
from celosia.errors import SpecError, counted
from celosia.pattern.entries import HIDDEN, SHOWN
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import Release, publish
from celosia.risk.respondents import Knowledge, Respondents, respondents_of
from celosia.risk.risk import Risk
from celosia.risk.rules import PPercent, PriorPosterior
from celosia.solve.backend import Capability
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends
from celosia.table.table import Table

Ties = Literal["safe", "sensitive"]
"""What an aggregation is in which somebody comes within exactly p percent of somebody else."""

_FAST = "Use celosia.audit_respondents."
_SHARE = 1000  # multipliers of relations are fractions with denominators up to this


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation:
    r"""A linear combination of leaf cells that everybody can compute, with one attacker and one target. Confidential.

    Parameters
    ----------
    cells, coefficients
        The leaf cells and what they are multiplied by: the one in which the target counts most by one.
    attacker, target
        Who attacks whom: places in `respondents`.
    excess
        :math:`(p X^t - q \sum_{r \ne s,t} X^r) / 100`: by how much the attacker comes too close, zero
        for a tie, in units of the table.
    respondents, knowledge, table
        What it is about.
    """

    cells: NDArray[np.int64]
    coefficients: tuple[Fraction, ...]
    attacker: int
    target: int
    excess: Fraction
    respondents: Respondents
    knowledge: Knowledge
    table: Table

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
        return (
            f"{self.respondents.name(self.attacker)} ({self._where(self.attacker)}) finds from {said} what "
            f"{self.respondents.name(self.target)} ({self._where(self.target)}) contributes {closely}: too close"
        )

    def _where(self, place: int) -> str:
        """Return the cells of the aggregation to which somebody contributes."""
        rows = self.respondents.sizes[:, [place]].nonzero()[0]
        inside = np.intersect1d(self.respondents.leaves[rows], self.cells)
        return "in " + ", ".join(self.table.label(cell) for cell in inside.tolist()) if len(inside) else "elsewhere"


def absolute_contributions(
    respondents: Respondents, cells: NDArray[np.int64], coefficients: Sequence[Fraction]
) -> list[Fraction]:
    """Return the absolute contribution of everybody to an aggregation of leaf cells, in counts (section 5)."""
    total = [Fraction(0)] * len(respondents)
    rows = np.searchsorted(respondents.leaves, cells)
    for row, factor in zip(rows.tolist(), coefficients, strict=True):
        part = respondents.sizes[[row], :]
        for place, size in zip(part.indices.tolist(), part.data.tolist(), strict=True):
            total[place] += abs(factor) * size
    return total


def sensitivity(contributions: Sequence[Fraction | int], knowledge: Knowledge) -> Fraction:
    r"""Return :math:`S = (p X^{[1]} - q \sum_{r \ge 3} X^{[r]}) / 100` of absolute contributions, after (5.4).

    Positive where the largest contributor is not protected against the second; zero is a tie.
    """
    ordered = sorted((Fraction(one) for one in contributions), reverse=True)
    first = ordered[0] if ordered else Fraction(0)
    return (knowledge.p * first - knowledge.q * sum(ordered[2:], Fraction(0))) / knowledge.unit


@takes(release=(Protected, Release, Pattern), risk=(Risk, Table), rule=(PPercent, PriorPosterior))
def worst_aggregation(
    release: Release | Pattern | Protected,
    risk: Risk | Table | None = None,
    *,
    rule: PPercent | PriorPosterior,
    ties: Ties = "safe",
    attacker: int | None = None,
    target: int | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
) -> Aggregation | None:
    """Return the most sensitive aggregation of hidden cells, None where none is sensitive: (6.6)-(6.18).

    Their Theorem 3 calls a table safe when the optimum is negative; but multipliers of zero are feasible with the value
    zero, so that it never is. Here the optimum must be above zero; and where ties count, an optimum of zero is
    sensitive if it has an aggregation with a part of the target's cell.

    Parameters
    ----------
    release
        What is published: cells are shown or hidden.
    risk
        The table, or its risk; the result of a protection brings its own.
    rule
        What respondents know, and how close they may come.
    ties
        What an aggregation is in which an attacker comes exactly as close as he may.
    attacker, target
        Anonymous numbers, to look at one pair only.
    solver
        One that solves mixed-integer programs.
    time_limit
        Seconds.

    Raises
    ------
    SpecError
        The release shows ranges or other numbers that are not true values; coalitions; unknown numbers.
    """
    table, release = table_and_release(release, risk)
    knowledge = Knowledge.of(rule)
    if knowledge.coalition > 1:
        raise SpecError.one("rule", "is about coalitions, the program is not.", _FAST)
    if not set(np.unique(release.status).tolist()) <= {SHOWN, HIDDEN}:
        raise SpecError.one("release", "is no suppression pattern.", _FAST)
    respondents = respondents_of(table, knowledge.by)
    if respondents.protected.nnz < respondents.sizes.nnz:
        raise SpecError.one("contributions", "are waived in part, which the program does not know.", _FAST)
    pair = (_place(respondents, attacker, "attacker"), _place(respondents, target, "target"))
    found = _worst_shown(table, release, respondents, knowledge, ties, pair)
    program = program_of(table, release.status == HIDDEN, respondents, knowledge, pair)
    if program is not None:
        backend = backend_named(solver) if solver else backends(Capability.MIP)[0]
        hidden = _worst_hidden(program, table, respondents, knowledge, ties, program.solve(backend, time_limit))
        if hidden is None and found is None and ties == "sensitive":
            tie = program.solve_tie(backend, time_limit)
            hidden = _worst_hidden(program, table, respondents, knowledge, ties, tie)
        if hidden is not None and (found is None or hidden.excess > found.excess):
            found = hidden
    return found


def table_and_release(release: Release | Pattern | Protected, risk: Risk | Table | None) -> tuple[Table, Release]:
    """Return what an audit of respondents is about, checked."""
    if risk is None:
        if isinstance(release, Release):
            raise SpecError.one("risk", "is missing.", "Say which table the release is about.")
        risk = release.table if isinstance(release, Pattern) else release.risk
    table = risk if isinstance(risk, Table) else risk.table
    release = release if isinstance(release, Release) else publish(release)
    release.check(table)
    if release.criterion == "distance":
        message = "moves values: what respondents conclude from them has no bounds, so nobody can be shown safe."
        raise SpecError.one("release", message, "Respondents are protected by hiding or ranges.")
    return table, release


def _place(respondents: Respondents, number: int | None, name: str) -> int | None:
    if number is None:
        return None
    place = int(np.searchsorted(respondents.numbers, number))
    if place == len(respondents) or int(respondents.numbers[place]) != number:
        seen = counted(len(respondents), respondents.kind)
        raise SpecError.one(name, f"there is no {respondents.kind} {number}.", f"There are {seen}.")
    return place


def _worst_shown(
    table: Table,
    release: Release,
    respondents: Respondents,
    knowledge: Knowledge,
    ties: Ties,
    pair: tuple[int | None, int | None],
) -> Aggregation | None:
    """Return the most sensitive leaf cell that is shown (5.3)."""
    sizes, worst = respondents.sizes, (-1, -1)
    for leaf in np.flatnonzero(release.status[respondents.leaves] == SHOWN).tolist():
        part = slice(sizes.indptr[leaf], sizes.indptr[leaf + 1])
        own = dict(zip(sizes.indices[part].tolist(), sizes.data[part].tolist(), strict=True))
        ranked = sorted(own, key=lambda place: -own[place])
        target = pair[1] if pair[1] is not None else next((place for place in ranked if place != pair[0]), None)
        if target is None or target not in own:
            continue
        attacker = pair[0] if pair[0] is not None else next((place for place in ranked if place != target), None)
        others = sum(own.values()) - own[target] - (0 if attacker is None else own.get(attacker, 0))
        worst = max(worst, (knowledge.p * own[target] - knowledge.q * others, leaf))
    if worst[0] < 0:
        return None
    cell = int(respondents.leaves[worst[1]])
    return _aggregation(table, {cell: Fraction(1)}, respondents, knowledge, ties, pair)


def _worst_hidden(
    program: Program,
    table: Table,
    respondents: Respondents,
    knowledge: Knowledge,
    ties: Ties,
    found: tuple[NDArray[np.float64], int, int] | None,
) -> Aggregation | None:
    """Return the aggregation that a solver found, in fractions, if it is one and sensitive."""
    if found is None:
        return None
    multipliers, attacker, target = found
    for most in (1, 12, _SHARE):
        exact = [Fraction(value).limit_denominator(most) for value in multipliers.tolist()]
        weights = _combined(program.matrix, exact)
        leaves = {cell: factor for cell, factor in zip(program.cells.tolist(), weights, strict=True) if factor}
        if leaves and set(leaves) <= set(respondents.leaves.tolist()):
            one = _aggregation(table, leaves, respondents, knowledge, ties, (attacker, target))
            if one is not None:
                return one
    return None


def _combined(matrix: sp.csr_array, multipliers: list[Fraction]) -> list[Fraction]:
    out = [Fraction(0)] * matrix.shape[1]
    for row, factor in enumerate(multipliers):
        if factor:
            for entry in range(matrix.indptr[row], matrix.indptr[row + 1]):
                out[matrix.indices[entry]] += factor * int(matrix.data[entry])
    return out


def _aggregation(
    table: Table,
    weights: dict[int, Fraction],
    respondents: Respondents,
    knowledge: Knowledge,
    ties: Ties,
    pair: tuple[int | None, int | None],
) -> Aggregation | None:
    """Return an aggregation with its worst attacker and target, if they are not given; None if it is not sensitive."""
    cells = np.array(sorted(weights), dtype=np.int64)
    factors = tuple(weights[cell] for cell in cells.tolist())
    own = absolute_contributions(respondents, cells, factors)
    order = sorted(range(len(own)), key=lambda place: (-own[place], place))
    attacker, target = pair
    target = next(place for place in order if place != attacker) if target is None else target
    attacker = next(place for place in order if place != target) if attacker is None else attacker
    scale = _scale(respondents, cells, factors, target)
    factors = tuple(factor / scale for factor in factors)
    others = sum(own) - own[target] - own[attacker]
    excess = (knowledge.p * own[target] - knowledge.q * others) / (knowledge.unit * 10**table.decimals * abs(scale))
    if attacker == target or not own[target] or excess < 0 or (excess == 0 and ties == "safe"):
        return None
    return Aggregation(cells, factors, attacker, target, excess, respondents, knowledge, table)


def _scale(respondents: Respondents, cells: NDArray[np.int64], factors: Sequence[Fraction], target: int) -> Fraction:
    """Return the coefficient of the cell in which the target counts most, one where he counts nowhere."""
    sizes = respondents.sizes[:, [target]].toarray()[np.searchsorted(respondents.leaves, cells), 0].tolist()
    counts = [abs(factor) * size for factor, size in zip(factors, sizes, strict=True)]
    return factors[int(np.argmax([float(one) for one in counts]))] if any(counts) else Fraction(1)
