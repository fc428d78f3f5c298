"""Large neighbourhood search: forget some hidden cells, construct again around the rest, reduce by reverse delete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.construction import ConstructedPattern, Construction
from celosia.protection.engine.parameters import PARAMETERS, HeuristicParameters
from celosia.solve.backend import Backend

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder
    from celosia.protection.engine.heuristics.kernel_reduction import KernelReduction
    from celosia.protection.engine.heuristics.reverse_delete import ReverseDelete
    from celosia.protection.engine.master import Point
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.protection.engine.subproblems.requirements import SideRequirements


def split_sliding_levels(sides: SideRequirements, builder: CutBuilder) -> SideRequirements:
    """Return requirements with sliding levels split between their sides, in halves where attackers' bounds allow."""
    first = np.flatnonzero(sides.sliding & sides.upward)
    levels = sides.levels.copy()
    up = builder.up[sides.attackers[first], sides.columns[first]]
    down = builder.down[sides.attackers[first], sides.columns[first]]
    half = np.minimum(np.maximum(levels[first] / 2, levels[first] - down), up)
    levels[first + 1] = levels[first] - half
    levels[first] = half
    split = replace(sides, levels=levels, sliding=np.zeros(len(sides), dtype=bool))
    return split.take(levels > 0)


def price_columns(
    problem: ProtectionProblem, point: Point, parameters: HeuristicParameters = PARAMETERS.heuristics
) -> NDArray[np.float64]:
    """Return what cells cost, less where the point hides them."""
    return np.asarray(problem.cost * (1.0 - parameters.trust * point.x + parameters.least_part))


def _choose_likely(point: Point, columns: NDArray[np.int64], times: float) -> NDArray[np.int64]:
    """Return so many times the columns that the point hides: these, and those of the least reduced cost."""
    hidden = point.x[columns] > 0
    rank = np.where(hidden, -np.inf, point.reduced[columns])
    most = int(times * hidden.sum())
    return np.sort(columns[np.argsort(rank, kind="stable")[:most]])


