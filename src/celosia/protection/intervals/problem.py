"""The problem of publishing ranges: cells and requirements, prices, greatest widths, and its master problem.

Other methods that publish ranges (combined suppression, mixed releases) have problems of their own, which say what else
may be published, what it costs, and how a point of the master is read.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.decomposition import decompose
from celosia.errors import CelosiaError, InfeasibleError, SpecError, list_items
from celosia.pattern.entries import SHOWN
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.problem import Extension, KnownSystems, ProtectionProblem, problem_of
from celosia.protection.infeasibility import refuse_unreachable_levels
from celosia.protection.intervals.descent import Hiding
from celosia.protection.intervals.formulation import Prices, formulate_by_ends, offer_range_ends
from celosia.protection.intervals.method import Intervals
from celosia.protection.intervals.parameters import INTERVALS, IntervalParameters
from celosia.protection.intervals.publish.ranges import RangeSlacks
from celosia.protection.run import NewColumnsError, ViolatedRequirements
from celosia.risk.risk import Risk


@dataclass(eq=False)
class RangeProblem:
    """What is to be published as ranges. Requirements of respondents are added while it is searched (`extend`).

    Parameters
    ----------
    risk, required
        The risk with the wishes of the method, and with widths as levels.
    method
        What may be published.
    integer
        Which values attackers know to be whole numbers; see `celosia.protection.run.Run`.
    parameters
        How ranges are searched for and published.
    necessary
        Every safe pattern satisfies the requirements; otherwise lower bounds must not use them.
    """

    risk: Risk
    required: Risk
    method: Intervals
    integer: bool | None
    parameters: IntervalParameters = INTERVALS
    necessary: bool = True
    _systems: KnownSystems = field(default_factory=dict)

    @cached_property
    def problem(self) -> ProtectionProblem:
        """The cells that may be ranges, and the requirements."""
        return self._problem_of(self.required)

    def _problem_of(self, required: Risk) -> ProtectionProblem:
        conditional = self.method.conditional_levels(required)
        return problem_of(required, conditional=conditional, integer=self.integer, known=self._systems)

    @cached_property
    def never_open(self) -> NDArray[np.bool_]:
        """Which columns are always shown, because they could not keep their conditional levels, ``(n,)``.

        They follow from cells that are shown, whatever else is published.
        """
        never = np.zeros(len(self.problem), dtype=bool)
        columns = self.problem.requirements.columns[~self.problem.requirements.certain]
        if len(columns):
            parts = decompose(self.problem.system(np.arange(len(self.problem))))
            never[columns[parts.component[columns] < 0]] = True
        return never

    @cached_property
    def costs(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """What a unit below and above the truth costs, of every cell of the table."""
        return self.method.costs(self.risk)

    @cached_property
    def most(self) -> NDArray[np.float64]:
        """The greatest widths in counts of the problem."""
        most = np.full(len(self.problem), np.inf)
        for cell, width in self.method.most.items():
            most[self.problem.cells == cell] = width * 10**self.problem.decimals
        return np.where(self.never_open, 0.0, most)

    @property
    def sliding(self) -> bool:
        """Whether all levels are sliding."""
        return not bool(self.problem.requirements.up.any() or self.problem.requirements.down.any())

    @cached_property
    def prices(self) -> Prices:
        """What ranges of the columns of the problem cost."""
        below, above = (self.problem.by_column(cost, 0.0) for cost in self.costs)
        return Prices(below, above)

    @property
    def hiding(self) -> Hiding | None:
        """What hiding the columns of the problem costs; None where none may be hidden."""
        return None

    @cached_property
    def descends(self) -> bool:
        """Whether ranges are found by a descent over moves: cells form no networks, and ranges have any width."""
        n, parameters = len(self.problem), self.parameters
        limited = bool((np.isfinite(self.most) & (self.most > 0)).any())
        limited |= self.method.at_most is not None or bool(self.method.conditional)
        large = 2 * n * len(self.problem.requirements) > parameters.descent_entries
        if n < parameters.descent_columns or limited or large:
            return False
        return not bool(decompose(self.problem.system(np.arange(n))).network.all())

    @property
    def fixed_costs(self) -> NDArray[np.float64] | None:
        """What a range costs whatever its width, of every cell of the table; None for nothing."""
        return None

    @property
    def by_width(self) -> bool:
        """Whether the width model holds: equal costs, sliding levels or symmetric ones."""
        requirements = self.problem.requirements
        below, above = (cost[self.problem.own_cells] for cost in self.costs)
        alike = bool(np.array_equal(below, above))
        symmetric = bool(
            np.all(
                (requirements.up == requirements.down) & (requirements.sliding <= requirements.up + requirements.down)
            )
        )
        return alike and (self.sliding or symmetric)

    @property
    def least_cost(self) -> float:
        """What any safe ranges cost at least: every sensitive cell is as wide as its level."""
        requirements = self.problem.requirements
        level = np.zeros(len(self.problem))
        levels = np.maximum(requirements.sliding, requirements.up + requirements.down).astype(np.float64)
        np.maximum.at(level, requirements.columns, np.where(requirements.certain, levels, 0.0))
        return float(level @ np.minimum(self.prices.down, self.prices.up) / 10.0**self.problem.decimals)

    def formulate_by_ends(self) -> Modes:
        """Return the modes in which both ends of every range are variables."""
        return formulate_by_ends(self.problem, self.prices, self.most)

    def read(self, modes: Modes, v: NDArray[np.float64]) -> RangeSlacks:
        """Return the ranges of a point whose variables are both ends of every range."""
        up, down = modes.slacks(v)
        return RangeSlacks(down * modes.unit, up * modes.unit)

    def accepts(self, pattern: Pattern) -> bool:
        """Return whether a pattern that has passed the audit may be published: no more than allowed is not shown."""
        return self.method.at_most is None or int((pattern.status != SHOWN).sum()) <= self.method.at_most

    def loss(self, pattern: Pattern) -> float:
        """Return what a pattern costs."""
        return self.method.loss(pattern, self.risk)

    def extend(self, told: ViolatedRequirements) -> Extension | None:
        """Add violated requirements; return the problem with them, None where they are known.

        Known requirements that are missed by rounding errors are left to placing.

        Raises
        ------
        NewColumnsError
            The new problem has other columns or counts, or ranges may be wider.
        InfeasibleError
            No ranges satisfy them.
        """
        if len(told.risk.corners) != len(self.risk.corners):
            raise NewColumnsError
        required = self.method.require_widths(told.risk)
        if not np.array_equal(required.status, self.required.status):
            self._systems = {}
        if self.method.conditional_levels(required) != self.method.conditional_levels(self.required):
            raise NewColumnsError
        problem = self._problem_of(required)
        if len(problem.requirements) == len(self.problem.requirements):
            return None
        if problem.decimals != self.problem.decimals or not np.array_equal(
            self._furthest(problem), self._furthest(self.problem)
        ):
            raise NewColumnsError
        self.risk, self.required, self.problem, self.necessary = told.risk, required, problem, told.necessary
        refuse_unreachable_levels(required)
        self.refuse_determined_cells()
        return Extension(problem, self.necessary)

    def _furthest(self, problem: ProtectionProblem) -> NDArray[np.float64]:
        """Return how far ranges may reach, ``(2 n,)``."""
        return offer_range_ends(problem, self.prices, self.most, 1.0).upper

    def refuse_determined_cells(self) -> None:
        """Refuse sensitive cells that are a linear combination of cells that must be shown."""
        requirements = self.problem.requirements.take(np.flatnonzero(self.problem.requirements.certain))
        determined = decompose(self.problem.system(np.arange(len(self.problem)))).component[requirements.columns] < 0
        if bool(determined.any()):
            raise self.refusal(requirements.columns[determined])

    def refusal(self, columns: NDArray[np.int64]) -> CelosiaError:
        """Return the error for cells that no ranges protect: a wish for a width, which is bad input, or a level."""
        cells = self.problem.cells_behind(columns)
        wished = np.isin(cells, list(self.method.least_width))
        own = cells[wished] if bool(wished.any()) else cells
        labels = list_items([self.required.table.label(int(cell)) for cell in own])
        said = f"is impossible: even with the widest ranges that are allowed attackers come too close to {labels}."
        remedy = "Ask for less there, or allow more cells to be ranges, or wider ones."
        if bool(wished.any()):
            return SpecError.one("least_width", said, remedy)
        return InfeasibleError.one("protection", said, remedy)
