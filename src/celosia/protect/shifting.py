r"""Where ranges of given widths lie around the truth.

A shift :math:`c` of the centres with :math:`M c = 0` and

.. math:: \max(-W_i / 2,\ W_i / 2 - L_i) \le c_i \le \min(W_i / 2,\ U_i - W_i / 2)

keeps every sliding level at the same cost: with a move :math:`d` the tables :math:`c + d/2` and :math:`c - d/2` lie in
the ranges :math:`[-W/2 + c, W/2 + c]`, which hold the truth and lie within the attacker's rooms L and U. It does not
keep separate lower and upper levels.

Without a shift the truth is the middle of every range, and taking averages discloses it (Baena, Castro and Gonzalez,
Table 4). A vertex of these shifts puts it at ends instead; so several vertices, drawn from a secret seed, are averaged.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from celosia.protect.widths import WidthTask
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status

DRAWS = 5
"""So many vertices are averaged: with widths that are multiples of a tenth, shifts are multiples of a fiftieth."""

_TOUCH = 1e-9
"""Rooms are taken to be so much larger, in mean levels: rounding errors of widths must not rule out a shift."""


def shift(
    task: WidthTask, widths: NDArray[np.float64], backend: Backend, random: np.random.Generator | None
) -> NDArray[np.float64] | None:
    """Return a shift of the centres of ranges, ``(n,)``; None where there is none.

    Parameters
    ----------
    task, widths
        The ranges, all in mean levels.
    backend
        The solver.
    random
        Draws the shift; None for none if that is possible, otherwise for the one that moves centres the least.
    """
    half = widths / 2
    down, up = (room + _TOUCH for room in task.rooms)
    low, high = np.maximum(-half, half - down), np.minimum(half, up - half)
    centred = bool(np.all((low <= 0) & (high >= 0)))
    if random is None and centred:
        return np.zeros(len(task))
    wide = np.flatnonzero(widths > 0)
    matrix = sp.csr_array(task.task.matrix[~task.task.implied][:, wide], dtype=np.float64)
    matrix = sp.csr_array(matrix[np.flatnonzero(np.diff(matrix.indptr) > 0)])
    found = _least(matrix, low[wide], high[wide], backend) if random is None else None
    if random is not None:
        found = _drawn(matrix, low[wide], high[wide], backend, random)
    if found is None:
        return None
    out = np.zeros(len(task))
    out[wide] = np.clip(found, low[wide], high[wide])
    return out


def _drawn(
    matrix: sp.csr_array,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    backend: Backend,
    random: np.random.Generator,
) -> NDArray[np.float64] | None:
    """Return the average of some vertices, component by component."""
    out = np.zeros(len(low))
    m = matrix.shape[0]
    links = sp.block_array([[None, matrix], [matrix.T, None]], format="csr")
    _, label = connected_components(links, directed=False)
    order = np.argsort(label[m:], kind="stable")
    ends = np.flatnonzero(np.diff(label[m:][order])) + 1
    for columns in np.split(order, ends):
        inner = sp.csr_array(matrix[:, columns])
        inner = sp.csr_array(inner[np.flatnonzero(np.diff(inner.indptr) > 0)])
        own = _average(inner, low[columns], high[columns], backend, random)
        if own is None:
            return None
        out[columns] = own
    return out


def _average(
    matrix: sp.csr_array,
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    backend: Backend,
    random: np.random.Generator,
) -> NDArray[np.float64] | None:
    """Return the average of some vertices of a component."""
    m, n = matrix.shape
    model = backend.open(LinearProgram(matrix, np.zeros(m), np.zeros(m), low, high, np.zeros(n)))
    total = np.zeros(n)
    for _ in range(DRAWS):
        model.change_costs(np.arange(n), random.normal(size=n))
        solution = model.solve(method="primal", duals=False)
        if solution.status is Status.INFEASIBLE or solution.x is None:
            return None
        total += solution.x
    return np.asarray(total / DRAWS)


def _least(
    matrix: sp.csr_array, low: NDArray[np.float64], high: NDArray[np.float64], backend: Backend
) -> NDArray[np.float64] | None:
    """Return the shift that moves centres the least in all."""
    m, n = matrix.shape
    both = sp.csr_array(sp.hstack([matrix, -matrix]))
    rows = sp.csr_array(sp.vstack([both, sp.hstack([sp.eye_array(n), -sp.eye_array(n)])]))
    none = np.zeros(m)
    program = LinearProgram(
        rows,
        np.concatenate([none, low]),
        np.concatenate([none, high]),
        np.zeros(2 * n),
        np.full(2 * n, np.inf),
        np.ones(2 * n),
    )
    solution = backend.open(program).solve(duals=False)
    return None if solution.x is None else solution.x[:n] - solution.x[n:]
