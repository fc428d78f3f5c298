"""Support of a point, split into components; network components as graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.decomposition import Parts, adjacency, decompose
from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.engine.subproblems.flow import Network
from celosia.solve import deadline

if TYPE_CHECKING:
    from celosia.attack.system.system import System
    from celosia.protection.engine.problem import ProtectionProblem


@dataclass(frozen=True, eq=False)
class SupportGraph:
    """Support of a point, split into components; network components as graphs.

    Parameters
    ----------
    columns
        The support: columns of the problem.
    system, parts
        The attackers' linear system of it, and its components.
    """

    columns: NDArray[np.int64]
    system: System
    parts: Parts

    @classmethod
    def of(
        cls, problem: ProtectionProblem, columns: NDArray[np.int64], rows: NDArray[np.int64] | None = None
    ) -> SupportGraph:
        """Return the support of some columns, by all relations or some; DeadlineError where it is too late."""
        deadline.check()
        system = problem.system(columns, rows)
        return cls(columns, system, decompose(system))

    def place(self, n: int) -> NDArray[np.int64]:
        """Return the place of every column of the problem in the support, -1 for others, ``(n,)``."""
        place = np.full(n, -1, dtype=np.int64)
        place[self.columns] = np.arange(len(self.columns))
        return place

    def is_network(self, component: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which components are networks."""
        if not len(self.parts):
            return np.zeros(len(component), dtype=bool)
        return np.asarray(self.parts.network[np.maximum(component, 0)])

    @cached_property
    def network(self) -> Network:
        """The networks among the cells."""
        return self.network_among(np.ones(len(self.columns), dtype=bool))

    def network_among(self, some: NDArray[np.bool_]) -> Network:
        """Return the networks among some of the cells, ``(n,)``; the others are no arcs."""
        tail, head = (np.where(some, end, np.int32(-1)) for end in (self.parts.tail, self.parts.head))
        return Network(tail, head, *adjacency(tail, head, self.system.matrix.shape[0] + len(self.parts)))

    @cached_property
    def turn(self) -> NDArray[np.float64]:
        """By which sign every row of a network is turned so that a cell leaves its tail and enters its head."""
        matrix = self.system.matrix
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        turn = np.zeros(matrix.shape[0])
        leaves, enters = self.parts.tail[matrix.indices] == row, self.parts.head[matrix.indices] == row
        turn[row[leaves]] = np.sign(matrix.data[leaves])
        turn[row[enters]] = -np.sign(matrix.data[enters])
        return turn

    @cached_property
    def _nodes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The component of every row that is a node, -1 for others, and the rows in the order of their component."""
        component = np.full(self.system.matrix.shape[0], -1, dtype=np.int64)
        for end in (self.parts.tail, self.parts.head):
            rows = np.flatnonzero((end >= 0) & (end < len(component)))
            component[end[rows]] = self.parts.component[rows]
        return component, np.argsort(component, kind="stable")

    def multipliers(self, side: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the rows of the problem, and their multipliers, that sum the nodes of one side of a cut.

        The ground is no relation, but minus the sum of all others: a side that holds it is as good as its complement.
        """
        m = len(self.system.relations)
        rows = side[side < m]
        if len(rows) == len(side):
            return self.system.relations[rows], self.turn[rows]
        component, order = self._nodes
        number = int(side.max()) - m
        begin, end = np.searchsorted(component[order], [number, number + 1])
        others = np.setdiff1d(order[begin:end], rows)
        return self.system.relations[others], -self.turn[others]

    def derivation(self, column: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return multipliers of the relations that determine a peeled cell, one after another."""
        place = int(np.searchsorted(self.columns, column))
        found = place < len(self.columns) and self.columns[place] == column
        gamma = self._derive({place: 1.0}) if found else None
        if gamma is None:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        return self.system.relations[np.array(list(gamma), dtype=np.int64)], np.array(list(gamma.values()))

    def complete(
        self, rows: NDArray[np.int64], gamma: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return multipliers that also cancel determined cells, which cannot move: their rows are added."""
        peeled = np.flatnonzero(self.parts.peeled >= 0)
        if not len(peeled):
            return rows, gamma
        own = np.searchsorted(self.system.relations, rows)
        left = self.system.matrix[own][:, peeled].T @ gamma
        moved = np.flatnonzero(left)
        more = self._derive(dict(zip(peeled[moved].tolist(), (-left[moved]).tolist(), strict=True)))
        if not more:
            return rows, gamma
        total = dict(zip(own.tolist(), gamma.tolist(), strict=True))
        for row, factor in more.items():
            total[row] = total.get(row, 0.0) + factor
        return self.system.relations[np.array(list(total), dtype=np.int64)], np.array(list(total.values()))

    def _derive(self, waiting: dict[int, float]) -> dict[int, float] | None:
        """Return multipliers of rows whose combination has given coefficients at peeled cells; None for long chains."""
        terms = sp.csr_array(self.system.matrix)
        gamma: dict[int, float] = {}
        for _ in range(PARAMETERS.cuts.longest_chain):
            if not waiting:
                return gamma
            cell, wanted = waiting.popitem()
            row = int(self.parts.peeled[cell])
            entries = slice(terms.indptr[row], terms.indptr[row + 1])
            data = dict(zip(terms.indices[entries].tolist(), terms.data[entries].tolist(), strict=True))
            factor = wanted / data[cell]
            gamma[row] = gamma.get(row, 0.0) + factor
            for other, coefficient in data.items():
                if other != cell:
                    left = waiting.pop(other, 0.0) - factor * coefficient
                    if left:
                        waiting[other] = left
        return None
