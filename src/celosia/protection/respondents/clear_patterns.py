"""Patterns that hide cells so that moves clear all respondents, each shown to be safe."""

from __future__ import annotations

import math
from collections.abc import Iterator

from celosia.attack.audit import audit
from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.pattern.entries import SHOWN
from celosia.pattern.pattern import Pattern
from celosia.protection.method import Method
from celosia.protection.respondents.clearance import find_clear_patterns
from celosia.protection.respondents.oracle import RespondentOracle
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import Risk


def find_safe_patterns(risk: Risk, method: Method, run: Run, oracle: RespondentOracle) -> Iterator[Protection]:
    """Yield patterns of a product table in which moves of few cells clear all respondents, the first before others.

    There are none after one that is not safe, and none where a method does more than hide cells, or may not hide all.

    Parameters
    ----------
    risk, method, run
        What is protected, how, and for how long.
    oracle
        Attacks the patterns.
    """
    if not (method.only_hides and method.hides_everything):
        return
    for hidden, proposed in find_clear_patterns(risk, oracle.criteria, run):
        pattern = Pattern.hide(risk.table, hidden)
        found = _judge(pattern, proposed, risk, method, run, oracle)
        if found is None:
            return
        yield found


def _judge(
    pattern: Pattern, proposed: ProposedWitnesses, risk: Risk, method: Method, run: Run, oracle: RespondentOracle
) -> Protection | None:
    """Return a pattern as a protection where audit and attacks, with moves that are proposed, find it safe."""
    checked = audit(pattern, risk, integer=run.integer, proposed=proposed)
    if not checked.safe or not oracle.is_safe(pattern, proposed):
        return None
    cost = math.fsum(risk.cost[pattern.status != SHOWN].tolist())
    return Protection(risk, method, pattern, cost, 0.0, checked, run.clock.seconds, run.solver_name, (), run.seed)
