"""Gauss and Jordan's elimination of relations in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.solve import deadline
from celosia.tolerance import LARGEST_COORDINATE


def distinct_rows(matrix: sp.csr_array) -> sp.csr_array:
    """Return the rows that are not zero and not equal to an earlier one, or its negative."""
    matrix.eliminate_zeros()
    matrix.sort_indices()
    filled = sp.csr_array(matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)])
    if not filled.shape[0]:
        return filled
    keys = np.random.default_rng(0).integers(1, 2**40, size=(filled.shape[1], 2))
    projected = np.asarray(filled @ keys)
    projected *= np.sign(filled.data[filled.indptr[:-1]])[:, None]
    _, first = np.unique(projected, axis=0, return_index=True)
    return sp.csr_array(filled[np.sort(first)])


def eliminate(
    relations: sp.csr_array, largest: int = LARGEST_COORDINATE
) -> tuple[sp.csr_array, NDArray[np.int64]] | None:
    """Return every column as a combination of free ones in whole numbers, ``(k, free)``, and which are free.

    A free column is a multiple of its coordinate, mostly once. Pivots are the smallest entries of the shortest relation
    that is left, mostly ones, in the column with the fewest entries, so that little is filled in. None where numbers
    grow larger than `largest`, whose square 64 bits must hold.
    """
    array, pivots = relations.toarray(), _Pivots.of(relations)
    while (row := pivots.next_row()) >= 0:
        deadline.check()
        column = _choose_pivot(array, row)
        columns, hit = np.flatnonzero(array[row]), np.flatnonzero(array[:, column])
        hit = hit[hit != row]
        pivot, factors = array[row, column], array[hit, column]
        if pivot > 1:
            array[hit] *= pivot
        array[np.ix_(hit, columns)] -= factors[:, None] * array[row, columns]
        if len(hit):
            if pivot > 1:
                array[hit] //= np.maximum(np.gcd.reduce(array[hit], axis=1), 1)[:, None]
            if int(np.abs(array[hit]).max()) > largest:
                return None
        pivots.take(row, column, hit, np.count_nonzero(array[hit], axis=1))
    return _express_by_free(array, pivots, largest)


def _choose_pivot(array: NDArray[np.int64], row: int) -> int:
    """Return the column of the pivot of a relation, which is divided by its common factor, the pivot positive."""
    columns = np.flatnonzero(array[row])
    array[row, columns] //= np.gcd.reduce(array[row, columns])
    sizes = np.abs(array[row, columns])
    smallest = columns[sizes == sizes.min()]
    column = int(smallest[np.argmin(np.count_nonzero(array[:, smallest], axis=0))])
    if array[row, column] < 0:
        array[row, columns] *= -1
    return column


@dataclass(slots=True, eq=False)
class _Pivots:
    """The pivots of an elimination so far, and which relations wait for one.

    Parameters
    ----------
    rows, columns
        The places of the pivots.
    lengths
        How many entries every relation has, `never` for those that do not wait, ``(m,)``.
    never
        More than a relation can have.
    """

    rows: list[int]
    columns: list[int]
    lengths: NDArray[np.int64]
    never: int

    @classmethod
    def of(cls, relations: sp.csr_array) -> _Pivots:
        """Return the start of an elimination."""
        never, lengths = relations.shape[1] + 1, np.diff(relations.indptr).astype(np.int64)
        return cls([], [], np.where(lengths > 0, lengths, never), never)

    def next_row(self) -> int:
        """Return the shortest relation that waits, -1 where none does."""
        if not len(self.lengths):
            return -1
        row = int(np.argmin(self.lengths))
        return row if self.lengths[row] < self.never else -1

    def take(self, row: int, column: int, hit: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Note a pivot, and the new lengths of the relations that it has changed."""
        self.rows.append(row)
        self.columns.append(column)
        done = self.lengths[hit] >= self.never
        self.lengths[hit] = np.where(done | (lengths == 0), self.never, lengths)
        self.lengths[row] = self.never


def _express_by_free(
    array: NDArray[np.int64], pivots: _Pivots, largest: int
) -> tuple[sp.csr_array, NDArray[np.int64]] | None:
    """Return columns as combinations of those without a pivot, by relations in reduced form."""
    k, rows = array.shape[1], np.array(pivots.rows, dtype=np.int64)
    bound = np.array(pivots.columns, dtype=np.int64)
    free = np.setdiff1d(np.arange(k), bound)
    rest, own = array[rows][:, free], array[rows, bound][:, None]
    multiples = np.lcm.reduce(own // np.gcd(rest, own), axis=0, initial=1)
    if not bool(((multiples > 0) & (multiples <= largest)).all()):
        return None
    dependent = sp.coo_array(-(rest * multiples) // own)
    values = np.concatenate([multiples, dependent.data])
    places = (
        np.concatenate([free, bound[dependent.row]]),
        np.concatenate([np.arange(len(free)), dependent.col]),
    )
    return sp.csr_array((values, places), shape=(k, len(free)), dtype=np.int64), free
