"""How far one cell can move when the bounds of other cells change from question to question.

`celosia.attack.subproblems.dispatch` answers many questions about one attacker; here every question has an attacker of
its own who differs from the others in a few bounds. In networks a push is a maximum flow; elsewhere it is a linear
program in a model that stays open, and its vertex is made exact. Every table that comes back has been checked in whole
numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.respondents.programs.moves import MoveProgram
from celosia.attack.respondents.witness import WitnessMoves
from celosia.attack.system.decomposition import Parts, adjacency
from celosia.attack.system.fractions import Whole, multiply_exactly
from celosia.attack.system.system import System
from celosia.attack.system.totals import find_totals_above
from celosia.kernels import kernel
from celosia.solve.backend import Backend
from celosia.tolerance import ENDLESS, LARGEST_COUNT

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
        self._programs: dict[int, MoveProgram] = {}
        self._by_totals: dict[int, WitnessMoves | None] = {}

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

    def find_move(
        self, column: int, amount: int, up: NDArray[np.int64], down: NDArray[np.int64], *, upward: bool
    ) -> WitnessMoves | None:
        """Return a table in which a column moves by an amount, None where none is found; see `push`."""
        component = int(self._parts.component[column])
        if component < 0 or amount <= 0:
            return _STILL if amount <= 0 else None
        if self._parts.network[component]:
            found: WitnessMoves | None = self.push(column, amount, up, down, upward=upward)
        else:
            lower, upper = -down, up.copy()
            lower[column] = upper[column] = amount if upward else -amount
            if (proposed := self._move_as_proposed(component, column, lower, upper)) is not None:
                return proposed
            found = self._verify(component, self._program(component).between(lower, upper, None), lower, upper)
        return found if found is not None and abs(found.of(column)) >= amount * found.denominator else None

    def _move_as_proposed(
        self, component: int, column: int, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> WitnessMoves | None:
        """Return a proposed move, scaled to what is asked of its column, that lies between all bounds; None without."""
        found = self._move_with_totals(component, column, lower, upper)
        return found or next(self._scale_proposals(component, column, lower, upper), None)

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
            How far either way columns had better move at most, ``(n,)``; see `programs.sparing`.
        """
        columns = self._parts.members(component)
        if bool((lower[columns] > upper[columns]).any()):
            return None
        forced = columns[(lower[columns] > 0) | (upper[columns] < 0)]
        if not len(forced):
            return _STILL
        found = self._move_with_totals(component, int(forced[0]), lower, upper) if len(forced) == 1 else None
        return found or self._verify(component, self._program(component).between(lower, upper, wished), lower, upper)

    def _move_with_totals(
        self, component: int, column: int, lower: NDArray[np.int64], upper: NDArray[np.int64]
    ) -> WitnessMoves | None:
        """Return a table in which a column moves no further than it must, with all of its totals, and nothing else.

        None where a total is known, or bounds do not allow it.
        """
        if column not in self._by_totals:
            moved = find_totals_above(*self._relations, column)
            one = WitnessMoves(moved, np.ones(len(moved), dtype=np.int64), 1)
            self._by_totals[column] = None if self._violates(one) else one
        alone = self._by_totals[column]
        if alone is None:
            return None
        far = int(lower[column] if lower[column] > 0 else upper[column])
        return self._verify(component, WitnessMoves(alone.columns, far * alone.moves, 1), lower, upper)

    @cached_property
    def _relations(self) -> tuple[sp.csr_array, sp.csc_array]:
        """The relations by rows and by columns."""
        rows = sp.csr_array(self._system.matrix)
        return rows, sp.csc_array(rows)

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

    def _program(self, component: int) -> MoveProgram:
        if component not in self._programs:
            self._programs[component] = MoveProgram(
                self._system, np.sort(self._parts.members(component)), self._backend
            )
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
