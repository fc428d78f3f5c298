"""All methods on the table of a job: what each is to do stands in the job file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from celosia.comparison.compare import CHOSEN, compare_method, seconds_left
from celosia.errors import Problem, nearest
from celosia.job.methods.choice import choose_method, owners
from celosia.job.methods.sections import SECTIONS
from celosia.job.plan import make_plan
from celosia.job.protection import protect_risk
from celosia.job.source import JobSource
from celosia.progress import SILENT, Progress
from celosia.protection.result import Protection
from celosia.report.measures import ComparedMethod
from celosia.risk.risk import Risk


def problems_with_methods(names: Sequence[str], options: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield methods that do not exist or are named twice, and options that none of them has."""
    for name in names:
        if name not in SECTIONS:
            yield Problem("--methods", f"{name!r} is no method.", nearest(name, SECTIONS))
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Problem("--methods", f"names {name!r} twice.")
    for option in options:
        if not set(owners(option)) & set(names):
            remedy = f"It belongs to {', '.join(owners(option))}."
            yield Problem(f"--{option.replace('_', '-')}", "is an option of none of these methods.", remedy)
    if not names:
        yield Problem("--methods", "names none.", f"Known are {', '.join(SECTIONS)}.")


def compare_methods(
    risk: Risk,
    source: JobSource,
    names: Sequence[str],
    options: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Progress = SILENT,
) -> list[ComparedMethod]:
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
        What to do instead, by section as in `celosia.job.plan.make_plan`; an option goes to the methods that have it.
    progress
        Hears about long steps.
    """
    return [_compare(risk, source, name, options or {}, progress) for name in names]


def _compare(
    risk: Risk, source: JobSource, name: str, options: Mapping[str, Mapping[str, Any]], progress: Progress
) -> ComparedMethod:
    given = {option: value for option, value in options.get("method", {}).items() if name in owners(option)}

    def run(more: Mapping[str, Any], spent: float) -> Protection:
        figures = {option: float(figure) for option, figure in more.items()}
        plan = make_plan(source, {**options, "method": {**given, **figures, "name": name}}, write=False)
        limits = plan.limits.model_copy(update={"time_limit": seconds_left(plan.limits.time_limit, spent)})
        return protect_risk(risk, replace(plan, limits=limits), progress)

    return compare_method(name, run, risk, _open_option(source, name, given), progress)


def _open_option(source: JobSource, name: str, given: Mapping[str, Any]) -> str | None:
    """Return the option of a method that neither the job nor the caller gives, where one can be chosen."""
    option = CHOSEN.get(name)
    if option is None or option in given:
        return None
    own, others = source.method, source.methods
    written = own if name == own.name else others.get(name)
    if written is not None:
        return None if written.model_fields_set.intersection((option, "bases")) else option
    try:
        carried = choose_method(own, others, {**given, "name": name}, {"folder": Path()})
    except ValidationError:
        return None  # what is wrong is said when the method is tried
    return option if getattr(carried, option) in (None, type(carried).model_fields[option].default) else None
