"""Separation of capacity cuts: solve the attackers' subproblems at a point of the master, and cut it off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut, CutBuilder, Reach, build_cover
from celosia.protection.engine.cuts.capacity_kernel import Reaches, build_cuts
from celosia.protection.engine.parameters import PARAMETERS, CutParameters
from celosia.protection.engine.subproblems.flow import Capacities, FlowRequirements, find_crossings, find_minimum_cuts
from celosia.protection.engine.subproblems.requirements import (
    SideRequirements,
    choose_worst,
    drop_implied_sides,
    split_sides,
)
from celosia.protection.engine.subproblems.solve import Solutions, Subproblems
from celosia.solve import deadline
from celosia.solve.backend import Backend
from celosia.tolerance import CUT_SATISFIED, CUT_VIOLATED, HIDDEN_ZERO, LEVEL_EXCEEDED

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.protection.engine.subproblems.support import SupportGraph


@dataclass(frozen=True, slots=True, eq=False)
class ViolatedCuts:
    """What separation has found at a point.

    Parameters
    ----------
    cuts
        Inequalities that the point violates, the most violated first.
    missed
        Requirements that the point misses, as far as their subproblems were solved, increasing.
    """

    cuts: list[Cut]
    missed: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Separator:
    """Separates points of the master of one problem by capacity cuts.

    Parameters
    ----------
    subproblems
        The attackers' subproblems.
    sides
        The requirements.
    parameters
        How much effort separation is worth.
    sparing
        Minimum cuts of a network are looked for only where a flow through the support of the point, which is quick,
        has shown that a level is missed, and first for those that are missed by most. That pays where there are many
        requirements, of which few are missed, or the same by many attackers.
    """

    subproblems: Subproblems
    sides: SideRequirements
    parameters: CutParameters = PARAMETERS.cuts
    sparing: bool = False

    @classmethod
    def of(cls, problem: ProtectionProblem, backend: Backend, parameters: CutParameters = PARAMETERS.cuts) -> Separator:
        """Return the separator by all requirements of a problem."""
        subproblems = Subproblems(CutBuilder.of(problem), backend, parameters.least_ratio, parameters.most_colours)
        return cls(subproblems, split_sides(problem.requirements), parameters)

    def without_implied_sides(self) -> Separator:
        """Return the separator without the requirements that others imply, whose attackers know more."""
        return replace(self, sides=drop_implied_sides(self.sides, self.problem.up, self.problem.down))

    @property
    def builder(self) -> CutBuilder:
        """What makes the cuts."""
        return self.subproblems.builder

    @property
    def problem(self) -> ProtectionProblem:
        """The problem."""
        return self.builder.problem

    @property
    def backend(self) -> Backend:
        """What solves attackers' linear programs."""
        return self.subproblems.backend

    @property
    def is_network(self) -> bool:
        """Whether the whole problem is a network."""
        return self.subproblems.is_network

    def presolve(self, late: Callable[[], bool]) -> Separator:
        """Return the separator without the requirements that the forced cells alone already satisfy.

        A pattern that hides more satisfies them, too. Those that are satisfied by rounding errors stay, and those that
        there was no time for.
        """
        x = self.problem.forced.astype(np.float64)
        more = replace(self.sides, levels=self.sides.levels * (1.0 + LEVEL_EXCEEDED))
        short = self._fall_short(x, more, self.subproblems.measure(x, more, late))
        return replace(self, sides=self.sides.take(short | ~self.problem.forced[self.sides.columns]))

    def separate(
        self,
        x: NDArray[np.float64],
        *,
        integer: bool = False,
        deep: bool = True,
        thorough: bool = False,
        check: Callable[[], None] = lambda: None,
    ) -> ViolatedCuts:
        """Return cuts that a point violates.

        Parameters
        ----------
        x
            By how much every cell is hidden, ``(n,)``; 1 for forced ones, of which the last may be left out.
        integer
            The point is a pattern: attackers' bounds are not capped, and every cut that is missed at all counts.
        deep
            Solve linear programs where flows find nothing.
        thorough
            Solve linear programs at a pattern even where flows find cuts.
        check
            Is called after every linear program; what it raises ends the separation.
        """
        sides, x = self.sides, self.builder.padded_with_forced(x)
        if self.sparing and self.is_network:
            return self._separate_by_worst(x, integer=integer)
        found = self._separate_by_networks(x, sides, integer=integer)
        enough = 1 if integer else self.parameters.enough_cuts
        if self.is_network or not deep or (len(found.cuts) >= enough and not thorough):
            return found
        solutions = self.subproblems.solve(x, sides, integer=integer, check=check)
        deeper = self._collect(x, sides, solutions, CUT_SATISFIED if integer else CUT_VIOLATED)
        cuts = {cut.key: cut for cut in (*found.cuts, *deeper.cuts)}
        return ViolatedCuts(list(cuts.values()), deeper.missed)

    def _separate_by_worst(self, x: NDArray[np.float64], *, integer: bool) -> ViolatedCuts:
        """Return cuts from what attackers miss most at every side of a cell, from all that they miss if there are none.

        Attackers who miss the same side of a cell mostly do so at the same minimum cut.
        """
        shortfall = self.measure_shortfall(x)
        worst = choose_worst(self.sides, shortfall, 1)
        found = self._separate_by_networks(x, self.sides.take(worst), integer=integer)
        others = (shortfall > HIDDEN_ZERO) & ~worst
        if found.cuts or not bool(others.any()):
            return found
        more = self._separate_by_networks(x, self.sides.take(others), integer=integer)
        return ViolatedCuts(more.cuts, np.union1d(found.missed, more.missed))

    def _separate_by_networks(self, x: NDArray[np.float64], sides: SideRequirements, *, integer: bool) -> ViolatedCuts:
        """Return cuts from minimum cuts in the networks of the problem; exact where the problem is one."""
        solutions = Solutions.of(len(sides))
        threshold = CUT_SATISFIED if integer else CUT_VIOLATED
        for support in self.subproblems.networks:
            component = support.parts.component[sides.columns].astype(np.int64)
            network = np.flatnonzero((component >= 0) & support.is_network(component))
            reaches = self._solve_network_flows(support, x, sides, network, solutions)
            solutions.cuts.extend(build_cuts(reaches, self.problem.forced, x, threshold, True).cuts)  # noqa: FBT003 - compiled
            if self.is_network:
                self.subproblems.explain_determined(support, sides, np.flatnonzero(component < 0), solutions)
        return self._collect(x, sides, solutions, threshold)

    def _solve_network_flows(
        self,
        support: SupportGraph,
        share: NDArray[np.float64],
        sides: SideRequirements,
        places: NDArray[np.int64],
        solutions: Solutions,
    ) -> Reaches:
        """Solve the subproblems of cells in networks; return the bounds of moves that miss levels that do not slide."""
        mine = sides.take(places)
        put = FlowRequirements(mine.columns, mine.attackers, mine.upward, mine.levels)
        capacities = Capacities(self.builder.up, self.builder.down, share)
        got, ends, nodes = find_minimum_cuts(put, capacities, support.network, self.parameters.least_share)
        solutions.reached[places] = np.maximum(solutions.reached[places], got)
        starts, columns, values, _ = find_crossings(put, capacities, support.network, ends, nodes)
        stopped, both = np.diff(ends) > 0, np.repeat(np.arange(len(mine)), 2)
        for number in np.flatnonzero(stopped & mine.sliding[both]).tolist():
            terms = slice(starts[number], starts[number + 1])
            solutions.reaches[places[number // 2]].append(Reach(columns[terms], values[terms]))
        levels = np.where(stopped & ~mine.sliding[both], mine.levels[both], 0.0)  # no level, no cut
        return Reaches(starts, columns, values, mine.columns[both], levels)

    def measure_reach(self, pattern: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return how far cells move in a pattern, as a part of their level, no more than 1, ``(s,)``."""
        return self.subproblems.measure(self.builder.padded_with_forced(pattern).astype(np.float64), self.sides)

    def find_missed(self, pattern: NDArray[np.bool_], late: Callable[[], bool] = lambda: False) -> NDArray[np.int64]:
        """Return the requirements that a pattern misses, with those for which it is too late."""
        x = self.builder.padded_with_forced(pattern).astype(np.float64)
        return self._find_missed(x, self.sides, self.subproblems.measure(x, self.sides, late))

    def _collect(
        self,
        x: NDArray[np.float64],
        sides: SideRequirements,
        solutions: Solutions,
        threshold: float,
    ) -> ViolatedCuts:
        """Return the cuts that the point violates, with their covers, and the requirements that it misses."""
        cuts = {cut.key: cut for cut in solutions.cuts}
        for cut in self._build_cuts(sides, solutions.reaches):
            wider = build_cover(cut, x)
            for one in (cut, wider):
                if one is not None and one.violation(x) > threshold:
                    cuts[one.key] = one
        ranked = sorted(cuts.values(), key=lambda cut: -cut.violation(x))
        return ViolatedCuts(ranked, self._find_missed(x, sides, solutions.reached))

    def _build_cuts(self, sides: SideRequirements, reaches: list[list[Reach]]) -> Iterator[Cut]:
        """Yield the cuts of all requirements, sliding ones of both sides together."""
        deadline.check()
        known = np.fromiter(map(bool, reaches), dtype=bool, count=len(sides))
        for k in np.flatnonzero(sides.sliding | known).tolist():
            deadline.check()
            if sides.sliding[k]:
                if sides.upward[k]:
                    yield from self._build_pairs(sides, k, reaches)
            else:
                for reach in reaches[k]:
                    cut = self.builder.build_cut([reach], float(sides.levels[k]), int(sides.columns[k]))
                    if cut is not None:
                        yield cut

    def _build_pairs(self, sides: SideRequirements, k: int, reaches: list[list[Reach]]) -> Iterator[Cut]:
        nothing: list[Reach | None] = [None]
        for up in [*reaches[k]] or nothing:
            for down in [*reaches[k + 1]] or nothing:
                yield from self.build_sliding_cuts(k, sides, up, down)

    def build_sliding_cuts(
        self, k: int, sides: SideRequirements, up: Reach | None, down: Reach | None
    ) -> Iterator[Cut]:
        """Yield the cuts of a sliding level: on each side either the multipliers' bound or the attacker's own."""
        column, who, level = int(sides.columns[k]), int(sides.attackers[k]), float(sides.levels[k])
        own_up, own_down = float(self.builder.up[who, column]), float(self.builder.down[who, column])
        choices = [([up, down], level), ([up], level - own_down), ([down], level - own_up)]
        for reaches, rest in choices:
            known = [reach for reach in reaches if reach is not None]
            cut = self.builder.build_cut(known, rest, column) if len(known) == len(reaches) and rest > 0 else None
            if cut is not None:
                yield cut

    def measure_shortfall(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how much of its level every side misses at a point, 0 or less where it is reached, ``(s,)``.

        Both sides of a sliding level miss the same. The problem is a network, or the point a pattern.
        """
        x = self.builder.padded_with_forced(x)
        return x[self.sides.columns] - self._share_reached(self.sides, self.subproblems.measure(x, self.sides))

    def _find_missed(
        self, x: NDArray[np.float64], sides: SideRequirements, reached: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the requirements that are missed."""
        return np.unique(sides.requirements[self._fall_short(x, sides, reached)])

    def _fall_short(
        self, x: NDArray[np.float64], sides: SideRequirements, reached: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which sides are missed, both of a sliding level together."""
        return np.asarray(self._share_reached(sides, reached) < x[sides.columns] - HIDDEN_ZERO)

    def _share_reached(self, sides: SideRequirements, reached: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the part of its level that every side reaches, both of a sliding level together, ``(s,)``."""
        part = self.subproblems.cap_at_own_bounds(sides, reached)
        both = part.copy()
        first = np.flatnonzero(sides.sliding & sides.upward)
        both[first] = both[first + 1] = part[first] + part[first + 1]
        return both
