r"""Iterative refinement: from a solver's moves that are nearly right to moves that are exact.

Moves x of a solver satisfy relations and bounds up to a tolerance, which amounts to many counts where the moves are
large. Their error is another linear program: find :math:`d` with :math:`M d = -M x` between :math:`l - x` and
:math:`u - x`. Its numbers are as small as the error; in units of it a solver has all its digits again (Gleixner, Steffy
and Wolter 2016). Two or three rounds arrive at single counts, where vertices are made exact as they are elsewhere.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.respondents.programs.scaled_model import ScaledModel, choose_unit
from celosia.attack.system.exact import find_exact_moves
from celosia.attack.system.fractions import Whole, multiply_exactly
from celosia.solve.backend import Backend
from celosia.tolerance import ENDLESS

_ROUNDS = 4  # each gains some twenty-five bits of the sixty that counts have


def refine_moves(
    x: NDArray[np.float64],
    matrix: sp.csr_array,
    lower: NDArray[np.int64],
    upper: NDArray[np.int64],
    cost: NDArray[np.float64],
    backend: Backend,
) -> tuple[Whole, int] | None:
    """Return exact moves near a solver's, and their denominator; None where none are found.

    Guarantee: that of `celosia.attack.system.exact.find_exact_moves`.

    Parameters
    ----------
    x
        Moves in counts that nearly satisfy relations and bounds, ``(n,)``.
    matrix
        Relations, ``(m, n)``.
    lower, upper
        Bounds, ``(n,)`` each.
    cost
        What moves cost, ``(n,)``: of moves near x cheap ones are returned.
    backend
        Solves.
    """
    if not np.abs(x).max(initial=0) < ENDLESS:
        return None
    near = np.clip(np.rint(x).astype(np.int64), lower, upper)
    for _ in range(_ROUNDS):
        error = multiply_exactly(matrix, -near)
        if error.dtype == object:
            return None
        unit = choose_unit(int(np.abs(error).max(initial=1)))
        model = ScaledModel(matrix, backend, cost, error / unit)
        step = model.solve(lower - near, upper - near, unit, "dual")
        if step is None or not np.abs(step).max(initial=0) * unit < ENDLESS:
            return None
        if unit == 1:
            return find_exact_moves(step, matrix, upper, -lower, near=near)
        near = np.clip(near + np.rint(step * unit).astype(np.int64), lower, upper)
    return None
