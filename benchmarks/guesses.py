"""What readers read off widths and moves, with levels as they are and concealed, and what concealing costs.

Largest contributions are read to four digits: the width of a range divided by the part of the value that levels are, or
a number moved back by its level. Beside it stands in how many sensitive cells readers who know all classes come closer
than promised.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from dataclasses import astuple, dataclass, replace
from functools import reduce
from operator import add
from typing import Literal

import numpy as np
import polars as pl

import celosia as cz
from benchmarks.measure import timed
from benchmarks.real_tables import is_there, risk_of
from benchmarks.registry import Row, benchmark
from celosia.attack.guesses import DOWN, TOGETHER, UP, WIDTH
from celosia.pattern.entries import INTERVAL
from celosia.protection.method import Method
from celosia.risk.classes import classes_of
from celosia.risk.risk import Risk

_DIGITS = 1e-4
_SECONDS, _GAP = 300.0, 0.01
_REACH = 4
"""How far values may be moved, in widths of the largest levels."""

_SIZES = (1, 2, 2, 3, 5, 6, 8)
"""How many firms the cells of drawn tables have."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What readers come to.

    Parameters
    ----------
    sensitive, kept
        How many sensitive cells there are, and of how many levels cannot be concealed.
    read
        Of how many of them the largest contribution, or the value, is read to four digits.
    closer
        To how many of them readers come closer than promised, by widths, moves and classes of all cells. Middles and
        ends are left out: in a class of a few hundred units they are right by chance now and then.
    loss
        The widths of all ranges, or how far all values are moved.
    cpu
        Seconds.
    """

    sensitive: int
    kept: int
    read: int
    closer: int
    loss: float
    cpu: float

    def __add__(self, other: Reading) -> Reading:
        return Reading(*(one + other_one for one, other_one in zip(astuple(self), astuple(other), strict=True)))


@benchmark("guesses")
def guesses(*, smoke: bool) -> list[Row]:
    """Measure what is read off, and the price of concealing it."""
    if smoke:
        return [_compare("a drawn table", [_draw(0)], *_METHODS[1])]
    tables = {"ten drawn tables of 30 cells": [_draw(seed) for seed in range(10)]}
    tables["a drawn table of 861 cells"] = [_draw(1, 40, 20)]
    for name in filter(is_there, ("tau-ARGUS Size x Region", "tau-ARGUS 2-D", "demo")):
        tables[name] = [replace(risk_of(name, outsiders=True), respondents=())]
    return [_compare(name, risks, *how) for name, risks in tables.items() for how in _METHODS]


def _ranges(kind: type[cz.Intervals], levels: Literal["own", "sliding"]) -> Callable[[Risk, bool], Method]:
    return lambda _, conceal: kind(cost="unity", levels=levels, conceal=conceal, secret=1)


def _moves(risk: Risk, conceal: bool) -> Method:  # noqa: FBT001
    assert risk.shares is not None  # noqa: S101
    reach = _REACH * float((risk.shares.width * np.abs(risk.table.values)).max())
    return cz.Perturb(reach=float(np.ceil(reach)), conceal=conceal, secret=1)


_METHODS: tuple[tuple[str, Callable[[Risk, bool], Method]], ...] = (
    ("ranges, lower and upper levels", _ranges(cz.Intervals, "own")),
    ("ranges, sliding levels", _ranges(cz.Intervals, "sliding")),
    ("combined, sliding levels", _ranges(cz.Combined, "sliding")),
    ("mixed, sliding levels", _ranges(cz.Mixed, "sliding")),
    ("perturbed", _moves),
)


def _compare(name: str, risks: list[Risk], said: str, method: Callable[[Risk, bool], Method]) -> Row:
    """Return what is read before and after, and how many times as wide all ranges are."""
    try:
        plain, concealed = (reduce(add, (_read(risk, method(risk, way)) for risk in risks)) for way in (False, True))
    except cz.CelosiaError as error:
        return Row(f"{name}, {said}", "", f"refused: {error.problems[0].message}")
    kept = f", {concealed.kept} of them not concealed" if concealed.kept else ""
    return Row(
        f"{name}, {said}: {plain.sensitive:,} sensitive cells{kept}",
        "none concealed can be read, none is closer than promised",
        f"read to four digits {plain.read:,}, concealed {concealed.read:,}; closer than promised {plain.closer:,}, "
        f"concealed {concealed.closer:,}; {concealed.loss / plain.loss:.2f} times as wide; "
        f"{plain.cpu:.1f} and {concealed.cpu:.1f} s",
        not concealed.read and not concealed.closer,
    )


def _read(risk: Risk, method: Method) -> Reading:
    """Return what readers make of a release."""
    results: list[cz.Protection] = []

    def protect() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.append(cz.protect(risk, method, gap=_GAP, time_limit=_SECONDS))

    cpu = timed(protect).cpu
    release, found = cz.publish(results[0]), cz.guesses(results[0])
    asked, shares = results[0].risk, results[0].risk.shares
    assert shares is not None  # noqa: S101
    unconcealed = {cell for cell in np.flatnonzero(risk.sensitive).tolist() if classes_of(shares, cell) is None}
    truths = {cell: _truths(asked, cell) for cell in np.flatnonzero(asked.sensitive).tolist()}
    read = {
        guess.cell
        for guess in found
        if guess.kind in (WIDTH, UP, DOWN)
        and guess.cell not in unconcealed
        and any(abs(guess.guess - truth) <= _DIGITS * truth for truth in truths.get(guess.cell, ()))
    }
    own = {guess.cell for guess in found.broken if guess.kind in (WIDTH, UP, DOWN, TOGETHER)}
    closer = own - unconcealed
    ranges = release.status == INTERVAL
    loss = float((release.upper.floats - release.lower.floats)[ranges].sum())
    moved = release.has_value & ~ranges
    loss += float(np.abs(release.published.floats - risk.table.values)[moved].sum())
    return Reading(int(risk.sensitive.sum()), len(unconcealed), len(read), len(closer), loss, cpu)


def _truths(risk: Risk, cell: int) -> list[float]:
    """Return the value of a cell and its largest contribution."""
    statistics = risk.table.statistics
    own = [float(risk.table.values[cell])]
    if statistics is not None and statistics.respondents.largest.shape[1]:
        own.append(int(statistics.respondents.largest[cell, 0]) / 10.0**statistics.decimals)
    return [truth for truth in own if truth > 0]


def _draw(seed: int, rows: int = 5, columns: int = 4) -> Risk:
    """Return a table of firms, most cells with few of them."""
    draw = random.Random(seed)  # noqa: S311
    lines = [
        (f"r{row}", f"c{column}", draw.randint(10_000, 999_999))
        for row in range(rows)
        for column in range(columns)
        for _ in range(draw.choice(_SIZES))
    ]
    firms = pl.DataFrame(lines, schema=["row", "column", "value"], orient="row").with_row_index("firm")
    table = cz.tabulate(firms, by=["row", "column"], value="value", respondent="firm", contributions=False)
    return cz.assess(table, cz.PPercent(10), cost="unity", respondents=())
