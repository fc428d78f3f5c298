"""Many attackers as one: who knows all that any of them knows, and must stay as far away as any of them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.protection.engine.problem import ColumnRequirements

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.protection.engine.subproblems.requirements import SideRequirements


def unite_attackers(problem: ProtectionProblem, sides: SideRequirements) -> ProtectionProblem:
    r"""Return the problem of one attacker who knows what each of those knows that sides are about.

    His bounds are :math:`U_i = \min_k U_i^k` and :math:`L_i = \min_k L_i^k`, his levels the highest of theirs. A move
    within his bounds is one within the bounds of each of them, so a pattern that is safe against him is safe against
    all. The reverse does not hold: he may know more than any of them, so there may be no such pattern, and its cost is
    no bound.
    """
    who = np.unique(sides.attackers)
    columns, place = np.unique(sides.columns, return_inverse=True)
    levels = np.zeros((3, len(columns)), dtype=np.int64)
    kind = np.where(sides.sliding, 2, np.where(sides.upward, 0, 1))
    np.maximum.at(levels, (kind, place), np.ceil(sides.levels).astype(np.int64))
    return replace(
        problem,
        up=problem.up[who].min(axis=0, keepdims=True),
        down=problem.down[who].min(axis=0, keepdims=True),
        requirements=ColumnRequirements(columns, np.zeros(len(columns), dtype=np.int64), *levels),
    )
