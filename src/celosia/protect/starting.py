"""Cuts that need no attack: from single relations."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from celosia.protect.cuts import Cut, Reach, Workshop
from celosia.protect.separation import VIOLATED, Separator


def one_row_cuts(separator: Separator) -> Iterator[Cut]:
    """Yield the cuts of every relation of a sensitive cell: something else in it must be hidden, and enough of it."""
    workshop, sides = separator.workshop, separator.sides
    columns = workshop.task.matrix.tocsc()
    for k in range(len(sides)):
        column = int(sides.columns[k])
        for row in columns.indices[columns.indptr[column] : columns.indptr[column + 1]].tolist():
            reaches = [
                workshop.reach(np.array([row]), np.ones(1), column, int(sides.attackers[k]), upward=upward)
                if sides.sliding[k] or upward == sides.upward[k]
                else None
                for upward in (True, False)
            ]
            yield from _cuts(separator, k, reaches)


def _cuts(separator: Separator, k: int, reaches: list[Reach | None]) -> Iterator[Cut]:
    workshop, sides = separator.workshop, separator.sides
    up, down = reaches
    level = float(sides.levels[k])
    if sides.sliding[k]:
        if sides.upward[k]:
            yield from separator.sliding_cuts(k, sides, up, down)
        return
    reach = up if sides.upward[k] else down
    cut = None if reach is None else workshop.cut([reach], level, int(sides.columns[k]))
    if cut is not None:
        yield cut


def bridgeless_cuts(workshop: Workshop, x: NDArray[np.float64]) -> list[Cut]:
    """Return violated inequalities that say: nobody hides a cell alone in a relation, for it would follow at once.

    They hold for every pattern that hides no cell in vain, as at least one optimal pattern does; so relations with a
    cell that is hidden anyway say nothing.
    """
    matrix, forced = workshop.task.matrix, workshop.task.forced
    total = (abs(matrix) > 0) @ x
    with_forced = (abs(matrix) > 0) @ forced.astype(np.float64) > 0
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    alone = ~with_forced[row] & (2 * x[matrix.indices] - total[row] > VIOLATED)
    cuts = []
    for place in np.flatnonzero(alone).tolist():
        columns = np.sort(matrix.indices[matrix.indptr[row[place]] : matrix.indptr[row[place] + 1]]).astype(np.int64)
        cuts.append(Cut(columns, np.where(columns == matrix.indices[place], -1.0, 1.0), 0.0))
    return cuts
