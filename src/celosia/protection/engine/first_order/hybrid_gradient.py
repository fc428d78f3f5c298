r"""The primal-dual hybrid gradient method, for masters whose optimum need not be known to the last digit.

Masters of tables with overlapping groupings are degenerate: some thousand rows of three or four entries take the
simplex method seconds, whatever it starts from. What cutting planes need of them is a bound and a point to separate,
and any multipliers :math:`y \ge 0` of the cuts :math:`A x \ge b` have the bound

.. math:: b'y + \sum_j \min_{l_j \le x_j \le u_j} (c - A'y)_j x_j.

Steps of the method multiply by A and by its transpose, and no more (Chambolle and Pock 2011). Diagonal step sizes
(Pock and Chambolle 2011) and restarts from the mean of the last steps (Applegate and others 2021) make some hundred of
them enough for a bound within a thousandth of the best one, and each begins where the last master ended.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.kernels import inner, kernel

CHECK_EVERY = 50
"""Steps between two looks at how far the point is from optimal."""

STEP = 0.99
"""The share of the longest step that converges."""

MUCH_BETTER, BETTER, LONGEST = 0.2, 0.8, 0.36
"""When to start again from the mean: at these shares of the error at the last start, at the second one only where the
error grows again, or after this share of all steps."""


class Program(NamedTuple):
    """Least cost subject to rows that are at least their right sides, and to bounds.

    Parameters
    ----------
    starts, columns, values
        The rows, compressed, ``(m + 1,)`` and ``(k,)``.
    column_starts, rows, column_values
        The same by columns, ``(n + 1,)`` and ``(k,)``.
    right
        The right sides, ``(m,)``.
    cost, lower, upper
        Of every column, ``(n,)``; bounds are finite.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    column_starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    column_values: NDArray[np.float64]
    right: NDArray[np.float64]
    cost: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]

    @classmethod
    def of(
        cls,
        matrix: sp.csr_array,
        right: NDArray[np.float64],
        cost: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
    ) -> Program:
        """Return the program with the rows of a matrix."""
        by_column = sp.csr_array(matrix.T)
        numbers = (right, cost, lower, upper)
        return cls(
            matrix.indptr.astype(np.int64),
            matrix.indices.astype(np.int64),
            matrix.data.astype(np.float64),
            by_column.indptr.astype(np.int64),
            by_column.indices.astype(np.int64),
            by_column.data.astype(np.float64),
            *(np.ascontiguousarray(one, dtype=np.float64) for one in numbers),
        )


