r"""The joint program of a product table: one move that takes many sensitive cells to their levels at once.

.. math:: \min \sum_i c_i |x_i| + C \sum_p e_p \quad\text{s.t.}\quad M x = 0,\; s_p x_p + e_p \ge l_p,\; |x_i| \le b_i

in the relations of the table, which are sparser here than its kernel. Its support is hidden; so it is solved again with
prices divided by how far cells moved, by which cells that hardly move stop moving. Solutions are vertices, so they have
a common denominator: in whole numbers the move is a witness for every level that it reaches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.attack.system.exact import find_exact_moves
from celosia.protection.engine.heuristics.moves.joint_parameters import JOINT_MOVES, JointMoveParameters
from celosia.solve.problem import LinearProgram
from celosia.solve.solution import Status
from celosia.tolerance import ENDLESS, EXACT_DOUBLE, MOVE_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.solve.backend import Backend, Method, Model


@dataclass(frozen=True, slots=True, eq=False)
class JointMove:
    """A move of many cells in whole numbers.

    Parameters
    ----------
    box
        Whose bounds it keeps, in both directions.
    columns, moves
        Which columns move, increasing, and how far, times the denominator, ``(k,)`` each.
    denominator
        In which fraction of a count.
    served
        The columns whose level it reaches, increasing.
    """

    box: int
    columns: NDArray[np.int64]
    moves: NDArray[np.int64]
    denominator: int
    served: NDArray[np.int64]

    def propose(self, decimals: int) -> ProposedWitnesses:
        """Return the move and its opposite as witnesses of all columns that it serves, up and down."""
        own = self.moves[np.searchsorted(self.columns, self.served)]
        k, n = len(self.served), len(self.columns)
        return ProposedWitnesses(
            np.concatenate([self.served, self.served]),
            np.full(2 * k, self.box, dtype=np.int64),
            np.concatenate([own > 0, own < 0]),
            np.array([0, n, 2 * n], dtype=np.int64),
            np.concatenate([self.columns, self.columns]),
            np.concatenate([self.moves, -self.moves]),
            np.full(2, self.denominator, dtype=np.int64),
            decimals,
            np.repeat(np.arange(2), k),
        )


@dataclass(frozen=True, slots=True, eq=False)
class JointTask:
    """What a joint move is wanted for.

    Parameters
    ----------
    box, room
        Whose bounds, and how far columns may move either way, ``(n,)``.
    columns, levels
        Which columns must move, increasing, and how far, ``(t,)`` each.
    """

    box: int
    room: NDArray[np.int64]
    columns: NDArray[np.int64]
    levels: NDArray[np.int64]

    def take(self, places: NDArray[np.bool_]) -> JointTask:
        """Return the task for some of the columns."""
        return JointTask(self.box, self.room, self.columns[places], self.levels[places])

    def without(self, served: NDArray[np.int64]) -> JointTask:
        """Return the task for the columns that are not served yet."""
        return self.take(~np.isin(self.columns, served))


def find_joint_move(
    problem: ProtectionProblem,
    task: JointTask,
    price: NDArray[np.float64],
    kept: NDArray[np.bool_],
    signs: NDArray[np.float64],
    missed_price: float,
    backend: Backend,
    seconds: float,
    parameters: JointMoveParameters = JOINT_MOVES,
) -> JointMove | None:
    """Return a move of few dear cells that takes most columns of a task to their levels, None where none is found.

    Parameters
    ----------
    problem, task
        The relations, and what is wanted.
    price
        What hiding every column costs, in parts of the median, ``(n,)``.
    kept
        Which columns are hidden in any case, ``(n,)``.
    signs
        In which direction each column of the task shall move, 1 or -1, ``(t,)``.
    missed_price
        What missing the median level costs, in parts of the median: what is dearer to serve is left to other moves.
    backend, seconds, parameters
        Solves programs; how long; how.
    """
    program = _Program.of(problem, task, signs, missed_price, backend, parameters)
    method: Method = "barrier" if len(task.columns) > parameters.few_targets else "afresh"
    move = program.solve(np.where(kept, parameters.kept_price, price), method, seconds)
    for damping in parameters.damping:
        if move is None:
            return None
        again = price * damping / (np.abs(move) + damping)
        move = program.solve(np.where(kept, parameters.kept_price, again), "primal", seconds)
    return None if move is None else make_whole(problem, task, move * program.unit)


def make_whole(problem: ProtectionProblem, task: JointTask, move: NDArray[np.float64]) -> JointMove | None:
    """Return a move in whole numbers that satisfies the relations and bounds exactly; None where none is found."""
    moved = np.flatnonzero(move)
    part = sp.csr_array(problem.matrix[:, moved])
    part = sp.csr_array(part[np.flatnonzero(np.diff(part.indptr) > 0)])
    room = task.room[moved]
    found = find_exact_moves(move[moved], part, room, room, problem.whole[moved])
    if found is None or int(np.abs(found[0]).max(initial=0)) >= EXACT_DOUBLE:
        return None
    moves, denominator = np.asarray(found[0], dtype=np.int64), found[1]
    reach = np.zeros(len(problem), dtype=np.int64)
    reach[moved] = np.abs(moves)
    served = task.columns[reach[task.columns] // denominator >= task.levels]
    used = np.flatnonzero(moves)
    return JointMove(task.box, moved[used], moves[used], denominator, served) if len(served) else None


@dataclass(frozen=True, slots=True, eq=False)
class _Program:
    """The open program: columns up and down for every cell, then what is missed of every level.

    Parameters
    ----------
    model
        The program.
    n, unit, highest_price
        The number of cells, counts by which moves are divided, and the largest price.
    """

    model: Model
    n: int
    unit: float
    highest_price: float

    @classmethod
    def of(
        cls,
        problem: ProtectionProblem,
        task: JointTask,
        signs: NDArray[np.float64],
        missed_price: float,
        backend: Backend,
        parameters: JointMoveParameters,
    ) -> _Program:
        n, t, m = len(problem), len(task.columns), problem.matrix.shape[0]
        unit = float(np.median(task.levels))
        relations = sp.csr_array(problem.matrix, dtype=np.float64)
        chosen = sp.csr_array((signs, (np.arange(t), task.columns)), shape=(t, n))
        rows = sp.block_array([[relations, -relations, None], [chosen, -chosen, sp.eye_array(t)]], format="csr")
        level, room = task.levels / unit, np.where(task.room >= ENDLESS, np.inf, task.room / unit)
        missed = np.full(t, missed_price)
        ends = np.concatenate([np.zeros(m), level]), np.concatenate([np.zeros(m), np.full(t, np.inf)])
        upper, cost = np.concatenate([room, room, level]), np.concatenate([np.zeros(2 * n), missed])
        program = LinearProgram(sp.csr_array(rows), *ends, np.zeros(2 * n + t), upper, cost)
        return cls(backend.open(program), n, unit, parameters.highest_price)

    def solve(self, price: NDArray[np.float64], method: Method, seconds: float) -> NDArray[np.float64] | None:
        """Return the cheapest move in units, ``(n,)``, None where there was no time."""
        price = np.minimum(price, self.highest_price)
        self.model.change_costs(np.arange(2 * self.n), np.concatenate([price, price]))
        found = self.model.solve(method=method, duals=False, time_limit=seconds)
        if found.x is None or found.status is not Status.OPTIMAL:
            return None
        move = found.x[: self.n] - found.x[self.n : 2 * self.n]
        move[np.abs(move) <= MOVE_ZERO] = 0.0
        return move
