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
from celosia.errors import CelosiaError
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.parameters import IntervalParameters
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.search import RangeSearches, RangesT
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.protection.suppression.solve import find_pattern
from celosia.risk.risk import Risk


def protect_as_suppression(searches: RangeSearches[RangesT]) -> Protection | None:
    """Return ranges of the cells that complete suppression hides, None where they are not allowed or not found.

    What a solver calls impossible need not be so: where hiding cells is shown to protect them, these ranges do.
    """
    ranges, publisher, run = searches.ranges, searches.publisher, searches.run
    if run.oracle is not None or not len(ranges.problem.requirements):
        return None
    pattern = search_pattern(ranges.required, run, ranges.parameters)
    slacks = None if pattern is None else ranges_of_witnesses(ranges.problem, pattern.audit)
    if slacks is None or bool((slacks.down + slacks.up > ranges.most).any()):
        return None
    try:
        placed = publisher.publish(slacks)
    except CelosiaError:
        return None
    if not ranges.accepts(placed.pattern):
        return None
    return publisher.result(placed, publisher.trace[-1][2] if publisher.trace else 0.0)


def search_pattern(risk: Risk, run: Run, parameters: IntervalParameters) -> Protection | None:
    """Return the cheapest pattern that hides cells, as far as a part of the time leads; None where none is found."""
    seconds = min(parameters.start_seconds, max(parameters.start_share * run.clock.left, 0.0))
    return find_pattern(risk, run.shortly(seconds))


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
