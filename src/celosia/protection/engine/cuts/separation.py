"""Attacks on a point of the master: cuts that it violates, from flows where cells form networks, else from programs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.redundancy import coloured
from celosia.protection.engine.cuts.capacity import Cut, Reach, Workshop, cover
from celosia.protection.engine.cuts.capacity_kernel import Reaches, made
from celosia.protection.engine.parameters import PARAMETERS, CutParameters
from celosia.protection.engine.problem import Task
from celosia.protection.engine.requirements import Sides
from celosia.protection.engine.subproblems.flow import Asked, Rooms, crossings, furthest, minimum_cuts
from celosia.protection.engine.subproblems.lp import Program
from celosia.protection.engine.subproblems.support import Hidden
from celosia.solve import deadline
from celosia.solve.backend import Backend
from celosia.tolerance import CUT_SATISFIED, CUT_VIOLATED, HIDDEN_ZERO, LEVEL_EXCEEDED


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """What an attack on a point found.

    Parameters
    ----------
    cuts
        Inequalities that the point violates, the most violated first.
    open
        Goals that the point does not reach, as far as they were asked, increasing.
    """

    cuts: list[Cut]
    open: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Separator:
    """Finds cuts for a task.

    Parameters
    ----------
    workshop
        Makes the cuts.
    sides
        What is asked.
    backend
        Solves attackers' programs.
    parameters
        How much effort separation is worth.
    """

    workshop: Workshop
    sides: Sides
    backend: Backend
    parameters: CutParameters = PARAMETERS.cuts

    @property
    def task(self) -> Task:
        """The task."""
        return self.workshop.task

    @cached_property
    def networks(self) -> list[Hidden]:
        """The whole task where it is a network; otherwise networks of some of its relations.

        Relations that cover every cell at most once, like the rows of a table, are of one colour; those of two colours
        form a network, such as a plane of a table in three dimensions. Leaving relations out only weakens attackers,
        so what their cuts demand, all of them together demand as well.
        """
        everything = np.arange(len(self.task))
        whole = Hidden.of(self.task, everything)
        if bool(whole.parts.network.all()):
            return [whole]
        colour = coloured(self.task.matrix.indptr, self.task.matrix.indices, len(self.task))
        pairs = combinations(range(int(colour.max(initial=-1)) + 1), 2)
        parts = (Hidden.of(self.task, everything, np.flatnonzero(np.isin(colour, pair))) for pair in pairs)
        return [part for part in parts if len(part.parts)]

    @property
    def is_network(self) -> bool:
        """Whether the whole task is a network."""
        first = self.networks[0] if self.networks else None
        return (
            first is not None
            and bool(first.parts.network.all())
            and len(first.system.relations) == self.task.matrix.shape[0]
        )

    def pressing(self, late: Callable[[], bool]) -> Separator:
        """Return the same with those questions only that the forced cells do not answer by themselves.

        Hiding more never takes an answer away; those that have one by a hair are asked all the same, and those that
        there was no time to look at.
        """
        x = self.task.forced.astype(np.float64)
        more = replace(self.sides, levels=self.sides.levels * (1.0 + LEVEL_EXCEEDED))
        short = self._short(x, more, self._furthest(x, more, late))
        return replace(self, sides=self.sides.take(short | ~self.task.forced[self.sides.columns]))

    def attack(
        self,
        x: NDArray[np.float64],
        *,
        whole: bool = False,
        deep: bool = True,
        check: Callable[[], None] = lambda: None,
    ) -> Found:
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
        asked, x = self.sides, self.workshop.wide(x)
        found = self._attack_networks(x, asked, whole=whole)
        if self.is_network or not deep or len(found.cuts) >= self.parameters.enough_cuts or (whole and found.cuts):
            return found
        answers = self._answers(x, asked, whole=whole, check=check)
        deeper = self._found(x, asked, answers, CUT_SATISFIED if whole else CUT_VIOLATED)
        cuts = {cut.key: cut for cut in (*found.cuts, *deeper.cuts)}
        return Found(list(cuts.values()), deeper.open)

    def _attack_networks(self, x: NDArray[np.float64], asked: Sides, *, whole: bool) -> Found:
        """Return what flows in the networks of the task find; exact where the task is one."""
        answers = _Answers.of(len(asked))
        threshold = CUT_SATISFIED if whole else CUT_VIOLATED
        for hidden in self.networks:
            component = hidden.parts.component[asked.columns].astype(np.int64)
            network = np.flatnonzero((component >= 0) & hidden.is_network(component))
            reaches = self._crossed(hidden, x, asked, network, answers)
            answers.cuts.extend(made(reaches, self.task.forced, x, threshold, True).cuts)  # noqa: FBT003 - compiled
            if self.is_network:
                self._explain_stuck(hidden, asked, np.flatnonzero(component < 0), answers)
        return self._found(x, asked, answers, threshold)

    def _crossed(
        self,
        hidden: Hidden,
        share: NDArray[np.float64],
        asked: Sides,
        places: NDArray[np.int64],
        answers: _Answers,
    ) -> Reaches:
        """Answer the questions about networks of all cells; return what stopped those that do not slide."""
        mine = asked.take(places)
        put = Asked(mine.columns, mine.attackers, mine.upward, mine.levels)
        rooms = Rooms(self.workshop.up, self.workshop.down, share)
        got, ends, nodes = minimum_cuts(put, rooms, hidden.network, self.parameters.least_share)
        answers.reached[places] = np.maximum(answers.reached[places], got)
        starts, columns, values, _ = crossings(put, rooms, hidden.network, ends, nodes)
        stopped, both = np.diff(ends) > 0, np.repeat(np.arange(len(mine)), 2)
        for number in np.flatnonzero(stopped & mine.sliding[both]).tolist():
            terms = slice(starts[number], starts[number + 1])
            answers.reaches[places[number // 2]].append(Reach(columns[terms], values[terms]))
        levels = np.where(stopped & ~mine.sliding[both], mine.levels[both], 0.0)  # no level, no cut
        return Reaches(starts, columns, values, mine.columns[both], levels)

    def reached(self, pattern: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return how far every question gets in a pattern, as a part of its level, no more than 1, ``(s,)``."""
        return self._furthest(self.workshop.wide(pattern).astype(np.float64), self.sides)

    def missed(self, pattern: NDArray[np.bool_], late: Callable[[], bool] = lambda: False) -> NDArray[np.int64]:
        """Return the goals that a pattern misses, with those for which it is too late."""
        x = self.workshop.wide(pattern).astype(np.float64)
        return self._open(x, self.sides, self._furthest(x, self.sides, late))

    def _furthest(
        self, x: NDArray[np.float64], asked: Sides, late: Callable[[], bool] = lambda: False
    ) -> NDArray[np.float64]:
        """Return how far questions get in a pattern; nowhere those for which it is too late."""
        if not self.is_network:
            return self._answers(x, asked, whole=True, why=False, late=late).reached
        hidden = self.networks[0]
        network = hidden.among(x > HIDDEN_ZERO)
        inside = np.flatnonzero(network.tail[asked.columns] >= 0)
        some = asked.take(inside)
        reached = np.zeros(len(asked))
        put = Asked(some.columns, some.attackers, some.upward, some.levels)
        reached[inside] = furthest(put, Rooms(self.workshop.up, self.workshop.down, x), network)
        return reached

    def _answers(
        self,
        x: NDArray[np.float64],
        asked: Sides,
        *,
        whole: bool,
        why: bool = True,
        check: Callable[[], None] = lambda: None,
        late: Callable[[], bool] = lambda: False,
    ) -> _Answers:
        """Return what attackers find among the cells that the point hides, with all relations, on request also why."""
        hidden = Hidden.of(self.task, np.flatnonzero(x > HIDDEN_ZERO))
        place = hidden.place(len(self.task))
        component = np.full(len(asked), -1, dtype=np.int64)
        inside = np.flatnonzero(place[asked.columns] >= 0)
        component[inside] = hidden.parts.component[place[asked.columns[inside]]]
        network = (component >= 0) & hidden.is_network(component)
        answers = _Answers.of(len(asked))
        self._follow_flows(hidden, x, asked, np.flatnonzero(network), answers, why=why)
        self._solve_programs(
            hidden, x, asked, component, ~network & (component >= 0), answers, check, late, whole=whole, why=why
        )
        if why:
            self._explain_stuck(hidden, asked, np.flatnonzero(component < 0), answers)
        return answers

    def _follow_flows(
        self,
        hidden: Hidden,
        share: NDArray[np.float64],
        asked: Sides,
        places: NDArray[np.int64],
        answers: _Answers,
        *,
        why: bool,
    ) -> None:
        """Answer the questions about networks."""
        if not len(places):
            return
        mine = asked.take(places)
        place = hidden.place(len(self.task))
        order = np.argsort(hidden.parts.component[place[mine.columns]], kind="stable")
        mine, places = mine.take(order), places[order]
        got, ends, nodes = minimum_cuts(
            Asked(place[mine.columns], mine.attackers, mine.upward, mine.levels),
            Rooms(*self.workshop.rooms(hidden.columns), share[hidden.columns]),
            hidden.network,
            0.0,
        )
        answers.reached[places] = np.maximum(answers.reached[places], got)
        for k in np.flatnonzero(np.diff(ends[::2]) > 0).tolist() if why else ():
            deadline.check()
            for side in (0, 1):
                rows, gamma = hidden.completed(*hidden.multipliers(nodes[ends[2 * k + side] : ends[2 * k + side + 1]]))
                reach = self.workshop.reach(
                    rows, gamma, int(mine.columns[k]), int(mine.attackers[k]), upward=bool(mine.upward[k])
                )
                if reach is not None:
                    answers.reaches[places[k]].append(reach)

    def _solve_programs(
        self,
        hidden: Hidden,
        share: NDArray[np.float64],
        asked: Sides,
        component: NDArray[np.int64],
        others: NDArray[np.bool_],
        answers: _Answers,
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
            program = Program.of(self.workshop, columns, share[columns], self.backend, hidden.completed)
            program = replace(program, least_ratio=self.parameters.least_ratio)
            mine = asked.take(places)
            for answer in program.exact_answers(mine, why=why) if whole else program.answers(mine):
                check()
                if late():
                    return
                answers.reached[places[answer.place]] = answer.reached
                answers.reaches[places[answer.place]] += answer.reaches

    def _explain_stuck(self, hidden: Hidden, asked: Sides, places: NDArray[np.int64], answers: _Answers) -> None:
        """Find multipliers for cells that do not move at all: they follow from relations with one unknown each."""
        for k in places.tolist():
            deadline.check()
            rows, gamma = hidden.derivation(int(asked.columns[k]))
            reach = self.workshop.reach(
                rows, gamma, int(asked.columns[k]), int(asked.attackers[k]), upward=bool(asked.upward[k])
            )
            if reach is not None:
                answers.reaches[k].append(reach)

    def _found(
        self,
        x: NDArray[np.float64],
        asked: Sides,
        answers: _Answers,
        threshold: float,
    ) -> Found:
        """Return the cuts that the point violates, and the goals that it misses."""
        cuts = {cut.key: cut for cut in answers.cuts}
        for cut in self._candidates(asked, answers.reaches):
            wider = cover(cut, x)
            for one in (cut, wider):
                if one is not None and one.missing(x) > threshold:
                    cuts[one.key] = one
        ranked = sorted(cuts.values(), key=lambda cut: -cut.missing(x))
        return Found(ranked, self._open(x, asked, answers.reached))

    def _candidates(self, asked: Sides, reaches: list[list[Reach]]) -> Iterator[Cut]:
        """Yield the cuts of all questions, sliding ones of both sides together."""
        for k in range(len(asked)):
            deadline.check()
            if asked.sliding[k]:
                if asked.upward[k]:
                    yield from self._sliding(asked, k, reaches)
            else:
                for reach in reaches[k]:
                    cut = self.workshop.cut([reach], float(asked.levels[k]), int(asked.columns[k]))
                    if cut is not None:
                        yield cut

    def _sliding(self, asked: Sides, k: int, reaches: list[list[Reach]]) -> Iterator[Cut]:
        nothing: list[Reach | None] = [None]
        for up in [*reaches[k]] or nothing:
            for down in [*reaches[k + 1]] or nothing:
                yield from self.sliding_cuts(k, asked, up, down)

    def sliding_cuts(self, k: int, asked: Sides, up: Reach | None, down: Reach | None) -> Iterator[Cut]:
        """Yield the cuts of a sliding level: on each side either the multipliers' bound or the cell's own room."""
        column, who, level = int(asked.columns[k]), int(asked.attackers[k]), float(asked.levels[k])
        own_up, own_down = float(self.workshop.up[who, column]), float(self.workshop.down[who, column])
        choices = [([up, down], level), ([up], level - own_down), ([down], level - own_up)]
        for reaches, needed in choices:
            known = [reach for reach in reaches if reach is not None]
            cut = self.workshop.cut(known, needed, column) if len(known) == len(reaches) and needed > 0 else None
            if cut is not None:
                yield cut

    def _open(self, x: NDArray[np.float64], asked: Sides, reached: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the goals that are missed."""
        return np.unique(asked.goals[self._short(x, asked, reached)])

    def _short(self, x: NDArray[np.float64], asked: Sides, reached: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which questions fall short, both sides of a sliding level together."""
        room = np.where(
            asked.upward,
            self.workshop.up[asked.attackers, asked.columns],
            self.workshop.down[asked.attackers, asked.columns],
        )
        part = np.minimum(reached, room / asked.levels)
        both = part.copy()
        first = np.flatnonzero(asked.sliding & asked.upward)
        both[first] = both[first + 1] = part[first] + part[first + 1]
        return np.asarray(both < x[asked.columns] - HIDDEN_ZERO)


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """How far every question gets, as a part of its level, multipliers that say why no further, and cuts of such."""

    reached: NDArray[np.float64]
    reaches: list[list[Reach]]
    cuts: list[Cut]

    @classmethod
    def of(cls, n: int) -> _Answers:
        return cls(np.zeros(n), [[] for _ in range(n)], [])
