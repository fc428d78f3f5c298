"""Corners that ranges miss: cells that cannot move together in them, judged as exactly as an audit judges cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from celosia.attack.subproblems.dispatch import solve_questions
from celosia.attack.subproblems.questions import Questions
from celosia.progress import SILENT
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.publish.decimals import EndGrid
from celosia.protection.intervals.publish.ranges import EndCounts
from celosia.solve.registry import backends
from celosia.tolerance import ENDLESS


def find_missed_corners(problem: ProtectionProblem, grid: EndGrid, ends: EndCounts) -> list[int]:
    """Return the requirements about columns of their own that ranges do not meet, or are not shown to meet.

    Guarantee: for every other one there is a table in exact numbers that its attacker cannot rule out, and that raises
    the column as far as is required.

    Parameters
    ----------
    problem
        The cells that may be ranges, and the requirements.
    grid
        The decimals of the ends.
    ends
        How far ranges reach down and up, in fine counts, ``(n,)`` each; columns that are no cells are free.
    """
    asked = problem.requirements
    own = np.flatnonzero(asked.columns >= problem.n_own).tolist()
    return [number for number in own if not _is_met(problem, number, grid, ends)]


def _is_met(problem: ProtectionProblem, number: int, grid: EndGrid, ends: EndCounts) -> bool:
    """Return whether a column can be raised to its level by a table that lies in all ranges."""
    who, column = int(problem.requirements.attackers[number]), int(problem.requirements.columns[number])
    down, up = (
        np.minimum(end, grid.bound(known[[who]])) for end, known in zip(ends, (problem.down, problem.up), strict=True)
    )
    moving = np.flatnonzero((down > 0) | (up > 0))
    system = replace(problem.system(moving, attacker=who), down=down[moving], up=up[moving], decimals=grid.fine)
    level = np.minimum(problem.requirements.up[[number]] * grid.factor, ENDLESS)
    question = Questions(np.searchsorted(moving, [column]), np.ones(1, dtype=bool), level)
    answer = solve_questions(system, question, backends()[0], SILENT, time_limit=None)
    return bool(int(answer.reach[0]) >= int(level[0]) * int(answer.denominator[0]))
