"""Warm start, as data: what earlier searches of a problem, or of one with fewer requirements, have found.

How a search keeps and takes over cuts is `celosia.protection.engine.warm_start`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.protection.state.file import PackedCuts

RequirementKey = tuple[int, str, int]
"""What tells a requirement from others: the cell, the attacker's name, and how many of both come before it."""


RangeCut = tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.float64], float]
"""A cut over the ends of ranges: cells, which of the ends lie above the truth, coefficients, and the right side."""


LevelKey = tuple[int, bool, float, bytes]
"""What tells a level from others: the cell, whether it lies above, how far, and what the attacker knows of cells."""


@dataclass(frozen=True, slots=True, eq=False)
class RangeMoves:
    """One move for every level: differences of tables that the attacker of the level cannot tell from the truth.

    Parameters
    ----------
    cells
        The cells that may be ranges, increasing, ``(n,)``.
    keys
        The levels, ``s`` of them.
    moves
        How far each moves every cell, in units of the table, ``(s, n)``.
    """

    cells: NDArray[np.int64]
    keys: tuple[LevelKey, ...]
    moves: NDArray[np.float64]


@dataclass(eq=False)
class WarmStart:
    """Cuts by cells of the table, and a pattern that satisfies some of the requirements.

    Parameters
    ----------
    pattern
        Which cells it hides, ``(n_cells,)``; None where none is known.
    met
        The requirements that the pattern satisfies.
    by_cells
        Cuts with right side 1 that hold when requirements are added, each as cells, increasing, and coefficients.
    by_search
        All cuts of another run of the same search, by its name.
    grows
        Searches with further requirements follow.
    moves
        Those of the ranges that an earlier search has found; None where there was none.
    end_cuts
        What the ends of all safe ranges satisfy, also when requirements are added, in units of the table.
    """

    pattern: NDArray[np.bool_] | None = None
    met: frozenset[RequirementKey] = frozenset()
    by_cells: dict[bytes, tuple[NDArray[np.int64], NDArray[np.float64]]] = field(default_factory=dict)
    by_search: dict[str, PackedCuts] = field(default_factory=dict)
    grows: bool = False
    moves: RangeMoves | None = None
    end_cuts: tuple[RangeCut, ...] = ()
