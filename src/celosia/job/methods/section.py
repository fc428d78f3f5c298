"""A method of protection as a job file or a command line describes it, whatever the method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field

from celosia.errors import CelosiaError, Problems, SpecError
from celosia.job.sections.files import File
from celosia.job.sections.part import JobPart
from celosia.job.sections.selection import Selection
from celosia.pattern.csv.file import read_release
from celosia.pattern.entries import SHOWN
from celosia.pattern.labels import Labels
from celosia.pattern.release import Release
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk
from celosia.table.table import Table

if TYPE_CHECKING:
    from celosia.protection.method import Method

_OURS = frozenset(("name", "factors", "keep", "secret_file"))
"""Options of a job that no method has: they make its costs, or keep its secret."""

_LEVELS = frozenset(
    ["least_width", *(f"{side}_if_{when}" for side in ("lower", "upper", "width") for when in ("hidden", "not_shown"))]
)
"""Options that ask for levels of single cells."""


class KeepPart(JobPart):
    """``keep = { release = "last.csv", factor = 0.5 }``: what was hidden last period had better stay hidden.

    Parameters
    ----------
    release
        The release of last period; cells are matched by their labels.
    factor
        What hiding costs a cell that was hidden then, as a multiple.
    """

    release: File
    factor: Annotated[float, Field(ge=0)] = 0.5


def _wrap_release(written: object) -> object:
    return {"release": written} if isinstance(written, str) else written


Keep: TypeAlias = Annotated[KeepPart, BeforeValidator(_wrap_release, json_schema_input_type=str | KeepPart)]
"""A release of last period; its name alone will do."""


class MethodPart(JobPart):
    """``[method]``: a method of protection and its options.

    The section of each method is made from its dataclass (`celosia.job.methods.sections`). Options have its names, but
    for those in `renamed` (what all methods have in common is called the same in job files) and in `replaced` (a job
    says it in another way). Cells and numbers for cells are looked up when the table is there.

    Parameters
    ----------
    name
        The method.
    """

    kind: ClassVar[type[Any]]
    renamed: ClassVar[Mapping[str, str]] = {}
    replaced: ClassVar[frozenset[str]] = frozenset()
    name: str

    def build(self, risk: Risk) -> Method:
        """Return the method with what its options ask of the cells of a table; the search applies it to the table.

        Raises
        ------
        SpecError
            Cells are unknown, or two wishes contradict each other: every such problem.
        """
        asked = _OptionReader(self, risk)
        options = {name: asked.option(name) for name in self.given if name not in _OURS}
        if "factors" in type(self).model_fields:
            options["cost"] = asked.cost()
        asked.clashes(options)
        asked.found.raise_as(SpecError)
        options = self.adapt(options, risk)
        try:
            method = self.kind(**{self.renamed.get(name, name): value for name, value in options.items()})
        except SpecError as error:
            raise self.rename_places(error, "method.") from None
        return cast("Method", method)

    def adapt(self, options: dict[str, Any], risk: Risk) -> dict[str, Any]:  # noqa: ARG002  (others use it)
        """Return the options as the method takes them, where the job says some of them in another way."""
        return options

    @property
    def given(self) -> tuple[str, ...]:
        """The options that have a value."""
        return tuple(name for name in type(self).model_fields if getattr(self, name) is not None)

    @property
    def asks_for_levels(self) -> bool:
        """Whether options ask for levels of single cells: then audits of a release of the job do, too."""
        return any(name in _LEVELS for name in self.given)

    @property
    def missing(self) -> tuple[str, ...]:
        """The options without which the method does not work, and which have no value."""
        needed = [own.name for own in fields(self.kind) if own.default is MISSING and own.default_factory is MISSING]
        return tuple(name for name in needed if getattr(self, name, None) is None)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that the options name."""
        values = [getattr(self, name) for name in self.given]
        found = [value.file for value in values if isinstance(value, Selection) and value.file is not None]
        return (*found, *(Path(value.release) for value in values if isinstance(value, KeepPart)))

    def rename_places(self, error: CelosiaError, section: str = "") -> CelosiaError:
        """Return an error of the method or its search with places as the job calls them, options in their section."""
        called, problems = {theirs: ours for ours, theirs in self.renamed.items()}, []
        for problem in error.problems:
            place = called.get(problem.place, problem.place)
            own = section if place.partition("[")[0] in type(self).model_fields else ""
            problems.append(replace(problem, place=own + place))
        return type(error)(problems)


