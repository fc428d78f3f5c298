r"""Attacks on a point of any modes: how far each cell moves, and the cuts that say why no further.

For multipliers with :math:`d_p = \sum_{i \ne p} r_i d_i` (see `celosia.protect.cuts`) cell p moves up by at most

.. math:: \sum_{r_i > 0} r_i \min(\mathrm{UB}_i^k, \text{upper slack}_i(v)) +
          \sum_{r_i < 0} |r_i| \min(\mathrm{LB}_i^k, \text{lower slack}_i(v)),

and term by term both choices are valid: the smaller one at the point that is attacked makes the cut. In a network a
flow of one level never needs more than that level of any cell, so rooms end there (thesis 3.28 with the smallest M).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from celosia.attack.redundancy import coloured
from celosia.errors import SolverError
from celosia.protect.cuts import Cut, Workshop
from celosia.protect.flows import Asked, Rooms, minimum_cuts
from celosia.protect.hidden import Hidden
from celosia.protect.modes import Modes
from celosia.protect.sides import Sides, sides_of
from celosia.protect.task import Task
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Solution

REACHED = 1e-7
"""A level that is missed by less than this part is reached, as far as doubles can tell; the last word has the audit."""

_UP = 1e-7
"""Coefficients of cuts are rounded up to multiples of this: variables are not negative, so a cut stays valid."""

_ROUNDING = 1e-9
"""More than what rounding errors of doubles add up to in the right side of a cut, relative to its terms."""

_WHOLE = 1e-9
"""A variable this close to 1 is 1."""

_FAR = 1e9
"""Rooms end here, in units: nobody needs more in doubles."""

_ENOUGH = 5
"""With so many cuts from networks the programs can wait."""

_KEPT = 400
"""So many moves are remembered."""

_NOISE = 1e-9
"""Smaller multipliers are none."""

Ratios = tuple[NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """A linear expression of the variables."""

    constant: float
    columns: NDArray[np.int64]
    values: NDArray[np.float64]

    def at(self, v: NDArray[np.float64]) -> float:
        """Return its value at a point."""
        return self.constant + float(self.values @ v[self.columns])


@dataclass(frozen=True, slots=True, eq=False)
class Pressed:
    """What an attack on a point found.

    Parameters
    ----------
    cuts
        What the point violates, the worst first.
    reached
        How far each question got, as a part of its level, sliding ones in all, ``(s,)``.
    """

    cuts: list[Cut]
    reached: NDArray[np.float64]

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

    task: Task
    modes: Modes
    backend: Backend
    sides: Sides = field(init=False)
    _programs: dict[int, _Program] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        sides = sides_of(self.task.goals)
        self.sides = Sides(
            sides.goals, sides.columns, sides.attackers, sides.upward, sides.levels / self.modes.unit, sides.sliding
        )

    @cached_property
    def workshop(self) -> Workshop:
        """Makes ratios of multipliers."""
        return Workshop.of(self.task)

    @cached_property
    def whole(self) -> Hidden:
        """All columns, taken apart."""
        return Hidden.of(self.task, np.arange(len(self.task)))

    @property
    def quick(self) -> bool:
        """Whether networks of some relations can be asked before programs."""
        return bool(self._planes)

    @cached_property
    def _planes(self) -> list[Hidden]:
        """Networks of some of the relations, where all of them form none.

        Relations that cover every cell at most once are of one colour, and those of two colours form a network. Leaving
        relations out only weakens attackers, so what their cuts demand, all of them together demand as well.
        """
        if bool(self._network.all()):
            return []
        colour = coloured(self.task.matrix.indptr, self.task.matrix.indices, len(self.task))
        everything = np.arange(len(self.task))
        pairs = combinations(range(int(colour.max(initial=-1)) + 1), 2)
        parts = (Hidden.of(self.task, everything, np.flatnonzero(np.isin(colour, pair))) for pair in pairs)
        return [part for part in parts if len(part.parts)]

    @cached_property
    def rooms(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The attackers' rooms in units, ``(k, n)`` each."""
        return self.workshop.up / self.modes.unit, self.workshop.down / self.modes.unit

    @cached_property
    def opened(self) -> tuple[NDArray[Any], ...]:
        """What the modes open, slacks up and then down, for `_smallest`."""
        modes = self.modes
        by_variable = sp.csr_array(sp.vstack([modes.up, modes.down]))
        constants = np.concatenate([modes.up_constant, modes.down_constant])
        most = constants + by_variable.maximum(0) @ np.minimum(modes.program.upper, _FAR)
        starts, variables = by_variable.indptr.astype(np.int64), by_variable.indices.astype(np.int64)
        return starts, variables, by_variable.data, constants, most, modes.hiding, modes.opening

    @cached_property
    def _network(self) -> NDArray[np.bool_]:
        """Which questions are about networks."""
        component = self.whole.parts.component[self.sides.columns].astype(np.int64)
        return self.whole.is_network(component) & (component >= 0)

    @cached_property
    def _binary(self) -> NDArray[np.bool_]:
        """Which variables are 0 or 1."""
        program = self.modes.program
        whole = np.zeros(len(program.cost), dtype=bool) if program.integer is None else program.integer
        return np.asarray(whole & (program.upper <= 1.0))

    def is_network(self, side: int) -> bool:
        """Return whether the component of a question is a network."""
        return bool(self._network[side])

    def attack(
        self, v: NDArray[np.float64], *, wider: float = 0.0, missing: float = REACHED, deep: bool = True
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
        deep
            Solve attackers' programs even where networks of some relations have cuts enough. Otherwise questions may
            stay without an answer, and count as not reached at all.
        """
        state = _State.of(self, v, wider)
        reached = np.zeros(len(self.sides))
        cuts: dict[bytes, Cut] = {}
        waiting = []
        for first in self._questions():
            if not self._network[first]:
                waiting.append(first)
                for plane in () if deep else self._planes:
                    self._ask(state, first, plane, missing, cuts)
            else:
                self._ask(state, first, self.whole, missing, cuts, reached)
        if deep or len(cuts) < _ENOUGH:
            for first in waiting:
                self._ask(state, first, None, missing, cuts, reached)
        return Pressed(sorted(cuts.values(), key=lambda cut: -cut.missing(v)), reached)

    def _ask(
        self,
        state: _State,
        first: int,
        network: Hidden | None,
        missing: float,
        cuts: dict[bytes, Cut],
        reached: NDArray[np.float64] | None = None,
    ) -> None:
        """Answer a question, of a sliding pair both, by flows in a network or by a program; note cuts and how far."""
        pair = (first, first + 1) if self.sides.sliding[first] else (first,)
        if network is not None:
            component = int(network.parts.component[self.sides.columns[first]])
            if component < 0 or not network.parts.network[component]:
                return
        answers = [self._answer(state, k, network) for k in pair]
        level = float(self.sides.levels[first])
        got = sum(answer.moved for answer in answers) / level
        if reached is not None:
            reached[list(pair)] = min(got, 1.0)
        if got < 1.0 - missing:
            for cut in self._cuts(state, first, answers, missing * level, network=network is not None):
                cuts[cut.key] = cut

    def _questions(self) -> Iterator[int]:
        """Yield the questions; of sliding pairs the first."""
        for k in range(len(self.sides)):
            if not (self.sides.sliding[k] and not self.sides.upward[k]):
                yield k

    def _answer(self, state: _State, k: int, network: Hidden | None) -> _Answer:
        """Return how far a cell moves, no further than its own slack and its level."""
        own, level = state.own(k), float(self.sides.levels[k])
        up, down = state.rooms(k, network=network is not None)
        if network is not None:
            got, ratios = self._flow(network, k, up, down)
        else:
            got, ratios = self._program(k).pushed(self, k, up, down)
        return _Answer(min(own, got, level), ratios)

    def _flow(
        self, network: Hidden, k: int, up: NDArray[np.float64], down: NDArray[np.float64]
    ) -> tuple[float, list[Ratios]]:
        """Return how far a cell of a network moves, and the ratios of both minimum cuts."""
        sides = self.sides
        column, level = int(sides.columns[k]), float(sides.levels[k])
        asked = Asked(np.array([column]), np.array([0]), sides.upward[k : k + 1], sides.levels[k : k + 1])
        rooms = Rooms(up[None, :], down[None, :], np.ones(len(up)))
        got, ends, nodes = minimum_cuts(asked, rooms, network.network, 0.0)
        ratios = []
        for side in range(2):
            part = nodes[ends[side] : ends[side + 1]]
            found = self.workshop.ratios(*network.completed(*network.multipliers(part)), column) if len(part) else None
            if found is not None:
                ratios.append(found)
        return float(got[0]) * level, ratios

    def _program(self, k: int) -> _Program:
        component = int(self.whole.parts.component[self.sides.columns[k]])
        if component not in self._programs:
            members = np.sort(self.whole.parts.members(component))
            self._programs[component] = _Program.of(self.task, members, self.backend)
        return self._programs[component]

    def _cuts(
        self, state: _State, first: int, answers: Sequence[_Answer], missing: float, *, network: bool
    ) -> Iterator[Cut]:
        """Yield the cuts of a question, of a sliding level from every combination of its two sides."""
        level = float(self.sides.levels[first])
        options = [
            [
                state.own_expression(first + place),
                *(state.expression(first + place, one, network=network) for one in answer.ratios),
            ]
            for place, answer in enumerate(answers)
        ]
        combinations = (
            [(one,) for one in options[0]] if len(options) == 1 else [(a, b) for a in options[0] for b in options[1]]
        )
        for parts in combinations:
            if sum(part.at(state.v) for part in parts) < level - missing:
                yield _cut(parts, level, self._binary)


@dataclass(frozen=True, slots=True, eq=False)
class _Answer:
    """How far a cell moves, and ratios that say why no further."""

    moved: float
    ratios: list[Ratios]


@dataclass(frozen=True, eq=False)
class _State:
    """A point under attack."""

    press: Press
    v: NDArray[np.float64]
    slack: NDArray[np.float64]
    hidden: NDArray[np.float64]
    opened: NDArray[np.float64]
    wider: float
    plain: dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]] = field(default_factory=dict)

    @cached_property
    def gated(self) -> bool:
        """Whether some columns must be opened by a variable."""
        return bool(np.isfinite(self.opened).any())

    @cached_property
    def covered(self) -> bool:
        """Whether some columns are hidden."""
        return bool(self.hidden.any())

    @classmethod
    def of(cls, press: Press, v: NDArray[np.float64], wider: float) -> _State:
        modes = press.modes
        opened = np.where(modes.opening >= 0, v[np.maximum(modes.opening, 0)], np.inf)
        return cls(press, v, np.concatenate(modes.slacks(v)), modes.hidden(v), opened, wider)

    def _limit(self, k: int, *, network: bool) -> float:
        """Return the level in a network, where nothing needs more, else no limit."""
        return float(self.press.sides.levels[k]) if network else np.inf

    def rooms(self, k: int, *, network: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how far every column can move for a question, up and down."""
        level, who = float(self.press.sides.levels[k]), int(self.press.sides.attackers[k])
        limit = self._limit(k, network=network)
        if who not in self.plain:
            self.plain[who] = self._plain(who)
        found = []
        for plain, room in zip(self.plain[who], (rooms[who] for rooms in self.press.rooms), strict=True):
            slack = np.minimum(plain, _times(limit, self.opened)) if self.gated else plain
            if self.covered:
                far = np.minimum(room, _FAR)
                share = np.where(self.hidden >= 1.0 - _WHOLE, far, np.minimum(far, level) * self.hidden)
                slack = np.minimum(slack + share, far)
            found.append(np.minimum(slack + self.wider if self.gated else slack, limit))
        return found[0], found[1]

    def _plain(self, who: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return an attacker's rooms up and down by what is published, hiding and gates left out."""
        up, down = np.split(self.slack, 2)
        wider = 0.0 if self.gated else self.wider
        rooms = self.press.rooms
        return (
            np.minimum(up + wider, np.minimum(rooms[0][who], _FAR)),
            np.minimum(down + wider, np.minimum(rooms[1][who], _FAR)),
        )

    def own(self, k: int) -> float:
        """Return how far the cell in question may move by what is published about itself."""
        return self.own_expression(k).at(self.v)

    def own_expression(self, k: int) -> Linear:
        """Return the same as an expression."""
        column = self.press.sides.columns[k : k + 1]
        sign = 1.0 if self.press.sides.upward[k] else -1.0
        return self._summed(k, column, np.array([sign]), np.inf)

    def expression(self, k: int, ratios: Ratios, *, network: bool) -> Linear:
        """Return how far the cell in question moves at most, by the ratios of some multipliers."""
        columns, r = ratios
        return self._summed(k, columns, r if self.press.sides.upward[k] else -r, self._limit(k, network=network))

    def _summed(self, k: int, columns: NDArray[np.int64], r: NDArray[np.float64], limit: float) -> Linear:
        """Return the sum of the smaller of slack and room, times r, with the choices that are best at the point."""
        press = self.press
        who = int(press.sides.attackers[k])
        up, down = press.rooms
        return Linear(
            *_smallest(
                columns,
                r,
                float(press.sides.levels[k]),
                limit,
                up[who],
                down[who],
                self.slack,
                self.hidden,
                self.v,
                *press.opened,
            )
        )


@njit(cache=True, nogil=True)
def _smallest(
    columns: NDArray[np.int64],
    r: NDArray[np.float64],
    level: float,
    limit: float,
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    slack: NDArray[np.float64],
    hidden: NDArray[np.float64],
    v: NDArray[np.float64],
    starts: NDArray[np.int64],
    variables: NDArray[np.int64],
    data: NDArray[np.float64],
    constants: NDArray[np.float64],
    most: NDArray[np.float64],
    hiding: NDArray[np.int64],
    opening: NDArray[np.int64],
) -> tuple[float, NDArray[np.int64], NDArray[np.float64]]:
    """Return the sum over columns of r times the smaller of slack and room, as a linear expression of the variables.

    A column that is hidden opens its room, and one that a variable opens no more than its largest slack; neither need
    count for more than the level, because no other term is negative.
    """
    total = np.zeros(len(v))
    seen = np.zeros(len(v), dtype=np.bool_)
    touched = np.empty(len(v), dtype=np.int64)
    count, constant, n = 0, 0.0, len(hidden)
    for k in range(len(columns)):
        column, size = columns[k], abs(r[k])
        if size == 0.0:
            continue
        side = column if r[k] > 0 else n + column
        room = min(up[column] if r[k] > 0 else down[column], limit)
        by_room, by_slack = size * room, size * slack[side]
        hides = min(by_room, level) if hiding[column] >= 0 else 0.0
        opens = min(size * min(most[side], room), level)
        gated = opening[column] >= 0 and opens * v[opening[column]] < by_slack
        if gated:
            by_slack = opens * v[opening[column]]
        if by_room <= by_slack + hides * hidden[column]:
            constant += by_room
            continue
        if gated:
            count = _put(total, seen, touched, count, opening[column], opens)
        else:
            constant += size * constants[side]
            for place in range(starts[side], starts[side + 1]):
                count = _put(total, seen, touched, count, variables[place], size * data[place])
        if hiding[column] >= 0:
            count = _put(total, seen, touched, count, hiding[column], hides)
    found = np.sort(touched[:count])
    return constant, found, total[found]


@njit(cache=True, nogil=True, inline="always")
def _put(
    total: NDArray[np.float64],
    seen: NDArray[np.bool_],
    touched: NDArray[np.int64],
    count: int,
    variable: int,
    value: float,
) -> int:
    """Add a term; return how many variables have one."""
    if not seen[variable]:
        seen[variable] = True
        touched[count] = variable
        count += 1
    total[variable] += value
    return count


def _times(limit: float, opened: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the limit times how far columns are opened; no limit where there is none."""
    return np.full(len(opened), np.inf) if np.isinf(limit) else limit * opened


def _cut(parts: Sequence[Linear], level: float, binary: NDArray[np.bool_]) -> Cut:
    """Return the cut that says: these together are at least the level.

    Where no term is negative, a variable that is 0 or 1 need not count for more than all that is missing.
    """
    columns, total, constant = parts[0].columns, parts[0].values, parts[0].constant
    if len(parts) > 1:
        columns, where = np.unique(np.concatenate([part.columns for part in parts]), return_inverse=True)
        total = np.zeros(len(columns))
        np.add.at(total, where, np.concatenate([part.values for part in parts]))
        constant = sum(part.constant for part in parts)
    right = level - constant - _ROUNDING * (level + abs(constant))
    if right > 0 and bool((total >= 0).all()):
        total = np.where(binary[columns], np.minimum(total, right), total)
    scale = max(float(np.abs(total).max(initial=0.0)), level * _UP)
    raised = np.ceil(total / scale * (1 + np.sign(total) * _ROUNDING) / _UP) * _UP
    kept = raised != 0
    return Cut(columns[kept], raised[kept], right / scale)


@dataclass(frozen=True, eq=False)
class _Program:
    """The attackers' program of a component that is no network, which stays open, and moves that it found."""

    columns: NDArray[np.int64]
    rows: NDArray[np.int64]
    model: Model
    bounds: tuple[NDArray[np.float64], NDArray[np.float64]]
    moves: list[NDArray[np.float64]] = field(default_factory=list)

    @classmethod
    def of(cls, task: Task, columns: NDArray[np.int64], backend: Backend) -> _Program:
        matrix = sp.csr_array(task.matrix[:, columns], dtype=np.float64)
        rows = np.flatnonzero((np.diff(matrix.indptr) > 0) & ~task.implied)
        zero, none = np.zeros(len(rows)), np.zeros(len(columns))
        problem = LinearProgram(sp.csr_array(matrix[rows]), zero, zero, none, none, none)
        return cls(columns, rows, backend.open(problem), (none.copy(), none.copy()))

    def pushed(
        self, press: Press, k: int, up: NDArray[np.float64], down: NDArray[np.float64]
    ) -> tuple[float, list[Ratios]]:
        """Return how far a cell moves, as far as its level, and ratios that say why no further."""
        sides = press.sides
        target = int(np.searchsorted(self.columns, sides.columns[k]))
        level, upward = float(sides.levels[k]), bool(sides.upward[k])
        below, above = -down[self.columns], up[self.columns].copy()
        below[target], above[target] = (0.0, level) if upward else (-level, 0.0)
        if self._known(target, level, below, above, upward=upward):
            return level, []
        changed = np.flatnonzero((below != self.bounds[0]) | (above != self.bounds[1]))
        self.model.change_bounds(changed, below[changed], above[changed])
        self.bounds[0][:], self.bounds[1][:] = below, above
        at = np.array([target])
        self.model.change_costs(at, np.array([-1.0 if upward else 1.0]))
        solution = self.model.solve(method="primal")
        if solution.x is None:  # standing still is always possible: a basis went wrong
            solution = self.model.solve(method="afresh")
        self.model.change_costs(at, np.zeros(1))
        return self._read(press, solution, k, target)

    def _known(
        self,
        target: int,
        level: float,
        below: NDArray[np.float64],
        above: NDArray[np.float64],
        *,
        upward: bool,
    ) -> bool:
        """Return whether a move that was found before shows that the level is reached."""
        for place in range(len(self.moves) - 1, -1, -1):
            move = self.moves[place]
            far = move[target] if upward else -move[target]
            if far < level * (1 - REACHED):
                continue
            part = level / far
            tried = move * part
            tried[target] = np.clip(tried[target], below[target], above[target])
            if bool((tried >= below - _NOISE).all() and (tried <= above + _NOISE).all()):
                self.moves.append(self.moves.pop(place))
                return True
        return False

    def _read(self, press: Press, solution: Solution, k: int, target: int) -> tuple[float, list[Ratios]]:
        if solution.x is None or solution.duals is None:
            raise SolverError.one("attack", f"ended with {solution.status}.", "Try another solver, or report this.")
        self.moves.append(solution.x)
        if len(self.moves) > _KEPT:
            del self.moves[0]
        gamma = np.where(np.abs(solution.duals) > _NOISE, solution.duals, 0.0)
        used = np.flatnonzero(gamma)
        ratios = (
            press.workshop.ratios(*press.whole.completed(self.rows[used], gamma[used]), int(press.sides.columns[k]))
            if len(used)
            else None
        )
        return abs(float(solution.x[target])), [] if ratios is None else [ratios]
