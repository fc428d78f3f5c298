"""Patterns of product tables by joint moves and moves of few cells in turns.

    joint    one move for all levels that nothing else serves, in which cells that are hidden anyway cost nothing
    few      within what is hidden then, moves of few cells for as many levels as possible, improved by pivots and swaps

What the second step serves, the next joint move need not; so it is freer, and hides less. A joint move whose directions
contradict each other misses some levels: another joint move serves these, and for what is left the witnesses of the
first pattern stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.protection.engine.heuristics.moves.joint_parameters import JOINT_MOVES, JointMoveParameters
from celosia.protection.engine.heuristics.moves.joint_program import JointMove, JointTask, find_joint_move
from celosia.protection.engine.heuristics.moves.witnesses import find_cover, mix_witnesses

if TYPE_CHECKING:
    from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.solve.backend import Backend


@dataclass(frozen=True, slots=True, eq=False)
class JointMovePattern:
    """A pattern with its witnesses.

    Parameters
    ----------
    hidden, cost
        Which columns are hidden, ``(n,)``, and what that costs.
    parts
        Searches with the witnesses of few cells that count, ``(w,)`` each.
    joint
        The joint moves.
    """

    hidden: NDArray[np.bool_]
    cost: float
    parts: Sequence[tuple[MoveSearch, NDArray[np.bool_]]]
    joint: Sequence[JointMove]

    def propose(self, decimals: int) -> ProposedWitnesses:
        """Return the witnesses as proposals to the audit, by columns, in counts of a decimal."""
        few = [
            search.propose(some) for search, some in self.parts if bool((some & (search.witnesses.lengths > 0)).any())
        ]
        return ProposedWitnesses.join([*few, *(one.propose(decimals) for one in self.joint)])


def is_worth_joint_moves(problem: ProtectionProblem, parameters: JointMoveParameters = JOINT_MOVES) -> bool:
    """Return whether a problem is too large for cutting planes, small enough for programs, and its levels certain."""
    n, required = len(problem), problem.requirements
    certain = bool(problem.forced[required.columns].all())
    return certain and n <= parameters.most_columns and 2 * n * len(required) >= parameters.least_subproblems


def is_worth_blocks(problem: ProtectionProblem, parameters: JointMoveParameters = JOINT_MOVES) -> bool:
    """Return whether a problem is too large for one program, and its levels certain."""
    return len(problem) > parameters.most_columns and bool(problem.forced[problem.requirements.columns].all())


class JointMoveSearch:
    """Improves a pattern of a product table by joint moves.

    Parameters
    ----------
    problem
        The problem, all of whose requirements are about forced columns.
    first
        A pattern by moves of few cells, with a witness for everything that is wanted.
    restart
        Makes another such search without witnesses, for a price of any cell.
    backend
        Solves programs.
    random
        The random numbers.
    left
        Returns the seconds that are left.
    parameters
        How effort is divided.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        first: MoveSearch,
        restart: Callable[[float], MoveSearch],
        backend: Backend,
        random: np.random.Generator,
        left: Callable[[], float],
        parameters: JointMoveParameters = JOINT_MOVES,
    ) -> None:
        self._problem, self._first, self._restart = problem, first, restart
        self._backend, self._random, self._left, self._parameters = backend, random, left, parameters
        self._tasks = _list_tasks(first)
        cost = problem.cost
        self._median = float(np.median(cost[cost > 0])) if bool((cost > 0).any()) else 1.0

    def patterns(self) -> Iterator[JointMovePattern]:
        """Yield patterns, each cheaper than the first one and all before it, until time is up or none is found."""
        best, current, idle = None, None, 0
        least = self._first.cost
        while idle < self._parameters.most_idle and self._left() > 0:
            found = self._step(current, number=idle)
            idle += 1
            if found is None:
                current = best
                continue
            if found.cost < least:
                best, least, idle = found, found.cost, 0
                yield found
            current = found if found.cost <= least * (1 + self._parameters.tolerated) else best or found

    def _step(self, current: JointMovePattern | None, *, number: int) -> JointMovePattern | None:
        """Return the next pattern, None where there was no time."""
        p, random, n = self._parameters, self._random, len(self._problem)
        cell_price = float(random.choice(p.cell_prices))
        spread = float(random.choice(p.spreads)) if number else 0.0
        price = (self._problem.cost / self._median + cell_price) * np.exp(spread * random.standard_normal(n))
        kept, tasks, parts = self._problem.forced, self._tasks, []
        if current is not None:
            few = self._restart(cell_price)
            few.find_within(current.hidden)
            few.clean_up()
            served = _find_served(few, self._tasks)
            parts.append((few, few.witnesses.lengths > 0))
            tasks = [task.without(own) for task, own in zip(self._tasks, served, strict=True)]
            kept = few.pattern
        moves, left = self._serve_jointly(tasks, price, kept, current)
        if self._left() <= 0:
            return None
        hidden = kept.copy()
        for move in moves:
            hidden[move.columns] = True
        rest = _find_wanted(self._first, left)
        windows = [move for move in self._first.window_moves if _is_wanted(move, left)]
        if bool((rest & self._first.is_unserved).any()):
            return None
        hidden |= find_cover(self._first.witnesses, rest)
        for move in windows:
            hidden[move.columns] = True
        cost = float(self._problem.cost[hidden].sum())
        return JointMovePattern(hidden, cost, [*parts, (self._first, rest)], [*moves, *windows])

    def _serve_jointly(
        self,
        tasks: Sequence[JointTask],
        price: NDArray[np.float64],
        kept: NDArray[np.bool_],
        current: JointMovePattern | None,
    ) -> tuple[list[JointMove], list[JointTask]]:
        """Return joint moves for some tasks, and what these do not serve."""
        kept, moves, left = kept.copy(), [], []
        p = self._parameters
        hurried = current is None and len(self._problem) > p.columns_a_second * self._left()
        missed_prices = p.hurried_missed_prices if hurried else p.missed_prices
        for one in tasks:
            alone = one.levels > one.room[one.columns]  # a move of such a column leaves bounds that others' moves keep
            task, rest = one.take(~alone), one.take(alone)
            for number, missed_price in enumerate(missed_prices):
                if not len(task.columns) or self._left() <= 0:
                    break
                signs = self._choose_signs(task, current if number == 0 else None)
                found = find_joint_move(
                    *(self._problem, task, price, kept, signs, missed_price, self._backend, self._left()), p
                )
                if found is None:
                    continue
                moves.append(found)
                kept[found.columns] = True
                task = task.without(found.served)
            left += [task, rest]
        return moves, left

    def _choose_signs(self, task: JointTask, current: JointMovePattern | None) -> NDArray[np.float64]:
        """Return directions in which the columns of a task can move together: mostly those of the last joint moves."""
        mixed = mix_witnesses(self._first.wanted, self._first.witnesses, self._random)
        signs = np.where(mixed[task.columns] >= 0, 1.0, -1.0)
        if current is not None and self._random.random() >= self._parameters.afresh:
            for move in reversed(current.joint):
                if move.box == task.box:
                    last = np.zeros(len(mixed))
                    last[move.columns] = np.sign(move.moves)
                    signs = np.where(last[task.columns] == 0, signs, last[task.columns])
        return signs


