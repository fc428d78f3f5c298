r"""Close ranges and show hidden cells one by one, the cheapest first, as long as the whole costs no more than a limit.

What is left to a point without one more cell is a linear program, and its cost rises from one cell to the next. So the
last rise that is known of a cell is mostly too small, and a cell is tried in the order of these: where it is still the
cheapest, it is closed, and else it waits with its new rise (*lazy greedy*, Minoux 1978). Most trials are one program
that begins with the basis of the last, without any separation.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.modes.search import ModeSearch
from celosia.solve.clock import Clock
from celosia.tolerance import LEVEL_REACHED

Floats = NDArray[np.float64]


@dataclass(eq=False)
class Closing:
    """Closes variables of a search without whole numbers, group by group.

    Parameters
    ----------
    search
        The search at its end.
    groups
        Variables that are zero together; those that probably cost least first.
    limit
        What the rest may cost.
    nearly
        Rises that differ by less than this count as equal.
    clock
        When to stop.

    Attributes
    ----------
    cost
        What the cheapest point costs, as cuts know it.
    closed
        The groups that were closed.
    """

    search: ModeSearch
    groups: list[NDArray[np.int64]]
    limit: float
    nearly: float
    clock: Clock
    cost: float = field(init=False)
    closed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.cost = self.search.cost

    def run(self) -> None:
        """Close as many groups as the limit and the time allow."""
        waiting = [(0.0, group) for group in range(len(self.groups))]
        while waiting and self.clock.left > 0:
            rise, group = heapq.heappop(waiting)
            if self.cost + rise > self.limit:
                return
            following = waiting[0][0] if waiting else np.inf
            enough = min(self.cost + max(rise, following) + self.nearly, self.limit)
            found, settled = self._try(self.groups[group], enough)
            if settled:
                self._close(group, found)
            elif found <= self.limit:
                heapq.heappush(waiting, (found - self.cost, group))

    def _try(self, variables: NDArray[np.int64], enough: float) -> tuple[float, bool]:
        """Return what the rest costs at least without some variables, and whether it is safe and costs no more."""
        relaxation, modes = self.search.relaxation, self.search.modes
        master = relaxation.master
        master.fix(variables, 0.0)
        try:
            while True:
                point = master.solve()
                cost = np.inf if point is None else modes.cost(point.x)  # bounds may be weaker
                if point is None or cost > enough:
                    return cost, False
                if master.recall(point.x):
                    continue
                if not master.add(relaxation.separator.separate(point.x, missing=LEVEL_REACHED).cuts):
                    return cost, True
        finally:
            master.release()

    def _close(self, group: int, cost: float) -> None:
        """Close a group for good."""
        master = self.search.relaxation.master
        lower, upper = master.base.lower.copy(), master.base.upper.copy()
        lower[self.groups[group]] = upper[self.groups[group]] = 0.0
        master.tighten(lower, upper)
        self.cost = max(self.cost, cost)
        self.closed.append(group)
