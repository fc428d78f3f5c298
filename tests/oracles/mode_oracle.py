"""The cheapest safe point of any modes of a small table, by one program with a copy of the table for every question.

It is Salazar's first model (2002, Figures 3, 6, 9 and 12 in one), solved by SciPy: it shares no cut, flow or search
with `celosia.protect`, only the modes' own data.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.problem import ProtectionProblem
from celosia.tolerance import ENDLESS

_CLOSE = 1e-6
"""A share of the cost that tolerances of a solver may change."""

_FAR = 1e4
"""No cell of a small table moves by more, in units."""


def cheapest(task: ProtectionProblem, modes: Modes) -> float:
    """Return what the cheapest safe point costs, infinite where there is none.

    Not a number where the solver's whole numbers are not whole enough: a millionth of a large room is a small level.
    """
    n, v = len(task), len(modes.program.cost)
    requirements = task.requirements
    asked = [
        (k, kind, level / modes.unit)
        for k in range(len(requirements))
        for kind, level in (
            ("up", requirements.up[k]),
            ("down", requirements.down[k]),
            ("sliding", requirements.sliding[k]),
        )
        if level
    ]
    copies = [(k, up) for k, kind, _ in asked for up in ((True, False) if kind == "sliding" else (kind == "up",))]
    width = v + n * len(copies)
    rows: list[sp.csr_array] = [
        sp.csr_array(sp.hstack([modes.program.rows, sp.csr_array((modes.program.rows.shape[0], width - v))]))
    ]
    lower, upper = [modes.program.row_lower], [modes.program.row_upper]
    wide_lower, wide_upper = [modes.program.lower], [modes.program.upper]
    for place, (k, _) in enumerate(copies):
        who = int(requirements.attackers[k])
        up, down = (
            np.where(room[who] >= ENDLESS, _FAR, np.minimum(room[who] / modes.unit, _FAR))
            for room in (task.up, task.down)
        )
        wide_lower.append(-down)
        wide_upper.append(up)
        d = _block(n, place, len(copies), v)
        rows.append(sp.csr_array(task.matrix.astype(float) @ d))
        lower.append(np.zeros(task.matrix.shape[0]))
        upper.append(np.zeros(task.matrix.shape[0]))
        for sign, opened, constant, room in (
            (1, modes.up, modes.up_constant, up),
            (-1, modes.down, modes.down_constant, down),
        ):
            slack = sp.csr_array(opened + _hides(modes, room, v))
            rows.append(sp.csr_array(sp.hstack([slack, sp.csr_array((n, width - v))]) - sign * d))
            lower.append(-constant)
            upper.append(np.full(n, np.inf))
    at = 0
    for k, kind, level in asked:
        row = np.zeros(width)
        row[v + n * at + requirements.columns[k]] = 1.0 if kind != "down" else -1.0
        at += 1
        if kind == "sliding":
            row[v + n * at + requirements.columns[k]] = -1.0
            at += 1
        rows.append(sp.csr_array(row[None, :]))
        lower.append(np.array([level]))
        upper.append(np.array([np.inf]))
    integer = np.zeros(width)
    if modes.program.integer is not None:
        integer[:v] = modes.program.integer
    cost = np.concatenate([modes.program.cost, np.zeros(width - v)])
    held = LinearConstraint(sp.vstack(rows), np.concatenate(lower), np.concatenate(upper))
    low, high = np.concatenate(wide_lower), np.concatenate(wide_upper)
    # Presolve of HiGHS 1.12 has called a solution optimal that is not: the cheaper of two answers is right.
    answers = [
        milp(
            cost,
            constraints=held,
            bounds=Bounds(low, high),
            integrality=integer,
            options={"mip_rel_gap": 0.0, "presolve": presolve},
        )
        for presolve in (True, False)
    ]
    found = min(answers, key=lambda one: np.inf if one.x is None else one.fun)
    if found.x is None:
        return float("inf")
    whole = np.flatnonzero(integer)
    low[whole] = high[whole] = np.rint(found.x[whole])
    again = milp(cost, constraints=held, bounds=Bounds(low, high))
    if again.x is None or again.fun - found.fun > _CLOSE * max(1.0, abs(found.fun)):
        return float("nan")  # what it found needs numbers that are not quite whole
    return modes.constant + float(again.fun)


def _block(n: int, place: int, copies: int, v: int) -> sp.csr_array:
    """Return the matrix that picks one copy of the table."""
    before, after = sp.csr_array((n, v + n * place)), sp.csr_array((n, n * (copies - place - 1)))
    return sp.csr_array(sp.hstack([before, sp.eye_array(n), after]))


def _hides(modes: Modes, room: NDArray[np.float64], v: int) -> sp.csr_array:
    """Return what hiding opens, by variable."""
    columns = np.flatnonzero(modes.hiding >= 0)
    return sp.csr_array((room[columns], (columns, modes.hiding[columns])), shape=(len(modes.hiding), v))
