"""The table: values, relations, labels and contributors' statistics; no idea of secrecy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import Problems, SpecError, nearest, pluralise
from celosia.table.frames import frame_of

if TYPE_CHECKING:
    from celosia.table.dimension import Axis
    from celosia.table.fixed import Fixed
    from celosia.table.relations import Relations
    from celosia.table.statistics import Contributions, Statistics


@dataclass(frozen=True, slots=True, eq=False)
class Links:
    """Which cells of several tables are one cell of the linked table.

    Parameters
    ----------
    names
        The tables' names.
    places
        For every table the cell of the linked table that each of its cells became.
    """

    names: tuple[str, ...]
    places: tuple[NDArray[np.int64], ...]

    def shared_cells(self) -> NDArray[np.int64]:
        """Return the cells of the linked table that stand in more than one table."""
        return np.flatnonzero(np.bincount(np.concatenate([np.unique(place) for place in self.places])) > 1)

    def between(self) -> dict[tuple[str, str], int]:
        """Return how many cells each pair of tables has in common."""
        pairs = [(i, j) for i in range(len(self.names)) for j in range(i + 1, len(self.names))]
        return {(self.names[i], self.names[j]): len(np.intersect1d(self.places[i], self.places[j])) for i, j in pairs}


_NO_EXTRAS: Mapping[str, NDArray[Any]] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Table:
    """Cells with values ``a`` and relations ``M a = b``. Immutable.

    Parameters
    ----------
    axes
        The dimensions' labels; none for a bare problem, whose cells are numbered.
    codes
        The node of every cell along every axis, 0 for the total, ``(n_cells, n_axes)``.
    variables
        The response variables.
    variable
        The variable of every cell, ``(n_cells,)``.
    amounts
        The values, exact.
    relations
        How the cells sum.
    statistics
        What is known about the contributors.
    contributions
        Single contributions to leaf cells, where they were requested.
    extras
        Further columns that came with ready-made cells (status, own levels, costs), ``(n_cells,)`` each.
    counts
        The variables that count something: their values are whole numbers, and an attacker knows it.
    notes
        What a reader should know about how the table was made.
    library
        The data frame library of the input, in which frames go back.
    partial
        For every axis whether its total covers only a part of the population: then it is a code like any other when
        tables are linked.
    links
        Where the cells of linked tables went.
    """

    axes: tuple[Axis, ...]
    codes: NDArray[np.int32]
    variables: tuple[str, ...]
    variable: NDArray[np.int32]
    amounts: Fixed
    relations: Relations
    statistics: Statistics | None = None
    contributions: Contributions | None = None
    extras: Mapping[str, NDArray[Any]] = field(default_factory=lambda: _NO_EXTRAS)
    counts: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    library: str | None = None
    partial: tuple[bool, ...] = ()
    links: Links | None = None

    def __len__(self) -> int:
        return len(self.amounts)

    @property
    def decimals(self) -> int:
        """How many decimals the values have."""
        return self.amounts.decimals

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The values as doubles, ``(n_cells,)``."""
        return self.amounts.floats

    @property
    def nonnegative(self) -> bool:
        """No value is below zero."""
        return bool((self.amounts.counts >= 0).all())

    @cached_property
    def is_count(self) -> NDArray[np.bool_]:
        """Which cells are counts, and so whole numbers, ``(n_cells,)``."""
        return np.isin(self.variable, [k for k, name in enumerate(self.variables) if name in self.counts])

    @cached_property
    def components(self) -> tuple[int, NDArray[np.int32]]:
        """The number of connected parts of the table, and the part of each cell."""
        return self.relations.components()

    @cached_property
    def levels(self) -> NDArray[np.int32]:
        """How many levels below the grand total each cell lies, along every axis, ``(n_cells, n_axes)``."""
        columns = [np.asarray(axis.depths, dtype=np.int32)[self.codes[:, k]] for k, axis in enumerate(self.axes)]
        return np.column_stack(columns) if columns else np.zeros((len(self), 0), dtype=np.int32)

    def label(self, cell: int) -> str:
        """Return how people call a cell.

        A cell of a bare problem is ``cell 17``; another is named by its codes with totals left out: ``C x North``.
        """
        if not self.axes:
            return f"cell {cell}"
        said = [axis.labels[self.codes[cell, k]] for k, axis in enumerate(self.axes) if self.codes[cell, k] != 0]
        name = " x ".join(said) if said else self.axes[0].labels[0]
        return name if len(self.variables) == 1 else f"{self.variables[self.variable[cell]]}: {name}"

    def find(self, variable: str | None = None, **codes: str) -> int:
        """Return the cell with the given codes, totals being left out: ``table.find(industry="C", region="North")``.

        Raises
        ------
        SpecError
            There is no such cell, dimension, code or variable.
        """
        found = Problems()
        axes = {axis.name: k for k, axis in enumerate(self.axes)}
        wanted = np.zeros(len(self.axes), dtype=np.int32)
        for name, code in codes.items():
            if name not in axes:
                found.add(name, "is not a dimension of the table.", nearest(name, axes))
                continue
            axis = self.axes[axes[name]]
            nodes = [node for node in range(len(axis.labels)) if code in axis.names(node)]
            if not nodes:
                found.add(name, f"has no code {code!r}.", nearest(code, axis.labels))
            else:
                wanted[axes[name]] = nodes[0]
        if variable is not None and variable not in self.variables:
            found.add("variable", f"{variable!r} is not a variable of the table.", nearest(variable, self.variables))
        found.raise_as(SpecError)
        same = (self.codes == wanted).all(axis=1)
        if variable is not None:
            same &= self.variable == self.variables.index(variable)
        cells = np.flatnonzero(same)
        if len(cells) != 1:
            seen = "no such cell" if not len(cells) else f"{len(cells)} cells, of several variables"
            raise SpecError.one("find", f"there is {seen}.", "Cells without records do not exist.")
        return int(cells[0])

    def equation(self, relation: int, *, most: int = 6) -> str:
        """Return a relation in words: ``C = 10 + 11``."""
        terms = self.relations.terms(relation)
        left = [(cell, -coefficient) for cell, coefficient in terms if coefficient < 0]
        right = [(cell, coefficient) for cell, coefficient in terms if coefficient > 0]
        return f"{self._sum(left, most)} = {self._sum(right, most)}"

    def _sum(self, terms: list[tuple[int, int]], most: int) -> str:
        said = [self.label(cell) if factor == 1 else f"{factor}*{self.label(cell)}" for cell, factor in terms[:most]]
        more = [f"{len(terms) - most} more"] if len(terms) > most else []
        return " + ".join([*said, *more]) or "0"

    def labels(self, axis: int) -> list[str]:
        """Return every cell's label along one axis."""
        names = self.axes[axis].labels
        return [names[node] for node in self.codes[:, axis].tolist()]

    def columns(self) -> dict[str, Any]:
        """Return the cells as columns: codes, value, numbers of contributors."""
        out: dict[str, Any] = {axis.name: self.labels(k) for k, axis in enumerate(self.axes)}
        if not self.axes:
            out["cell"] = np.arange(len(self))
        if len(self.variables) > 1:
            out["variable"] = [self.variables[k] for k in self.variable.tolist()]
        out["value"] = self.values
        if self.statistics is not None:
            out["records"] = self.statistics.records
            out["respondents"] = self.statistics.respondents.count
            if self.statistics.holdings is not None:
                out["holdings"] = self.statistics.holdings.count
        return out

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the cells as a data frame of the given library, by default the one that the data came in."""
        return frame_of(self.columns(), library or self.library)

    def with_notes(self, *notes: str) -> Table:
        """Return the table with further notes."""
        return replace(self, notes=(*self.notes, *notes))

    def __repr__(self) -> str:
        by = " x ".join(axis.name for axis in self.axes) or "bare problem"
        size = f"{pluralise(len(self), 'cell')}, {pluralise(len(self.relations), 'relation')}"
        return f"Table({', '.join(self.variables)} by {by}: {size})"

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"


def whole_cells(table: Table, integer: bool | None = None) -> NDArray[np.bool_]:  # noqa: FBT001  (as users say it)
    """Return which cells are publicly known to be whole numbers, ``(n_cells,)``: a matter of each variable.

    Turnover beside the number of firms does not make an attacker forget that firms are whole.

    Parameters
    ----------
    table
        The table.
    integer
        True for all cells, False for none, None for those of variables that count.
    """
    return table.is_count if integer is None else np.full(len(table), integer)


def simplify_integer(table: Table, integer: bool | None) -> bool | None:  # noqa: FBT001
    """Return the same answer in one way only: True where it means all cells, False for none, None for some."""
    whole = whole_cells(table, integer)
    return bool(whole.all()) if bool(whole.all()) or not bool(whole.any()) else None


def find_broken_cells(table: Table, whole: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the cells that should be whole numbers and are not."""
    return np.flatnonzero(whole & np.asarray(table.amounts.counts % 10**table.decimals != 0, dtype=bool))
