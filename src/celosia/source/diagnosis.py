"""What is wrong with rows that could not be read, with row numbers.

Slow and thorough: it runs only when something is wrong.

Messages say where and how often, never what stood there: it may be somebody's secret. Codes of a classification are no
secrets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from celosia.errors import DataError, Problems, listed
from celosia.source.duckdb import ROWS, RowSource, quoted
from celosia.table.dimension import Dimension

_SHOWN = 5


def diagnose(
    source: RowSource,
    codes: Mapping[str, str],
    dimensions: Mapping[str, Dimension],
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
        The dimensions.
    values
        Columns of amounts.
    roles
        The other columns by role.
    missing
        What was to be done with records without a code.
    """
    found = Problems()
    for name, code in codes.items():
        if missing == "error":
            _report(
                found,
                source,
                name,
                f"{code} IS NULL",
                "have no code",
                "Say missing='category' or missing='drop', or mend them.",
            )
        _unknown_codes(found, source, name, code, dimensions[name])
    weight = [roles["weight"]] if "weight" in roles else []
    for column in [*values, *weight]:
        _numbers(found, source, column)
    for column in weight:
        number = f"TRY_CAST({quoted(column)} AS DOUBLE)"
        _report(
            found,
            source,
            column,
            f"{number} <= 0",
            "have a weight of zero or less",
            "A weight says how many units a record stands for.",
        )
    for role in ("request", "waiver"):
        if role in roles:
            name = quoted(roles[role])
            wrong = (
                f"{name} IS NOT NULL AND coalesce(TRY_CAST({name} AS BOOLEAN), TRY_CAST({name} AS DOUBLE) <> 0) IS NULL"
            )
            _report(
                found,
                source,
                roles[role],
                wrong,
                f"have a {role} that is neither yes nor no",
                "Write true or false, 1 or 0.",
            )
    if "respondent" in roles:
        empty = f"nullif(CAST({quoted(roles['respondent'])} AS VARCHAR), '') IS NULL"
        _report(found, source, roles["respondent"], empty, "have no respondent", "Every record belongs to somebody.")
    elif "holding" in roles:
        empty = f"nullif(CAST({quoted(roles['holding'])} AS VARCHAR), '') IS NULL"
        _report(
            found,
            source,
            roles["holding"],
            empty,
            "have no holding",
            "Name the respondent column too: it stands in for the holding.",
        )
    if not found.found:
        found.add(
            source.place, "cannot be read for a reason that was not found.", "Please report this with the job file."
        )
    raise DataError(found.found)


def _numbers(found: Problems, source: RowSource, column: str) -> None:
    name = quoted(column)
    number = f"TRY_CAST({name} AS DOUBLE)"
    empty = f"({name} IS NULL)" if source.types[column] != "VARCHAR" else f"(nullif({name}, '') IS NULL)"
    _report(found, source, column, empty, "have no value", "Fill them, or leave the records out.")
    _report(found, source, column, f"NOT {empty} AND {number} IS NULL", "hold text that is not a number", "Mend them.")
    _report(
        found,
        source,
        column,
        f"{number} IS NOT NULL AND NOT isfinite({number})",
        "are infinite or not a number",
        "Mend them.",
    )


def _unknown_codes(found: Problems, source: RowSource, name: str, code: str, dimension: Dimension) -> None:
    known = {said for said, nodes in dimension.nodes_of.items() if any(dimension.leaf_of[node] >= 0 for node in nodes)}
    rows = source.query(
        f"SELECT {code} AS code, count(*) FROM {ROWS} WHERE code IS NOT NULL GROUP BY 1 ORDER BY 1"
    ).fetchall()
    paths = {"\x1f".join(path) for path in dimension.node_of_path}
    place = f"{source.place}, column {name!r}"
    unknown = [said for said, _ in rows if said not in dimension.nodes_of and said not in paths]
    parents = [said for said, _ in rows if said in dimension.nodes_of and said not in known]
    double = [said for said in known if sum(dimension.leaf_of[node] >= 0 for node in dimension.nodes_of[said]) > 1]
    twice = sorted({said for said, _ in rows} & set(double))
    if unknown:
        shown = [said.replace("\x1f", " / ") for said in unknown]
        found.add(place, f"these codes are not in the hierarchy: {listed(shown)}.", "Add them to it, or mend them.")
    if parents:
        found.add(
            place, f"these codes have codes below them: {listed(parents)}.", "Records need codes of the finest level."
        )
    if twice:
        remedy = "Name the columns of all levels, so that records carry the path."
        found.add(place, f"these codes stand in several branches: {listed(twice)}.", remedy)


def _report(found: Problems, source: RowSource, column: str, condition: str, said: str, remedy: str) -> None:
    """Note how many rows meet a condition, and the numbers of the first."""
    numbered = f"SELECT row_number() OVER () AS celosia_row, * FROM {ROWS}"
    count = source.query(f"SELECT count(*) FROM {ROWS} WHERE {condition}").fetchall()[0][0]
    if not count:
        return
    rows = source.query(f"SELECT celosia_row FROM ({numbered}) WHERE {condition} ORDER BY 1 LIMIT {_SHOWN}").fetchall()
    numbers = ", ".join(str(row) for (row,) in rows) + (", ..." if count > _SHOWN else "")
    found.add(
        f"{source.place}, column {column!r}",
        f"{count:,} records {said} (rows {numbers}, the first record being row 1).",
        remedy,
    )
