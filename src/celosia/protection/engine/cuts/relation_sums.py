"""Separation by sums of few relations, which a local search makes lighter at a point.

Where groupings of codes overlap, the cuts that matter come from sums of three or four relations in which cells cancel.
Tableaux and linear programs of kernel coordinates find them among hundreds of classes, in seconds. Here a sum begins
with one relation of a column and takes others, each of which removes one of its cells: the best at every step, also
where the sum gets heavier meanwhile. A step looks at some hundred entries, so all columns take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.protection.engine.capacity import Cut, build_cover
from celosia.tolerance import CUT_SATISFIED

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder
    from celosia.protection.engine.cuts.combinations import Combinations
    from celosia.protection.engine.parameters import CutParameters
    from celosia.protection.engine.subproblems.requirements import SideRequirements

KEY_DIGITS = 9
"""Digits of a sum of random numbers that do not depend on the order."""

CHUNK = 200
"""Columns between two looks at the clock."""


class Relations(NamedTuple):
    """Relations by rows and by columns, those with whole coefficients only.

    Parameters
    ----------
    starts, columns, values
        The columns of each relation, and their coefficients, ``(m + 1,)`` and ``(k,)``.
    own_starts, own
        The relations of each column in which its coefficient is 1 or -1, ``(n + 1,)`` and ``(l,)``.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    own_starts: NDArray[np.int64]
    own: NDArray[np.int64]

    @classmethod
    def of(cls, builder: CutBuilder) -> Relations:
        """Return the relations of a problem; what has other coefficients is left to other separators."""
        n, sizes = len(builder.problem), np.diff(builder.starts)
        row = np.repeat(np.arange(len(sizes)), sizes)
        broken = np.bincount(row, builder.data != np.rint(builder.data), len(sizes)) > 0
        entries = np.flatnonzero((builder.data != 0.0) & ~broken[row])
        starts = np.concatenate([[0], np.cumsum(np.bincount(row[entries], minlength=len(sizes)))])
        units = entries[np.abs(builder.data[entries]) == 1.0]
        order = units[np.argsort(builder.columns[units], kind="stable")]
        own_starts = np.concatenate([[0], np.cumsum(np.bincount(builder.columns[units], minlength=n))])
        return cls(starts, builder.columns[entries], builder.data[entries], own_starts, row[order])


class Prices(NamedTuple):
    """What columns cost in a sum: their weight, times the share of a level that they may move.

    Parameters
    ----------
    weight
        Of every column, ``(n,)``.
    capacities
        How far each attacker lets a column move, ``(a, n)``.
    """

    weight: NDArray[np.float64]
    capacities: Annotated[NDArray[np.float64], 2]


class Targets(NamedTuple):
    """Columns whose sums are to be light.

    Parameters
    ----------
    columns
        The columns, ``(t,)``.
    attackers, levels
        Whose bounds count, and the level of which they are a share; level 0 where all columns count with their weight,
        ``(t,)``.
    """

    columns: NDArray[np.int64]
    attackers: NDArray[np.int64]
    levels: NDArray[np.float64]

    def take(self, places: slice) -> Targets:
        """Return some of them."""
        return Targets(self.columns[places].copy(), self.attackers[places].copy(), self.levels[places].copy())


class Sums(NamedTuple):
    """Sums of relations, written one after another.

    Parameters
    ----------
    starts, columns, values
        Their columns and coefficients, ``(k + 1,)`` and ``(l,)``.
    targets
        The place of the target of each, ``(k,)``.
    """

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]
    targets: NDArray[np.int64]


