r"""Ranges that miss a level, widened at the least cost.

For one requirement the two tables f and g of Salazar (2002), Figure 6, are looked for in ranges that may be widened by
:math:`e^-` and :math:`e^+`:

.. math:: \min\ w^- e^- + w^+ e^+ \quad\text{s.t.}\quad M f = M g = 0, \qquad -z^- - e^- \le f, g \le z^+ + e^+,

where f reaches the upper level, g the lower one, and f - g the sliding one, within the attacker's bounds. Where
attackers know that values are whole numbers, f, g and e are.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import InfeasibleError
from celosia.library import OnFirstUse
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.parameters import INTERVALS
from celosia.protection.run import Run
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.tolerance import ENDLESS, LEAST_WIDENING

csgraph = OnFirstUse("scipy.sparse.csgraph")

DownUp = tuple[NDArray[np.float64], NDArray[np.float64]]


def widen_ranges(
    problem: ProtectionProblem,
    requirement: int,
    least: Fraction,
    slacks: DownUp,
    costs: DownUp,
    most: NDArray[np.float64],
    run: Run,
    least_cost: float = INTERVALS.least_cost,
) -> DownUp:
    """Return slacks down and up that meet a requirement, never smaller than before, ``(n,)`` each.

    Parameters
    ----------
    problem, requirement
        The requirement.
    least
        The least widening, in counts of the problem.
    slacks, costs
        How far ranges reach down and up, in counts, and what a count more costs.
    most
        The greatest widths, in counts.
    run
        The solver.
    least_cost
        Widening costs at least this share of the dearest; see `IntervalParameters`.

    Raises
    ------
    InfeasibleError
        The greatest widths do not allow it.
    """
    n, requirements = len(problem), problem.requirements
    who, column = int(requirements.attackers[requirement]), int(requirements.columns[requirement])
    bounds = [
        np.where(bound[who] >= ENDLESS, np.inf, bound[who].astype(np.float64)) for bound in (problem.down, problem.up)
    ]
    down, up = slacks
    matrix = sp.csr_array(problem.matrix[~problem.implied], dtype=np.float64)
    m, one, none = matrix.shape[0], sp.eye_array(n), sp.csr_array((n, n))
    empty = sp.csr_array((m, n))
    pick = sp.csr_array((np.ones(1), ([0], [column])), shape=(1, n))
    blank = sp.csr_array((1, n))
    rows = sp.block_array(
        [
            [matrix, empty, empty, empty],
            [empty, matrix, empty, empty],
            [one, none, none, -one],
            [one, none, one, none],
            [none, one, none, -one],
            [none, one, one, none],
            [none, none, one, one],
            [pick, -pick, blank, blank],
        ],
        format="csr",
    )
    open_, still = np.full(n, np.inf), np.zeros(m)
    level_up, level_down = float(requirements.up[requirement]), float(requirements.down[requirement])
    lower_f, upper_g = -bounds[0].copy(), bounds[1].copy()
    lower_f[column], upper_g[column] = level_up, -level_down
    # no range is widened beyond the bounds of the least informed attacker
    widest = [np.where(bound.max(axis=0) >= ENDLESS, np.inf, bound.max(axis=0)) for bound in (problem.down, problem.up)]
    whole = np.tile(problem.whole & _component_of(matrix, column), 4)
    step = np.where(whole, 10.0**problem.decimals, 1.0)  # whole numbers count in ones
    program = LinearProgram(
        sp.csr_array(rows @ sp.diags_array(step)),
        np.concatenate(
            [still, still, -open_, -down, -open_, -down, -open_, [float(requirements.sliding[requirement])]]
        ),
        np.concatenate([still, still, up, open_, up, open_, np.maximum(most - down - up, 0.0), [np.inf]]),
        np.concatenate([lower_f, -bounds[0], np.zeros(2 * n)]) / step,
        np.concatenate([bounds[1], upper_g, np.maximum(widest[0] - down, 0.0), np.maximum(widest[1] - up, 0.0)]) / step,
        np.concatenate([np.zeros(2 * n), *(np.maximum(cost, least_cost * cost.max(initial=1.0)) for cost in costs)])
        * step,
        integer=whole if bool(whole.any()) else None,
    )
    solver = run.solver if bool(whole.any()) else backends()[0]
    x = solver.open(program).solve(duals=False, gap=0.0).x
    if x is None:
        raise InfeasibleError.one(
            "most_width", "leaves no safe ranges once ends are rounded.", "Allow wider ranges, or more decimals."
        )
    f, g, e_down, e_up = np.split(x * step, 4)
    size = float(least)
    if e_down.sum() + e_up.sum() <= LEAST_WIDENING * size:  # doubles see nothing missing: widen all that the tables use
        used = (np.abs(f) > LEAST_WIDENING) | (np.abs(g) > LEAST_WIDENING)
        e_down, e_up = np.where(used, size, 0.0), np.where(used, size, 0.0)
    return _widen_by_steps(down, e_down, size), _widen_by_steps(up, e_up, size)


def _component_of(matrix: sp.csr_array, column: int) -> NDArray[np.bool_]:
    """Return which columns are in the component of one of them, ``(n,)``."""
    m = matrix.shape[0]
    _, label = csgraph.connected_components(
        sp.block_array([[None, matrix], [matrix.T, None]], format="csr"), directed=False
    )
    return np.asarray(label[m:] == label[m + column])


def _widen_by_steps(slack: NDArray[np.float64], more: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Return slacks widened by whole steps."""
    return slack + np.where(more > LEAST_WIDENING * step, np.ceil(more / step - LEAST_WIDENING) * step, 0.0)
