"""A suppression pattern that leaves respondents exposed is completed at once: more is hidden, goal by goal.

Hiding more takes nobody's protection away. So the cheapest moves that meet what respondents require of a pattern, one
after the other (`celosia.protect.building`), close the pairs that it leaves open; whoever comes too close then is asked
about next. That is quick, and not the cheapest way: the engine looks for that.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.pattern.pattern import Pattern
from celosia.protect.building import Builder
from celosia.protect.call import Call
from celosia.protect.cuts import Workshop
from celosia.protect.protection import Method, Protection
from celosia.protect.sides import sides_of
from celosia.protect.suppress import Suppress
from celosia.protect.task import task_of
from celosia.risk.risk import HIDE, SENSITIVE, Risk
from celosia.solve.registry import backends

GRACE = (5.0, 0.5)
"""Seconds, and a share of the limit, by which attacks of respondents, and the cure for what they find, may be late."""


def closes(method: Method) -> bool:
    """Return whether patterns of a method can be completed: more may be hidden wherever something may."""
    return isinstance(method, Suppress) and method.at_most is None and not method.width_if_hidden


def more_hidden(
    hidden: NDArray[np.bool_], risk: Risk, method: Suppress, call: Call
) -> tuple[NDArray[np.bool_], float] | None:
    """Return a pattern that hides more, so that it meets all requirements of their own, and what it costs.

    None where it is not found. It is found by doubles: an audit has the last word.

    Parameters
    ----------
    hidden
        What is hidden so far, ``(n_cells,)``.
    risk
        Its requirements of their own are looked at: the others are met.
    method, call
        How it was made.
    """
    asked = method.applied(risk)
    task = task_of(asked, integer=call.integer)
    if risk.further is None or bool(task.beyond.any()):
        return None
    own = np.isin(task.goals.attackers, risk.further.attackers)
    task = replace(task, goals=task.goals.take(np.flatnonzero(own)))
    workshop, sides = Workshop.of(task), sides_of(task.goals)
    builder = Builder.of(workshop, sides, np.arange(len(task)), backends()[0])
    order = np.argsort(-sides.levels, kind="stable")
    built = builder.built(
        hidden[task.cells] | task.forced, task.cost, order, lambda: call.clock.left_with_grace(*GRACE) == 0
    )
    if built is None:
        return None
    mask = hidden | np.isin(asked.status, (SENSITIVE, HIDE))
    mask[task.cells[built.pattern]] = True
    return mask, math.fsum(asked.cost[mask].tolist())


def hiding(found: Protection, risk: Risk, method: Suppress, hidden: NDArray[np.bool_], call: Call) -> Protection:
    """Return a protection that hides other cells, audited by the requirements of a risk; its bound is the old one."""
    asked = method.applied(risk)
    pattern = Pattern.suppressing(risk.table, hidden)
    checked = audit(pattern, asked, integer=call.integer)
    cost = math.fsum(asked.cost[hidden].tolist())
    return replace(found, risk=asked, pattern=pattern, cost=cost, found=checked, seconds=call.clock.seconds)
