"""A first job file for a data file: guesses from the columns, commented, and ready to run."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from celosia.errors import DataError, list_items
from celosia.job.draft.cells import CODE, COUNT, CellsGuess, cells_lines, guess_cells
from celosia.job.draft.toml import inline, key, quote_text
from celosia.source.duckdb import open_rows
from celosia.source.profile import FLAG, NUMBER, TEXT, ColumnProfile, profile

_RESPONDENT = re.compile(
    r"(^|_)(id|ident|identifier|firm|company|enterprise|respondent|unit|person)(_|$)", re.IGNORECASE
)
_HOLDING = re.compile(r"(^|_)(group|holding|owner|parent|concern)(_|$)", re.IGNORECASE)
_WEIGHT = re.compile(r"(^|_)(weight|wgt|grossing)(_|$)", re.IGNORECASE)
_AMOUNT = re.compile(r"(^|_)(turnover|value|amount|revenue|income|wages?|sales|investment|costs?)(_|$)", re.IGNORECASE)
_MOST_CODES = 1_000  # a column with more different entries is no classification
_FEW_CODES = 30  # whole numbers with no more different values than this may be codes
_DIMENSIONS = 2  # of the first table


@dataclass(frozen=True, slots=True)
class Guess:
    """Which columns seem to hold what.

    Parameters
    ----------
    dimensions
        Classifications; the first ones go into the table.
    values
        Numbers to be added up, the likeliest first; none makes a table of counts.
    respondent, holding, weight, request, waiver
        Columns, None where none looks like it.
    missing
        A dimension has empty entries.
    """

    dimensions: tuple[str, ...]
    values: tuple[str, ...]
    respondent: str | None
    holding: str | None
    weight: str | None
    request: str | None
    waiver: str | None
    missing: bool

    @property
    def by(self) -> tuple[str, ...]:
        """The dimensions of the table."""
        return self.dimensions[:_DIMENSIONS]

    def describe(self) -> dict[str, object]:
        """Return the guess in names of columns."""
        return {"cells": False} | asdict(self) | {"by": self.by}


def guess(columns: Sequence[ColumnProfile]) -> Guess:
    """Return which columns seem to hold what.

    Raises
    ------
    DataError
        No column looks like a classification.
    """
    left = list(columns)

    def take(found: ColumnProfile | None) -> str | None:
        if found is not None:
            left.remove(found)
        return None if found is None else found.name

    respondent = take(_first(left, _is_respondent) or _first(left, _is_key))
    holding = take(_first(left, _is_holding))
    weight = take(_first(left, lambda one: one.kind == NUMBER and bool(_WEIGHT.search(one.name))))
    flags = [one for one in left if one.kind == FLAG and one.filled == one.rows]
    request = next((one.name for one in flags if "request" in one.name.lower()), None)
    waiver = next((one.name for one in flags if "waive" in one.name.lower()), None)
    dimensions = [one for one in left if _is_dimension(one) and one.name not in (request, waiver)]
    if not dimensions:
        names = list_items([one.name for one in columns])
        remedy = f"Columns: {names}. Write the job file by hand: see the reference."
        raise DataError.one("columns", "none looks like a classification, with a few codes that repeat.", remedy)
    numbers = [one for one in left if one.kind == NUMBER and one not in dimensions and one.filled == one.rows]
    values = sorted(numbers, key=lambda one: (not _AMOUNT.search(one.name), -one.distinct))
    used = dimensions[:_DIMENSIONS]
    return Guess(
        tuple(one.name for one in dimensions),
        tuple(one.name for one in values),
        respondent,
        holding,
        weight,
        request,
        waiver,
        missing=any(one.filled < one.rows for one in used),
    )


def _first(columns: Sequence[ColumnProfile], fits: Callable[[ColumnProfile], bool]) -> ColumnProfile | None:
    return next(filter(fits, columns), None)


def _is_respondent(one: ColumnProfile) -> bool:
    named = bool(_RESPONDENT.search(one.name)) and (one.kind == TEXT or (one.kind == NUMBER and one.whole))
    return named and one.filled == one.rows and 2 * one.distinct > one.rows


def _is_key(one: ColumnProfile) -> bool:
    """Return whether every record has another text: about as many different ones as rows."""
    return one.kind == TEXT and one.filled == one.rows and one.rows > 1 and 10 * one.distinct > 9 * one.rows


def _is_holding(one: ColumnProfile) -> bool:
    many = one.distinct > _MOST_CODES or 10 * one.distinct > one.rows or one.filled < one.rows
    return bool(_HOLDING.search(one.name)) and one.kind in (TEXT, NUMBER) and many


def _is_dimension(one: ColumnProfile) -> bool:
    repeats = 1 < one.distinct <= _MOST_CODES and 2 * one.distinct <= one.rows + _FEW_CODES
    if one.kind == NUMBER:
        return repeats and one.whole and one.distinct <= _MOST_CODES and bool(CODE.search(one.name))
    return repeats and one.kind == TEXT


def draft(data: str | Path, job: str | Path, schema: str | None = None) -> tuple[str, Guess | CellsGuess]:
    """Return the text of a job file for a data file, and what was guessed: microdata, or ready-made cells.

    Of microdata it tells the names of columns only, of ready-made cells also the codes of the classifications.

    Parameters
    ----------
    data
        A Parquet or CSV file.
    job
        Where the job file will lie: paths are relative to it.
    schema
        The name of the schema's file, if there is one.
    """
    try:
        columns = profile(data)
        ready = (
            None
            if any(_is_respondent(one) and not COUNT.search(one.name) for one in columns)
            else guess_cells(open_rows(Path(data)), columns)
        )
        found = guess(columns) if ready is None else ready
    except DataError as error:
        raise error if str(data) in str(error) else error.under(str(data)) from None
    path = os.path.relpath(data, Path(job).parent).replace(os.sep, "/")
    return "\n".join(_lines(found, path, Path(job).stem, schema)) + "\n", found


def _lines(found: Guess | CellsGuess, data: str, stem: str, schema: str | None) -> Iterator[str]:
    if schema is not None:
        yield f"#:schema {schema}"
    yield f"# Written by `celosia init`: guesses from the columns of {inline(data)}. Look at every line."
    yield f"# celosia assess {inline(stem)}.toml finds the sensitive cells; paths are relative to this file."
    yield ""
    if isinstance(found, CellsGuess):
        yield from cells_lines(found, data)
    else:
        yield from _attackers(found)
        yield from _data(found, data)
        yield from _dimensions(found)
        yield from _tables(found)
        yield from _rules(found)
    yield from _TAIL.format(stem=stem.replace("\\", "\\\\").replace('"', '\\"')).splitlines()


def _attackers(found: Guess) -> Iterator[str]:
    """Say who attacks, where contributors and a rule about them are known; else how to say it."""
    if found.values and found.weight is None:
        yield 'attackers = ["external", "respondents"]   # outsiders, and contributors who know what they contribute'
    else:
        yield '# attackers = ["external"]      # an outsider; with a p% rule also "respondents"'
    yield '# or with options: attackers = [{ attacker = "percentage", percent = 50 }]'
    yield ""


def _data(found: Guess, data: str) -> Iterator[str]:
    yield "[data]                          # microdata: one record a respondent and cell, or finer"
    yield f"file = {quote_text(data)}"
    roles = {
        "respondent": (found.respondent, "who reports; without it every record is a respondent of its own"),
        "holding": (found.holding, "who owns the respondent: its respondents share what they know"),
        "weight": (found.weight, "sampling weight"),
        "request": (found.request, "the respondent asked for protection"),
        "waiver": (found.waiver, "the respondent does without it"),
    }
    for role, (column, meaning) in roles.items():
        written = f"{role} = {quote_text(column)}" if column is not None else f'# {role} = "COLUMN"'
        yield f"{written:<31} # {meaning}"
    if found.missing:
        yield 'missing = "category"            # records without a code: also "error", "drop"'
    yield ""


def _dimensions(found: Guess) -> Iterator[str]:
    for number, name in enumerate(found.dimensions):
        note = "" if name in found.by else "   # not in the table yet"
        yield f"[dimensions.{key(name)}]{note}"
        if not number:
            yield '# hierarchy = { hrc = "FILE.hrc" }   # also: digits, levels, pairs, tree, flat; else Total and codes'
        yield ""


def _tables(found: Guess) -> Iterator[str]:
    yield "[[tables]]                      # several tables are linked"
    yield f"by = [{', '.join(map(quote_text, found.by))}]"
    if found.values:
        yield f"value = {quote_text(found.values[0])}"
        if len(found.values) > 1:
            yield f"# other numbers: {', '.join(map(inline, found.values[1:]))}"
    else:
        yield '# value = "COLUMN"             # no column of numbers was found: the table counts records'
    yield ""


def _rules(found: Guess) -> Iterator[str]:
    if found.values:
        yield "[[rules]]                       # nobody may come within 10 percent of another's contribution"
        yield 'rule = "p-percent"'
        yield "p = 10"
        yield ""
    yield "[[rules]]                       # at least three contributors in every cell"
    yield 'rule = "min-frequency"'
    yield "n = 3"
    yield ""


_TAIL = """\
[assess]
cost = "value"                  # what hiding a cell loses; also: unity, frequency, log, 0.5*value + unity
levels = "symmetric"            # how far protection reaches; also: sliding
# exempt = {{ NAME = ["CODE"] }}  # cells that are always safe

[method]
name = "suppress"               # also: interval, combined, mixed, round, perturb, adjust, random-round;
                                # celosia compare {stem}.toml shows what each would do to this table
# must_show = [{{ NAME = "CODE" }}]   # published already; a dimension left out is its total, "*" every code
# must_hide = "cells.csv"       # or a file with a column per dimension
# keep = {{ release = "last.csv", factor = 0.5 }}   # what was hidden last period had better stay hidden
# zeros_known = true            # everybody knows which cells are zero
# at_most = 100                 # the most cells that may be hidden

# [methods.interval]            # what another method does, where it is asked for: --method interval
# levels = "sliding"            # ranges of the same width, wherever the truth lies in them
# secret_file = "{stem}.secret"   # drawn on first use: keep it for every period and revision, never publish it

[limits]
time_limit = 300                # seconds; the best safe pattern so far is taken
gap = 0.0                       # end when the cost is within this share of the bound

[output]
release = "{stem}-office.csv"      # tells sensitive cells from the others (confidential); also .parquet, .xlsx
public = "{stem}-public.csv"
certificate = "{stem}-proof.json"  # confidential
report = "{stem}-report.html"      # confidential
"""
