"""From records to a table in one pass: sums, counts, and who contributes how much."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, DataError
from celosia.kernels import compile_kernels
from celosia.library import OnFirstUse
from celosia.progress import SILENT, Progress
from celosia.source.duckdb import ROWS, RowSource, open_rows
from celosia.source.engines.address import is_ibis_table, open_address
from celosia.source.engines.rows import EngineRows
from celosia.source.expressions import MISSING, dimension_code
from celosia.source.places import is_address
from celosia.source.records import Records, Roles, read_records
from celosia.source.request import Request, check_hierarchies
from celosia.source.tabulation.contributions import (
    anonymous_numbers,
    keep_joint_contributions,
    leaf_contributions,
    record_marks,
)
from celosia.source.tabulation.enter import Rows, enter, leaf_sums
from celosia.source.tabulation.leaf_cells import leaf_cells
from celosia.source.total_codes import refuse_total_codes
from celosia.table.dimension import Dimension
from celosia.table.fixed import Fixed
from celosia.table.frames import library_of
from celosia.table.hierarchy import Classification, Hierarchy, classify
from celosia.table.lattice import Lattice, LatticeStep
from celosia.table.links.link import link
from celosia.table.relations import Relations, sums_of
from celosia.table.statistics import Statistics
from celosia.table.table import Table
from celosia.tolerance import LARGEST_COUNT

if TYPE_CHECKING:
    from celosia.source.engines import tabulation as engines
else:
    engines = OnFirstUse("celosia.source.engines.tabulation")


def tabulate(
    data: Any,  # noqa: ANN401  (any frame that speaks Arrow)
    *,
    by: Sequence[str] | Sequence[Sequence[str]],
    value: str | Sequence[str] | None = None,
    respondent: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    request: str | None = None,
    waiver: str | None = None,
    shadow: str | None = None,
    largest: int = 3,
    contributions: bool | None = None,
    hierarchies: Mapping[str, Classification] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    missing: str = "error",
    total_codes: str = "error",
    decimals: int | None = None,
    relations: Sequence[str] = (),
    count_name: str = "count",
    progress: Progress = SILENT,
) -> Table:
    """Return the table of some records, every cell with its value and what is known about its contributors.

    Parameters
    ----------
    data
        A Parquet or CSV file, a DuckDB relation, a frame that speaks Arrow, an ibis table, or the address of one, such
        as ``postgresql://HOST/DATABASE#TABLE``: there the records stay, and some numbers per cell come back.
    by
        The dimensions; a list of such lists for several tables, which are linked into one.
    value
        The column to sum, or several; None for a table that counts records.
    respondent
        Who reports. Without it every record is a respondent of its own.
    holding
        Who owns the respondent; a respondent without an entry is a holding of its own.
    weight
        The sampling weight: values and counts are weighted, contributors are not.
    request
        Whether the respondent asked for protection.
    waiver
        Whether the respondent waived his protection.
    shadow
        The column on which rules look instead of the value.
    largest
        How many of the largest contributions to keep.
    contributions
        Keep the single contributions to leaf cells, under anonymous numbers: respondents attack with them. By default
        for amounts without weights or a shadow variable; of an ibis table only where this says so.
    hierarchies
        Classifications by dimension; a dimension that is not named has its codes under a total.
    columns
        The column of a dimension where it is not called the same, or the columns of its levels, coarsest first.
    missing
        Records without a code: an ``error``, a ``category`` of their own, or to ``drop``.
    total_codes
        Codes that are called like a total, which ready-made cells have and records have not: an ``error``, or to
        ``keep`` as codes like any other.
    decimals
        Round values to this number of decimals; by default they are taken as written.
    relations
        Relations between variables, such as ``"turnover = domestic + export"``.
    count_name
        What to call the variable of a table of counts.
    progress
        Hears about long steps.

    Raises
    ------
    SpecError
        A column or code that is named does not exist.
    DataError
        All that is wrong with the records.
    """
    compile_kernels(progress, "celosia.source")
    request_ = Request.of(by, value, columns or {}, largest, missing, shadow, decimals)
    roles = Roles(respondent, holding, weight, request, waiver)
    source = _open(data)
    if isinstance(source, EngineRows):
        try:
            request_.check_columns(source, roles.given_roles(), shadow)
            check_hierarchies(hierarchies or {}, request_)
            return engines.tabulate_rows(
                source,
                request_,
                roles,
                shadow=shadow,
                largest=largest,
                contributions=bool(contributions),
                hierarchies=hierarchies or {},
                missing=missing,
                total_codes=total_codes,
                decimals=decimals,
                relations=relations,
                count_name=count_name,
                progress=progress,
            )
        finally:
            if source is not data:
                source.close()
    request_.check_columns(source, roles.given_roles(), shadow)
    check_hierarchies(hierarchies or {}, request_)
    dimensions = {
        name: (_dimension(source, name, names, (hierarchies or {}).get(name), missing), names)
        for name, names in request_.columns.items()
    }
    refuse_total_codes(source.place, [made for made, _ in dimensions.values()], total_codes)
    records = read_records(
        source, dimensions, request_.amounts(shadow), roles, missing=missing, decimals=decimals, progress=progress
    )
    can_be_asked = bool(request_.values) and weight is None and shadow is None
    numbers = _anonymous(records) if contributions or (contributions is None and can_be_asked) else None
    origin = object()
    tables, grids = [], []
    progress.start("tabulating", len(request_.tables) * max(1, len(request_.values)))
    for names in request_.tables:
        grid = _TableCells.of([dimensions[name][0] for name in names], [records.leaves[name] for name in names])
        grids.append(grid)
        for variable in request_.values or [count_name]:
            amounts = records.amounts.get(variable)
            looked_at = records.amounts[shadow] if shadow is not None else amounts
            tables.append(_table(grid, records, variable, amounts, looked_at, largest, library_of(data)))
            if numbers is not None:
                _, weighted, _ = _weigh(amounts, records.weight, len(grid.leaf), variable)
                single = leaf_contributions(grid.leaf_place[grid.leaf], weighted, *numbers, origin, records.waived)
                tables[-1] = replace(tables[-1], contributions=single)
            progress.advance()
    progress.done()
    if len(tables) == 1 and not relations:
        return tables[0]
    linked = link(tables, relations=relations)
    if numbers is None or len(grids) == 1 or linked.contributions is None or linked.links is None:
        return linked
    weighed = [_weigh(records.amounts.get(name), records.weight, len(grids[0].leaf), name) for name in request_.values]
    leaves = [grid.leaf_place[grid.leaf] for grid in grids]
    return keep_joint_contributions(linked, leaves, [(weighted, own) for _, weighted, own in weighed], *numbers)


def _open(data: Any) -> RowSource | EngineRows:  # noqa: ANN401
    """Return the rows, which stay where they are if they lie in an engine."""
    if isinstance(data, RowSource | EngineRows):
        return data
    if is_ibis_table(data):
        return EngineRows(data)
    return open_address(data) if isinstance(data, str) and is_address(data) else open_rows(data)


@dataclass(frozen=True, slots=True, eq=False)
class _TableCells:
    """The cells of one table and the leaf cell of every record.

    Parameters
    ----------
    dimensions
        The dimensions.
    lattice, steps
        The cells, and how leaf cells lie in them.
    leaf
        The leaf cell of every record.
    leaf_place
        The cell of every leaf cell.
    relations
        How the cells sum.
    """

    dimensions: Sequence[Dimension]
    lattice: Lattice
    steps: list[LatticeStep]
    leaf: NDArray[np.int32]
    leaf_place: NDArray[np.int64]
    relations: Relations

    @classmethod
    def of(cls, dimensions: Sequence[Dimension], codes: Sequence[NDArray[np.int32]]) -> _TableCells:
        leaf, leaf_codes = leaf_cells(codes, [len(dimension.leaves) for dimension in dimensions])
        lattice, steps = Lattice.above(leaf_codes, dimensions)
        nodes = [dimension.leaves[leaf_codes[:, axis]] for axis, dimension in enumerate(dimensions)]
        return cls(dimensions, lattice, steps, leaf, lattice.find(np.column_stack(nodes)), sums_of(dimensions, lattice))


def _table(
    grid: _TableCells,
    records: Records,
    variable: str,
    amounts: Fixed | None,
    looked_at: Fixed | None,
    largest: int,
    library: str | None,
) -> Table:
    """Return one table of one variable; `looked_at` is what the rules look at, `amounts` None for counts."""
    n_rows = len(grid.leaf)
    _, weighted, decimals = _weigh(amounts, records.weight, n_rows, variable)
    weights = np.zeros(0, dtype=np.int64) if records.weight is None else records.weight.counts
    sums = leaf_sums(grid.leaf, weighted, weights, len(grid.leaf_place))
    for step in grid.steps:
        sums = step.sum(sums)
    statistics = _statistics(grid, records, looked_at, sums, largest, variable)
    if looked_at is not amounts and looked_at is not None:
        statistics = _with_shadow(statistics, grid, records, looked_at, variable)
    return Table(
        axes=tuple(dimension.axis for dimension in grid.dimensions),
        codes=grid.lattice.codes,
        variables=(variable,),
        variable=np.zeros(len(grid.lattice), dtype=np.int32),
        amounts=Fixed(sums[:, 0].copy(), decimals),
        relations=grid.relations,
        statistics=statistics,
        counts=frozenset([variable] if amounts is None and decimals == 0 else []),
        notes=records.notes,
        library=library,
        partial=tuple(dimension.partial for dimension in grid.dimensions),
    )


def _weigh(
    amounts: Fixed | None, weight: Fixed | None, n_rows: int, column: str
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return contributions and weighted contributions in the same decimal, and that decimal."""
    value = Fixed(np.ones(n_rows, dtype=np.int64), 0) if amounts is None else amounts
    if weight is None:
        return value.counts, value.counts, value.decimals
    size = np.abs(value.counts.astype(np.float64))
    if max(float(size @ weight.counts.astype(np.float64)), float(size.sum()) * 10.0**weight.decimals) >= LARGEST_COUNT:
        remedy = "Ask for fewer decimals, or use a larger unit."
        raise DataError.one(f"column {column!r}", "times its weights sums to more than 18 digits.", remedy)
    return value.counts * 10**weight.decimals, value.counts * weight.counts, value.decimals + weight.decimals


