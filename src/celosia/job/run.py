"""A method is run for a job: the one place where a job meets the engine."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import MidpointWarning
from celosia.job.sections.limits import LimitsPart
from celosia.progress import Progress
from celosia.protection.method import Method
from celosia.protection.protect import protect
from celosia.protection.result import Protection
from celosia.risk.risk import Levels, Risk
from celosia.table.fixed import Fixed


def run_method(risk: Risk, method: Method, limits: LimitsPart, progress: Progress) -> Protection:
    """Return the protection that the engine finds.

    Parameters
    ----------
    risk
        What to protect.
    method
        How.
    limits
        When the search ends.
    progress
        Hears how far it has come.
    """
    given = {name: value for name in type(limits).model_fields if (value := getattr(limits, name)) is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MidpointWarning)  # terminal and page say it in their own way
        found = protect(risk, method, progress=progress, **given)
    return replace(found, risk=_restore_status(found.risk, risk))


def _restore_status(found: Risk, risk: Risk) -> Risk:
    """Return what was protected without cells that count as sensitive only because of a width that they must keep.

    The office's copy and the page tell what the rules found from what is hidden to protect it.
    """
    wished = found.sensitive & ~risk.sensitive
    if not wished.any():
        return found
    levels = Levels(
        *(_clear_levels(level, wished) for level in (found.levels.lower, found.levels.upper, found.levels.sliding))
    )
    return replace(found, status=np.where(wished, risk.status, found.status), levels=levels)


def _clear_levels(levels: Fixed, cells: NDArray[np.bool_]) -> Fixed:
    return Fixed(np.where(cells, 0, levels.counts), levels.decimals)
