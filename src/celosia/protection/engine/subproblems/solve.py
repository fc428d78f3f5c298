"""Attackers' subproblems at a point of the master: flows where its support forms networks, else linear programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.redundancy import colour_rows
from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.engine.subproblems.flow import Capacities, FlowRequirements, find_minimum_cuts, measure_flows
from celosia.protection.engine.subproblems.known_moves import KnownMoves
from celosia.protection.engine.subproblems.lp import AttackerProgram
from celosia.protection.engine.subproblems.support import SupportGraph
from celosia.solve import deadline
from celosia.solve.backend import Backend
from celosia.tolerance import FLOW_ZERO, HIDDEN_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import Cut, CutBuilder, Reach
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.protection.engine.subproblems.flow import Network
    from celosia.protection.engine.subproblems.requirements import SideRequirements


_MANY_A_SIDE = 3
"""So many attackers for each side of a cell, on average, are asked as one first."""


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """Solutions of subproblems.

    Parameters
    ----------
    reached
        How far the cell moves, as a part of the level, ``(s,)``.
    reaches
        Upper bounds on the move by multipliers, where the level is not reached.
    cuts
        Cuts that were made of such at once.
    """

    reached: NDArray[np.float64]
    reaches: list[list[Reach]]
    cuts: list[Cut]

    @classmethod
    def of(cls, n: int) -> Solutions:
        """Return the solutions of so many subproblems before anything is known."""
        return cls(np.zeros(n), [[] for _ in range(n)], [])


@dataclass(frozen=True, eq=False)
class Subproblems:
    r"""Solves :math:`\max \pm d_p` s.t. :math:`M d = 0,\ -L x \le d \le U x` at points x of the master.

    Parameters
    ----------
    builder
        Knows the problem, and turns multipliers into bounds of moves.
    backend
        Solves linear programs.
    least_ratio, most_colours
        See `celosia.protection.engine.parameters.CutParameters`.
    """

    builder: CutBuilder
    backend: Backend
    least_ratio: float = PARAMETERS.cuts.least_ratio
    most_colours: int = PARAMETERS.cuts.most_colours

    @property
    def problem(self) -> ProtectionProblem:
        """The problem."""
        return self.builder.problem

    @cached_property
    def _known(self) -> KnownMoves:
        """The moves in patterns that programs have found."""
        return KnownMoves(self.builder)

    @cached_property
    def networks(self) -> list[SupportGraph]:
        """The whole problem where it is a network; otherwise networks of some of its relations.

        Relations that cover every cell at most once, like the rows of a table, are of one colour; those of two colours
        form a network, such as a plane of a table in three dimensions. Leaving relations out only gives attackers more
        freedom, so capacity cuts of such a network are valid. Of many colours the most frequent are taken.
        """
        everything = np.arange(len(self.problem))
        everywhere = SupportGraph.of(self.problem, everything)
        if bool(everywhere.parts.network.all()):
            return [everywhere]
        colour = colour_rows(self.problem.matrix.indptr, self.problem.matrix.indices, len(self.problem))
        common = np.argsort(-np.bincount(colour), kind="stable")[: self.most_colours]
        pairs = combinations(np.sort(common).tolist(), 2)
        parts = (SupportGraph.of(self.problem, everything, np.flatnonzero(np.isin(colour, pair))) for pair in pairs)
        return [part for part in parts if len(part.parts)]

    @property
    def is_network(self) -> bool:
        """Whether the whole problem is a network."""
        first = self.networks[0] if self.networks else None
        return (
            first is not None
            and bool(first.parts.network.all())
            and len(first.system.relations) == self.problem.matrix.shape[0]
        )

    def measure(
        self, x: NDArray[np.float64], sides: SideRequirements, late: Callable[[], bool] = lambda: False
    ) -> NDArray[np.float64]:
        """Return how far cells move in a pattern, as a part of their level; 0 for those for which it is too late."""
        if not self.is_network:
            return self.solve(x, sides, integer=True, why=False, late=late).reached
        support = self.networks[0]
        network = support.network_among(x > HIDDEN_ZERO)
        inside = np.flatnonzero(network.tail[sides.columns] >= 0)
        some = sides.take(inside)
        reached = np.zeros(len(sides))
        reached[inside] = self._measure_flows(x, some, network)
        return reached

    def _measure_flows(self, x: NDArray[np.float64], sides: SideRequirements, network: Network) -> NDArray[np.float64]:
        r"""Return how far cells of a network move, as a part of their level.

        Where many attackers are asked about the same cells, one comes first who knows what each of them knows, with
        :math:`U_i = \min_k U_i^k` and :math:`L_i = \min_k L_i^k`: a move that he cannot exclude nobody can.
        """
        capacities = Capacities(self.builder.up, self.builder.down, x)
        requirements = FlowRequirements(sides.columns, sides.attackers, sides.upward, sides.levels)
        cells, place = np.unique(2 * sides.columns + sides.upward, return_inverse=True)
        if len(sides) < _MANY_A_SIDE * len(cells) or not len(sides):
            return measure_flows(requirements, capacities, network)
        highest = np.zeros(len(cells))
        np.maximum.at(highest, place, sides.levels)
        together = FlowRequirements(cells // 2, np.zeros_like(cells), cells % 2 == 1, highest)
        reached = measure_flows(together, Capacities(*self._united, x), network)[place]
        rest = np.flatnonzero(reached < 1.0 - FLOW_ZERO)
        reached[rest] = measure_flows(requirements.take(rest), capacities, network)
        return reached

    @cached_property
    def _united(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The bounds, up and down, of an attacker who knows what each of them knows, ``(1, n)`` each."""
        return self.builder.up.min(axis=0, keepdims=True), self.builder.down.min(axis=0, keepdims=True)

    def cap_at_own_bounds(self, sides: SideRequirements, reached: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return how far cells move, as a part of their level, no further than the attacker's bounds on them."""
        up, down = (own[sides.attackers, sides.columns] for own in (self.builder.up, self.builder.down))
        return np.asarray(np.minimum(reached, np.where(sides.upward, up, down) / sides.levels))

    def solve(
        self,
        x: NDArray[np.float64],
        sides: SideRequirements,
        *,
        integer: bool,
        why: bool = True,
        check: Callable[[], None] = lambda: None,
        late: Callable[[], bool] = lambda: False,
    ) -> Solutions:
        """Return the solutions at a point, with all relations.

        Parameters
        ----------
        x
            By how much every cell is hidden, ``(n,)``.
        sides
            The requirements whose subproblems are solved.
        integer
            The point is a pattern: attackers' bounds are taken as they are, and not capped at the level.
        why
            Return bounds by multipliers as well.
        check
            Is called after every linear program; what it raises ends the solution.
        late
            Tells when to leave the other programs unsolved.
        """
        support = SupportGraph.of(self.problem, np.flatnonzero(x > HIDDEN_ZERO))
        place = support.place(len(self.problem))
        component = np.full(len(sides), -1, dtype=np.int64)
        inside = np.flatnonzero(place[sides.columns] >= 0)
        component[inside] = support.parts.component[place[sides.columns[inside]]]
        network = (component >= 0) & support.is_network(component)
        found = Solutions.of(len(sides))
        self._solve_flows(support, x, sides, np.flatnonzero(network), found, why=why)
        self._solve_programs(
            support, x, sides, component, ~network & (component >= 0), found, check, late, integer=integer, why=why
        )
        if why:
            self.explain_determined(support, sides, np.flatnonzero(component < 0), found)
        return found

    def _solve_flows(
        self,
        support: SupportGraph,
        share: NDArray[np.float64],
        sides: SideRequirements,
        places: NDArray[np.int64],
        found: Solutions,
        *,
        why: bool,
    ) -> None:
        """Solve the subproblems of cells in networks."""
        if not len(places):
            return
        mine = sides.take(places)
        place = support.place(len(self.problem))
        order = np.argsort(support.parts.component[place[mine.columns]], kind="stable")
        mine, places = mine.take(order), places[order]
        got, ends, nodes = find_minimum_cuts(
            FlowRequirements(place[mine.columns], mine.attackers, mine.upward, mine.levels),
            Capacities(*self.builder.capacities(support.columns), share[support.columns]),
            support.network,
            0.0,
        )
        found.reached[places] = np.maximum(found.reached[places], got)
        for k in np.flatnonzero(np.diff(ends[::2]) > 0).tolist() if why else ():
            deadline.check()
            for side in (0, 1):
                rows, gamma = support.complete(*support.multipliers(nodes[ends[2 * k + side] : ends[2 * k + side + 1]]))
                reach = self.builder.bound_move(
                    rows, gamma, int(mine.columns[k]), int(mine.attackers[k]), upward=bool(mine.upward[k])
                )
                if reach is not None:
                    found.reaches[places[k]].append(reach)

    def _solve_programs(
        self,
        support: SupportGraph,
        share: NDArray[np.float64],
        sides: SideRequirements,
        component: NDArray[np.int64],
        others: NDArray[np.bool_],
        found: Solutions,
        check: Callable[[], None],
        late: Callable[[], bool],
        *,
        integer: bool,
        why: bool,
    ) -> None:
        """Solve the subproblems of cells in components that are no networks."""
        for number in np.unique(component[others]).tolist():
            places = np.flatnonzero(others & (component == number))
            columns = support.columns[support.parts.members(number)]
            program = AttackerProgram.of(
                self.builder, columns, share[columns], self.backend, support.complete, self.least_ratio
            )
            mine = sides.take(places)
            for answer in program.solve_exactly(mine, self._known, why=why) if integer else program.solve(mine):
                check()
                if late():
                    return
                found.reached[places[answer.place]] = answer.reached
                found.reaches[places[answer.place]] += answer.reaches

    def explain_determined(
        self, support: SupportGraph, sides: SideRequirements, places: NDArray[np.int64], found: Solutions
    ) -> None:
        """Find multipliers for cells that cannot move: relations with one unknown each determine them."""
        for k in places.tolist():
            deadline.check()
            rows, gamma = support.derivation(int(sides.columns[k]))
            reach = self.builder.bound_move(
                rows, gamma, int(sides.columns[k]), int(sides.attackers[k]), upward=bool(sides.upward[k])
            )
            if reach is not None:
                found.reaches[k].append(reach)
