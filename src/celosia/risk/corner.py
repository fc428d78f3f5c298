r"""Corners as plain data: cells that must be able to move together.

A respondent who contributes to several cells is protected from a coalition if some table moves all of them as far as a
corner of his box needs, :math:`y_l = c_l + s_l`, where :math:`s` lies within bounds that hold 0. Tables form a convex
set with the true one in it, so this is the same as to ask how far t can be raised in

.. math:: y_l = t\, c_l + s_l, \qquad 0 \le t \le 1,

and to require that it reaches 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.table.fixed import INFINITE, Fixed

if TYPE_CHECKING:
    from celosia.table.table import Table


@dataclass(frozen=True, eq=False)
class Corner:
    """A corner of a target's box in which several of his cells must move together. Confidential.

    Parameters
    ----------
    name
        Who attacks whom, and which corner.
    leaves
        The leaf cells, ``(k,)``.
    needs
        How far cells must move: their places among the leaves, and counts with a sign.
    down, up
        How far every leaf cell may be below and above that, ``(k,)`` in counts.
    decimals
        The decimal of the counts.
    """

    name: str
    leaves: NDArray[np.int64]
    needs: tuple[tuple[int, int], ...]
    down: NDArray[np.object_]
    up: NDArray[np.object_]
    decimals: int

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The cells that must move, one for every need."""
        return np.asarray(self.leaves[[leaf for leaf, _ in self.needs]])

    @cached_property
    def largest(self) -> int:
        """The largest need, in counts: t is raised in so many steps."""
        return max(abs(need) for _, need in self.needs)

    def bounds(self, table: Table) -> tuple[Fixed, Fixed]:
        """Return between what the coalition knows every cell of a table, whatever t is, ``(n_cells,)`` each."""
        needs, amounts = dict(self.needs), table.amounts
        truth = amounts.counts[self.leaves].astype(object) * 10 ** (self.decimals - amounts.decimals)
        ends = []
        for sign, beside in ((-1, self.down), (1, self.up)):
            counts = np.full(len(table), sign * INFINITE, dtype=object)
            far = np.array([max(sign * needs.get(leaf, 0), 0) for leaf in range(len(self.leaves))], dtype=object)
            counts[self.leaves] = truth + sign * (beside + far)
            ends.append(Fixed.of_counts(counts, self.decimals))
        return ends[0], ends[1]
