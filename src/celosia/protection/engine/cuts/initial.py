"""Cuts that need no attack: from single relations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import kernel
from celosia.protection.engine.cuts.capacity import Cut, Workshop
from celosia.protection.engine.cuts.capacity_kernel import Reaches, made
from celosia.protection.engine.cuts.separation import VIOLATED, Separator
from celosia.protection.engine.subproblems.flow import Asked, Rooms


def one_row_cuts(separator: Separator) -> list[Cut]:
    """Return the cuts of every relation of a sensitive cell: something else in it must be hidden, and enough of it."""
    workshop, sides = separator.workshop, separator.sides
    columns = workshop.task.matrix.tocsc()
    plain = sides.take(~sides.sliding)
    asked = Asked(plain.columns, plain.attackers, plain.upward, plain.levels)
    rooms = Rooms(workshop.up, workshop.down, np.zeros(0))
    relations = (workshop.starts, workshop.columns, workshop.data)
    reaches = _reaches(asked, rooms, *relations, columns.indptr, columns.indices)
    nowhere = np.zeros(len(workshop.task))
    cuts = made(reaches, workshop.task.forced, nowhere, -np.inf, False).cuts  # noqa: FBT003 - compiled
    for k in np.flatnonzero(sides.sliding & sides.upward).tolist():
        column, who = int(sides.columns[k]), int(sides.attackers[k])
        for row in columns.indices[columns.indptr[column] : columns.indptr[column + 1]].tolist():
            up, down = (
                workshop.reach(np.array([row]), np.ones(1), column, who, upward=upward) for upward in (True, False)
            )
            cuts += separator.sliding_cuts(k, sides, up, down)
    return cuts


@kernel()
def _reaches(
    asked: Asked,
    rooms: Rooms,
    starts: NDArray[np.int64],
    columns: NDArray[np.int64],
    data: NDArray[np.float64],
    own_starts: NDArray[np.int32],
    own_rows: NDArray[np.int32],
) -> Reaches:
    """Return how far every question gets by each relation of its cell alone."""
    n_reaches = size = 0
    for question in range(len(asked.columns)):
        for place in range(own_starts[asked.columns[question]], own_starts[asked.columns[question] + 1]):
            n_reaches += 1
            size += starts[own_rows[place] + 1] - starts[own_rows[place]]
    ends, cells, values = np.zeros(n_reaches + 1, dtype=np.int64), np.empty(size, dtype=np.int64), np.empty(size)
    targets, levels = np.empty(n_reaches, dtype=np.int64), np.empty(n_reaches)
    number = end = 0
    for question in range(len(asked.columns)):
        cell, who = asked.columns[question], asked.attackers[question]
        for place in range(own_starts[cell], own_starts[cell + 1]):
            first, last = starts[own_rows[place]], starts[own_rows[place] + 1]
            pivot = 0.0
            for k in range(first, last):
                if columns[k] == cell:
                    pivot = data[k]
            for k in range(first, last):
                ratio = -data[k] / pivot
                room = (
                    rooms.up[who, columns[k]] if (ratio > 0) == asked.upward[question] else rooms.down[who, columns[k]]
                )
                if columns[k] != cell and room > 0.0:
                    cells[end], values[end] = columns[k], abs(ratio) * room
                    end += 1
            targets[number], levels[number] = cell, asked.levels[question]
            number += 1
            ends[number] = end
    return Reaches(ends, cells[:end].copy(), values[:end].copy(), targets, levels)


def bridgeless_cuts(workshop: Workshop, x: NDArray[np.float64]) -> list[Cut]:
    """Return violated inequalities that say: nobody hides a cell alone in a relation, for it would follow at once.

    They hold for every pattern that hides no cell in vain, as at least one optimal pattern does; so relations with a
    cell that is hidden anyway say nothing.
    """
    matrix, forced, x = workshop.task.matrix, workshop.task.forced, workshop.wide(x)
    total = (abs(matrix) > 0) @ x
    with_forced = (abs(matrix) > 0) @ forced.astype(np.float64) > 0
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    alone = ~with_forced[row] & (2 * x[matrix.indices] - total[row] > VIOLATED)
    cuts = []
    for place in np.flatnonzero(alone).tolist():
        columns = np.sort(matrix.indices[matrix.indptr[row[place]] : matrix.indptr[row[place] + 1]]).astype(np.int64)
        cuts.append(Cut(columns, np.where(columns == matrix.indices[place], -1.0, 1.0), 0.0, lean=True))
    return cuts
