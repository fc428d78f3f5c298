"""From a job file or a bare problem to a safe pattern, and to the files that were asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from celosia.certificate.certificate import certify
from celosia.errors import CelosiaError, Problem, Problems, SpecError
from celosia.files import all_or_nothing, check_writable
from celosia.formats.release import ENDINGS, write
from celosia.job.methods.choice import DEFAULT, chosen
from celosia.job.methods.section import MethodPart
from celosia.job.pipeline import inputs_of, is_bare
from celosia.job.search import searched
from celosia.job.sections.limits import LimitsPart
from celosia.job.sections.output import OutputPart
from celosia.job.sections.part import Part, faults_of, place_of
from celosia.job.spec import outputs_of, read_job
from celosia.pattern.release import publish
from celosia.progress import SILENT, Progress
from celosia.protection.combined.method import Combined
from celosia.protection.result import Protection
from celosia.protection.trade_off import TradeOff, trade_off
from celosia.report.followed import with_intervals
from celosia.report.pages.beside import Beside
from celosia.report.pages.seed import seed_of
from celosia.risk.risk import Risk

if TYPE_CHECKING:
    from celosia.protection.why import Why

FILES: Mapping[str, tuple[str, ...]] = {
    "release": ENDINGS,
    "public": ENDINGS,
    "certificate": (".json",),
    "report": (".html",),
}
"""What can be written, and the endings of each."""

MOST_SECONDS, LEAST_SECONDS, CURVE_GAP = 10.0, 1.0, 1e-3
"""Each point of the curve of combined suppression has so long at most, and ends within this share of its bound; with
no more than the least there is no curve."""

PartT = TypeVar("PartT", bound=Part)

_OPTIONS = {"name": "method"}
"""What the command line calls options otherwise."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done: everything that a job file, or the command line instead of it, says about protecting.

    Parameters
    ----------
    source
        The job file (``.toml``) or bare problem (``.jj``).
    method, limits
        How to protect.
    outputs
        The files to write, by what they are.
    """

    source: Path
    method: MethodPart
    limits: LimitsPart
    outputs: Mapping[str, Path]

    def asked(self, result: Protection) -> dict[str, str]:
        """Return what was asked, in words, for the page, which is the office's and may tell the secret seed."""
        method = ", ".join(_said(self.method))
        limits = ", ".join(_said(self.limits)) or "none"
        return {"Input": self.source.name, "Method": method, "Limits": limits} | seed_of(result)


def _said(part: Part) -> list[str]:
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
        elif isinstance(value, Part):
            said += [f"{name}.{line}" for line in _said(value)]
        else:
            said.append(f"{name} = {Path(value).name if name == 'release' else value}")
    return said


