"""Sub-tables: one for each combination of a parent with its children in every dimension, from the top.

A hierarchical table consists of them (de Wolf 2002): each is a plain table with margins and without a hierarchy, and
every relation lies in at least one. They overlap in their margins, so what is decided in one matters for others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.decomposition.crossing import group_by_crossing
from celosia.protection.engine.decomposition.dimensions import group_by_dimensions
from celosia.protection.engine.decomposition.sums import Sums
from celosia.table.relations import Relations
from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class SubTable:
    """Cells of a table, and the relations that they have among themselves in it.

    Parameters
    ----------
    level
        How many sums lie above its total, at most.
    cells, relations
        Places in the table, increasing.
    """

    level: int
    cells: NDArray[np.int64]
    relations: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.cells)


@dataclass(frozen=True, eq=False)
class Decomposition:
    """The sub-tables of a table, those at the top first; together they have all its relations.

    Parameters
    ----------
    sub_tables
        The sub-tables; none has only relations that another one has as well.
    n_cells
        The number of cells of the table.
    """

    sub_tables: tuple[SubTable, ...]
    n_cells: int

    def __len__(self) -> int:
        return len(self.sub_tables)

    @cached_property
    def holding(self) -> sp.csr_array:
        """Which sub-tables hold each cell, ``(n_cells, n_sub_tables)``."""
        sizes = [len(one) for one in self.sub_tables]
        cells = np.concatenate([np.zeros(0, dtype=np.int64), *(one.cells for one in self.sub_tables)])
        number = np.repeat(np.arange(len(sizes)), sizes)
        return sp.csr_array((np.ones(len(cells), dtype=bool), (cells, number)), shape=(self.n_cells, len(sizes)))

    def find_holders(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sub-tables that hold at least one of some cells, increasing."""
        return np.unique(self.holding[cells].indices).astype(np.int64)


def split_into_sub_tables(table: Table) -> Decomposition:
    """Return the sub-tables of a table: by its dimensions, and where it has none, or is linked, by its relations."""
    sums = Sums.of(table.relations)
    groups = group_by_dimensions(table, sums)
    if groups is None:
        groups = group_by_crossing(sums)
    levels = sums.find_levels(len(table))
    found = [_make_sub_table(table.relations, sums, levels, group) for group in _drop_contained(groups)]
    found.sort(key=lambda one: (one.level, *one.cells[:1].tolist()))
    return Decomposition(tuple(found), len(table))


def _make_sub_table(relations: Relations, sums: Sums, levels: NDArray[np.int64], group: NDArray[np.int64]) -> SubTable:
    cells = np.unique(relations.matrix[group].indices).astype(np.int64)
    totals = sums.total[group]
    top = totals[totals >= 0] if bool((totals >= 0).any()) else cells
    return SubTable(int(levels[top].min()), cells, group)


def _drop_contained(groups: Iterable[NDArray[np.int64]]) -> list[NDArray[np.int64]]:
    """Return the groups of relations that are no part of another one, each once."""
    kept: list[NDArray[np.int64]] = []
    holders: dict[int, list[frozenset[int]]] = {}
    for group in sorted(groups, key=len, reverse=True):
        own = frozenset(group.tolist())
        if any(own <= other for other in holders.get(int(group[0]), ())):
            continue
        kept.append(group)
        for relation in own:
            holders.setdefault(relation, []).append(own)
    return kept
