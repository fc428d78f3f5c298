"""The job file: what is to be done with which data, in TOML.

Everything is checked before any work begins, and everything that is wrong is said at once, with its place. Paths are
relative to the job file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, PrivateAttr, ValidationError, field_validator

from celosia.errors import Problem, SpecError
from celosia.job.methods.choice import DEFAULT, AnyMethod, Methods
from celosia.job.sections.attackers import AttackerPart
from celosia.job.sections.consistency import find_contradictions
from celosia.job.sections.limits import LimitsPart
from celosia.job.sections.output import OutputPart
from celosia.job.sections.part import Fault, JobPart, faults_of, place_of
from celosia.job.sections.rules import AnyRule
from celosia.job.sections.tables import AssessPart, CellsPart, DataPart, DimensionPart, LinksPart, TablePart
from celosia.source.places import is_remote


class Job(JobPart):
    """A job: data, dimensions, tables and rules, and how the tables are protected.

    Parameters
    ----------
    data, cells
        Microdata or ready-made cells, exactly one of the two.
    dimensions
        The classifications, by name.
    tables
        What is tabulated.
    links
        What holds between variables.
    rules
        What makes a cell sensitive.
    assess
        How that is judged.
    attackers
        Against whom the table is protected; by default an outsider, and contributors where they are known and a rule
        says what they know: ``["external", "respondents"]``. ``["external"]`` is the outsider alone.
    method
        How it is protected.
    methods
        What other methods are to do, where they are asked for instead.
    limits
        How long the search may take.
    output
        What is written.
    """

    data: DataPart | None = None
    cells: CellsPart | None = None
    dimensions: dict[str, DimensionPart] = Field(description="Add a section [dimensions.NAME] for every dimension.")
    tables: Annotated[list[TablePart], Field(min_length=1)] = Field(
        description='Add [[tables]] with by = ["NAME", ...].'
    )
    links: LinksPart | None = None
    rules: Annotated[list[AnyRule], Field(min_length=1)] = Field(
        description='Add [[rules]] with rule = "p-percent" and p = 10, say.'
    )
    assess: AssessPart = Field(default_factory=AssessPart)
    attackers: Annotated[list[AttackerPart], Field(min_length=1)] | None = None
    method: AnyMethod = DEFAULT
    methods: Methods = Field(default_factory=dict)
    limits: LimitsPart = Field(default_factory=LimitsPart)
    output: OutputPart = Field(default_factory=OutputPart)
    _path: Path = PrivateAttr()

    @field_validator("attackers", mode="before")
    @classmethod
    def _attackers_by_name(cls, written: object) -> object:
        """Return attackers that are only named, ``attackers = ["external", "respondents"]``, as sections."""
        if isinstance(written, list):
            return [{"attacker": one} if isinstance(one, str) else one for one in written]
        return written

    def model_post_init(self, context: Any) -> None:  # noqa: ANN401
        """Remember the job file."""
        self._path = context["path"]

    @property
    def path(self) -> Path:
        """The job file."""
        return self._path

    @property
    def folder(self) -> Path:
        """Where the job file lies, and its relative paths begin."""
        return self._path.parent

    @property
    def inputs(self) -> tuple[Path, ...]:
        """Every file that the job reads, itself included."""
        named = [self.data.file, self.data.database] if self.data else []
        named += [self.cells.file] if self.cells else []
        hierarchies = [part for dimension in self.dimensions.values() for part in dimension.hierarchy or ()]
        known = [part.knows for part in self.attackers or ()]
        return (
            self.path,
            *(Path(name) for name in named if name and not is_remote(name)),
            *(file for part in hierarchies for file in part.files),
            *(selection.file for selection in known if selection is not None and selection.file is not None),
            *(file for part in (self.method, *self.methods.values()) for file in part.files),
        )

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong between the sections."""
        yield from find_contradictions(written)


def read_job(path: str | Path) -> Job:
    """Return the job that a file describes.

    Raises
    ------
    SpecError
        The file is not there, is no TOML, or asks for something that makes no sense; with everything that is wrong.
    """
    path = Path(path)
    return make_job(read_toml(path), path)


def make_job(content: Mapping[str, Any], path: Path) -> Job:
    """Return the job that the content of a job file describes.

    Raises
    ------
    SpecError
        It asks for something that makes no sense; with everything that is wrong.
    """
    try:
        return Job.model_validate(content, context={"path": path, "folder": path.parent})
    except ValidationError as error:
        problems = [Problem(place_of(way), message, remedy) for way, message, remedy in faults_of(error)]
        raise SpecError(problems).under(str(path)) from None


def make_output(content: Mapping[str, Any], path: Path) -> OutputPart:
    """Return what a job writes, whatever is wrong with the rest of it; nothing where its own section is wrong."""
    try:
        return OutputPart.model_validate(content.get("output", {}), context={"folder": path.parent})
    except ValidationError:
        return OutputPart()


def read_toml(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises
    ------
    SpecError
        The file is not there, or is no TOML; with the line.
    """
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        raise SpecError.one(str(path), "does not exist.", "Is the path right?") from None
    except IsADirectoryError:
        raise SpecError.one(str(path), "is a folder.", "Name the job file in it.") from None
    except OSError as error:
        raise SpecError.one(str(path), f"cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise SpecError.one(f"{path}, line {line}", "is not UTF-8 text.", "Save the file as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        said = re.fullmatch(
            r"(?P<what>.*) \(at line (?P<line>\d+), column (?P<column>\d+)\)", str(error), flags=re.DOTALL
        )
        place = f"{path}, line {said['line']}, column {said['column']}" if said else str(path)
        what = said["what"] if said else str(error)
        raise SpecError.one(place, f"is no TOML: {what}.", "Text stands in quotes, lists in brackets.") from None
