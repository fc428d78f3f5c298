"""The curve between complete and partial suppression: the number of ranges against their total width."""

from __future__ import annotations

import math
import secrets
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.errors import MidpointWarning, SpecError
from celosia.progress import SILENT, Progress
from celosia.protection.combined.method import Combined
from celosia.protection.protect import protect
from celosia.protection.result import Protection
from celosia.risk.risk import Risk
from celosia.table.frames import frame_of
from celosia.tolerance import SAME_RANGE_COST

_FEWEST = 2
_SECRET_BITS = 64
_NEW = 0.05
"""A price that differs from another by a smaller part is the same."""

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


@takes(risk=Risk)
def trade_off(
    risk: Risk,
    method: Combined | None = None,
    *,
    points: int = 7,
    time_limit: float | None = None,
    gap: float = 1e-4,
    solver: str | None = None,
    progress: Progress = SILENT,
    known: Sequence[Protection] = (),
) -> TradeOff:
    """Return releases between complete suppression, which hides few cells, and partial, which widens many a little.

    At every price the cheapest of all releases counts that were found at any of them.

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
    known
        Releases of the same risk by the same method that are known already.

    Raises
    ------
    SpecError
        Fewer than two points.
    """
    if points < _FEWEST:
        raise SpecError.one("points", f"must be 2 or more, not {points}.")
    base = replace(method or Combined("unity", cell_cost="unity"), shift=False)
    if base.conceals_levels and base.secret is None:  # one draw for all of them: releases are compared
        base = replace(base, secret=secrets.randbits(_SECRET_BITS))
    applied = base.apply_to(risk)
    costs = [np.asarray(cost) for cost in base.costs(applied)]
    levels = risk.levels
    level = max(float(side.floats[risk.sensitive].mean()) for side in (levels.lower, levels.upper, levels.sliding))
    cell_costs = base.cell_costs(applied)
    middle = float(cell_costs.mean()) / max(float(costs[0].mean()) * level, math.ulp(1.0))
    found, bounds = [_price_release(one, cell_costs, 1.0) for one in known], dict[float, float]()
    while len(bounds) < points:
        price = (
            middle * _SPAN ** (2 * len(bounds) - 1) if len(bounds) < _FEWEST else _choose_price(found, sorted(bounds))
        )
        scaled = replace(base, lower_cost=costs[0] * price, upper_cost=costs[1] * price)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MidpointWarning)
            result = protect(risk, scaled, time_limit=time_limit, gap=gap, solver=solver, progress=progress)
        found.append(_price_release(result, cell_costs, price))
        bounds[price] = result.bound
    return TradeOff(tuple(_find_cheapest(found, price, bounds[price]) for price in sorted(bounds)))


@dataclass(frozen=True, slots=True)
class _Priced:
    """A release: how many ranges it has, how wide, what they cost each, and what their widths cost at price 1."""

    cells: int
    width: float
    fixed: float
    widths: float

    def cost(self, price: float) -> float:
        """Return what it costs at a price."""
        return self.fixed + price * self.widths


def _price_release(result: Protection, cell_costs: NDArray[np.float64], price: float) -> _Priced:
    lower, upper = result.pattern.bounds()
    wide = result.pattern.status == "interval"
    width, fixed = float((upper[wide].floats - lower[wide].floats).sum()), float(cell_costs[wide].sum())
    return _Priced(int(wide.sum()), width, fixed, (result.cost - fixed) / price)


def _choose_price(found: Sequence[_Priced], tried: Sequence[float]) -> float:
    """Return the next price: where two neighbouring releases cost the same, the largest step first.

    Where all such prices were asked about, the one in the middle of what was not asked about.
    """
    curve: list[_Priced] = []
    for one in sorted(found, key=lambda one: (one.fixed, one.widths)):
        if not curve or one.widths < curve[-1].widths * (1 - SAME_RANGE_COST):
            curve.append(one)
    steps = [
        (right.fixed - left.fixed, (right.fixed - left.fixed) / (left.widths - right.widths))
        for left, right in pairwise(curve)
    ]
    for _, price in sorted(steps, reverse=True):
        if tried[0] < price < tried[-1] and all(abs(math.log(price / other)) > _NEW for other in tried):
            return price
    left, right = max(pairwise(tried), key=lambda pair: pair[1] / pair[0])
    return math.sqrt(left * right)


def _find_cheapest(found: Sequence[_Priced], price: float, bound: float) -> TradeOffPoint:
    """Return the cheapest release at a price; of those that cost the same, but for rounding, that of fewest cells."""
    least = min(one.cost(price) for one in found)
    same = [one for one in found if one.cost(price) <= least * (1 + SAME_RANGE_COST)]
    best = min(same, key=lambda one: (one.cells, one.width))
    return TradeOffPoint(price, best.cells, best.width, best.cost(price), min(bound, least))
