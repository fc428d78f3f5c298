r"""The formulation of interval publication: variables, slacks and costs.

A range :math:`[a_i - z_i^- .. a_i + z_i^+]` is published about every cell (Salazar 2002, Figures 6 and 7; thesis 3.27):

.. math:: \min \sum_i w_i^+ z_i^+ + w_i^- z_i^-, \qquad z^+, z^- \ge 0,

so that upper slacks are :math:`z^+` and lower ones :math:`z^-`. Where all levels are sliding, and costs up and down are
equal, widths W are nearly enough: ranges are safe when every sensitive cell p has a move :math:`d^p` with

.. math:: M d^p = 0, \qquad d^p_p = s_p, \qquad |d^p_i| \le W_i \quad\text{for every cell } i,

and the ranges can be placed (`celosia.protection.intervals.publish.shift`): a move is the difference of the two tables
f and g of Figure 6, so the model demands no more than that one, with half the columns and half the tables. Every
attacker asks for a move of his own, no larger than the distance between his two bounds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.modes.modes import Modes, Offer
from celosia.protection.engine.modes.offer_changes import limit_widths, place_widths
from celosia.protection.engine.modes.offers import offer_ranges, offer_widths
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.parameters import INTERVALS
from celosia.solve.problem import float_bounds
from celosia.tolerance import ENDLESS, LEVEL_SPREAD


@dataclass(frozen=True, slots=True, eq=False)
class Prices:
    """What ranges of the columns of a problem cost.

    Parameters
    ----------
    down, up
        By unit of the table below and above the truth, ``(n,)`` each.
    """

    down: NDArray[np.float64]
    up: NDArray[np.float64]


def unit_of(problem: ProtectionProblem) -> float:
    """Return the unit of slacks: the median of the levels, in counts, unless others are far larger."""
    requirements = problem.requirements
    levels = np.maximum(requirements.sliding, np.maximum(requirements.up, requirements.down))
    return max(float(np.median(levels)), float(levels.max()) / LEVEL_SPREAD) if len(levels) else 1.0


def formulate_by_ends(problem: ProtectionProblem, prices: Prices, most: NDArray[np.float64]) -> Modes:
    """Return the modes in which both ends of every range are variables; `most` are widths in counts, ``(n,)``."""
    unit = unit_of(problem)
    return Modes.of(problem, [offer_range_ends(problem, prices, most, unit)], unit)


def offer_range_ends(
    problem: ProtectionProblem, prices: Prices, most: NDArray[np.float64], unit: float, furthest: float = np.inf
) -> Offer:
    """Return the offer to publish ranges of all columns: how far each reaches up, and then down.

    Parameters
    ----------
    problem, prices
        The requirements, and what ranges cost.
    most
        The greatest widths in counts, ``(n,)``.
    unit
        Counts in one unit of slacks.
    furthest
        No end lies further from the truth, in counts.
    """
    price = unit / 10**problem.decimals
    up, down = (_to_units(bound.max(axis=0), unit) for bound in (problem.up, problem.down))
    limit = np.minimum(most, furthest) / unit
    offer = offer_ranges(
        np.arange(len(problem)),
        (prices.up * price, prices.down * price),
        (np.minimum(up, limit), np.minimum(down, limit)),
    )
    return limit_widths(offer, most / unit)


def problem_of_widths(problem: ProtectionProblem) -> ProtectionProblem:
    """Return the problem of the width model: it requires moves of a whole level within the sum of both bounds."""
    bound = np.where((problem.up >= ENDLESS) | (problem.down >= ENDLESS), ENDLESS, problem.up + problem.down)
    nothing = np.zeros_like(problem.requirements.sliding)
    levels = np.maximum(problem.requirements.sliding, problem.requirements.up + problem.requirements.down)
    requirements = replace(problem.requirements, up=levels, down=nothing, sliding=nothing)
    return replace(problem, up=bound, down=bound, requirements=requirements)


def offer_range_widths(
    widths: ProtectionProblem, prices: Prices, most: NDArray[np.float64], unit: float, furthest: float = np.inf
) -> Offer:
    """Return the offer of the width model, of a problem of widths; parameters as for `offer_range_ends`."""
    widest = np.minimum(_to_units(widths.up.max(axis=0), unit), np.minimum(most, furthest) / unit)
    return offer_widths(np.arange(len(widths)), prices.up * (unit / 10**widths.decimals), widest)


def formulate_by_placed_widths(
    problem: ProtectionProblem,
    prices: Prices,
    most: NDArray[np.float64],
    *,
    shifted: bool,
    margin: float = INTERVALS.placing_margin,
) -> tuple[ProtectionProblem, Modes]:
    """Return the width model whose ranges can be placed; variables are widths, and then shifts of their centres.

    With several attackers ranges are placed within the bounds of all of them.

    Parameters
    ----------
    problem, prices, most
        As for `formulate_by_ends`.
    shifted
        Centres may be shifted; otherwise ranges lie around the truth.
    margin
        By how much the attacker's bounds are narrowed, as a share and in units; see `IntervalParameters`.
    """
    down, up = (float_bounds(bound.min(axis=0)) for bound in (problem.down, problem.up))
    widths = problem_of_widths(problem)
    unit = unit_of(widths)
    if not shifted:
        most = np.minimum(most, 2 * np.minimum(down, up))
        return widths, Modes.of(widths, [offer_range_widths(widths, prices, most, unit)], unit)
    offer = offer_range_widths(widths, prices, most, unit)
    bounds = (np.maximum(bound / unit * (1 - margin) - margin, 0.0) for bound in (down, up))
    relations = sp.csr_array(problem.matrix[~problem.implied], dtype=np.float64)
    return widths, Modes.of(widths, [place_widths(offer, relations, *bounds)], unit)


def _to_units(bound: NDArray[np.int64], unit: float) -> NDArray[np.float64]:
    return np.where(bound >= ENDLESS, np.inf, bound / unit)
