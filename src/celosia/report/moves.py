"""How far published numbers are from the truth, for methods that change them; for the office only."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.pattern.entries import ADJUSTED, PERTURBED, ROUNDED, of_status
from celosia.pattern.release import Release
from celosia.risk.risk import Risk

STEPS = (0.0, 0.01, 0.05, 0.2)
"""Relative changes above each of these have a colour of their own."""


@dataclass(frozen=True, slots=True, eq=False)
class ValueChanges:
    """What a release does to the numbers that it publishes.

    Parameters
    ----------
    cells
        The cells whose entries are rounded, perturbed or adjusted, ``(k,)``.
    change
        Published minus true value, ``(k,)``.
    relative
        The same as a share of the true value, ``(k,)``; infinite where that is zero and the published one is not.
    sensitive
        Whether each is sensitive, ``(k,)``.
    level
        The protection level on the side to which each was moved, ``(k,)``; zero where it has none.
    """

    cells: NDArray[np.int64]
    change: NDArray[np.float64]
    relative: NDArray[np.float64]
    sensitive: NDArray[np.bool_]
    level: NDArray[np.float64]

    @classmethod
    def none(cls) -> ValueChanges:
        """Return that nothing was changed."""
        none = np.zeros(0)
        return cls(none.astype(np.int64), none, none, none.astype(bool), none)

    @classmethod
    def of(cls, release: Release, risk: Risk) -> ValueChanges:
        """Return what a release does to the numbers of a table."""
        cells = np.flatnonzero(of_status(release.status, (ROUNDED, PERTURBED, ADJUSTED)))
        truth, published = risk.table.amounts[cells], release.published[cells]
        decimals = max(truth.decimals, published.decimals)
        difference = published.to(decimals).counts.astype(object) - truth.to(decimals).counts.astype(object)
        change = np.array([float(one) / 10.0**decimals for one in difference.tolist()])
        size = np.abs(truth.floats)
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(change == 0, 0.0, change / size)
        levels = risk.largest_levels
        lower, upper = levels.lower[cells].floats, levels.upper[cells].floats
        return cls(cells, change, relative, risk.sensitive[cells], np.where(change < 0, lower, upper))

    def __len__(self) -> int:
        return len(self.cells)

    def some(self, places: NDArray[np.int64]) -> ValueChanges:
        """Return some of them."""
        return ValueChanges(
            self.cells[places], self.change[places], self.relative[places], self.sensitive[places], self.level[places]
        )

    @property
    def changed(self) -> int:
        """How many numbers differ from the truth."""
        return int(np.count_nonzero(self.change))

    def classes(self) -> dict[int, str]:
        """Return the colour of every such cell by its place: ``a`` for more, ``b`` for less, and how much."""
        steps = np.searchsorted(STEPS, np.abs(self.relative), side="left")
        return {
            cell: f"{'a' if way > 0 else 'b'}{step}" if step else "a0"
            for cell, way, step in zip(self.cells.tolist(), self.change.tolist(), steps.tolist(), strict=True)
        }
