"""The sections of a job file: data or cells, dimensions, tables, links, and how risk is assessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, PlainValidator

from celosia.job.files import File  # noqa: TC001  (pydantic reads annotations)
from celosia.job.hierarchies import Hierarchies  # noqa: TC001
from celosia.job.part import Fault, Part, complaint, likely, seen

Name: TypeAlias = Annotated[str, Field(min_length=1)]
Decimals: TypeAlias = Annotated[int, Field(ge=0, le=9)]


def _listed(written: object) -> object:
    return [written] if isinstance(written, str) else written


Names: TypeAlias = Annotated[list[Name], Field(min_length=1), BeforeValidator(_listed)]
"""One name, or a list of them."""


class DataPart(Part):
    """``[data]``: microdata, one record a respondent and cell or finer.

    Parameters
    ----------
    file
        A ``.parquet`` or ``.csv`` file.
    database, query, table
        Or a DuckDB database with a query or the name of a table.
    respondent, holding, weight, request, waiver, shadow
        Columns, as in `celosia.tabulate`.
    missing
        What becomes of records without a code.
    decimals
        How many decimals the values have.
    """

    file: File | None = None
    database: File | None = None
    query: Name | None = None
    table: Name | None = None
    respondent: Name | None = None
    holding: Name | None = None
    weight: Name | None = None
    request: Name | None = None
    waiver: Name | None = None
    shadow: Name | None = None
    missing: Literal["error", "category", "drop"] = "error"
    decimals: Decimals | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong between the options."""
        if "file" in written and "database" in written:
            yield Fault(("database",), "stands beside a file.", "Give one of the two.")
        if "file" not in written and "database" not in written:
            yield Fault(("file",), "is missing.", "Name a .parquet or .csv file, or a database and a query.")
        asked = [key for key in ("query", "table") if key in written]
        if "database" in written and len(asked) != 1:
            message = "stands beside a table." if asked else "is missing."
            yield Fault(("query",), message, "Give a query or a table.")
        for key in asked:
            if "database" not in written:
                yield Fault((key,), "belongs to a database.", f"Name the database, or drop the {key}.")


class CellsPart(Part):
    """``[cells]``: ready-made cells instead of microdata, one row a cell.

    Parameters
    ----------
    file
        A ``.parquet`` or ``.csv`` file.
    value
        The column of the cells' values.
    count, holdings, largest, status, lower_level, upper_level, sliding_level, cost, variable
        Further columns, as in `celosia.cells`.
    totals
        Whether totals must be in the file or are computed.
    counts
        The values count something.
    decimals
        How many decimals the values have.
    """

    file: File
    value: Name
    count: Name | None = None
    holdings: Name | None = None
    largest: Names | None = None
    status: Name | None = None
    lower_level: Name | None = None
    upper_level: Name | None = None
    sliding_level: Name | None = None
    cost: Name | None = None
    variable: Name | None = None
    totals: Literal["require", "compute"] = "require"
    counts: bool = False
    decimals: Decimals | None = None


class DimensionPart(Part):
    """``[dimensions.NAME]``: a classification and the column that has its codes.

    Parameters
    ----------
    column
        The column; without it the dimension's own name.
    columns
        Or the levels in columns of the data, coarsest first.
    hierarchy
        One hierarchy or several over the same leaves; without any the codes of the data lie flat under a total.
    """

    column: Name | None = None
    columns: Annotated[list[Name], Field(min_length=1)] | None = None
    hierarchy: Hierarchies | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong between the options."""
        if "column" in written and "columns" in written:
            yield Fault(("columns",), "stands beside a column.", "Give one of the two.")
        if "columns" in written and "hierarchy" in written:
            yield Fault(("hierarchy",), "stands beside columns, which hold the levels.", "Give one of the two.")
        several = written.get("hierarchy")
        if isinstance(several, list):
            if not several:
                yield Fault(("hierarchy",), "is empty.", "Give a hierarchy, or leave it out.")
            for number, one in enumerate(several):
                if len(several) > 1 and isinstance(one, Mapping) and "digits" in one:
                    way = ("hierarchy", number, "digits")
                    yield Fault(way, "cannot be one of several hierarchies.", "Write it as a .hrc or levels file.")


class TablePart(Part):
    """``[[tables]]``: one table; several are linked.

    Parameters
    ----------
    by
        The dimensions.
    value
        The response variables; a table of counts has none.
    """

    by: Names
    value: Names | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong between the options."""
        for key in ("by", "value"):
            names = written.get(key)
            if isinstance(names, list):
                for name in dict.fromkeys(name for name in names if isinstance(name, str) and names.count(name) > 1):
                    yield Fault((key,), f"names {name!r} twice.", "Name it once.")


class LinksPart(Part):
    """``[links]``: what holds between variables.

    Parameters
    ----------
    relations
        Equations such as ``turnover = domestic + export``.
    """

    relations: Annotated[list[Name], Field(min_length=1)]


class LevelsPart(Part):
    """``levels = { lower = 1, upper = 1, sliding = 0 }``: how far a cell's protection reaches to either side."""

    lower: Annotated[float, Field(ge=0)] = 1
    upper: Annotated[float, Field(ge=0)] = 1
    sliding: Annotated[float, Field(ge=0)] = 0


def _levels(written: object) -> str | LevelsPart:
    if isinstance(written, Mapping):
        return LevelsPart.model_validate(written)
    if written in {"symmetric", "sliding"}:
        return str(written)
    message = f"must be 'symmetric', 'sliding' or {{ lower = 1, upper = 1, sliding = 0 }}, not {seen(written)}."
    raise complaint(Fault((), message, likely(written, ["symmetric", "sliding"])))


class AssessPart(Part):
    """``[assess]``: what hiding costs, how far protection reaches, and which cells are always safe.

    Parameters
    ----------
    cost, levels, exempt
        As in `celosia.assess`.
    largest, contributions
        As in `celosia.tabulate`.
    """

    cost: Name = "value"
    levels: Annotated[str | LevelsPart, PlainValidator(_levels)] = "symmetric"
    exempt: dict[str, Names] | None = None
    largest: Annotated[int, Field(ge=1)] = 3
    contributions: bool = False