def _list_tasks(search: MoveSearch) -> list[JointTask]:
    """Return what is wanted of every attacker, as one task each."""
    wanted, tasks = search.wanted, []
    asked = (wanted.up > 0) | (wanted.down > 0)
    for box in np.unique(wanted.attackers[asked]).tolist():
        own = np.flatnonzero(asked & (wanted.attackers == box))
        columns, place = np.unique(wanted.columns[own], return_inverse=True)
        levels = np.zeros(len(columns), dtype=np.int64)
        np.maximum.at(levels, place.reshape(-1), np.maximum(wanted.up, wanted.down)[own])
        tasks.append(JointTask(box, search.room[box], columns, levels))
    return tasks


def _find_served(search: MoveSearch, tasks: Sequence[JointTask]) -> list[NDArray[np.int64]]:
    """Return the columns of every task for which a search has all witnesses."""
    wanted, lengths = search.wanted, search.witnesses.lengths
    missed = (lengths == 0) & ((wanted.up > 0) | (wanted.down > 0))
    return [np.setdiff1d(task.columns, wanted.columns[missed & (wanted.attackers == task.box)]) for task in tasks]


def _is_wanted(move: JointMove, tasks: Sequence[JointTask]) -> bool:
    """Return whether a move serves something that tasks ask."""
    return any(task.box == move.box and bool(np.isin(move.served, task.columns).any()) for task in tasks)


def _find_wanted(search: MoveSearch, tasks: Sequence[JointTask]) -> NDArray[np.bool_]:
    """Return which witnesses of a search are wanted for what tasks ask, ``(w,)``."""
    wanted = search.wanted
    asked = (wanted.up > 0) | (wanted.down > 0)
    found = np.zeros(len(wanted.columns), dtype=bool)
    for task in tasks:
        found |= asked & (wanted.attackers == task.box) & np.isin(wanted.columns, task.columns)
    return found
