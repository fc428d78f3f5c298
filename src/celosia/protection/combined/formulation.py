r"""The formulation of combined suppression: ranges with a fixed cost each.

With :math:`x_i \in \{0, 1\}` for *cell i is a range* (Salazar 2002, section 4.3; thesis 3.28a to 3.28i),

.. math:: \min \sum_i w_i^+ z_i^+ + w_i^- z_i^- + w_i x_i, \qquad 0 \le z_i^\pm \le R_i x_i, \qquad
          \sum_i x_i \le q,

and slacks as in interval publication; q is `at_most`, and :math:`R_i` the attacker's bound or `widest_range`, if that
is smaller. Sensitive cells are ranges anyway.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.decomposition import decompose
from celosia.protection.engine.modes.modes import Modes, Offer
from celosia.protection.engine.modes.offer_changes import price_ranges
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.formulation import (
    Prices,
    offer_range_ends,
    offer_range_widths,
    problem_of_widths,
    unit_of,
)
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.parameters import INTERVALS
from celosia.risk.corner import Corner
from celosia.risk.risk import Risk


@dataclass(frozen=True, slots=True, eq=False)
class FixedPrices(Prices):
    """What ranges cost, each whatever its width, and by their widths.

    Parameters
    ----------
    fixed
        Whatever the width, ``(n,)``.
    at_most
        The largest number of ranges; None for any number.
    """

    fixed: NDArray[np.float64]
    at_most: int | None = None


def prices_of(problem: ProtectionProblem, method: Intervals, risk: Risk) -> FixedPrices:
    """Return what ranges of the columns of a problem cost, by the costs of a method; `risk` has its wishes applied."""
    below, above, fixed = (problem.by_column(cost, 0.0) for cost in (*method.costs(risk), method.cell_costs(risk)))
    return FixedPrices(below, above, fixed, method.at_most)


def formulate_by_ends(
    problem: ProtectionProblem, prices: FixedPrices, most: NDArray[np.float64], widest: float = INTERVALS.widest_levels
) -> Modes:
    """Return the modes in which both ends of every range are variables.

    Parameters
    ----------
    problem, prices, most
        As in `celosia.protection.intervals.formulation`.
    widest
        In levels; see `widest_range`.
    """
    unit = unit_of(problem)
    offer = offer_range_ends(problem, prices, most, unit, widest_range(problem, widest))
    return Modes.of(problem, [_add_fixed_costs(problem, offer, prices)], unit)


def formulate_by_widths(
    problem: ProtectionProblem, prices: FixedPrices, most: NDArray[np.float64], widest: float = INTERVALS.widest_levels
) -> tuple[ProtectionProblem, Modes]:
    """Return the width model, whose ranges may be impossible to place; parameters as for `formulate_by_ends`."""
    widths = problem_of_widths(problem)
    unit = unit_of(widths)
    offer = offer_range_widths(widths, prices, most, unit, widest_range(problem, widest))
    return widths, Modes.of(widths, [_add_fixed_costs(widths, offer, prices)], unit)


def widest_range(problem: ProtectionProblem, widest: float = INTERVALS.widest_levels) -> float:
    """Return how far ranges with a fixed cost may reach, in counts: no level needs more.

    Where cells form networks that is the largest level, because a flow of one level never needs more of any cell;
    elsewhere so many levels that a safe range is not missed.
    """
    requirements = problem.requirements
    if not len(requirements):
        return np.inf
    largest = float(np.maximum(requirements.sliding, np.maximum(requirements.up, requirements.down)).max())
    parts = decompose(problem.system(np.arange(len(problem))))
    return largest if bool(parts.network.all()) else largest * widest


def widest_with_corners(problem: ProtectionProblem, corners: Sequence[Corner]) -> float:
    """Return a width in counts that no range of an optimal release exceeds; infinite where cells form no network.

    Joint cells of linked tables tie cells together that form one without them: there it is infinite, too.

    A move that is needed is a sum of cycles through needed cells, none of which goes further than needed; so no cell
    moves further than all of them together.
    """
    own, local = np.arange(problem.n_own), np.arange(problem.n_own, len(problem))
    rows = np.flatnonzero(np.diff(problem.matrix[:, local].indptr) == 0)
    joint = any(one.joint is not None for one in corners)
    if joint or not bool(decompose(problem.system(own, rows)).network.all()):
        return np.inf
    requirements = problem.requirements.take(np.flatnonzero(problem.requirements.columns < problem.n_own))
    levels = np.maximum(requirements.sliding, np.maximum(requirements.up, requirements.down))
    together = (sum(abs(need) for _, need in one.needs) * 10 ** (problem.decimals - one.decimals) for one in corners)
    return 2.0 * max(float(levels.max(initial=0)), *map(float, together))


def _add_fixed_costs(problem: ProtectionProblem, offer: Offer, prices: FixedPrices) -> Offer:
    """Return ranges with a fixed cost each; sensitive cells are ranges anyway, and those that cost nothing may be."""
    requirements = problem.requirements
    anyway = (prices.fixed == 0) & (prices.at_most is None)
    anyway[requirements.columns] = requirements.certain
    return price_ranges(offer, prices.fixed, anyway, prices.at_most)
