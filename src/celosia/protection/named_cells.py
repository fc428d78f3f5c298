"""Wishes about cells by their names: labels or codes in place of numbers."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from celosia.table.naming import are_names, find_cell, find_cells
from celosia.table.table import Table

_LISTS = ("must_show", "must_hide", "may_hide", "may_range", "may_round", "may_perturb", "frozen", "keep")
_BY_CELL = ("width_if_hidden", "least_width", "most_width")

M = TypeVar("M")


def with_places(method: M, table: Table) -> M:
    """Return a method whose wishes about cells name these by their places in a table.

    Parameters
    ----------
    method
        A method; cells may be called by labels or by codes, ``"C x North"`` or ``{"industry": "C"}``.
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
        if name in _LISTS and are_names(said):
            changed[name] = np.unique(np.concatenate(find_cells(table, said, name)))
        elif name in _BY_CELL and any(isinstance(cell, str) for cell in said):
            changed[name] = {find_cell(table, cell, name): width for cell, width in said.items()}
    return replace(method, **changed) if changed else method  # type: ignore[type-var]
