r"""Capacity cuts tightened by the slacks that sensitive cells have in every safe pattern.

What is published about a sensitive cell q must leave its own level open: its slack :math:`z_q` is at least
:math:`l_q`, unless the cell is hidden, :math:`z_q \ge l_q (1 - x_q)`. In a capacity cut through q,

.. math:: \sum_i \alpha_i z_i + \sum_k c_k x_k \ge b, \qquad \alpha, c \ge 0,

these slacks make up :math:`\sum_q t_q`, :math:`t_q = \alpha_q l_q`, in any case, and a binary variable need not count
for more than what is missing then: with :math:`z_q = l_q (1 - x_q) + s_q` put in, coefficients are reduced to the right
side :math:`b' = b - \sum_q t_q`, and with :math:`s_q` put back,

.. math:: \sum_i \alpha_i z_i + \sum_k \left(t_k + \min(c_k - t_k, b')\right) x_k \ge b.

That is variable bound substitution and coefficient reduction (Marchand and Wolsey 2001), with the bounds known
beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.subproblems.requirements import SideRequirements
from celosia.protection.engine.subproblems.slacks import Linear


@dataclass(frozen=True, slots=True, eq=False)
class LeastSlacks:
    """The least values of variables in safe points that do not hide their column.

    Parameters
    ----------
    least
        The value, 0 where there is none, ``(v,)``; binary variables that are 1 in any case have 1.
    hider
        The variable that hides the column instead, -1 where none does, ``(v,)``.
    """

    least: NDArray[np.float64]
    hider: NDArray[np.int64]

    @classmethod
    def of(cls, modes: Modes, sides: SideRequirements) -> LeastSlacks | None:
        """Return the least values that requirements ask for; None where there are none.

        A sliding level may be reached to either side. A column whose slack is opened by several variables, or in any
        case, needs no particular one of them.
        """
        program, v = modes.program, len(modes.program.cost)
        least, hider = np.zeros(v), np.full(v, -1, dtype=np.int64)
        for upward, slacks, constant in ((True, modes.up, modes.up_constant), (False, modes.down, modes.down_constant)):
            asked = (sides.upward == upward) & ~sides.sliding
            level = np.zeros(len(modes.hiding))
            np.maximum.at(level, sides.columns[asked], sides.levels[asked])
            alone = (np.diff(slacks.indptr) == 1) & (constant == 0) & (level > 0)
            for column in np.flatnonzero(alone).tolist():
                place = slacks.indptr[column]
                variable, factor, other = int(slacks.indices[place]), float(slacks.data[place]), modes.hiding[column]
                if factor > 0 and (least[variable] == 0 or hider[variable] == other):
                    least[variable], hider[variable] = max(least[variable], level[column] / factor), other
        if program.integer is not None:
            least[program.integer & (program.lower >= 1.0)] = 1.0
        return cls(least, hider) if bool((least > 0).any()) else None

    def tighten(self, reach: Linear, level: float, binary: NDArray[np.bool_]) -> Linear:
        """Return an expression with smaller coefficients that is at least the level in the same safe points."""
        columns, values = reach.columns, reach.values
        right = level - reach.constant
        sure = values * self.least[columns]
        if not right > 0 or not bool(sure.any()) or bool((values < 0).any()):
            return reach
        owner = self.hider[columns]
        place = np.minimum(np.searchsorted(columns, owner), len(columns) - 1)
        found = (owner >= 0) & (columns[place] == owner)
        taken = np.where(owner < 0, sure, 0.0)
        np.add.at(taken, place[found], sure[found])
        taken = np.minimum(taken, np.where(binary[columns], values, np.inf))
        missing = right - float(taken.sum())
        if not missing > 0:
            return reach
        free = binary[columns] & (self.least[columns] < 1.0)
        reduced = np.where(free, taken + np.minimum(values - taken, missing), values)
        return Linear(reach.constant, columns, reduced)
