"""Which of many attackers' requirements are separated at first, and which of those that wait are called.

A table with a hundred attackers has a hundred requirements for every side of a sensitive cell. Most of them are met by
any pattern that meets a few. They are as lazy as cuts: a search separates by the hardest ones, and looks at all others
where its point misses none of these any more, and before it accepts a pattern. Nothing is lost by that: every
requirement is one that a safe pattern meets, so cuts and bounds of some are valid for all, and what is accepted meets
all.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.subproblems.requirements import choose_worst, list_alternatives

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.parameters import EngineParameters
    from celosia.protection.engine.relaxation import Relaxation
    from celosia.protection.engine.subproblems.requirements import SideRequirements


class WaitingRequirements:
    """The requirements of a relaxation that are separated only once a point misses them.

    Parameters
    ----------
    relaxation
        Separates by the others.
    parameters
        How many are separated at first, and how many are called.

    Attributes
    ----------
    sides
        Those that wait; none before `separate_lazily`.
    """

    def __init__(self, relaxation: Relaxation[Separator], parameters: EngineParameters) -> None:
        self._relaxation, self._parameters = relaxation, parameters
        self.sides = relaxation.separator.sides.take(np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.sides)

    def separate_lazily(self) -> None:
        """Separate by the hardest attackers of every sensitive cell; the others wait until a point misses them."""
        separator = self._relaxation.separator
        hardest = find_hardest(separator, self._parameters.first_attackers)
        self.sides = separator.sides.take(~hardest)
        self._relaxation.separator = replace(separator, sides=separator.sides.take(hardest), sparing=True)

    def call_missed(self, x: NDArray[np.float64]) -> Separator | None:
        """Let requirements that wait, and that a point misses, wait no longer; return the separator of these alone.

        Of every side of a cell those come first that are missed by most. None where the point misses nothing that
        waits.
        """
        if not len(self):
            return None
        separator = self._relaxation.separator
        missed = replace(separator, sides=self.sides).measure_shortfall(x)
        called = choose_worst(self.sides, missed, self._parameters.more_attackers)
        if not bool(called.any()):
            return None
        new = self.sides.take(called)
        self.sides = self.sides.take(~called)
        self._relaxation.separator = replace(separator, sides=separator.sides.join(new))
        return replace(separator, sides=new)


def has_alternatives(sides: SideRequirements) -> bool:
    """Return whether some cell has requirements against several attackers."""
    return len(list_alternatives(sides)) > 0


def find_hardest(separator: Separator, most: int) -> NDArray[np.bool_]:
    """Return the requirements of every side of a cell that seem to be the hardest, so many of them, ``(s,)``.

    Those are hard whose attackers leave little room around the cell: in the relations of the cell every other one
    counts by how far it can go, up to the level.
    """
    sides, builder = separator.sides, separator.builder
    by_column = builder.problem.matrix.tocsc()
    chosen = np.ones(len(sides), dtype=bool)
    for places in list_alternatives(sides):
        column, who, levels = int(sides.columns[places[0]]), sides.attackers[places], sides.levels[places]
        rows = by_column.indices[by_column.indptr[column] : by_column.indptr[column + 1]]
        terms = [builder.columns[builder.starts[row] : builder.starts[row + 1]] for row in rows.tolist()]
        near = np.concatenate([np.zeros(0, dtype=np.int64), *terms])
        near = near[near != column]
        room = sum(np.minimum(bound[np.ix_(who, near)] / levels[:, None], 1.0) for bound in (builder.up, builder.down))
        ease = np.asarray(room).sum(axis=1)
        chosen[places[np.argsort(ease, kind="stable")[most:]]] = False
    return chosen
