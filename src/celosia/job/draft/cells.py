"""A first job file for ready-made cells: which columns hold what, how codes add up, and what is left to decide."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from celosia.errors import CelosiaError, DataError, list_items
from celosia.job.draft.toml import inline, key, quote_text
from celosia.source.cells.cells import cells
from celosia.source.cells.columns import STATUSES
from celosia.source.cells.ready import ReadyDimension, Tree, codes_of, dimensions_of, key_columns, total_names
from celosia.source.duckdb import RowSource
from celosia.source.profile import NUMBER, TEXT, ColumnProfile
from celosia.table.hierarchy import Hierarchy

CODE = re.compile(
    r"(^|_)(code|class|nace|isic|sic|industry|activity|sector|region|nuts|area|size|year|quarter|month|period|sex|age)(_|$)",
    re.IGNORECASE,
)
"""The names of columns whose numbers are codes."""

COUNT = re.compile(
    r"(^|_)(n|n_?obs|obs|counts?|freq|frequency|nb|number|respondents|units?|firms)(_|\d|$)", re.IGNORECASE
)
"""The names of columns that count contributors."""

_LARGEST = re.compile(r"(^|_)(max|maximum|max\d+|top_?\d*|largest_?\d*)(_|$)", re.IGNORECASE)
_STATUS = re.compile(r"(^|_)(status|flag)(_|$)", re.IGNORECASE)
_VALUE = re.compile(
    r"(^|_)(tot|total|sum|turnover|value|amount|revenue|income|wages?|sales|investment|costs?)(_|$)", re.IGNORECASE
)
_MOST_CODES = 10_000  # a column of text with more different entries is no classification
_FEWEST_ROWS = 4  # fewer rows may add up by chance
_ON_A_LINE = 12  # codes of a list

DECIDE = "# DECIDE:"
"""How lines begin that must be settled before the job runs."""


@dataclass(frozen=True, slots=True)
class CellsGuess:
    """What the columns of ready-made cells seem to hold.

    Parameters
    ----------
    dimensions
        The classifications, and how their codes add up.
    value
        The column of values.
    others
        Further columns of numbers.
    count, largest, status
        Columns of numbers of contributors, of the largest contributions, of statuses.
    counts
        The values count something.
    compute
        Totals are missing and must be summed up.
    sound
        The cells can be read, and add up.
    """

    dimensions: tuple[ReadyDimension, ...]
    value: str
    others: tuple[str, ...]
    count: str | None
    largest: tuple[str, ...]
    status: str | None
    counts: bool
    compute: bool = False
    sound: bool = True

    @property
    def by(self) -> tuple[str, ...]:
        """The dimensions of the table."""
        return tuple(dimension.name for dimension in self.dimensions)

    def describe(self) -> dict[str, object]:
        """Return the guess in names of columns."""
        names = ("by", "value", "others", "count", "largest", "status", "counts", "compute", "sound")
        return {"cells": True} | {name: getattr(self, name) for name in names}


def guess_cells(source: RowSource, columns: Sequence[ColumnProfile]) -> CellsGuess | None:
    """Return what the columns of ready-made cells hold; None where the rows seem to be records.

    Rows are cells if each has another combination of codes, and totals stand among them, by their names or because
    the values add up; or if columns are called like the number of contributors and the largest contribution.

    Raises
    ------
    DataError
        The rows are cells, and no column holds their values.
    """
    full = [one for one in columns if one.filled == one.rows]
    statuses = [
        one.name for one in columns if one.kind == TEXT and _STATUS.search(one.name) and _holds_statuses(source, one)
    ]
    by = key_columns(source, [one.name for one in full if _may_be_code(one) and one.name not in statuses])
    if by is None:
        return None
    numbers = [one for one in full if one.kind == NUMBER and not CODE.search(one.name)]
    counting = [one.name for one in numbers if COUNT.search(one.name) and one.whole]
    largest = [one.name for one in numbers if _LARGEST.search(one.name)]
    values = [one.name for one in numbers if one.name not in {*counting, *largest}]
    values = sorted(values, key=lambda name: not _VALUE.search(name)) or counting
    named = [name for name in by if total_names(source, name)]
    if not values:
        if len(by) > 1 and named:
            totals = list_items(named)
            seen = f"rows are ready-made cells, with totals in {totals}, and no column of numbers has their values."
            raise DataError.one("columns", seen, "Add the values, and run celosia init again.")
        return None
    dimensions = dimensions_of(source, by, values[0])
    adds_up = all(one.tree is not None for one in dimensions) and columns[0].rows >= _FEWEST_ROWS
    if not (adds_up or (len(by) > 1 and named) or (counting and largest)):
        return None
    found = CellsGuess(
        dimensions,
        value=values[0],
        others=tuple(values[1:]),
        count=counting[0] if counting else None,
        largest=tuple(sorted(largest, key=_rank)),
        status=statuses[0] if statuses else None,
        counts=values[0] in counting,
    )
    return _try_totals(source, found)


def _may_be_code(one: ColumnProfile) -> bool:
    if one.kind == NUMBER:
        return one.whole and bool(CODE.search(one.name))
    return one.kind == TEXT and one.distinct <= _MOST_CODES


def _holds_statuses(source: RowSource, one: ColumnProfile) -> bool:
    """Return whether all entries of a column are statuses."""
    return one.distinct <= len(STATUSES) and all(code.lower() in STATUSES for code in codes_of(source, one.name))


def _rank(name: str) -> tuple[int, str]:
    digits = re.search(r"\d+", name)
    return (int(digits[0]) if digits else 0), name


def _try_totals(source: RowSource, found: CellsGuess) -> CellsGuess:
    """Return the guess with which the cells can be read: totals as they are, or summed up; or the news that neither."""
    given = {
        one.name: Hierarchy.from_dict(one.tree, total=one.total or "Total") for one in found.dimensions if one.tree
    }
    roles = {"count": found.count, "largest": found.largest, "status": found.status, "counts": found.counts}
    for compute in (False, True):
        try:
            totals = "compute" if compute else "require"
            cells(source, by=found.by, value=found.value, hierarchies=given, totals=totals, **roles)  # type: ignore[arg-type]
        except CelosiaError:
            continue
        return replace(found, compute=compute)
    return replace(found, sound=False)


def cells_lines(found: CellsGuess, data: str) -> Iterator[str]:
    """Yield the lines of a job of ready-made cells, up to its rules."""
    yield '# attackers = ["external"]      # an outsider; contributors are not known here, so that they cannot attack'
    yield '# or with options: attackers = [{ attacker = "percentage", percent = 50 }]'
    yield ""
    yield from _cells(found, data)
    yield from chain.from_iterable(map(_dimension, found.dimensions))
    yield "[[tables]]"
    yield f"by = [{', '.join(map(quote_text, found.by))}]"
    yield ""
    yield from _rules(found)


def _cells(found: CellsGuess, data: str) -> Iterator[str]:
    if not found.sound:
        yield f"{DECIDE} these cells cannot be read like this yet, or do not add up: celosia assess says why"
    yield "[cells]                         # ready-made cells: one row a cell, totals included"
    yield f"file = {quote_text(data)}"
    yield f"value = {quote_text(found.value)}"
    if found.others:
        yield f"# other numbers: {', '.join(map(inline, found.others))}"
    yield from _role("count", found.count, "how many contribute to a cell")
    if found.largest:
        yield f"largest = [{', '.join(map(quote_text, found.largest))}]   # the largest contributions, largest first"
    else:
        yield '# largest = ["COLUMN"]         # the largest contributions, largest first'
    yield from _role("status", found.status, "safe, sensitive, hide, show or nothing")
    if found.counts:
        yield "counts = true                   # the values count something: everybody knows that they are whole"
    if found.compute:
        yield 'totals = "compute"              # some are missing, and can be summed up'
        yield f"{DECIDE} who contributes to computed totals is not known, so that rules about contributors cannot judge"
        yield "# them. Add the rows of the totals to the file, or keep only rules that need no contributors."
    yield ""


def _role(role: str, column: str | None, meaning: str) -> Iterator[str]:
    written = f"{role} = {quote_text(column)}" if column is not None else f'# {role} = "COLUMN"'
    yield f"{written:<31} # {meaning}"


def _dimension(one: ReadyDimension) -> Iterator[str]:
    place = f"dimensions.{key(one.name)}"
    below = [code for code in one.codes if code != one.total]
    if one.tree is None and one.total is not None:
        yield f"[{place}]"
        yield f"{DECIDE} no hierarchy was found in which these codes add up to {inline(one.total)}. Name its file:"
        yield '# hierarchy = { hrc = "FILE.hrc" }   # also: digits, levels, pairs, tree'
    elif one.tree is None or (one.flat and one.total == "Total"):
        yield f"[{place}]                # its codes lie flat under Total"
    elif one.flat:
        yield f"[{place}.hierarchy]         # as the values add up"
        yield f"total = {quote_text(one.total or 'Total')}"
        yield f"flat = {_write_codes(below)}"
    else:
        yield f"[{place}.hierarchy]         # as the values add up; also: hrc, digits, levels, pairs"
        yield f"total = {quote_text(one.total or 'Total')}"
        yield ""
        yield f"[{place}.hierarchy.tree]"
        yield from (f"{key(code)} = {_branch(deeper)}" for code, deeper in one.tree.items())
    yield ""


def _branch(tree: Tree) -> str:
    """Return what lies below a code, on one line as TOML wants it."""
    if not any(tree.values()):
        return f"[{', '.join(map(quote_text, tree))}]"
    return "{ " + ", ".join(f"{key(code)} = {_branch(deeper)}" for code, deeper in tree.items()) + " }"


def _write_codes(codes: Sequence[str]) -> str:
    lines = [codes[start : start + _ON_A_LINE] for start in range(0, len(codes), _ON_A_LINE)]
    if len(lines) <= 1:
        return f"[{', '.join(map(quote_text, codes))}]"
    return "[\n" + "".join(f"  {', '.join(map(quote_text, line))},\n" for line in lines) + "]"


def _rules(found: CellsGuess) -> Iterator[str]:
    """Yield the rules that the columns are enough for."""
    several = len(found.largest) > 1
    if several:
        yield "[[rules]]                       # nobody may come within 10 percent of another's contribution"
        yield from ('rule = "p-percent"', "p = 10", "")
    elif found.largest:
        yield "[[rules]]                       # nobody may have more than 85 percent of a cell (p-percent needs two"
        yield from (
            'rule = "dominance"              # of the largest contributions, here is one)',
            "n = 1",
            "k = 85",
            "",
        )
    if found.count is not None:
        yield "[[rules]]                       # at least three contributors in every cell"
        yield from ('rule = "min-frequency"', "n = 3", "")
    if found.status is not None:
        yield "[[rules]]                       # what the column of statuses says"
        yield from ('rule = "given-status"', "")
    if found.count is None and not found.largest and found.status is None:
        yield f"{DECIDE} what makes a cell sensitive? These columns are enough for no rule. Name a column of counts of"
        yield "# contributors, of largest contributions or of statuses above, and write the rule:"
        yield from ("# [[rules]]", '# rule = "given-status"', "")
