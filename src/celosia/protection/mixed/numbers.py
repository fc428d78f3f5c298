"""Cells of a mixed release that may be rounded or perturbed: how, and how far, in steps of their decimals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.perturbation.formulation import MoveBounds, PerturbationModel
from celosia.risk.risk import Risk


@dataclass(frozen=True, slots=True, eq=False)
class Roundings:
    """Columns of a problem that may be rounded.

    Parameters
    ----------
    columns
        The columns, ``(m,)``.
    base, truth, grain
        Base, true value and grain of each, in steps, ``(m,)``; the grain is the smallest difference between values: one
        step, or a whole count.
    """

    columns: NDArray[np.int64]
    base: NDArray[np.int64]
    truth: NDArray[np.int64]
    grain: NDArray[np.int64]

    @property
    def remainder(self) -> NDArray[np.int64]:
        """How far each truth lies above the multiple below it."""
        return np.asarray(self.truth % self.base)


@dataclass(frozen=True, slots=True, eq=False)
class Perturbations:
    """Columns of a problem that may be perturbed.

    Parameters
    ----------
    columns
        The columns, ``(m,)``.
    grain
        The smallest move of each: one step, or a whole count, ``(m,)``.
    reach, ends
        The reach of each, and how far each must and may move if it is perturbed, in grains, ``(m,)`` each.
    """

    columns: NDArray[np.int64]
    grain: NDArray[np.int64]
    reach: NDArray[np.int64]
    ends: MoveBounds

    @property
    def furthest(self) -> NDArray[np.int64]:
        """How far each may move to any side, in steps, ``(m,)``."""
        return np.maximum(self.ends.most_up, self.ends.most_down) * self.grain


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """The columns of a problem that may be published as a number other than the true one.

    Parameters
    ----------
    roundings, moves
        Those that may be rounded, and those that may be perturbed.
    step
        Counts of the problem in one step: a unit of the last decimal, or 1 where values are whole.
    """

    roundings: Roundings
    moves: Perturbations
    step: int

    @property
    def columns(self) -> NDArray[np.int64]:
        """The columns that may be rounded or perturbed, increasing."""
        return np.union1d(self.roundings.columns, self.moves.columns)

    @property
    def furthest(self) -> float:
        """How far all of them together may lie from the truth, in counts of the problem."""
        far = np.zeros(int(self.columns.max(initial=-1)) + 1)
        far[self.roundings.columns] = self.roundings.base
        far[self.moves.columns] = np.maximum(far[self.moves.columns], self.moves.furthest)
        return float(far.sum()) * self.step


def steps_of(problem: ProtectionProblem, risk: Risk, *, integer: bool | None) -> tuple[int, int]:
    """Return how many units of the table's last decimal, and how many counts of a problem, are one step."""
    units = 10**risk.table.decimals if integer else 1
    return units, units * 10**problem.decimals // 10**risk.table.decimals


def perturbations_of(
    model: PerturbationModel, problem: ProtectionProblem, columns: NDArray[np.int64], secret: int | None
) -> Perturbations:
    """Return how far columns may move within their reach; sensitive cells must, to a side drawn at random.

    A sensitive cell that is perturbed is moved at least by its level on that side, as far as the reach leaves its level
    on the other, as in `celosia.Perturb`. One whose reach is too small for that is left out.
    """
    cells = problem.cells[columns]
    coin = np.random.default_rng(secret).random(len(model.risk))[model.sensitive] < 0.5  # noqa: PLR2004  (one for every cell)
    upward = np.where(coin, model.moves(up=True) > 0, model.moves(up=False) <= 0)
    ends = model.bound_moves(upward).take(cells)
    kept = ~model.risk.sensitive[cells] | (np.maximum(ends.least_up, ends.least_down) > 0)
    grain = model.grain[cells[kept]]
    far = (ends.least_up, ends.least_down, ends.most_up, ends.most_down)
    return Perturbations(
        columns[kept], grain, model.reach[cells[kept]] // grain, MoveBounds(*(steps[kept] // grain for steps in far))
    )
