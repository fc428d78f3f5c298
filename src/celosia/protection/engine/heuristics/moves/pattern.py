"""The first pattern of a product table: a move of few cells for every requirement, then pivots and swaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.protection.engine.heuristics.moves.beam import Cells, Ground, index_keys, make_beam
from celosia.protection.engine.heuristics.moves.exchange import PivotEffort, Trial, list_users, show_cells
from celosia.protection.engine.heuristics.moves.joint_program import JointMove, JointTask
from celosia.protection.engine.heuristics.moves.paths import Paths, find_paths
from celosia.protection.engine.heuristics.moves.window import find_window_move
from celosia.protection.engine.heuristics.moves.witnesses import (
    LARGEST_ROOM,
    Wanted,
    Witnesses,
    find_first_moves,
    reroute_moves,
)
from celosia.protection.engine.parameters import PARAMETERS, MoveParameters

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.solve.backend import Backend


@dataclass(frozen=True, slots=True, eq=False)
class MoveWishes:
    """Moves of some columns that are wanted within bounds of their own, which the columns themselves may leave.

    Parameters
    ----------
    columns, levels
        Which columns, and how far up and down, in counts, ``(w,)`` each.
    up, down
        The bounds, ``(n,)`` each.
    """

    columns: NDArray[np.int64]
    levels: NDArray[np.int64]
    up: NDArray[np.int64]
    down: NDArray[np.int64]


class MoveSearch:
    """Finds a pattern of a product table with a witness in whole numbers for every requirement.

    Parameters
    ----------
    problem
        The problem, with its product structure.
    late
        Returns whether the time is up.
    parameters
        How much effort moves are worth.
    wishes
        What is wanted beyond the requirements of the problem.
    cell_price
        See `celosia.protection.engine.parameters.MoveParameters`.

    Attributes
    ----------
    window_moves
        Moves of more cells, for what no move of few cells serves.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        late: Callable[[], bool],
        parameters: MoveParameters = PARAMETERS.moves,
        wishes: Sequence[MoveWishes] = (),
        cell_price: float = 0.0,
    ) -> None:
        assert problem.product is not None  # noqa: S101  (callers ask for it)
        self._problem, self._late, self._parameters = problem, late, parameters
        self._product = problem.product
        self._cells = _cells_of(problem, wishes)
        self._wanted, self._requirement = _want_both_sides(problem, wishes)
        self._witnesses = _make_witnesses(problem, len(self._requirement), parameters, cell_price)
        self._narrow = self._paths(1)
        self.window_moves: list[JointMove] = []

    @property
    def wanted(self) -> Wanted:
        """What witnesses are wanted for."""
        return self._wanted

    @property
    def witnesses(self) -> Witnesses:
        """The witnesses so far."""
        return self._witnesses

    @property
    def requirements(self) -> NDArray[np.int64]:
        """For which requirement each is wanted, -1 for wishes, ``(w,)``."""
        return self._requirement

    def begin_anew(self, late: Callable[[], bool]) -> MoveSearch:
        """Let the search go on until another time is up; return it."""
        self._late = late
        return self

    @property
    def room(self) -> NDArray[np.int64]:
        """How far columns may move either way, by attackers and then by wishes, ``(k, n)``."""
        return np.minimum(self._cells.up, self._cells.down)

    def _paths(self, wide: int) -> Paths:
        room = np.minimum(self._problem.up, self._problem.down).max(axis=0, initial=0)
        return find_paths(self._product, np.log1p(room.astype(np.float64)), self._parameters, wide)

    def _ground(self, paths: Paths, width: int) -> Ground:
        return Ground(self._cells, paths, make_beam(width, self._parameters.longest, self._product.codes.shape[1]))

    def find_first(self) -> None:
        """Find a move for every requirement of a cell that is hidden, margins and high levels first."""
        parameters = self._parameters
        self._serve(self._narrow, parameters.width, parameters.tries)
        if len(self._left()):
            wide = self._paths(parameters.wide)
            self._serve(wide, parameters.wide_width, parameters.wide_tries)
            if len(self._left()):
                self._split(self._left())
                self._serve(wide, parameters.wide_width, parameters.wide_tries)

    def find_within(self, hidden: NDArray[np.bool_]) -> None:
        """Find moves among columns that are hidden, ``(n,)``, for what such moves serve; no others are hidden later."""
        self._witnesses.price[~hidden] = self._witnesses.own_price[~hidden] = np.inf
        self._serve(self._narrow, self._parameters.width, self._parameters.tries)

    def _serve(self, paths: Paths, width: int, tries: int) -> None:
        """Find moves, also for cells that others hide, until no requirement is left that one is found for."""
        ground = self._ground(paths, width)
        before = -1
        while len(left := self._left()) != before and not self._late():
            before = len(left)
            for chunk in np.array_split(left, -(-len(left) // self._parameters.chunk) or 1):
                if self._late():
                    return
                find_first_moves(chunk, tries, self._wanted, self._witnesses, ground)
            if bool(self._problem.forced[self._wanted.columns].all()):
                return

    def _left(self) -> NDArray[np.int64]:
        """Return what has no witness yet and needs one, in order."""
        wanted, witnesses = self._wanted, self._witnesses
        asked = self._problem.forced | (witnesses.uses > 0)
        left = np.flatnonzero(self.is_unserved & asked[wanted.columns])
        height = np.zeros(len(self._problem))
        for axis, holding in enumerate(self._product.holding):
            leaves = np.diff(sp.csr_array(holding).indptr)
            height += leaves[self._product.codes[:, axis]] > 1
        level = np.maximum(wanted.up, wanted.down)[left]
        wished = self._requirement[left] < 0
        return left[np.lexsort((-level, -height[wanted.columns[left]], ~wished))]

    @property
    def is_unserved(self) -> NDArray[np.bool_]:
        """What is wanted and has neither a witness nor a move of more cells, ``(w,)``."""
        wanted = self._wanted
        out = (self._witnesses.lengths == 0) & ((wanted.up > 0) | (wanted.down > 0))
        for move in self.window_moves:
            out &= (wanted.attackers != move.box) | ~np.isin(wanted.columns, move.served)
        return np.asarray(out, dtype=bool)

    def restrict(self, part: ProtectionProblem, columns: NDArray[np.int64], some: NDArray[np.bool_]) -> MoveSearch:
        """Return a search in a part of the problem that begins with some of the witnesses.

        Parameters
        ----------
        part, columns
            The part, with the requirements of these witnesses in their order, and its columns here, increasing.
        some
            Which witnesses, ``(w,)``; they move columns of the part alone.
        """
        search = MoveSearch(part, _is_early, self._parameters)
        rows, wanted, old = np.flatnonzero(some), self._wanted, self._witnesses
        place = np.full(len(some), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        alike = wanted.alike[rows]
        known, requirement = np.unique(self._requirement[rows], return_inverse=True)
        search._requirement = requirement.reshape(-1).astype(np.int64)
        assert len(known) == len(part.requirements)  # noqa: S101  (callers take them together)
        search._wanted = Wanted(
            np.searchsorted(columns, wanted.columns[rows]),
            *(wanted.attackers[rows], wanted.up[rows], wanted.down[rows]),
            np.where(alike < 0, -1, place[alike]),
        )
        used = np.arange(old.cells.shape[1]) < old.lengths[rows, None]
        moved = np.searchsorted(columns, np.where(used, old.cells[rows], columns[0])).astype(np.int32)
        new = search._witnesses
        uses = np.bincount(moved[used], minlength=len(part)).astype(np.int64)
        price = np.where(part.forced | (uses > 0), new.hidden_price, new.own_price)
        search._witnesses = new._replace(
            lengths=old.lengths[rows].copy(), cells=moved, values=old.values[rows].copy(), uses=uses, price=price
        )
        return search

    def find_within_blocks(self, block_of: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the block in which all cells of every witness are, -1 where there are several or none, ``(w,)``."""
        witnesses = self._witnesses
        used = np.arange(witnesses.cells.shape[1]) < witnesses.lengths[:, None]
        blocks = block_of[witnesses.cells]
        least, most = np.where(used, blocks, len(block_of)).min(axis=1), np.where(used, blocks, -1).max(axis=1)
        return np.where(least == most, most, -1)

    def serve_by_windows(self, backend: Backend, left: Callable[[], float]) -> None:
        """Find moves of more cells for requirements that no move of few cells serves, one by one, and hide these."""
        wanted, missed = self._wanted, self._left()
        level = np.maximum(wanted.up, wanted.down)
        for number in missed[self._requirement[missed] >= 0].tolist():
            if not self.is_unserved[number] or left() <= 0:
                continue
            column, box = wanted.columns[[number]], int(wanted.attackers[number])
            alike = (wanted.columns == column) & (wanted.attackers == box)
            task = JointTask(box, self.room[box], column, level[alike].max(keepdims=True))
            found = find_window_move(self._problem, task, self.pattern, backend, left)
            if found is not None:
                self.window_moves.append(found)
                hidden = np.zeros(len(self._problem), dtype=bool)
                hidden[found.columns] = True
                self.keep_hidden(hidden)

    def _split(self, some: NDArray[np.int64]) -> None:
        """Want a witness for each side where there was one for both, or none was found."""
        some = some[(self._wanted.up[some] > 0) & (self._wanted.down[some] > 0)]
        wanted, old = self._wanted, self._witnesses
        up, down = wanted.up.copy(), wanted.down.copy()
        down[some] = 0
        zero = np.zeros(len(some), dtype=np.int64)
        self._wanted = Wanted(
            np.concatenate([wanted.columns, wanted.columns[some]]),
            np.concatenate([wanted.attackers, wanted.attackers[some]]),
            np.concatenate([up, zero]),
            np.concatenate([down, wanted.down[some]]),
            np.concatenate([wanted.alike, some]),
        )
        self._requirement = np.concatenate([self._requirement, self._requirement[some]])
        self._witnesses = old._replace(
            lengths=np.concatenate([old.lengths, old.lengths[some]]),
            cells=np.concatenate([old.cells, old.cells[some]]),
            values=np.concatenate([old.values, old.values[some]]),
        )
        used = np.arange(old.cells.shape[1]) < old.lengths[some, None]
        np.add.at(old.uses, old.cells[some][used], 1)

    def clean_up(self) -> None:
        """Show cells again by cheaper moves, pivots and swaps."""
        parameters = self._parameters
        self._forbid_conditional_cells()
        self._reroute(np.flatnonzero(self._witnesses.lengths > 0))
        for number in range(parameters.rounds):
            self._show_cells(swaps=False)
            self._show_cells(swaps=True)
            if number == 0 and not self._late():  # apart, the sides have room for more combinations
                self._split(np.flatnonzero(self._witnesses.lengths > 0))

    def _reroute(self, order: NDArray[np.int64]) -> None:
        """Replace moves by cheaper ones, in an order."""
        parameters = self._parameters
        ground = self._ground(self._narrow, parameters.width)
        for chunk in np.array_split(order, -(-len(order) // parameters.chunk) or 1):
            if self._late():
                return
            reroute_moves(chunk, parameters.tries, self._wanted, self._witnesses, ground)

    def shake(self, random: np.random.Generator, spread: float, late: Callable[[], bool]) -> None:
        """Show cells again by prices that are drawn around the own ones, then by these: what was stuck may come loose.

        Parameters
        ----------
        random, spread
            The random numbers, and the standard deviation of the logarithm of prices.
        late
            Returns whether the time is up, from now on.
        """
        self._late, own = late, self._witnesses.own_price.copy()
        for prices in (own * np.exp(spread * random.standard_normal(len(own))), own):
            self._witnesses.own_price[:] = prices
            self._witnesses.price[:] = np.where(self.pattern, self._witnesses.hidden_price, prices)
            self._reroute(random.permutation(np.flatnonzero(self._witnesses.lengths > 0)))
            self._show_cells(swaps=False)
            self._show_cells(swaps=True)

    @property
    def copied_witnesses(self) -> Witnesses:
        """The witnesses so far, which stay as they are when the search goes on."""
        now = self._witnesses
        return now._replace(
            lengths=now.lengths.copy(),
            cells=now.cells.copy(),
            values=now.values.copy(),
            uses=now.uses.copy(),
            price=now.price.copy(),
            own_price=now.own_price.copy(),
            fixed=now.fixed.copy(),
        )

    def go_back(self, witnesses: Witnesses) -> None:
        """Go back to witnesses that were copied."""
        self._witnesses = witnesses

    def _forbid_conditional_cells(self) -> None:
        """Let nothing else hide cells that have requirements of their own if they are hidden."""
        conditional = self._wanted.columns[~self._problem.forced[self._wanted.columns]]
        shown = conditional[~self.pattern[conditional]]
        self._witnesses.own_price[conditional] = np.inf
        self._witnesses.price[shown] = np.inf

    def _show_cells(self, *, swaps: bool) -> None:
        parameters, witnesses, longest = self._parameters, self._witnesses, self._parameters.longest
        effort = PivotEffort(parameters.partners, parameters.later_tries, swaps)
        most, n = parameters.users, len(self._problem)
        trial = Trial(
            np.zeros(most, dtype=np.int64),
            np.zeros(most, dtype=np.int64),
            np.zeros((most, longest), dtype=np.int32),
            np.zeros((most, longest), dtype=np.int32),
            np.zeros(n, dtype=np.int64),
            np.zeros(longest, dtype=np.int32),
            np.zeros(longest, dtype=np.int32),
        )
        hidden = np.flatnonzero((witnesses.uses > 0) & ~witnesses.fixed)
        order = hidden[np.argsort(-self._problem.cost[hidden], kind="stable")]
        ground = self._ground(self._narrow, parameters.width)
        spare = 2 * most * longest + int(witnesses.lengths.sum())
        users = list_users(witnesses, self._wanted, spare)
        while len(order) and not self._late():
            some = order[: parameters.chunk]
            tried = show_cells(some, effort, self._wanted, witnesses, users, trial, ground)
            if tried < len(some):
                users = list_users(witnesses, self._wanted, spare)
            order = order[tried:]

    def drop_unsound(self) -> None:
        """Forget witnesses that do not satisfy the relations of the problem: then its structure is another one."""
        witnesses = self._witnesses
        used = np.arange(witnesses.cells.shape[1]) < witnesses.lengths[:, None]
        rows, _ = np.nonzero(used)
        shape = (len(witnesses.lengths), len(self._problem))
        moves = sp.csr_array((witnesses.values[used].astype(np.int64), (rows, witnesses.cells[used])), shape=shape)
        left = sp.csr_array(moves @ self._problem.matrix.T)
        left.eliminate_zeros()
        unsound = np.flatnonzero(np.diff(left.indptr) > 0)
        np.subtract.at(witnesses.uses, witnesses.cells[unsound][used[unsound]], 1)
        witnesses.lengths[unsound] = 0

    def keep_hidden(self, columns: NDArray[np.bool_]) -> None:
        """Keep further columns hidden from now on, ``(n,)``: something else needs them."""
        self._witnesses.fixed[columns] = True
        self._witnesses.price[columns] = self._witnesses.hidden_price

    def propose(self, some: NDArray[np.bool_] | None = None) -> ProposedWitnesses:
        """Return the witnesses, or some of them, as proposals to the audit, by columns of the problem."""
        wanted, witnesses = self._wanted, self._witnesses
        known = witnesses.lengths > 0 if some is None else (witnesses.lengths > 0) & some
        up, down = (np.flatnonzero(known & (level > 0)) for level in (wanted.up, wanted.down))
        number, upward = np.concatenate([up, down]), np.repeat([True, False], [len(up), len(down)])
        level = np.concatenate([wanted.up[up], -wanted.down[down]])
        used = np.arange(witnesses.cells.shape[1]) < witnesses.lengths[number, None]
        moved, values = witnesses.cells[number], witnesses.values[number].astype(np.int64)
        own = (values * (used & (moved == wanted.columns[number, None]))).sum(axis=1)
        moves = values * (level * np.sign(own))[:, None]
        few = ProposedWitnesses(
            wanted.columns[number],
            wanted.attackers[number],
            upward,
            np.concatenate([[0], np.cumsum(witnesses.lengths[number])]).astype(np.int64),
            moved[used].astype(np.int64),
            moves[used],
            np.abs(own),
            self._problem.decimals,
        )
        more = [] if some is not None else [move.propose(self._problem.decimals) for move in self.window_moves]
        return ProposedWitnesses.join([few, *more])

    @property
    def pattern(self) -> NDArray[np.bool_]:
        """Which columns are hidden, ``(n,)``."""
        return np.asarray(self._witnesses.fixed | (self._witnesses.uses > 0))

    @property
    def cost(self) -> float:
        """What that costs."""
        return float(self._problem.cost[self.pattern].sum())

    @property
    def missed(self) -> NDArray[np.int64]:
        """The requirements that have no witness, increasing."""
        missed = self._requirement[self._left()]
        return np.unique(missed[missed >= 0])

    @property
    def unserved(self) -> int:
        """How many wishes have no witness."""
        return int((self._requirement[self._left()] < 0).sum())


def _is_early() -> bool:
    """Return that time is not up: the time of a search that waits to begin."""
    return False


def _cells_of(problem: ProtectionProblem, wishes: Sequence[MoveWishes]) -> Cells:
    product = problem.product
    assert product is not None  # noqa: S101  (callers ask for it)
    keys = product.keys
    return Cells(
        keys,
        np.ascontiguousarray(product.codes),
        *index_keys(keys, int(np.prod(product.sizes))),
        np.minimum(np.vstack([problem.up, *(one.up for one in wishes)]), LARGEST_ROOM),
        np.minimum(np.vstack([problem.down, *(one.down for one in wishes)]), LARGEST_ROOM),
        np.where(problem.whole, 10**problem.decimals, 0).astype(np.int64),
    )


def _want_both_sides(problem: ProtectionProblem, wishes: Sequence[MoveWishes]) -> tuple[Wanted, NDArray[np.int64]]:
    """Return what is wanted for every wish and requirement, and the requirement, -1 for wishes."""
    required = problem.requirements
    first = problem.n_attackers
    columns = np.concatenate([*(one.columns for one in wishes), required.columns])
    attackers = [np.full(len(one.columns), first + k) for k, one in enumerate(wishes)]
    wished = [one.levels for one in wishes]
    up, down = (np.concatenate([*wished, side]) for side in _split_sliding_levels(problem))
    number = np.concatenate([*(np.full(len(one), -1) for one in wished), np.arange(len(required))])
    some = np.flatnonzero(np.maximum(up, down) <= LARGEST_ROOM)
    alike = np.full(len(some), -1, dtype=np.int64)
    last: dict[int, int] = {}
    for place, column in enumerate(columns[some].tolist()):
        alike[place] = last.get(column, -1)
        last[column] = place
    who = np.concatenate([*attackers, required.attackers]).astype(np.int64)
    return Wanted(columns[some], who[some], up[some], down[some], alike), number[some].astype(np.int64)


def _split_sliding_levels(problem: ProtectionProblem) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return levels up and down of all requirements; sliding levels are split, in halves or nearly."""
    required = problem.requirements
    up, down, columns, attackers = required.up, required.down, required.columns, required.attackers
    more = np.maximum(required.sliding - up - down, 0)
    step = np.where(problem.whole, 10**problem.decimals, 1)[columns]
    rooms = (problem.up[attackers, columns] - up, problem.down[attackers, columns] - down)
    half = -(-more // (2 * step)) * step
    rises = np.clip(np.maximum(half, more - rooms[1]), 0, np.maximum(rooms[0], 0))
    return up + rises, down + np.maximum(more - rises, 0)


def _make_witnesses(problem: ProtectionProblem, n: int, parameters: MoveParameters, cell_price: float) -> Witnesses:
    cost = problem.cost
    median = float(np.median(cost[cost > 0])) if bool((cost > 0).any()) else 1.0
    least = parameters.hidden_price * median
    own = cost + cell_price * median + least
    return Witnesses(
        np.zeros(n, dtype=np.int64),
        np.zeros((n, parameters.longest), dtype=np.int32),
        np.zeros((n, parameters.longest), dtype=np.int32),
        np.zeros(len(problem), dtype=np.int64),
        np.where(problem.forced, least, own),
        problem.forced.copy(),
        own,
        least,
    )
