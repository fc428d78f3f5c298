r"""Corners as plain data: cells that must be able to move together.

A respondent who contributes to several cells is protected from a coalition if some table moves all of them as far as a
corner of his box needs, :math:`y_l = c_l + s_l`, where :math:`s` lies within bounds that hold 0. Tables form a convex
set with the true one in it, so this is the same as to ask how far t can be raised in

.. math:: y_l = t\, c_l + s_l, \qquad 0 \le t \le 1,

and to require that it reaches 1.

In linked tables y is about joint cells, which nobody publishes: the coalition knows each of them so well, and leaf
cells as their sums (`celosia.risk.respondents.joint`). There one cell alone is a corner, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.table.fixed import INFINITE, Fixed

if TYPE_CHECKING:
    from celosia.risk.respondents.joint import JointCells
    from celosia.table.table import Table


@dataclass(frozen=True, eq=False)
class Corner:
    """A corner of a target's box in which several of his cells must move together. Confidential.

    Parameters
    ----------
    name
        Who attacks whom, and which corner.
    leaves
        The leaf cells, ``(k,)``; joint cells have numbers beyond the table.
    needs
        How far cells must move: their places among the leaves, and counts with a sign.
    down, up
        How far every leaf cell may be below and above that, ``(k,)`` in counts.
    decimals
        The decimal of the counts.
    joint
        Of linked tables, which joint cells add up to which leaf cells; None elsewhere.
    """

    name: str
    leaves: NDArray[np.int64]
    needs: tuple[tuple[int, int], ...]
    down: NDArray[np.object_]
    up: NDArray[np.object_]
    decimals: int
    joint: JointCells | None = None

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The cells that must move, one for every need."""
        return np.asarray(self.leaves[[leaf for leaf, _ in self.needs]])

    @cached_property
    def published_cells(self) -> NDArray[np.int64]:
        """The cells of the table that must move, or whose joint cells must."""
        if self.joint is None:
            return np.unique(self.cells)
        return np.unique(self.joint.sums[self.joint.row[np.isin(self.joint.parts, self.cells)]])

    @cached_property
    def largest(self) -> int:
        """The largest need, in counts: t is raised in so many steps."""
        return max(abs(need) for _, need in self.needs)

    def bounds(self, table: Table) -> tuple[Fixed, Fixed]:
        """Return between what the coalition knows every cell of a table, whatever t is, ``(n_cells,)`` each."""
        amounts, n = table.amounts, len(table)
        own = self.leaves < n
        cells = self.leaves[own]
        truth = amounts.counts.astype(object) * 10 ** (self.decimals - amounts.decimals)
        ends = []
        for sign in (-1, 1):
            counts, reach = np.full(n, sign * INFINITE, dtype=object), self.reach(sign)
            counts[cells] = truth[cells] + sign * reach[own]
            if self.joint is not None:
                sums = self.joint.sums
                counts[sums] = truth[sums] + sign * self.joint.add_up(self.reach_of_joint_cells(sign))
            ends.append(Fixed.of_counts(counts, self.decimals))
        return ends[0], ends[1]

    def reach(self, sign: int) -> NDArray[np.object_]:
        """Return how far leaf cells may be above (1) or below (-1) the truth, whatever t is, ``(k,)`` in counts."""
        needs = dict(self.needs)
        far = np.array([max(sign * needs.get(leaf, 0), 0) for leaf in range(len(self.leaves))], dtype=object)
        return np.asarray((self.up if sign > 0 else self.down) + far)

    def reach_of_joint_cells(self, sign: int) -> NDArray[np.object_]:
        """Return the same of every joint cell, ``(n_joint,)``: nothing where nobody contributes to it."""
        assert self.joint is not None  # noqa: S101  (of linked tables)
        out, own = np.zeros(self.joint.n_joint, dtype=object), self.leaves >= self.joint.n_cells
        out[self.leaves[own] - self.joint.n_cells] = self.reach(sign)[own]
        return out
