"""The SQL in which records are asked for."""

from __future__ import annotations

from collections.abc import Sequence

from celosia.source.duckdb import RowSource, literal, quoted
from celosia.table.dimension import Dimension

MISSING = "(missing)"
"""The code of records without a code, where they are kept."""

_PATH = "chr(31)"  # stands between the levels of a path, inside SQL only


def dimension_code(source: RowSource, columns: Sequence[str], *, category: bool = False) -> str:
    """Return the SQL of a row's code: one column as text, or the levels of its path; an empty code is none."""
    parts = [f"CAST({present(source, column)} AS VARCHAR)" for column in columns]
    code = parts[0] if len(parts) == 1 else f"nullif(concat_ws({_PATH}, {', '.join(parts)}), '')"
    return f"coalesce({code}, {literal(MISSING)})" if category else code


def number_expression(source: RowSource, column: str) -> str:
    """Return the SQL of an amount: a whole number where the type is exact, else a double; NULL: no number."""
    kind, name = source.types[column], quoted(column)
    if kind.endswith(("INT", "INTEGER")):
        return f"CAST({name} AS BIGINT)"
    if kind.startswith("DECIMAL"):
        scale = scale_of(kind)
        return f"CAST(CAST({name} AS DECIMAL(38, {scale})) * {10**scale} AS BIGINT)"
    return f"TRY_CAST({name} AS DOUBLE)"


def scale_of(kind: str) -> int:
    """Return the number of decimals of a DECIMAL type, 0 for others."""
    return int(kind.rstrip(")").split(",")[1]) if kind.startswith("DECIMAL") else 0


def flag_expression(column: str) -> str:
    """Return the SQL that gives a yes or no: a truth value or a number that is not zero; nothing means no."""
    name = quoted(column)
    said = f"coalesce(TRY_CAST({name} AS BOOLEAN), TRY_CAST({name} AS DOUBLE) <> 0)"
    return f"CASE WHEN {name} IS NULL THEN false ELSE {said} END"


def present(source: RowSource, column: str) -> str:
    """Return the SQL of a column in which an empty text is no entry."""
    return f"nullif({quoted(column)}, '')" if source.types[column] == "VARCHAR" else quoted(column)


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
    return f"SELECT unnest([{names}]) AS code, unnest([{numbers}]::INTEGER[]) AS number"
