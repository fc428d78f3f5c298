r"""Ranges as modes of the engine: by both their ends, or by their widths alone.

Where all levels are sliding, costs up and down are equal and there is one attacker, widths are nearly enough: a set of
ranges of widths :math:`W` is safe when every sensitive cell p has a move :math:`d^p` with

.. math:: M d^p = 0, \qquad d^p_p = s_p, \qquad |d^p_i| \le W_i \quad\text{for every cell } i,

and the ranges can be placed (`celosia.protection.intervals.publish.shift`): a move is the difference of the two tables
f and g of Salazar (2002), Figure 6, so the model asks no more than that one, with half the columns and half the tables.
In general both ends are variables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.decomposition import decompose
from celosia.protection.engine.modes import offers
from celosia.protection.engine.modes.modes import Modes, Offer
from celosia.protection.engine.problem import ProtectionProblem
from celosia.tolerance import ENDLESS

_WIDEST = 1000.0
"""Where ranges have a price each and attackers' bounds do not end, no range is wider than so many largest levels."""

_ROOM = 1e-5
"""By so much smaller are the rooms in which ranges are placed: widths found in the end are a little wider."""


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What ranges of the columns of a task cost.

    Parameters
    ----------
    down, up
        By unit of the table below and above the truth, ``(n,)`` each.
    fixed
        Whatever the width, ``(n,)``; None for nothing.
    at_most
        So many columns are ranges at most; None for any number. Needs `fixed`.
    hide
        What hiding costs, ``(n,)``, infinite where that is not allowed; None where it is allowed nowhere.
    forced
        Which columns are hidden in any case, ``(n,)``; None for none.
    """

    down: NDArray[np.float64]
    up: NDArray[np.float64]
    fixed: NDArray[np.float64] | None = None
    at_most: int | None = None
    hide: NDArray[np.float64] | None = None
    forced: NDArray[np.bool_] | None = None


def unit_of(task: ProtectionProblem) -> float:
    """Return the unit of slacks: the median of the levels, in counts."""
    goals = task.goals
    levels = np.maximum(goals.sliding, np.maximum(goals.up, goals.down))
    return float(np.median(levels)) if len(levels) else 1.0


def by_ends(task: ProtectionProblem, prices: Prices, most: NDArray[np.float64]) -> Modes:
    """Return the modes in which both ends of every range are variables; `most` are widths in counts, ``(n,)``."""
    unit = unit_of(task)
    hidden = [] if prices.hide is None else [hidden_offer(prices)]
    return Modes.of(task, [_priced(task, ranged_offer(task, prices, most, unit), prices), *hidden], unit)


def ranged_offer(
    task: ProtectionProblem, prices: Prices, most: NDArray[np.float64], unit: float, completing: float = 0.0
) -> Offer:
    """Return the offer to publish ranges of all columns, no wider than the greatest widths, in counts, ``(n,)``.

    Ranges with a price each may reach at least as far as `completing`, in counts: as far as other numbers may move.
    """
    price = unit / 10**task.decimals
    up, down = (_in_units(room.max(axis=0), unit) for room in (task.up, task.down))
    limit = np.minimum(most, max(_limit(task, prices), completing)) / unit
    offer = offers.ranged(
        np.arange(len(task)),
        (prices.up * price, prices.down * price),
        (np.minimum(up, limit), np.minimum(down, limit)),
    )
    return offers.narrowed(offer, most / unit)


def hidden_offer(prices: Prices) -> Offer:
    """Return the offer to hide columns, where that is allowed."""
    hide = np.zeros(0) if prices.hide is None else prices.hide
    columns = np.flatnonzero(np.isfinite(hide))
    forced = np.zeros(len(columns), dtype=bool) if prices.forced is None else prices.forced[columns]
    return offers.hidden(columns, hide[columns], forced)


def by_widths(task: ProtectionProblem, prices: Prices, most: NDArray[np.float64]) -> tuple[ProtectionProblem, Modes]:
    """Return the width model: a task whose goals are moves of a whole level, and modes whose variables are widths."""
    room = np.where((task.up >= ENDLESS) | (task.down >= ENDLESS), ENDLESS, task.up + task.down)
    nothing = np.zeros_like(task.goals.sliding)
    levels = np.maximum(task.goals.sliding, task.goals.up + task.goals.down)
    goals = replace(task.goals, up=levels, down=nothing, sliding=nothing)
    moved = replace(task, up=room, down=room, goals=goals)
    unit = unit_of(moved)
    limit = np.minimum(most, _limit(task, prices)) / unit
    widest = np.minimum(_in_units(room[0], unit), limit)
    offer = offers.widened(np.arange(len(task)), prices.up * (unit / 10**task.decimals), widest)
    return moved, Modes.of(moved, [_priced(moved, offer, prices)], unit)


def by_placed_widths(
    task: ProtectionProblem, prices: Prices, most: NDArray[np.float64], *, shifted: bool
) -> tuple[ProtectionProblem, Modes]:
    """Return the width model whose ranges can be placed; variables are widths, and then shifts of their centres.

    Parameters
    ----------
    task, prices, most
        As for `by_widths`, without a price each.
    shifted
        Centres may be shifted; otherwise ranges lie around the truth.
    """
    down, up = (np.where(room[0] >= ENDLESS, np.inf, room[0].astype(np.float64)) for room in (task.down, task.up))
    if not shifted:
        return by_widths(task, prices, np.minimum(most, 2 * np.minimum(down, up)))
    moved, modes = by_widths(task, prices, most)
    offer = offers.widened(np.arange(len(task)), modes.program.cost, modes.program.upper)
    rooms = (np.maximum(room / modes.unit * (1 - _ROOM) - _ROOM, 0.0) for room in (down, up))
    return moved, Modes.of(
        moved, [offers.placed(offer, sp.csr_array(task.matrix[~task.implied], dtype=np.float64), *rooms)], modes.unit
    )


def _priced(task: ProtectionProblem, offer: Offer, prices: Prices) -> Offer:
    """Return ranges with a price each, where they have one; sensitive cells are ranges anyway, and those without."""
    if prices.fixed is None:
        return offer
    anyway = (prices.fixed == 0) & (prices.at_most is None)
    anyway[task.goals.columns] = True
    return offers.opened(offer, prices.fixed, anyway, prices.at_most)


def _limit(task: ProtectionProblem, prices: Prices) -> float:
    """Return how wide ranges with a price each may be, in counts: no wider than a level where cells form networks."""
    goals = task.goals
    if prices.fixed is None or not len(goals):
        return np.inf
    largest = float(np.maximum(goals.sliding, np.maximum(goals.up, goals.down)).max())
    parts = decompose(task.system(np.arange(len(task))))
    return largest if bool(parts.network.all()) else largest * _WIDEST


def _in_units(room: NDArray[np.int64], unit: float) -> NDArray[np.float64]:
    return np.where(room >= ENDLESS, np.inf, room / unit)
