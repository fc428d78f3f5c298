"""Sub-tables of tables that one can look at."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from tests.oracles.bare_tables import DEEP, FLAT_2, FLAT_3, Tree, lattice, make_table

import celosia as cz
from celosia.protection.engine.decomposition.sub_tables import split_into_sub_tables
from celosia.table.table import Table

REGION = cz.Hierarchy.from_dict({"North": ["N1", "N2"], "South": ["S1", "S2"]})


def bare(*trees: Tree) -> Table:
    rows = lattice(trees)
    return make_table(rows, [0] * len(rows[0]))


def cells_of(table: Table) -> list[list[int]]:
    return [one.cells.tolist() for one in split_into_sub_tables(table).sub_tables]


def test_a_table_without_hierarchies_is_its_only_sub_table() -> None:
    (only,) = split_into_sub_tables(bare(FLAT_2, FLAT_3)).sub_tables
    assert only.cells.tolist() == list(range(12))
    assert only.level == 0
    assert len(only) == 12


def test_a_tree_has_a_sub_table_for_every_parent_the_top_first() -> None:
    """Rows 0 = 1 + 2 and 1 = 3 + 4 of three columns: sub-tables of rows 0, 1, 2 and of rows 1, 3, 4."""
    table = bare(DEEP, FLAT_2)
    assert cells_of(table) == [[0, 1, 2, 3, 4, 5, 6, 7, 8], [3, 4, 5, 9, 10, 11, 12, 13, 14]]
    assert [one.level for one in split_into_sub_tables(table).sub_tables] == [0, 1]


def test_two_trees_have_a_sub_table_for_every_pair_of_parents() -> None:
    parts = split_into_sub_tables(bare(DEEP, DEEP)).sub_tables
    assert [(one.level, len(one), len(one.relations)) for one in parts] == [(0, 9, 6), (1, 9, 6), (1, 9, 6), (2, 9, 6)]


def test_a_cube_is_one_sub_table() -> None:
    assert cells_of(bare(FLAT_2, FLAT_2, FLAT_3)) == [list(range(36))]


def test_relations_that_are_no_sums_are_sub_tables_of_their_own() -> None:
    table = make_table([[2, -1, 1, 0], [0, 1, 1, 1]], [1, 3, 1, -4])
    assert cells_of(table) == [[0, 1, 2], [1, 2, 3]]


def test_cells_know_the_sub_tables_that_hold_them() -> None:
    parts = split_into_sub_tables(bare(DEEP, FLAT_2))
    assert len(parts) == 2
    assert parts.find_holders(np.array([0, 8])).tolist() == [0]
    assert parts.find_holders(np.array([4])).tolist() == [0, 1]
    assert parts.find_holders(np.array([], dtype=np.int64)).tolist() == []


def test_a_table_without_relations_has_none() -> None:
    assert len(split_into_sub_tables(make_table([], [1, 2]))) == 0


@pytest.fixture
def by_region() -> pl.DataFrame:
    region = ["N1", "N2", "S1", "S2", "N1", "S2"]
    return pl.DataFrame(
        {"region": region, "size": list("aabbba"), "branch": list("xyxyxy"), "value": [5, 7, 3, 9, 4, 2]}
    )


def test_linked_tables_have_their_own_sub_tables(by_region: pl.DataFrame) -> None:
    """Both tables have region by itself; no sub-table has size and branch."""
    one, other = (
        cz.tabulate(by_region, by=["region", also], value="value", hierarchies={"region": REGION})
        for also in ("size", "branch")
    )
    table = cz.link([one, other])
    parts = split_into_sub_tables(table).sub_tables
    assert len(parts) == 6
    for part in parts:
        used = (table.codes[part.cells] != 0).any(axis=0)
        names = {axis.name for axis, says in zip(table.axes, used, strict=True) if says}
        assert names in ({"region", "size"}, {"region", "branch"})


def test_missing_cells_do_not_break_a_sub_table(by_region: pl.DataFrame) -> None:
    """The south has a sub-table although S1 has no a, and N2 no b."""
    table = cz.tabulate(by_region, by=["region", "size"], value="value", hierarchies={"region": REGION})
    labels = [sorted({table.labels(0)[cell] for cell in cells}) for cells in cells_of(table)]
    assert labels == [["North", "South", "Total"], ["N1", "N2", "North"], ["S1", "S2", "South"]]
