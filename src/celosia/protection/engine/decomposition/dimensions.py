"""The relations of every sub-table by the dimensions of a table: every combination of one sum in each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.decomposition.sums import Sums
from celosia.table.product.structure import may_be_product
from celosia.table.table import Table


def group_by_dimensions(table: Table, sums: Sums) -> list[NDArray[np.int64]] | None:
    """Return the relations of every sub-table, increasing; None where relations do not sum along single dimensions.

    A dimension is as its relations make it: the parts of a parent are those of its longest sum, because a sum lacks
    cells that do not exist. Where hierarchies overlap, a parent has several sums of which none holds another.
    """
    if not table.axes or not may_be_product(table) or not len(sums) or bool((sums.total < 0).any()):
        return None
    codes = np.column_stack([table.codes, table.variable]).astype(np.int64)
    differs = codes[sums.total[sums.relation_of_part]] != codes[sums.parts]
    along = np.argmax(differs, axis=1)
    axis = along[sums.starts[:-1]]
    if bool((differs.sum(axis=1) != 1).any()) or bool((along != axis[sums.relation_of_part]).any()):
        return None
    relations, keys = np.arange(len(sums)), np.zeros(len(sums), dtype=np.int64)
    for number in range(codes.shape[1]):
        starts, groups = _find_groups(sums, codes[:, number], axis == number)
        repeats = np.diff(starts)[relations]
        place = np.repeat(np.arange(len(relations)), repeats)
        offset = np.arange(len(place)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
        group = groups[starts[relations[place]] + offset]
        keys = np.unique(keys[place] * (1 + int(group.max())) + group, return_inverse=True)[1]
        relations = relations[place]
    order = np.lexsort((relations, keys))
    return np.split(relations[order], 1 + np.flatnonzero(np.diff(keys[order])))


def _find_groups(
    sums: Sums, nodes: NDArray[np.int64], own: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return to which groups of nodes of a dimension each relation belongs, compressed by relations.

    A group is a parent with its parts. A relation along the dimension belongs to the one that it sums, another to all
    that hold its node; a node of no sum is alone.

    Parameters
    ----------
    sums
        The relations.
    nodes
        The node of every cell in the dimension, ``(n_cells,)``.
    own
        Which relations sum along the dimension, ``(n_relations,)``.
    """
    parts_of = {
        relation: frozenset(nodes[sums.parts_of(relation)].tolist()) for relation in np.flatnonzero(own).tolist()
    }
    of_parent: dict[int, set[frozenset[int]]] = defaultdict(set)
    for relation, parts in parts_of.items():
        of_parent[int(nodes[sums.total[relation]])].add(parts)
    groups = [(parent, parts) for parent, found in of_parent.items() for parts in _find_longest(found)]
    holders: dict[int, list[int]] = defaultdict(list)
    for number, (parent, parts) in enumerate(groups):
        for node in (parent, *parts):
            holders[node].append(number)
    alone = np.setdiff1d(nodes, np.array(list(holders), dtype=np.int64))
    holders |= {node: [len(groups) + number] for number, node in enumerate(alone.tolist())}
    numbers = [
        [group for group in holders[node] if groups[group][0] == node and parts_of[relation] <= groups[group][1]]
        if relation in parts_of
        else holders[node]
        for relation, node in enumerate(nodes[sums.total].tolist())
    ]
    starts = np.concatenate([[0], np.cumsum([len(found) for found in numbers])]).astype(np.int64)
    return starts, np.array([group for found in numbers for group in found], dtype=np.int64)


def _find_longest(sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return the sets that no other one holds."""
    longest: list[frozenset[int]] = []
    for one in sorted(sets, key=lambda one: (-len(one), sorted(one))):
        if not any(one <= other for other in longest):
            longest.append(one)
    return longest
