r"""Ranges that miss a level, widened at the least cost.

For one requirement the two tables f and g of Salazar (2002), Figure 6, are looked for in ranges that may be widened by
:math:`e^-` and :math:`e^+`:

.. math:: \min\ w^- e^- + w^+ e^+ \quad\text{s.t.}\quad M f = M g = 0, \qquad -z^- - e^- \le f, g \le z^+ + e^+,

where f reaches the upper level, g the lower one, and f - g the sliding one, within the attacker's bounds. Where
attackers know that values are whole numbers, f, g and e are, as long as the level is so small that a solver tells them
apart. The program is counted in parts of the level, whatever the size of the amounts. Its solution is a proposal: the
audit says whether it is enough, and the next round widens by more. Where there is no time for programs, cells can move
with all of their totals.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.totals import find_totals_above
from celosia.errors import InfeasibleError
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.parameters import INTERVALS
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.run import Run
from celosia.solve.problem import LinearProgram, float_bounds
from celosia.solve.registry import backends
from celosia.table.relations import label_components
from celosia.tolerance import LARGEST_WHOLE_LEVEL, LEAST_WIDENING, NEW_RANGE_NOISE, WITNESS_ZERO

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
    """Return by how much slacks down and up must grow to meet a requirement, in counts, ``(n,)`` each.

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
    requirements = problem.requirements
    who, column = int(requirements.attackers[requirement]), int(requirements.columns[requirement])
    levels = [float(level[requirement]) for level in (requirements.up, requirements.down, requirements.sliding)]
    matrix = sp.csr_array(problem.matrix[~problem.implied], dtype=np.float64)
    one_whole = 10.0**problem.decimals
    unit = 2.0 ** math.floor(math.log2(max(*levels, 1.0)))
    _, label = label_components(matrix)
    whole = np.tile(problem.whole & (label == label[column]), 4)
    whole &= unit <= LARGEST_WHOLE_LEVEL * one_whole
    step = np.where(whole, one_whole, unit)  # whole numbers count in ones
    program = _least_cost_program(problem, matrix, (who, column, levels), slacks, costs, most, least_cost)
    scaled = replace(
        program,
        rows=sp.csr_array(program.rows @ sp.diags_array(step)) / unit,
        row_lower=program.row_lower / unit,
        row_upper=program.row_upper / unit,
        lower=program.lower / step,
        upper=program.upper / step,
        cost=program.cost * (step / unit),
        integer=whole if bool(whole.any()) else None,
    )
    solver = run.solver if bool(whole.any()) else backends()[0]
    x = solver.open(scaled).solve(duals=False, gap=0.0).x
    if x is None:
        raise InfeasibleError.one(
            "most_width", "leaves no safe ranges once ends are rounded.", "Allow wider ranges, or more decimals."
        )
    f, g, e_down, e_up = np.split(x * step, 4)
    size, wide = float(least), slacks[0] + slacks[1] > 0
    noise = np.maximum(LEAST_WIDENING * size, np.where(wide, WITNESS_ZERO, NEW_RANGE_NOISE) * unit)
    e_down, e_up = np.where(e_down > noise, e_down, 0.0), np.where(e_up > noise, e_up, 0.0)
    if not bool(e_down.any() or e_up.any()):  # doubles see nothing missing: widen what the tables use, a little
        used = np.maximum(np.abs(f), np.abs(g)) > noise
        used = used & wide if size <= NEW_RANGE_NOISE * unit and bool((used & wide).any()) else used
        e_down, e_up = np.where(used, size, 0.0), np.where(used, size, 0.0)
    return _round_to_steps(e_down, size), _round_to_steps(e_up, size)


def _least_cost_program(
    problem: ProtectionProblem,
    matrix: sp.csr_array,
    requirement: tuple[int, int, list[float]],
    slacks: DownUp,
    costs: DownUp,
    most: NDArray[np.float64],
    least_cost: float,
) -> LinearProgram:
    """Return the program in counts: columns are f, g, and widenings below and above, ``(n,)`` each.

    `requirement` is the attacker, the column and the levels up, down and sliding. No range is widened beyond the bounds
    of the least informed attacker.
    """
    n, m = len(problem), matrix.shape[0]
    who, column, (level_up, level_down, sliding) = requirement
    (down, up), bounds = slacks, [float_bounds(bound[who]) for bound in (problem.down, problem.up)]
    one, none, empty = sp.eye_array(n), sp.csr_array((n, n)), sp.csr_array((m, n))
    pick, blank = sp.csr_array((np.ones(1), ([0], [column])), shape=(1, n)), sp.csr_array((1, n))
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
    lower_f, upper_g = -bounds[0].copy(), bounds[1].copy()
    lower_f[column], upper_g[column] = level_up, -level_down
    widest = [float_bounds(bound.max(axis=0)) for bound in (problem.down, problem.up)]
    dearest = max(*(float(cost.max(initial=0.0)) for cost in costs), np.finfo(np.float64).tiny)
    return LinearProgram(
        sp.csr_array(rows),
        np.concatenate([still, still, -open_, -down, -open_, -down, -open_, [sliding]]),
        np.concatenate([still, still, up, open_, up, open_, np.maximum(most - down - up, 0.0), [np.inf]]),
        np.concatenate([lower_f, -bounds[0], np.zeros(2 * n)]),
        np.concatenate([bounds[1], upper_g, np.maximum(widest[0] - down, 0.0), np.maximum(widest[1] - up, 0.0)]),
        np.concatenate([np.zeros(2 * n), *(np.maximum(cost / dearest, least_cost) for cost in costs)]),
    )


def _round_to_steps(more: NDArray[np.float64], step: float) -> NDArray[np.float64]:
    """Return widenings as whole steps, rounded up."""
    return np.asarray(np.ceil(more / step - LEAST_WIDENING).clip(0.0) * step)


def widen_with_totals(
    problem: ProtectionProblem, slacks: RangeSlacks, columns: NDArray[np.int64], levels: NDArray[np.float64]
) -> RangeSlacks:
    """Return ranges in which columns can move by their levels, with all columns of which they are parts.

    In every relation a part and its total move by the same, and all else stays: a table that adds up.

    Parameters
    ----------
    problem
        The columns and their relations.
    slacks
        Ranges, which are only widened.
    columns, levels
        What moves, and how far up and down, in counts, ``(k,)`` each.
    """
    rows, more = sp.csr_array(problem.matrix), np.zeros(len(problem))
    by_column = sp.csc_array(rows)
    for column, level in zip(columns.tolist(), levels.tolist(), strict=True):
        moved = find_totals_above(rows, by_column, column)
        more[moved] = np.maximum(more[moved], level)
    return replace(slacks, down=np.maximum(slacks.down, more), up=np.maximum(slacks.up, more))
