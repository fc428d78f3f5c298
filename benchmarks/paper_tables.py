"""Tables of the sizes on which the papers tried their methods; values and places of sensitive cells are ours.

Baena, Castro and González print cells, relations and entries of six hierarchical tables. One hierarchy of so many nodes
and parents, by so many columns, has exactly these numbers; leaves are drawn uniformly from 1 to 1000, and sensitive
ones among them by lot. Karlsson and Olsson's linked tables are three tables by two of three dimensions each; ours are
tabulated from the same firms.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

import celosia as cz
from benchmarks.instances import FAMILIES, drawn
from celosia.risk.risk import SAFE, SENSITIVE, Levels, Risk
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table

SYMMETRIC, ASYMMETRIC = (20, 20), (5, 20)
"""Lower and upper levels in percent of the value (Baena, Castro and González, section 3)."""

_LARGEST = 1000
_FACTOR = 11  # the thesis' attacker knows values within zero and so many times the truth


@dataclass(frozen=True, slots=True)
class Dimensions:
    """One hierarchy by columns.

    Parameters
    ----------
    rows, parents
        Nodes of the hierarchy, the root among them, and how many of them have children.
    columns
        With the total.
    sensitive
        How many leaf cells are sensitive.
    """

    rows: int
    parents: int
    columns: int
    sensitive: int


HIERARCHICAL = {
    "1": Dimensions(76, 5, 19, 135),
    "2": Dimensions(159, 9, 16, 237),
    "3": Dimensions(124, 7, 17, 196),
    "4": Dimensions(76, 4, 19, 216),
    "5": Dimensions(93, 5, 16, 220),
    "6": Dimensions(83, 5, 17, 209),
    "100 x 100": Dimensions(101, 1, 101, 500),
    "500 x 500": Dimensions(501, 1, 501, 10_000),
    "toy": Dimensions(12, 3, 6, 6),
}
"""Baena, Castro and González, Table 1; two of Salazar's sizes; and one to see that everything runs."""

Branching = tuple[tuple[int, ...], ...]
THESIS: dict[str, tuple[Branching, int]] = {
    "1LINKED": (((5, 4), (4, 4), (12,)), 3000),
    "1B": (FAMILIES["h1"], 0),
    "2C": (((5, 4), (15,)), 0),
    "3ALT": (((5, 6), (20,)), 0),
    "2LINKED": (((5, 5), (4, 4), (12,)), 2000),
    "1ALT": (FAMILIES["h3"], 0),
    "2ALT": (FAMILIES["hh2"], 0),
    "toy": (((2, 3), (6,)), 0),
    "toy linked": (((2, 2), (3,), (3,)), 60),
}
"""What stands in for the thesis' tables (Table 5.1): how dimensions branch, and the firms of linked ones."""


def draw_hierarchical(
    name: str, percent: tuple[int, int], *, seed: int = 0, cost: Literal["value", "unity"] = "value"
) -> Risk:
    """Return a table of some `Dimensions` with levels in percent, below and above; attackers know no upper bounds."""
    size = HIERARCHICAL[name]
    random = np.random.default_rng([seed, size.rows, size.columns])
    leaves = size.rows - size.parents
    inner = np.arange(1, size.parents)
    parent = np.zeros(leaves, dtype=np.int64)
    if len(inner):
        parent = np.sort(np.concatenate([np.repeat(inner, 2), random.choice(inner, leaves - 2 * len(inner))]))
    values = np.zeros((size.rows, size.columns), dtype=np.int64)
    values[size.parents :, 1:] = random.integers(1, _LARGEST + 1, size=(leaves, size.columns - 1))
    np.add.at(values, parent, values[size.parents :])
    if len(inner):
        values[0] = values[inner].sum(axis=0)
    values[:, 0] = values[:, 1:].sum(axis=1)
    above = np.concatenate([np.zeros(len(inner), dtype=np.int64), parent])
    counts = values.ravel()
    n = len(counts)
    places = (np.arange(size.parents, size.rows)[:, None] * size.columns + np.arange(1, size.columns)).ravel()
    sensitive = np.zeros(n, dtype=bool)
    sensitive[random.choice(places, size.sensitive, replace=False)] = True
    table = _bare_table(counts, _sum_up(above, size.parents, size.columns))
    lower, upper = (Fixed(np.where(sensitive, counts * share, 0), 2) for share in percent)
    return Risk(
        table=table,
        status=np.where(sensitive, SENSITIVE, SAFE),
        levels=Levels(lower, upper, Fixed(np.zeros(n, dtype=np.int64))),
        cost=np.ones(n) if cost == "unity" else counts.astype(np.float64),
        attackers=(cz.Attacker.external(table),),
    )


