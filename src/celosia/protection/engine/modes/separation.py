"""Attacks on a point of any modes: how far each cell moves, and the cuts that say why no further.

Cells in networks are answered by flows, all in one call; the others by programs. Where programs are needed, networks of
some of the relations are asked first: what their cuts demand, all relations together demand as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, product
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.redundancy import coloured
from celosia.protection.engine.capacity import Cut, CutBuilder
from celosia.protection.engine.modes.lp import Programs
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.slacks import Doors, Linear, Opening, Ratios
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.subproblems.flow import (
    Capacities,
    FlowRequirements,
    find_crossings,
    find_minimum_cuts,
    measure_flows,
)
from celosia.protection.engine.subproblems.requirements import SideRequirements, split_sides
from celosia.protection.engine.subproblems.support import SupportGraph
from celosia.solve import deadline
from celosia.solve.backend import Backend

REACHED = 1e-7
"""A level that is missed by less than this part is reached, as far as doubles can tell; the last word has the audit."""

_UP = 2.0**-29
"""Coefficients of cuts are rounded up to multiples of this: variables are not negative, so a cut stays valid."""

_DOUBLE = 1e-12
"""More than the rounding error of a coefficient."""

_ROUNDING = 1e-9
"""More than what rounding errors of doubles add up to in the right side of a cut, relative to its terms."""

_ENOUGH = 5
"""With so many cuts from networks the programs can wait."""

_FEW, _SHARE = 10, 4
"""With so many cuts from programs, and one for so many questions, the others can wait."""

_AT_ONCE = 2_000_000
"""So many rooms are laid side by side for one call, where they differ from question to question."""

Effort = Literal["all", "enough", "little"]


@dataclass(frozen=True, slots=True, eq=False)
class Pressed:
    """What an attack on a point found.

    Parameters
    ----------
    cuts
        What the point violates, the worst first.
    reached
        How far each question got, as a part of its level, sliding ones in all, ``(s,)``.
    complete
        Every question was answered; the others count as not reached at all.
    """

    cuts: list[Cut]
    reached: NDArray[np.float64]
    complete: bool

    @property
    def least(self) -> float:
        """The part of its level that the worst question reaches."""
        return float(self.reached.min(initial=1.0))


@dataclass(eq=False)
class Press:
    """Attacks points of the modes of a task.

    Parameters
    ----------
    task
        What must be reached.
    modes
        What may be published.
    backend
        Solves the attackers' programs where cells form no networks.
    """

    task: ProtectionProblem
    modes: Modes
    backend: Backend
    sides: SideRequirements = field(init=False)
    _next: int = 0

    def __post_init__(self) -> None:
        sides = split_sides(self.task.goals)
        self.sides = replace(sides, levels=sides.levels / self.modes.unit)

    @cached_property
    def whole(self) -> SupportGraph:
        """All columns, taken apart."""
        return SupportGraph.of(self.task, np.arange(len(self.task)))

    @cached_property
    def _doors(self) -> Doors:
        unit = self.modes.unit
        return Doors(self.modes, self.sides, self._builder.up / unit, self._builder.down / unit)

    @cached_property
    def _builder(self) -> CutBuilder:
        return CutBuilder.of(self.task)

    @cached_property
    def _programs(self) -> Programs:
        return Programs(self.task, self.sides, self.whole, self._builder, self.backend)

    @cached_property
    def _planes(self) -> list[SupportGraph]:
        """Networks of some of the relations, where all of them form none.

        Relations that cover every cell at most once are of one colour, and those of two colours form a network. Leaving
        relations out only weakens attackers.
        """
        if bool(self._network.all()):
            return []
        colour = coloured(self.task.matrix.indptr, self.task.matrix.indices, len(self.task))
        everything = np.arange(len(self.task))
        pairs = combinations(range(int(colour.max(initial=-1)) + 1), 2)
        parts = (SupportGraph.of(self.task, everything, np.flatnonzero(np.isin(colour, pair))) for pair in pairs)
        return [part for part in parts if len(part.parts)]

    @cached_property
    def _network(self) -> NDArray[np.bool_]:
        """Which questions are about networks."""
        return self._inside(self.whole, np.arange(len(self.sides)))

    def _inside(self, network: SupportGraph, questions: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which questions are about a component that is a network."""
        component = network.parts.component[self.sides.columns[questions]].astype(np.int64)
        return network.is_network(component) & (component >= 0)

    @cached_property
    def _binary(self) -> NDArray[np.bool_]:
        """Which variables are 0 or 1."""
        program = self.modes.program
        whole = np.zeros(len(program.cost), dtype=bool) if program.integer is None else program.integer
        return np.asarray(whole & (program.upper <= 1.0))

    @cached_property
    def _questions(self) -> NDArray[np.int64]:
        """The questions; of sliding pairs the first."""
        return np.flatnonzero(~(self.sides.sliding & ~self.sides.upward))

    def attack(
        self,
        v: NDArray[np.float64],
        *,
        wider: NDArray[np.float64] | float = 0.0,
        missing: float = REACHED,
        effort: Effort = "all",
    ) -> Pressed:
        """Return the cuts that a point violates.

        Parameters
        ----------
        v
            The point.
        wider
            By how much all slacks are taken to be wider, in units: cuts found so use fewer columns.
        missing
            Levels that are missed by less than this part count as reached.
        effort
            Answer all questions, or programs only until there are cuts enough, or none where networks of some relations
            can be asked instead.
        """
        opening = Opening.of(self._doors, v, np.broadcast_to(wider, len(self.task)))
        answers = _Answers(opening, missing, np.zeros(len(self.sides)), {})
        by_flow = self._network[self._questions]
        self._ask_flows(answers, self.whole, self._questions[by_flow])
        waiting = self._questions[~by_flow]
        planes = self._planes if effort != "all" else []
        for plane in planes:
            self._ask_flows(answers, plane, waiting, part=True)
        complete = not len(waiting)
        if effort == "all" or (len(answers.cuts) < _ENOUGH and not (effort == "little" and planes)):
            complete = self._ask_programs(answers, waiting, deep=effort == "all")
        return Pressed(sorted(answers.cuts.values(), key=lambda cut: -cut.missing(v)), answers.reached, complete)

    @cached_property
    def by_flows(self) -> bool:
        """Whether some questions are answered by flows."""
        return bool(self._network.any())

    @cached_property
    def by_programs(self) -> bool:
        """Whether some questions are answered by programs."""
        return not bool(self._network.all())

    def least_by_flows(self, v: NDArray[np.float64]) -> float:
        """Return the part of its level that the worst question about a network reaches."""
        answers = _Answers(Opening.of(self._doors, v, np.zeros(len(self.task))), 1.0, np.ones(len(self.sides)), {})
        self._ask_flows(answers, self.whole, self._questions[self._network[self._questions]])
        return float(answers.reached.min(initial=1.0))

    def raised(self, v: NDArray[np.float64]) -> NDArray[np.float64] | None:
        """Return a point with ranges wide enough for all that programs have found; None where they know too little."""
        slacks = self._programs.needed(np.flatnonzero(~self._network))
        return None if slacks is None else self.modes.raised(v, *slacks)

    def _pair(self, first: int) -> tuple[int, ...]:
        """Return a question, of a sliding pair both."""
        return (first, first + 1) if self.sides.sliding[first] else (first,)

    def _ask_flows(
        self, answers: _Answers, network: SupportGraph, firsts: NDArray[np.int64], *, part: bool = False
    ) -> None:
        """Answer questions by flows, many at once; of a part of the relations only the cuts count."""
        firsts = firsts[self._inside(network, firsts)]
        at_once = len(firsts) if answers.opening.shared else max(1, _AT_ONCE // len(self.task))
        for start in range(0, len(firsts), max(at_once, 1)):
            deadline.check()
            pairs = [self._pair(first) for first in firsts[start : start + at_once].tolist()]
            asked, rooms = self._laid_out(answers.opening, pairs)
            moved = measure_flows(asked, rooms, network.network) * asked.levels
            short = answers.short(pairs, moved, part=part)
            if len(short):
                self._cut_off_flows(answers, network, [pairs[place] for place in short.tolist()])

    def _laid_out(self, opening: Opening, pairs: Sequence[Sequence[int]]) -> tuple[FlowRequirements, Capacities]:
        """Return questions and rooms for flows: an attacker's rooms once where they are shared, else for each."""
        sides, asked = self.sides, np.array([k for pair in pairs for k in pair], dtype=np.int64)
        if opening.shared:
            rooms, rows = [opening.plain(who) for who in range(self.task.n_attackers)], sides.attackers[asked]
        else:
            rooms, rows = [opening.rooms(k, network=True) for k in asked.tolist()], np.arange(len(asked))
        up, down = (np.array(side) for side in zip(*rooms, strict=True))
        return (
            FlowRequirements(sides.columns[asked], rows, sides.upward[asked], opening.wanted(asked)),
            Capacities(up, down, np.ones(len(self.task))),
        )

    def _cut_off_flows(self, answers: _Answers, network: SupportGraph, pairs: Sequence[Sequence[int]]) -> None:
        """Note the cuts of questions about a network, from both minimum cuts of each side."""
        asked, rooms = self._laid_out(answers.opening, pairs)
        _, ends, nodes = find_minimum_cuts(asked, rooms, network.network, 0.0)
        who = self.sides.attackers[[k for pair in pairs for k in pair]]
        limits = Capacities(self._doors.up, self._doors.down, rooms.share)
        starts, columns, _, upward = find_crossings(asked._replace(attackers=who), limits, network.network, ends, nodes)
        signs = np.where(upward, 1.0, -1.0)
        number = 0
        for pair in pairs:
            ratios: list[list[Ratios]] = []
            for _ in pair:
                borders = [slice(starts[number + side], starts[number + side + 1]) for side in range(2)]
                ratios.append([(columns[border], signs[border]) for border in borders if border.start < border.stop])
                number += 2
            self._cut_off(answers, pair, ratios, network=True)

    def _ask_programs(self, answers: _Answers, waiting: NDArray[np.int64], *, deep: bool) -> bool:
        """Answer questions by programs, those first that had to wait the last time; return whether all were."""
        programs, opening = self._programs, answers.opening
        enough = len(answers.cuts) + max(_FEW, len(waiting) // _SHARE)
        order = np.concatenate([waiting[waiting >= self._next], waiting[waiting < self._next]])
        for place, first in enumerate(order.tolist()):
            pair = self._pair(first)
            known = programs.known(opening, pair)
            if known is not None and not len(answers.short([pair], known)):
                continue
            if not deep and len(answers.cuts) >= enough:
                self._next = first
                return False
            moves, ratios = zip(*(programs.pushed(opening, k) for k in pair), strict=True)
            programs.keep(opening, pair, moves)
            if len(pair) == 1:
                programs.share(opening, first, moves[0], order[place + 1 :])
            if len(answers.short([pair], np.array([move.far for move in moves]))):
                self._cut_off(answers, pair, [[] if found is None else [found] for found in ratios], network=False)
        return True

    def _cut_off(
        self, answers: _Answers, pair: Sequence[int], ratios: Sequence[Sequence[Ratios]], *, network: bool
    ) -> None:
        """Note the cuts of a question, of a sliding level from every combination of its two sides."""
        deadline.check()
        opening, level = answers.opening, float(self.sides.levels[pair[0]])
        options = [
            [opening.own_expression(k), *(opening.expression(k, one, network=network) for one in found)]
            for k, found in zip(pair, ratios, strict=True)
        ]
        values = [[one.at(opening.v) for one in options_of_one] for options_of_one in options]
        for places in product(*(range(len(one)) for one in options)):
            if sum(value[place] for value, place in zip(values, places, strict=True)) < level * (1 - answers.missing):
                parts = [option[place] for option, place in zip(options, places, strict=True)]
                cut = _cut(parts[0] if len(parts) == 1 else parts[0].plus(parts[1]), level, self._binary)
                answers.cuts[cut.key] = cut


@dataclass(frozen=True, slots=True, eq=False)
class _Answers:
    """What is known about a point under attack: how far questions get, as parts of their levels, and cuts."""

    opening: Opening
    missing: float
    reached: NDArray[np.float64]
    cuts: dict[bytes, Cut]

    def short(
        self, pairs: Sequence[Sequence[int]], moved: NDArray[np.float64], *, part: bool = False
    ) -> NDArray[np.int64]:
        """Note how far questions get, both of sliding pairs together, one after the other; return which are too short.

        What is published about the cell itself is taken into account here.
        """
        sides = np.array([k for pair in pairs for k in pair], dtype=np.int64)
        number = np.repeat(np.arange(len(pairs)), [len(pair) for pair in pairs])
        far = np.bincount(number, np.minimum(moved, self.opening.own[sides]), len(pairs))
        got = far / self.opening.doors.sides.levels[[pair[0] for pair in pairs]]
        if not part:
            self.reached[sides] = np.minimum(got, 1.0)[number]
        return np.flatnonzero(got < 1.0 - self.missing)


def _cut(reach: Linear, level: float, binary: NDArray[np.bool_]) -> Cut:
    """Return the cut that says: this is at least the level.

    Where no term is negative, a variable that is 0 or 1 need not count for more than all that is missing.
    """
    columns, total, constant = reach.columns, reach.values, reach.constant
    right = level - constant - _ROUNDING * (level + abs(constant))
    if right > 0 and bool((total >= 0).all()):
        total = np.where(binary[columns], np.minimum(total, right), total)
    scale = max(float(np.abs(total).max(initial=0.0)), level * _UP)
    exact = total / (scale * _UP)
    raised = np.where(exact == np.rint(exact), exact, np.ceil(exact * (1 + np.sign(exact) * _DOUBLE))) * _UP
    kept = raised != 0
    return Cut(columns[kept], raised[kept], right / scale)
