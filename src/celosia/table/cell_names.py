"""Cells by name: by their numbers, their labels, or their codes.

``17`` is a number, ``"C x North"`` a label (`celosia.Table.label`), ``{"industry": "C", "region": "North"}`` are codes.
A dimension that is left out stands for its total, as in `celosia.Table.find`; a list of codes names a cell for each,
and ``"*"`` stands for every code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from celosia.errors import Problems, SpecError, nearest

if TYPE_CHECKING:
    from celosia.table.table import Table

EVERY = "*"
"""Stands for every code of a dimension."""

VARIABLE = "variable"

CellName: TypeAlias = int | str | Mapping[str, str | Sequence[str]]
"""How one calls a cell, or several at once."""

CellNames: TypeAlias = Sequence[CellName] | NDArray[np.int64] | NDArray[np.bool_]
"""Several of them."""


@dataclass(frozen=True, slots=True, eq=False)
class Finder:
    """Finds the cells of a table by their codes.

    Parameters
    ----------
    table
        The table.
    nodes
        For every axis the node of each name.
    cell
        The cell of every combination of nodes and variable.
    """

    table: Table
    nodes: list[dict[str, int]]
    cell: dict[tuple[int, ...], int]

    @classmethod
    def of(cls, table: Table) -> Finder:
        """Return what finds the cells of a table."""
        nodes = [{name: node for node in range(len(axis.labels)) for name in axis.names(node)} for axis in table.axes]
        keys = np.column_stack([table.codes, table.variable]).tolist()
        return cls(table, nodes, {tuple(key): place for place, key in enumerate(keys)})

    def of_number(self, number: int, place: str, found: Problems) -> NDArray[np.int64]:
        """Return the cell of a number; one that is not there is noted."""
        if not 0 <= number < len(self.table):
            found.add(place, f"there is no cell {number}.", f"Cells count from 0 to {len(self.table) - 1}.")
        return np.array([number], dtype=np.int64)

    def of_codes(self, codes: Mapping[str, Sequence[str]], place: str, found: Problems) -> NDArray[np.int64]:
        """Return the cells with one of some codes along every dimension; what is unknown is noted."""
        before = len(found.found)
        wanted = [*self._nodes(codes, place, found), self._variables(codes, place, found)]
        if len(found.found) > before:
            return np.zeros(0, dtype=np.int64)
        cells = self._look_up(wanted)
        if not len(cells):
            found.add(place, "names no cell of the table.", "Cells without records do not exist.")
        return cells

    def _look_up(self, wanted: list[list[int] | None]) -> NDArray[np.int64]:
        """Return the cells with these nodes along every axis; None for all of them."""
        if None not in wanted:
            keys = product(*(nodes or [] for nodes in wanted))
            return np.array([self.cell[key] for key in keys if key in self.cell], dtype=np.int64)
        fits = np.ones(len(self.table), dtype=bool)
        for nodes, column in zip(wanted, [*self.table.codes.T, self.table.variable], strict=True):
            if nodes is not None:
                fits &= np.isin(column, nodes)
        return np.flatnonzero(fits)

    def _nodes(self, said: Mapping[str, Sequence[str]], place: str, found: Problems) -> Iterator[list[int] | None]:
        names = [axis.name for axis in self.table.axes]
        for name in said:
            if name not in names and name != VARIABLE:
                found.add(f"{place}.{name}", "is not a dimension of the table.", nearest(name, names))
        for axis, nodes in zip(self.table.axes, self.nodes, strict=True):
            codes = said.get(axis.name, (axis.labels[0],))
            for code in codes:
                if code != EVERY and code not in nodes:
                    found.add(f"{place}.{axis.name}", f"has no code {code!r}.", nearest(code, nodes))
            yield None if EVERY in codes else [nodes[code] for code in codes if code in nodes]

    def _variables(self, said: Mapping[str, Sequence[str]], place: str, found: Problems) -> list[int] | None:
        known = self.table.variables
        names = said.get(VARIABLE, (EVERY,))
        for name in names:
            if name != EVERY and name not in known:
                found.add(f"{place}.{VARIABLE}", f"{name!r} is not a variable of the table.", nearest(name, known))
        return None if EVERY in names else [known.index(name) for name in names if name in known]


def find_cells(table: Table, names: Sequence[Any], place: str) -> list[NDArray[np.int64]]:
    """Return the cells that people call by numbers, labels or codes, those of every name.

    Parameters
    ----------
    table
        The table.
    names
        What they are called.
    place
        What messages call the list.

    Raises
    ------
    SpecError
        There is no such cell, dimension or code; with all that is wrong.
    """
    found = Problems()
    finder = Finder.of(table) if any(isinstance(name, Mapping) for name in names) else Finder(table, [], {})
    labels = {table.label(cell): cell for cell in range(len(table))} if any(_is_text(name) for name in names) else {}
    cells = []
    for number, name in enumerate(names):
        where = place if len(names) == 1 else f"{place}[{number}]"
        if isinstance(name, Mapping):
            cells.append(finder.of_codes(_codes(name, where, found), where, found))
        elif isinstance(name, str):
            cell = labels.get(name, int(name) if name.isdecimal() else -1)
            if not 0 <= cell < len(table):
                found.add(place, f"there is no cell {name!r}.", nearest(name, labels))
            cells.append(np.array([cell], dtype=np.int64))
        elif isinstance(name, int | np.integer) and not isinstance(name, bool):
            cells.append(finder.of_number(int(name), where, found))
        else:
            seen = f"must be the number, the label or the codes of a cell, not of the kind {type(name).__name__}."
            found.add(where, seen, 'Write 17, "C x North" or {"industry": "C", "region": "North"}.')
    found.raise_as(SpecError)
    return cells


def find_cell(table: Table, name: object, place: str = "cell") -> int:
    """Return the one cell that people call by its number, its label or its codes.

    Raises
    ------
    SpecError
        There is no such cell, or more than one.
    """
    (cells,) = find_cells(table, [name], place)
    if len(cells) > 1:
        raise SpecError.one(place, f"names {len(cells)} cells.", "Name one of them.")
    return int(cells[0])


def are_names(cells: object) -> bool:
    """Return whether a list of cells names some of them by labels or codes."""
    return isinstance(cells, list | tuple) and any(isinstance(name, str | Mapping) for name in cells)


def _is_text(name: object) -> bool:
    return isinstance(name, str)


def _codes(name: Mapping[Any, Any], place: str, found: Problems) -> dict[str, tuple[str, ...]]:
    """Return codes by dimension, each a list; what is no code is noted."""
    said = {}
    for dimension, codes in name.items():
        several = (codes,) if isinstance(codes, str) else tuple(codes) if isinstance(codes, list | tuple) else (codes,)
        if not several or not all(isinstance(code, str) for code in several):
            found.add(f"{place}.{dimension}", "must be a code in quotes, or a list of them.")
            several = (EVERY,)
        said[str(dimension)] = several
    return said
