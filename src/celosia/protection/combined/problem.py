"""The problem of combined suppression: ranges with a fixed cost each."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.errors import InfeasibleError
from celosia.protection.combined.formulation import (
    FixedPrices,
    formulate_by_ends,
    prices_of,
    widest_range,
    widest_with_corners,
)
from celosia.protection.combined.parameters import CombinedParameters
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.formulation import offer_range_ends
from celosia.protection.intervals.problem import RangeProblem


class CombinedProblem(RangeProblem):
    """What is to be published as few narrow ranges, or no more than so many.

    See `celosia.protection.intervals.problem.RangeProblem`.
    """

    parameters: CombinedParameters

    @cached_property
    def prices(self) -> FixedPrices:
        """What ranges of the columns of the problem cost."""
        sensitive = int(self.required.sensitive.sum())
        if self.method.at_most is not None and self.method.at_most < sensitive:
            raise InfeasibleError.one(
                "at_most", f"is {self.method.at_most}, but {sensitive} cells are sensitive: each is a range."
            )
        return prices_of(self.problem, self.method, self.risk)

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """The greatest widths in counts of the problem, among them what suffices where cells move together."""
        most, corners = super().most, self.required.corners
        if corners:
            own = slice(0, self.problem.n_own)
            most[own] = np.minimum(most[own], widest_with_corners(self.problem, corners))
        return most

    @property
    def fixed_costs(self) -> NDArray[np.float64]:
        """What a range costs whatever its width, of every cell of the table, zero where it is none."""
        costs = np.zeros(len(self.required))
        costs[self.problem.own_cells] = self.prices.fixed[: self.problem.n_own]
        return costs

    @property
    def by_width(self) -> bool:
        """Whether widths are enough: one attacker, equal costs, sliding levels only."""
        return self.sliding and self.problem.n_attackers == 1 and super().by_width

    def formulate_by_ends(self) -> Modes:
        """Return the modes in which both ends of every range are variables."""
        return formulate_by_ends(self.problem, self.prices, self.most, self.parameters.widest_levels)

    def _furthest(self, problem: ProtectionProblem) -> NDArray[np.float64]:
        """Return how far ranges may reach, ``(2 n,)``."""
        widest = widest_range(problem, self.parameters.widest_levels)
        return offer_range_ends(problem, self.prices, self.most, 1.0, widest).upper
