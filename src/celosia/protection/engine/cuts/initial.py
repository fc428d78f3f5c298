"""Initial cuts from single relations, which need no subproblem."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut, CutBuilder
from celosia.protection.engine.cuts.capacity_kernel import Reaches, build_cuts
from celosia.protection.engine.subproblems.flow import Capacities, FlowRequirements
from celosia.tolerance import CUT_VIOLATED

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.separation import Separator


def initial_cuts(separator: Separator) -> list[Cut]:
    """Return the capacity cuts of every relation of a sensitive cell: enough of its other cells must be hidden."""
    builder, sides = separator.builder, separator.sides
    columns = builder.problem.matrix.tocsc()
    plain = sides.take(~sides.sliding)
    requirements = FlowRequirements(plain.columns, plain.attackers, plain.upward, plain.levels)
    capacities = Capacities(builder.up, builder.down, np.zeros(0))
    relations = (builder.starts, builder.columns, builder.data)
    reaches = _reaches(requirements, capacities, *relations, columns.indptr, columns.indices)
    nowhere = np.zeros(len(builder.problem))
    cuts = build_cuts(reaches, builder.problem.forced, nowhere, -np.inf, False).cuts  # noqa: FBT003 - compiled
    for k in np.flatnonzero(sides.sliding & sides.upward).tolist():
        column, who = int(sides.columns[k]), int(sides.attackers[k])
        for row in columns.indices[columns.indptr[column] : columns.indptr[column + 1]].tolist():
            up, down = (
                builder.bound_move(np.array([row]), np.ones(1), column, who, upward=upward) for upward in (True, False)
            )
            cuts += separator.build_sliding_cuts(k, sides, up, down)
    return cuts


def _reaches(
    requirements: FlowRequirements,
    capacities: Capacities,
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    data: NDArray[np.float64],
    own_starts: NDArray[np.int32],
    own_rows: NDArray[np.int32],
) -> Reaches:
    """Return the bound on every required move by each relation of its cell alone."""
    requirement, place = _list_entries(own_starts, requirements.columns)
    targets, row = requirements.columns[requirement], own_rows[place]
    number, place = _list_entries(starts, row)
    own, column, factor = targets[number], columns[place], data[place]
    pivot = np.zeros(len(targets))
    pivot[number[column == own]] = factor[column == own]
    ratio = -factor / pivot[number]
    who, upward = requirements.attackers[requirement][number], requirements.upward[requirement][number]
    capacity = np.where((ratio > 0) == upward, capacities.up[who, column], capacities.down[who, column])
    kept = (column != own) & (capacity > 0.0)
    ends = np.concatenate([[0], np.cumsum(np.bincount(number[kept], minlength=len(targets)))])
    return Reaches(ends, column[kept], np.abs(ratio[kept]) * capacity[kept], targets, requirements.levels[requirement])


def _list_entries(starts: NDArray[Any], rows: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the entries of some rows, one row after another: the number of the row among them, and the place."""
    sizes = (starts[rows + 1] - starts[rows]).astype(np.int64)
    number = np.repeat(np.arange(len(rows)), sizes)
    before = np.cumsum(sizes) - sizes
    return number, np.arange(len(number)) + (starts[rows] - before)[number]


def no_isolated_cell_cuts(builder: CutBuilder, x: NDArray[np.float64]) -> list[Cut]:
    """Return violated inequalities that say that no cell is the only hidden one of a relation, which determines it.

    They hold for every pattern that hides no cell in vain, as at least one optimal pattern does; so relations with a
    cell that is hidden anyway say nothing.
    """
    matrix, forced, x = builder.problem.matrix, builder.problem.forced, builder.padded_with_forced(x)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    hidden, always = (np.where(matrix.data == 0, 0.0, of[matrix.indices]) for of in (x, forced))
    total, with_forced = np.bincount(row, hidden, matrix.shape[0]), np.bincount(row, always, matrix.shape[0]) > 0
    alone = ~with_forced[row] & (2 * x[matrix.indices] - total[row] > CUT_VIOLATED)
    cuts = []
    for place in np.flatnonzero(alone).tolist():
        columns = np.sort(matrix.indices[matrix.indptr[row[place]] : matrix.indptr[row[place] + 1]]).astype(np.int64)
        cuts.append(Cut(columns, np.where(columns == matrix.indices[place], -1.0, 1.0), 0.0, lean=True))
    return cuts
