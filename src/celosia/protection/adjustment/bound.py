r"""What any adjusted table costs at least: weak duality, valid for any multipliers.

For multipliers :math:`\gamma` of the relations, every table of the problem costs at least

.. math:: \gamma' r + \sum_i \min_{d_i \in D_i} \left( w_i |d_i - f_i|^k - (M'\gamma)_i d_i \right),

with the true sets :math:`D_i` of whole numbers: both sides of a split cell, and nothing between them. What a solver
says about its accuracy plays no part. Balance rows (`celosia.protection.adjustment.balance`) hold for every table and
weigh in by a *tilt* :math:`t_i |d_i|` of each cell's cost.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.adjustment.balance import round_multipliers
from celosia.protection.adjustment.formulation import AdjustmentProblem
from celosia.tolerance import LARGEST_MOVE, SAME_COST, TERM_ROUNDING


@dataclass(frozen=True, slots=True, eq=False)
class Bound:
    r"""A lower bound, and what it says about single cells.

    Parameters
    ----------
    problem
        Of what.
    least
        What each cell contributes to the bound, ``(n,)``, rounding taken off.
    constant
        The rest of it.
    pull
        :math:`M'\gamma`, ``(n,)``.
    tilt
        What balance rows add to the weights, ``(n,)``.
    ceiling
        The bound holds for tables that cost no more than this.
    """

    problem: AdjustmentProblem
    least: NDArray[np.float64]
    constant: float
    pull: NDArray[np.float64]
    tilt: NDArray[np.float64]
    ceiling: float

    @property
    def value(self) -> float:
        """The bound."""
        return min(self.ceiling, math.fsum([*self.least.tolist(), self.constant]))

    def fix_by_reduced_costs(self) -> AdjustmentProblem:
        """Return the problem without moves that only tables at least as dear as the ceiling make.

        Guarantee: every table of the problem that costs less than the ceiling is a table of the narrower one. Beyond
        its least a cell can only cost what is left between bound and ceiling (reduced-cost fixing); ends are rounded
        outward by a whole unit.
        """
        problem, pull = self.problem, self.pull
        slack = max(self.ceiling - math.fsum([*self.least.tolist(), self.constant]), 0.0)
        most = self.least + slack * (1 + SAME_COST)
        weight, offset = problem.weight, problem.offset
        tilted = weight + self.tilt
        with np.errstate(divide="ignore", invalid="ignore"):
            if problem.norm == 1:
                high = np.where(tilted > pull, (most + weight * offset) / (tilted - pull), np.inf)
                low = np.where(tilted > -pull, (weight * offset - most) / (tilted + pull), -np.inf)
            else:
                root = np.sqrt(np.maximum(pull**2 + 4 * weight * (most + pull * offset), 0.0))
                high, low = ((pull + sign * root) / (2 * weight) + offset for sign in (1, -1))
        reach = (self.ceiling / weight) ** (1 / problem.norm) + 1
        high, low = np.clip(high, 0, reach) + 1, np.clip(low, -reach, 1) - 1
        return problem.tighten(_whole(np.floor(low), problem.lower), _whole(np.ceil(high), problem.upper))


def bound_of(
    problem: AdjustmentProblem,
    multipliers: NDArray[np.float64],
    ceiling: float,
    tilt: NDArray[np.float64] | None = None,
) -> Bound:
    """Return the bound that some multipliers of the relations prove.

    Parameters
    ----------
    problem
        The problem.
    multipliers
        Any numbers, ``(m,)``.
    ceiling
        What some table of the problem costs: cells without an end go no further than that pays for.
    tilt
        What balance rows with multipliers of zero or more add to the weights, ``(n,)``; for the norm 1 only.
    """
    tilt = np.zeros(len(problem)) if tilt is None else tilt
    exact, unit = round_multipliers(multipliers)
    pull = np.asarray(sp.csr_array(problem.matrix.T).astype(np.float64) @ exact) * unit
    reach = np.ceil((ceiling / problem.weight) ** (1 / problem.norm)) + 2
    lower = np.minimum(np.clip(problem.lower, -reach, reach), problem.upper).astype(np.float64)
    upper = np.maximum(np.clip(problem.upper, -reach, reach), problem.lower).astype(np.float64)
    split = problem.split
    below = _least(problem, pull, tilt, lower, np.where(split, np.minimum(-problem.down, upper), upper))
    above = _least(problem, pull, tilt, np.where(split, np.maximum(problem.up, lower), lower), upper)
    terms = exact * unit * problem.right
    constant = math.fsum(terms.tolist()) - TERM_ROUNDING * math.fsum(np.abs(terms).tolist())
    return Bound(problem, np.minimum(below, above), constant, pull, tilt, ceiling)


def _least(
    problem: AdjustmentProblem,
    pull: NDArray[np.float64],
    tilt: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return no more than the least tilted cost less pull between two whole ends; infinite where they cross."""
    weight, offset = problem.weight, problem.offset
    # Of the norm 1 the cost is linear between the ends and the grid points around the true value.
    best = np.floor(offset + pull / (2 * weight)) if problem.norm == 2 else np.zeros(len(problem))  # noqa: PLR2004
    within = [np.clip(best + k, lower, np.maximum(lower, upper)) for k in (-1.0, 0.0, 1.0, 2.0)]
    least = np.full(len(problem), np.inf)
    for place in (lower, upper, *within):
        cost, more = weight * np.abs(place - offset) ** problem.norm, tilt * np.abs(place) - pull * place
        size = weight * (np.abs(place) + 1) ** problem.norm + (np.abs(tilt) + np.abs(pull)) * np.abs(place)
        least = np.minimum(least, cost + more - TERM_ROUNDING * size)
    return np.where(lower > upper, np.inf, least)


def _whole(ends: NDArray[np.float64], instead: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return bounds as whole numbers; where one is infinite or too large for that, the number given instead."""
    fits = np.abs(ends) < LARGEST_MOVE
    return np.where(fits, np.where(fits, ends, 0.0).astype(np.int64), instead)
