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


@dataclass(eq=False)
class WarmStart:
    """Cuts by cells of the table, and a pattern that satisfies some of the requirements.

    Parameters
    ----------
    pattern
        Which cells it hides, ``(n_cells,)``; None where none is known. Cells beyond are hidden.
    met
        The requirements that the pattern satisfies.
    by_cells
        Cuts with right side 1 that hold when requirements are added, each as cells, increasing, and coefficients.
    by_search
        All cuts of another run of the same search, by its name.
    """

    pattern: NDArray[np.bool_] | None = None
    met: frozenset[RequirementKey] = frozenset()
    by_cells: dict[bytes, tuple[NDArray[np.int64], NDArray[np.float64]]] = field(default_factory=dict)
    by_search: dict[str, PackedCuts] = field(default_factory=dict)
