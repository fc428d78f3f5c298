"""All methods on the table of a job: what each is to do stands in the job file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from celosia.errors import Problems, SpecError, nearest
from celosia.job.methods.choice import DEFAULT, PARTS, chosen, owners
from celosia.job.pipeline import inputs_of, is_bare
from celosia.job.protection import plan, protect_risk
from celosia.job.spec import read_job
from celosia.progress import SILENT, Progress
from celosia.protection.result import Protection
from celosia.report.comparison.compare import CHOSEN, compared, left
from celosia.report.comparison.comparison import Compared
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
    """Return what each method makes of a table; one that cannot protect it with the kind of its reason.

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

    def run(more: Mapping[str, Any], spent: float) -> Protection:
        figures = {option: float(figure) for option, figure in more.items()}
        what = plan(source, {**options, "method": {**given, **figures, "name": name}}, write=False)
        limits = what.limits.model_copy(update={"time_limit": left(what.limits.time_limit, spent)})
        return protect_risk(risk, replace(what, limits=limits), progress)

    return compared(name, run, risk, _open_option(source, name, given), progress)


def _open_option(source: str | Path, name: str, given: Mapping[str, Any]) -> str | None:
    """Return the option of a method that neither the job nor the caller says, where one can be chosen."""
    option = CHOSEN.get(name)
    if option is None or option in given:
        return None
    own, others = DEFAULT, {}
    if not is_bare(Path(source)):
        job = read_job(source)
        own, others = job.method, dict(job.methods)
    written = own if name == own.name else others.get(name)
    if written is not None:
        return None if written.model_fields_set.intersection((option, "bases")) else option
    try:
        carried = chosen(own, others, {**given, "name": name}, {"folder": Path()})
    except ValidationError:
        return None  # what is wrong is said when the method is tried
    return option if getattr(carried, option) in (None, type(carried).model_fields[option].default) else None
