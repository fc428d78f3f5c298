"""The table of records that stay in an engine: the same whole numbers as `celosia.tabulate` makes of them here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError
from celosia.progress import Progress
from celosia.source.engines.codes import codes_of
from celosia.source.engines.columns import LeafRows, number_rows
from celosia.source.engines.contributors import Cells, Question, ledger_of
from celosia.source.engines.rows import EngineRows, numbers_of, without_warnings
from celosia.source.engines.singles import Singles, fetch_singles
from celosia.source.records import Roles
from celosia.source.request import Request
from celosia.source.tabulation.contributions import keep_joint_contributions, leaf_contributions
from celosia.source.tabulation.ledger import Layout, Ledger
from celosia.source.total_codes import refuse_total_codes
from celosia.table.dimension import Dimension
from celosia.table.fixed import Fixed
from celosia.table.hierarchy import Classification
from celosia.table.lattice import Lattice, LatticeStep
from celosia.table.links.link import link
from celosia.table.relations import sums_of
from celosia.table.statistics import Statistics
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class _EngineCells:
    """The cells of one table, and the sums over the records of every leaf cell.

    Parameters
    ----------
    dimensions
        The dimensions.
    columns
        The columns of their leaf numbers.
    leaves
        The leaf cells, found by leaf numbers.
    lattice, steps
        The cells, and how leaf cells lie in them.
    leaf_place
        The cell of every leaf cell.
    sums
        Sums over the records of every cell by column.
    """

    dimensions: Sequence[Dimension]
    columns: Sequence[str]
    leaves: Lattice
    lattice: Lattice
    steps: list[LatticeStep]
    leaf_place: NDArray[np.int64]
    sums: Mapping[str, NDArray[np.int64]]

    @classmethod
    def of(cls, rows: LeafRows, names: Sequence[str]) -> _EngineCells:
        """Return the cells of a table, with one question."""
        columns = [rows.columns[name] for name in names]
        dimensions = [rows.dimensions[name].dimension for name in names]
        with without_warnings():
            asked = {name: rows.table[name].sum() for name in [*rows.masses, *(["w"] if rows.weight else [])]}
            query = rows.table.group_by(columns).aggregate(records=rows.table.count(), **asked)
        answer = rows.engine.fetch(query)
        given = numbers_of(answer, columns)
        codes = np.column_stack([given[column] for column in columns]).astype(np.int32)
        sizes = [len(dimension.leaves) for dimension in dimensions]
        leaves = Lattice.of_codes(codes, sizes)
        lattice, steps = Lattice.above(leaves.codes, dimensions)
        order = leaves.find(codes)
        nodes = [dimension.leaves[leaves.codes[:, axis]] for axis, dimension in enumerate(dimensions)]
        sums = {}
        for name, counts in numbers_of(answer, ["records", *asked]).items():
            figures = np.zeros((len(leaves), 1), dtype=np.int64)
            figures[order, 0] = counts
            sums[name] = _raise(steps, figures)[:, 0].copy()
        return cls(dimensions, columns, leaves, lattice, steps, lattice.find(np.column_stack(nodes)), sums)


def tabulate_rows(
    engine: EngineRows,
    request: Request,
    roles: Roles,
    *,
    shadow: str | None,
    largest: int,
    contributions: bool,
    hierarchies: Mapping[str, Classification],
    missing: str,
    total_codes: str,
    decimals: int | None,
    relations: Sequence[str],
    count_name: str,
    progress: Progress,
) -> Table:
    """Return the table of an engine's records; the options are those of `celosia.tabulate`.

    Guarantee: what comes back from the engine are codes, sums, counts and the k largest contributions by cell; single
    contributions, under anonymous numbers, only where they are asked for. The records behind everything that is
    counted by contributor are counted and summed, too, and must be those of the cell: a table that changes meanwhile is
    an error.
    """
    dimensions = {
        name: codes_of(engine, name, columns, hierarchies.get(name), missing)
        for name, columns in request.columns.items()
    }
    refuse_total_codes(engine.place, [codes.dimension for codes in dimensions.values()], total_codes)
    rows = number_rows(engine, dimensions, request.values, roles, shadow=shadow, missing=missing, decimals=decimals)
    variables = list(request.values) or [count_name]
    tables = request.tables
    progress.start("asking the engine", len(tables) * len(variables) + contributions)
    made, cells = [], []
    for names in tables:
        cells.append(_EngineCells.of(rows, names))
        _check_records(rows, cells[-1].sums["records"][0], rows.n_records)
        for number, variable in enumerate(variables):
            made.append(_table(rows, cells[-1], number, variable, largest))
            progress.advance()
    singles = None
    if contributions:
        singles = fetch_singles(rows.engine, rows.table, list(rows.columns), rows.masses[: len(variables)])
        made = _with_contributions(made, cells, tables, singles)
        progress.advance()
    progress.done()
    if len(made) == 1 and not relations:
        return made[0]
    linked = link(made, relations=relations)
    if singles is None or len(cells) == 1 or linked.contributions is None or linked.links is None:
        return linked
    amounts = [(singles.amounts[number], rows.decimals(number)) for number in range(len(variables))]
    leaves = [_leaf_places(cell, names, singles) for cell, names in zip(cells, tables, strict=True)]
    return keep_joint_contributions(linked, leaves, amounts, singles.respondent, singles.holding)


def _table(rows: LeafRows, cells: _EngineCells, number: int, variable: str, largest: int) -> Table:
    """Return one table of one variable."""
    amount = rows.amounts[number]
    looked_at = number if rows.shadow is None else rows.shadow
    statistics = _statistics(rows, cells, looked_at, largest)
    if rows.shadow is not None and rows.shadow != number:
        statistics = replace(statistics, shadow=cells.sums[rows.masses[rows.shadow]])
    decimals = rows.decimals(number)
    return Table(
        axes=tuple(dimension.axis for dimension in cells.dimensions),
        codes=cells.lattice.codes,
        variables=(variable,),
        variable=np.zeros(len(cells.lattice), dtype=np.int32),
        amounts=Fixed(cells.sums[rows.masses[number]], decimals),
        relations=sums_of(cells.dimensions, cells.lattice),
        statistics=statistics,
        counts=frozenset([variable] if amount is None and decimals == 0 else []),
        notes=rows.notes,
        partial=tuple(dimension.partial for dimension in cells.dimensions),
    )


def _statistics(rows: LeafRows, cells: _EngineCells, number: int, largest: int) -> Statistics:
    given = rows.table.columns
    layout = Layout(largest, rows.weight is not None, "waived" in given, "asked" in given)
    respondents = _ledger(rows, cells, number, "r" if "r" in given else None, layout)
    holdings = _ledger(rows, cells, number, "h", layout).contributors() if "h" in given else None
    records = cells.sums["records"]
    weighted = records.astype(np.float64)
    if rows.weight is not None:
        weighted = Fixed(cells.sums["w"], rows.weight.decimals).floats
    return Statistics(
        respondents=respondents.contributors(),
        holdings=holdings,
        records=records,
        weighted_records=weighted,
        decimals=rows.decimals(number),
        requested=respondents.largest_requests(),
        weight_decimals=0 if rows.weight is None else rows.weight.decimals,
    )


def _ledger(rows: LeafRows, cells: _EngineCells, number: int, who: str | None, layout: Layout) -> Ledger:
    """Return the ledger of all cells for one kind of contributors."""
    question = Question(rows.engine, rows.table, cells.columns, who, rows.sizes[number], rows.masses[number], layout)
    local = question.in_leaf_cells()
    ledger, seen = _entered(rows, cells.leaves, local, layout)
    for step in cells.steps:
        ledger = ledger.raise_to(step)
    seen = _raise(cells.steps, seen)
    spanning = question.in_all_cells(cells.dimensions)
    if spanning is not None:
        more, others = _entered(rows, cells.lattice, spanning, layout)
        ledger.add(more)
        seen += others
    if not np.array_equal(seen, np.column_stack([cells.sums["records"], cells.sums[rows.masses[number]]])):
        _refuse_change(rows)
    return ledger


def _entered(rows: LeafRows, lattice: Lattice, cells: Cells, layout: Layout) -> tuple[Ledger, NDArray[np.int64]]:
    """Return a ledger, and the numbers and sums of records, of all cells of a lattice."""
    codes, lines, checks = cells
    places = lattice.find(codes)
    if (places < 0).any():
        _refuse_change(rows)
    seen = np.zeros((len(lattice), 2), dtype=np.int64)
    seen[places] = checks
    return ledger_of(places, lines, len(lattice), layout), seen


def _raise(steps: Sequence[LatticeStep], figures: NDArray[np.int64]) -> NDArray[np.int64]:
    for step in steps:
        figures = step.sum(figures)
    return figures


def _check_records(rows: LeafRows, found: int, expected: int) -> None:
    if found != expected:
        _refuse_change(rows)


def _refuse_change(rows: LeafRows) -> None:
    message = "has changed while it was read: its records are not the same as at first."
    raise DataError.one(rows.engine.place, message, "Start again when nobody writes to it, or read a copy.")


def _with_contributions(
    made: Sequence[Table], cells: Sequence[_EngineCells], tables: Sequence[Sequence[str]], singles: Singles
) -> list[Table]:
    """Return the tables, those of the first group of dimensions first, with single contributions."""
    origin = object()
    kept = []
    n_variables = len(made) // len(cells)
    for number, table in enumerate(made):
        group, variable = divmod(number, n_variables)
        places = _leaf_places(cells[group], tables[group], singles)
        single = leaf_contributions(
            places, singles.amounts[variable], singles.respondent, singles.holding, origin, singles.waived
        )
        kept.append(replace(table, contributions=single))
    return kept


def _leaf_places(cells: _EngineCells, names: Sequence[str], singles: Singles) -> NDArray[np.int64]:
    """Return the leaf cell of every contribution."""
    return cells.leaf_place[cells.leaves.find(np.column_stack([singles.leaves[name] for name in names]))]
