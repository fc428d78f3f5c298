"""An audit of a result whose intervals are followed to their ends, for pages and measures."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from celosia.attack.audit import audit
from celosia.attack.result import Audit
from celosia.pattern.entries import SHOWN
from celosia.progress import SILENT, Progress
from celosia.protection.result import Protection
from celosia.solve.clock import Clock

MOST_INTERVALS = 5_000
"""The largest number of intervals that are followed to their ends: two linear programs each, seconds in all."""


def audit_to_ends(result: Protection, progress: Progress = SILENT, time_limit: float | None = None) -> Audit | None:
    """Return an audit with the intervals of all hidden cells, or the result's own where these are too many.

    The result's own is returned also when the time limit is reached, and None where the method protects by distance.
    """
    if result.criterion == "distance":
        return None
    hidden = int(np.count_nonzero(result.pattern.status != SHOWN))
    own, risk = result.audit.risk.further, replace(result.audit.risk, respondents=())
    if own is not None:  # what respondents conclude about other cells appears on no page
        risk = replace(risk, attackers=risk.attackers[: int(own.attackers.min())], further=None)
    if len(result.audit.intervals) or hidden * len(risk.attackers) > MOST_INTERVALS:
        return result.audit
    clock, integer = Clock(time_limit), result.audit.integer
    progress.start("following intervals to their ends")
    found = audit(result.pattern, risk, intervals=True, integer=integer, time_limit=time_limit, progress=progress)
    return found if clock.left > 0 else result.audit
