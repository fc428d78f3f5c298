"""The sections of a job file: data or cells, dimensions, tables, links, and how risk is assessed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator

from celosia.errors import SpecError
from celosia.job.sections.files import Address, File, RecordsFile
from celosia.job.sections.hierarchies import Hierarchies
from celosia.job.sections.part import Fault, JobPart, complaint, format_value, suggest
from celosia.job.sections.values import CostText, Decimals, Name, Names
from celosia.risk.assess import SHAPES, LevelShape


class DataPart(JobPart):
    """``[data]``: microdata, one record a respondent and cell or finer.

    Parameters
    ----------
    file
        A ``.parquet`` or ``.csv`` file, a folder or pattern of Parquet files, or such an address as ``s3://...``.
    database, address, query, table
        Or a DuckDB database, or the address of another engine, with a query or the name of a table.
    respondent, holding, weight, request, waiver, shadow
        Columns, as in `celosia.tabulate`.
    missing
        What becomes of records without a code.
    total_codes
        What becomes of codes that are called like a total.
    decimals
        How many decimals the values have.
    """

    file: RecordsFile | None = None
    database: File | None = None
    address: Address | None = None
    query: Name | None = None
    table: Name | None = None
    respondent: Name | None = None
    holding: Name | None = None
    weight: Name | None = None
    request: Name | None = None
    waiver: Name | None = None
    shadow: Name | None = None
    missing: Literal["error", "category", "drop"] = "error"
    total_codes: Literal["error", "keep"] = "error"
    decimals: Decimals | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong between the options."""
        places = [key for key in ("file", "database", "address") if key in written]
        for key in places[1:]:
            yield Fault((key,), f"stands beside a {places[0]}.", "Give one of the two.")
        if not places:
            remedy = "Name a .parquet or .csv file, or a database or address and a query."
            yield Fault(("file",), "is missing.", remedy)
        asked = [key for key in ("query", "table") if key in written]
        if places and places != ["file"] and len(asked) != 1:
            message = "stands beside a table." if asked else "is missing."
            yield Fault(("query",), message, "Give a query or a table.")
        for key in asked:
            if not places or places == ["file"]:
                yield Fault((key,), "belongs to a database.", f"Name the database, or drop the {key}.")


class CellsPart(JobPart):
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


class DimensionPart(JobPart):
    """``[dimensions.NAME]``: a classification and the column that has its codes.

    Parameters
    ----------
    column
        The column; without it the dimension's own name.
    columns
        Or the levels in columns of the data, coarsest first.
    hierarchy
        One hierarchy or several over the same leaves; without any it is made of the codes in the data.
    """

    column: Name | None = None
    columns: Annotated[list[Name], Field(min_length=1)] | None = None
    hierarchy: Hierarchies | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong between the options."""
        if "column" in written and "columns" in written:
            yield Fault(("columns",), "stands beside a column.", "Give one of the two.")
        several = written.get("hierarchy")
        if "columns" in written and isinstance(several, Mapping) and "digits" in several:
            yield Fault(
                ("hierarchy", "digits"), "stands beside columns, which hold the levels.", "Give one of the two."
            )
        if isinstance(several, list):
            if not several:
                yield Fault(("hierarchy",), "is empty.", "Give a hierarchy, or leave it out.")
            for number, one in enumerate(several):
                if len(several) > 1 and isinstance(one, Mapping) and "digits" in one:
                    way = ("hierarchy", number, "digits")
                    yield Fault(way, "cannot be one of several hierarchies.", "Write it as a .hrc or levels file.")


class TablePart(JobPart):
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


class LinksPart(JobPart):
    """``[links]``: what holds between variables.

    Parameters
    ----------
    relations
        Equations such as ``turnover = domestic + export``.
    """

    relations: Annotated[list[Name], Field(min_length=1)]


class LevelsPart(JobPart):
    """``levels = { lower = 1, upper = 1, sliding = 0 }``: how far a cell's protection reaches to either side."""

    lower: float | None = None
    upper: float | None = None
    sliding: float | None = None


def _levels(written: object) -> str | LevelShape:
    if isinstance(written, Mapping):
        part = LevelsPart.model_validate(written)
        try:
            return LevelShape(**part.model_dump(exclude_unset=True))
        except SpecError as error:
            ways = [tuple(problem.place.split(".")[1:]) for problem in error.problems]
            faults = [Fault(way, said.message, said.remedy) for way, said in zip(ways, error.problems, strict=True)]
            raise complaint(*faults) from None
    if isinstance(written, str) and written in SHAPES:
        return written
    message = f"must be 'symmetric', 'sliding' or {{ lower = 1, upper = 1, sliding = 0 }}, not {format_value(written)}."
    raise complaint(Fault((), message, suggest(written, list(SHAPES))))


class AssessPart(JobPart):
    """``[assess]``: what hiding costs, how far protection reaches, and which cells are always safe.

    Parameters
    ----------
    cost, levels, exempt
        As in `celosia.assess`; ready-made cells with costs of their own have these by default.
    largest, contributions
        As in `celosia.tabulate`; by default as many of the largest contributions as the rules look at.
    """

    cost: CostText | None = None
    levels: Annotated[
        str | LevelShape, PlainValidator(_levels, json_schema_input_type=Literal["symmetric", "sliding"] | LevelsPart)
    ] = "symmetric"
    exempt: dict[str, Names] | None = None
    largest: Annotated[int, Field(ge=1)] | None = None
    contributions: bool | None = None
