"""Product structure is read off the relations of a table, and only where they have it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from celosia import Digits, Hierarchy, Table, link, tabulate
from celosia.table.product.structure import find_product_structure
from celosia.table.relations import Relations

RECORDS = pl.DataFrame(
    {
        "industry": ["11", "12", "21", "22", "11"],
        "region": ["n", "s", "n", "e", "e"],
        "size": ["big", "small", "small", "big", "big"],
        "value": [1, 2, 3, 4, 5],
    }
)


@pytest.fixture(scope="module")
def cube() -> Table:
    by = ["industry", "region", "size"]
    return tabulate(RECORDS, by=by, value="value", hierarchies={"industry": Digits((1, 1))})


def test_nodes_hold_their_leaves(cube: Table) -> None:
    found = find_product_structure(cube)
    assert found is not None
    labels = cube.axes[0].labels
    held = {label: set(np.flatnonzero(found.holding[0].toarray()[k]).tolist()) for k, label in enumerate(labels)}
    assert held[labels[0]] == {0, 1, 2, 3}
    assert held["1"] == held["11"] | held["12"]
    assert len(held["11"]) == len(held["22"]) == 1


def test_keys_tell_cells_apart_and_follow_codes(cube: Table) -> None:
    found = find_product_structure(cube)
    assert found is not None
    assert len(set(found.keys.tolist())) == len(cube)
    np.testing.assert_array_equal(found.codes @ found.strides, found.keys)
    some = np.array([3, 5])
    np.testing.assert_array_equal(found.take(some).keys, found.keys[some])


def test_two_hierarchies_over_the_same_leaves() -> None:
    north = Hierarchy.from_paths([("cold", "n"), ("cold", "e"), ("warm", "s"), ("warm", "w")])
    coast = Hierarchy.from_paths([("sea", "n"), ("sea", "s"), ("land", "e"), ("land", "w")])
    table = tabulate(RECORDS, by=["region", "size"], value="value", hierarchies={"region": [north, coast]})
    found = find_product_structure(table)
    assert found is not None
    held = found.holding[0].toarray()
    at = {label: held[k].tolist() for k, label in enumerate(table.axes[0].labels)}
    assert at["cold"] == [a + b for a, b in zip(at["n"], at["e"], strict=True)]
    assert at["sea"] == [a + b for a, b in zip(at["n"], at["s"], strict=True)]


def test_tables_that_are_linked_by_a_margin_have_none(cube: Table) -> None:
    """A margin that is a sum along two dimensions of different tables moves in both of them."""
    one = tabulate(RECORDS, by=["industry", "region"], value="value")
    two = tabulate(RECORDS, by=["industry", "size"], value="value")
    assert find_product_structure(link([one, two])) is None
    assert find_product_structure(link([cube, two])) is None


def test_bare_problems_and_relations_of_another_form_have_none(cube: Table) -> None:
    bare = replace(cube, axes=(), codes=np.zeros((len(cube), 0), dtype=np.int32))
    assert find_product_structure(bare) is None
    matrix = cube.relations.matrix.copy()
    matrix.data = matrix.data * 2
    assert find_product_structure(replace(cube, relations=Relations(matrix, cube.relations.right))) is None
    assert find_product_structure(replace(cube, relations=Relations.none(len(cube)))) is None
