"""A table as a person reads it: rows by columns, and further dimensions as one block after another.

The first dimension goes down, the last goes across; every combination of codes of the others is a block of its own.
Linked tables are shown one by one: cells that use different dimensions never share a block, except for the totals
that they have in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.table.dimension import Axis

TIMES = " \N{MULTIPLICATION SIGN} "
"""Stands between dimensions, and between the codes of a cell."""


class Labelled(Protocol):
    """Cells that know their codes: a table, or what a release says of one."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The dimensions' labels."""

    @property
    def codes(self) -> NDArray[np.int32]:
        """The node of every cell along every axis, 0 for the total, ``(n_cells, n_axes)``."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The response variables."""

    @property
    def variable(self) -> NDArray[np.int32]:
        """The variable of every cell, ``(n_cells,)``."""


@dataclass(frozen=True, slots=True)
class Head:
    """The label of a row or column.

    Parameters
    ----------
    label
        The code.
    others
        Further names of the same node.
    depth
        Levels below the total.
    heads_parts
        Its parts follow it.
    """

    label: str
    others: tuple[str, ...]
    depth: int
    heads_parts: bool


@dataclass(frozen=True, eq=False)
class View:
    """One of the tables that make up a table: the dimensions in which its cells differ.

    Parameters
    ----------
    table
        The whole.
    variables
        What the cells measure; several only where the variables stand across.
    axes
        The places of the dimensions, in order, at least one.
    cells
        The cells, totals included.
    """

    table: Labelled
    variables: tuple[int, ...]
    axes: tuple[int, ...]
    cells: NDArray[np.int64]

    @property
    def name(self) -> str:
        """What the view shows: turnover by industry and region, say."""
        variables = ", ".join(self.table.variables[number] for number in self.variables)
        return f"{variables} by {self.by}"

    @property
    def by(self) -> str:
        """The names of its dimensions."""
        return TIMES.join(self.table.axes[axis].name for axis in self.axes)

    def blocks(self) -> Iterator[GridBlock]:
        """Yield the blocks, in order of the codes of the inner dimensions, totals first."""
        inner = self.table.codes[self.cells][:, self.axes[1:-1]]
        if not inner.shape[1]:
            yield GridBlock(self, self.cells)
            return
        order = np.lexsort(inner.T[::-1])
        edges = 1 + np.flatnonzero((np.diff(inner[order], axis=0) != 0).any(axis=1))
        for members in np.split(self.cells[order], edges):
            yield GridBlock(self, members)


@dataclass(frozen=True, eq=False)
class GridBlock:
    """Rows by columns: the cells of a view that agree in its inner dimensions.

    Parameters
    ----------
    view
        What the block is a part of.
    members
        Its cells.
    """

    view: View
    members: NDArray[np.int64]

    @cached_property
    def name(self) -> str:
        """The codes of the inner dimensions: ``size 10-49``; empty where there are none."""
        table, first = self.view.table, self.members[0]
        inner = [(table.axes[axis], table.codes[first, axis]) for axis in self.view.axes[1:-1]]
        return ", ".join(f"{axis.name} {axis.labels[node]}" for axis, node in inner)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and columns."""
        return len(self._down[0]), len(self._across[0])

    def rows(self) -> list[Head]:
        """Return the labels down the side."""
        return self._heads(self.view.axes[0], self._down[0])

    def columns(self) -> list[Head]:
        """Return the labels across the top."""
        if len(self.view.axes) > 1:
            return self._heads(self.view.axes[-1], self._across[0])
        return [
            Head(self.view.table.variables[number], (), 1, heads_parts=False) for number in self._across[0].tolist()
        ]

    def cells(self, n_rows: int, n_columns: int) -> NDArray[np.int64]:
        """Return the cells of the first rows and columns, -1 where the table has none, ``(n_rows, n_columns)``."""
        grid = np.full((n_rows, n_columns), -1, dtype=np.int64)
        down, across = self._down[1], self._across[1]
        inside = (down < n_rows) & (across < n_columns)
        grid[down[inside], across[inside]] = self.members[inside]
        return grid

    @cached_property
    def _down(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        nodes, place = np.unique(self.view.table.codes[self.members, self.view.axes[0]], return_inverse=True)
        return nodes, place

    @cached_property
    def _across(self) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        table = self.view.table
        of_member = table.codes[:, self.view.axes[-1]] if len(self.view.axes) > 1 else table.variable
        nodes, place = np.unique(of_member[self.members], return_inverse=True)
        return nodes, place

    def _heads(self, axis: int, nodes: NDArray[np.int32]) -> list[Head]:
        said = self.view.table.axes[axis]
        names = [said.names(node) for node in nodes.tolist()]
        depths = [said.depths[node] for node in nodes.tolist()]
        sums = [following > depth for depth, following in zip(depths, [*depths[1:], 0], strict=True)]
        return [Head(own[0], own[1:], depth, sum_) for own, depth, sum_ in zip(names, depths, sums, strict=True)]


def views(table: Labelled) -> list[View]:
    """Return the tables of which a table consists; none for a bare problem, whose cells have no codes.

    A cell uses the dimensions in which it is not a total. The views are the largest sets of dimensions that cells of
    a variable use; each holds all the cells that use no others.
    """
    if not table.axes:
        return []
    used = table.codes != 0
    variables_of: dict[tuple[int, ...], list[int]] = {}
    for number in np.unique(table.variable).tolist():
        for axes in _largest_sets(used[table.variable == number]):
            variables_of.setdefault(axes, []).append(number)
    found = []
    for axes, variables in variables_of.items():
        outside = [axis for axis in range(len(table.axes)) if axis not in axes]
        inside = ~used[:, outside].any(axis=1)
        together = [tuple(variables)] if len(axes) == 1 else [(number,) for number in variables]
        found += [View(table, own, axes, np.flatnonzero(inside & np.isin(table.variable, own))) for own in together]
    return sorted(found, key=lambda view: (view.variables, view.axes))


def _largest_sets(used: NDArray[np.bool_]) -> list[tuple[int, ...]]:
    """Return the sets of dimensions that cells use and that lie in no larger one; the first dimension alone if none."""
    packed = used @ (1 << np.arange(used.shape[1], dtype=np.int64))
    _, examples = np.unique(packed, return_index=True)
    sets = [frozenset(np.flatnonzero(used[cell]).tolist()) for cell in examples]
    largest = [one for one in sets if not any(one < other for other in sets)]
    return sorted(tuple(sorted(one)) or (0,) for one in largest)
