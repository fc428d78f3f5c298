"""Attacks on a point of the master: cuts that it violates, from flows where cells form networks, else from programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.redundancy import coloured
from celosia.protection.engine.cuts.capacity import Cut, CutBuilder, Reach, build_cover
from celosia.protection.engine.cuts.capacity_kernel import Reaches, made
from celosia.protection.engine.parameters import PARAMETERS, CutParameters
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.subproblems.flow import Asked, Rooms, crossings, furthest, minimum_cuts
from celosia.protection.engine.subproblems.lp import AttackerProgram
from celosia.protection.engine.subproblems.requirements import SideRequirements
from celosia.protection.engine.subproblems.support import SupportGraph
from celosia.solve import deadline
from celosia.solve.backend import Backend
from celosia.tolerance import CUT_SATISFIED, CUT_VIOLATED, HIDDEN_ZERO, LEVEL_EXCEEDED


@dataclass(frozen=True, slots=True, eq=False)
class ViolatedCuts:
    """What an attack on a point found.

    Parameters
    ----------
    cuts
        Inequalities that the point violates, the most violated first.
    missed
        Goals that the point does not reach, as far as they were asked, increasing.
    """

    cuts: list[Cut]
    missed: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Separator:
    """Finds cuts for a problem.

    Parameters
    ----------
    builder
        Makes the cuts.
    sides
        What is asked.
    backend
        Solves attackers' programs.
    parameters
        How much effort separation is worth.
    """

    builder: CutBuilder
    sides: SideRequirements
    backend: Backend
    parameters: CutParameters = PARAMETERS.cuts

    @property
    def problem(self) -> ProtectionProblem:
        """The problem."""
        return self.builder.problem

    @cached_property
    def networks(self) -> list[SupportGraph]:
        """The whole problem where it is a network; otherwise networks of some of its relations.

        Relations that cover every cell at most once, like the rows of a table, are of one colour; those of two colours
        form a network, such as a plane of a table in three dimensions. Leaving relations out only weakens attackers,
        so what their cuts demand, all of them together demand as well.
        """
        everything = np.arange(len(self.problem))
        whole = SupportGraph.of(self.problem, everything)
        if bool(whole.parts.network.all()):
            return [whole]
        colour = coloured(self.problem.matrix.indptr, self.problem.matrix.indices, len(self.problem))
        pairs = combinations(range(int(colour.max(initial=-1)) + 1), 2)
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

    def presolve(self, late: Callable[[], bool]) -> Separator:
        """Return the same with those questions only that the forced cells do not answer by themselves.

        Hiding more never takes an answer away; those that have one by a hair are asked all the same, and those that
        there was no time to look at.
        """
        x = self.problem.forced.astype(np.float64)
        more = replace(self.sides, levels=self.sides.levels * (1.0 + LEVEL_EXCEEDED))
        short = self._fall_short(x, more, self._measure(x, more, late))
        return replace(self, sides=self.sides.take(short | ~self.problem.forced[self.sides.columns]))

    def separate(
        self,
        x: NDArray[np.float64],
        *,
        whole: bool = False,
        deep: bool = True,
        check: Callable[[], None] = lambda: None,
    ) -> ViolatedCuts:
        """Return what attackers find against a point.

        Parameters
        ----------
        x
            By how much every cell is hidden, ``(n,)``; 1 for forced ones, of which the last may be left out.
        whole
            The point is a pattern: rooms are taken as they are, and every cut that is missed at all counts.
        deep
            Solve programs where flows find nothing.
        check
            Is called before every program; what it raises ends the attack.
        """
        asked, x = self.sides, self.builder.padded_with_forced(x)
        found = self._separate_by_networks(x, asked, whole=whole)
        if self.is_network or not deep or len(found.cuts) >= self.parameters.enough_cuts or (whole and found.cuts):
            return found
        answers = self._solve(x, asked, whole=whole, check=check)
        deeper = self._collect(x, asked, answers, CUT_SATISFIED if whole else CUT_VIOLATED)
        cuts = {cut.key: cut for cut in (*found.cuts, *deeper.cuts)}
        return ViolatedCuts(list(cuts.values()), deeper.missed)

    def _separate_by_networks(self, x: NDArray[np.float64], asked: SideRequirements, *, whole: bool) -> ViolatedCuts:
        """Return what flows in the networks of the problem find; exact where the problem is one."""
        answers = _Solutions.of(len(asked))
        threshold = CUT_SATISFIED if whole else CUT_VIOLATED
        for hidden in self.networks:
            component = hidden.parts.component[asked.columns].astype(np.int64)
            network = np.flatnonzero((component >= 0) & hidden.is_network(component))
            reaches = self._solve_network_flows(hidden, x, asked, network, answers)
            answers.cuts.extend(made(reaches, self.problem.forced, x, threshold, True).cuts)  # noqa: FBT003 - compiled
            if self.is_network:
                self._explain_determined(hidden, asked, np.flatnonzero(component < 0), answers)
        return self._collect(x, asked, answers, threshold)

    def _solve_network_flows(
        self,
        hidden: SupportGraph,
        share: NDArray[np.float64],
        asked: SideRequirements,
        places: NDArray[np.int64],
        answers: _Solutions,
    ) -> Reaches:
        """Answer the questions about networks of all cells; return what stopped those that do not slide."""
        mine = asked.take(places)
        put = Asked(mine.columns, mine.attackers, mine.upward, mine.levels)
        rooms = Rooms(self.builder.up, self.builder.down, share)
        got, ends, nodes = minimum_cuts(put, rooms, hidden.network, self.parameters.least_share)
        answers.reached[places] = np.maximum(answers.reached[places], got)
        starts, columns, values, _ = crossings(put, rooms, hidden.network, ends, nodes)
        stopped, both = np.diff(ends) > 0, np.repeat(np.arange(len(mine)), 2)
        for number in np.flatnonzero(stopped & mine.sliding[both]).tolist():
            terms = slice(starts[number], starts[number + 1])
            answers.reaches[places[number // 2]].append(Reach(columns[terms], values[terms]))
        levels = np.where(stopped & ~mine.sliding[both], mine.levels[both], 0.0)  # no level, no cut
        return Reaches(starts, columns, values, mine.columns[both], levels)

    def measure_reach(self, pattern: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return how far every question gets in a pattern, as a part of its level, no more than 1, ``(s,)``."""
        return self._measure(self.builder.padded_with_forced(pattern).astype(np.float64), self.sides)

    def find_missed(self, pattern: NDArray[np.bool_], late: Callable[[], bool] = lambda: False) -> NDArray[np.int64]:
        """Return the goals that a pattern misses, with those for which it is too late."""
        x = self.builder.padded_with_forced(pattern).astype(np.float64)
        return self._find_missed(x, self.sides, self._measure(x, self.sides, late))

    def _measure(
        self, x: NDArray[np.float64], asked: SideRequirements, late: Callable[[], bool] = lambda: False
    ) -> NDArray[np.float64]:
        """Return how far questions get in a pattern; nowhere those for which it is too late."""
        if not self.is_network:
            return self._solve(x, asked, whole=True, why=False, late=late).reached
        hidden = self.networks[0]
        network = hidden.among(x > HIDDEN_ZERO)
        inside = np.flatnonzero(network.tail[asked.columns] >= 0)
        some = asked.take(inside)
        reached = np.zeros(len(asked))
        put = Asked(some.columns, some.attackers, some.upward, some.levels)
        reached[inside] = furthest(put, Rooms(self.builder.up, self.builder.down, x), network)
        return reached

    def _solve(
        self,
        x: NDArray[np.float64],
        asked: SideRequirements,
        *,
        whole: bool,
        why: bool = True,
        check: Callable[[], None] = lambda: None,
        late: Callable[[], bool] = lambda: False,
    ) -> _Solutions:
        """Return what attackers find among the cells that the point hides, with all relations, on request also why."""
        hidden = SupportGraph.of(self.problem, np.flatnonzero(x > HIDDEN_ZERO))
        place = hidden.place(len(self.problem))
        component = np.full(len(asked), -1, dtype=np.int64)
        inside = np.flatnonzero(place[asked.columns] >= 0)
        component[inside] = hidden.parts.component[place[asked.columns[inside]]]
        network = (component >= 0) & hidden.is_network(component)
        answers = _Solutions.of(len(asked))
        self._solve_flows(hidden, x, asked, np.flatnonzero(network), answers, why=why)
        self._solve_programs(
            hidden, x, asked, component, ~network & (component >= 0), answers, check, late, whole=whole, why=why
        )
        if why:
            self._explain_determined(hidden, asked, np.flatnonzero(component < 0), answers)
        return answers

    def _solve_flows(
        self,
        hidden: SupportGraph,
        share: NDArray[np.float64],
        asked: SideRequirements,
        places: NDArray[np.int64],
        answers: _Solutions,
        *,
        why: bool,
    ) -> None:
        """Answer the questions about networks."""
        if not len(places):
            return
        mine = asked.take(places)
        place = hidden.place(len(self.problem))
        order = np.argsort(hidden.parts.component[place[mine.columns]], kind="stable")
        mine, places = mine.take(order), places[order]
        got, ends, nodes = minimum_cuts(
            Asked(place[mine.columns], mine.attackers, mine.upward, mine.levels),
            Rooms(*self.builder.rooms(hidden.columns), share[hidden.columns]),
            hidden.network,
            0.0,
        )
        answers.reached[places] = np.maximum(answers.reached[places], got)
        for k in np.flatnonzero(np.diff(ends[::2]) > 0).tolist() if why else ():
            deadline.check()
            for side in (0, 1):
                rows, gamma = hidden.completed(*hidden.multipliers(nodes[ends[2 * k + side] : ends[2 * k + side + 1]]))
                reach = self.builder.bound_move(
                    rows, gamma, int(mine.columns[k]), int(mine.attackers[k]), upward=bool(mine.upward[k])
                )
                if reach is not None:
                    answers.reaches[places[k]].append(reach)

    def _solve_programs(
        self,
        hidden: SupportGraph,
        share: NDArray[np.float64],
        asked: SideRequirements,
        component: NDArray[np.int64],
        others: NDArray[np.bool_],
        answers: _Solutions,
        check: Callable[[], None],
        late: Callable[[], bool],
        *,
        whole: bool,
        why: bool,
    ) -> None:
        """Answer the questions about components that are no networks."""
        for number in np.unique(component[others]).tolist():
            places = np.flatnonzero(others & (component == number))
            columns = hidden.columns[hidden.parts.members(number)]
            program = AttackerProgram.of(self.builder, columns, share[columns], self.backend, hidden.completed)
            program = replace(program, least_ratio=self.parameters.least_ratio)
            mine = asked.take(places)
            for answer in program.solve_exactly(mine, why=why) if whole else program.solve(mine):
                check()
                if late():
                    return
                answers.reached[places[answer.place]] = answer.reached
                answers.reaches[places[answer.place]] += answer.reaches

    def _explain_determined(
        self, hidden: SupportGraph, asked: SideRequirements, places: NDArray[np.int64], answers: _Solutions
    ) -> None:
        """Find multipliers for cells that do not move at all: they follow from relations with one unknown each."""
        for k in places.tolist():
            deadline.check()
            rows, gamma = hidden.derivation(int(asked.columns[k]))
            reach = self.builder.bound_move(
                rows, gamma, int(asked.columns[k]), int(asked.attackers[k]), upward=bool(asked.upward[k])
            )
            if reach is not None:
                answers.reaches[k].append(reach)

    def _collect(
        self,
        x: NDArray[np.float64],
        asked: SideRequirements,
        answers: _Solutions,
        threshold: float,
    ) -> ViolatedCuts:
        """Return the cuts that the point violates, and the goals that it misses."""
        cuts = {cut.key: cut for cut in answers.cuts}
        for cut in self._build_cuts(asked, answers.reaches):
            wider = build_cover(cut, x)
            for one in (cut, wider):
                if one is not None and one.missing(x) > threshold:
                    cuts[one.key] = one
        ranked = sorted(cuts.values(), key=lambda cut: -cut.missing(x))
        return ViolatedCuts(ranked, self._find_missed(x, asked, answers.reached))

    def _build_cuts(self, asked: SideRequirements, reaches: list[list[Reach]]) -> Iterator[Cut]:
        """Yield the cuts of all questions, sliding ones of both sides together."""
        for k in range(len(asked)):
            deadline.check()
            if asked.sliding[k]:
                if asked.upward[k]:
                    yield from self._build_pairs(asked, k, reaches)
            else:
                for reach in reaches[k]:
                    cut = self.builder.build_cut([reach], float(asked.levels[k]), int(asked.columns[k]))
                    if cut is not None:
                        yield cut

    def _build_pairs(self, asked: SideRequirements, k: int, reaches: list[list[Reach]]) -> Iterator[Cut]:
        nothing: list[Reach | None] = [None]
        for up in [*reaches[k]] or nothing:
            for down in [*reaches[k + 1]] or nothing:
                yield from self.build_sliding_cuts(k, asked, up, down)

    def build_sliding_cuts(
        self, k: int, asked: SideRequirements, up: Reach | None, down: Reach | None
    ) -> Iterator[Cut]:
        """Yield the cuts of a sliding level: on each side either the multipliers' bound or the cell's own room."""
        column, who, level = int(asked.columns[k]), int(asked.attackers[k]), float(asked.levels[k])
        own_up, own_down = float(self.builder.up[who, column]), float(self.builder.down[who, column])
        choices = [([up, down], level), ([up], level - own_down), ([down], level - own_up)]
        for reaches, needed in choices:
            known = [reach for reach in reaches if reach is not None]
            cut = self.builder.build_cut(known, needed, column) if len(known) == len(reaches) and needed > 0 else None
            if cut is not None:
                yield cut

    def _find_missed(
        self, x: NDArray[np.float64], asked: SideRequirements, reached: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return the goals that are missed."""
        return np.unique(asked.goals[self._fall_short(x, asked, reached)])

    def _fall_short(
        self, x: NDArray[np.float64], asked: SideRequirements, reached: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which questions fall short, both sides of a sliding level together."""
        room = np.where(
            asked.upward,
            self.builder.up[asked.attackers, asked.columns],
            self.builder.down[asked.attackers, asked.columns],
        )
        part = np.minimum(reached, room / asked.levels)
        both = part.copy()
        first = np.flatnonzero(asked.sliding & asked.upward)
        both[first] = both[first + 1] = part[first] + part[first + 1]
        return np.asarray(both < x[asked.columns] - HIDDEN_ZERO)


@dataclass(frozen=True, slots=True, eq=False)
class _Solutions:
    """How far every question gets, as a part of its level, multipliers that say why no further, and cuts of such."""

    reached: NDArray[np.float64]
    reaches: list[list[Reach]]
    cuts: list[Cut]

    @classmethod
    def of(cls, n: int) -> _Solutions:
        return cls(np.zeros(n), [[] for _ in range(n)], [])
