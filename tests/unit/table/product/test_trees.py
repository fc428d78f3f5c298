"""Trees of which the relations of a table are the product, found without labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.instances import FAMILIES, instance
from benchmarks.scale_tables import Shape, tabulate_shape

from celosia.table.product import structure
from celosia.table.product.structure import find_product_structure
from celosia.table.product.trees import find_trees

SPARSE = Shape(((3, 2), (4,), (2, 2)), 1.2, never=0.1)


@pytest.mark.parametrize("name", ["t20x10", "h1", "hh2", "d3a", "d3h"])
def test_trees_of_drawn_tables_branch_as_they_were_drawn(name: str) -> None:
    found = find_trees(instance(name).table.relations.matrix)
    assert found is not None
    drawn = [1 + sum(np.cumprod(widths).tolist()) for widths in FAMILIES[name]]
    assert sorted(len(parents) for parents in found.parents) == sorted(drawn)
    assert len(np.unique(found.codes, axis=0)) == len(found.codes)
    for parents in found.parents:
        assert parents[0] == -1
        assert bool((parents[1:] < np.arange(1, len(parents))).all())


@pytest.mark.parametrize("seed", range(5))
def test_a_bare_table_has_the_structure_of_the_one_with_labels(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where cells are empty: signs of relations and the order of rows do not matter."""
    table = tabulate_shape(SPARSE, seed)
    random = np.random.default_rng(seed)
    order = random.permutation(table.relations.matrix.shape[0])
    matrix = sp.csr_array(table.relations.matrix[order])
    bare = replace(
        table, axes=(), codes=np.zeros((len(table), 0), np.int32), relations=replace(table.relations, matrix=matrix)
    )
    known = find_product_structure(table)
    assert find_product_structure(bare) is None  # it is small
    monkeypatch.setattr(structure, "_LARGEST_BARE", 0)
    found = find_product_structure(bare)
    assert known is not None
    assert found is not None
    used = [len(np.unique(known.codes[:, axis])) for axis in range(known.codes.shape[1])]
    assert sorted(found.sizes) == sorted(used)
    opposite = find_trees(sp.csr_array(-matrix.astype(np.int64)))
    assert opposite is not None
    assert np.array_equal(opposite.codes[:, 0] == 0, found.codes[:, 0] == 0)


@pytest.mark.parametrize(
    "rows",
    [
        [[-1, 1, 1, 0, 0], [-1, 0, 0, 1, 1], [0, -1, 0, 1, 0]],  # a part of two sums that no table has
        [[-1, 1, 1, 0, 0], [0, 0, 0, -1, 1]],  # two grand totals
        [[-1, 2, 1, 0, 0]],  # no sum
    ],
)
def test_other_relations_have_no_trees(rows: list[list[int]]) -> None:
    assert find_trees(sp.csr_array(np.array(rows))) is None