@dataclass(frozen=True, eq=False)
class NeighbourhoodSearch:
    """Constructs patterns around a point of the master, and around those.

    Parameters
    ----------
    constructions
        One from columns that the point hides or nearly so, one from all that a good pattern may hide.
    reverse_delete
        Reduces the patterns.
    kernel_reduction
        Reduces them in kernel coordinates; None where these are not known.
    point
        The point: cells that it hides are cheaper.
    random
        The random numbers.
    parameters
        How large neighbourhoods are.
    """

    constructions: tuple[Construction, Construction]
    reverse_delete: ReverseDelete
    kernel_reduction: KernelReduction | None
    point: Point
    random: np.random.Generator
    parameters: HeuristicParameters

    @classmethod
    def of(
        cls,
        reverse_delete: ReverseDelete,
        point: Point,
        columns: NDArray[np.int64],
        backend: Backend,
        random: np.random.Generator,
        parameters: HeuristicParameters = PARAMETERS.heuristics,
        kernel_reduction: KernelReduction | None = None,
    ) -> NeighbourhoodSearch:
        """Return the search among some columns of a problem."""
        builder, sides = reverse_delete.separator.builder, reverse_delete.separator.sides
        split = split_sliding_levels(sides.take(builder.problem.forced[sides.columns]), builder)
        likely = _choose_likely(point, columns, parameters.likely)
        few, all_ = (Construction.of(builder, split, some, backend, parameters) for some in (likely, columns))
        return cls((few, all_), reverse_delete, kernel_reduction, point, random, parameters)

    def patterns(self, best: NDArray[np.bool_] | None) -> Iterator[NDArray[np.bool_] | None]:
        """Yield patterns without end, None where a construction fails; the first one before it is reduced, too.

        Parameters
        ----------
        best
            Where to start from.
        """
        current = best
        for number in range(self.parameters.starts):
            built = self._construct(
                self._problem.forced, self._prices(self.parameters.start_spread * number), first=number == 0
            )
            if (
                current is None
                and built is not None
                and bool(self._problem.forced[self._problem.requirements.columns].all())
            ):
                yield built.pattern
            found = self._reduce(built)
            current = self._better(current, found)
            yield found
        lowest = current
        while True:
            if current is None or lowest is None:
                yield self._reduce(self._construct(self._problem.forced, self._prices(self.parameters.spreads[-1])))
                continue
            forgotten = self._choose_forgotten(current)
            prices = self._prices(float(self.random.choice(self.parameters.spreads)))
            prices[forgotten] *= 1.0 + self.random.random() * float(self.random.choice(self.parameters.raises))
            start = current.copy()
            start[forgotten] = False
            found = self._reduce(self._construct(start, prices))
            if found is not None and self._cost(found) <= self._cost(lowest) * (1 + self.parameters.tolerated):
                current = found
            lowest = self._better(lowest, found)
            yield found

    @property
    def _problem(self) -> ProtectionProblem:
        return self.reverse_delete.separator.problem

    def _cost(self, pattern: NDArray[np.bool_]) -> float:
        return float(self._problem.cost[pattern].sum())

    def _better(self, one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None) -> NDArray[np.bool_] | None:
        if one is None or other is None:
            return one if other is None else other
        return one if self._cost(one) <= self._cost(other) else other

    def _prices(self, spread: float) -> NDArray[np.float64]:
        trusted = price_columns(self._problem, self.point, self.parameters)
        return np.asarray(trusted * np.exp(spread * self.random.standard_normal(len(trusted))))

    def _construct(
        self, start: NDArray[np.bool_], prices: NDArray[np.float64], *, first: bool = False
    ) -> ConstructedPattern | None:
        few, all_ = self.constructions
        late, n = self.reverse_delete.late, len(few.sides)
        order = np.argsort(-few.sides.levels, kind="stable") if first else self.random.permutation(n)
        if first:
            built = few.construct(start, prices, order, late, quickly=True)
            return all_.construct(start, prices, order, late) if built is None else built
        construction = few if self.random.random() < self.parameters.mostly else all_
        return construction.construct(start, prices, order, late)

    def _reduce(self, built: ConstructedPattern | None) -> NDArray[np.bool_] | None:
        if built is None:
            return None
        reduced = (
            None if self.kernel_reduction is None else self.kernel_reduction.reduce(built, self.reverse_delete.late)
        )
        if reduced is not None:
            return reduced
        sides = self.constructions[0].sides
        same = (
            len(sides) == len(self.reverse_delete.separator.sides)
            and not self.reverse_delete.separator.sides.sliding.any()
        )
        return self.reverse_delete.reduce(built.pattern, self._problem.cost, built.witnesses if same else None)

    def _choose_forgotten(self, pattern: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return hidden cells to be forgotten: any, those near one of them, or dear ones that the point shows."""
        cells = np.flatnonzero(pattern & ~self._problem.forced)
        if not len(cells):
            return cells
        least, most = self.parameters.forgotten
        share = least + (most - least) * self.random.random()
        n = max(1, round(share * len(cells)))
        kind = int(self.random.integers(3))
        if kind == 0:
            return self.random.choice(cells, size=n, replace=False)
        if kind == 1:
            return cells[np.argsort(-self._nearness(int(self.random.choice(cells)))[cells], kind="stable")[:n]]
        weight = (
            self._problem.cost[cells]
            * (1.0 - self.parameters.trust * self.point.x[cells])
            * self.random.random(len(cells))
        )
        return cells[np.argsort(-weight, kind="stable")[:n]]

    def _nearness(self, column: int) -> NDArray[np.float64]:
        """Return the number of short paths through relations from a column to every other, plus noise below one."""
        links = abs(self._problem.matrix)
        reached = np.zeros(len(self._problem))
        reached[column] = 1.0
        for _ in range(2):
            reached = links.T @ (links @ reached)
        return np.asarray(reached + self.random.random(len(reached)))
