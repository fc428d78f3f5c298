"""What a command is given, a job file or a bare problem, read once for everything that is done with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import Problem, Problems, SpecError
from celosia.job.methods.choice import DEFAULT
from celosia.job.methods.section import MethodPart
from celosia.job.sections.limits import LimitsPart
from celosia.job.sections.output import OutputPart
from celosia.library import OnFirstUse

if TYPE_CHECKING:
    from celosia.job import spec
    from celosia.job.spec import Job
else:
    spec = OnFirstUse("celosia.job.spec")  # a bare problem needs none of it

JOB, BARE = ".toml", ".jj"
"""The endings of job files and of bare problems."""


@dataclass(frozen=True, slots=True)
class JobSource:
    """A job file, or a bare problem, which says nothing about methods, limits and files.

    Parameters
    ----------
    path
        The file.
    job
        What it describes; None for a bare problem, and for a job file that is wrong.
    problems
        What is wrong with the job file.
    output
        What it writes, also where something else in it is wrong.
    """

    path: Path
    job: Job | None = None
    problems: tuple[Problem, ...] = ()
    output: OutputPart = field(default_factory=OutputPart.without_options)

    @property
    def inputs(self) -> tuple[Path, ...]:
        """The files that an assessment reads."""
        return (self.path,) if self.job is None else self.job.inputs

    @property
    def method(self) -> MethodPart:
        """The section ``[method]``."""
        return DEFAULT if self.job is None else self.job.method

    @property
    def methods(self) -> Mapping[str, MethodPart]:
        """The sections ``[methods.NAME]``."""
        return {} if self.job is None else self.job.methods

    @property
    def limits(self) -> LimitsPart:
        """The section ``[limits]``."""
        return LimitsPart.without_options() if self.job is None else self.job.limits


def read_source(path: str | Path) -> JobSource:
    """Return what a job file (``.toml``) or a bare problem (``.jj``) says, with everything that is wrong with it."""
    path, found = Path(path), Problems()
    job, output = None, OutputPart.without_options()
    with found.gather():
        if path.suffix.lower() == JOB:
            content = spec.read_toml(path)
            output = spec.make_output(content, path)
            job = spec.make_job(content, path)
        elif path.suffix.lower() != BARE:
            message = f"has the ending {path.suffix.lower()!r}, which is not read here."
            raise SpecError.one(str(path), message, "Give a job file (.toml) or a problem (.jj).")
    return JobSource(path, job, tuple(found.found), output)
