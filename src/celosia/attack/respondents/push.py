"""How far one cell can move when the bounds of other cells change from question to question.

`celosia.attack.subproblems.dispatch` answers many questions about one attacker; here every question has an attacker of
its own who differs from the others in a few bounds. In networks a push is a maximum flow; elsewhere it is a linear
program in a model that stays open, and its vertex is made exact. Every table that comes back has been checked in whole
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.respondents.sparing import SparingModel
from celosia.attack.system.decomposition import Parts, adjacency
from celosia.attack.system.exact import find_exact_moves
from celosia.attack.system.fractions import Whole, multiply_exactly
from celosia.attack.system.system import System
from celosia.kernels import kernel
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import LinearProgram, float_bounds
from celosia.solve.solution import Status
from celosia.tolerance import ENDLESS, LARGEST_COUNT


@dataclass(frozen=True, eq=False)
class WitnessMoves:
    """A table that satisfies every relation, as moves of some columns of a system.

    Parameters
    ----------
    columns
        Which move, increasing, ``(k,)``.
    moves
        How far, times `denominator`, ``(k,)``.
    denominator
        In which fraction of a count.
    """

    columns: NDArray[np.int64]
    moves: Whole
    denominator: int

    def of(self, column: int) -> int:
        """Return how far a column moves, times the denominator."""
        return self._by_column.get(column, 0)

    def inside(self, lower: NDArray[np.int64], upper: NDArray[np.int64]) -> bool:
        """Return whether all columns, those that do not move too, lie between bounds, ``(n,)`` each."""
        low, high = lower[self.columns], upper[self.columns]
        below = (high >= ENDLESS) | (-(-self.moves // self.denominator) <= high)
        above = (low <= -ENDLESS) | (self.moves // self.denominator >= low)
        forced = int(np.count_nonzero((lower > 0) | (upper < 0)))
        here = int(np.count_nonzero((low > 0) | (high < 0)))
        return bool(np.all(below & above)) and forced == here

    @cached_property
    def largest(self) -> int:
        """The size of the largest move, times the denominator."""
        return max(int(self.moves.max(initial=0)), -int(self.moves.min(initial=0)))

    @cached_property
    def _by_column(self) -> dict[int, int]:
        return dict(zip(self.columns.tolist(), self.moves.tolist(), strict=True))


_STILL = WitnessMoves(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 1)


class PushSolver:
    """A system in which cells are pushed.

    Parameters
    ----------
    system, parts
        The system, with the widest bounds over all attackers, and its components.
    backend
        Solves where there is no network.
    proposed
        Moves that are tried before anything is solved, by the column that they push.
    """

    def __init__(
        self,
        system: System,
        parts: Parts,
        backend: Backend,
        proposed: Mapping[int, Sequence[WitnessMoves]] = MappingProxyType({}),
    ) -> None:
        self._system, self._parts, self._backend, self._proposed = system, parts, backend, proposed
        n_nodes = system.matrix.shape[0] + len(parts)
        self._starts, self._arcs = adjacency(parts.tail, parts.head, n_nodes)
        self._flow = np.zeros(len(system), dtype=np.int64)
        self._way = np.empty(n_nodes, dtype=np.int64)
        self._queue = np.empty(n_nodes, dtype=np.int32)
        self._programs: dict[int, _Component] = {}

    def push(
        self, column: int, limit: int, up: NDArray[np.int64], down: NDArray[np.int64], *, upward: bool
    ) -> WitnessMoves:
        """Return a table in which a column moves as far as it can, up to a limit.

        Guarantee: the table satisfies all relations of the system and the given bounds exactly. Where nothing better is
        found, or what is found does not pass, nothing moves.

        Parameters
        ----------
        column
            Of the system.
        limit
            How far is far enough, in counts; the column's own bound does not count.
        up, down
            The bounds of all columns, ``(n,)`` each.
        upward
            Up or down.
        """
        component = int(self._parts.component[column])
        if component < 0 or limit <= 0:
            return _STILL
        if self._parts.network[component]:
            found: WitnessMoves | None = self._push_by_flow(column, limit, up, down, upward=upward)
        else:
            found = self._program(component).push(column, limit, up, down, upward=upward)
        own = slice(None) if found is None else np.flatnonzero(found.columns != column)
        if found is None or not _keeps_bounds(found, own, up, down) or self._violates(found):
            return _STILL
        return found

    def moves(self, column: int, amount: int, up: NDArray[np.int64], down: NDArray[np.int64], *, upward: bool) -> bool:
        """Return whether a table is found in which a column moves by an amount; see `push`."""
        component = int(self._parts.component[column])
        if component < 0 or amount <= 0:
            return amount <= 0
        if self._parts.network[component]:
            found: WitnessMoves | None = self.push(column, amount, up, down, upward=upward)
        else:
            lower, upper = -down, up.copy()
            lower[column] = upper[column] = amount if upward else -amount
            if self._moves_as_proposed(component, column, lower, upper):
                return True
            found = self._verify(component, self._program(component).between(lower, upper, None), lower, upper)
        return found is not None and abs(found.of(column)) >= amount * found.denominator

    def _moves_as_proposed(
        self, component: int, column: int, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> bool:
        """Return whether a proposed move, scaled to what is asked of its column, lies between all bounds."""
        return next(self._scale_proposals(component, column, lower, upper), None) is not None

    def proposals(
        self, column: int, amount: int, up: NDArray[np.int64], down: NDArray[np.int64], *, upward: bool
    ) -> Iterator[WitnessMoves]:
        """Yield the proposed tables in which a column moves by an amount, scaled to it; see `push`."""
        lower, upper = -down, up.copy()
        lower[column] = upper[column] = amount if upward else -amount
        yield from self._scale_proposals(int(self._parts.component[column]), column, lower, upper)

    def _scale_proposals(
        self, component: int, column: int, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> Iterator[WitnessMoves]:
        """Yield proposed moves, scaled to what is asked of their column, that satisfy all relations and bounds."""
        for one in self._proposed.get(column, ()):
            own = one.of(column)
            if own == 0 or one.largest * abs(int(upper[column])) >= LARGEST_COUNT:
                continue
            moves = one.moves * (int(upper[column]) if own > 0 else -int(upper[column]))
            found = self._verify(component, WitnessMoves(one.columns, moves, abs(own)), lower, upper)
            if found is not None:
                yield found

    def between(
        self, component: int, lower: NDArray[np.int64], upper: NDArray[np.int64], wished: NDArray[np.int64]
    ) -> WitnessMoves | None:
        """Return a table whose moves lie between bounds, None where none is found.

        Guarantee: as in `push`.

        Parameters
        ----------
        component
            Of the parts; no other cells move.
        lower, upper
            The bounds of all columns, ``(n,)`` each.
        wished
            How far either way columns had better move at most, ``(n,)``; see `celosia.attack.respondents.sparing`.
        """
        columns = self._parts.members(component)
        if bool((lower[columns] > upper[columns]).any()):
            return None
        if bool(((lower[columns] <= 0) & (upper[columns] >= 0)).all()):
            return _STILL
        return self._verify(component, self._program(component).between(lower, upper, wished), lower, upper)

    def _verify(
        self, component: int, found: WitnessMoves | None, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> WitnessMoves | None:
        """Return a table if it lies between the bounds and satisfies all relations, in whole numbers."""
        if found is None:
            return None
        columns = self._parts.members(component)
        moved = np.zeros(len(self._system), dtype=bool)
        moved[found.columns] = True
        rest = columns[~moved[columns]]
        still = bool(((lower[rest] <= 0) & (upper[rest] >= 0)).all())
        inside = _keeps_bounds(found, slice(None), upper, -lower)
        return found if still and inside and not self._violates(found) else None

    def _push_by_flow(
        self, column: int, limit: int, up: NDArray[np.int64], down: NDArray[np.int64], *, upward: bool
    ) -> WitnessMoves:
        parts = self._parts
        tail, head = int(parts.tail[column]), int(parts.head[column])
        source, sink = (head, tail) if upward else (tail, head)
        got = _flow(
            *(column, source, sink, min(limit, ENDLESS), parts.tail, self._starts, self._arcs, up, down),
            *(parts.head, self._flow, self._way, self._queue),
        )
        self._flow[column] = got if upward else -got
        columns = np.flatnonzero(self._flow)
        found = WitnessMoves(columns, self._flow[columns], 1)
        self._flow[columns] = 0
        return found

    def _program(self, component: int) -> _Component:
        if component not in self._programs:
            self._programs[component] = _Component(self._system, np.sort(self._parts.members(component)), self._backend)
        return self._programs[component]

    def _violates(self, found: WitnessMoves) -> bool:
        whole: Whole = np.zeros(len(self._system), dtype=np.int64)
        whole = whole if found.moves.dtype == np.int64 else whole.astype(object)
        whole[found.columns] = found.moves
        return bool(multiply_exactly(self._system.matrix, whole).any())


def _keeps_bounds(
    found: WitnessMoves, places: slice | NDArray[np.int64], up: NDArray[np.int64], down: NDArray[np.int64]
) -> bool:
    moves, columns = found.moves[places], found.columns[places]
    room_up, room_down = up[columns], down[columns]
    below = (room_up >= ENDLESS) | (-(-moves // found.denominator) <= room_up)
    above = (room_down >= ENDLESS) | (-(moves // found.denominator) <= room_down)
    return bool(np.all(below & above))


class _Component:
    """A component that is no network, in a model that stays open."""

    def __init__(self, system: System, columns: NDArray[np.int64], backend: Backend) -> None:
        part = sp.csr_array(system.matrix[:, columns])
        self._matrix = sp.csr_array(part[np.flatnonzero(np.diff(part.indptr) > 0)])
        self._columns = columns
        self._lower, self._upper = -float_bounds(system.down[columns]), float_bounds(system.up[columns])
        self._model: Model = backend.open(LinearProgram.of_moves(self._matrix, self._lower.copy(), self._upper.copy()))
        self._last: tuple[int, bool] | None = None
        self._backend, self._finite = backend, (system.up[columns] < ENDLESS) & (system.down[columns] < ENDLESS)

    @cached_property
    def _sparing(self) -> SparingModel:
        return SparingModel(self._matrix, self._finite, self._backend)

    def push(
        self, column: int, limit: int, up: NDArray[np.int64], down: NDArray[np.int64], *, upward: bool
    ) -> WitnessMoves | None:
        """Return a table in which a column moves as far as it can."""
        target = int(np.searchsorted(self._columns, column))
        above, below = up[self._columns], down[self._columns]
        above[target], below[target] = (limit, 0) if upward else (0, limit)
        if self._last != (target, upward):
            if self._last is not None:
                self._model.change_costs(np.array([self._last[0]]), np.zeros(1))
            self._model.change_costs(np.array([target]), np.array([-1.0 if upward else 1.0]))
            self._last = (target, upward)
        x = self._solve(-float_bounds(below), float_bounds(above))
        return None if x is None else self._exact_moves(x, above, below)

    def between(
        self, lower: NDArray[np.int64], upper: NDArray[np.int64], wished: NDArray[np.int64] | None
    ) -> WitnessMoves | None:
        """Return a table between bounds: any, or one that uses little beyond what is wished."""
        above, below = upper[self._columns], -lower[self._columns]
        if wished is not None:
            x = self._sparing.table(-below, above, wished[self._columns])
        else:
            if self._last is not None:
                self._model.change_costs(np.array([self._last[0]]), np.zeros(1))
                self._last = None
            x = self._solve(-float_bounds(below), float_bounds(above))
        return None if x is None else self._exact_moves(x, above, below)

    def _solve(self, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> NDArray[np.float64] | None:
        changed = np.flatnonzero((lower != self._lower) | (upper != self._upper))
        if len(changed):
            self._model.change_bounds(changed, lower[changed], upper[changed])
            self._lower, self._upper = lower, upper
        found = self._model.solve(method="dual", duals=False)
        return found.x if found.status is Status.OPTIMAL else None

    def _exact_moves(
        self, x: NDArray[np.float64], up: NDArray[np.int64], down: NDArray[np.int64]
    ) -> WitnessMoves | None:
        found = find_exact_moves(x, self._matrix, up, down)
        if found is None:
            return None
        moves, denominator = found
        used = np.flatnonzero(moves)
        return WitnessMoves(self._columns[used], moves[used], denominator)


@kernel()
def _flow(
    cell: int,
    source: int,
    sink: int,
    wanted: int,
    tail: NDArray[np.int32],
    starts: NDArray[np.int64],
    arcs: NDArray[np.int32],
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    head: NDArray[np.int32],
    flow: NDArray[np.int64],
    way: NDArray[np.int64],
    queue: NDArray[np.int32],
) -> int:
    """Send as much as is wanted from source to sink past a cell, along shortest ways; return how much.

    `flow` is nothing on entry. Networks are as large as the hidden part of a table, so plain ways do.
    """
    got = 0
    while got < wanted:
        for node in range(len(way)):
            way[node] = -1
        way[source] = -2
        queue[0] = source
        n_queue, place = 1, 0
        while place < n_queue and way[sink] == -1:
            node = queue[place]
            place += 1
            for k in range(starts[node], starts[node + 1]):
                arc = arcs[k]
                if arc == cell:
                    continue
                ahead = tail[arc] == node
                other = head[arc] if ahead else tail[arc]
                room = up[arc] - flow[arc] if ahead else down[arc] + flow[arc]
                if way[other] == -1 and room > 0:
                    way[other] = 2 * arc + (0 if ahead else 1)
                    queue[n_queue] = other
                    n_queue += 1
        if way[sink] == -1:
            break
        amount = wanted - got
        node = sink
        while node != source:
            arc = way[node] >> 1
            ahead = way[node] & 1 == 0
            amount = min(amount, up[arc] - flow[arc] if ahead else down[arc] + flow[arc])
            node = tail[arc] if ahead else head[arc]
        node = sink
        while node != source:
            arc = way[node] >> 1
            ahead = way[node] & 1 == 0
            flow[arc] += amount if ahead else -amount
            node = tail[arc] if ahead else head[arc]
        got += amount
    return got
