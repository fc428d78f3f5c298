"""Wishes about cells by their names: labels or codes in place of numbers."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from celosia.errors import SpecError
from celosia.pattern.modes.mode import check_cells
from celosia.table.cell_names import CellNames, are_names, find_cell, find_cells
from celosia.table.table import Table

_LISTS = ("must_show", "must_hide", "may_hide", "may_range", "may_round", "may_perturb", "frozen", "keep")
_BY_CELL = (
    *("least_width", "most_width", "windows", "cells"),
    *("lower_if_hidden", "upper_if_hidden", "width_if_hidden"),
    *("lower_if_not_shown", "upper_if_not_shown", "width_if_not_shown"),
)

M = TypeVar("M")


def resolve_names(method: M, table: Table) -> M:
    """Return a method whose wishes about cells name these by their places in a table.

    Parameters
    ----------
    method
        A method; cells may be called by labels or by codes, ``"C x North"`` or ``{"industry": "C"}``, or be a mask.
    table
        The table.

    Raises
    ------
    SpecError
        There is no such cell.
    """
    changed: dict[str, Any] = {}
    for name in (field.name for field in fields(method)):  # type: ignore[arg-type]
        said = getattr(method, name)
        if name in _LISTS and (are_names(said) or _is_mask(said, table)):
            changed[name] = places_of(name, said, table)
        elif name in _BY_CELL and any(isinstance(cell, str) for cell in said):
            changed[name] = {find_cell(table, cell, name): width for cell, width in said.items()}
    return replace(method, **changed) if changed else method  # type: ignore[type-var]


def places_of(option: str, cells: CellNames, table: Table) -> NDArray[np.int64]:
    """Return places of cells, given as such, by their names, or as a mask.

    Parameters
    ----------
    option
        The option that names them, for messages.
    cells
        The cells.
    table
        The table.

    Raises
    ------
    SpecError
        A cell is not in the table.
    """
    if are_names(cells):
        return np.unique(np.concatenate(find_cells(table, list(cells), option)))
    array = np.flatnonzero(np.asarray(cells)) if _is_mask(cells, table) else np.asarray(cells)
    try:
        return check_cells(array.astype(np.int64) if not array.size else array, table)
    except SpecError as error:
        raise SpecError(replace(problem, place=option) for problem in error.problems) from None


def _is_mask(cells: object, table: Table) -> bool:
    """Return whether this says of every cell of a table whether it is meant."""
    array = np.asarray(cells)
    return array.dtype == bool and array.shape == (len(table),)
