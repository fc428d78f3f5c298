"""Widths that protect some targets, extended as cheaply as that goes until they protect others, one after the other."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protect.widths import WidthTask
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram

_ALMOST_FREE = 1e-6
"""Using a width that is there costs this share of a new one: so moves do not wander about."""


def extended(
    task: WidthTask, widths: NDArray[np.float64], places: NDArray[np.int64], backend: Backend
) -> tuple[NDArray[np.float64], list[int]]:
    """Return wider widths that protect some targets as well, and the targets that no widths protect, as places."""
    n = len(task)
    matrix = sp.csr_array(task.task.matrix[~task.task.implied], dtype=np.float64)
    none = np.zeros(matrix.shape[0])
    price = np.maximum(task.cost, _ALMOST_FREE * task.cost.max(initial=1.0))
    cost = np.concatenate([price * _ALMOST_FREE, price * _ALMOST_FREE, price, price])
    all_ = np.arange(4 * n)
    widths = widths.copy()
    program = LinearProgram(
        sp.csr_array(sp.hstack([matrix, -matrix, matrix, -matrix])),
        none,
        none,
        np.zeros(4 * n),
        np.zeros(4 * n),
        cost / price.mean(),
    )
    model = backend.open(program)
    impossible = []
    for place in places.tolist():
        target, level = int(task.targets[place]), float(task.levels[place])
        room = np.concatenate([widths, widths, task.most - widths, task.most - widths])
        low = np.zeros(4 * n)
        sides = target + n * np.arange(4)
        low[sides], room[sides] = [level, 0.0, 0.0, 0.0], [level, 0.0, 0.0, 0.0]
        model.change_bounds(all_, low, room)
        solution = model.solve(method="dual", duals=False)
        if solution.x is None:
            impossible.append(place)
            continue
        up, down, more, less = np.split(solution.x, 4)
        widths = np.minimum(np.maximum(widths, np.abs(up - down + more - less)), task.most)
    return widths, impossible
