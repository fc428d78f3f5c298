r"""Complete suppression as in the textbook: the peer of `celosia.protect`.

Algorithm 4.1 of Karlsson and Olsson (2015) to the letter: a master problem over binary :math:`x` (hidden or not),
solved to optimality from scratch in every round; two linear programs from scratch for every sensitive cell and attacker
on the table of its solution; for every level that is missed the constraint (3.17b)-(3.17d) of their multipliers,
strengthened as in (4.5); until none is missed. Its pattern is optimal, and before the end there is none.

HiGHS solves both. Linear programs see the hidden cells only, which is what presolving would leave, and are passed to
the solver once a round: each starts without a basis, and none pays for the way through SciPy, which takes five times as
long as the solving.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import highspy
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from celosia.risk.attacker import Attacker
from celosia.risk.risk import HIDE, SHOW, Risk

_FEASIBLE = 1e-6  # by how much HiGHS lets a row with right side 1 miss
_MISSED = 2 * _FEASIBLE  # so that a constraint that is there is never found missing again
_DIGITS = 9  # of multipliers: any multipliers give a valid constraint, and round ones have no noise


@dataclass(frozen=True, slots=True, eq=False)
class Textbook:
    """What the textbook algorithm found.

    Parameters
    ----------
    hidden
        The pattern, ``(n_cells,)``; None where the time ran out before there was one.
    cost
        What it costs, sensitive cells included; without a pattern a bound from below.
    rounds, cuts
        How often the master was solved, and the constraints in the end.
    seconds
        CPU time, and how much of it the `masters` and the `attackers` took.
    """

    hidden: NDArray[np.bool_] | None
    cost: float
    rounds: int
    cuts: int
    seconds: float
    masters: float
    attackers: float


@dataclass(frozen=True, slots=True, eq=False)
class _Attack:
    """How far a cell moves in one direction, and the multipliers that prove it.

    Parameters
    ----------
    reach
        How far.
    pull
        The constants :math:`d`: how much of the reach each cell could contribute if it were hidden, ``(n_cells,)``.
    """

    reach: float
    pull: NDArray[np.float64]


def textbook(risk: Risk, *, time_limit: float = np.inf) -> Textbook:
    """Return the cheapest safe pattern.

    Parameters
    ----------
    risk
        The problem.
    time_limit
        CPU seconds after which no further round is begun.
    """
    began = time.process_time()
    masters = attackers = 0.0
    hidden, cost = risk.sensitive, 0.0
    rounds, cuts, missed = 0, list[NDArray[np.float64]](), True
    while missed and time.process_time() - began <= time_limit:
        start = time.process_time()
        hidden, cost = _master(risk, cuts)
        solved = time.process_time()
        found = list(_missed(risk, hidden))
        masters, attackers = masters + solved - start, attackers + time.process_time() - solved
        rounds, cuts, missed = rounds + 1, cuts + found, bool(found)
    seconds = time.process_time() - began
    return Textbook(None if missed else hidden, cost, rounds, len(cuts), seconds, masters, attackers)


def _master(risk: Risk, cuts: list[NDArray[np.float64]]) -> tuple[NDArray[np.bool_], float]:
    """Return the cheapest pattern that satisfies the constraints so far, and its cost: (4.1)."""
    lower = (risk.sensitive | (risk.status == HIDE)).astype(np.float64)
    upper = (risk.status != SHOW).astype(np.float64)
    rows = [LinearConstraint(sp.csr_array(np.array(cuts)), lb=1.0)] if cuts else []
    solved = milp(
        risk.cost, integrality=np.ones(len(risk)), bounds=Bounds(lower, upper), constraints=rows, options=_TO_THE_END
    )
    if solved.status != 0:
        raise RuntimeError(f"master problem: {solved.message}")
    hidden = np.asarray(solved.x > 0.5)
    return hidden, float(risk.cost[hidden].sum())


_TO_THE_END = {"mip_rel_gap": 0.0}


def _missed(risk: Risk, hidden: NDArray[np.bool_]) -> Iterator[NDArray[np.float64]]:
    """Yield a constraint for every level that the pattern misses, as coefficients of a row with right side 1."""
    rooms = [_Room.of(risk, hidden, attacker) for attacker in risk.attackers]
    for wanted in risk.requirements:
        room = rooms[wanted.attacker]
        up, down = room.attack(wanted.cell, 1), room.attack(wanted.cell, -1)
        both = _Attack(up.reach + down.reach, up.pull + down.pull)
        for found, exact in ((up, wanted.upper), (down, wanted.lower), (both, wanted.sliding)):
            level = float(exact)
            if found.reach < level * (1 - _MISSED):
                yield np.minimum(found.pull / level, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """What an attacker has to solve in a pattern.

    Parameters
    ----------
    down, up
        How far each cell could move if it were hidden, ``(n_cells,)`` each.
    transposed
        The relations, ``(n_cells, n_relations)``.
    cells, rows
        The hidden cells and the relations among them.
    model
        Their linear program, without an objective.
    """

    down: NDArray[np.float64]
    up: NDArray[np.float64]
    transposed: sp.csr_array
    cells: NDArray[np.int64]
    rows: NDArray[np.int64]
    model: highspy.Highs

    @classmethod
    def of(cls, risk: Risk, hidden: NDArray[np.bool_], attacker: Attacker) -> _Room:
        """Return the room of an attacker."""
        truth, relations = risk.table.values, risk.table.relations.matrix
        down, up = truth - attacker.lower.floats, attacker.upper.floats - truth
        cells = np.flatnonzero(hidden)
        some = sp.csr_array(relations[:, cells])
        rows = np.flatnonzero(np.diff(some.indptr) > 0)
        model = _model(sp.csc_array(some[rows], dtype=np.float64), -down[cells], up[cells])
        return cls(down, up, sp.csr_array(relations.T), cells, rows, model)

    def attack(self, cell: int, side: int) -> _Attack:
        """Return how far a cell moves up or down: (4.2), (4.3)."""
        place = int(np.searchsorted(self.cells, cell))
        self.model.clearSolver()
        self.model.changeColCost(place, -float(side))
        self.model.run()
        if self.model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"cell {cell}: {self.model.getModelStatus()}")
        reach = -float(self.model.getInfo().objective_function_value)
        multipliers = np.zeros(self.transposed.shape[1])
        multipliers[self.rows] = -np.round(self.model.getSolution().row_dual, _DIGITS)
        self.model.changeColCost(place, 0.0)
        rest = -(self.transposed @ multipliers)  # what the target is, on tables that satisfy the relations
        rest[cell] += side
        return _Attack(reach, np.maximum(rest * self.up, -rest * self.down))


def _model(matrix: sp.csc_array, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> highspy.Highs:
    """Return a linear program without an objective."""
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = matrix.shape
    program.col_cost_ = np.zeros(len(lower))
    program.col_lower_, program.col_upper_ = lower, upper
    program.row_lower_ = program.row_upper_ = np.zeros(matrix.shape[0])
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_, program.a_matrix_.index_ = matrix.indptr, matrix.indices
    program.a_matrix_.value_ = matrix.data
    model = highspy.Highs()  # type: ignore[no-untyped-call]
    model.setOptionValue("output_flag", False)  # noqa: FBT003
    model.setOptionValue("threads", 1)
    model.passModel(program)
    return model
