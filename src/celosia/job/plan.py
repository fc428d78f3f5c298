"""The plan of a protection: what a job file says, and the caller instead of it, checked before any work begins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from celosia.errors import Problem, Problems, SpecError
from celosia.files import check_writable
from celosia.formats.release import ENDINGS
from celosia.job.methods.choice import choose_method
from celosia.job.methods.section import MethodPart
from celosia.job.sections.limits import LimitsPart
from celosia.job.sections.output import SECRET_ENDING
from celosia.job.sections.part import JobPart, faults_of, place_of
from celosia.job.source import JobSource

FILES: Mapping[str, tuple[str, ...]] = {
    "release": ENDINGS,
    "public": ENDINGS,
    "certificate": (".json",),
    "report": (".html",),
}
"""What can be written, and the endings of each."""

PartT = TypeVar("PartT", bound=JobPart)

_FILES = ("release", "secret_file")
"""Options that name files: pages tell no folders of the office."""

_OPTIONS = {"name": "method"}
"""Options whose name on the command line is another one than in the job file."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that a job file, or the command line instead of it, says about protecting.

    Parameters
    ----------
    source
        The job file or bare problem.
    method, limits
        How to protect.
    outputs
        The files to write, by what they are.
    """

    source: JobSource
    method: MethodPart
    limits: LimitsPart
    outputs: Mapping[str, Path]

    def describe(self) -> dict[str, str]:
        """Return the input, the method and the limits in words, for the page."""
        limits = ", ".join(_describe(self.limits)) or "none"
        return {"Input": self.source.path.name, "Method": ", ".join(_describe(self.method)), "Limits": limits}


def _describe(part: JobPart) -> list[str]:
    """Return the options of a part as people write them; selections by how many entries they have."""
    said = []
    for name in type(part).model_fields:
        value = getattr(part, name)
        if value is None or value is False:
            continue
        entries = getattr(value, "entries", None)
        if name == "name":
            said.append(str(value))
        elif entries is not None:
            said.append(f"{name}: {len(entries):,} entries")
        elif isinstance(value, JobPart):
            said += [f"{name}.{line}" for line in _describe(value)]
        else:
            said.append(f"{name} = {Path(value).name if name in _FILES else value}")
    return said


def make_plan(source: JobSource, options: Mapping[str, Mapping[str, Any]] | None = None, *, write: bool = True) -> Plan:
    """Return the plan of a protection, having checked everything that can be checked before any work begins.

    Parameters
    ----------
    source
        A job file or a bare problem.
    options
        What the caller says instead of the job file, by section: ``{"limits": {"time_limit": 60}}``. Paths are
        relative to the current folder.
    write
        Whether the job's files will be written.

    Raises
    ------
    SpecError
        The job asks for something that makes no sense, or a file could not be written.
    """
    given, found = options or {}, Problems()
    found.extend(source.problems)
    method, limits, output = source.method, source.limits, source.output
    own = given.get("method", {})
    with found.gather():
        if not source.problems or "name" in own:  # otherwise it is not known whose options these are
            method = _choose(source, own)
    with found.gather():
        limits = _replace(limits, given.get("limits", {}))
    with found.gather():
        output = _replace(output, given.get("output", {}))
    outputs = {name: Path(path) for name in FILES if write and (path := getattr(output, name)) is not None}
    written: dict[str | Path, tuple[str, ...]] = {str(path): FILES[name] for name, path in outputs.items()}
    kept = getattr(method, "secret_file", None)
    if outputs and kept is not None and not Path(kept).exists():
        written[kept] = (SECRET_ENDING,)
    with found.gather():
        check_writable(written, source.inputs)
    if method.kind.criterion == "distance" and "certificate" in outputs:
        message = f"cannot be made: {method.name!r} protects by distance from the truth, of which there is no proof."
        found.add(str(outputs["certificate"]), message, "Leave the certificate out.")
    for name, path in outputs.items():
        twin = next((other for other in outputs if outputs[other].absolute() == path.absolute()), name)
        if twin != name:
            found.add(str(path), f"is named for the {twin} and for the {name}.", "Give each a name of its own.")
    found.raise_as(SpecError)
    return Plan(source, method, limits, outputs)


def _choose(source: JobSource, given: Mapping[str, Any]) -> MethodPart:
    """Return the method that is asked for; refuse one that lacks an option which it needs."""
    try:
        method = choose_method(source.method, source.methods, given, {"folder": Path()})
    except ValidationError as error:
        raise SpecError(_problems(error)) from None
    if method.missing and not source.problems:
        remedy = f"The method {method.name!r} needs it: give it here or in [methods.{method.name}] as {{}}."
        raise SpecError(
            Problem(f"--{name.replace('_', '-')}", "is missing.", remedy.format(name)) for name in method.missing
        )
    return method


def _problems(error: ValidationError) -> list[Problem]:
    """Return what is wrong with options of the caller, by their names on the command line."""
    problems = []
    for way, *said in faults_of(error):
        place = place_of(way)
        in_the_job = way[0] == "method"
        problems.append(Problem(place if in_the_job else f"--{_OPTIONS.get(place, place).replace('_', '-')}", *said))
    return problems


def _replace(part: PartT, given: Mapping[str, Any]) -> PartT:
    """Return a section in which some options have other values."""
    if not given:
        return part
    try:
        other = type(part).model_validate(dict(given), context={"folder": Path()})
    except ValidationError as error:
        raise SpecError(_problems(error)) from None
    return part.model_copy(update={name: getattr(other, name) for name in given})
