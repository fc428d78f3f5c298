"""Entries of a release that contradict themselves."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from celosia.pattern.arithmetic import differ, greater, outside
from celosia.pattern.entries import (
    INTERVAL,
    PERTURBED,
    ROUNDED,
    SHOWN,
    STATUSES,
    WITH_BOUNDS,
    WITH_VALUE,
    Fault,
    of_status,
)
from celosia.table.fixed import Fixed


def contradictions(status: NDArray[np.str_], published: Fixed, lower: Fixed, upper: Fixed) -> Iterator[Fault]:
    """Yield which entries contradict themselves.

    Parameters
    ----------
    status
        A status each, ``(n,)``.
    published
        The number shown; whatever stands where none is shown does not matter.
    lower, upper
        The bounds given away, infinite where there are none.
    """
    unknown = ~of_status(status, STATUSES)
    yield unknown, "the status is unknown.", f"It must be one of {' '.join(STATUSES)}."
    endless = published.infinite & of_status(status, WITH_VALUE)
    yield endless, "the published number is infinite.", "Hide the cell instead."
    off = differ(published, lower) | differ(published, upper)
    remedy = "What is shown gives itself away: write it three times."
    yield off & (status == SHOWN) & ~endless, "lower and upper differ from the number shown.", remedy
    ranged = status == INTERVAL
    yield greater(lower, upper) & ranged, "lower is above upper.", "An interval contains the truth."
    both = lower.infinite & upper.infinite & ranged & ~greater(lower, upper)
    yield both, "the interval is infinite on both sides.", "Give it the status hidden."
    near = of_status(status, (ROUNDED, PERTURBED))
    loose = lower.infinite | upper.infinite
    yield loose & near, "lower or upper is infinite.", "A rounded or perturbed number tells how far the truth is."
    wrong = outside(published, lower, upper) & near & ~loose & ~endless
    yield wrong, "the published number lies outside lower .. upper.", "It must be within its own reach."
    silent = ~of_status(status, WITH_BOUNDS) & ~unknown
    bounded = ~(lower.infinite & upper.infinite & greater(upper, lower))
    yield silent & bounded, "lower or upper is given.", "A hidden or adjusted cell gives no bounds away."
