"""What is wrong with rows that could not be read, with row numbers.

Slow and thorough: it runs only when something is wrong.

Messages say where and how often, never what stood there: it may be confidential. Codes of a classification are no
secrets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from celosia.errors import DataError, Problems, list_items, pluralise, rows_named
from celosia.source.duckdb import ROWS, RowSource, quote
from celosia.source.expressions import flag_expression, number_of, present
from celosia.table.dimension import SEPARATOR, Dimension

_SHOWN = 5
WITHOUT_CODE = "Mend them, or choose with `missing` to count them as a category or to drop them."
"""What to do about records without a code."""


def diagnose(
    source: RowSource,
    codes: Mapping[str, str],
    dimensions: Mapping[str, tuple[Dimension, Sequence[str]]],
    values: Sequence[str],
    roles: Mapping[str, str],
    missing: str,
) -> NoReturn:
    """Raise everything that is wrong with the rows.

    Parameters
    ----------
    source
        The rows.
    codes
        The SQL of every dimension's code.
    dimensions
        The dimensions with their columns.
    values
        Columns of amounts.
    roles
        The other columns by role.
    missing
        What was to be done with records without a code.
    """
    rows = _FaultyRows(source, Problems())
    for name, code in codes.items():
        if missing == "error":
            rows.report(name, f"{code} IS NULL", "no code", WITHOUT_CODE)
        _unknown_codes(rows, name, code, dimensions[name][0], paths=len(dimensions[name][1]) > 1)
    for column in values:
        _numbers(rows, column)
    if "weight" in roles:
        _numbers(rows, roles["weight"])
        number = f"TRY_CAST({quote(roles['weight'])} AS DOUBLE)"
        rows.report(
            roles["weight"], f"{number} <= 0", "a weight of zero or less", "It says how many units a record is."
        )
    for role in ("request", "waiver"):
        if role in roles:
            wrong = f"{flag_expression(roles[role])} IS NULL"
            rows.report(roles[role], wrong, "something neither yes nor no", "Write true or false, 1 or 0.")
    _nameless(rows, roles)
    if not rows.found.found:
        rows.found.add(source.place, "cannot be read for a reason that was not found.", "Please report this.")
    raise DataError(rows.found.found)


@dataclass(frozen=True, slots=True)
class _FaultyRows:
    """The rows, and what is wrong with them so far."""

    source: RowSource
    found: Problems

    def report(self, column: str, condition: str, said: str, remedy: str) -> None:
        """Note how many rows meet a condition, and the numbers of the first."""
        count = self.source.fetch(f"SELECT count(*) FROM {ROWS} WHERE {condition}")[0][0]
        if not count:
            return
        numbered = f"SELECT row_number() OVER () AS celosia_row, * FROM {ROWS}"
        first = f"SELECT celosia_row FROM ({numbered}) WHERE {condition} ORDER BY 1 LIMIT {_SHOWN}"
        rows = rows_named([row for (row,) in self.source.fetch(first)], count)
        self.add(column, f"{said} in {pluralise(count, 'record')} ({rows}, the first record being row 1).", remedy)

    def add(self, column: str, message: str, remedy: str) -> None:
        """Note something about a column."""
        self.found.add(f"{self.source.place}, column {column!r}", message, remedy)


def _numbers(rows: _FaultyRows, column: str) -> None:
    number = f"TRY_CAST({quote(column)} AS DOUBLE)"
    empty = f"{present(rows.source, column)} IS NULL"
    rows.report(column, empty, "no value", "Fill them, or leave the records out.")
    rows.report(column, f"NOT ({empty}) AND {number} IS NULL", "text that is not a number", "Mend it.")
    rows.report(column, f"{number} IS NOT NULL AND NOT isfinite({number})", "an infinite value or none", "Mend it.")
    long = f"isfinite({number}) AND {number_of(rows.source, column).sql} IS NULL"
    rows.report(column, long, "a number of more than 18 digits", "Use a larger unit.")


def _nameless(rows: _FaultyRows, roles: Mapping[str, str]) -> None:
    role = "respondent" if "respondent" in roles else "holding"
    remedy = {
        "respondent": "Every record belongs to somebody.",
        "holding": "Name the respondent column too: it stands in for the holding.",
    }
    if role in roles:
        rows.report(roles[role], f"{present(rows.source, roles[role])} IS NULL", f"no {role}", remedy[role])


def _unknown_codes(rows: _FaultyRows, name: str, code: str, dimension: Dimension, *, paths: bool) -> None:
    sql = f"SELECT DISTINCT {code} AS celosia_code FROM {ROWS} WHERE {code} IS NOT NULL ORDER BY 1"
    seen = [said for (said,) in rows.source.fetch(sql)]
    for message, remedy in describe_faulty_codes(seen, dimension, paths=paths):
        rows.add(name, message, remedy)


def describe_faulty_codes(seen: Sequence[str], dimension: Dimension, *, paths: bool) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with the codes of some records, and what to do."""
    leaves = {said: sum(dimension.leaf_of[node] >= 0 for node in nodes) for said, nodes in dimension.nodes_of.items()}
    if paths:
        leaves = {"\x1f".join(path): int(dimension.leaf_of[node] >= 0) for path, node in dimension.node_of_path.items()}
    unknown = [said.replace("\x1f", SEPARATOR) for said in seen if said not in leaves]
    parents = [said.replace("\x1f", SEPARATOR) for said in seen if leaves.get(said) == 0]
    several = [said for said in seen if leaves.get(said, 0) > 1]
    if unknown:
        yield f"codes that are not in the hierarchy: {list_items(unknown)}.", "Add them to it, or mend them."
    if parents:
        yield f"codes with codes below them: {list_items(parents)}.", "Records need codes of the finest level."
    if several:
        remedy = "Name the columns of all levels, so that records carry the path."
        yield f"codes that stand in several branches: {list_items(several)}.", remedy
