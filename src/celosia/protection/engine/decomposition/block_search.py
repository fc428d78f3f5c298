"""Patterns of large product tables, improved block by block.

Every round protects each block anew by moves that stay within it: cells that requirements outside need are hidden in
any case and cost nothing, and a requirement whose witness leaves the block keeps it. So blocks, which have no cell in
common, do not depend on each other, and may be shared out among workers: what is hidden is all that some block, or some
requirement outside, needs, and every requirement has its witness in it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.protection.engine.decomposition.blocks import list_blocks
from celosia.protection.engine.heuristics.moves.joint_parameters import JOINT_MOVES, JointMoveParameters
from celosia.protection.engine.heuristics.moves.joint_search import JointMovePattern, JointMoveSearch
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
from celosia.protection.engine.heuristics.moves.witnesses import find_cover
from celosia.protection.engine.parameters import PARAMETERS, MoveParameters
from celosia.protection.engine.workers import count_workers, map_by_workers
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.solve.backend import Backend


@dataclass(frozen=True, slots=True, eq=False)
class BlockPattern:
    """A pattern of a block, with its witnesses.

    Parameters
    ----------
    columns
        The columns of the whole problem that the block has, increasing.
    hidden
        Which of them are hidden for its own requirements, those included that others need, ``(k,)``.
    served
        The columns of the whole problem whose requirements have witnesses here.
    proposed
        The witnesses, by columns of the whole problem.
    """

    columns: NDArray[np.int64]
    hidden: NDArray[np.bool_]
    served: NDArray[np.int64]
    proposed: ProposedWitnesses


@dataclass(frozen=True, slots=True, eq=False)
class BlockUnion:
    """A pattern of the whole: what some witnesses of the first pattern need, and what blocks need.

    Parameters
    ----------
    first, serving
        The first pattern, and which of its witnesses count, ``(w,)``.
    hidden
        Which columns are hidden, ``(n,)``.
    blocks
        The patterns of blocks.
    """

    first: MoveSearch
    serving: NDArray[np.bool_]
    hidden: NDArray[np.bool_]
    blocks: tuple[BlockPattern, ...]

    def propose(self, decimals: int) -> ProposedWitnesses:
        """Return the witnesses as proposals to the audit, by columns, in counts of a decimal."""
        windows = [move.propose(decimals) for move in self.first.window_moves]
        return ProposedWitnesses.join(
            [self.first.propose(self.serving), *windows, *(one.proposed for one in self.blocks)]
        )


@dataclass(frozen=True, slots=True, eq=False)
class BlockTask:
    """A block that is to be protected anew.

    Parameters
    ----------
    columns
        The columns of the whole problem that it has, increasing.
    problem
        The block; cells that others need are forced.
    cost
        What the cells cost today that its requirements alone hide, wherever they are.
    first
        What serves its requirements within it today.
    seconds, seed
        How long it may take, and from where random numbers are drawn.
    """

    columns: NDArray[np.int64]
    problem: ProtectionProblem
    first: MoveSearch
    cost: float
    seconds: float
    seed: tuple[int, ...]


def protect_block(
    task: BlockTask,
    backend: Backend,
    moves: MoveParameters = PARAMETERS.moves,
    joint_moves: JointMoveParameters = JOINT_MOVES,
) -> BlockPattern | None:
    """Return a cheaper pattern of a block, None where none is found in time.

    Parameters
    ----------
    task
        The block.
    backend
        Solves programs.
    moves, joint_moves
        How much effort moves are worth.
    """
    clock = Clock(None if math.isinf(task.seconds) else task.seconds)
    problem, sunk = task.problem, float(task.problem.cost[task.problem.forced].sum())

    def restart(price: float) -> MoveSearch:
        return MoveSearch(problem, lambda: clock.left <= 0, moves, cell_price=price)

    first = task.first.begin_anew(lambda: clock.left <= 0)
    first.clean_up()
    best = first.cost - sunk
    found = JointMovePattern(first.pattern, first.cost, [(first, first.witnesses.lengths > 0)], [])
    jointly = JointMoveSearch(
        problem, first, restart, backend, np.random.default_rng(task.seed), lambda: clock.left, joint_moves
    )
    for found in jointly.patterns():
        best = found.cost - sunk
    if best >= task.cost:
        return None
    proposed = found.propose(problem.decimals).of_cells(task.columns)
    return BlockPattern(task.columns, found.hidden, task.columns[np.unique(problem.requirements.columns)], proposed)


def _protect_block_alone(
    solver: str, moves: MoveParameters, joint_moves: JointMoveParameters, task: BlockTask
) -> BlockPattern | None:
    """Return a cheaper pattern of a block, found in a process of its own."""
    return protect_block(task, backend_named(solver), moves, joint_moves)


class BlockSearch:
    """Improves a pattern of a large product table block by block.

    Parameters
    ----------
    problem
        The problem.
    first
        A pattern of it by moves of few cells.
    backend, seed
        Solves programs; from which random numbers are drawn.
    left
        Returns the seconds that are left.
    executor
        Whose workers protect blocks side by side; None for one after the other.
    moves, joint_moves
        How much effort moves are worth.

    Attributes
    ----------
    blocks
        The columns of every block.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        first: MoveSearch,
        backend: Backend,
        seed: int,
        left: Callable[[], float],
        executor: Executor | None = None,
        moves: MoveParameters = PARAMETERS.moves,
        joint_moves: JointMoveParameters = JOINT_MOVES,
    ) -> None:
        assert problem.product is not None  # noqa: S101  (callers ask for it)
        self._problem, self._first, self._backend, self._seed, self._left = problem, first, backend, seed, left
        self._executor, self._moves, self._joint_moves = executor, moves, joint_moves
        self.blocks = list_blocks(problem.product, joint_moves.most_columns)
        self._found: list[BlockPattern | None] = [None] * len(self.blocks)
        self._local = self._find_local()

    def _find_local(self) -> NDArray[np.int64]:
        """Return in which block every witness of the first pattern is, with all others about its cell; -1 for none."""
        block_of = np.full(len(self._problem), -1, dtype=np.int64)
        for number, columns in enumerate(self.blocks):
            block_of[columns] = number
        first = self._first
        inside, wanted = first.find_within_blocks(block_of), first.wanted
        asked = (wanted.up > 0) | (wanted.down > 0)
        stays = np.ones(len(self._problem), dtype=bool)
        stays[wanted.columns[asked & (inside < 0)]] = False
        return np.where(stays[wanted.columns] & asked, inside, -1)

    def patterns(self) -> Iterator[BlockUnion]:
        """Yield patterns, each cheaper than the ones before it, until time is up or nothing gets better."""
        numbers = [number for number in range(len(self.blocks)) if bool((self._local == number).any())]
        for turn in count():
            better = False
            for number, found in self._protect_blocks(numbers, turn):
                if found is not None:
                    self._found[number], better = found, True
                    yield self._unite()
            if not better or self._left() <= 0:
                return

    def _protect_blocks(self, numbers: Sequence[int], turn: int) -> Iterator[tuple[int, BlockPattern | None]]:
        """Yield a cheaper pattern of every block, None where none is found, by workers where there are some."""
        share = self._joint_moves.block_share
        if self._executor is None:
            for place, number in enumerate(numbers):
                if self._left() <= 0:
                    return
                task = self._open(number, share * self._left() / (len(numbers) - place), turn)
                yield number, protect_block(task, self._backend, self._moves, self._joint_moves)
            return
        waves = -(-len(numbers) // count_workers(self._executor))
        tasks = [self._open(number, share * self._left() / waves, turn) for number in numbers]
        solve = partial(_protect_block_alone, self._backend.name, self._moves, self._joint_moves)
        yield from zip(numbers, map_by_workers(self._executor, solve, tasks, self._left), strict=True)

    def _serving_first(self) -> NDArray[np.bool_]:
        """Return which witnesses of the first pattern are still needed, ``(w,)``."""
        replaced = np.zeros(len(self._problem), dtype=bool)
        for found in self._found:
            if found is not None:
                replaced[found.served] = True
        return np.asarray((self._first.witnesses.lengths > 0) & ~replaced[self._first.wanted.columns])

    def _hide(self, serving: NDArray[np.bool_], without: int = -1) -> NDArray[np.bool_]:
        """Return which columns are hidden for some witnesses of the first pattern, and all blocks but one."""
        hidden = self._problem.forced | find_cover(self._first.witnesses, serving)
        for move in self._first.window_moves:
            hidden[move.columns] = True
        for number, found in enumerate(self._found):
            if found is not None and number != without:
                hidden[found.columns[found.hidden]] = True
        return hidden

    def _unite(self) -> BlockUnion:
        """Return what is hidden for all requirements together."""
        serving = self._serving_first()
        return BlockUnion(
            self._first, serving, self._hide(serving), tuple(one for one in self._found if one is not None)
        )

    def _open(self, number: int, seconds: float, turn: int) -> BlockTask:
        """Return the task of a block."""
        columns, local = self.blocks[number], self._local == number
        serving = self._serving_first()
        others = self._hide(serving & ~local, without=number)
        cost = float(self._problem.cost[self._hide(serving) & ~others].sum())
        part = self._problem.part(columns, np.unique(self._first.requirements[local]))
        part = replace(part, forced=others[columns])
        first = self._first.restrict(part, columns, local)
        return BlockTask(columns, part, first, cost, seconds, (self._seed, number, turn))
