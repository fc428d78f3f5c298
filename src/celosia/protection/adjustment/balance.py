r"""Balance rows: what one cell of a relation moves, the others move in all.

In a relation :math:`\sum_i c_i d_i = 0` no cell can move more than all the others together,
:math:`|c_s| |d_s| \le \sum_{i \ne s} |c_i| |d_i|`. The relaxation lets a split cell stand still between its sides and
pays for both; what it pays is what it moves in any table, so the others must move too. They, in turn, may pretend to by
going up and down at a time, unless their own other relations hold them to it: so every cell has its rows, and not only
the split ones. On tables with weights 1 and equal levels these rows close most of the gap of the relaxation, and all of
it where there is one hierarchy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.adjustment.formulation import AdjustmentProblem
from celosia.protection.adjustment.steps import BalanceRows, Steps
from celosia.tolerance import BALANCE_VIOLATED

Whose = Literal["split", "every"]
"""Whose rows: those of split cells are few, those of every cell say more."""

_BITS = 40
"""Multipliers are rounded to so many bits of the largest: sums of thousands of them fit into a double."""


@dataclass(frozen=True, eq=False)
class Balances:
    """All balance rows of a problem, over the distances that cells move: one for each entry of a relation.

    Parameters
    ----------
    relations
        Absolute coefficients of the relations without a constant, ``(m, n)``.
    held
        Whose rows are looked for, ``(n,)``.
    """

    relations: sp.csr_array
    held: NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.relations.nnz)

    @cached_property
    def _relation(self) -> NDArray[np.int64]:
        """The relation of every entry."""
        return np.repeat(np.arange(self.relations.shape[0]), np.diff(self.relations.indptr))

    def rows(self, places: NDArray[np.int64]) -> sp.csr_array:
        """Return some rows: ``rows @ |d| >= 0`` for every table, ``(k, n)``."""
        own = sp.csr_array(
            (2 * self.relations.data[places], (np.arange(len(places)), self.relations.indices[places])),
            shape=(len(places), self.relations.shape[1]),
        )
        return sp.csr_array(self.relations[self._relation[places]] - own)

    def find_violated(self, sizes: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return which rows distances violate: of each relation one at most, because two cells cannot both be more."""
        moved = self.relations.data * (sizes * self.held)[self.relations.indices]
        return np.flatnonzero(2 * moved > (self.relations @ sizes)[self._relation] + BALANCE_VIOLATED)

    def balance_rows(self, steps: Steps, places: NDArray[np.int64]) -> BalanceRows:
        """Return some of the rows over the steps of a program."""
        factors, rest = steps.sizes
        rows = self.rows(places)
        return BalanceRows(sp.csr_array(rows @ factors), -(rows @ rest))

    def tilt(self, places: NDArray[np.int64], multipliers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what rows with multipliers add to the weights, negative ones being taken for zero, ``(n,)``. Exact."""
        counts, unit = round_multipliers(np.maximum(multipliers, 0.0))
        return np.asarray(-(self.rows(places).T @ counts)) * unit


def balances_of(problem: AdjustmentProblem, whose: Whose) -> Balances:
    """Return one row for every relation around a split cell, or around any cell."""
    plain = problem.matrix[problem.right == 0]
    relations = abs(sp.csr_array(sp.vstack([plain, problem.implied], format="csr"))).astype(np.float64)
    return Balances(relations, problem.split if whose == "split" else np.ones(len(problem), dtype=bool))


def round_multipliers(multipliers: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """Return multipliers as whole numbers of a unit, and the unit, a power of two."""
    largest = float(np.abs(multipliers).max(initial=0.0))
    unit = 2.0 ** (math.ceil(math.log2(largest)) - _BITS) if largest > 0 else 1.0
    return np.rint(multipliers / unit), unit