def _statistics(
    grid: _TableCells, records: Records, looked_at: Fixed | None, sums: NDArray[np.int64], largest: int, variable: str
) -> Statistics:
    value, weighted, decimals = _weigh(looked_at, records.weight, len(grid.leaf), variable)
    rows = Rows(grid.leaf, value, None if weighted is value else weighted, records.asked, records.waived)
    threads = min(os.cpu_count() or 1, 8)
    by_respondent = enter(records.respondents, rows, grid.steps, largest=largest, threads=threads)
    by_holding = None
    if records.holdings is not None:
        by_holding = enter(records.holdings, rows, grid.steps, largest=largest, threads=threads).contributors()
    weighted_records = sums[:, 1].astype(np.float64)
    if records.weight is not None:
        weighted_records = Fixed(sums[:, 2], records.weight.decimals).floats
    return Statistics(
        respondents=by_respondent.contributors(),
        holdings=by_holding,
        records=sums[:, 1].copy(),
        weighted_records=weighted_records,
        decimals=decimals,
        requested=by_respondent.largest_requests(),
        weight_decimals=0 if records.weight is None else records.weight.decimals,
    )


def _with_shadow(
    statistics: Statistics, grid: _TableCells, records: Records, shadow: Fixed, variable: str
) -> Statistics:
    _, weighted, _ = _weigh(shadow, records.weight, len(grid.leaf), variable)
    sums = leaf_sums(grid.leaf, weighted, np.zeros(0, dtype=np.int64), len(grid.leaf_place))
    for step in grid.steps:
        sums = step.sum(sums)
    return replace(statistics, shadow=sums[:, 0].copy())


