"""Sub-tables against their definition: all combinations of a parent with its parts in every dimension, written out."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
from hypothesis import given, settings
from tests.oracles import brute_force
from tests.oracles.drawn import Draw, draws

from celosia.protection.engine.decomposition.sub_tables import split_into_sub_tables
from celosia.table.table import Table


def written_out(draw: Draw, table: Table) -> set[frozenset[int]]:
    """Return the cells of every sub-table, by the names of codes."""
    dimensions = draw.classifications
    node_of = [
        [dimension.named[label] for label in axis.labels]
        for dimension, axis in zip(dimensions, table.axes, strict=True)
    ]
    cell_of = {
        tuple(node_of[axis][node] for axis, node in enumerate(codes)): cell
        for cell, codes in enumerate(table.codes.tolist())
    }
    related = [
        frozenset(cell_of[codes] for codes in (total, *parts))
        for total, parts in brute_force.relations(cell_of, dimensions)
    ]
    groups = [
        [frozenset({parent, *parts}) for parent, parts in dimension.sums] or [frozenset({dimension.total})]
        for dimension in dimensions
    ]
    found = set()
    for combination in product(*groups):
        inside = frozenset(
            cell for codes, cell in cell_of.items() if all(map(frozenset.__contains__, combination, codes))
        )
        own = [cells for cells in related if cells <= inside]
        if own:
            found.add(frozenset().union(*own))
    return {one for one in found if not any(one < other for other in found)}


@settings(max_examples=30, deadline=None)
@given(draws(most_dimensions=3))
def test_sub_tables_are_all_combinations_of_a_parent_with_its_parts(draw: Draw) -> None:
    table = draw.table()
    parts = split_into_sub_tables(table).sub_tables
    assert {frozenset(part.cells.tolist()) for part in parts} == written_out(draw, table)
    for part in parts:
        inside = np.isin(table.relations.matrix[part.relations].indices, part.cells)
        assert inside.all()
    covered = np.concatenate([np.zeros(0, dtype=np.int64), *(part.relations for part in parts)])
    assert set(covered.tolist()) == set(range(len(table.relations)))
    bare = split_into_sub_tables(replace(table, axes=(), codes=np.zeros((len(table), 0), dtype=np.int32))).sub_tables
    covered = np.concatenate([np.zeros(0, dtype=np.int64), *(part.relations for part in bare)])
    assert set(covered.tolist()) == set(range(len(table.relations)))
