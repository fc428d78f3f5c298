"""One LP with a random objective answers many min/max questions: every cell that reaches its bound is settled."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.blocks import (
    Blocks,
    BlockVertex,
    UnsolvedError,
    exact_vertex,
    solve_model,
)
from celosia.attack.subproblems.questions import Answers
from celosia.attack.system.fractions import Whole, compact
from celosia.solve.backend import Model
from celosia.solve.problem import float_bounds
from celosia.tolerance import ENDLESS

_SEED = 20_031  # of the directions; fixed, so that two audits are alike
_ROUNDS = 40
_YIELD = 2  # questions of every open block that a round must settle, else they are solved one by one
_SPREAD = 2.0  # weights differ by powers of e so large, where cells are followed to their ends


@dataclass(eq=False)
class OpenQuestions:
    """Questions about the cells of blocks, with the answers found so far.

    Parameters
    ----------
    blocks
        The blocks.
    place, block, sign
        Where the cell of every question stands, in which block, and 1 for up, -1 for down, ``(q,)`` each.
    target
        How far is far enough: the limit, or a bound that is known, ``(q,)``.
    open
        Which questions are not settled, ``(q,)``.
    reach, denominator, furthest, table
        The answers, as in `Answers`, ``(q,)`` each.
    """

    blocks: Blocks
    place: NDArray[np.int64]
    block: NDArray[np.int64]
    sign: NDArray[np.int64]
    target: NDArray[np.int64]
    open: NDArray[np.bool_]
    reach: NDArray[np.object_] = field(init=False)
    denominator: NDArray[np.object_] = field(init=False)
    furthest: NDArray[np.bool_] = field(init=False)
    table: NDArray[np.int64] = field(init=False)
    _columns: list[NDArray[np.int64]] = field(default_factory=list)
    _moves: list[Whole] = field(default_factory=list)

    def __post_init__(self) -> None:
        n = len(self.place)
        self.reach, self.denominator = np.zeros(n, dtype=object), np.ones(n, dtype=object)
        self.furthest, self.table = np.zeros(n, dtype=bool), np.full(n, -1, dtype=np.int64)

    def settle(self, places: NDArray[np.int64], reach: int) -> None:
        """Settle questions that need no witness: the cell does not move, or without end."""
        self.reach[places], self.furthest[places], self.open[places] = reach, True, False

    def strike_off(self, vertex: BlockVertex) -> int:
        """Settle every open question whose target a vertex reaches; return how many."""
        ends = np.where(self.sign > 0, vertex.rounded_down[self.place], -vertex.rounded_up[self.place])
        hit = np.flatnonzero(self.open & (ends >= self.target))
        if not len(hit):
            return 0
        table, denominator = self._tables(vertex, self.block[hit])
        self.table[hit], self.denominator[hit] = table, denominator
        self.reach[hit] = self.target[hit].astype(object) * denominator
        self.furthest[hit], self.open[hit] = True, False
        return len(hit)

    def enter(self, vertex: BlockVertex, places: NDArray[np.int64]) -> None:
        """Enter how far the vertex of some questions moves their cells, and close them."""
        self.open[places] = False
        self.table[places], self.denominator[places] = self._tables(vertex, self.block[places])
        for k in places.tolist():
            moves, _ = vertex.moves(self.blocks, int(self.block[k]))
            own = int(moves[self.place[k] - self.blocks.starts[self.block[k]]])
            self.reach[k] = max(0, int(self.sign[k]) * own)
            if self.reach[k] == 0:
                self.table[k], self.denominator[k] = -1, 1

    def answers(self) -> Answers:
        """Return the answers."""
        none = np.zeros(0, dtype=np.int64)
        sizes = [len(columns) for columns in self._columns]
        return Answers(
            compact(self.reach),
            compact(self.denominator),
            self.furthest,
            self.table,
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([none, *self._columns]),
            np.concatenate([none, *self._moves]),
        )

    def _tables(self, vertex: BlockVertex, block: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
        """Keep the tables of some blocks; return their numbers and denominators."""
        number: dict[int, int] = {}
        denominators: dict[int, int] = {}
        for own in np.unique(block).tolist():
            moves, denominators[own] = vertex.moves(self.blocks, own)
            used = np.flatnonzero(moves)
            number[own] = len(self._columns)
            self._columns.append(self.blocks.columns[self.blocks.place(own)][used])
            self._moves.append(moves[used])
        of = block.tolist()
        scale = np.empty(len(of), dtype=object)
        scale[:] = [denominators[own] for own in of]
        return np.array([number[own] for own in of], dtype=np.int64), scale


def solve_random_objectives(sheet: OpenQuestions, model: Model) -> None:
    """Settle open questions by programs with random objectives, until they settle too few.

    The objective pushes every cell of an open question up or down, by chance where both are open, with a bound at the
    target: a cell at its bound is settled. Directions and weights are drawn from a fixed seed.
    """
    blocks, chance = sheet.blocks, np.random.default_rng(_SEED)
    everyone = np.arange(len(blocks.columns))
    changed = False
    for _ in range(_ROUNDS):
        open_ = np.flatnonzero(sheet.open & (sheet.target < ENDLESS))
        if len(open_) <= _YIELD * len(np.unique(sheet.block[open_])):
            break
        down, up = blocks.down.copy(), blocks.up.copy()
        for side, sign in ((down, -1), (up, 1)):
            asked = open_[sheet.sign[open_] == sign]
            np.minimum.at(side, sheet.place[asked], sheet.target[asked])
        model.change_bounds(everyone, -float_bounds(down), float_bounds(up))
        model.change_costs(everyone, _random_costs(sheet, open_, chance))
        changed = True
        try:
            settled = sheet.strike_off(exact_vertex(solve_model(model)[0], blocks, down, up))
        except UnsolvedError:  # weights of many magnitudes: the questions one by one have none
            break
        if settled < _YIELD * len(np.unique(sheet.block[open_])):
            break
    if changed:
        model.change_bounds(everyone, -float_bounds(blocks.down), float_bounds(blocks.up))
        model.change_costs(everyone, np.zeros(len(everyone)))


def _random_costs(sheet: OpenQuestions, open_: NDArray[np.int64], chance: np.random.Generator) -> NDArray[np.float64]:
    """Return costs that push the cells of open questions, each in one of its open directions."""
    n = len(sheet.blocks.columns)
    push = np.zeros(n)
    weight = np.exp(_SPREAD * chance.standard_normal(n)) if len(open_) else np.ones(n)
    mixed = open_[chance.permutation(len(open_))]
    push[sheet.place[mixed]] = sheet.sign[mixed] / np.maximum(1, sheet.target[mixed])
    return -push * weight
