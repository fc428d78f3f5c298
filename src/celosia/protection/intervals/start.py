"""Ranges from a suppression pattern: those that hold the tables by which its audit shows every level to be reached.

Complete suppression computes with few numbers, and its audit is exact. The witnesses of the audit are tables that
attackers cannot rule out; ranges of the hidden cells that hold all of them, no wider, protect as much. So what hiding
protects ranges protect as well, on no more cells, whatever a search over widths makes of amounts of all sizes.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from celosia.attack.findings import MET
from celosia.attack.result import Audit
from celosia.attack.subproblems.questions import Answer
from celosia.attack.system.system import System
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.publish.ranges import RangeSlacks


def ranges_of_witnesses(problem: ProtectionProblem, checked: Audit) -> RangeSlacks | None:
    """Return ranges that hold the witnesses of all requirements, None where one is not met or has no witness.

    Guarantee: up to the rounding of doubles, which placing repairs, these ranges are safe.

    Parameters
    ----------
    problem
        The columns that may be ranges.
    checked
        The audit of a pattern that hides some of them.
    """
    down, up = np.zeros(len(problem)), np.zeros(len(problem))
    for verdict in checked.verdicts:
        wanted, system = verdict.requirement, checked.systems[verdict.requirement.attacker]
        sides = ((verdict.finding.down, wanted.lower), (verdict.finding.up, wanted.upper))
        if verdict.result != MET:
            return None
        for answer, level in sides:
            if not level and not wanted.sliding:
                continue
            if not len(answer.columns) or not _hold(problem, answer, system, down, up):
                return None
    return RangeSlacks(down, up)


def _hold(problem: ProtectionProblem, answer: Answer, system: System, down: np.ndarray, up: np.ndarray) -> bool:
    """Widen slacks to hold a witness; return False where it moves a cell that is no column."""
    cells = system.cells[answer.columns]
    places = np.minimum(np.searchsorted(problem.cells, cells), len(problem) - 1)
    if not np.array_equal(problem.cells[places], cells):
        return False
    digits = np.where(system.whole[answer.columns], 0, system.decimals)
    for place, own, move in zip(places.tolist(), digits.tolist(), answer.moves.tolist(), strict=True):
        far = float(Fraction(int(move) * 10**problem.decimals, answer.denominator * 10**own))
        up[place], down[place] = max(up[place], far), max(down[place], -far)
    return True
