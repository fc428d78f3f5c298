r"""Algorithm 4.3 of Karlsson and Olsson (2015), as printed: the peer for combined suppression.

The master (4.9) has a slack up and down and a binary variable for every cell, :math:`z_i^+ \le (u_i - a_i) x_i` and
:math:`z_i^- \le (a_i - l_i) x_i`. In every round it is solved as a program with whole numbers, within the gap that the
thesis allowed; two attacker problems for every sensitive cell follow, and a constraint for each that falls short.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from benchmarks.plain_intervals import Found, find_cuts, open_attacker
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.risk.risk import Risk
from celosia.solve.highs.backend import HighsModel
from celosia.solve.problem import LinearProgram

_GAP = 2e-5
"""The relative gap of a master: what the thesis took for its smallest table."""


def plain_combined(risk: Risk, cell_cost: NDArray[np.float64], limit: float) -> Found:
    """Return the cheapest ranges with a cost each, for one attacker whose bounds are finite, within some CPU seconds.

    Parameters
    ----------
    risk
        Levels of every kind; a unit of width costs what the risk says.
    cell_cost
        What a range costs whatever its width, of every cell, ``(n_cells,)``.
    limit
        CPU seconds.
    """
    began = time.process_time()
    problem = problem_of(risk, integer=False)
    n, columns = len(problem), np.unique(problem.requirements.columns)
    unit = float(max(problem.requirements.sliding.mean(), problem.requirements.up.mean(), 1.0))
    price = np.concatenate([problem.cost, problem.cost]) * unit / 10**problem.decimals
    master = _open_master(problem, unit, np.concatenate([price, cell_cost[problem.cells]]))
    attacker = open_attacker(problem)
    cuts = rounds = 0
    while (left := limit - (time.process_time() - began)) > 0:
        rounds += 1
        solution = master.solve(time_limit=left, gap=_GAP)
        if solution.x is None:
            break
        slacks = np.maximum(solution.x[: 2 * n], 0.0)
        found = find_cuts(attacker, columns.tolist(), slacks[:n], slacks[n:])
        if not found:
            return Found(float(solution.objective), time.process_time() - began, cuts, rounds)
        cuts += len(found)
        rows = sp.csr_array(np.hstack([np.array(found), np.zeros((len(found), n))]))
        master.add_rows(rows, np.zeros(len(found)), np.full(len(found), np.inf))
    return Found(np.inf, time.process_time() - began, cuts, rounds)


def _open_master(problem: ProtectionProblem, unit: float, cost: NDArray[np.float64]) -> HighsModel:
    """Return (4.9), in units of slacks: z up, z down and x, ``(n,)`` each."""
    n, requirements = len(problem), problem.requirements
    rooms = np.concatenate([problem.up[0], problem.down[0]]) / unit
    least = np.zeros(3 * n)
    for levels, start in ((requirements.up, 0), (requirements.down, n)):
        np.maximum.at(least, start + requirements.columns, levels / unit)
    least[2 * n + requirements.columns] = 1.0
    gates = sp.hstack([-sp.eye_array(2 * n), sp.diags_array(rooms) @ sp.vstack([sp.eye_array(n)] * 2)])
    both = np.concatenate([requirements.columns, n + requirements.columns])
    wide = sp.csr_array(
        (np.ones(len(both)), (np.tile(np.arange(len(requirements)), 2), both)), shape=(len(requirements), 3 * n)
    )
    lower = np.concatenate([np.zeros(2 * n), requirements.sliding / unit])
    return HighsModel(
        LinearProgram(
            sp.csr_array(sp.vstack([gates, wide])),
            lower,
            np.full(len(lower), np.inf),
            least,
            np.concatenate([rooms, np.ones(n)]),
            cost,
            integer=np.arange(3 * n) >= 2 * n,
        )
    )
