"""Classes of cells that always move together, up or down: their rows of kernel coordinates agree up to the sign."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class MovementClasses:
    """A partition of cells into classes whose members move by the same amount, in the same or opposite direction.

    Parameters
    ----------
    number
        The class of every cell, ``(n,)``; -1 for cells that cannot move at all.
    sign
        Whether a cell moves as the first of its class does, 1, or against it, -1, ``(n,)``.
    first
        The first cell of every class, increasing, ``(c,)``.
    """

    number: NDArray[np.int64]
    sign: NDArray[np.int64]
    first: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.first)

    @property
    def merging(self) -> sp.csr_array:
        """The matrix that makes moves of cells from moves of classes, ``(n, c)``."""
        moving = np.flatnonzero(self.number >= 0)
        entries = (self.sign[moving], (moving, self.number[moving]))
        return sp.csr_array(entries, shape=(len(self.number), len(self)), dtype=np.int64)


def find_classes(combinations: sp.csr_array) -> MovementClasses:
    """Return the classes of cells by their kernel coordinates, ``(n, d)``.

    Guarantee: rows of one class are compared entry by entry, so members do move together.
    """
    n, d = combinations.shape
    moving = np.flatnonzero(np.diff(combinations.indptr) > 0)
    leading = np.zeros(n, dtype=np.int64)
    leading[moving] = np.sign(combinations.data[combinations.indptr[moving]])
    turned = sp.csr_array(combinations, copy=True)
    turned.data = turned.data * np.repeat(leading, np.diff(turned.indptr))
    keys = np.random.default_rng(0).integers(1, 2**30, size=(d, 2))
    _, place = np.unique(np.asarray(turned[moving] @ keys), axis=0, return_inverse=True)
    first = np.full(place.max(initial=-1) + 1, n, dtype=np.int64)
    np.minimum.at(first, place.ravel(), moving)
    model = np.arange(n)
    model[moving] = first[place.ravel()]
    differs = sp.csr_array(turned - turned[model])
    differs.eliminate_zeros()
    apart = np.diff(differs.indptr) > 0  # two rows with the same key by chance
    model[apart] = np.flatnonzero(apart)
    leaders = moving[model[moving] == moving]
    number = np.full(n, -1, dtype=np.int64)
    number[moving] = np.searchsorted(leaders, model[moving])
    return MovementClasses(number, leading * leading[model], leaders)
