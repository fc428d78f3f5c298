"""Assessed tables built by hand: the report is tested without the rooms that make them."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pytest

from celosia import Attacker, Hierarchy, Risk, Table
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, SHOW, Levels
from celosia.table.dimension import Dimension
from celosia.table.fixed import Fixed
from celosia.table.lattice import Lattice
from celosia.table.relations import Relations, sums_of
from celosia.table.statistics import Contributors, Statistics

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

RULES = ("p% rule (p = 10)", "fewer than 3 contributors")

INDUSTRY = Hierarchy.from_dict({"C": ["C10", "C11"], "F": None})
REGION = Hierarchy.from_dict({"North": ["Alten", "Brink"], "South": ["Jorvik"]})
SIZE = Hierarchy.flat(["small", "large"])

NUMBER_OF_SOMEBODY = 987_654_321
"""A contribution and a figure of evidence that no report may show."""


def table_of(leaves: NDArray[np.int64], *, decimals: int = 0, **hierarchies: Hierarchy) -> Table:
    """Return the table of these leaf values, one axis of the array a dimension."""
    dimensions = [Dimension.of(name, [hierarchy]) for name, hierarchy in hierarchies.items()]
    places = np.argwhere(leaves > 0).astype(np.int32)
    lattice, steps = Lattice.above(places, dimensions)
    values = leaves[tuple(places.T)]
    for step in steps:
        values = step.sum(values)
    n = len(lattice)
    return Table(
        axes=tuple(dimension.axis for dimension in dimensions),
        codes=lattice.codes,
        variables=("turnover",),
        variable=np.zeros(n, dtype=np.int32),
        amounts=Fixed.of_counts(values, decimals),
        relations=sums_of(dimensions, lattice),
    )


def assessed(table: Table, why: Mapping[str, tuple[int, ...]], status: Mapping[str, str] | None = None) -> Risk:
    """Return a table in which the named cells are sensitive by these rules, and others have a status of their own."""
    place = {table.label(cell): cell for cell in range(len(table))}
    reasons = np.zeros((len(RULES), len(table)), dtype=bool)
    letters = np.full(len(table), SAFE)
    for label, rules in why.items():
        reasons[list(rules), place[label]] = True
        letters[place[label]] = SENSITIVE
    for label, letter in (status or {}).items():
        letters[place[label]] = letter
    level = Fixed(np.where(letters == SENSITIVE, 1_234_500_000, 0), 6)
    nothing = Fixed(np.zeros(len(table), dtype=np.int64))
    return Risk(
        table, letters, Levels(level, level, nothing), table.values, (Attacker.external(table),), RULES, reasons
    )


@pytest.fixture
def two_way() -> Risk:
    """Turnover by industry and region, with two rules, a wish of each kind, and things that no report may show."""
    leaves = np.array([[5_000, 3_000, 2_000], [1_000, 0, 4_000], [6_000, 7_000, 8_000]])
    table = table_of(leaves, industry=INDUSTRY, region=REGION)
    n = len(table)
    secret = np.full((n, 3), NUMBER_OF_SOMEBODY)
    respondents = Contributors.of_known(np.arange(n, 0, -1), table.amounts.counts, secret)
    table = replace(
        table,
        statistics=Statistics(respondents, None, np.arange(2 * n, 0, -2), np.ones(n)),
        notes=("Two records had no region.",),
    )
    why = {"C10 x Brink": (0,), "C11 x Alten": (0, 1), "C11 x North": (1,)}
    risk = assessed(table, why, {"F x Alten": HIDE, "F": SHOW})
    return replace(risk, evidence=MappingProxyType({"largest": secret[:, 0]}))


@pytest.fixture
def three_way() -> Risk:
    """Turnover by industry, size and region."""
    table = table_of(np.arange(1, 19).reshape(3, 2, 3) * 100, industry=INDUSTRY, size=SIZE, region=REGION)
    return assessed(table, {"C10 x large x Brink": (0,), "C10 x small x Alten": (1,)})


@pytest.fixture
def linked() -> Risk:
    """Turnover and export by industry and region, linked with the same by industry and size."""
    whole = table_of(np.arange(1, 19).reshape(3, 2, 3) * 100, industry=INDUSTRY, size=SIZE, region=REGION)
    keep = (whole.codes[:, 1] == 0) | (whole.codes[:, 2] == 0)
    codes, counts = whole.codes[keep], whole.amounts.counts[keep]
    n = len(codes)
    table = replace(
        whole,
        codes=np.vstack([codes, codes]),
        variables=("turnover", "export"),
        variable=np.repeat(np.arange(2, dtype=np.int32), n),
        amounts=Fixed(np.concatenate([counts * 100, counts * 25 // 2]), 2),
        relations=Relations.none(2 * n),
    )
    return assessed(table, {"turnover: C10 x Brink": (0,), "export: C10 x large": (1,)})


@pytest.fixture
def bare(two_way: Risk) -> Risk:
    """The same cells as a bare problem: no labels, no statistics, no rules."""
    n = len(two_way)
    table = replace(two_way.table, axes=(), codes=np.zeros((n, 0), dtype=np.int32), variables=("",), statistics=None)
    return replace(two_way, table=replace(table, notes=()), rules=(), reasons=np.zeros((0, 0), dtype=bool))