class SumSeparator:
    """Separates points by sums of few relations.

    Parameters
    ----------
    combinations
        Builds cuts.
    sides
        The requirements, none of them sliding.
    parameters
        How much effort separation is worth.
    """

    def __init__(self, combinations: Combinations, sides: SideRequirements, parameters: CutParameters) -> None:
        self._combinations, self._sides, self._parameters = combinations, sides, parameters
        builder = combinations.builder
        self._relations = Relations.of(builder)
        self._capacities = np.maximum(builder.up, builder.down)
        self._forced = builder.problem.forced

    def separate(self, x: NDArray[np.float64], check: Callable[[], None]) -> list[Cut]:
        """Return cuts that a point violates, some for every column and requirement, the deepest first.

        Parameters
        ----------
        x
            By how much every column is hidden, ``(n,)``.
        check
            Is called now and then; what it raises ends the separation.
        """
        p, sides = self._parameters, self._sides
        cuts: dict[bytes, Cut] = {}
        alone = np.flatnonzero(~self._forced & (x > p.sum_violation))
        nobody = np.zeros(len(alone), dtype=np.int64)
        of_columns = Targets(alone, nobody, np.zeros(len(alone)))
        heavy = np.where(self._forced, p.weight_of_forced, x)
        for target, v in self._find(of_columns, heavy, x[alone], check):
            self._keep(cuts, self._combinations.build_isolation_cut(v, int(alone[target])), x)
        required = Targets(sides.columns, sides.attackers, sides.levels)
        for k, v in self._find(required, np.where(self._forced, 0.0, x), np.ones(len(sides)), check):
            cut = self._combinations.build_capacity_cut(v, sides, k)
            self._keep(cuts, cut, x)
            self._keep(cuts, None if cut is None else build_cover(cut, x), x)
        far = sorted(cuts.values(), key=lambda cut: -cut.violation(x) / float(np.linalg.norm(cut.values)))
        return far[: p.sums_a_round]

    def _find(
        self, targets: Targets, weight: NDArray[np.float64], allowed: NDArray[np.float64], check: Callable[[], None]
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield the deepest of the sums that weigh less than allowed, with the place of their target.

        The coefficient of the target is 1.
        """
        if not len(targets.columns):
            return
        p, found = self._parameters, []
        prices = Prices(np.where(self._forced, np.maximum(weight, 1.0), weight + p.share_in_sums), self._capacities)
        for begin in range(0, len(targets.columns), CHUNK):
            check()
            some = targets.take(slice(begin, begin + CHUNK))
            sums = find_light_sums(self._relations, some, prices, p.steps_of_sums, p.longest_sum)
            found.append(sums._replace(targets=sums.targets + begin))
        sums = join_sums(found, len(weight))
        own, sizes, levels = targets.columns[sums.targets], np.diff(sums.starts), targets.levels[sums.targets]
        entry = np.repeat(np.arange(len(own)), sizes)
        capacity = self._capacities[targets.attackers[sums.targets][entry], sums.columns]
        part = np.minimum(capacity, levels[entry]) / np.where(levels > 0.0, levels, 1.0)[entry]
        price = weight[sums.columns] * np.where(levels[entry] > 0.0, part, 1.0)
        depth = allowed[sums.targets] - np.bincount(entry, np.where(sums.columns == own[entry], 0.0, price), len(own))
        order = np.argsort(-depth / np.sqrt(np.maximum(sizes, 1)), kind="stable")[: p.sums_a_round]
        for k in order[(depth[order] > p.sum_violation) | (levels[order] > 0.0)].tolist():  # covers may be deeper
            v = np.zeros(len(weight))
            entries = slice(sums.starts[k], sums.starts[k + 1])
            v[sums.columns[entries]] = sums.values[entries]
            yield int(sums.targets[k]), v / v[own[k]]

    def _keep(self, cuts: dict[bytes, Cut], cut: Cut | None, x: NDArray[np.float64]) -> None:
        if cut is not None and cut.violation(x) > self._parameters.sum_violation:
            cuts[cut.key] = cut


def join_sums(parts: Sequence[Sums], n: int) -> Sums:
    """Return sums over `n` columns one after another, without those of equal columns and target: many ways lead to one.

    Sums of random numbers tell whether columns are equal.
    """
    sizes = np.concatenate([np.diff(one.starts) for one in parts])
    columns, values, targets = (np.concatenate([one[k] for one in parts]) for k in (1, 2, 3))
    entry = np.repeat(np.arange(len(targets)), sizes)
    key = np.bincount(entry, np.random.default_rng(0).random(n)[columns], len(targets)) + targets
    kept = np.zeros(len(key), dtype=bool)
    kept[np.unique(np.round(key, KEY_DIGITS), return_index=True)[1]] = True
    starts = np.concatenate([[0], np.cumsum(sizes[kept])])
    return Sums(starts, columns[kept[entry]], values[kept[entry]], targets[kept])


def find_light_sums(relations: Relations, targets: Targets, prices: Prices, steps: int, longest: int) -> Sums:
    """Return the lightest sums of relations that a local search finds, one for every relation of a target at most.

    Each takes so many more relations at most, and has so many columns at most. Those are left out that are heavier than
    their target would have to be for a cut.
    """
    starts = relations.own_starts
    most = int((starts[targets.columns + 1] - starts[targets.columns]).sum())
    out = Sums(
        np.zeros(most + 1, dtype=np.int64),
        np.empty(most * longest, dtype=np.int64),
        np.empty(most * longest),
        np.empty(most, dtype=np.int64),
    )
    n = _search(relations, targets, prices, steps, longest, out)
    end = out.starts[n]
    return Sums(out.starts[: n + 1], out.columns[:end], out.values[:end], out.targets[:n])


@kernel()
def _search(  # noqa: C901  (one loop, compiled)
    relations: Relations, targets: Targets, prices: Prices, steps: int, longest: int, out: Sums
) -> int:
    """Write the lightest sums; return how many."""
    n = len(prices.weight)
    value, place, held = np.zeros(n), np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    used = np.full(len(relations.starts) - 1, -1, dtype=np.int64)
    price = np.empty(n)
    n_sums, attempt = 0, 0
    for t in range(len(targets.columns)):
        target, level = targets.columns[t], targets.levels[t]
        allowed = 1.0 if level > 0.0 else prices.weight[target]
        for j in range(n):
            share = 1.0 if level == 0.0 else min(1.0, prices.capacities[targets.attackers[t], j] / level)
            price[j] = prices.weight[j] * share
        price[target] = 0.0
        for at in range(relations.own_starts[target], relations.own_starts[target + 1]):
            attempt += 1
            first = relations.own[at]
            used[first] = attempt
            size = _add(relations, first, 1.0, value, place, held, 0)
            total = 0.0
            for position in range(size):
                total += price[held[position]]
            lightest, end = np.inf, out.starts[n_sums]
            for step in range(steps + 1):
                if size > longest:
                    break
                if total < lightest - CUT_SATISFIED:
                    lightest = total
                    end = _write(out, n_sums, value, held, size)
                if step < steps:
                    row, factor, change = _choose(relations, target, price, value, held, size, used, attempt)
                    if row < 0:
                        break
                    used[row] = attempt
                    size = _add(relations, row, factor, value, place, held, size)
                    total += change
            if lightest < allowed:
                out.targets[n_sums] = t
                n_sums += 1
                out.starts[n_sums] = end
            for position in range(size):
                value[held[position]] = 0.0
                place[held[position]] = -1
    return n_sums


@inner()
def _write(out: Sums, n_sums: int, value: NDArray[np.float64], held: NDArray[np.int64], size: int) -> int:
    """Write a sum behind those that are kept; return where it ends."""
    end = out.starts[n_sums]
    for position in range(size):
        out.columns[end], out.values[end] = held[position], value[held[position]]
        end += 1
    return end  # type: ignore[no-any-return]


@inner()
def _add(
    relations: Relations,
    row: int,
    factor: float,
    value: NDArray[np.float64],
    place: NDArray[np.int64],
    held: NDArray[np.int64],
    size: int,
) -> int:
    """Add a relation to a sum; return how many columns it has."""
    for entry in range(relations.starts[row], relations.starts[row + 1]):
        j = relations.columns[entry]
        value[j] += factor * relations.values[entry]
        if place[j] < 0 and value[j] != 0.0:
            place[j], held[size] = size, j
            size += 1
        elif place[j] >= 0 and value[j] == 0.0:
            size -= 1
            last = held[size]
            held[place[j]], place[last] = last, place[j]
            place[j] = -1
    return size


@inner()
def _choose(  # noqa: C901  (one loop, compiled)
    relations: Relations,
    target: int,
    price: NDArray[np.float64],
    value: NDArray[np.float64],
    held: NDArray[np.int64],
    size: int,
    used: NDArray[np.int64],
    attempt: int,
) -> tuple[int, float, float]:
    """Return which relation to add, by which factor, and by how much the sum gets heavier; -1 where there is none."""
    best, row_of_best, factor_of_best = np.inf, -1, 0.0
    for position in range(size):
        j = held[position]
        if j == target:
            continue
        for at in range(relations.own_starts[j], relations.own_starts[j + 1]):
            row = relations.own[at]
            if used[row] == attempt:
                continue
            begin, end = relations.starts[row], relations.starts[row + 1]
            factor = 0.0
            for entry in range(begin, end):
                if relations.columns[entry] == j:
                    factor = -value[j] * relations.values[entry]  # which is 1 or -1
            change, keeps_target = 0.0, True
            for entry in range(begin, end):
                k = relations.columns[entry]
                if value[k] == 0.0:
                    change += price[k]
                elif value[k] + factor * relations.values[entry] == 0.0:
                    change -= price[k]
                    keeps_target &= k != target
            if keeps_target and change < best:
                best, row_of_best, factor_of_best = change, row, factor
    return row_of_best, factor_of_best, best