class Iterate(NamedTuple):
    """Where the method stands, which steps change in place.

    Parameters
    ----------
    x, y
        The point and the multipliers, ``(n,)`` and ``(m,)``.
    best
        The multipliers of the best bound so far, ``(m,)``.
    weight
        How much longer the steps of the multipliers are than those of the point, ``(1,)``.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    best: NDArray[np.float64]
    weight: NDArray[np.float64]


def start_iterate(program: Program, x: NDArray[np.float64], y: NDArray[np.float64], weight: float = 0.0) -> Iterate:
    """Return where the method starts: at a point and multipliers, with a weight, by default that of all numbers."""
    usual = float(np.linalg.norm(program.cost)) / max(float(np.linalg.norm(program.right)), 1.0)
    first = weight if weight > 0.0 else usual if usual > 0.0 else 1.0
    return Iterate(np.clip(x, program.lower, program.upper), np.maximum(y, 0.0), y.copy(), np.array([first]))


@kernel(fastmath=True)
def take_steps(program: Program, now: Iterate, most: int) -> float:  # noqa: C901, PLR0915  (one loop, compiled)
    """Take so many steps; return the best bound, whose multipliers are kept, as far as doubles tell."""
    x, y, best, weight = now
    m, n = len(y), len(x)
    row_step, column_step = np.empty(m), np.empty(n)
    _invert_sums(program.starts, program.values, row_step)
    _invert_sums(program.column_starts, program.column_values, column_step)
    ahead, left, priced = np.empty(n), np.empty(m), np.empty(n)
    mean_x, mean_y, mean_priced = np.zeros(n), np.zeros(m), np.zeros(n)
    start_x, start_y = x.copy(), y.copy()
    size = np.sqrt((program.cost * program.cost).sum() / max(n, 1))
    _multiply(program.column_starts, program.rows, program.column_values, y, priced)
    highest = _bound(program, y, priced)
    best[:] = y
    count, error_at_start, last_error = 0, np.inf, np.inf
    for step in range(most):
        for j in range(n):
            there = x[j] - column_step[j] / weight[0] * (program.cost[j] - priced[j])
            there = min(max(there, program.lower[j]), program.upper[j])
            ahead[j] = 2.0 * there - x[j]
            x[j] = there
            mean_x[j] += there
        _multiply(program.starts, program.columns, program.values, ahead, left)
        for i in range(m):
            y[i] = max(y[i] + row_step[i] * weight[0] * (program.right[i] - left[i]), 0.0)
            mean_y[i] += y[i]
        _multiply(program.column_starts, program.rows, program.column_values, y, priced)
        for j in range(n):
            mean_priced[j] += priced[j]
        count += 1
        if count % CHECK_EVERY:
            continue
        bound = _bound(program, y, priced)
        if bound > highest:
            highest = bound
            best[:] = y
        error = _measure_error(program, x, bound, size, left)
        some_x, some_y = mean_x / count, mean_y / count
        bound = _bound(program, some_y, mean_priced / count)
        if bound > highest:
            highest = bound
            best[:] = some_y
        error_of_mean = _measure_error(program, some_x, bound, size, left)
        least = min(error, error_of_mean)
        worse = least > last_error
        last_error = least
        if error_at_start == np.inf:
            error_at_start = least
        if not (
            least <= MUCH_BETTER * error_at_start
            or (least <= BETTER * error_at_start and worse)
            or count >= LONGEST * (step + 1)
        ):
            continue
        if error_of_mean < error:
            x[:] = some_x
            y[:] = some_y
            _multiply(program.column_starts, program.rows, program.column_values, y, priced)
        way_x, way_y = _measure_way(x, start_x, column_step), _measure_way(y, start_y, row_step)
        if way_x > 0.0 and way_y > 0.0:
            weight[0] = np.sqrt(weight[0] * way_y / way_x)
        start_x[:] = x
        start_y[:] = y
        mean_x[:] = 0.0
        mean_y[:] = 0.0
        mean_priced[:] = 0.0
        count, error_at_start, last_error = 0, least, np.inf
    return highest


@inner(fastmath=True)
def _multiply(
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    values: NDArray[np.float64],
    x: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Write the product of compressed rows and a vector."""
    for i in range(len(out)):
        total = 0.0
        for place in range(starts[i], starts[i + 1]):
            total += values[place] * x[columns[place]]
        out[i] = total


@inner()
def _invert_sums(starts: NDArray[np.int64], values: NDArray[np.float64], out: NDArray[np.float64]) -> None:
    """Write the longest steps: one over the sum of the entries of each row."""
    for i in range(len(out)):
        total = 0.0
        for place in range(starts[i], starts[i + 1]):
            total += abs(values[place])
        out[i] = STEP / total if total > 0.0 else STEP


@inner(fastmath=True)
def _bound(program: Program, y: NDArray[np.float64], priced: NDArray[np.float64]) -> float:
    """Return the bound of multipliers, given the sum of the rows that they price."""
    total = 0.0
    for i in range(len(y)):
        total += program.right[i] * y[i]
    for j in range(len(priced)):
        reduced = program.cost[j] - priced[j]
        total += reduced * (program.lower[j] if reduced > 0.0 else program.upper[j])
    return total


@inner(fastmath=True)
def _measure_error(
    program: Program, x: NDArray[np.float64], bound: float, size: float, left: NDArray[np.float64]
) -> float:
    """Return how far a point is from optimal: by how much it misses rows, and its cost the bound."""
    _multiply(program.starts, program.columns, program.values, x, left)
    missed, cost = 0.0, 0.0
    for i in range(len(left)):
        missing = program.right[i] - left[i]
        if missing > 0.0:
            missed += missing * missing
    for j in range(len(x)):
        cost += program.cost[j] * x[j]
    return size * float(np.sqrt(missed)) + abs(cost - bound)


@inner(fastmath=True)
def _measure_way(there: NDArray[np.float64], here: NDArray[np.float64], step: NDArray[np.float64]) -> float:
    """Return how long the way from one point to another is, in steps."""
    total = 0.0
    for k in range(len(step)):
        total += (there[k] - here[k]) * (there[k] - here[k]) / step[k]
    return float(np.sqrt(total))