@dataclass(frozen=True, slots=True, eq=False)
class _OptionReader:
    """Looks up what the options of a method ask of the cells of a table, and notes what cannot be."""

    part: MethodPart
    risk: Risk
    found: Problems = field(default_factory=Problems)

    def option(self, name: str) -> Any:  # noqa: ANN401
        """Return an option as the method takes it: cells as places, numbers for cells by their place."""
        value = getattr(self.part, name)
        if not isinstance(value, Selection):
            return value
        with self.found.gather():
            if any(entry.numbers.keys() & {"lower", "upper"} for entry in value.entries):
                return self._windows(value, name)
            if any("rounded" in entry.numbers for entry in value.entries):
                places = value.places(self.risk.table, f"method.{name}")
                return {cell: Fraction(repr(said["rounded"])) for cells, said in places for cell in cells.tolist()}
            if any(entry.numbers for entry in value.entries):
                return self._numbers(value, name)
            return value.cells(self.risk.table, f"method.{name}")
        return np.zeros(0, dtype=np.int64)

    def _numbers(self, selection: Selection, name: str) -> dict[int, Fraction]:
        """Return the number for each cell, or its percentage of the value; of several the largest."""
        numbers: dict[int, Fraction] = {}
        for cells, said in selection.places(self.risk.table, f"method.{name}"):
            ((kind, number),) = said.items()
            for cell in cells.tolist():
                wanted = self._share(cell, number) if kind == "percent" else Fraction(repr(number))
                numbers[cell] = max(numbers.get(cell, Fraction(0)), wanted)
        return {cell: number for cell, number in numbers.items() if number}

    def _windows(self, selection: Selection, name: str) -> dict[int, tuple[Fraction, Fraction]]:
        """Return the lower and the upper end for each cell; the last entry about it counts."""
        windows: dict[int, tuple[Fraction, Fraction]] = {}
        for entry, (cells, said) in zip(
            selection.entries, selection.places(self.risk.table, f"method.{name}"), strict=True
        ):
            if said.keys() < {"lower", "upper"}:
                place = f"{selection.file}, {entry.place}" if selection.file else f"method.{name}{entry.place}"
                self.found.add(place, "has one end only.", "Give 'lower' and 'upper'.")
                continue
            ends = Fraction(repr(said["lower"])), Fraction(repr(said["upper"]))
            windows |= dict.fromkeys(cells.tolist(), ends)
        return windows

    def _share(self, cell: int, percent: float) -> Fraction:
        return abs(self.risk.table.amounts.fraction(cell)) * Fraction(repr(percent)) / 100

    def cost(self) -> NDArray[np.float64]:
        """Return the costs: those asked for, times the factors of single cells."""
        table, cost = self.risk.table, self.risk.cost
        factors, keep = getattr(self.part, "factors", None), getattr(self.part, "keep", None)
        with self.found.gather():
            cost = self._plain_cost().copy()
        with self.found.gather():
            if factors is not None:
                for cells, said in factors.places(table, "method.factors"):
                    cost[cells] *= said["factor"]
        with self.found.gather():
            if keep is not None:
                cost[_find_hidden_before(read_release(keep.release), table)] *= keep.factor
        return cost

    def _plain_cost(self) -> NDArray[np.float64]:
        asked = getattr(self.part, "cost", None)
        if asked is None:
            return self.risk.cost
        try:
            return Cost.parse(asked).of(self.risk.table)
        except CelosiaError as error:
            raise SpecError(replace(problem, place=f"method.{problem.place}") for problem in error.problems) from None

    def clashes(self, options: Mapping[str, Any]) -> None:
        """Note cells that must be shown and cannot be."""
        nothing = np.zeros(0, dtype=np.int64)
        show, hide = (options.get(name, nothing) for name in ("must_show", "must_hide"))
        both = np.intersect1d(show, hide)
        if len(both):
            said = f"{self._name_cells(both)} in must_show and in must_hide."
            self.found.add("method.must_show", said, "Take it out of one of them.")
        clash = show[self.risk.sensitive[show]]
        if len(clash):
            rules = " and the ".join(self.risk.reason(int(clash[0]))) or "as given"
            said = f"{self._name_cells(clash)} sensitive ({rules})."
            remedy = "What is published anyway can be exempted from the rules: assess.exempt."
            self.found.add("method.must_show", said, remedy)

    def _name_cells(self, cells: NDArray[np.int64]) -> str:
        first = self.risk.table.label(int(cells[0]))
        return f"{first} is" if len(cells) == 1 else f"{len(cells):,} cells, the first being {first}, are"


def _find_hidden_before(last: Release, table: Table) -> NDArray[np.int64]:
    """Return the cells of a table that another release does not show, by their labels; bare cells by their numbers."""
    own, theirs = Labels.of_table(table).columns(), last.labels.columns()
    if not own:
        hidden = np.flatnonzero(last.status != SHOWN)
        return hidden[hidden < len(table)]
    missing = [name for name in own if name not in theirs]
    if missing:
        raise SpecError.one("method.keep.release", f"has no column {missing[0]!r}.", "Is it the release of this table?")
    before = {
        labels
        for labels, status in zip(zip(*(theirs[name] for name in own), strict=True), last.status.tolist(), strict=True)
        if status != SHOWN
    }
    return np.flatnonzero([labels in before for labels in zip(*own.values(), strict=True)])
