"""Groups of the hidden classes of a pattern that move in proportion: what is shown of one is known of all.

Merged as classes are: the cost of a group is the sum, its bounds are the tightest of its members'. Every group that is
shown takes one coordinate of the kernel away, and others merge.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.tolerance import KERNEL_ZERO, TABLEAU_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.heuristics.joint.contraction import PatternKernel
    from celosia.protection.engine.heuristics.joint.targets import Targets


@dataclass(frozen=True, slots=True, eq=False)
class PatternGroups:
    """The groups of a pattern.

    Parameters
    ----------
    classes
        The classes that were hidden at first, ``(h,)``.
    group, multiple
        The group of every class, -1 for those that are shown by now, and how often it moves as far as the group,
        ``(h,)``.
    basis
        Moves of the groups in coordinates of the kernel, ``(g, d)``.
    cost
        What hiding each group costs, ``(g,)``.
    locked
        Which groups stay hidden, ``(g,)``.
    lower, upper
        How far groups may move down and up for every target, in parts of its level, ``(t, g)``.
    place, factor
        The group of every target, and how often the target moves as far, 0 where it cannot move, ``(t,)``.
    """

    classes: NDArray[np.int64]
    group: NDArray[np.int64]
    multiple: NDArray[np.float64]
    basis: NDArray[np.float64]
    cost: NDArray[np.float64]
    locked: NDArray[np.bool_]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    place: NDArray[np.int64]
    factor: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.cost)

    @classmethod
    def of(cls, kernel: PatternKernel, targets: Targets, cost: NDArray[np.float64]) -> PatternGroups:
        """Return the groups of a pattern, those of targets locked; a class costs what `cost` says, ``(n,)``."""
        n, levels = len(kernel.columns), targets.levels[:, None]
        place = np.searchsorted(kernel.columns, targets.columns)
        moving = np.append(kernel.columns, -1)[place] == targets.columns
        every = cls(
            classes=kernel.columns,
            group=np.arange(n),
            multiple=np.ones(n),
            basis=kernel.basis,
            cost=cost[kernel.columns],
            locked=np.isin(kernel.columns, targets.columns),
            lower=targets.lower[targets.boxes][:, kernel.columns] / levels,
            upper=targets.upper[targets.boxes][:, kernel.columns] / levels,
            place=np.where(moving, place, 0),
            factor=moving.astype(np.float64),
        )
        return every._merge(kernel.basis)[0]

    @property
    def hidden(self) -> NDArray[np.int64]:
        """The classes that are hidden and move."""
        return self.classes[self.group >= 0]

    def spread(self, moves: NDArray[np.float64], n: int) -> NDArray[np.float64]:
        """Return moves of groups, ``(t, g)``, as moves of all `n` classes."""
        found, alive = np.zeros((len(moves), n)), self.group >= 0
        found[:, self.classes[alive]] = moves[:, self.group[alive]] * self.multiple[alive]
        return found

    def gather(self, moves: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return moves of classes in the kernel, ``(k, n)``, as moves of the groups."""
        first = np.zeros(len(self), dtype=np.int64)
        alive = np.flatnonzero(self.group >= 0)[::-1]
        first[self.group[alive]] = alive
        return np.asarray(moves[:, self.classes[first]] / self.multiple[first])

    def lock(self, group: int) -> PatternGroups:
        """Return the same where one more group stays hidden."""
        locked = self.locked.copy()
        locked[group] = True
        return replace(self, locked=locked)

    def show(self, group: int) -> tuple[PatternGroups, NDArray[np.int64]]:
        """Return the groups when one more is shown, and of which earlier group each is, so that moves go along."""
        row = self.basis[group]
        pivot = int(np.argmax(np.abs(row)))
        less = np.delete(self.basis - np.outer(self.basis[:, pivot] / row[pivot], row), pivot, axis=1)
        less[np.abs(less) <= KERNEL_ZERO] = 0.0
        return self._merge(less)

    def _merge(self, basis: NDArray[np.float64]) -> tuple[PatternGroups, NDArray[np.int64]]:
        """Return the groups with another basis: rows that are proportional are merged, those of zeros are shown."""
        moving = np.flatnonzero((basis != 0.0).any(axis=1))
        number, factor = _group_rows(basis[moving])
        n = int(number.max(initial=-1)) + 1
        order = np.argsort(number, kind="stable")
        starts = np.searchsorted(number[order], np.arange(n))
        first = moving[order[starts]]
        place, multiple = np.full(len(basis), -1, dtype=np.int64), np.zeros(len(basis))
        place[moving], multiple[moving] = number, factor
        size, turned = np.abs(factor), factor < 0
        lower, upper = self.lower[:, moving], self.upper[:, moving]
        down, up = np.where(turned, upper, lower) / size, np.where(turned, lower, upper) / size
        alive = self.group >= 0
        before = np.where(alive, self.group, 0)
        total = np.zeros(n)
        np.add.at(total, number, self.cost[moving])
        merged = PatternGroups(
            classes=self.classes,
            group=np.where(alive, place[before], -1),
            multiple=np.where(alive, self.multiple * multiple[before], 0.0),
            basis=np.ascontiguousarray(basis[first]),
            cost=total,
            locked=np.bincount(number, self.locked[moving], minlength=n) > 0,
            lower=np.minimum.reduceat(down[:, order], starts, axis=1) if n else down,
            upper=np.minimum.reduceat(up[:, order], starts, axis=1) if n else up,
            place=np.maximum(place[self.place], 0) if len(place) else self.place,
            factor=self.factor * multiple[self.place] if len(place) else self.factor,
        )
        return merged, first


def _group_rows(basis: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return a number for every row, equal for rows that are equal up to a factor, and the factor to the first such."""
    if not len(basis):
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    weights = np.random.default_rng(0).random((basis.shape[1], 2)) + 0.5
    one, other = (basis @ weights).T
    angle = np.arctan2(one, other) % np.pi
    order = np.argsort(angle, kind="stable")
    steps = np.diff(angle[order]) > KERNEL_ZERO
    number = np.empty(len(basis), dtype=np.int64)
    number[order] = np.concatenate([[0], np.cumsum(steps)])
    if np.pi - angle[order[-1]] + angle[order[0]] <= KERNEL_ZERO:  # nearly 0 and nearly pi are the same
        number[number == number[order[-1]]] = 0
        _, number = np.unique(number, return_inverse=True)
    first = np.full(int(number.max()) + 1, len(basis), dtype=np.int64)
    np.minimum.at(first, number, np.arange(len(basis)))
    model = basis[first[number]]
    factor = np.einsum("ij,ij->i", basis, model) / np.einsum("ij,ij->i", model, model)
    apart = np.flatnonzero(
        np.abs(basis - factor[:, None] * model).max(axis=1) > TABLEAU_ZERO * np.abs(basis).max(axis=1)
    )
    number[apart], factor[apart] = len(first) + np.arange(len(apart)), 1.0  # equal in projection only
    return number, factor
