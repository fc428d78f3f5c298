"""The curve between complete and partial suppression: the number of ranges against their total width."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from celosia.errors import MidpointWarning, SpecError
from celosia.progress import SILENT, Progress
from celosia.protect.combined import Combined
from celosia.protect.methods import protect
from celosia.protect.protection import Protection
from celosia.risk.risk import Risk
from celosia.table.frames import frame_of

_FEWEST = 2
_SPAN = 1e4
"""A unit of width costs from one over this to this times what makes both costs equal."""


@dataclass(frozen=True, slots=True)
class TradeOff:
    """Releases from few wide ranges to many narrow ones.

    Parameters
    ----------
    points
        The releases, the fewest ranges first.
    """

    points: tuple[TradeOffPoint, ...]

    def to_frame(self, library: str = "pandas") -> Any:  # noqa: ANN401
        """Return one line per release: what a unit of width cost, how many ranges, their width, and the gap."""
        names = ("price", "cells", "width", "cost", "bound", "gap")
        return frame_of({name: [getattr(point, name) for point in self.points] for name in names}, library)


@dataclass(frozen=True, slots=True)
class TradeOffPoint:
    """One release of a `TradeOff`.

    Parameters
    ----------
    price
        By what the costs of width were multiplied.
    cells, width
        How many ranges it has, and how wide they are in all.
    cost, bound
        What it costs at that price, and what any safe release costs.
    """

    price: float
    cells: int
    width: float
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """The share of the cost by which it exceeds the bound."""
        return (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0


def trade_off(
    risk: Risk,
    method: Combined | None = None,
    *,
    points: int = 7,
    time_limit: float | None = None,
    gap: float = 1e-4,
    solver: str | None = None,
    progress: Progress = SILENT,
) -> TradeOff:
    """Return releases between complete suppression, which hides few cells, and partial, which widens many a little.

    Parameters
    ----------
    risk
        What is to be protected.
    method
        The costs of cells and of width, whose balance is varied; by default both 1.
    points
        How many releases; the first and the last are the two ends.
    time_limit
        Seconds for each.
    gap, solver, progress
        As for `celosia.protect`.

    Raises
    ------
    SpecError
        Fewer than two points.
    """
    if points < _FEWEST:
        raise SpecError.one("points", f"must be 2 or more, not {points}.")
    base = replace(method or Combined("unity", cell_cost="unity"), shift=False)
    asked = base.applied(risk)
    costs = [np.asarray(cost) for cost in base.costs(asked)]
    levels = risk.levels
    level = max(float(side.floats[risk.sensitive].mean()) for side in (levels.lower, levels.upper, levels.sliding))
    middle = float(base.cell_costs(asked).mean()) / max(float(costs[0].mean()) * level, math.ulp(1.0))
    found = []
    for price in middle * np.geomspace(1 / _SPAN, _SPAN, points):
        scaled = replace(base, lower_cost=costs[0] * price, upper_cost=costs[1] * price)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MidpointWarning)
            result = protect(risk, scaled, time_limit=time_limit, gap=gap, solver=solver, progress=progress)
        found.append(_point(float(price), result))
    return TradeOff(tuple(found))


def _point(price: float, result: Protection) -> TradeOffPoint:
    lower, upper = result.pattern.bounds()
    wide = result.pattern.status == "interval"
    width = float((upper[wide].floats - lower[wide].floats).sum())
    return TradeOffPoint(price, int(wide.sum()), width, result.cost, result.bound)
