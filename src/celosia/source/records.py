"""Records out of a row source: leaf codes, whole amounts and anonymous groups.

Names become keys as they are read, and the keys are gone when this is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError
from celosia.library import OnFirstUse
from celosia.progress import Progress
from celosia.source.diagnosis import diagnose
from celosia.source.duckdb import ROWS, RowSource, quote, without_values
from celosia.source.expressions import Number, code_list, dimension_code, flag_expression, number_of
from celosia.source.tabulation.amounts import amounts_of
from celosia.source.tabulation.groups import Groups
from celosia.source.tabulation.names import keys_of
from celosia.table.dimension import Dimension
from celosia.table.fixed import Fixed

if TYPE_CHECKING:
    import duckdb
else:
    duckdb = OnFirstUse("duckdb")

_BATCH = 1 << 17
_MANY_ROWS = 1 << 25  # from here on memory matters more than the second thread
_ALONE = np.uint64(0x5851F42D4C957F2D)  # sets the holdings that are a respondent of their own apart from the others


@dataclass(frozen=True, slots=True)
class Roles:
    """Which columns hold what; None where there is none.

    Parameters
    ----------
    respondent, holding, weight, request, waiver
        Column names.
    """

    respondent: str | None = None
    holding: str | None = None
    weight: str | None = None
    request: str | None = None
    waiver: str | None = None

    def given_roles(self) -> dict[str, str]:
        """Return the roles that are given."""
        roles = ("respondent", "holding", "weight", "request", "waiver")
        return {role: column for role in roles if (column := getattr(self, role)) is not None}


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """What tabulation needs of the records, ``(n_rows,)`` each.

    Parameters
    ----------
    leaves
        Leaf numbers by dimension.
    amounts
        Values by column.
    weight
        Sampling weights, None where there are none.
    respondents, holdings
        Which rows belong together.
    asked, waived
        Requests and waivers; None where there is no such column.
    notes
        What was rounded.
    """

    leaves: Mapping[str, NDArray[np.int32]]
    amounts: Mapping[str, Fixed]
    weight: Fixed | None
    respondents: Groups
    holdings: Groups | None
    asked: NDArray[np.bool_] | None
    waived: NDArray[np.bool_] | None
    notes: tuple[str, ...] = ()


def read_records(
    source: RowSource,
    dimensions: Mapping[str, tuple[Dimension, Sequence[str]]],
    values: Sequence[str],
    roles: Roles,
    *,
    missing: str,
    decimals: int | None,
    progress: Progress,
) -> Records:
    """Return the records.

    Parameters
    ----------
    source
        Where they are.
    dimensions
        Every dimension with its columns.
    values
        Columns of amounts.
    roles
        Columns of the other things.
    missing
        ``error``, ``category`` or ``drop``: what to do with records without a code.
    decimals
        Round amounts to this number of decimals; by default they are taken as they are written.
    progress
        Hears about the reading.

    Raises
    ------
    DataError
        Every problem of the rows, with row numbers.
    """
    codes = {
        name: dimension_code(source, columns, category=missing == "category")
        for name, (_, columns) in dimensions.items()
    }
    weighted = [] if roles.weight is None else [roles.weight]
    numbers = {column: number_of(source, column) for column in [*values, *weighted]}
    fields = _fields(numbers, values, roles)
    lists = [code_list(dimension, paths=len(columns) > 1) for dimension, columns in dimensions.values()]
    sql = _statement(list(codes.values()), lists, fields, drop=missing == "drop")
    try:
        columns = _stream(source, sql, progress)
    except duckdb.Error as error:
        raise DataError.one(source.place, f"cannot be read: {without_values(error)}.") from None
    if columns is None or not _sound(columns, values, roles):
        diagnose(source, codes, dimensions, values, roles.given_roles(), missing)
    assert columns is not None  # noqa: S101  (diagnose raises)
    notes = [f"{source.place}, column {column!r}: {number.note}" for column, number in numbers.items() if number.note]

    def amounts(name: str, column: str, wanted: int | None) -> Fixed:
        place = f"{source.place}, column {column!r}"
        written = numbers[column].decimals
        return amounts_of(columns.pop(name), written=written, decimals=wanted, place=place, notes=notes)

    values_read = {value: amounts(f"v{k}", value, decimals) for k, value in enumerate(values)}
    weight = None if roles.weight is None else amounts("weight", roles.weight, None)
    n = len(columns["d0"])
    kinds = [kind for kind in ("respondent", "holding") if f"{kind}_key" in columns]

    def group(kind: str) -> Groups:
        return Groups.of_keys(columns.pop(f"{kind}_key"), columns.pop(f"{kind}_second"))

    with ThreadPoolExecutor(2 if n < _MANY_ROWS else 1) as pool:
        groups = dict(zip(kinds, pool.map(group, kinds), strict=True))
    return Records(
        leaves={name: columns.pop(f"d{k}") for k, name in enumerate(dimensions)},
        amounts=values_read,
        weight=weight,
        respondents=groups.get("respondent", Groups.single(n)),
        holdings=groups.get("holding"),
        asked=columns.pop("asked", None),
        waived=columns.pop("waived", None),
        notes=tuple(notes),
    )


def _fields(numbers: Mapping[str, Number], values: Sequence[str], roles: Roles) -> dict[str, str]:
    fields = {f"v{k}": numbers[value].sql for k, value in enumerate(values)}
    if roles.weight is not None:
        fields["weight"] = numbers[roles.weight].sql
    if roles.request is not None:
        fields["asked"] = flag_expression(roles.request)
    if roles.waiver is not None:
        fields["waived"] = flag_expression(roles.waiver)
    for kind, column in (("respondent", roles.respondent), ("holding", roles.holding)):
        if column is not None:
            fields[kind] = f"CAST({quote(column)} AS VARCHAR)"
    return fields


def _statement(codes: Sequence[str], lists: Sequence[str], fields: Mapping[str, str], *, drop: bool) -> str:
    said = [f"c{k}.celosia_number AS d{k}" for k in range(len(codes))] + [
        f"{sql} AS {name}" for name, sql in fields.items()
    ]
    joins = [
        f"LEFT JOIN ({known}) c{k} ON c{k}.celosia_code = {code}"
        for k, (code, known) in enumerate(zip(codes, lists, strict=True))
    ]
    where = " WHERE " + " AND ".join(f"{code} IS NOT NULL" for code in codes) if drop else ""
    return f"SELECT {', '.join(said)} FROM {ROWS} {' '.join(joins)}{where}"


def _stream(source: RowSource, sql: str, progress: Progress) -> dict[str, NDArray[Any]] | None:
    """Return the columns of a query, names as keys; None as soon as a value is missing that must be there."""
    expected = source.expected_rows()
    progress.start("reading records", expected)
    columns: dict[str, NDArray[Any]] = {}
    n, room = 0, expected or 8 * _BATCH
    for batch in source.stream(sql, _BATCH):
        values = _anonymous(batch)
        if values is None:
            progress.done()
            return None
        if n + batch.num_rows > room:
            room = 2 * (n + batch.num_rows)
        for name, column in values.items():
            if name not in columns:
                columns[name] = np.empty(room, dtype=column.dtype)
            elif len(columns[name]) < room:
                columns[name] = np.resize(columns[name], room)
            columns[name][n : n + len(column)] = column
        n += batch.num_rows
        progress.advance(batch.num_rows)
    progress.done()
    if not n:
        raise DataError.one(source.place, "holds no records.", "Is it the right file?")
    return {name: column[:n] for name, column in columns.items()}


def _anonymous(batch: Any) -> dict[str, NDArray[Any]] | None:  # noqa: ANN401  (pyarrow)
    """Return the columns of a batch with keys for names; a holding without a name is its respondent."""
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    values: dict[str, NDArray[Any]] = {}
    for kind in ("respondent", "holding"):
        if kind not in columns:
            continue
        key, second, empty = keys_of(columns.pop(kind))
        if empty.any():
            if kind == "respondent" or "respondent_key" not in values:
                return None
            key[empty] = values["respondent_key"][empty] ^ _ALONE
            second[empty] = values["respondent_second"][empty]
        values[f"{kind}_key"], values[f"{kind}_second"] = key, second
    if any(column.null_count for column in columns.values()):
        return None
    return values | {name: column.to_numpy(zero_copy_only=False) for name, column in columns.items()}


def _sound(columns: Mapping[str, NDArray[Any]], values: Sequence[str], roles: Roles) -> bool:
    numbers = [columns[f"v{k}"] for k in range(len(values))]
    if roles.weight is not None:
        numbers.append(columns["weight"])
        if not bool((columns["weight"] > np.float64(0)).all()):
            return False
    return all(number.dtype.kind != "f" or bool(np.isfinite(number).all()) for number in numbers)
