"""Random rounding: unbiased over all that chance can do, additive always, the base respected, nothing closer."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.oracles.adjust_oracle import Shape, risk_of, tables
from tests.oracles.examples import few_and_many

import celosia as cz
from celosia.attack.system.redundancy import find_implied_rows
from celosia.protection.adjustment.method import find_kept_totals
from celosia.protection.random_rounding.formulation import sets_of
from celosia.protection.random_rounding.nearest import find_nearest_table
from celosia.protection.random_rounding.walk import arcs_of, walk
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.relations import Relations


class Scripted:
    """Chance that does as it is told, and remembers how many choices there were."""

    def __init__(self, script: list[int]) -> None:
        self.script, self.sizes = script, list[int]()

    def permutation(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        return values

    def integers(self, size: int) -> int:
        place = len(self.sizes)
        self.sizes.append(size)
        return self.script[place] if place < len(self.script) else 0


def outcomes(values: NDArray[np.int64], base: int, arcs: Any) -> Iterator[tuple[NDArray[np.int64], Fraction]]:  # noqa: ANN401
    """Yield everything that a walk can end with, and how likely that is."""
    script: list[int] = []
    while True:
        chance = Scripted(script)
        found = walk(values, base, arcs, chance)  # type: ignore[arg-type]
        yield found, Fraction(1, int(np.prod(chance.sizes, dtype=object)))
        script = [*script, *([0] * (len(chance.sizes) - len(script)))][: len(chance.sizes)]
        while script and script[-1] == chance.sizes[len(script) - 1] - 1:
            script.pop()
        if not script:
            return
        script[-1] += 1


def network(relations: Relations) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    arcs = arcs_of(sp.csr_array(relations.matrix[~find_implied_rows(relations.matrix)]))
    assert arcs is not None
    return arcs


@few_and_many(12, 120, st.sampled_from([(3,), (2, 2), (2, 3)]), st.data(), st.integers(2, 4))
def test_controlled_rounding_is_unbiased_over_all_outcomes(
    sizes: tuple[int, ...], data: st.DataObject, base: int
) -> None:
    """Every cell's expectation is its value, every outcome adds up, every cell is a neighbouring multiple."""
    shape = Shape(sizes)
    leaves = data.draw(st.lists(st.integers(0, 7), min_size=len(shape.leaves), max_size=len(shape.leaves)))
    truth = shape.sums() @ np.array(leaves)
    relations = shape.relations()
    mean, mass = np.zeros(len(truth), dtype=object), Fraction(0)
    for number, (found, probability) in enumerate(outcomes(truth, base, network(relations))):
        if number > 3000:
            return
        assert not (found % base).any()
        assert (np.abs(found - truth) < base).all()
        assert not relations.residuals(found).any()
        mean, mass = mean + probability * found.astype(object), mass + probability
    assert mass == 1
    assert (mean == truth.astype(object)).all()


def test_controlled_rounding_is_unbiased_on_a_larger_table_by_sampling() -> None:
    """On 8 x 6 cells the mean of many draws is within five standard errors of the truth everywhere."""
    shape, base, draws = Shape((8, 6)), 5, 400
    truth = shape.sums() @ np.random.default_rng(3).integers(0, 40, size=48)
    arcs, random = network(shape.relations()), np.random.default_rng(4)
    found = np.array([walk(truth, base, arcs, random) for _ in range(draws)])
    over = (truth % base) / base
    error = base * np.sqrt(over * (1 - over) / draws)
    assert (np.abs(found.mean(axis=0) - truth) <= 5 * error + 1e-9).all()


@few_and_many(
    12,
    120,
    st.sampled_from([(4,), (3, 2), (2, 2, 2)]),
    st.sampled_from(["plain", "controlled"]),
    st.integers(2, 6),
    st.integers(1, 10**6),
    st.data(),
)
def test_whole_tables_are_rounded_additively(
    sizes: tuple[int, ...],
    scheme: Any,  # noqa: ANN401
    base: int,
    seed: int,
    data: st.DataObject,
) -> None:
    """Multiples that add up, within the reach that the release states; in three dimensions only plain."""
    shape = Shape(sizes)
    leaves = data.draw(st.lists(st.integers(0, 30), min_size=len(shape.leaves), max_size=len(shape.leaves)))
    leaves[0] += 6
    risk = risk_of(shape.table(leaves, counts=True), {})
    if len(sizes) == 3 and scheme == "controlled":
        with pytest.raises(cz.SpecError, match="at most one has a hierarchy"):
            cz.protect(risk, cz.RandomRound(base, scheme), seed=seed)
        return
    release = cz.publish(cz.protect(risk, cz.RandomRound(base, scheme), seed=seed))
    published = release.published.counts
    assert not (published % base).any()
    assert not risk.table.relations.residuals(published).any()
    release.check(risk.table)
    assert set(release.status.tolist()) == {"rounded"}


