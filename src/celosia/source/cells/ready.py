r"""Whether a file holds ready-made cells, and how their codes add up.

Ready-made cells have one row a combination of codes, and totals among them. Which code is a total, and which codes lie
below which, is read off the numbers: for every combination of the other codes the values below a code sum to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from celosia.source.duckdb import ROWS, RowSource, quote
from celosia.source.total_codes import names_a_total
from celosia.tolerance import SUM_ROUNDING

Tree: TypeAlias = "dict[str, Tree]"
"""Codes and what lies below them; a leaf has an empty tree."""

_MOST_CODES, _MOST_ENTRIES = 10_000, 5_000_000  # of a dimension, and of its matrix: beyond, levels are not searched


@dataclass(frozen=True, slots=True)
class ReadyDimension:
    """A dimension of ready-made cells.

    Parameters
    ----------
    name
        The column.
    codes
        Its codes, in the order of the file.
    total
        The code of the total; None where there is none.
    tree
        The codes below the total, as the values add up; None where they do not.
    """

    name: str
    codes: tuple[str, ...]
    total: str | None
    tree: Tree | None

    @property
    def flat(self) -> bool:
        """Nothing lies between the total and the codes."""
        return self.tree is not None and not any(self.tree.values())


def key_columns(source: RowSource, columns: Sequence[str]) -> list[str] | None:
    """Return the columns that tell all rows apart, without those that are not needed for it; None if they do not."""
    rows = source.fetch(f"SELECT count(*) FROM {ROWS}")[0][0]

    def tell(names: Sequence[str]) -> bool:
        said = ", ".join(_code(name) for name in names)
        return bool(source.fetch(f"SELECT count(*) FROM (SELECT DISTINCT {said} FROM {ROWS})")[0][0] == rows)

    kept = list(columns)
    if not kept or not tell(kept):
        return None
    for name in reversed(columns):  # a label beside its code comes after it
        rest = [other for other in kept if other != name]
        if rest and tell(rest):
            kept = rest
    return kept


def total_names(source: RowSource, column: str) -> list[str]:
    """Return the codes of a column that look like the name of a total."""
    return [code for code in codes_of(source, column) if names_a_total(code)]


def codes_of(source: RowSource, column: str) -> list[str]:
    """Return the codes of a column in the order in which they first occur."""
    rows = f"SELECT {_code(column)} AS celosia_code, row_number() OVER () AS celosia_row FROM {ROWS}"
    sql = f"SELECT celosia_code, min(celosia_row) FROM ({rows}) GROUP BY 1 ORDER BY 2"
    return [code for code, _ in source.fetch(sql) if code]


def _code(column: str) -> str:
    return f"trim(CAST({quote(column)} AS VARCHAR))"


def dimensions_of(source: RowSource, by: Sequence[str], value: str) -> tuple[ReadyDimension, ...]:
    """Return the dimensions of ready-made cells, as far as the values tell how the codes add up."""
    said = ", ".join(_code(name) for name in by)
    rows = source.fetch(f"SELECT {said}, TRY_CAST({quote(value)} AS DOUBLE) FROM {ROWS}")
    numbers = np.array([row[-1] or 0.0 for row in rows], dtype=np.float64)
    codes = [[row[k] or "" for row in rows] for k in range(len(by))]
    decimals = 0.5 * 10.0 ** -_decimals(source, value)
    return tuple(_dimension(name, codes, k, numbers, decimals) for k, name in enumerate(by))


def _decimals(source: RowSource, value: str) -> int:
    text = f"CAST({quote(value)} AS VARCHAR)"
    places = f"CASE WHEN contains({text}, '.') THEN length({text}) - strpos({text}, '.') ELSE 0 END"
    return min(int(source.fetch(f"SELECT max({places}) FROM {ROWS}")[0][0] or 0), 9)


def _dimension(
    name: str, codes: Sequence[Sequence[str]], axis: int, numbers: NDArray[np.float64], half_unit: float
) -> ReadyDimension:
    order = list(dict.fromkeys(codes[axis]))
    others = list(zip(*(said for k, said in enumerate(codes) if k != axis), strict=True)) or [()] * len(numbers)
    column = {key: place for place, key in enumerate(dict.fromkeys(others))}
    named = [code for code in order if names_a_total(code)]
    total = named[0] if len(named) == 1 else None
    if len(order) > _MOST_CODES or len(order) * len(column) > _MOST_ENTRIES:
        return ReadyDimension(name, tuple(order), total, None)
    place = {code: row for row, code in enumerate(order)}
    values = np.zeros((len(order), len(column)))
    values[[place[code] for code in codes[axis]], [column[key] for key in others]] = numbers
    if total is None and len(order) > 1:
        total = order[int(np.abs(values).sum(axis=1).argmax())]
    sums = _Sums({code: values[row] for code, row in place.items()}, half_unit)
    below = [code for code in order if code != total]
    tree = None if total is None else next(filter(None, _trees(below, total, sums)), None)
    if not named and (tree is None or len(tree) == 1 or not sums.of[total or ""].any()):
        return ReadyDimension(name, tuple(order), None, None)  # what adds up in this way may do so by chance
    return ReadyDimension(name, tuple(order), total, tree)


@dataclass(frozen=True, slots=True)
class _Sums:
    """The values of every code, over the combinations of the other dimensions, and whether some add up."""

    of: Mapping[str, NDArray[np.float64]]
    half_unit: float

    def equal(self, total: NDArray[np.float64], other: NDArray[np.float64], terms: int) -> bool:
        """Return whether a sum is its total, up to rounding: each of its figures is off by up to half a unit."""
        slack = (terms + 1) * self.half_unit + SUM_ROUNDING * float(np.abs(total).max(initial=0.0))
        return bool((np.abs(total - other) <= slack).all())

    def runs(self, codes: Sequence[str], totals: Sequence[str]) -> list[list[str]] | None:
        """Return the codes in runs of neighbours, of which each sums to the total of its place; None if they do not."""
        left, runs = list(codes), []
        for total in totals:
            run: list[str] = []
            reached = np.zeros_like(self.of[total])
            while left and (not run or not self.equal(self.of[total], reached, len(run))):
                run.append(left.pop(0))
                reached = reached + self.of[run[-1]]
            if not self.equal(self.of[total], reached, len(run)):
                return None
            runs.append(run)
        return None if left else runs


def _trees(codes: Sequence[str], total: str, sums: _Sums) -> Iterator[Tree | None]:
    """Yield hierarchies in which the codes add up, None for an attempt that fails."""
    yield _by_levels(codes, total, sums)
    yield _by_levels(sorted(codes, key=lambda code: (len(code), code)), total, sums)
    yield _by_prefix(codes, total, sums)


def _by_levels(codes: Sequence[str], total: str, sums: _Sums) -> Tree | None:
    """Return the hierarchy of codes that stand level after level, in the same order on each."""
    levels: list[list[str]] = []
    reached = np.zeros_like(sums.of[total])
    level: list[str] = []
    for code in codes:
        level.append(code)
        reached = reached + sums.of[code]
        if sums.equal(sums.of[total], reached, len(level)):
            levels.append(level)
            level, reached = [], np.zeros_like(reached)
    if level or not levels:
        return None
    below: dict[str, list[str]] = {total: levels[0]}
    for parents, children in pairwise(levels):
        runs = sums.runs(children, parents)
        if runs is None:
            return None
        below |= dict(zip(parents, runs, strict=True))
    return _nest_codes(total, below.get)


def _by_prefix(codes: Sequence[str], total: str, sums: _Sums) -> Tree | None:
    """Return the hierarchy in which a code lies below the longest other code that it begins with."""
    known = set(codes)
    below: dict[str, list[str]] = {}
    for code in codes:
        longer = (code[:size] for size in range(len(code) - 1, 0, -1))
        below.setdefault(next((one for one in longer if one in known), total), []).append(code)
    for parent, children in below.items():
        reached = np.sum([sums.of[code] for code in children], axis=0)
        if not sums.equal(sums.of[parent], reached, len(children)):
            return None
    return _nest_codes(total, below.get)


def _nest_codes(code: str, below: Callable[[str], list[str] | None]) -> Tree:
    return {child: _nest_codes(child, below) for child in below(code) or ()}