def _anonymous(records: Records) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return anonymous numbers of every record's respondent and holding."""
    n_records = len(next(iter(records.leaves.values())))
    marks = record_marks([*records.leaves.values(), *(fixed.counts for fixed in records.amounts.values())], n_records)
    respondent = anonymous_numbers(records.respondents, marks)
    return respondent, respondent if records.holdings is None else anonymous_numbers(records.holdings, marks)


def _dimension(
    source: RowSource, name: str, columns: Sequence[str], classification: Classification | None, missing: str
) -> Dimension:
    """Return a dimension, reading the codes of the data where its hierarchy depends on them."""
    code = dimension_code(source, columns)

    def codes() -> Iterable[str]:
        rows = source.fetch(f"SELECT DISTINCT {code} AS celosia_code FROM {ROWS} ORDER BY 1")
        if not rows:
            raise DataError.one(source.place, "holds no records.", "Is it the right file?")
        return [said for (said,) in rows if said is not None]

    try:
        if classification is None and len(columns) > 1:
            hierarchies: tuple[Hierarchy, ...] = (Hierarchy.from_levels([said.split("\x1f") for said in codes()]),)
        else:
            hierarchies = classify(classification, codes)
    except CelosiaError as error:
        raise error.under(f"dimension {name!r}") from error
    if missing == "category" and source.fetch(f"SELECT 1 FROM {ROWS} WHERE {code} IS NULL LIMIT 1"):
        hierarchies = tuple(hierarchy.with_code(MISSING) for hierarchy in hierarchies)
    return Dimension.of(name, hierarchies)
