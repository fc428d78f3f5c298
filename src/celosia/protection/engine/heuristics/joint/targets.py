"""Targets of a joint search: for every sensitive class how far it must move, and within which bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder
    from celosia.protection.engine.subproblems.requirements import SideRequirements


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """How far columns must move, ``(t,)`` each.

    Parameters
    ----------
    columns
        The column.
    signs
        1 where it must move up, -1 down, 0 where one move that fits in both directions is asked for: it and its
        opposite are witnesses of both sides.
    levels
        How far.
    boxes
        Within which bounds, as a place in `lower` and `upper`.
    lower, upper
        How far columns may move down and up, ``(boxes, n)``.
    attackers
        Whose bounds these are, ``(boxes,)``.
    """

    columns: NDArray[np.int64]
    signs: NDArray[np.int64]
    levels: NDArray[np.float64]
    boxes: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    attackers: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.columns)

    @classmethod
    def of(cls, sides: SideRequirements, builder: CutBuilder, apart: Sequence[int] | NDArray[np.int64] = ()) -> Targets:
        """Return the targets of requirements, none of them sliding: one for both sides wherever bounds allow.

        Parameters
        ----------
        sides, builder
            The requirements, and the attackers' bounds.
        apart
            Columns whose sides are targets of their own.
        """
        who = np.unique(sides.attackers)
        both = np.minimum(builder.up[who], builder.down[who])
        lower = np.concatenate([both, builder.down[who]])
        upper = np.concatenate([both, builder.up[who]])
        box = np.searchsorted(who, sides.attackers)
        pairs, place = np.unique(np.stack([sides.columns, box]), axis=1, return_inverse=True)
        level = np.zeros(pairs.shape[1])
        np.maximum.at(level, place.ravel(), sides.levels)
        fits = (level <= both[pairs[1], pairs[0]]) & ~np.isin(pairs[0], np.asarray(apart, dtype=np.int64))
        alone = ~fits[place.ravel()]
        return cls(
            np.concatenate([pairs[0][fits], sides.columns[alone]]),
            np.concatenate([np.zeros(int(fits.sum()), dtype=np.int64), np.where(sides.upward[alone], 1, -1)]),
            np.concatenate([level[fits], sides.levels[alone]]),
            np.concatenate([pairs[1][fits], box[alone] + len(who)]),
            lower,
            upper,
            np.concatenate([who, who]),
        )

    def with_margin(self, share: float) -> Targets:
        """Return the targets with levels raised, and bounds narrowed, by a share of them."""
        less = 1.0 - share
        return replace(self, levels=self.levels / less, lower=self.lower * less, upper=self.upper * less)
