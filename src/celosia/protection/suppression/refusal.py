"""Why no pattern is safe: which cells would have to be freed, and what that costs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, InfeasibleError
from celosia.pattern.entries import SHOWN
from celosia.protection.infeasibility import conflict_of, free_conflict, support_of
from celosia.protection.result import Protection
from celosia.protection.suppression.method import Suppress
from celosia.risk.risk import Risk
from celosia.solve import deadline

Try = Callable[[Risk, Suppress], Protection | None]
"""Returns what a short search finds for another risk, None where it finds nothing."""


def explain_infeasibility(risk: Risk, method: Suppress, search: Try, *, integer: bool | None) -> CelosiaError:
    """Return an error that says why nothing is safe, what would have to be freed, and what that costs."""
    try:
        return _explain(risk, method, search, integer=integer)
    except deadline.DeadlineError:
        message = "is impossible. There was no time to find out which cells stand in the way."
        return InfeasibleError.one("protection", message, "Allow more time to be told, or ask for less.")


def _explain(risk: Risk, method: Suppress, search: Try, *, integer: bool | None) -> CelosiaError:
    """Return the same; there may be no time for it."""

    def find_support(freed_risk: Risk) -> NDArray[np.bool_] | None:
        found = search(freed_risk, replace(method, at_most=None))
        if found is None or freed_risk.corners:  # of these an audit knows no witnesses
            return None if found is None else np.asarray(found.pattern.status != SHOWN)
        return support_of(found.audit)

    found = conflict_of(risk, method, find_support, integer=integer)
    priced = search(free_conflict(risk, found), method) if len(found.shown) else None
    if priced is not None:
        found = replace(found, cost=priced.cost, bound=priced.bound)
    return InfeasibleError.one("protection", found.sentence(risk), found.remedy)
