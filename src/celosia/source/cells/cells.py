"""Ready-made cells: a file or frame in which the totals stand already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, DataError, Problems, SpecError, list_items, nearest
from celosia.source.cells.columns import CellColumns, read_columns
from celosia.source.duckdb import RowSource, open_rows
from celosia.table.dimension import Dimension
from celosia.table.fixed import Fixed
from celosia.table.frames import library_of
from celosia.table.hierarchy import Classification, Digits, classify
from celosia.table.lattice import Lattice
from celosia.table.links.additivity import settle
from celosia.table.links.link import link
from celosia.table.relations import Relations, missing_totals, sums_of
from celosia.table.statistics import UNKNOWN, Contributors, Statistics
from celosia.table.table import Table

_SHOWN = 8


def cells(
    data: Any,  # noqa: ANN401  (any frame that speaks Arrow)
    *,
    by: Sequence[str],
    value: str,
    count: str | None = None,
    holdings: str | None = None,
    largest: Sequence[str] = (),
    status: str | None = None,
    lower_level: str | None = None,
    upper_level: str | None = None,
    sliding_level: str | None = None,
    cost: str | None = None,
    variable: str | None = None,
    hierarchies: Mapping[str, Classification] | None = None,
    columns: Mapping[str, str] | None = None,
    totals: str = "require",
    counts: bool = False,
) -> Table:
    """Return the table of some ready-made cells, one row each.

    Parameters
    ----------
    data
        A Parquet or CSV file, a DuckDB relation, or a frame that speaks Arrow.
    by
        The dimensions; a total bears the code of the hierarchy's total.
    value
        The column of values.
    count, holdings
        The number of respondents, and of holdings.
    largest
        The columns of the largest contributions, largest first; those of holdings where their number is given.
    status
        ``safe``, ``sensitive``, ``hide``, ``show`` or nothing; the letters s, u, m, z and tau-ARGUS' S, U, P are
        understood.
    lower_level, upper_level, sliding_level
        Protection levels of sensitive cells, as distances.
    cost
        What hiding the cell costs: the measure ``cost`` of `celosia.risk.cost`.
    variable
        The column that names the variable, where there are several.
    hierarchies
        Classifications by dimension; a dimension that is not named has its codes under ``Total``.
    columns
        The column of a dimension where it is not called the same.
    totals
        Missing totals: ``require`` them or ``compute`` their values (their contributors stay unknown).
    counts
        The values count something, and an attacker knows that they are whole numbers.

    Raises
    ------
    SpecError
        A column or code that is named does not exist.
    DataError
        All that is wrong with the cells: unknown codes, text for numbers, duplicates, missing totals, sums that do not
        add up.
    """
    if totals not in {"require", "compute"}:
        raise SpecError.one("totals", f"must be 'require' or 'compute', not {totals!r}.")
    source = data if isinstance(data, RowSource) else open_rows(data)
    levels = {"lower_level": lower_level, "upper_level": upper_level, "sliding_level": sliding_level, "cost": cost}
    places = {name: (columns or {}).get(name, name) for name in by}
    _check_hierarchies(hierarchies or {}, by)
    found = Problems()
    read = read_columns(source, places, value, count, holdings, largest, status, levels, variable, found)
    dimensions = _dimensions(by, read, hierarchies or {})
    nodes = _nodes(source, read, dimensions, found)
    read, kept = _one_row_each(source, read, nodes, found)
    found.raise_as(DataError)
    nodes = nodes[kept]
    names = read.variables or (value,)
    tables = []
    for number, name in enumerate(names):
        rows = np.flatnonzero(read.variable == number)
        tables.append(_table(source, read.of(rows), nodes[rows], dimensions, name, compute=totals == "compute"))
    made = [
        replace(table, counts=frozenset(table.variables if counts else ()), library=library_of(data))
        for table in tables
    ]
    return settle(made[0]) if len(made) == 1 else link(made, names=[f"variable {name!r}" for name in names])


def _dimensions(by: Sequence[str], columns: CellColumns, hierarchies: Mapping[str, Classification]) -> list[Dimension]:
    dimensions = []
    for name in by:
        codes = dict.fromkeys(columns.codes[name])
        try:
            given = hierarchies.get(name)
            total = given.total if isinstance(given, Digits) else "Total"
            below = [code for code in codes if code and code != total]
            dimensions.append(Dimension.of(name, classify(given, lambda below=below: below)))  # type: ignore[misc]
        except CelosiaError as error:
            raise error.under(f"dimension {name!r}") from error
    return dimensions


def _nodes(
    source: RowSource, columns: CellColumns, dimensions: Sequence[Dimension], found: Problems
) -> NDArray[np.int32]:
    """Return the nodes of every row, ``(n_rows, n_dimensions)``, -1 where a code is not known.

    A code that stands in several branches is given as a path.
    """
    out = np.zeros((len(columns), len(dimensions)), dtype=np.int32)
    for axis, dimension in enumerate(dimensions):
        place = f"{source.place}, column {dimension.name!r}"
        known = {code: nodes[0] for code, nodes in dimension.nodes_of.items() if len(nodes) == 1}
        known |= {label: node for node in range(len(dimension)) for label in dimension.axis.names(node)}
        said = columns.codes[dimension.name]
        unknown = sorted({code for code in said if code and code not in known and code not in dimension.nodes_of})
        twice = sorted({code for code in said if code not in known and code in dimension.nodes_of})
        if unknown:
            remedy = f"Add them to it, or mend them. Its total is {dimension.axis.labels[0]!r}."
            found.add(place, f"these codes are not in the hierarchy: {list_items(unknown)}.", remedy)
        if twice:
            found.add(
                place, f"these codes stand in several branches: {list_items(twice)}.", "Write them as paths: 'A / 11'."
            )
        out[:, axis] = [known.get(code, -1) for code in said]
    return out


def _table(
    source: RowSource,
    columns: CellColumns,
    nodes: NDArray[np.int32],
    dimensions: Sequence[Dimension],
    variable: str,
    *,
    compute: bool,
) -> Table:
    given = Lattice.of_codes(nodes, [len(dimension) for dimension in dimensions])
    row = np.empty(len(given), dtype=np.int64)
    row[given.find(nodes)] = np.arange(len(nodes))
    missing = missing_totals(dimensions, given)
    if len(missing) and not compute:
        table = _bare(dimensions, missing, variable)
        shown = list_items([table.label(cell) for cell in range(min(len(missing), _SHOWN))])
        raise DataError.one(
            source.place,
            f"{len(missing)} totals are missing, among them {shown}.",
            "Give them, or say totals='compute'.",
        )
    lattice = Lattice.of_codes(np.concatenate([given.codes, missing]), given.sizes)
    place = lattice.find(given.codes)
    counts = np.zeros(len(lattice), dtype=columns.value.counts.dtype)
    counts[place] = columns.value.counts[row]
    relations = sums_of(dimensions, lattice)
    if len(missing):
        counts = _sum_missing_totals(counts, lattice.find(missing), relations)
    table = _bare(dimensions, lattice.codes, variable)
    return replace(
        table,
        amounts=Fixed(counts, columns.value.decimals),
        relations=relations,
        statistics=_statistics(columns, row, place, len(lattice)),
        extras=MappingProxyType(
            {name: _spread(part, row, place, len(lattice)) for name, part in columns.extras.items()}
        ),
    )


def _bare(dimensions: Sequence[Dimension], codes: NDArray[np.int32], variable: str) -> Table:
    return Table(
        axes=tuple(dimension.axis for dimension in dimensions),
        codes=codes,
        variables=(variable,),
        variable=np.zeros(len(codes), dtype=np.int32),
        amounts=Fixed(np.zeros(len(codes), dtype=np.int64)),
        relations=Relations.none(len(codes)),
        partial=tuple(dimension.partial for dimension in dimensions),
    )


def _check_hierarchies(hierarchies: Mapping[str, Classification], by: Sequence[str]) -> None:
    found = Problems()
    for name in hierarchies:
        if name not in by:
            found.add(f"hierarchies[{name!r}]", "is not a dimension of the table.", nearest(name, by))
    found.raise_as(SpecError)


def _one_row_each(
    source: RowSource, columns: CellColumns, nodes: NDArray[np.int32], found: Problems
) -> tuple[CellColumns, NDArray[np.int64]]:
    """Return the columns with one row a cell, and which rows those are; rows with unknown codes are left out.

    Rows with the same codes are duplicates. Rows with different codes that are one cell, because one is the only child
    of the other, may repeat it: what one of them leaves open the other may say, what both say must agree.
    """
    rows_of: dict[tuple[int, ...], list[int]] = {}
    for row, key in enumerate(zip(columns.variable.tolist(), *nodes.T.tolist(), strict=True)):
        if min(key) >= 0:
            rows_of.setdefault(key, []).append(row)
    extras = {name: part.copy() for name, part in columns.extras.items()}
    largest = [part.counts.copy() for part in columns.largest]
    for first, *others in rows_of.values():
        seen = {columns.label(first): first}
        for row in others:
            same = seen.setdefault(columns.label(row), row)
            if same != row:
                here = f"{source.place}, rows {columns.row[same]} and {columns.row[row]}"
                found.add(here, f"are both the cell {columns.label(row)}.", "Keep one of them.")
                continue
            here = f"{source.place}, rows {columns.row[first]} and {columns.row[row]}"
            said = f"are one cell, {columns.label(first)} and {columns.label(row)} being an only child and its parent"
            for what in columns.disagreements(first, row):
                found.add(here, f"{said}, with different {what}.", "Settle on one.")
            for part in extras.values():
                if _says_nothing(part[first]):
                    part[first] = part[row]
            for part in largest:
                part[first] = max(part[first], part[row])
    kept = np.array([rows[0] for rows in rows_of.values()], dtype=np.int64)
    filled = tuple(Fixed(part, columns.value.decimals) for part in largest)
    return replace(columns, extras=extras, largest=filled).of(kept), kept


def _says_nothing(entry: Any) -> bool:  # noqa: ANN401  (a text or a number)
    return bool(entry == "" if isinstance(entry, str) else np.isnan(entry))


def _sum_missing_totals(counts: NDArray[Any], missing: NDArray[np.int64], relations: Relations) -> NDArray[Any]:
    """Return the counts with those of missing totals summed up from below."""
    matrix = relations.matrix
    unknown = np.zeros(len(counts), dtype=bool)
    unknown[missing] = True
    waiting = [row for row in range(len(relations)) if unknown[_total(matrix, row)]]
    while waiting:
        later = []
        for row in waiting:
            total = _total(matrix, row)
            parts = [cell for cell, coefficient in relations.terms(row) if coefficient > 0]
            if unknown[parts].any():
                later.append(row)
            elif unknown[total]:
                counts[total] = counts[parts].sum()
                unknown[total] = False
        waiting = later
    return counts


def _total(matrix: Any, row: int) -> int:  # noqa: ANN401  (sparse)
    start, end = matrix.indptr[row], matrix.indptr[row + 1]
    return int(matrix.indices[start:end][matrix.data[start:end] < 0][0])


def _statistics(columns: CellColumns, row: NDArray[np.int64], place: NDArray[np.int64], n: int) -> Statistics | None:
    if columns.count is None and not columns.largest:
        return None
    decimals = columns.value.decimals
    k = max(1, len(columns.largest))
    respondents = Contributors.unknown(n, k)
    count = np.full(len(row), UNKNOWN) if columns.count is None else columns.count[row]
    largest = np.full((len(row), k), UNKNOWN, dtype=np.int64)
    for number, part in enumerate(columns.largest):
        largest[:, number] = np.where(part.infinite, UNKNOWN, part.counts)[row]
    total = np.abs(columns.value.counts[row])
    respondents.fill(place, Contributors.of_known(count, total, _up_to(largest, count)))
    holdings = None
    if columns.holdings is not None:
        holdings = Contributors.unknown(n, k)
        owners = columns.holdings[row]
        holdings.fill(place, Contributors.of_known(owners, total, _up_to(largest, owners)))
    records = respondents.count
    return Statistics(respondents, holdings, records, records.astype(np.float64), decimals)


def _up_to(largest: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the largest contributions with zeros where there are no more contributors."""
    beyond = (np.arange(largest.shape[1]) >= count[:, None]) & (count[:, None] >= 0)
    return np.where(beyond, 0, largest)


def _spread(part: NDArray[Any], row: NDArray[np.int64], place: NDArray[np.int64], n: int) -> NDArray[Any]:
    text = part.dtype.kind in "UO"
    out = np.full(n, "" if text else np.nan, dtype=object if text else np.float64)
    out[place] = part[row]
    return out
