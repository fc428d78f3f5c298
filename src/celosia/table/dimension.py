"""A dimension of a table: one or several hierarchies over the same leaves, as sets of leaves.

A node *is* its set of leaves. So the only child of a parent is the same node as the parent, and two hierarchies (EU and
continents) share their total, their leaves and whatever groups they have in common; nothing needs to nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, Problems, list_items
from celosia.table.hierarchy import Hierarchy

SEPARATOR = " / "
"""Stands between the codes of a path where a code alone would be ambiguous."""


@dataclass(frozen=True, slots=True)
class Axis:
    """The labels along one dimension, as far as a finished table needs them.

    Parameters
    ----------
    name
        What the dimension is called.
    labels
        One per node, unique; the first is the total.
    depths
        Levels below the total, per node.
    aliases
        Further labels of a node: the only child of a parent is the same node under another name.
    paths
        The ways from the total to a node, as sequences of codes.
    """

    name: str
    labels: tuple[str, ...]
    depths: tuple[int, ...]
    aliases: tuple[tuple[str, ...], ...] = ()
    paths: tuple[tuple[tuple[str, ...], ...], ...] = ()

    def names(self, node: int) -> tuple[str, ...]:
        """Return every label of a node."""
        return (self.labels[node], *(self.aliases[node] if self.aliases else ()))


@dataclass(frozen=True, eq=False)
class Dimension:
    """The nodes of a dimension, which leaves they hold, and how they sum.

    Parameters
    ----------
    axis
        The labels.
    leaves
        The node of every leaf.
    holders
        For every leaf the nodes that hold it, itself included, as ``(starts, nodes)`` in the manner of compressed
        sparse rows.
    sums
        (parent, children): the nodes whose leaves together are the parent's.
    nodes_of
        The nodes to which a code may refer; more than one where it stands in several branches.
    node_of_path
        The node at the end of a path.
    partial
        The total covers only a part of the population.
    """

    axis: Axis
    leaves: NDArray[np.int32]
    holders: tuple[NDArray[np.int64], NDArray[np.int32]]
    sums: tuple[tuple[int, NDArray[np.int32]], ...]
    nodes_of: dict[str, tuple[int, ...]] = field(repr=False)
    node_of_path: dict[tuple[str, ...], int] = field(repr=False)
    partial: bool = False

    @classmethod
    def of(cls, name: str, hierarchies: Sequence[Hierarchy]) -> Dimension:
        """Return the dimension that one or several hierarchies over the same leaves make.

        Raises
        ------
        DataError
            Several hierarchies do not have the same total and leaves.
        """
        _check_same_leaves(name, hierarchies)
        by_label = len(hierarchies) > 1
        leaf_number: dict[tuple[str, ...], int] = {}
        node_of_set: dict[frozenset[int], int] = {}
        names: list[dict[tuple[str, ...], None]] = []
        depths: list[int] = []
        sums: dict[tuple[int, tuple[int, ...]], None] = {}
        node_of_path: dict[tuple[str, ...], int] = {}
        for hierarchy in hierarchies:
            below, paths = hierarchy.children(), hierarchy.paths()
            sets = _leaf_sets(hierarchy, below, paths, leaf_number, by_label=by_label)
            place = []
            for leaf_set, path in zip(sets, paths, strict=True):
                node = node_of_set.setdefault(leaf_set, len(names))
                if node == len(names):
                    names.append({})
                    depths.append(len(path))
                names[node].setdefault(path)
                node_of_path[path] = node
                place.append(node)
            for parent, children in enumerate(below):
                parts = tuple(dict.fromkeys(place[child] for child in children))
                if len(parts) > 1:
                    sums.setdefault((place[parent], parts))
        sets_in_order = list(node_of_set)
        leaves = np.empty(len(leaf_number), dtype=np.int32)
        for leaf in range(len(leaf_number)):
            leaves[leaf] = node_of_set[frozenset((leaf,))]
        labels, aliases, nodes_of = _labels(hierarchies[0].total, names)
        _check_unique(name, labels, names)
        return cls(
            axis=Axis(name, labels, tuple(depths), aliases, tuple(tuple(paths) for paths in names)),
            leaves=leaves,
            holders=_holders(sets_in_order, len(leaves)),
            sums=tuple((parent, np.array(children, dtype=np.int32)) for (parent, children) in sums),
            nodes_of=nodes_of,
            node_of_path=node_of_path,
            partial=any(hierarchy.partial for hierarchy in hierarchies),
        )

    @property
    def name(self) -> str:
        """What the dimension is called."""
        return self.axis.name

    def __len__(self) -> int:
        return len(self.axis.labels)

    @cached_property
    def leaf_of(self) -> NDArray[np.int32]:
        """The leaf number of every node, -1 for a node that is no leaf, ``(n_nodes,)``."""
        numbers = np.full(len(self), -1, dtype=np.int32)
        numbers[self.leaves] = np.arange(len(self.leaves), dtype=np.int32)
        return numbers


def _check_same_leaves(name: str, hierarchies: Sequence[Hierarchy]) -> None:
    """Refuse several hierarchies that differ in their total or their leaves, or in which a leaf's code is ambiguous."""
    if len(hierarchies) == 1:
        return
    found = Problems()
    place = f"hierarchies of {name!r}"
    leaf_codes = [
        [hierarchy.labels[node] for node, below in enumerate(hierarchy.children()) if not below]
        for hierarchy in hierarchies
    ]
    for number, (hierarchy, codes) in enumerate(zip(hierarchies, leaf_codes, strict=True)):
        if hierarchy.total != hierarchies[0].total:
            found.add(
                place,
                f"have different totals, {hierarchies[0].total!r} and {hierarchy.total!r}.",
                "Give them the same.",
            )
        repeated = sorted({code for code in codes if codes.count(code) > 1}) if len(set(codes)) < len(codes) else []
        if repeated:
            found.add(
                place,
                f"number {number + 1} has leaves of the same code: {list_items(repeated)}.",
                "Leaves need codes of their own.",
            )
        missing = sorted(set(leaf_codes[0]) ^ set(codes))
        if missing:
            found.add(
                place,
                f"number 1 and number {number + 1} do not have the same leaves: {list_items(missing)}.",
                "Add what is missing.",
            )
    found.raise_as(DataError)


