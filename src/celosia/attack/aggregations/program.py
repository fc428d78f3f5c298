r"""The program behind an aggregation: a combination of relations in which a leaf cell counts and others cost least.

Coefficients :math:`\lambda = M'\mu` of hidden cells are combinations of relations; those of totals are zero, that of
one leaf cell is one, and the others cost by their size. Where the cost is not negative that is a linear program; where
it is, the sign of the coefficient is branched on. What the solver proposes is made exact: any multipliers for which the
totals cancel out are an aggregation.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.fractions import Whole, multiply_exactly, solve_exactly
from celosia.errors import SolverError
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status
from celosia.tolerance import AGGREGATION_ZERO, USUAL_ENTRIES

_DENOMINATORS = (1, 12, 1000, 10_000_000)  # of multipliers: the smallest that is near


class AggregationProgram:
    """Hidden cells of one component, and the cheapest combination of relations among them.

    Columns of the program are the multipliers of relations, then for every leaf cell how far its coefficient is above
    and below zero.

    Parameters
    ----------
    cells
        The cells, ``(n,)``.
    leaf
        Their places among leaf cells, -1 for totals, ``(n,)``.
    matrix
        Relations among them, ``(k, n)``.
    backend
        A solver.
    """

    def __init__(
        self, cells: NDArray[np.int64], leaf: NDArray[np.int64], matrix: sp.csr_array, backend: Backend
    ) -> None:
        self._cells, self._matrix, self._backend = cells, matrix, backend
        self._inner = np.flatnonzero(leaf >= 0)
        self.leaves = leaf[self._inner]
        self._open: Model | None = None

    @cached_property
    def _rows(self) -> sp.csr_array:
        n, m = len(self._cells), len(self._inner)
        unit = sp.csr_array((np.ones(m), (self._inner, np.arange(m))), shape=(n, m))
        return sp.csr_array(sp.hstack([self._matrix.T.astype(np.float64), -unit, unit]))

    def least(
        self, costs: NDArray[np.float64], most: NDArray[np.float64], main: int, seconds: float
    ) -> tuple[float, NDArray[np.float64] | None] | None:
        """Return a lower bound on what the coefficients of leaf cells cost, and multipliers; None where time is up.

        Where the solver has no answer, there is no bound.

        Parameters
        ----------
        costs, most
            What a coefficient costs by its size, and how large it may be, ``(m,)`` each.
        main
            The leaf cell whose coefficient is one.
        """
        k, m = self._matrix.shape[0], len(self._inner)
        lower, upper = np.zeros(2 * m), np.concatenate([most, most])
        lower[main] = upper[main] = 1.0
        upper[m + main] = 0.0
        signed = np.flatnonzero(costs < 0)
        signed = signed[signed != main]
        lower, upper = np.concatenate([np.full(k, -np.inf), lower]), np.concatenate([np.full(k, np.inf), upper])
        cost = np.concatenate([np.zeros(k), costs, costs])
        if len(signed):
            model = self._backend.open(self._formulate_with_signs(cost, lower, upper, signed))
        else:
            model = self._plain(cost, lower, upper)
        try:
            found = model.solve(time_limit=seconds, duals=False) if seconds > 0 else None
        except SolverError:
            return -np.inf, None
        if found is None or found.status is Status.STOPPED:
            return None
        if found.x is None:
            return np.inf, None
        return (found.bound if len(signed) else found.objective), found.x[:k]

    def _plain(self, cost: NDArray[np.float64], lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Model:
        if self._open is None:
            self._open = self._backend.open(LinearProgram.of_moves(self._rows, lower, upper, cost))
        else:
            columns = np.arange(len(cost))
            self._open.change_costs(columns, cost)
            self._open.change_bounds(columns, lower, upper)
        return self._open

    def _formulate_with_signs(
        self,
        cost: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        signed: NDArray[np.int64],
    ) -> LinearProgram:
        """Return the program in which some coefficients, for which less than nothing is paid, have a sign."""
        n, m, s = len(self._cells), len(self._inner), len(signed)
        above = self._matrix.shape[0] + signed
        at, sign = np.arange(s), len(cost) + np.arange(s)
        far = upper[above]  # finite: the target contributes here
        # Beside a contribution of a unit one of 1e15 units has a coefficient that solvers do not take.
        balance = np.where((far > USUAL_ENTRIES[0]) & (far < USUAL_ENTRIES[1]), 1.0, np.sqrt(far))
        own, ratio, ones = 1.0 / balance, far / balance, np.ones(s)
        place = np.concatenate([at, at, s + at, s + at])
        column = np.concatenate([above, sign, above + m, sign])
        more = sp.csr_array((np.concatenate([own, -ratio, own, ratio]), (place, column)), shape=(2 * s, len(cost) + s))
        rows = sp.vstack([sp.hstack([self._rows, sp.csr_array((n, s))]), more])
        integer = np.zeros(len(cost) + s, dtype=bool)
        integer[sign] = True
        return LinearProgram(
            sp.csr_array(rows),
            np.concatenate([np.zeros(n), np.full(2 * s, -np.inf)]),
            np.concatenate([np.zeros(n), np.zeros(s), ratio]),
            np.concatenate([lower, np.zeros(s)]),
            np.concatenate([upper, ones]),
            np.concatenate([cost, np.zeros(s)]),
            integer=integer,
        )

    def exact(self, multipliers: NDArray[np.float64], main: int) -> dict[int, Fraction] | None:
        """Return leaf cells and coefficients in fractions: a combination of relations; None where none is found."""
        totals = np.ones(len(self._cells), dtype=bool)
        totals[self._inner] = False
        for numbers, denominator in self._near(multipliers, int(self._inner[main])):
            weights = multiply_exactly(sp.csr_array(self._matrix.T), numbers)
            if weights.any() and not weights[totals].any():
                used = np.flatnonzero(weights).tolist()
                return {int(self._cells[k]): Fraction(int(weights[k]), denominator) for k in used}
        return None

    def _near(self, multipliers: NDArray[np.float64], main: int) -> Iterator[tuple[Whole, int]]:
        """Yield multipliers in fractions, the simplest first: numerators and a denominator."""
        start = np.rint(multipliers).astype(np.int64)
        guesses = [_fractions(multipliers, most) for most in _DENOMINATORS]
        for numbers, denominator in guesses:
            if np.abs(numbers.astype(np.float64) / denominator - multipliers).max(initial=0.0) < AGGREGATION_ZERO:
                yield numbers, denominator
        flipped = sp.csr_array(self._matrix.T)
        weights = np.abs(flipped @ multipliers)
        goal = np.zeros(len(self._cells), dtype=np.int64)
        goal[main] = 1
        basic = np.flatnonzero(weights < AGGREGATION_ZERO)
        basic = np.append(basic, main)
        equations = sp.csr_array(flipped[basic])
        for free in (np.abs(multipliers - start) > AGGREGATION_ZERO, np.abs(multipliers) > AGGREGATION_ZERO):
            if (found := solve_exactly(equations, goal[basic], start, free)) is not None:
                yield found
        yield from guesses


def _fractions(numbers: NDArray[np.float64], most: int) -> tuple[Whole, int]:
    """Return numerators and one denominator of numbers whose own denominators are at most so large."""
    fractions = [Fraction(value).limit_denominator(most) for value in numbers.tolist()]
    shared = lcm(*(one.denominator for one in fractions))
    return np.array([int(one * shared) for one in fractions], dtype=object), shared
