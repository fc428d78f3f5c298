"""A linear, mixed-integer or quadratic program as plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError
from celosia.tolerance import ENDLESS

SMALLEST_ENTRY = 1e-9
"""Solvers drop smaller entries of a row without asking, which changes the problem."""

LARGEST_ENTRY = 1e15
"""Solvers refuse larger entries of a row."""

LARGEST_NUMBER = 1e20
"""Solvers read larger costs and bounds as infinite."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearProgram:
    r"""Minimise :math:`c'x + x'Qx/2` subject to :math:`r \le Ax \le s` and :math:`l \le x \le u`.

    Parameters
    ----------
    rows
        A, ``(m, n)``. Entries are zero or between 1e-9 and 1e15 in size.
    row_lower, row_upper
        r and s, ``(m,)``; -inf and inf where a side is open.
    lower, upper
        l and u, ``(n,)``; -inf and inf where a side is open. Where a lower bound lies above its upper one the problem
        is infeasible, not wrong.
    cost
        c, ``(n,)``. Models that are opened have costs below 1e20 in size.
    integer
        Which columns take whole numbers only, ``(n,)``; None where none does.
    quadratic
        Q, ``(n, n)``, symmetric and positive semidefinite; None for a linear objective.
    """

    rows: sp.csr_array
    row_lower: NDArray[np.float64]
    row_upper: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    cost: NDArray[np.float64]
    integer: NDArray[np.bool_] | None = None
    quadratic: sp.csc_array | None = None

    def __post_init__(self) -> None:
        found = Problems()
        n_rows, n_columns = self.rows.shape
        check_entries(found, "rows", self.rows)
        check_bounds(found, ("row_lower", "row_upper"), self.row_lower, self.row_upper, n_rows)
        check_bounds(found, ("lower", "upper"), self.lower, self.upper, n_columns)
        check_numbers(found, "cost", self.cost, n_columns, most=np.inf)
        if self.integer is not None and self.integer.shape != (n_columns,):
            found.add("integer", f"has shape {self.integer.shape}, not {(n_columns,)}.")
        if self.quadratic is not None:
            _check_quadratic(found, self.quadratic, n_columns)
        found.raise_as(SpecError)

    @classmethod
    def of_moves(
        cls,
        rows: sp.csr_array,
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        cost: NDArray[np.float64] | None = None,
        integer: NDArray[np.bool_] | None = None,
    ) -> LinearProgram:
        """Return the program over moves of a table: :math:`Ax = 0`. Without a cost any of them will do."""
        zero, free = np.zeros(rows.shape[0]), np.zeros(rows.shape[1])
        entries = sp.csr_array(rows, dtype=np.float64)
        return cls(entries, zero, zero, lower, upper, free if cost is None else cost, integer=integer)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        n_rows, n_columns = self.rows.shape
        return int(n_rows), int(n_columns)

    @property
    def has_integers(self) -> bool:
        """Whether some column takes whole numbers only."""
        return self.integer is not None and bool(self.integer.any())

    @property
    def has_squares(self) -> bool:
        """Whether the objective is quadratic."""
        return self.quadratic is not None and self.quadratic.nnz > 0


def numbers(values: ArrayLike) -> NDArray[np.float64]:
    """Return values as an array of floats, without a copy where they are one."""
    return np.ascontiguousarray(values, dtype=np.float64)


def float_bounds(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return bounds in whole numbers as solvers want them: infinite from `celosia.tolerance.ENDLESS` on."""
    bounds = counts.astype(np.float64)
    bounds[counts >= ENDLESS], bounds[counts <= -ENDLESS] = np.inf, -np.inf
    return bounds


def tidy(rows: sp.csr_array) -> sp.csr_array:
    """Return rows as solvers want them: floats and 32-bit places, one entry a place, no stored zeros."""
    tidied = sp.csr_array(rows, dtype=np.float64)
    if not tidied.has_canonical_format or not tidied.data.all():
        tidied = tidied.copy()
        tidied.sum_duplicates()
        tidied.eliminate_zeros()
    indices, starts = tidied.indices.astype(np.int32, copy=False), tidied.indptr.astype(np.int32, copy=False)
    return sp.csr_array((tidied.data, indices, starts), shape=tidied.shape)


def check_entries(found: Problems, place: str, matrix: sp.csr_array | sp.csc_array) -> None:
    """Note entries that a solver would drop or refuse."""
    sizes = np.abs(matrix.data)
    if not bool(np.all((sizes == 0) | ((sizes > SMALLEST_ENTRY) & (sizes < LARGEST_ENTRY)))):
        found.add(
            place,
            f"has entries that are no numbers or not between {SMALLEST_ENTRY:g} and {LARGEST_ENTRY:g} in size.",
            "Scale the rows.",
        )


def check_numbers(
    found: Problems, place: str, values: NDArray[np.float64], length: int, most: float = LARGEST_NUMBER
) -> None:
    """Note an array of another length, and numbers that are not finite or not below a largest one."""
    if values.shape != (length,):
        found.add(place, f"has shape {values.shape}, not {(length,)}.")
    elif not bool(np.all(np.abs(values) < most)):
        found.add(place, f"has numbers that are not finite or not below {most:g} in size.")


def check_bounds(
    found: Problems, places: tuple[str, str], lower: NDArray[np.float64], upper: NDArray[np.float64], length: int
) -> None:
    """Note bounds of another length, and bounds that are no bounds."""
    for place, values, open_side in zip(places, (lower, upper), (-np.inf, np.inf), strict=True):
        if values.shape != (length,):
            found.add(place, f"has shape {values.shape}, not {(length,)}.")
        elif not bool(np.all((np.abs(values) < LARGEST_NUMBER) | (values == open_side))):
            found.add(
                place,
                f"has numbers that are neither below {LARGEST_NUMBER:g} in size nor {open_side}.",
                f"Say {open_side} where there is no bound.",
            )


def _check_quadratic(found: Problems, quadratic: sp.csc_array, n_columns: int) -> None:
    if quadratic.shape != (n_columns, n_columns):
        found.add("quadratic", f"has shape {quadratic.shape}, not {(n_columns, n_columns)}.")
        return
    check_entries(found, "quadratic", quadratic)
    if abs(quadratic - quadratic.T).max() > 0:
        found.add("quadratic", "is not symmetric.", "Give the whole matrix Q of x'Qx/2, not a triangle of it.")
