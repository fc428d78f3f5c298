"""The codes of a dimension as an engine has them, and the little table that gives each its number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from celosia.errors import CelosiaError, DataError, Problems, pluralise
from celosia.source.diagnosis import WITHOUT_CODE, describe_faulty_codes
from celosia.source.engines.rows import EngineRows, small_table
from celosia.source.expressions import MISSING
from celosia.table.dimension import Dimension
from celosia.table.hierarchy import Classification, Hierarchy, classify

_PATH = "\x1f"


@dataclass(frozen=True, slots=True, eq=False)
class DimensionCodes:
    """A dimension, and how its columns are understood.

    Parameters
    ----------
    dimension
        The dimension.
    columns
        Its columns.
    numbers
        The leaf number of every combination of entries that is one.
    """

    dimension: Dimension
    columns: tuple[str, ...]
    numbers: dict[tuple[str, ...], int]

    def find_coded(self, table: Any) -> Any:  # noqa: ANN401  (ibis)
        """Return which rows of a table have a code in these columns."""
        coded = _entry(table, self.columns[0]) != ""
        for column in self.columns[1:]:
            coded |= _entry(table, column) != ""
        return coded

    def entries(self, table: Any, name: str) -> dict[str, Any]:  # noqa: ANN401  (ibis)
        """Return the entries of every row under names of our own."""
        return {f"{name}_{k}": _entry(table, column) for k, column in enumerate(self.columns)}

    def number(self, table: Any, name: str) -> Any:  # noqa: ANN401  (ibis)
        """Return a table with the leaf number of every row under `name`, instead of its entries."""
        known = list(self.numbers)
        columns: dict[str, Any] = {f"{name}_c{k}": [entries[k] for entries in known] for k in range(len(self.columns))}
        codes = small_table(columns | {name: np.array(list(self.numbers.values()), dtype=np.int64)})
        same = [table[f"{name}_{k}"] == codes[f"{name}_c{k}"] for k in range(len(self.columns))]
        kept = [column for column in table.columns if not column.startswith(f"{name}_")]
        return table.inner_join(codes, same).select(*kept, name)


def codes_of(
    rows: EngineRows, name: str, columns: Sequence[str], classification: Classification | None, missing: str
) -> DimensionCodes:
    """Return a dimension with the codes that stand in its columns.

    Raises
    ------
    DataError
        There are codes that the classification does not have, or rows without a code.
    """
    found = Problems()
    for column in columns:
        if rows.types[column].is_floating():
            remedy = "Cast it to text or to whole numbers in a view or query."
            found.add(f"{rows.place}, column {column!r}", "holds real numbers, which are no codes.", remedy)
    found.raise_as(DataError)
    seen, without = _seen(rows, columns)
    codes = sorted({_code(entries) for entries in seen})
    try:
        if classification is None and len(columns) > 1:
            hierarchies: tuple[Hierarchy, ...] = (Hierarchy.from_levels([said.split(_PATH) for said in codes]),)
        else:
            hierarchies = classify(classification, lambda: codes)
    except CelosiaError as error:
        raise error.under(f"dimension {name!r}") from error
    if missing == "category" and without:
        hierarchies = tuple(hierarchy.with_code(MISSING) for hierarchy in hierarchies)
    dimension = Dimension.of(name, hierarchies)
    place = f"{rows.place}, column {name!r}"
    if missing == "error" and without:
        found.add(place, f"no code in {pluralise(without, 'record')}.", WITHOUT_CODE)
    for message, remedy in describe_faulty_codes(codes, dimension, paths=len(columns) > 1):
        found.add(place, message, remedy)
    found.raise_as(DataError)
    leaf = _leaf_numbers(dimension, paths=len(columns) > 1)
    numbers = {entries: leaf[_code(entries)] for entries in seen}
    if missing == "category" and without:
        numbers[("",) * len(columns)] = leaf[MISSING]
    return DimensionCodes(dimension, tuple(columns), numbers)


def _entry(table: Any, column: str) -> Any:  # noqa: ANN401  (ibis)
    return table[column].cast("string").fill_null("")


def _code(entries: Sequence[str]) -> str:
    """Return a code, or the codes of all levels as a path, which ends where its last levels are empty."""
    return _PATH.join(entries).rstrip(_PATH) if len(entries) > 1 else entries[0]


def _seen(rows: EngineRows, columns: Sequence[str]) -> tuple[list[tuple[str, ...]], int]:
    """Return the combinations of entries that are codes, and how many records have none."""
    names = [f"c{k}" for k in range(len(columns))]
    table = rows.table.select(**{name: _entry(rows.table, column) for name, column in zip(names, columns, strict=True)})
    answer = rows.fetch(table.group_by(names).aggregate(n=table.count())).to_pylist()
    if not answer:
        raise DataError.one(rows.place, "holds no records.", "Is it the right table?")
    seen = [tuple(row[name] for name in names) for row in answer]
    without = sum(row["n"] for row, entries in zip(answer, seen, strict=True) if not _code(entries))
    return sorted(entries for entries in seen if _code(entries)), without


def _leaf_numbers(dimension: Dimension, *, paths: bool) -> dict[str, int]:
    """Return the leaf number of every code, or path, that means one leaf."""
    leaf_of = dimension.leaf_of
    if paths:
        nodes = {_PATH.join(path): (node,) for path, node in dimension.node_of_path.items()}
    else:
        nodes = dimension.nodes_of  # type: ignore[assignment]
    leaves = {code: [int(leaf_of[node]) for node in known if leaf_of[node] >= 0] for code, known in nodes.items()}
    return {code: known[0] for code, known in leaves.items() if len(known) == 1}
