r"""What an attacker has to solve: the cells that he does not know, in whole numbers.

With :math:`x = y - a` his problem for cell p is to push :math:`x_p` as far up and down as it goes, subject to

.. math:: M x = 0, \qquad -\mathrm{down}_i \le x_i \le \mathrm{up}_i,

where *down* and *up* are his bounds: the distances from the true value to what the release and his own knowledge leave
open. :math:`x = 0` is always feasible. Numbers are counts of one common decimal, but for cells of which he knows that
they are whole numbers: these count in ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.filled_rows import take_filled_rows
from celosia.attack.system.redundancy import find_implied_rows
from celosia.errors import DataError
from celosia.table.fixed import Fixed
from celosia.table.table import Table
from celosia.tolerance import ENDLESS


@dataclass(frozen=True, slots=True, eq=False)
class System:
    """The unknown cells of an attacker and the relations between them.

    Parameters
    ----------
    cells
        The unknown cells, ``(n,)``.
    matrix
        The relations among them, ``(m, n)``, rows without an unknown left out.
    relations
        The relation of every row, ``(m,)``.
    implied
        Which rows the others imply, ``(m,)``; see `celosia.attack.system.redundancy`.
    down, up
        The bounds of the moves, ``(n,)``, `ENDLESS` where there is no end.
    whole
        Which cells the attacker knows to be whole numbers, ``(n,)``.
    decimals
        The decimal in which moves of the other cells are counted; those of whole cells count in ones.
    n_cells
        The number of cells of the table.
    """

    cells: NDArray[np.int64]
    matrix: sp.csr_array
    relations: NDArray[np.int64]
    implied: NDArray[np.bool_]
    down: NDArray[np.int64]
    up: NDArray[np.int64]
    whole: NDArray[np.bool_]
    decimals: int
    n_cells: int

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def digits(self) -> NDArray[np.int64]:
        """The decimal in which every unknown cell is counted, ``(n,)``."""
        return np.where(self.whole, 0, self.decimals).astype(np.int64)

    def digits_of(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the decimal in which cells of the table are counted, known ones among them, ``(k,)``."""
        digits = np.full(self.n_cells, self.decimals, dtype=np.int64)
        digits[self.cells] = self.digits
        return digits[cells]


def attacker_system(
    table: Table,
    bounds: list[tuple[Fixed, Fixed]],
    *,
    names: list[str],
    whole: NDArray[np.bool_] | None = None,
    redundant: NDArray[np.bool_] | None = None,
) -> System:
    """Return the system of an attacker.

    Parameters
    ----------
    table
        The true table.
    bounds
        Everything that is known about every cell: what the release gives away, and what the attacker brings along.
    names
        Who says so, for messages.
    whole
        Which cells the attacker knows to be whole numbers, ``(n_cells,)``: their bounds are whole numbers, and count
        in them. By default none.
    redundant
        Which relations of the table the others imply, where that is known from another attacker.

    Raises
    ------
    DataError
        A bound does not hold the true value.
    """
    decimals = max([table.decimals, *(part.decimals for pair in bounds for part in pair)])
    truth = _counts(table.amounts, decimals)
    down = np.full(len(table), ENDLESS, dtype=np.int64)
    up = np.full(len(table), ENDLESS, dtype=np.int64)
    for (lower, upper), name in zip(bounds, names, strict=True):
        own_down, own_up = _distances_to(lower, truth, decimals, -1), _distances_to(upper, truth, decimals, 1)
        if min(own_down.min(initial=0), own_up.min(initial=0)) < 0:
            wrong = np.flatnonzero((own_down < 0) | (own_up < 0))
            message = (
                f"does not hold the true value of {len(wrong)} cells, the first being {table.label(int(wrong[0]))}."
            )
            raise DataError.one(name, message, "Is it about this table?")
        np.minimum(down, own_down, out=down)
        np.minimum(up, own_up, out=up)
    known = np.zeros(len(table), dtype=bool) if whole is None else whole
    if decimals and bool(known.any()):
        step = np.where(known, 10**decimals, 1)
        down = np.where(down >= ENDLESS, ENDLESS, down // step)
        up = np.where(up >= ENDLESS, ENDLESS, up // step)
        decimals = 0 if bool(known.all()) else decimals
    cells = np.flatnonzero((down > 0) | (up > 0))
    matrix, relations = take_filled_rows(table.relations.matrix[:, cells])
    redundant = find_implied_rows(table.relations.matrix) if redundant is None else redundant
    return System(
        cells=cells,
        matrix=_in_steps(matrix, known[cells], decimals),
        relations=relations,
        implied=redundant[relations],
        down=down[cells],
        up=up[cells],
        whole=known[cells],
        decimals=decimals,
        n_cells=len(table),
    )


def _in_steps(matrix: sp.csr_array, whole: NDArray[np.bool_], decimals: int) -> sp.csr_array:
    """Return relations between cells of which some count in ones: these weigh more beside others.

    Relations of whole cells alone stay as they are, and networks of them networks.
    """
    if not decimals or not bool(whole.any()):
        return matrix
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    others = np.bincount(row[~whole[matrix.indices]], minlength=matrix.shape[0]) > 0
    weight = np.where(whole[matrix.indices] & others[row], 10**decimals, 1)
    return sp.csr_array((matrix.data * weight, matrix.indices, matrix.indptr), shape=matrix.shape)


def _distances_to(ends: Fixed, truth: NDArray[np.int64], decimals: int, sign: int) -> NDArray[np.int64]:
    """Return how far ends of one side are from true counts in a decimal that is fine enough for both."""
    distances = _counts(ends, decimals) - truth
    distances *= sign
    distances[ends.infinite] = ENDLESS
    return distances


def _counts(numbers: Fixed, decimals: int) -> NDArray[np.int64]:
    """Return counts in a finer decimal; infinite ones come out as zero."""
    finite = Fixed(np.where(numbers.infinite, 0, numbers.counts), numbers.decimals).to(decimals).counts
    if finite.dtype == object or max(finite.max(initial=0), -finite.min(initial=0)) >= ENDLESS:
        raise DataError.one(
            "numbers", f"need more than 18 digits with {decimals} decimals.", "Round bounds and levels."
        )
    return np.asarray(finite, dtype=np.int64)
