"""Moves of a pattern in whole numbers: a basis of the lattice of those that leave every shown class where it is.

Reduced forms of the relations may have numbers of many digits, although short moves in whole numbers exist. So the
lattice is restricted class by class by Euclid's algorithm, always with the shortest vectors, and its basis reduced by
pairs in the end: every vector becomes as short as multiples of one other can make it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.solve import deadline
from celosia.tolerance import LARGEST_IN_KERNEL

if TYPE_CHECKING:
    import scipy.sparse as sp

_MOST_SWEEPS, _FEW_SWEEPS = 8, 3
"""Times that all pairs are compared, in the end and in between; mostly nothing is left to be gained after five."""

_LONG = 2**10
"""Vectors with larger numbers are reduced before the next class is looked at."""

_Whole = Annotated[NDArray[np.int64], 2]


def find_whole_moves(combinations: sp.csr_array, hidden: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """Return a basis in whole numbers of the moves that leave shown classes where they are, ``(n, d)``.

    None where numbers grow too large.

    Parameters
    ----------
    combinations
        Kernel coordinates of all classes, in whole numbers, ``(n, k)``.
    hidden
        The pattern, ``(n,)``.
    """
    shown = np.flatnonzero(~hidden)
    shown = shown[np.argsort(np.diff(combinations.indptr)[shown], kind="stable")]
    starts, columns = combinations.indptr.astype(np.int64), combinations.indices.astype(np.int64)
    data, vectors = combinations.data.astype(np.int64), np.eye(combinations.shape[1], dtype=np.int64)
    largest, done = _LONG, 0
    while done < len(shown):
        deadline.check()
        vectors, now = _restrict(vectors, starts, columns, data, shown[done:], largest)
        done += now
        if int(np.abs(vectors).max(initial=0)) > largest:
            vectors = _shorten(vectors, _FEW_SWEEPS)
            while int(np.abs(vectors).max(initial=0)) > largest:
                largest *= 4
            if largest > LARGEST_IN_KERNEL:
                return None
    vectors = _shorten(vectors, _MOST_SWEEPS)
    found = np.asarray(combinations @ vectors.T, dtype=np.int64)
    return None if bool(found[shown].any()) else found  # numbers did not fit into 64 bits in between


@kernel()
def _restrict(  # noqa: C901  (one loop, compiled)
    basis: _Whole,
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    data: NDArray[np.int64],
    shown: NDArray[np.int64],
    largest: int,
) -> tuple[_Whole, int]:
    """Return a basis of the combinations of vectors at which some classes do not move, and how many of these it is of.

    It ends as soon as a number is larger than `largest`.
    """
    vectors = basis.copy()
    d, k = vectors.shape
    alive = np.ones(d, dtype=np.bool_)
    length = np.zeros(d, dtype=np.float64)
    moved = np.zeros(d, dtype=np.int64)
    for i in range(d):
        for place in range(k):
            length[i] += float(vectors[i, place]) * float(vectors[i, place])
    done, most = 0, 0
    for one in shown:
        for i in range(d):
            moved[i] = 0
            if alive[i]:
                for place in range(starts[one], starts[one + 1]):
                    moved[i] += data[place] * vectors[i, columns[place]]
        last = -1
        while True:
            pivot = _choose(moved, length)
            if pivot < 0 or pivot == last:
                break
            most = max(most, _subtract(vectors, moved, length, pivot))
            last = pivot
        if last >= 0:
            alive[last] = False
        done += 1
        if most > largest:
            break
    return vectors[alive].copy(), done


@inner()
def _choose(moved: NDArray[np.int64], length: NDArray[np.float64]) -> int:
    """Return the vector that moves a class least, the shortest of several, -1 where none does."""
    best = -1
    for i in range(len(moved)):
        if moved[i] != 0 and (
            best < 0
            or abs(moved[i]) < abs(moved[best])
            or (abs(moved[i]) == abs(moved[best]) and length[i] < length[best])
        ):
            best = i
    return best


@inner()
def _subtract(vectors: _Whole, moved: NDArray[np.int64], length: NDArray[np.float64], pivot: int) -> int:
    """Subtract a vector from all others that move a class, as often as leaves least; return the largest number."""
    d, k = vectors.shape
    most = 0
    for i in range(d):
        if i == pivot or moved[i] == 0:
            continue
        times = int(np.rint(moved[i] / moved[pivot]))
        moved[i] -= times * moved[pivot]
        length[i] = 0.0
        for place in range(k):
            if vectors[pivot, place] != 0:
                vectors[i, place] -= times * vectors[pivot, place]
            most = max(most, abs(vectors[i, place]))
            length[i] += float(vectors[i, place]) * float(vectors[i, place])
    return most


def _shorten(vectors: NDArray[np.int64], most: int) -> NDArray[np.int64]:
    """Return a basis of the same lattice with shorter vectors, the shortest first; it is made anew at most so often.

    Every vector is reduced by the shorter ones, as in the algorithm of Lenstra, Lenstra and Lovasz, but sorted in place
    of swapped. Rounding errors make it less short, never wrong.
    """
    for _ in range(most):
        lengths = np.einsum("ij,ij->i", vectors.astype(np.float64), vectors.astype(np.float64))
        vectors = np.ascontiguousarray(vectors[np.argsort(lengths, kind="stable")])
        triangle: NDArray[np.float64] = np.linalg.qr(vectors.T.astype(np.float64), mode="reduced")[1]
        if not _reduce_by_shorter(vectors, np.ascontiguousarray(triangle.T)):
            break
    return vectors


@kernel()
def _reduce_by_shorter(vectors: _Whole, parts: Annotated[NDArray[np.float64], 2]) -> int:
    """Subtract multiples of earlier vectors from each, rounded by their orthogonal parts; return how often."""
    d, k = vectors.shape
    changes = 0
    for i in range(d):
        for j in range(i - 1, -1, -1):
            own = parts[j, j]
            if own == 0.0:
                continue
            times = np.rint(parts[i, j] / own)
            if times == 0.0 or abs(times) > LARGEST_IN_KERNEL:
                continue
            changes += 1
            for place in range(j + 1):
                parts[i, place] -= times * parts[j, place]
            for place in range(k):
                vectors[i, place] -= int(times) * vectors[j, place]
    return changes
