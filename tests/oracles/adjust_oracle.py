"""Every adjusted table of a tiny one, the slow way: all leaves, all values, in whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia import Attacker, Risk, Table
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations


@dataclass(frozen=True)
class Shape:
    """A table of so many categories in each dimension, with its margins; the totals have the code 0."""

    sizes: tuple[int, ...]

    @property
    def codes(self) -> list[tuple[int, ...]]:
        return list(product(*(range(size + 1) for size in self.sizes)))

    @property
    def leaves(self) -> list[int]:
        return [place for place, code in enumerate(self.codes) if all(code)]

    def sums(self) -> NDArray[np.int64]:
        """Return the cells as sums of leaves, (n_cells, n_leaves)."""
        codes = self.codes
        below = [
            [all(k in (0, j) for k, j in zip(code, codes[leaf], strict=True)) for leaf in self.leaves] for code in codes
        ]
        return np.array(below, dtype=np.int64)

    def relations(self) -> Relations:
        """Return every margin as the sum of what it sums, dimension by dimension."""
        codes = self.codes
        place = {code: k for k, code in enumerate(codes)}
        rows = []
        for axis, size in enumerate(self.sizes):
            for code in codes:
                if code[axis] == 0:
                    row = np.zeros(len(codes), dtype=np.int64)
                    row[place[code]] = -1
                    for j in range(1, size + 1):
                        row[place[(*code[:axis], j, *code[axis + 1 :])]] = 1
                    rows.append(row)
        matrix = sp.csr_array(np.array(rows))
        parts = matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
        return Relations(sp.csr_array(parts, shape=matrix.shape), np.zeros(len(rows), dtype=np.int64))

    def table(self, leaves: Sequence[int], decimals: int = 0, *, counts: bool = False) -> Table:
        values = self.sums() @ np.asarray(leaves, dtype=np.int64)
        n = len(values)
        return Table(
            (),
            np.zeros((n, 0), np.int32),
            ("value",),
            np.zeros(n, np.int32),
            Fixed(values, decimals),
            self.relations(),
            counts=frozenset({"value"}) if counts else frozenset(),
        )


def risk_of(
    table: Table,
    levels: dict[int, tuple[int, int]],
    attackers: Sequence[Attacker] = (),
    sliding: dict[int, int] | None = None,
) -> Risk:
    """Return a table whose sensitive cells have lower and upper levels, in counts of its last decimal."""
    lower, upper, width = (np.zeros(len(table), dtype=np.int64) for _ in range(3))
    status = np.full(len(table), SAFE)
    for cell, (down, up) in levels.items():
        lower[cell], upper[cell], status[cell] = down, up, SENSITIVE
    for cell, wide in (sliding or {}).items():
        width[cell], status[cell] = wide, SENSITIVE
    said = Levels(*(Fixed(part, table.decimals) for part in (lower, upper, width)))
    return Risk(table, status, said, np.ones(len(table)), tuple(attackers) or (Attacker.external(table),))


def tables(shape: Shape, leaves: Sequence[int], reach: int, unit: int = 1) -> NDArray[np.int64]:
    """Return all additive tables whose leaves are at most `reach` units from the truth, (n_tables, n_cells)."""
    steps = [np.arange(leaf // unit - reach, leaf // unit + reach + 1 + (unit > 1)) * unit for leaf in leaves]
    grid = np.stack([part.ravel() for part in np.meshgrid(*steps, indexing="ij")], axis=1)
    return np.asarray(grid @ shape.sums().T)
