"""How a job's table is protected: the method and its options, the limits of the search, and what is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, Field, ValidationInfo

from celosia.errors import CelosiaError, Problems, SpecError
from celosia.job.files import File
from celosia.job.part import Fault, Part, complaint, context_of
from celosia.job.sections import CostText
from celosia.job.selection import Cells, Factors, Widths
from celosia.pattern.entries import SHOWN
from celosia.pattern.labels import Labels
from celosia.pattern.release import Release
from celosia.pattern.release_file import read_release
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk
from celosia.table.table import Table

METHODS = ("suppress",)
"""The methods by name."""


class KeepPart(Part):
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


class MethodPart(Part):
    """``[method]``: the method of protection and its options, as in `celosia.Suppress`.

    Parameters
    ----------
    name
        The method.
    cost
        What hiding a cell costs; by default as in ``[assess]``.
    factors
        Multiples of that cost for some cells.
    keep
        Cells that had better stay hidden as they were last period.
    must_show
        Cells that are published already, or must be.
    must_hide
        Cells that must not be shown.
    at_most
        At most so many cells are hidden.
    width_if_hidden
        The width that what anybody can conclude about a cell must keep, if the cell is hidden.
    zeros_known
        Every attacker knows which cells are zero.
    """

    name: Literal["suppress"] = "suppress"
    cost: CostText | None = None
    factors: Factors | None = None
    keep: KeepPart | None = None
    must_show: Cells | None = None
    must_hide: Cells | None = None
    at_most: Annotated[int, Field(ge=0)] | None = None
    width_if_hidden: Widths | None = None
    zeros_known: bool = False


class LimitsPart(Part):
    """``[limits]``: when the search ends, and how it is done, as in `celosia.protect`.

    Parameters
    ----------
    time_limit
        Seconds after which the best pattern so far is taken.
    gap
        The search ends when the cost is within this share of the bound.
    solver
        The name of a solver; by default the best that is installed.
    seed
        Another seed, another path through the search.
    """

    time_limit: float | None = None
    gap: Annotated[float, Field(ge=0, le=1)] | None = None
    solver: Annotated[str, Field(min_length=1)] | None = None
    seed: Annotated[int, Field(ge=0)] | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield limits that leave no time."""
        limit = written.get("time_limit")
        if isinstance(limit, int | float) and not isinstance(limit, bool) and limit <= 0:
            yield Fault(
                ("time_limit",), f"must be above zero, not {limit}.", "It is in seconds; leave it out for none."
            )


def _beside_the_job(name: str, info: ValidationInfo) -> str:
    if not Path(name).name:
        raise complaint(Fault((), "is no file name."))
    return str(Path(context_of(info).get("folder", ".")) / name)


OutputFile: TypeAlias = Annotated[str, Field(min_length=1), AfterValidator(_beside_the_job)]
"""The path of a file that will be written."""


class OutputPart(Part):
    """``[output]``: what `celosia protect` writes; paths are relative to the job file.

    Parameters
    ----------
    release
        The office's copy, which tells sensitive cells from the others: a ``.csv``, ``.parquet`` or ``.xlsx`` file.
    public
        The public copy, in the same formats.
    certificate
        The proof, a ``.json`` file (confidential).
    report
        A page to look at, an ``.html`` file (confidential).
    """

    release: OutputFile | None = None
    public: OutputFile | None = None
    certificate: OutputFile | None = None
    report: OutputFile | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Wishes:
    """What a method is asked for, cell by cell.

    Parameters
    ----------
    cost
        What hiding each cell costs, ``(n_cells,)``.
    must_show, must_hide
        Places of cells.
    at_most
        At most so many cells are hidden.
    width_if_hidden
        Widths by cell.
    zeros_known
        Every attacker knows which cells are zero.
    """

    cost: NDArray[np.float64]
    must_show: NDArray[np.int64]
    must_hide: NDArray[np.int64]
    at_most: int | None
    width_if_hidden: Mapping[int, Fraction]
    zeros_known: bool


def wishes_of(part: MethodPart, risk: Risk) -> Wishes:
    """Return what the options of a method ask of the cells of a table.

    Raises
    ------
    SpecError
        Cells are unknown, or two wishes contradict each other: every such problem.
    """
    found = Problems()
    table = risk.table
    cost = risk.cost
    nothing = np.zeros(0, dtype=np.int64)
    show, hide, widths = nothing, nothing, {}
    with found.gathering():
        cost = _cost(part, risk)
    with found.gathering():
        show = part.must_show.cells(table, "method.must_show") if part.must_show else nothing
    with found.gathering():
        hide = part.must_hide.cells(table, "method.must_hide") if part.must_hide else nothing
    with found.gathering():
        widths = _widths(part, table)
    both = np.intersect1d(show, hide)
    if len(both):
        said = f"{_cells(table, both)} in must_show and in must_hide."
        found.add("method.must_show", said, "Take it out of one of them.")
    clash = show[risk.sensitive[show]]
    if len(clash):
        rules = " and the ".join(risk.reason(int(clash[0]))) or "as given"
        said = f"{_cells(table, clash)} sensitive ({rules})."
        found.add("method.must_show", said, "What is published anyway can be exempted from the rules: assess.exempt.")
    found.raise_as(SpecError)
    return Wishes(cost, show, hide, part.at_most, widths, part.zeros_known)


def _cells(table: Table, cells: NDArray[np.int64]) -> str:
    first = table.label(int(cells[0]))
    return f"{first} is" if len(cells) == 1 else f"{len(cells):,} cells, the first being {first}, are"


def _cost(part: MethodPart, risk: Risk) -> NDArray[np.float64]:
    """Return the costs: those asked for, times the factors of single cells."""
    found = Problems()
    cost = risk.cost
    if part.cost is not None:
        try:
            cost = Cost.parse(part.cost).of(risk.table)
        except CelosiaError as error:
            raise SpecError(replace(problem, place=f"method.{problem.place}") for problem in error.problems) from None
    cost = cost.copy()
    with found.gathering():
        if part.factors is not None:
            for cells, said in part.factors.places(risk.table, "method.factors"):
                cost[cells] *= said["factor"]
    with found.gathering():
        if part.keep is not None:
            cost[_hidden_before(read_release(part.keep.release), risk.table)] *= part.keep.factor
    found.raise_as(SpecError)
    return cost


def _hidden_before(last: Release, table: Table) -> NDArray[np.int64]:
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


def _widths(part: MethodPart, table: Table) -> dict[int, Fraction]:
    """Return the width that each cell must keep if it is hidden; of several the largest."""
    widths: dict[int, Fraction] = {}
    for cells, said in part.width_if_hidden.places(table, "method.width_if_hidden") if part.width_if_hidden else ():
        for cell in cells.tolist():
            wanted = Fraction(repr(said["width"])) if "width" in said else _share(table, cell, said["percent"])
            widths[cell] = max(widths.get(cell, Fraction(0)), wanted)
    return {cell: width for cell, width in widths.items() if width}


def _share(table: Table, cell: int, percent: float) -> Fraction:
    return abs(table.amounts.fraction(cell)) * Fraction(repr(percent)) / 100
