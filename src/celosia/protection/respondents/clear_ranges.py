"""Ranges against respondents from moves of few cells: safe after seconds, however dear, where a search takes minutes.

Moves that clear respondents (`celosia.protection.respondents.clearance`) are found without a linear program, and ranges
that hold them are safe against all whom they clear. Where a target is left, such as one in several cells, his cells and
all of their totals become wide enough to move together: that leaves every relation as it is.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import cast

import numpy as np

from celosia.attack.respondents.audit import RespondentAudit
from celosia.attack.respondents.requirements import add_requirements
from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.errors import CelosiaError
from celosia.protection.combined.problem import CombinedProblem
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.problem import RangeProblem
from celosia.protection.intervals.publish.publication import RangePublisher
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.intervals.widen import widen_with_totals
from celosia.protection.method import Method
from celosia.protection.respondents.clearance import find_clear_patterns
from celosia.protection.respondents.oracle import RespondentOracle, StoppedError
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.requirement import Requirements
from celosia.risk.risk import Risk
from celosia.solve.deadline import DeadlineError


def find_clear_ranges(method: Method, run: Run, oracle: RespondentOracle) -> Protection | None:
    """Return ranges that no respondent attacks with success, and that have passed the audit.

    None where ranges are not all that is published, or have greatest widths, where moves do not suit the table, or a
    part of the time is not enough. The bound is what every sensitive cell costs as a range as wide as its level.

    Parameters
    ----------
    method, run
        How to publish, and for how long.
    oracle
        Attacks; its requirements stay as they are.
    """
    if not method.only_widens:
        return None
    clock = run.clock.share_of_rest(oracle.parameters.clear_share)
    short = replace(run, clock=clock, fallback=None, keeper=None)
    own = RespondentOracle(oracle.risk, method, short, oracle.rules, oracle.criteria, oracle.parameters)
    with suppress(CelosiaError, StoppedError, DeadlineError, ArithmeticError):
        ranges = _problem_of(own.risk, method, short)
        limited = bool(np.isfinite(ranges.most).any())
        first = None if limited else next(find_clear_patterns(own.risk, own.criteria, short), None)
        if first is not None:
            slacks = hold_moves(ranges.problem, first[1])
            found = own.attack(RangePublisher(ranges, short).draft(slacks))
            return _widen_until_safe(ranges, short, slacks, own, found)
    return None


def close_by_totals(
    found: Protection, exposed: RespondentAudit, method: Method, run: Run, oracle: RespondentOracle
) -> Protection | None:
    """Return ranges that few respondents attack with success, wider where these do, until nobody does.

    None where ranges are not all that is published, or have greatest widths, in linked tables, or where there is no
    time.

    Parameters
    ----------
    found, exposed
        The ranges, and who attacks them with success.
    method, run, oracle
        As for `find_clear_ranges`.
    """
    if not method.only_widens or exposed.unjudged or oracle.joint is not None:
        return None
    own = RespondentOracle(
        *(oracle.risk, method, run, oracle.rules, oracle.criteria, oracle.parameters), judged=oracle.judged
    )
    with suppress(CelosiaError, StoppedError, DeadlineError, ArithmeticError):
        ranges = _problem_of(own.risk, method, run)
        if bool(np.isfinite(ranges.most).any()):
            return None
        cells, scale = ranges.problem.cells, 10.0**ranges.problem.decimals
        truth, (lower, upper) = ranges.risk.table.values[cells], found.pattern.bounds()
        slacks = RangeSlacks((truth - lower.floats[cells]) * scale, (upper.floats[cells] - truth) * scale)
        return _widen_until_safe(ranges, run, slacks, own, exposed)
    return None


def _problem_of(risk: Risk, method: Method, run: Run) -> RangeProblem:
    own = cast("Intervals", method)  # one that only widens
    kind = CombinedProblem if own.counts_ranges else RangeProblem
    return kind(risk, own.require_widths(risk), own, run.integer)


def _widen_until_safe(
    ranges: RangeProblem,
    run: Run,
    slacks: RangeSlacks,
    oracle: RespondentOracle,
    exposed: RespondentAudit,
) -> Protection | None:
    """Return ranges that pass the audit, in which exposed targets move with their totals, further and further."""
    publisher = RangePublisher(ranges, run)
    for times in (0.0, *oracle.parameters.raisings):
        needed = add_requirements(oracle.risk, exposed, hide=False, every_corner=True).further
        if needed is not None:
            slacks = widen_totals(ranges.problem, slacks, needed, times)
        draft = publisher.draft(slacks)
        exposed = exposed if times == 0 else oracle.attack(draft, oracle.find_exposed(draft) or exposed)
        if exposed.unjudged:
            return None
        if exposed.safe:
            placed = publisher.place_quickly(slacks)
            safe = placed is not None and oracle.attack(placed.pattern, exposed).safe
            return publisher.result_without_warning(placed, ranges.least_cost) if placed and safe else None
    return None


def hold_moves(problem: ProtectionProblem, proposed: ProposedWitnesses) -> RangeSlacks:
    """Return ranges that hold moves of cells, all of which may be ranges."""
    sizes = np.diff(proposed.starts)
    table, columns = np.repeat(np.arange(len(sizes)), sizes), np.searchsorted(problem.cells, proposed.moved)
    far = proposed.moves / proposed.denominator[table] * (10.0**problem.decimals / 10.0**proposed.decimals)
    down, up = np.zeros(len(problem)), np.zeros(len(problem))
    np.maximum.at(up, columns, far)
    np.maximum.at(down, columns, -far)
    return RangeSlacks(down, up)


def widen_totals(problem: ProtectionProblem, slacks: RangeSlacks, further: Requirements, times: float) -> RangeSlacks:
    """Return ranges in which leaf cells can move by so many times their levels, with all their totals."""
    level = np.maximum(further.lower.floats, further.upper.floats) * (times * 10.0**problem.decimals)
    return widen_with_totals(problem, slacks, np.searchsorted(problem.cells, further.cells), level)