def test_sets_of_four_sensitive_cells_are_unbiased() -> None:
    """Over the enumerated probabilities the expectation of every rounded cell is its value, exactly."""
    shape = Shape((2, 3))
    table = shape.table([12, 23, 30, 44, 57, 64])
    cells = [shape.leaves[k] for k in (0, 1, 3, 4)]
    sets = sets_of(risk_of(table, dict.fromkeys(cells, (1, 1))), 10, 9)
    assert sets.number == 16
    every = list(sets.all())
    assert sum(probability for _, probability in every) == 1
    mean = sum(probability * values.astype(object) for values, probability in every)
    assert list(mean) == [12, 23, 44, 57]
    assert not any(sets.bias)


def test_keeping_only_the_nearest_set_would_be_biased() -> None:
    """What the paper does, the set with the least distortion, is always the same: off by up to half the base."""
    shape = Shape((2, 3))
    table = shape.table([11, 23, 30, 44, 53, 64])
    cells = [shape.leaves[k] for k in (0, 1, 3, 4)]
    sets = sets_of(risk_of(table, dict.fromkeys(cells, (1, 1))), 10, 9)
    nearest = min((values for values, _ in sets.all()), key=lambda values: float(((values - sets.truth) ** 2).sum()))
    assert (nearest - sets.truth).tolist() == [-1, -3, -4, -3]


def test_forced_cells_state_their_bias() -> None:
    """A cell that only one multiple protects is off by the difference, and others are not."""
    shape = Shape((2, 3))
    table = shape.table([11, 23, 30, 41, 53, 64])
    first, second = shape.leaves[0], shape.leaves[4]
    sets = sets_of(risk_of(table, {first: (9, 0), second: (1, 1)}), 10, 9)
    assert sets.bias == [-1, 0]
    assert [values.tolist() for values, _ in sets.all()] == [[10, 50], [10, 60]]


def test_draws_are_unbiased_by_sampling() -> None:
    """Ten thousand draws of a hundred cells stay within five standard errors."""
    shape = Shape((10, 10))
    table = shape.table(np.random.default_rng(0).integers(1, 500, size=100).tolist())
    sets = sets_of(risk_of(table, dict.fromkeys(shape.leaves, (1, 1))), 7, 6)
    random, draws = np.random.default_rng(1), 10_000
    mean = sum(sets.draw(random).astype(float) for _ in range(draws)) / draws
    both = sets.down & sets.up
    over = (sets.truth % 7) / 7
    error = 7 * np.sqrt(over * (1 - over) / draws)
    assert both.sum() == 56  # remainders 2 to 5 of 7: the others are forced
    assert (np.abs(mean - sets.truth)[both] <= 5 * error[both] + 1e-9).all()


@few_and_many(12, 120, st.sampled_from([(4,), (2, 2), (2, 3), (2, 2, 2)]), st.booleans(), st.data())
def test_no_table_is_nearer(sizes: tuple[int, ...], keep: bool, data: st.DataObject) -> None:  # noqa: FBT001
    """Around given values of some cells our table is the nearest of all, in two dimensions and in three."""
    shape = Shape(sizes)
    n = len(shape.leaves)
    reach = {4: 4, 6: 2, 8: 1}[n]
    leaves = data.draw(st.lists(st.integers(0, 12), min_size=n, max_size=n))
    table = shape.table(leaves)
    truth = table.amounts.counts
    cells = np.array(data.draw(st.lists(st.sampled_from(shape.leaves), min_size=1, max_size=2, unique=True)))
    shifts = data.draw(st.lists(st.integers(-reach, reach), min_size=len(cells), max_size=len(cells)))
    values = np.maximum(truth[cells] + np.array(shifts), 0)
    kept = find_kept_totals(table, "all" if keep else "free")
    risk = risk_of(table, {int(cells[0]): (1, 1)})
    found = find_nearest_table(risk, cells, values, kept, reach, backends()[0], Clock(None))
    every = tables(shape, leaves, reach)
    others = np.setdiff1d(np.arange(len(table)), cells)
    still = kept | (truth == 0)
    still[cells] = False
    fine = (
        (every >= 0).all(axis=1)
        & (every[:, cells] == values).all(axis=1)
        & (every[:, still] == truth[still]).all(axis=1)
    )
    fine &= (np.abs(every - truth)[:, others] <= reach).all(axis=1)
    distance = ((every - truth) ** 2 / np.maximum(truth, 1)).sum(axis=1)[fine]
    if found is None:
        assert not len(distance)
    else:
        assert found.cost == pytest.approx(distance.min(), rel=1e-9, abs=1e-12)
        assert found.bound == found.cost
        assert not table.relations.residuals(found.values).any()
