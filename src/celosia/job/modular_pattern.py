"""The modular pattern beside the result of a job, where it was asked for."""

from __future__ import annotations

from dataclasses import replace

from celosia.errors import CelosiaError, SpecError
from celosia.job.plan import Plan
from celosia.progress import SILENT, Progress
from celosia.protection.modular.modular import modular
from celosia.protection.result import Protection
from celosia.protection.suppression.method import Suppress
from celosia.risk.risk import Risk

_SHARE = 0.5
"""Which part of the time limit it may take, after the search."""


def check_method(plan: Plan) -> None:
    """Refuse methods that publish anything but shown and hidden cells.

    Raises
    ------
    SpecError
        The plan's method is such a one.
    """
    if plan.method.kind is not Suppress:
        message = f"compares patterns of hidden cells, and does not go with {plan.method.name!r}."
        raise SpecError.one("--against-modular", message, "Leave it out, or choose suppress.")


def compare(result: Protection, risk: Risk, plan: Plan, progress: Progress = SILENT) -> Protection:
    """Return a result with the modular pattern beside it; a note says why where there is none.

    Parameters
    ----------
    result
        The result of the plan.
    risk
        What was to be protected.
    plan
        How, and in which time.
    progress
        Hears about long steps.
    """
    method, limit = result.method, plan.limits.time_limit
    assert isinstance(method, Suppress)  # noqa: S101  (checked before)
    try:
        found = modular(
            risk,
            method,
            time_limit=None if limit is None else _SHARE * limit,
            solver=plan.limits.solver,
            seed=result.seed,
            integer=result.audit.integer,
            progress=progress,
        )
    except CelosiaError as error:
        note = f"There is no modular pattern to compare with: {error.problems[0]}"
        return replace(result, notes=(*result.notes, note))
    return result.beside(found)
