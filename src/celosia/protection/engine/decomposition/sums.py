"""Relations as sums: a total and its parts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.table.relations import Relations

_MOST_LEVELS = 1000
"""Sums in a circle would have no end of them."""


@dataclass(frozen=True, eq=False)
class Sums:
    """The total and the parts of every relation that is a plain sum.

    Parameters
    ----------
    total
        The total of each relation, -1 where it is no plain sum, ``(n_relations,)``.
    starts, parts
        The parts of relation r are ``parts[starts[r] : starts[r + 1]]``; none where it is no plain sum.
    """

    total: NDArray[np.int64]
    starts: NDArray[np.int64]
    parts: NDArray[np.int64]

    @classmethod
    def of(cls, relations: Relations) -> Sums:
        """Return relations as sums: one coefficient is -1 and all others are 1, or the other way round."""
        matrix, n = relations.matrix, len(relations)
        size = np.diff(matrix.indptr)
        row = np.repeat(np.arange(n), size)
        minus, plus = (np.bincount(row[matrix.data == sign], minlength=n) for sign in (-1, 1))
        plain = (minus + plus == size) & ((minus == 1) | (plus == 1)) & (size > 1) & (relations.right == 0)
        is_total = matrix.data == np.where(minus == 1, -1, 1)[row]
        of_total, of_part = plain[row] & is_total, plain[row] & ~is_total
        total = np.full(n, -1, dtype=np.int64)
        total[row[of_total]] = matrix.indices[of_total]
        starts = np.concatenate([[0], np.cumsum(np.bincount(row[of_part], minlength=n))]).astype(np.int64)
        return cls(total, starts, matrix.indices[of_part].astype(np.int64))

    def __len__(self) -> int:
        return len(self.total)

    @cached_property
    def relation_of_part(self) -> NDArray[np.int64]:
        """The relation of every entry of `parts`."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def parts_of(self, relation: int) -> NDArray[np.int64]:
        """Return the parts of a relation."""
        return self.parts[self.starts[relation] : self.starts[relation + 1]]

    def find_levels(self, n_cells: int) -> NDArray[np.int64]:
        """Return how many sums lie above each cell, at most, ``(n_cells,)``."""
        levels = np.zeros(n_cells, dtype=np.int64)
        total = self.total[self.relation_of_part]
        for _ in range(_MOST_LEVELS):
            before = levels.copy()
            np.maximum.at(levels, self.parts, before[total] + 1)
            if np.array_equal(levels, before):
                break
        return levels
