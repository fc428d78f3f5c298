r"""The kernel of a pattern: moves that leave every shown class where it is, :math:`y_S = B u` with few coordinates u.

Good patterns of tables with overlapping hierarchies have only a few degrees of freedom left, so that programs about
them are tiny. Every class that is shown takes at most one coordinate away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import kernel
from celosia.tolerance import KERNEL_ZERO

if TYPE_CHECKING:
    import scipy.sparse as sp


@dataclass(frozen=True, slots=True, eq=False)
class PatternKernel:
    """The moves of a pattern.

    Parameters
    ----------
    columns
        The classes that are hidden and can move, increasing, ``(h,)``.
    basis
        B: their moves in coordinates, ``(h, d)``.
    """

    columns: NDArray[np.int64]
    basis: NDArray[np.float64]

    @classmethod
    def of(cls, combinations: sp.csr_array, hidden: NDArray[np.bool_]) -> PatternKernel:
        """Return the kernel of a pattern, ``(n,)``, by the kernel coordinates of all classes."""
        shown = np.flatnonzero(~hidden)
        shown = shown[np.argsort(np.diff(combinations.indptr)[shown], kind="stable")]
        starts, columns = combinations.indptr.astype(np.int64), combinations.indices.astype(np.int64)
        reduced, free = _contract(starts, columns, combinations.data, shown, combinations.shape[1])
        basis = np.asarray(combinations @ reduced[:, free])
        basis[np.abs(basis) <= KERNEL_ZERO] = 0.0
        moving = np.flatnonzero(hidden & (basis != 0.0).any(axis=1))
        return cls(moving, np.ascontiguousarray(basis[moving]))


@kernel()
def _contract(  # noqa: C901  (one loop, compiled)
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    data: NDArray[np.float64],
    shown: NDArray[np.int64],
    d: int,
) -> tuple[Annotated[NDArray[np.float64], 2], NDArray[np.int64]]:
    """Return coordinates in terms of those that stay free when the moves of some classes are zero, and which stay."""
    reduced = np.zeros((d, d), dtype=np.float64)
    free = np.empty(d, dtype=np.int64)
    row = np.zeros(d, dtype=np.float64)
    used = np.empty(d, dtype=np.int64)
    for k in range(d):
        reduced[k, k] = 1.0
        free[k] = k
    n_free = d
    for one in shown:
        pivot = -1
        largest = KERNEL_ZERO
        n_used = 0
        for k in range(n_free):
            column = free[k]
            total = 0.0
            for place in range(starts[one], starts[one + 1]):
                total += data[place] * reduced[columns[place], column]
            if abs(total) > KERNEL_ZERO:
                row[column] = total
                used[n_used] = column
                n_used += 1
                if abs(total) > largest:
                    largest = abs(total)
                    pivot = k
        if pivot < 0:
            continue
        chosen = free[pivot]
        for k in range(d):
            factor = reduced[k, chosen] / row[chosen]
            if factor != 0.0:
                for place in range(n_used):
                    column = used[place]
                    left = reduced[k, column] - factor * row[column]
                    reduced[k, column] = left if abs(left) > KERNEL_ZERO else 0.0
                reduced[k, chosen] = 0.0
        for k in range(pivot, n_free - 1):
            free[k] = free[k + 1]
        n_free -= 1
    return reduced, free[:n_free].copy()
