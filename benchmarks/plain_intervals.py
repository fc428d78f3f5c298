"""Algorithm 4.2 of Karlsson and Olsson (2015), done plainly: the peer for interval publication.

One master over slacks up and down; in every round two attacker problems for every sensitive cell; a cut for each that
falls short of its slack. Programs stay open and start from their last basis, as anybody would do; nothing else is done.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.risk.risk import Risk
from celosia.solve.highs.backend import HighsModel
from celosia.solve.problem import LinearProgram

_SHORT = 1e-6


@dataclass(frozen=True, slots=True)
class Found:
    """What came out.

    Parameters
    ----------
    cost
        What the ranges cost, infinite where time was up.
    seconds
        CPU time.
    cuts, rounds
        How much work it was.
    """

    cost: float
    seconds: float
    cuts: int
    rounds: int


def plain_intervals(risk: Risk, limit: float) -> Found:
    """Return the cheapest ranges for sliding levels and one attacker, within some CPU seconds."""
    began = time.process_time()
    problem = problem_of(risk, integer=False)
    n, requirements = len(problem), problem.requirements
    unit = float(requirements.sliding.mean())
    levels, rooms = requirements.sliding / unit, (problem.up[0] / unit, problem.down[0] / unit)
    cost = np.concatenate([problem.cost, problem.cost]) / float(np.median(problem.cost))
    both = np.concatenate([requirements.columns, n + requirements.columns])
    own = sp.csr_array(
        (np.ones(len(both)), (np.tile(np.arange(len(requirements)), 2), both)), shape=(len(requirements), 2 * n)
    )
    master = HighsModel(
        LinearProgram(own, levels, np.full(len(requirements), np.inf), np.zeros(2 * n), np.concatenate(rooms), cost)
    )
    attacker = open_attacker(problem)
    cuts = rounds = 0
    while time.process_time() - began < limit:
        rounds += 1
        slacks = np.maximum(np.asarray(master.solve().x), 0.0)
        found = find_cuts(attacker, requirements.columns.tolist(), slacks[:n], slacks[n:])
        if not found:
            total = float(cost @ slacks) * float(np.median(problem.cost)) * unit / 10**problem.decimals
            return Found(total, time.process_time() - began, cuts, rounds)
        cuts += len(found)
        master.add_rows(sp.csr_array(np.array(found)), np.zeros(len(found)), np.full(len(found), np.inf))
    return Found(np.inf, time.process_time() - began, cuts, rounds)


def find_cuts(
    attacker: HighsModel, columns: list[int], up: NDArray[np.float64], down: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """Return the constraints (3.27g) and (3.27h) that steps 2 and 3 add: rows over slacks up and down, zero or more."""
    n, found = len(up), []
    attacker.change_bounds(np.arange(n), -down, up)
    for column in columns:
        for upward in (True, False):
            attacker.change_costs(np.array([column]), np.array([-1.0 if upward else 1.0]))
            solution = attacker.solve(method="dual")
            attacker.change_costs(np.array([column]), np.zeros(1))
            moves, reduced = np.asarray(solution.x), np.asarray(solution.reduced_costs)
            reached = moves[column] if upward else -moves[column]
            if reached < (up if upward else down)[column] - _SHORT:
                # reduced costs are negative at upper bounds and positive at lower ones
                row = np.concatenate([np.maximum(-reduced, 0.0), np.maximum(reduced, 0.0)])
                row[column if upward else n + column] -= 1.0
                found.append(np.where(np.abs(row) < _SHORT, 0.0, row))
    return found


def open_attacker(problem: ProtectionProblem) -> HighsModel:
    """Return the subproblems (4.7) and (4.8) as one open program, whose costs and bounds change."""
    matrix = sp.csr_array(problem.matrix, dtype=np.float64)
    m, none = matrix.shape[0], np.zeros(len(problem))
    return HighsModel(LinearProgram(matrix, np.zeros(m), np.zeros(m), none, none, none))
