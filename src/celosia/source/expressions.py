"""The SQL that reads records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from celosia.source.duckdb import ROWS, RowSource, literal, quote
from celosia.table.dimension import Dimension

MISSING = "(missing)"
"""The code of records without a code, where they are kept."""

_PATH = "chr(31)"  # stands between the levels of a path, inside SQL only
_DOUBLE_DIGITS = 15


def dimension_code(source: RowSource, columns: Sequence[str], *, category: bool = False) -> str:
    """Return the SQL of a row's code: one column as text, or the levels of its path; an empty code is none.

    A path ends where its last levels are empty; a level that is empty above another leaves a gap, which no path has.
    """
    parts = [f"CAST({present(source, column)} AS VARCHAR)" for column in columns]
    code = parts[0]
    if len(parts) > 1:
        levels = f" || {_PATH} || ".join(f"coalesce({part}, '')" for part in parts)
        code = f"nullif(rtrim({levels}, {_PATH}), '')"
    return f"coalesce({code}, {literal(MISSING)})" if category else code


@dataclass(frozen=True, slots=True)
class Number:
    """How SQL reads an amount.

    Parameters
    ----------
    sql
        Gives a whole count of the decimal `decimals` where the type is exact, else a double; NULL where it is neither.
    decimals
        The decimals of an exact type.
    note
        What is lost, if anything is.
    """

    sql: str
    decimals: int = 0
    note: str = ""


def number_of(source: RowSource, column: str) -> Number:
    """Return how to ask for the amounts of a column, so that no digit is lost."""
    kind, name = source.types[column], quote(column)
    if kind.endswith(("INT", "INTEGER")):
        return Number(f"TRY_CAST({name} AS BIGINT)")
    if kind.startswith("DECIMAL"):
        return _decimal(name, int(kind.rstrip(")").split(",")[1]))
    return _text_number(source, name) if kind == "VARCHAR" else Number(f"TRY_CAST({name} AS DOUBLE)")


def _decimal(name: str, places: int) -> Number:
    exact = f"TRY_CAST({name} AS DECIMAL(38, {places}))"
    return Number(f"TRY_CAST(TRY_CAST({exact} * {10**places} AS DECIMAL(38, 0)) AS BIGINT)", places)


def _text_number(source: RowSource, name: str) -> Number:
    """Return how to ask for numbers that are written as text, exactly where a double would lose digits."""
    places = f"CASE WHEN contains({name}, '.') THEN length({name}) - strpos({name}, '.') ELSE 0 END"
    longest, most, powers = source.fetch(
        f"SELECT max(length({name})), max({places}), bool_or(contains(lower({name}), 'e')) FROM {ROWS}"
    )[0]
    double = f"TRY_CAST({name} AS DOUBLE)"
    if not longest or longest <= _DOUBLE_DIGITS:
        return Number(double)
    if powers or most > _DOUBLE_DIGITS:
        return Number(double, note="long numbers are read as doubles, to 15 digits")
    return _decimal(name, int(most))


def flag_expression(column: str) -> str:
    """Return the SQL that gives a yes or no: a truth value or a number that is not zero; nothing means no."""
    name = quote(column)
    said = f"coalesce(TRY_CAST({name} AS BOOLEAN), TRY_CAST({name} AS DOUBLE) <> 0)"
    return f"CASE WHEN {name} IS NULL THEN false ELSE {said} END"


def present(source: RowSource, column: str) -> str:
    """Return the SQL of a column in which an empty text is no entry."""
    return f"nullif({quote(column)}, '')" if source.types[column] == "VARCHAR" else quote(column)


def code_list(dimension: Dimension, *, paths: bool) -> str:
    """Return the SQL of a little table of codes, or of paths, with the leaf number of each.

    A code alone is understood where only one leaf bears it; a path always.
    """
    leaf_of = dimension.leaf_of
    if paths:
        number_of = {
            "\x1f".join(path): leaf_of[node] for path, node in dimension.node_of_path.items() if leaf_of[node] >= 0
        }
    else:
        leaves = {
            code: [leaf_of[node] for node in nodes if leaf_of[node] >= 0] for code, nodes in dimension.nodes_of.items()
        }
        number_of = {code: numbers[0] for code, numbers in leaves.items() if len(numbers) == 1}
    names = ", ".join(literal(code) for code in number_of)
    numbers = ", ".join(str(number) for number in number_of.values())
    return f"SELECT unnest([{names}]) AS celosia_code, unnest([{numbers}]::INTEGER[]) AS celosia_number"
