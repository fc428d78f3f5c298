r"""Separation of capacity cuts at a point of the master, for any modes of publication.

A requirement with target cell p and level :math:`l_p^k` is met when its subproblem, the largest move of p with
:math:`M d = 0` within the slacks at the point and the bounds of attacker k, reaches the level; a subproblem that does
not gives the cut (Salazar 2002, Figures 7, 10 and 13)

.. math:: \sum_{r_i > 0} r_i \min(\mathrm{UB}_i^k, \text{upper slack}_i(v)) +
          \sum_{r_i < 0} |r_i| \min(\mathrm{LB}_i^k, \text{lower slack}_i(v)) \ge l_p^k.

A conditional requirement counts where binary variables open its cell: its level is :math:`l_p^k x_p` (section 7).

Subproblems in networks are solved as maximum flows, all in one call; the others as linear programs. Where those are
needed, networks of some of the relations are solved first: their cuts are valid, because leaving relations out only
makes attackers weaker.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.redundancy import colour_rows
from celosia.protection.engine.capacity import Cut, CutBuilder
from celosia.protection.engine.modes.lp import AttackerPrograms
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.parameters import SEPARATION, ModeSeparationParameters
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.subproblems.flow import (
    Capacities,
    FlowRequirements,
    find_crossings,
    find_minimum_cuts,
    measure_flows,
)
from celosia.protection.engine.subproblems.least_slacks import LeastSlacks
from celosia.protection.engine.subproblems.requirements import SideRequirements, drop_implied_sides, split_sides
from celosia.protection.engine.subproblems.slacks import Linear, Ratios, SlackBounds, SlacksAt
from celosia.protection.engine.subproblems.support import SupportGraph
from celosia.solve import deadline
from celosia.solve.backend import Backend
from celosia.tolerance import INTEGRAL, LEVEL_REACHED, NEGLIGIBLE_LEVEL

Effort = Literal["all", "enough", "little"]


@dataclass(frozen=True, slots=True, eq=False)
class Separation:
    """What a separation found.

    Parameters
    ----------
    cuts
        The capacity cuts that the point violates, the most violated first.
    reached
        The share of its level that each subproblem reaches, both of a sliding level in all, ``(s,)``.
    complete
        Every subproblem was solved; those that were not count as reaching nothing.
    """

    cuts: list[Cut]
    reached: NDArray[np.float64]
    complete: bool

    @property
    def least(self) -> float:
        """The smallest share of its level that a subproblem reaches."""
        return float(self.reached.min(initial=1.0))

    @property
    def safe(self) -> bool:
        """Whether every level is reached, as far as doubles can tell."""
        return self.least >= 1 - LEVEL_REACHED


@dataclass(eq=False)
class CapacitySeparator:
    """Separates capacity cuts at points of the master: solves the attackers' subproblems as flows or linear programs.

    Parameters
    ----------
    problem
        The requirements.
    modes
        What may be published.
    backend
        Solves the attackers' linear programs where cells form no networks.
    parameters
        How much work one separation is.
    """

    problem: ProtectionProblem
    modes: Modes
    backend: Backend
    parameters: ModeSeparationParameters = SEPARATION
    sides: SideRequirements = field(init=False)
    _next: int = 0
    _missed: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        sides = drop_implied_sides(split_sides(self.problem.requirements), self.problem.up, self.problem.down)
        if self.modes.only_widen:  # what is missing of negligible levels costs next to nothing when ranges are placed
            sides = sides.take(sides.levels >= NEGLIGIBLE_LEVEL * sides.levels.max(initial=0.0))
        if sides.conditional is not None:  # cells that cannot move are shown, or fail the audit
            sides = sides.take(sides.certain | (self.support.parts.component[sides.columns] >= 0))
        self.sides = replace(sides, levels=sides.levels / self.modes.unit)
        self._missed = np.ones(len(sides), dtype=bool)

    @cached_property
    def support(self) -> SupportGraph:
        """All columns, split into components."""
        return SupportGraph.of(self.problem, np.arange(len(self.problem)))

    @cached_property
    def _bounds(self) -> SlackBounds:
        unit = self.modes.unit
        return SlackBounds(self.modes, self.sides, self._builder.up / unit, self._builder.down / unit)

    @cached_property
    def _builder(self) -> CutBuilder:
        return CutBuilder.of(self.problem)

    @cached_property
    def _programs(self) -> AttackerPrograms:
        return AttackerPrograms(
            self.problem, self.sides, self.support, self._builder, self.backend, parameters=self.parameters
        )

    @cached_property
    def _partial_networks(self) -> list[SupportGraph]:
        """Networks of some of the relations, where all of them together form none.

        Relations that cover every cell at most once are of one colour, and those of two colours form a network.
        """
        if bool(self._network.all()):
            return []
        colour = colour_rows(self.problem.matrix.indptr, self.problem.matrix.indices, len(self.problem))
        everything = np.arange(len(self.problem))
        pairs = combinations(range(int(colour.max(initial=-1)) + 1), 2)
        parts = (SupportGraph.of(self.problem, everything, np.flatnonzero(np.isin(colour, pair))) for pair in pairs)
        return [part for part in parts if len(part.parts)]

    @cached_property
    def _network(self) -> NDArray[np.bool_]:
        """Which subproblems are flows in networks, ``(s,)``."""
        return self._lie_in(self.support, np.arange(len(self.sides)))

    def _lie_in(self, network: SupportGraph, sides: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which subproblems have their target cell in a component that is a network."""
        component = network.parts.component[self.sides.columns[sides]].astype(np.int64)
        return network.is_network(component) & (component >= 0)

    @cached_property
    def _binary(self) -> NDArray[np.bool_]:
        """Which variables are 0 or 1."""
        program = self.modes.program
        whole = np.zeros(len(program.cost), dtype=bool) if program.integer is None else program.integer
        return np.asarray(whole & (program.upper <= 1.0))

    @cached_property
    def _least_slacks(self) -> LeastSlacks | None:
        """What every safe point opens by one variable, unless it hides the column; None where nothing is hidden."""
        return LeastSlacks.of(self.modes, self.sides.take(self.sides.certain)) if bool(self._binary.any()) else None

    def _demand(self, reach: Linear, side: int) -> Cut:
        """Return the cut that demands the level of a side, where it is conditional only if its cell is opened.

        Binary variables count for no more than what is missing to the level.
        """
        level, step = float(self.sides.levels[side]), self.parameters.cut_step
        if not self.sides.certain[side]:
            gates = self.modes.gates[[self.sides.columns[side]]].indices.astype(np.int64)
            return reach.demand_if(level, gates, self._binary, step)
        tight = reach if self._least_slacks is None else self._least_slacks.tighten(reach, level, self._binary)
        return tight.demand(level, self._binary, step)

    def _shares(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return which share of its level every subproblem must reach at a point, ``(s,)``: all, unless conditional."""
        if self.sides.conditional is None:
            return np.ones(len(self.sides))
        return np.where(self.sides.conditional, self.modes.open_shares(v)[self.sides.columns], 1.0)

    @cached_property
    def _firsts(self) -> NDArray[np.int64]:
        """The subproblems; of the two of a sliding level the first."""
        return np.flatnonzero(~(self.sides.sliding & ~self.sides.upward))

    def separate(
        self,
        v: NDArray[np.float64],
        *,
        widening: NDArray[np.float64] | float = 0.0,
        missing: float = LEVEL_REACHED,
        effort: Effort = "all",
    ) -> Separation:
        """Return the capacity cuts that a point violates.

        Parameters
        ----------
        v
            The point.
        widening
            By how much all slacks are taken to be wider, in units: cuts found so use fewer columns.
        missing
            Levels that are missed by less than this share count as reached.
        effort
            Solve all subproblems, or linear programs only until there are cuts enough, or no linear program where
            networks of some relations can be solved instead.
        """
        slacks = SlacksAt.of(self._bounds, v, np.broadcast_to(widening, len(self.problem)))
        state = _SeparationState(slacks, missing, self._shares(v), np.zeros(len(self.sides)), {})
        by_flow = self._network[self._firsts]
        self._solve_flows(state, self.support, self._firsts[by_flow])
        waiting = self._firsts[~by_flow]
        networks = self._partial_networks if effort != "all" else []
        for network in networks:
            self._solve_flows(state, network, waiting, partial=True)
        complete = not len(waiting)
        enough = max(self.parameters.enough_flow_cuts, len(waiting) // self.parameters.subproblems_per_flow_cut)
        few = len(state.cuts) < enough
        if effort == "all" or (few and not (effort == "little" and networks)):
            complete = self._solve_programs(state, waiting, every=effort == "all")
        return Separation(sorted(state.cuts.values(), key=lambda cut: -cut.violation(v)), state.reached, complete)

    @property
    def is_hopeless(self) -> bool:
        """Whether a requirement is about a cell that follows from the relations alone, whatever is published."""
        return bool((self.support.parts.component[self.sides.columns[self.sides.certain]] < 0).any())

    @cached_property
    def has_flows(self) -> bool:
        """Whether some subproblems are solved as flows."""
        return bool(self._network.any())

    @cached_property
    def has_programs(self) -> bool:
        """Whether some subproblems are solved as linear programs."""
        return not bool(self._network.all())

    def least_by_flows(self, v: NDArray[np.float64]) -> float:
        """Return the smallest share of its level that a subproblem in a network reaches."""
        slacks = SlacksAt.of(self._bounds, v, np.zeros(len(self.problem)))
        state = _SeparationState(slacks, 1.0, self._shares(v), np.ones(len(self.sides)), {})
        self._solve_flows(state, self.support, self._firsts[self._network[self._firsts]])
        return float(state.reached.min(initial=1.0))

    def widen_to_witnesses(self, v: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return a point whose slacks admit the last witness of every attackers' LP; None where one has none."""
        slacks = self._programs.needed_slacks(np.flatnonzero(~self._network))
        return None if slacks is None else self.modes.widen_to(v, *slacks)

    def _pair(self, first: int) -> tuple[int, ...]:
        """Return a subproblem, of a sliding level both."""
        return (first, first + 1) if self.sides.sliding[first] else (first,)

    def _solve_flows(
        self, state: _SeparationState, network: SupportGraph, firsts: NDArray[np.int64], *, partial: bool = False
    ) -> None:
        """Solve subproblems as flows, many at once; of networks of some relations only the cuts count."""
        firsts = firsts[self._lie_in(network, firsts)]
        many = self.parameters.capacities_at_once // max(len(self.problem), 1)
        at_once = len(firsts) if state.slacks.shared else max(1, many)
        for start in range(0, len(firsts), max(at_once, 1)):
            deadline.check()
            pairs = [self._pair(first) for first in firsts[start : start + at_once].tolist()]
            requirements, capacities = self._lay_out(state.slacks, pairs)
            moves = measure_flows(requirements, capacities, network.network) * requirements.levels
            unmet = state.record(pairs, moves, partial=partial)
            if len(unmet):
                number = np.repeat(np.arange(len(pairs)), [len(pair) for pair in pairs])
                missed = requirements.take(np.flatnonzero(np.isin(number, unmet)))
                self._add_flow_cuts(state, network, [pairs[place] for place in unmet.tolist()], missed, capacities)

    def _lay_out(self, slacks: SlacksAt, pairs: Sequence[Sequence[int]]) -> tuple[FlowRequirements, Capacities]:
        """Return subproblems and capacities for flows: shared ones once for every attacker, else those of each."""
        sides, chosen = self.sides, np.array([k for pair in pairs for k in pair], dtype=np.int64)
        if slacks.shared:
            found = [slacks.published_capacities(attacker) for attacker in range(self.problem.n_attackers)]
            up, down = (np.array(side) for side in zip(*found, strict=True))
            rows = sides.attackers[chosen]
        else:
            (up, down), rows = slacks.capacities_of_many(chosen, network=True), np.arange(len(chosen))
        return (
            FlowRequirements(sides.columns[chosen], rows, sides.upward[chosen], slacks.targets(chosen)),
            Capacities(up, down, np.ones(len(self.problem))),
        )

    def _add_flow_cuts(
        self,
        state: _SeparationState,
        network: SupportGraph,
        pairs: Sequence[Sequence[int]],
        requirements: FlowRequirements,
        capacities: Capacities,
    ) -> None:
        """Add the cuts of subproblems in a network, from both minimum cuts of each side."""
        _, ends, nodes = find_minimum_cuts(requirements, capacities, network.network, 0.0)
        attackers = self.sides.attackers[[k for pair in pairs for k in pair]]
        limits = Capacities(self._bounds.up, self._bounds.down, capacities.share)
        starts, columns, _, upward = find_crossings(
            requirements._replace(attackers=attackers), limits, network.network, ends, nodes
        )
        signs = np.where(upward, 1.0, -1.0)
        number = 0
        for pair in pairs:
            ratios: list[list[Ratios]] = []
            for _ in pair:
                # a cut that no cell crosses says that the target cannot move, whatever is published
                cut = [side for side in (number, number + 1) if ends[side] < ends[side + 1]]
                borders = [slice(starts[side], starts[side + 1]) for side in cut]
                ratios.append([(columns[border], signs[border]) for border in borders])
                number += 2
            self._add_cuts(state, pair, ratios, network=True)

    def _solve_programs(self, state: _SeparationState, waiting: NDArray[np.int64], *, every: bool) -> bool:
        """Solve subproblems as linear programs, those first that missed their level before; return whether all were.

        Among these, and among the others, those come first that had to wait the last time. The others wait where there
        are cuts of the first: from one point to the next mostly the same levels are missed.
        """
        programs, slacks, parameters = self._programs, state.slacks, self.parameters
        few = len(state.cuts) + parameters.least_program_cuts
        many = max(few, len(state.cuts) + len(waiting) // parameters.subproblems_per_cut)
        turned = np.concatenate([waiting[waiting >= self._next], waiting[waiting < self._next]])
        missed = self._missed[turned]
        order = np.concatenate([turned[missed], turned[~missed]])
        enough = np.where(np.arange(len(order)) < int(missed.sum()), many, few)
        for place, first in enumerate(order.tolist()):
            pair = self._pair(first)
            known = programs.recall(slacks, pair)
            if known is not None and not len(state.record([pair], known)):
                self._missed[first] = False
                continue
            if not every and len(state.cuts) >= enough[place]:
                self._next = first
                return False
            moves, ratios = zip(*(programs.solve(slacks, k) for k in pair), strict=True)
            programs.keep(slacks, pair, moves)
            if len(pair) == 1:
                programs.share(slacks, first, moves[0], order[place + 1 :])
            self._missed[first] = bool(len(state.record([pair], np.array([move.reach for move in moves]))))
            if self._missed[first]:
                self._add_cuts(state, pair, [[] if found is None else [found] for found in ratios], network=False)
        return True

    def _add_cuts(
        self, state: _SeparationState, pair: Sequence[int], ratios: Sequence[Sequence[Ratios]], *, network: bool
    ) -> None:
        """Add the violated cuts of a subproblem, of a sliding level from every combination of its two sides."""
        deadline.check()
        slacks, level = state.slacks, float(self.sides.levels[pair[0]] * state.shares[pair[0]])
        options = [
            [slacks.own_expression(k), *(slacks.expression(k, one, network=network) for one in found)]
            for k, found in zip(pair, ratios, strict=True)
        ]
        values = [[one.at(slacks.v) for one in options_of_one] for options_of_one in options]
        for places in product(*(range(len(one)) for one in options)):
            if sum(value[place] for value, place in zip(values, places, strict=True)) < level * (1 - state.missing):
                parts = [option[place] for option, place in zip(options, places, strict=True)]
                reach = parts[0] if len(parts) == 1 else parts[0].plus(parts[1])
                cut = self._demand(reach, pair[0])
                state.cuts[cut.key] = cut


@dataclass(frozen=True, slots=True, eq=False)
class _SeparationState:
    """What is known about a point so far: the shares of their levels that subproblems reach, and cuts by their keys.

    Subproblems must reach `shares` of their levels, ``(s,)``.
    """

    slacks: SlacksAt
    missing: float
    shares: NDArray[np.float64]
    reached: NDArray[np.float64]
    cuts: dict[bytes, Cut]

    def record(
        self, pairs: Sequence[Sequence[int]], moves: NDArray[np.float64], *, partial: bool = False
    ) -> NDArray[np.int64]:
        """Note how far subproblems move their cells, both of a sliding level together; return which miss their level.

        What is published about the cell itself is taken into account here.
        """
        sides = np.array([k for pair in pairs for k in pair], dtype=np.int64)
        number = np.repeat(np.arange(len(pairs)), [len(pair) for pair in pairs])
        far = np.bincount(number, np.minimum(moves, self.slacks.own[sides]), len(pairs))
        firsts = [pair[0] for pair in pairs]
        wanted = self.slacks.bounds.sides.levels[firsts] * self.shares[firsts]
        got = np.divide(far, wanted, out=np.ones(len(pairs)), where=self.shares[firsts] > INTEGRAL)
        if not partial:
            self.reached[sides] = np.minimum(got, 1.0)[number]
        return np.flatnonzero(got < 1.0 - self.missing)
