"""Why no adjusted table exists: the fewest kept cells that would have to move, or sensitive ones that cannot."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import InfeasibleError, list_items
from celosia.protection.adjustment.formulation import AdjustmentProblem, formulate
from celosia.protection.adjustment.method import Adjust
from celosia.protection.adjustment.parameters import ADJUSTMENT, AdjustmentParameters
from celosia.protection.adjustment.steps import linear_steps
from celosia.protection.run import Run
from celosia.risk.risk import SAFE, SENSITIVE, SHOW, Risk
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status
from celosia.table.table import Table
from celosia.tolerance import HALF, LARGEST_MOVE


def conflict_of(
    risk: Risk, method: Adjust, run: Run, solver: Backend, parameters: AdjustmentParameters = ADJUSTMENT
) -> InfeasibleError:
    """Return the error that says what stands in the way of an adjusted table.

    Parameters
    ----------
    risk
        With the method applied: cells to be kept are to be shown.
    method, run
        What was asked for.
    solver
        Solves programs with whole numbers.
    parameters
        How long to look for it.
    """
    seconds = parameters.conflict_seconds
    keeps = np.flatnonzero(method.frozen(risk))
    freed = replace(risk, status=np.where(risk.status == SHOW, SAFE, risk.status))
    problem, _ = formulate(freed, replace(method, keep_zeros=False, norm=1), integer=run.integer)
    cells = _find_fewest(problem, np.isin(problem.cells, keeps), solver, seconds, to_zero=True)
    if cells is not None and len(cells):
        labels = _labels(risk.table, cells)
        one = len(cells) == 1
        advice = "Let it move." if one else "Let all of them move: any fewer would not help."
        return InfeasibleError.one("keep", f"makes adjustment impossible by keeping these cells: {labels}.", advice)
    stuck = _find_fewest(problem, risk.sensitive[problem.cells] & problem.split, solver, seconds, to_zero=False)
    if stuck is not None and len(stuck):
        said = f"cannot be left by all of these cells together: {_labels(risk.table, stuck)}."
        return InfeasibleError.one("levels", said, "Lower the levels, or exempt these cells.")
    said = f"is impossible: {int((risk.status == SENSITIVE).sum())} sensitive cells, {len(keeps)} cells to be kept."
    return InfeasibleError.one("adjustment", said, "Keep fewer cells, or lower the levels.")


def _find_fewest(
    problem: AdjustmentProblem, cells: NDArray[np.bool_], solver: Backend, seconds: float, *, to_zero: bool
) -> NDArray[np.int64] | None:
    """Return the fewest of some cells that must be released for a table to exist; None where nothing helps in time.

    Parameters
    ----------
    problem
        Without the limits of these cells.
    cells
        Cells that stay where they are (`to_zero`), or else leave their gap, unless they are released.
    to_zero
        Which of the two.
    """
    places = np.flatnonzero(cells)
    loose = (
        problem
        if to_zero
        else replace(problem, down=np.where(cells, 0, problem.down), up=np.where(cells, 0, problem.up))
    )
    held = replace(loose, lower=np.minimum(loose.lower, 0), upper=np.maximum(loose.upper, 0)) if to_zero else loose
    steps = linear_steps(held)
    program = steps.program("sides")
    far = 4.0 * float(
        sum(np.abs(part[np.abs(part) < LARGEST_MOVE / 2]).sum() for part in (problem.lower, problem.upper, problem.up))
    )
    rows, most = _release_rows(steps.column, steps.direction, problem, places, far + 4, to_zero=to_zero)
    wide = sp.hstack([program.rows, sp.csr_array((program.rows.shape[0], rows.shape[1] - program.rows.shape[1]))])
    more = rows.shape[1] - len(steps.column)
    price = np.zeros(more)
    price[: len(places)] = 1.0
    said = solver.open(
        LinearProgram(
            sp.csr_array(sp.vstack([wide, rows], format="csr")),
            np.concatenate([program.row_lower, np.full(len(most), -np.inf)]),
            np.concatenate([program.row_upper, most]),
            np.concatenate([program.lower, np.zeros(more)]),
            np.concatenate([np.minimum(program.upper, far + 4), np.ones(more)]),
            np.concatenate([np.zeros(len(steps.column)), price]),
            np.concatenate([steps.jump, np.ones(more, dtype=bool)]),
        )
    ).solve(time_limit=seconds)
    if said.x is None or said.status is Status.INFEASIBLE:
        return None
    return np.sort(problem.cells[places[said.x[len(steps.column) :][: len(places)] > HALF]])


def _release_rows(
    column: NDArray[np.int64],
    direction: NDArray[np.int64],
    problem: AdjustmentProblem,
    places: NDArray[np.int64],
    far: float,
    *,
    to_zero: bool,
) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Return rows that hold cells unless their switch is on, over the steps and the switches.

    A kept cell moves at most `far` times its switch. A sensitive one has two switches: released, and upward.
    """
    n, k = len(column), len(places)
    number = np.full(len(problem), -1, dtype=np.int64)
    number[places] = np.arange(k)
    own = np.flatnonzero(number[column] >= 0)
    who = number[column[own]]
    if to_zero:
        rows = sp.coo_array(
            (
                np.concatenate([np.ones(len(own)), np.full(k, -far)]),
                (np.concatenate([who, np.arange(k)]), np.concatenate([own, n + np.arange(k)])),
            ),
            shape=(k, n + k),
        )
        return sp.csr_array(rows), np.zeros(k)
    # move >= up - far (released + downward), and move <= -down + far (released + upward)
    every = np.arange(k)
    above = sp.coo_array(
        (
            np.concatenate([-direction[own].astype(float), np.full(k, -far), np.full(k, far)]),
            (
                np.concatenate([who, every, every]),
                np.concatenate([own, n + every, n + k + every]),
            ),
        ),
        shape=(k, n + 2 * k),
    )
    below = sp.coo_array(
        (
            np.concatenate([direction[own].astype(float), np.full(k, -far), np.full(k, -far)]),
            (
                np.concatenate([who, every, every]),
                np.concatenate([own, n + every, n + k + every]),
            ),
        ),
        shape=(k, n + 2 * k),
    )
    most = np.concatenate([far - problem.up[places], -problem.down[places]])
    return sp.csr_array(sp.vstack([above, below], format="csr")), most.astype(np.float64)


def _labels(table: Table, cells: NDArray[np.int64]) -> str:
    return list_items([table.label(int(cell)) for cell in cells])
