"""What searches of a problem have found, for later ones that ask for more: cuts hold on, and so does a safe pattern.

A requirement more takes no cut away. Cuts are kept by cells of the table, because tasks may differ in their columns and
in what they force. Those that hold only for some patterns, or follow from others, are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.cuts.capacity import Cut
from celosia.protection.engine.problem import Task
from celosia.tolerance import COEFFICIENT_GRID, SUM_ROUNDING

Goal = tuple[int, str, int]
"""What tells a goal from others: the cell, who attacks, and how many goals of both came before: a width if hidden."""


@dataclass(eq=False)
class Memory:
    """Cuts by cells of the table, and a pattern that meets a part of what will be asked for.

    Parameters
    ----------
    pattern
        Which cells it hides, ``(n_cells,)``; None where none is known. Cells beyond are hidden.
    met
        The goals that the pattern meets: cells, and who attacks them.
    """

    pattern: NDArray[np.bool_] | None = None
    met: frozenset[Goal] = frozenset()
    _cuts: dict[bytes, Cut] = field(default_factory=dict)

    def keep(self, task: Task, cuts: Iterable[Cut]) -> None:
        """Remember the cuts of a task that will hold when more is required, and more cells are forced."""
        for cut in cuts:
            if cut.right == 1.0 and not cut.lean and not cut.rounded and bool((cut.values > 0).all()):
                known = Cut(task.cells[cut.columns], cut.values)
                self._cuts[known.key] = known

    def cuts(self, task: Task) -> Iterator[Cut]:
        """Yield the cuts about cells of a task, for its columns; what it forces makes them tighter."""
        place = np.full(int(task.cells.max(initial=-1)) + 1, -1, dtype=np.int64)
        place[task.cells] = np.arange(len(task))
        for known in self._cuts.values():
            if known.columns[-1] >= len(place):
                continue
            columns = place[known.columns]
            if bool((columns < 0).any()):
                continue
            forced = task.forced[columns]
            right = 1.0 - float(known.values[forced].sum()) - SUM_ROUNDING
            if not forced.any():
                yield Cut(columns, known.values)
            elif right > 0:
                tighter = np.minimum(
                    np.ceil(known.values[~forced] / right * (1 + SUM_ROUNDING) / COEFFICIENT_GRID) * COEFFICIENT_GRID,
                    1.0,
                )
                yield Cut(columns[~forced], tighter)

    def mask(self, task: Task) -> NDArray[np.bool_] | None:
        """Return which columns of a task the pattern hides, ``(n,)``."""
        if self.pattern is None:
            return None
        hidden = np.ones(len(task), dtype=bool)
        inside = task.cells < len(self.pattern)
        hidden[inside] = self.pattern[task.cells[inside]]
        return hidden | task.forced
