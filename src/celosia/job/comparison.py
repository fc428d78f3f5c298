"""All methods on one table: the question that every office asks first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from celosia.errors import CelosiaError, Problems, SpecError, nearest
from celosia.job.methods import PARTS, owners
from celosia.job.pipeline import inputs_of
from celosia.job.protection import plan, protect_risk, with_intervals
from celosia.progress import SILENT, Progress
from celosia.report.comparison import Compared, measures
from celosia.risk.risk import Risk


def check_methods(source: str | Path, names: Sequence[str], options: Mapping[str, Any]) -> None:
    """Refuse a job that cannot be read, methods that do not exist, and options that none of them has.

    Raises
    ------
    SpecError
        Everything that is wrong.
    """
    found = Problems()
    with found.gathering():
        inputs_of(source)
    for name in names:
        if name not in PARTS:
            found.add("--methods", f"{name!r} is no method.", nearest(name, PARTS))
    for name in sorted({name for name in names if names.count(name) > 1}):
        found.add("--methods", f"names {name!r} twice.")
    for option in options:
        if not set(owners(option)) & set(names):
            said = "is an option of none of these methods."
            found.add(f"--{option.replace('_', '-')}", said, f"It belongs to {', '.join(owners(option))}.")
    found.raise_as(SpecError)


def compare_methods(
    risk: Risk,
    source: str | Path,
    names: Sequence[str],
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress = SILENT,
) -> list[Compared]:
    """Return what each method makes of a table; one that cannot protect it with its reason.

    Parameters
    ----------
    risk
        What to protect.
    source
        The job file or bare problem, whose sections say what each method is to do.
    names
        The methods.
    options
        What to do instead, by section as in `plan`; an option goes to the methods that have it.
    progress
        Hears about long steps.
    """
    return [_compared(risk, source, name, options or {}, progress) for name in names]


def _compared(
    risk: Risk, source: str | Path, name: str, options: Mapping[str, Mapping[str, Any]], progress: Progress
) -> Compared:
    given = {option: value for option, value in options.get("method", {}).items() if name in owners(option)}
    try:
        what = plan(source, {**options, "method": {**given, "name": name}}, write=False)
        result = protect_risk(risk, what, progress)
        found = measures(result, with_intervals(result, progress))
    except CelosiaError as error:
        return Compared(name, None, error.problems)
    return Compared(name, found, notes=(*result.notes, *result.warnings))