def _bare_table(counts: NDArray[np.int64], relations: Relations) -> Table:
    """Return a table without labels."""
    n = len(counts)
    return Table((), np.zeros((n, 0), np.int32), ("value",), np.zeros(n, np.int32), Fixed(counts), relations)


def _sum_up(above: NDArray[np.int64], parents: int, columns: int) -> Relations:
    """Return that parents are the sums of their children, column by column, and the first column that of the others."""
    rows = len(above) + 1
    child = np.arange(1, rows)
    tree = sp.coo_array(
        (
            np.concatenate([np.full(parents, -1), np.ones(len(child), dtype=np.int64)]),
            (np.concatenate([np.arange(parents), above]), np.concatenate([np.arange(parents), child])),
        ),
        shape=(parents, rows),
    )
    line = sp.coo_array(np.concatenate([[-1], np.ones(columns - 1, dtype=np.int64)])[None, :])
    stacked = sp.vstack(
        [
            sp.kron(tree, sp.eye_array(columns, dtype=np.int64)),
            sp.kron(sp.eye_array(rows, dtype=np.int64), line),
        ],
        format="csr",
    )
    stacked.sort_indices()
    return Relations(sp.csr_array(stacked), np.zeros(stacked.shape[0], dtype=np.int64))


def draw_thesis(name: str, *, unity: bool, sliding: bool) -> Risk:
    """Return a table of a size of the thesis: p% rule with p = 10, attackers who know 0 <= y <= 11 a."""
    branching, firms = THESIS[name]
    if not firms:
        return drawn(branching, unity=unity, sliding=sliding)
    table = _draw_linked(branching, firms)
    known = cz.Attacker.between(table, np.zeros(len(table)), _FACTOR * table.amounts.floats)
    return cz.assess(
        table,
        cz.PPercent(10),
        cost="unity" if unity else "value",
        levels="sliding" if sliding else "symmetric",
        attackers=[known],
    )


def _draw_linked(branching: Sequence[Sequence[int]], firms: int) -> Table:
    """Return three linked tables of the turnover of firms, each by two of three dimensions."""
    random = np.random.default_rng(firms)
    names = [f"d{number}" for number in range(len(branching))]
    frame = pd.DataFrame({"turnover": np.ceil(random.lognormal(3.0, 1.4, size=firms)).astype(np.int64)})
    hierarchies = {}
    for name, widths in zip(names, branching, strict=True):
        paths = _paths(name, widths)
        frame[name] = [paths[leaf][-1] for leaf in random.integers(len(paths), size=firms)]
        hierarchies[name] = cz.Hierarchy.from_paths(paths)
    pairs = [(first, second) for k, first in enumerate(names) for second in names[k + 1 :]]
    return cz.link(
        [
            cz.tabulate(frame, by=list(pair), value="turnover", hierarchies={name: hierarchies[name] for name in pair})
            for pair in pairs
        ]
    )


def _paths(name: str, widths: Sequence[int]) -> list[tuple[str, ...]]:
    """Return the codes from below the total down to every leaf."""
    paths: list[tuple[str, ...]] = [()]
    for width in widths:
        paths = [(*path, f"{path[-1] if path else name}.{k}") for path in paths for k in range(width)]
    return paths
