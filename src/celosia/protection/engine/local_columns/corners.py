r"""Columns of requirements' own, behind those of cells: what corners need beside the table.

A corner asks that t reaches 1 in :math:`y_l = t\, c_l + s_l` (`celosia.risk.corner`). So it has a column for t and one
for every s, a row for every l, an attacker, and a requirement about the column of t, which counts up to the largest
need. These columns are no cells: they are in no pattern, cost nothing and are always free to move, within the bounds
of the corner's attacker. For all others t is zero; then s moves as its cell does, and has the bounds of that. In linked
tables y stands for joint cells, which are columns, too (`celosia.protection.engine.local_columns.joint_cells`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.local_columns.joint_cells import add_joint_columns
from celosia.tolerance import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from celosia.protection.engine.problem import ColumnRequirements, ProtectionProblem
    from celosia.risk.corner import Corner


def add_local_columns(problem: ProtectionProblem, corners: Sequence[Corner], n_cells: int) -> ProtectionProblem:
    """Return a problem with the columns, rows and requirements of corners.

    Guarantee: where columns of cells stay as they are, and corners more come last, the columns are the same, and more.

    Parameters
    ----------
    problem
        Without them; its last attackers are those of the corners, with their bounds on cells.
    corners
        What must be possible.
    n_cells
        How many cells the table has: columns that are no cells have numbers from there on.
    """
    if not corners:
        return problem
    joint = corners[0].joint  # of linked tables all corners are about joint cells
    known = problem if joint is None else add_joint_columns(problem, corners, joint)
    return _Local(known, tuple(corners)).extend(n_cells)


@dataclass(frozen=True, eq=False)
class _Local:
    """The columns of corners; the first of every corner is that of t."""

    problem: ProtectionProblem
    corners: tuple[Corner, ...]

    def extend(self, n_cells: int) -> ProtectionProblem:
        """Return the problem with all that corners need."""
        known, more = self.problem, len(self._owner)
        rows = self._rows
        nothing = sp.csr_array((known.matrix.shape[0], more), dtype=np.int64)
        matrix = sp.csr_array(sp.vstack([sp.hstack([known.matrix, nothing]), rows]))
        matrix.sort_indices()
        return replace(
            known,
            cells=np.concatenate([known.cells, n_cells + known.n_local + np.arange(more)]),
            matrix=matrix,
            implied=np.concatenate([known.implied, np.zeros(rows.shape[0], dtype=bool)]),
            up=self._bounds(known.up, [(one.largest, one.up) for one in self.corners]),
            down=self._bounds(known.down, [(0, one.down) for one in self.corners]),
            cost=np.concatenate([known.cost, np.zeros(more)]),
            forced=np.concatenate([known.forced, np.ones(more, dtype=bool)]),
            requirements=self._requirements,
            whole=np.concatenate([known.whole, np.zeros(more, dtype=bool)]),
            product=None,
            n_local=known.n_local + more,
        )

    @cached_property
    def _owner(self) -> NDArray[np.int64]:
        """The column that every new one follows where t is zero; -1 for those of t and of cells without one."""
        cells = np.concatenate([np.concatenate([[-1], one.cells]) for one in self.corners])
        known = self.problem.cells
        return np.where(np.isin(cells, known), np.searchsorted(known, cells), -1)

    @cached_property
    def _first(self) -> list[int]:
        """Where the columns of every corner begin among the new ones."""
        return list(accumulate((1 + len(one.needs) for one in self.corners[:-1]), initial=0))

    @property
    def _rows(self) -> sp.csr_array:
        """What relates the new columns to those of cells, a row for every need."""
        n, row = len(self.problem), 0
        entries: list[tuple[int, int, int]] = []
        for first, one in zip(self._first, self.corners, strict=True):
            for place, (_, need) in enumerate(one.needs, first + 1):
                factor = math.gcd(need, one.largest)
                entries += [(row, n + first, -need // factor), (row, n + place, -one.largest // factor)]
                if self._owner[place] >= 0:
                    entries.append((row, int(self._owner[place]), one.largest // factor))
                row += 1
        rows, columns, numbers = np.array(entries, dtype=np.int64).T
        return sp.csr_array((numbers, (rows, columns)), shape=(row, n + len(self._owner)))

    def _bounds(
        self, of_cells: NDArray[np.int64], of_corners: list[tuple[int, NDArray[np.object_]]]
    ) -> NDArray[np.int64]:
        """Return bounds of one side with those of the new columns: of t, and beside what is needed."""
        others = len(of_cells) - len(self.corners)
        new = np.where(self._owner >= 0, of_cells[:, self._owner], 0)
        for k, (first, one) in enumerate(zip(self._first, self.corners, strict=True)):
            raised, beside = of_corners[k]
            own = [raised, *(beside[leaf] for leaf, _ in one.needs)]
            new[others + k, first : first + len(own)] = [min(self._count(count, one), ENDLESS) for count in own]
        return np.ascontiguousarray(np.concatenate([of_cells, new], axis=1))

    def _count(self, count: int, corner: Corner) -> int:
        """Return a count of a corner in the decimal of the problem, which is as fine."""
        return int(count * 10 ** (self.problem.decimals - corner.decimals))

    @property
    def _requirements(self) -> ColumnRequirements:
        """The requirements, and that every t reaches the largest need."""
        known, more = self.problem.requirements, len(self.corners)
        level = np.array([self._count(one.largest, one) for one in self.corners], dtype=np.int64)
        none = np.zeros(more, dtype=np.int64)
        new = replace(
            known,
            columns=len(self.problem) + np.array(self._first, dtype=np.int64),
            attackers=self.problem.n_attackers - more + np.arange(more),
            up=level,
            down=none,
            sliding=none,
        )
        return known.join(new)
