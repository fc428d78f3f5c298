"""Merge columns that always move together into one: the same optimum of a smaller problem.

Attackers who know one member of a class know all of it. So a class that has a requirement is hidden as a whole, and of
any other it is in vain to hide a part: the cost of a class is the sum, its bounds are the tightest, its levels the
largest of its members' (those of members that move against the first change sides).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.null_space.classes import MovementClasses, find_classes
from celosia.protection.engine.null_space.coordinates import KernelCoordinates
from celosia.protection.engine.problem import ColumnRequirements, ProtectionProblem
from celosia.tolerance import ENDLESS


@dataclass(frozen=True, slots=True, eq=False)
class MergedProblem:
    """A problem whose columns are classes of another's.

    Parameters
    ----------
    problem
        The problem of the classes.
    coordinates
        Kernel coordinates of its columns.
    class_of, sign
        The class of every column of the other problem, -1 for columns that cannot move, and whether the column moves
        along with it, 1, or against it, -1, ``(n,)``.
    """

    problem: ProtectionProblem
    coordinates: KernelCoordinates
    class_of: NDArray[np.int64]
    sign: NDArray[np.int64]


def merge_columns(problem: ProtectionProblem, coordinates: KernelCoordinates) -> MergedProblem:
    """Return the problem of classes of columns that always move together.

    Requirements must be about columns that are forced, and can move: a level that counts only if its cell is hidden
    would tell the members of a class apart.
    """
    classes = find_classes(coordinates.combinations)
    n = len(classes)
    matrix = sp.csr_array(problem.matrix @ classes.merging)
    matrix.eliminate_zeros()
    rows = np.flatnonzero(np.diff(matrix.indptr) > 0)
    required = np.zeros(n, dtype=bool)
    requirements = _merge_requirements(problem.requirements, classes)
    required[requirements.columns] = True
    free = np.zeros(n, dtype=bool)
    moving = classes.number >= 0
    free[classes.number[moving & ~problem.forced]] = True
    up, down = _tightest(problem.up, problem.down, classes), _tightest(problem.down, problem.up, classes)
    merged = ProtectionProblem(
        cells=problem.cells[classes.first],
        matrix=sp.csr_array(matrix[rows]),
        implied=problem.implied[rows],
        up=up,
        down=down,
        cost=_sum_members(np.where(problem.forced, 0.0, problem.cost), classes),
        forced=required | ~free,
        requirements=requirements,
        decimals=problem.decimals,
        whole=_any_member(problem.whole, classes),
        n_local=int((classes.first >= problem.n_own).sum()),
    )
    own = KernelCoordinates(sp.csr_array(coordinates.combinations[classes.first]), classes.number[coordinates.cells])
    return MergedProblem(merged, own, classes.number, classes.sign)


def _tightest(along: NDArray[np.int64], against: NDArray[np.int64], classes: MovementClasses) -> NDArray[np.int64]:
    """Return the bounds of classes in one direction, for every attacker: the tightest of their members'."""
    found = np.full((len(along), len(classes)), ENDLESS, dtype=np.int64)
    moving = np.flatnonzero(classes.number >= 0)
    own = np.where(classes.sign[moving] > 0, along[:, moving], against[:, moving])
    for k in range(len(found)):
        np.minimum.at(found[k], classes.number[moving], own[k])
    return found


def _sum_members(values: NDArray[np.float64], classes: MovementClasses) -> NDArray[np.float64]:
    found = np.zeros(len(classes))
    moving = classes.number >= 0
    np.add.at(found, classes.number[moving], values[moving])
    return found


def _any_member(marked: NDArray[np.bool_], classes: MovementClasses) -> NDArray[np.bool_]:
    found = np.zeros(len(classes), dtype=bool)
    found[classes.number[marked & (classes.number >= 0)]] = True
    return found


def _merge_requirements(requirements: ColumnRequirements, classes: MovementClasses) -> ColumnRequirements:
    """Return one requirement for every class and attacker that has any: the largest of each level."""
    number, turned = classes.number[requirements.columns], classes.sign[requirements.columns] < 0
    up = np.where(turned, requirements.down, requirements.up)
    down = np.where(turned, requirements.up, requirements.down)
    pairs, place = np.unique(np.stack([number, requirements.attackers]), axis=1, return_inverse=True)
    levels = np.zeros((3, pairs.shape[1]), dtype=np.int64)
    for level, own in zip(levels, (up, down, requirements.sliding), strict=True):
        np.maximum.at(level, place.ravel(), own)
    return ColumnRequirements(pairs[0], pairs[1], *levels)