def plan(source: str | Path, options: Mapping[str, Mapping[str, Any]] | None = None, *, write: bool = True) -> Plan:
    """Return what is to be done, having checked everything that can be checked before any work begins.

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
    source, given, found = Path(source), options or {}, Problems()
    method, limits, output = DEFAULT, LimitsPart(), OutputPart()
    others: Mapping[str, MethodPart] = {}
    inputs: tuple[Path, ...] = (source,)
    with found.gathering():
        inputs = inputs_of(source)
        if not is_bare(source):
            job = read_job(source)
            method, limits, output, others = job.method, job.limits, job.output, job.methods
    readable, own = not found.found, given.get("method", {})
    if not readable:
        output = outputs_of(source)
    with found.gathering():
        if readable or "name" in own:  # otherwise nobody knows whose options these are
            method = _method(method, others, own, complete=readable)
    with found.gathering():
        limits = _instead(limits, given.get("limits", {}))
    with found.gathering():
        output = _instead(output, given.get("output", {}))
    outputs = {name: Path(path) for name in FILES if write and (path := getattr(output, name)) is not None}
    with found.gathering():
        check_writable({str(path): FILES[name] for name, path in outputs.items()}, inputs)
    if method.criterion == "distance" and "certificate" in outputs:
        said = f"cannot be made: {method.name!r} protects by distance from the truth, of which there is no proof."
        found.add(str(outputs["certificate"]), said, "Leave the certificate out.")
    for name, path in outputs.items():
        twin = next((other for other in outputs if outputs[other].absolute() == path.absolute()), name)
        if twin != name:
            found.add(str(path), f"is named for the {twin} and for the {name}.", "Give each a name of its own.")
    found.raise_as(SpecError)
    return Plan(source, method, limits, outputs)


def _method(
    own: MethodPart, others: Mapping[str, MethodPart], given: Mapping[str, Any], *, complete: bool
) -> MethodPart:
    """Return the method that is asked for; where all is known, with the options that it cannot do without."""
    try:
        method = chosen(own, others, given, {"folder": Path()})
    except ValidationError as error:
        raise SpecError(_problems(error)) from None
    if complete and method.missing:
        said = [Problem(f"--{name.replace('_', '-')}", "is missing.", _needed(method, name)) for name in method.missing]
        raise SpecError(said)
    return method


def _needed(method: MethodPart, option: str) -> str:
    return f"The method {method.name!r} needs it: give it here or in [methods.{method.name}] as {option}."


def _problems(error: ValidationError) -> list[Problem]:
    """Return what is wrong with options of the caller, by their names on the command line."""
    problems = []
    for way, *said in faults_of(error):
        place = place_of(way)
        in_the_job = way[0] == "method"
        problems.append(Problem(place if in_the_job else f"--{_OPTIONS.get(place, place).replace('_', '-')}", *said))
    return problems


def _instead(part: PartT, given: Mapping[str, Any]) -> PartT:
    """Return a section in which some options have other values."""
    if not given:
        return part
    try:
        other = type(part).model_validate(dict(given), context={"folder": Path()})
    except ValidationError as error:
        raise SpecError(_problems(error)) from None
    return part.model_copy(update={name: getattr(other, name) for name in given})


def protect_risk(risk: Risk, what: Plan, progress: Progress = SILENT) -> Protection:
    """Return the protection that a plan asks for, of what was assessed; write nothing."""
    try:
        method = what.method.build(risk)
    except CelosiaError as error:
        raise error.under(str(what.source)) from None
    try:
        return searched(risk, method, what.limits, progress)
    except CelosiaError as error:
        raise what.method.in_words_of_the_job(error) from None


def write_outputs(
    result: Protection,
    what: Plan,
    progress: Progress = SILENT,
    *,
    beside: Beside | None = None,
    whys: Sequence[Why] = (),
) -> list[Path]:
    """Write the files that a plan asks for, all of them or none, and return their paths.

    Parameters
    ----------
    result, what
        What to write, and where.
    progress
        Hears about long steps.
    beside
        A table in several ways, which the page shows side by side.
    whys
        Why some cells are not shown, which the page tells.

    Raises
    ------
    SpecError
        The protection is not safe, or a file cannot be written.
    """
    if not result.safe:
        raise SpecError.one(str(what.source), "is not safe yet: nothing is written.")
    release = publish(result.pattern)
    paths = list(what.outputs.values())
    with all_or_nothing(paths) as stand_ins:
        for name, path in what.outputs.items():
            progress.start(f"writing {path.name}")
            if name == "certificate":
                certify(result).write(stand_ins[path])
            elif name == "report":
                # pictures take a second to import, which nobody need wait for who asks for none
                from celosia.report.pages.protection import write_protection_page  # noqa: PLC0415

                seen, asked = with_intervals(result, progress, _left(result, what.limits)), what.asked(result)
                curve = _curve(result, what.limits, progress)
                write_protection_page(
                    result,
                    stand_ins[path],
                    audit=seen,
                    title=what.source.name,
                    asked=asked,
                    curve=curve,
                    beside=beside,
                    whys=whys,
                )
            else:
                write(release, stand_ins[path], result.risk.sensitive if name == "release" else None)
            progress.done()
    return paths


def _curve(result: Protection, limits: LimitsPart, progress: Progress) -> TradeOff | None:
    """Return the curve between few ranges and narrow ones, for the method that weighs them; otherwise None.

    Of the respondents those attack that came too close on the way to the release: to look for others at every point
    takes too long.
    """
    left = _left(result, limits)
    if not isinstance(result.method, Combined) or (left is not None and left <= LEAST_SECONDS):
        return None
    progress.start("few ranges or narrow ones")
    seconds = min(left or MOST_SECONDS, MOST_SECONDS)
    risk = replace(result.risk, respondents=())
    return trade_off(risk, result.method, time_limit=seconds, gap=limits.gap or CURVE_GAP, known=[result])


def _left(result: Protection, limits: LimitsPart) -> float | None:
    """Return how many seconds of the limit the page may still take, a little in any case; None where there is none."""
    if limits.time_limit is None:
        return None
    return max(LEAST_SECONDS, limits.time_limit - result.seconds)
