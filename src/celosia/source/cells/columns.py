"""The columns of ready-made cells, read digit by digit, with every bad row reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, Problems, SpecError, list_items, pluralise, rows_named
from celosia.source.duckdb import ROWS, RowSource, quote
from celosia.table.fixed import INFINITE, Fixed

STATUSES: Mapping[str, str] = {
    "": "",
    **dict.fromkeys(("s", "safe"), "safe"),
    **dict.fromkeys(("u", "unsafe", "sensitive"), "sensitive"),
    **dict.fromkeys(("m", "hide", "hidden"), "hide"),
    **dict.fromkeys(("z", "p", "protect", "show", "shown"), "show"),
}
"""What a status may be called, in any case."""

_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class CellColumns:
    """Rows of ready-made cells in columns, ``(n_rows,)`` each.

    Parameters
    ----------
    row
        The row's number in the file, from 1.
    codes
        Codes by dimension.
    value
        The values.
    count, holdings
        Numbers of contributors.
    largest
        The largest contributions, largest first, in the decimal of the values; -inf where nothing is said.
    extras
        Statuses, levels, costs.
    variable, variables
        The variable of every row, and their names; no names where there is one variable.
    """

    row: NDArray[np.int64]
    codes: Mapping[str, NDArray[Any]]
    value: Fixed
    count: NDArray[np.int64] | None
    holdings: NDArray[np.int64] | None
    largest: tuple[Fixed, ...]
    extras: Mapping[str, NDArray[Any]]
    variable: NDArray[np.int64]
    variables: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.row)

    def of(self, rows: NDArray[np.int64]) -> CellColumns:
        """Return some of the rows."""
        return replace(
            self,
            row=self.row[rows],
            codes={name: codes[rows] for name, codes in self.codes.items()},
            value=self.value[rows],
            count=None if self.count is None else self.count[rows],
            holdings=None if self.holdings is None else self.holdings[rows],
            largest=tuple(part[rows] for part in self.largest),
            extras={name: part[rows] for name, part in self.extras.items()},
            variable=self.variable[rows],
        )

    def label(self, row: int) -> str:
        """Return the codes of a row as people write them."""
        return " x ".join(str(codes[row]) for codes in self.codes.values())

    def disagreements(self, first: int, second: int) -> list[str]:
        """Return what two rows say differently, by name; what one of them leaves open is no disagreement."""
        numbers = {
            "values": self.value.counts,
            "numbers of contributors": self.count,
            "numbers of holdings": self.holdings,
        }
        numbers |= {f"largest contributions ({k + 1})": part.counts for k, part in enumerate(self.largest)}
        found = [
            name
            for name, part in numbers.items()
            if part is not None and part[first] != part[second] and -INFINITE not in (part[first], part[second])
        ]
        for name, part in self.extras.items():
            both = (part[first], part[second])
            if "" not in both and not any(entry != entry for entry in both) and both[0] != both[1]:  # noqa: PLR0124  (NaN)
                found.append(name.replace("status", "statuses").replace("_", " "))
        return found


def read_columns(
    source: RowSource,
    by: Mapping[str, str],
    value: str,
    count: str | None,
    holdings: str | None,
    largest: Sequence[str],
    status: str | None,
    numbers: Mapping[str, str | None],
    variable: str | None,
    problems: Problems,
) -> CellColumns:
    """Return the columns of ready-made cells; what is wrong with single rows goes to `problems`.

    Raises
    ------
    SpecError
        A column is not there.
    DataError
        There are no rows.
    """
    roles = {value: "value", **dict.fromkeys(by.values(), "dimension"), **dict.fromkeys(largest, "largest")}
    optional = {"count": count, "holdings": holdings, "status": status, "variable": variable, **numbers}
    roles |= {column: role for role, column in optional.items() if column is not None}
    found = Problems()
    for column, role in roles.items():
        said = source.explain_missing(column, role)
        if said:
            found.add(source.place, said)
    if not by:
        found.add("by", "must name at least one column.")
    found.raise_as(SpecError)
    reader = _Reader(source, list(roles), problems)
    codes = {name: reader.codes(column) for name, column in by.items()}
    amounts = reader.amounts([value, *largest])
    counts = {name: reader.whole(name) for name in (count, holdings) if name is not None}
    extras: dict[str, NDArray[Any]] = {
        role: reader.floats(column) for role, column in numbers.items() if column is not None
    }
    if status is not None:
        extras["status"] = reader.statuses(status)
    names: dict[str, int] = {}
    which = np.zeros(len(reader.row), dtype=np.int64)
    if variable is not None:
        which = np.array([names.setdefault(name, len(names)) for name in reader.codes(variable)], dtype=np.int64)
    _check_largest(reader, amounts, counts.get(count) if count is not None else None)
    return CellColumns(
        reader.row, codes, amounts[0],
        None if count is None else counts[count], None if holdings is None else counts[holdings],
        tuple(amounts[1:]), extras, which, tuple(names),
    )  # fmt: skip


class _Reader:
    """Reads columns as text, so that decimals are what is written, and collects what is wrong."""

    def __init__(self, source: RowSource, columns: Sequence[str], found: Problems) -> None:
        said = ", ".join(f"CAST({quote(column)} AS VARCHAR) AS {quote(column)}" for column in columns)
        table = source.fetch_arrow(f"SELECT {said} FROM {ROWS}")
        self.place = source.place
        self.found = found
        self.text: dict[str, list[str]] = {
            column: [text or "" for text in table.column(column).to_pylist()] for column in columns
        }
        self.row = np.arange(1, table.num_rows + 1)
        if not table.num_rows:
            raise DataError.one(source.place, "holds no cells.", "Is it the right file?")

    def codes(self, column: str) -> NDArray[Any]:
        codes = np.array(self.text[column], dtype=object)
        self._report(column, np.flatnonzero(codes == ""), "no code", "A total bears the code of the total.")
        return codes

    def amounts(self, columns: Sequence[str]) -> list[Fixed]:
        """Return columns of amounts in a common decimal, -inf where a column after the first says nothing."""
        texts = [self._numbers(column, empty=None if number == 0 else "-inf") for number, column in enumerate(columns)]
        parts = [Fixed.of_texts(text) for text in texts]
        decimals = max(part.decimals for part in parts)
        return [part.to(decimals) for part in parts]

    def whole(self, column: str) -> NDArray[np.int64]:
        texts = self._numbers(column, empty=None)
        numbers = np.array([float(text) for text in texts])
        wrong = np.flatnonzero((numbers < 0) | (numbers != np.floor(numbers)))
        self._report(column, wrong, "a count that is not a whole number from zero up", "Mend them.")
        return numbers.astype(np.int64)

    def floats(self, column: str) -> NDArray[np.float64]:
        numbers = np.array([float(text) for text in self._numbers(column, empty="nan")])
        self._report(
            column, np.flatnonzero(numbers < 0), "a negative number", "Levels and costs are numbers from zero up."
        )
        return numbers

    def statuses(self, column: str) -> NDArray[Any]:
        said = [text.strip().lower() for text in self.text[column]]
        unknown = sorted({word for word in said if word not in STATUSES})
        if unknown:
            place = f"{self.place}, column {column!r}"
            self.found.add(
                place, f"these statuses are not known: {list_items(unknown)}.", "Known: safe, sensitive, hide, show."
            )
        return np.array([STATUSES.get(word, "") for word in said], dtype=object)

    def _numbers(self, column: str, *, empty: str | None) -> list[str]:
        """Return texts that are finite numbers; `empty` stands in for nothing, None where there must be something."""
        texts = [text.strip() for text in self.text[column]]
        nothing = [row for row, text in enumerate(texts) if not text]
        if empty is None:
            self._report(column, np.array(nothing, dtype=np.int64), "no value", "Fill them in.")
        bad = [row for row, text in enumerate(texts) if text and not _is_number(text)]
        self._report(column, np.array(bad, dtype=np.int64), "something that is not a finite number", "Mend them.")
        wrong = {*bad, *nothing}
        return [(empty if empty and not text else "0") if row in wrong else text for row, text in enumerate(texts)]

    def _report(self, column: str, rows: NDArray[np.int64], said: str, remedy: str) -> None:
        self.note(f"column {column!r}", rows, said, remedy)

    def note(self, place: str, rows: NDArray[np.int64], said: str, remedy: str) -> None:
        """Note that something is wrong with some rows."""
        if len(rows):
            named = rows_named(self.row[rows[:_SHOWN]].tolist(), len(rows))
            message = f"{said} in {pluralise(len(rows), 'cell')} ({named}, the first cell being row 1)."
            self.found.add(f"{self.place}, {place}", message, remedy)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _check_largest(reader: _Reader, amounts: Sequence[Fixed], count: NDArray[np.int64] | None) -> None:
    """Note largest contributions that contradict each other, the cell, or the number of its contributors."""
    value, *largest = (part.counts for part in amounts)
    if not largest:
        return
    known = np.logical_and.reduce([part != -INFINITE for part in largest])
    negative = np.logical_or.reduce([(part < 0) & (part != -INFINITE) for part in largest])
    wrong = {"negative contributions": negative}
    if len(largest) > 1:
        rises = [(after > before) & (before != -INFINITE) for before, after in pairwise(largest)]
        wrong["contributions that do not decrease"] = np.logical_or.reduce(rises)
    together = sum((np.maximum(part, 0) for part in largest), start=np.zeros(len(value), dtype=np.int64))
    if bool((value >= 0).all()):
        wrong["more than the cell"] = together > value + len(largest)
    if count is not None:
        wrong["contributions of nobody"] = (count == 0) & (largest[0] > 0)
        others = np.maximum(count - len(largest), 0) * np.maximum(largest[-1], 0).astype(np.float64)
        short = (np.abs(value) - together > others + count) & known & (count > 0) & ~negative
        wrong["less than the cell, although nobody else can make up for it,"] = short
    for said, where in wrong.items():
        reader.note("largest contributions", np.flatnonzero(where), said, "Mend them.")
