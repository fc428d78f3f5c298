"""Warm start of searches for ranges: cuts of earlier ones, of problems with fewer levels, attackers and cells.

A capacity cut over the ends of ranges follows from one level and from the relations, which stay when others are added.
Cuts are kept by the cells of the table, and count in its units.
"""

from __future__ import annotations

import numpy as np

from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.state.warm_start import WarmStart


def keep_end_cuts(start: WarmStart, problem: ProtectionProblem, modes: Modes, cuts: list[Cut]) -> None:
    """Keep cuts over the ends of ranges, which are all variables."""
    n, unit = len(problem), modes.unit / 10.0**problem.decimals
    start.end_cuts = tuple(
        (problem.cells[cut.columns % n], cut.columns < n, cut.values, cut.right * unit) for cut in cuts
    )


def known_end_cuts(start: WarmStart, problem: ProtectionProblem, modes: Modes) -> list[Cut]:
    """Return known cuts over the ends of ranges, by the variables of a problem; none that is about other cells."""
    n, unit, out = len(problem), modes.unit / 10.0**problem.decimals, []
    place = np.full(int(problem.cells.max(initial=-1)) + 1, -1, dtype=np.int64)
    place[problem.cells] = np.arange(n)
    for cells, upward, values, right in start.end_cuts:
        columns = place[cells] if len(cells) and int(cells.max()) < len(place) else np.full(1, -1)
        if bool((columns >= 0).all()):
            columns = np.where(upward, columns, columns + n)
            order = np.argsort(columns)
            out.append(Cut(columns[order], values[order], right / unit))
    return out
