r"""The search for the most sensitive aggregation about some targets, among all attackers.

For a target t, an attacker s and the cell :math:`i_0` in which t counts most, :math:`\lambda_{i_0} = 1`, the excess is

.. math:: p\,x_{i_0}^t - q\,R_{i_0} - \min \sum_{l \ne i_0} (q\,R_l - p\,x_l^t)\,|\lambda_l|,
   \qquad R_l = \sum_{r \ne s,t} |x_l^r|,

over all combinations :math:`\lambda` of relations among hidden cells in which totals cancel out. Where t contributes to
one cell that is a linear program, the dual of how far the cell can be wrong; where he contributes to several, and
others do not make up for his error in them, the signs of :math:`\lambda` are branched on.

Attackers are bounded together: with as much taken of every cell as any of them takes. The solution is an aggregation in
any case, with a worst attacker of its own; where that leaves a gap, the attackers are halved, the largest bound first.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.aggregations.criterion import Aggregation
from celosia.attack.aggregations.program import AggregationProgram
from celosia.risk.respondents.knowledge import Knowledge, Respondents
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.table.relations import label_components
from celosia.table.table import Table
from celosia.tolerance import EXCESS_ROUNDING

Offer = Callable[[dict[int, Fraction], int], Aggregation | None]
"""Returns what leaf cells with coefficients are for a target and his worst attacker, None where it is not sensitive."""


@dataclass(frozen=True, slots=True, order=True)
class _SearchNode:
    """Some attackers against a target whose main cell is given; the largest bound comes first."""

    negative_bound: float
    number: int
    target: int = field(compare=False)
    main: int = field(compare=False)
    attackers: tuple[int, ...] = field(compare=False)


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """What a search came to.

    Parameters
    ----------
    best
        The most sensitive aggregation that was found.
    settled
        It is so to the solver's accuracy; or, where none was found, there is none. False where time was up, or no
        numbers were found for what the solver promised.
    late
        Time was up.
    """

    best: Aggregation | None
    settled: bool
    late: bool = False


class AggregationSearch:
    """A best-first search for the most sensitive aggregation of hidden cells.

    Parameters
    ----------
    table, hidden
        The table, and which of its cells are hidden, ``(n,)``.
    respondents, knowledge
        Who contributes what, and knows what.
    backend
        Solves linear and mixed-integer programs.
    clock
        When to stop.
    """

    def __init__(
        self,
        table: Table,
        hidden: NDArray[np.bool_],
        respondents: Respondents,
        knowledge: Knowledge,
        backend: Backend,
        clock: Clock,
    ) -> None:
        self._respondents, self._knowledge = respondents, knowledge
        self._unit = knowledge.unit * 10**table.decimals
        self._backend, self._clock = backend, clock
        self._cells = np.flatnonzero(hidden)
        matrix = sp.csr_array(table.relations.matrix[:, self._cells])
        self._matrix = sp.csr_array(matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)])
        self._label = label_components(self._matrix)[1]
        self._leaf = np.full(len(self._cells), -1, dtype=np.int64)
        own = np.isin(self._cells, respondents.leaves)
        self._leaf[own] = np.searchsorted(respondents.leaves, self._cells[own])
        self._by_respondent = sp.csc_array(respondents.sizes)
        self._programs: dict[tuple[int, ...], AggregationProgram] = {}
        self._nodes = 0

    def search(self, targets: Collection[int], attackers: frozenset[int] | None, offer: Offer) -> SearchResult:
        """Return the most sensitive aggregation about some targets, by their places, of some attackers or of all."""
        best: Aggregation | None = None
        missed = False
        waiting: list[_SearchNode] = []
        for target in targets:
            for node in self._first_nodes(target, attackers):
                heappush(waiting, node)
        while waiting:
            node = heappop(waiting)
            near = EXCESS_ROUNDING * self._knowledge.q * self._holdings(node.target)[node.main]
            least = -2 * near if best is None else float(best.excess * self._unit)
            if -node.negative_bound <= least + near:
                continue
            solved = self._solve(node)
            if solved is None:
                return SearchResult(best, settled=False, late=True)
            bound, weights = solved
            found = offer(weights, node.target) if weights else None
            if found is not None and (best is None or found.excess > best.excess):
                best, least = found, float(found.excess * self._unit)
            if bound <= least + near:
                continue
            if len(node.attackers) > 1:
                half = len(node.attackers) // 2
                for part in (node.attackers[:half], node.attackers[half:]):
                    heappush(waiting, self._node(bound, node.target, node.main, part))
            else:
                missed = True
        return SearchResult(best, settled=not missed)

    def _node(self, bound: float, target: int, main: int, attackers: tuple[int, ...]) -> _SearchNode:
        self._nodes += 1
        return _SearchNode(-bound, self._nodes, target, main, attackers)

    def _first_nodes(self, target: int, who: frozenset[int] | None) -> Iterator[_SearchNode]:
        """Yield the first nodes: one for every hidden leaf to which the target contributes, with all attackers."""
        if who is not None and who <= {target}:
            return
        here = self._program(target)
        own = self._holdings(target)
        attackers = tuple(self._suspects(here, target, who))
        for main in here.leaves.tolist():
            if main in own:
                yield self._node(np.inf, target, main, attackers)

    def _suspects(self, here: AggregationProgram, target: int, who: frozenset[int] | None) -> list[int]:
        """Return who may be the worst attacker: of those who contribute to one leaf the largest, and all others."""
        part = sp.csr_array(self._respondents.sizes[here.leaves])
        several = np.bincount(part.indices, minlength=len(self._respondents)) > 1
        attacks = np.ones(len(several), dtype=bool) if who is None else np.isin(np.arange(len(several)), list(who))
        attacks[target] = False
        several &= attacks
        out = np.flatnonzero(several).tolist()
        for row in range(part.shape[0]):
            entries = slice(part.indptr[row], part.indptr[row + 1])
            places, sizes = part.indices[entries], part.data[entries]
            single = np.flatnonzero(~several[places] & attacks[places])
            if len(single):
                out.append(int(places[single[np.argmax(sizes[single])]]))
        return out

    def _holdings(self, place: int) -> dict[int, int]:
        """Return what a respondent contributes to each of his leaves."""
        sizes = self._by_respondent
        part = slice(sizes.indptr[place], sizes.indptr[place + 1])
        return dict(zip(sizes.indices[part].tolist(), sizes.data[part].tolist(), strict=True))

    def _program(self, target: int) -> AggregationProgram:
        """Return the program of the components in which a target has hidden cells."""
        own = np.isin(self._leaf, list(self._holdings(target)))
        labels = tuple(np.unique(self._label[own]).tolist())
        if labels not in self._programs:
            columns = np.flatnonzero(np.isin(self._label, labels))
            matrix = sp.csr_array(self._matrix[:, columns])
            matrix = sp.csr_array(matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)])
            self._programs[labels] = AggregationProgram(
                self._cells[columns], self._leaf[columns], matrix, self._backend
            )
        return self._programs[labels]

    def _solve(self, node: _SearchNode) -> tuple[float, dict[int, Fraction] | None] | None:
        """Return a bound on the excess, in counts of what is known, with leaf cells and coefficients; None if late."""
        here, own, p, q = self._program(node.target), self._holdings(node.target), self._knowledge.p, self._knowledge.q
        rest = self._respondents.totals[here.leaves].astype(object)
        place = {leaf: k for k, leaf in enumerate(here.leaves.tolist())}
        taken = dict.fromkeys(place, 0)
        for attacker in node.attackers:
            for leaf, size in self._holdings(attacker).items():
                if leaf in taken:
                    taken[leaf] = max(taken[leaf], size)
        costs, most = np.empty(len(place)), np.full(len(place), np.inf)
        size = own[node.main]
        for leaf, k in place.items():
            mine = own.get(leaf, 0)
            costs[k] = (q * (rest[k] - taken[leaf] - mine) - p * mine) / (q * size)
            if mine:
                most[k] = size / mine
        value = here.least(costs, most, place[node.main], self._clock.left)
        if value is None:
            return None
        bound, multipliers = value
        return -bound * q * size, None if multipliers is None else here.exact(multipliers, place[node.main])
