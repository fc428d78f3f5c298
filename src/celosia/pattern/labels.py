"""The columns that name the cells of a release: one per dimension, and the variable where there are several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.errors import nearest
from celosia.pattern.entries import Fault
from celosia.table.dimension import Axis
from celosia.table.table import Table

CELL, SENSITIVE, STATUS, PUBLISHED, LOWER, UPPER = "cell", "sensitive", "status", "published", "lower", "upper"
VARIABLE = "variable"
OWN = (CELL, SENSITIVE, STATUS, PUBLISHED, LOWER, UPPER)
"""The columns of every release; `SENSITIVE` stands in the office's copy only."""


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """What the cells are called.

    Parameters
    ----------
    axes, codes
        The dimensions and the node of every cell along them, as in the table.
    variables, variable
        The response variables, and the variable of every cell, as in the table.
    """

    axes: tuple[Axis, ...]
    codes: NDArray[np.int32]
    variables: tuple[str, ...]
    variable: NDArray[np.int32]

    @classmethod
    def of_table(cls, table: Table) -> Labels:
        """Return the labels of a table, and nothing else of it."""
        return cls(table.axes, table.codes.copy(), table.variables, table.variable.copy())

    @classmethod
    def of_columns(cls, columns: Mapping[str, Sequence[str]], n: int) -> Labels:
        """Return the labels of `n` cells that columns of a file spell out, nodes in the order in which they occur."""
        axes: list[Axis] = []
        codes = np.zeros((n, len(columns) - (VARIABLE in columns)), dtype=np.int32)
        for name, said in columns.items():
            if name != VARIABLE:
                known, codes[:, len(axes)] = _number_labels(said)
                axes.append(Axis(name, known, (0,) * len(known)))
        variables, variable = _number_labels(columns.get(VARIABLE, ["value"] * n))
        return cls(tuple(axes), codes, variables or ("value",), variable)

    def __len__(self) -> int:
        return len(self.codes)

    def names(self) -> list[str]:
        """Return the names of the columns of dimensions.

        A dimension that is called like a column of the release gets an underscore: ``status_``.
        """
        taken = {*OWN, VARIABLE}
        names = []
        for axis in self.axes:
            name = axis.name
            while name.strip() in taken or name in names:
                name += "_"
            names.append(name)
        return names

    def columns(self) -> dict[str, list[str]]:
        """Return the columns that name the cells; none for a bare problem."""
        columns = {
            name: [axis.labels[node] for node in self.codes[:, k].tolist()]
            for k, (name, axis) in enumerate(zip(self.names(), self.axes, strict=True))
        }
        if len(self.variables) > 1:
            columns[VARIABLE] = [self.variables[k] for k in self.variable.tolist()]
        return columns

    def unknown(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return those names of columns that are not among the columns here, with a hint each."""
        known = [*self.names(), *([VARIABLE] if len(self.variables) > 1 else [])]
        return [(name, nearest(name, known)) for name in names if name not in known]

    def find_differences(self, columns: Mapping[str, Sequence[str]]) -> list[Fault]:
        """Return which cells other columns call by other names than the columns here; an alias is as good as a label.

        Parameters
        ----------
        columns
            Some of the columns, ``(n_cells,)`` each.
        """
        aliases = {
            (name, label): axis.names(node)
            for name, axis in zip(self.names(), self.axes, strict=True)
            for node, label in enumerate(axis.labels)
        }
        findings = []
        for name, own in self.columns().items():
            wrong = [
                ours != theirs and theirs not in aliases.get((name, ours), ())
                for ours, theirs in zip(own, columns.get(name, own), strict=True)
            ]
            remedy = "Do the rows stand in another order?"
            findings.append((np.array(wrong, dtype=bool), f"column {name!r} has another label.", remedy))
        return findings


def _number_labels(said: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    number = {label: node for node, label in enumerate(dict.fromkeys(said))}
    return tuple(number), np.array([number[label] for label in said], dtype=np.int32)
