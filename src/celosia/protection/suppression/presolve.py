"""Presolve of a suppression problem: components apart, and in each of them columns that move together merged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.attack.system.decomposition import decompose
from celosia.protection.engine.null_space.coordinates import KernelCoordinates, find_coordinates
from celosia.protection.engine.null_space.merge import merge_columns
from celosia.protection.engine.parameters import EngineParameters
from celosia.protection.engine.problem import ProtectionProblem


@dataclass(frozen=True, slots=True, eq=False)
class Component:
    """A component of a problem, and what it says about the columns of the whole.

    Parameters
    ----------
    problem
        The component; its columns may be classes of columns.
    columns
        Its columns of the whole problem, ``(k,)``.
    class_of, sign
        The column of `problem` that each of them belongs to, -1 for those that cannot move, and whether it moves along
        with it, 1, or against it, -1, ``(k,)``.
    forced_cost
        What the forced columns of the whole cost that `problem` counts.
    coordinates
        Kernel coordinates of the columns of `problem`; None where they were not looked for, or not found.
    """

    problem: ProtectionProblem
    columns: NDArray[np.int64]
    class_of: NDArray[np.int64]
    sign: NDArray[np.int64]
    forced_cost: float
    coordinates: KernelCoordinates | None = None

    @classmethod
    def whole(cls, problem: ProtectionProblem) -> Component:
        """Return a problem as its only component."""
        return cls.unmerged(problem, np.arange(len(problem)))

    @classmethod
    def unmerged(
        cls, problem: ProtectionProblem, columns: NDArray[np.int64], coordinates: KernelCoordinates | None = None
    ) -> Component:
        """Return a component whose columns are those of the whole."""
        cost = float(problem.cost[problem.forced].sum())
        same = np.ones(len(columns), dtype=np.int64)
        return cls(problem, columns, np.arange(len(columns)), same, cost, coordinates)

    def unmerge(self, pattern: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of its columns of the whole are hidden where a pattern hides these classes, ``(k,)``."""
        return np.asarray((self.class_of >= 0) & np.append(pattern, np.False_)[self.class_of])

    def spread_witnesses(self, proposed: ProposedWitnesses) -> ProposedWitnesses:
        """Return witnesses by columns of the whole problem in place of columns of `problem`: for every member."""
        n, k = len(self.problem), len(self.columns)
        moving = np.flatnonzero(self.class_of >= 0)
        members = sp.csr_array((self.sign[moving], (self.class_of[moving], moving)), shape=(n, k), dtype=np.int64)
        moves = sp.csr_array((proposed.moves, proposed.moved, proposed.starts), shape=(len(proposed.denominator), n))
        spread = sp.csr_array(moves @ members)
        sizes = np.diff(members.indptr)[proposed.cells]
        witness = np.repeat(np.arange(len(proposed)), sizes)
        first = np.repeat(members.indptr[proposed.cells] - np.cumsum(sizes) + sizes, sizes)
        entry = first + np.arange(len(witness))
        return ProposedWitnesses(
            self.columns[members.indices[entry]],
            proposed.attackers[witness],
            proposed.upward[witness] == (members.data[entry] > 0),
            spread.indptr.astype(np.int64),
            self.columns[spread.indices],
            spread.data,
            proposed.denominator,
            proposed.decimals,
            proposed.tables[witness],
        )

    def classes(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the columns of `problem` to which some columns of the whole belong."""
        found = self.class_of[np.isin(self.columns, columns)]
        return np.unique(found[found >= 0])


def presolve(problem: ProtectionProblem, parameters: EngineParameters) -> list[Component]:
    """Return the connected components of a problem that have requirements, columns that move together merged."""
    parts = decompose(problem.system(np.arange(len(problem))))
    component = parts.component[problem.requirements.columns]
    found = []
    for number in np.unique(component[component >= 0]).tolist():
        columns = np.sort(parts.members(number))
        part = problem.part(columns, np.flatnonzero(component == number))
        if parts.network[number]:
            found.append(Component.unmerged(part, columns))
        else:
            found.append(_merge(part, columns, parameters))
    return found


def _merge(problem: ProtectionProblem, columns: NDArray[np.int64], parameters: EngineParameters) -> Component:
    """Return a component with the columns merged that move together, where levels do not tell them apart."""
    conditional = not bool(problem.forced[problem.requirements.columns].all())
    if conditional or problem.product is not None or len(problem) > parameters.most_merged:
        return Component.unmerged(problem, columns)
    coordinates = find_coordinates(problem.matrix, parameters.most_eliminated)
    if coordinates is None or not coordinates.move_all(problem.requirements.columns):
        return Component.unmerged(problem, columns)
    merged = merge_columns(problem, coordinates)
    if len(merged.problem) == len(problem):
        return Component.unmerged(problem, columns, coordinates)
    return Component(merged.problem, columns, merged.class_of, merged.sign, 0.0, merged.coordinates)