def _check_unique(name: str, labels: tuple[str, ...], names: list[dict[tuple[str, ...], None]]) -> None:
    """Refuse hierarchies in which two nodes go by one label or one path."""
    paths = [path for known in names for path in known]
    twice = sorted({label for label in labels if labels.count(label) > 1}) if len(set(labels)) < len(labels) else []
    twice += (
        sorted({SEPARATOR.join(path) for path in paths if paths.count(path) > 1})
        if len(set(paths)) < len(paths)
        else []
    )
    if twice:
        message = f"have codes that mean different things: {list_items(twice)}."
        raise DataError.one(f"hierarchies of {name!r}", message, "Give every group a code of its own.")


def _leaf_sets(
    hierarchy: Hierarchy,
    below: list[list[int]],
    paths: list[tuple[str, ...]],
    leaf_number: dict[tuple[str, ...], int],
    *,
    by_label: bool,
) -> list[frozenset[int]]:
    """Return every node's set of leaves, numbered by path, or by code where several hierarchies share them."""
    sets: list[set[int]] = [set() for _ in below]
    for node, children in enumerate(below):
        if not children:
            key = (hierarchy.labels[node],) if by_label else paths[node]
            sets[node].add(leaf_number.setdefault(key, len(leaf_number)))
    for node in range(len(below) - 1, 0, -1):
        sets[hierarchy.parents[node]] |= sets[node]
    return [frozenset(leaf_set) for leaf_set in sets]


def _holders(sets: list[frozenset[int]], n_leaves: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    nodes = np.repeat(np.arange(len(sets), dtype=np.int32), [len(leaf_set) for leaf_set in sets])
    leaf = np.fromiter((leaf for leaf_set in sets for leaf in leaf_set), dtype=np.int64, count=len(nodes))
    order = np.lexsort((nodes, leaf))
    starts = np.concatenate([[0], np.cumsum(np.bincount(leaf, minlength=n_leaves))]).astype(np.int64)
    return starts, nodes[order]


def _labels(
    total: str, names: list[dict[tuple[str, ...], None]]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...], dict[str, tuple[int, ...]]]:
    """Return a unique label and the aliases of every node, and the nodes behind every code.

    A node goes by the code at the end of its shortest path; where that code stands for several nodes, by as much of the
    path as tells them apart.
    """
    nodes_of: dict[str, dict[int, None]] = {}
    for node, paths in enumerate(names):
        for path in paths:
            nodes_of.setdefault(_code(path, total), {}).setdefault(node)

    def label(path: tuple[str, ...]) -> str:
        alone = not path or len(nodes_of[path[-1]]) == 1
        return _code(path, total) if alone else SEPARATOR.join(path if len(path) > 1 else (total, *path))

    said = [tuple(dict.fromkeys(label(path) for path in sorted(paths, key=len))) for paths in names]
    labels = tuple(labels[0] for labels in said)
    aliases = tuple(labels[1:] for labels in said)
    return labels, aliases, {code: tuple(nodes) for code, nodes in nodes_of.items()}


def _code(path: tuple[str, ...], total: str) -> str:
    return path[-1] if path else total
