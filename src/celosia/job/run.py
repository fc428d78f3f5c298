"""A method is run for a job: the one place where a job meets the engine."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass, replace
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class StateFiles:
    """Where the state of a search is kept, and which one is resumed; None for neither."""

    state: Path | None = None
    resume: Path | None = None


def run_method(
    risk: Risk, method: Method, limits: LimitsPart, progress: Progress, files: StateFiles | None = None
) -> Protection:
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
    files
        Where the state of the search is kept, and from which it goes on.
    """
    given = {name: value for name in type(limits).model_fields if (value := getattr(limits, name)) is not None}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MidpointWarning)  # terminal and page say it in their own way
        found = protect(risk, method, progress=progress, **given, **({} if files is None else asdict(files)))
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
