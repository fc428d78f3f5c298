r"""Sparse systems of whole numbers, solved in fractions.

The inverse is a factorisation in floating point, and every digit it gives is checked: :math:`A z = b` is solved to some
bits, what these bits leave of b is computed in whole numbers and scaled up, and so on (Wan's numeric-symbolic method).
The rest stays small, so 64-bit integers hold it, while the solution gets as many bits as its denominator needs; then
continued fractions find the denominator. The factorisation is that of :math:`A'A`: rows may be redundant, columns not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.tolerance import LARGEST_COUNT

linalg = OnFirstUse("scipy.sparse.linalg")

Whole = NDArray[np.int64] | NDArray[np.object_]
"""Whole numbers: 64-bit where all are below `celosia.tolerance.LARGEST_COUNT`, else Python's."""

_BITS_A_ROUND = (28, 10)  # few for systems that are nearly singular
_MOST_BITS = 4096
_LARGEST_REST = 2.0**20
_GUARD_BITS = 4  # the last bits of a solution that may be wrong


def solve_exactly(
    matrix: sp.csr_array, right: NDArray[np.int64], start: NDArray[np.int64], free: NDArray[np.bool_]
) -> tuple[Whole, int] | None:
    """Return numerators and one denominator of the solution of ``matrix @ z == right``.

    Parameters
    ----------
    matrix
        Whole numbers, ``(m, n)``; the free columns are independent.
    right
        The right-hand side, ``(m,)``.
    start
        A vector close to the solution, ``(n,)``.
    free
        Where the solution may differ from it, ``(n,)``.

    Returns
    -------
    None where there is no solution, or one that is too far away or needs too many digits, or, unless the start is one,
    where there are many.
    Guarantee: what is returned satisfies the equations exactly.
    """
    rest = right - multiply_exactly(matrix, start)
    if rest.dtype == object:
        return None
    columns = np.flatnonzero(free)
    part = sp.csr_array(matrix[:, columns])
    rows = np.diff(part.indptr) > 0
    if rest[~rows].any():
        return None
    if not rest.any():
        return start, 1
    found = _solve_independent(sp.csr_array(part[rows]), np.asarray(rest[rows], dtype=np.int64))
    if found is None:
        return None
    difference, denominator = found
    numerators = start.astype(object) * denominator
    numerators[columns] += difference
    return (numerators if denominator >= LARGEST_COUNT else compact(numerators)), denominator


def find_common_denominator(numbers: Whole, bits: int) -> int | None:
    """Return the denominator of numbers that are known to some bits behind the point.

    Parameters
    ----------
    numbers
        The numbers times ``2**bits``, whose last few bits may be wrong.
    bits
        How many.

    Returns
    -------
    None where there is none of less than about half the bits.
    """
    half, mask = 1 << (bits - 1), (1 << bits) - 1
    most = 1 << max(0, bits // 2 - _GUARD_BITS)
    denominator = 1
    while True:
        scaled = numbers * denominator
        fractions = ((scaled + half) & mask) - half
        wrong = np.abs(fractions) > denominator << _GUARD_BITS
        if not wrong.any():
            return denominator
        more = _denominator(int(fractions[np.argmax(wrong)]), bits, most // denominator)
        if more == 1:
            return None
        denominator *= more


def multiply_exactly(matrix: sp.csr_array, vector: Whole) -> Whole:
    """Return the product of a matrix of whole numbers and a vector, whatever its size."""
    if vector.dtype != object:
        heaviest = int(np.abs(matrix.data).max(initial=0)) * max(1, int(matrix.shape[1]))
        if int(vector.max(initial=0)) < LARGEST_COUNT // max(1, heaviest) > -int(vector.min(initial=0)):
            return np.asarray(matrix @ vector)
    entries = matrix.tocoo()
    product = np.zeros(matrix.shape[0], dtype=object)
    np.add.at(product, entries.row, entries.data.astype(object) * vector.astype(object)[entries.col])
    return compact(product)


def compact(numbers: NDArray[np.object_]) -> Whole:
    """Return Python's integers as 64-bit ones if they fit."""
    if len(numbers) and not -LARGEST_COUNT < numbers.min() <= numbers.max() < LARGEST_COUNT:
        return numbers
    return numbers.astype(np.int64)


def _solve_independent(matrix: sp.csr_array, right: NDArray[np.int64]) -> tuple[Whole, int] | None:
    """Return the solution of a system all of whose columns are independent."""
    solve = _approximate_solver(matrix)
    if solve is None:
        return None
    for bits_a_round in _BITS_A_ROUND:
        for numbers, bits in _approximate(matrix, right, solve, bits_a_round):
            denominator = find_common_denominator(numbers, bits)
            if denominator is None:
                continue
            numerators = compact((numbers * (2 * denominator) + (1 << bits)) >> (bits + 1))
            if not (multiply_exactly(matrix, numerators) - right.astype(object) * denominator).any():
                return numerators, denominator
    return None


def _approximate_solver(matrix: sp.csr_array) -> Callable[[NDArray[np.int64]], NDArray[np.float64]] | None:
    """Return a function that solves a system in the sense of least squares, None where columns are dependent."""
    numbers = matrix.astype(np.float64)
    flipped = sp.csr_array(numbers.T)
    try:
        factors = linalg.splu(
            sp.csc_array(flipped @ numbers),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return None
    return lambda right: np.asarray(factors.solve(flipped @ right.astype(np.float64)))


def _approximate(
    matrix: sp.csr_array,
    right: NDArray[np.int64],
    solve: Callable[[NDArray[np.int64]], NDArray[np.float64]],
    bits_a_round: int,
) -> Iterator[tuple[NDArray[np.object_], int]]:
    """Yield ever closer approximations of a solution, times ``2**bits``, and the bits; end where it gets no closer."""
    heaviest = float(np.abs(matrix.data).max()) * matrix.shape[1]
    numbers: NDArray[np.object_] = np.zeros(matrix.shape[1], dtype=object)
    rest, bits, next_bits = right, 0, 2 * bits_a_round
    while bits < _MOST_BITS:
        if np.abs(rest).max() > _LARGEST_REST:
            return
        rest = rest << bits_a_round
        digits = solve(rest)
        if not np.abs(digits).max() * heaviest < LARGEST_COUNT:
            return
        whole = np.rint(digits).astype(np.int64)
        rest = rest - matrix @ whole
        numbers = numbers * (1 << bits_a_round) + whole.astype(object)
        bits += bits_a_round
        if bits >= next_bits:
            yield numbers, bits
            next_bits = bits + max(bits_a_round, bits // 4)


def _denominator(numerator: int, bits: int, most: int) -> int:
    """Return the largest denominator up to `most` in the continued fraction of ``numerator / 2**bits``."""
    over, under = numerator, 1 << bits
    before, last = 1, 0
    while under:
        whole, left = divmod(over, under)
        following = whole * last + before if last else 1
        if following > most:
            break
        before, last = last, following
        over, under = under, left
    return max(1, last)
