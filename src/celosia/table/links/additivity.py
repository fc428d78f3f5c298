"""Do the cells add up? Printed tables are rounded, so a relation may miss by half a unit per figure and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, round_up
from celosia.table.relations import Relations
from celosia.table.table import Table
from celosia.tolerance import LARGEST_COUNT, additivity_units

_SHOWN = 8
_SHARES = 1_000_000  # how finely a share is told


def settle(table: Table, units: NDArray[np.int64] | None = None) -> Table:
    """Return the table with exact relations: what rounding leaves over becomes their right side.

    Parameters
    ----------
    table
        The table.
    units
        For every relation in how many units of the last decimal its figures were rounded, ``(n_relations,)``; one,
        unless they come from a coarser table.

    Raises
    ------
    DataError
        A relation misses by more than rounding explains; the worst are listed, never with their values.

    Notes
    -----
    Guarantee: ``M a = b`` holds exactly in whole numbers, and every entry of b is at most half a unit of the last
    decimal per figure. A reader who adds published figures sees b, so an attacker may know it.
    """
    matrix = table.relations.matrix
    _check_size(table)
    total = np.asarray(matrix @ table.amounts.counts)
    terms = np.diff(matrix.indptr)
    allowed = np.array([additivity_units(int(count)) for count in terms]) * (1 if units is None else units)
    missed = np.flatnonzero(np.abs(total) > allowed)
    if len(missed):
        raise DataError.one("additivity", *_worst(table, missed[np.argsort(-np.abs(total[missed]), kind="stable")]))
    rounded = int((total != 0).sum())
    settled = replace(table, relations=Relations(matrix, total.astype(np.int64)))
    return settled.with_notes(f"{rounded} relations hold up to rounding only") if rounded else settled


def _check_size(table: Table) -> None:
    """Refuse values whose sums do not fit into 64 bits."""
    size = abs(table.relations.matrix) @ np.abs(table.amounts.counts.astype(np.float64))
    largest = np.abs(table.amounts.counts.astype(np.float64)).max(initial=0.0)
    if max(float(np.max(size, initial=0.0)), float(largest)) >= LARGEST_COUNT:
        message = f"have more than 18 digits with their {table.decimals} decimals."
        raise DataError.one("values", message, "Use a larger unit, or fewer decimals.")


def _worst(table: Table, relations: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[str, str]:
    said = []
    for relation in relations[:_SHOWN].tolist():
        terms = table.relations.terms(relation)
        left = sum(-coefficient * int(table.amounts.counts[cell]) for cell, coefficient in terms if coefficient < 0)
        right = sum(coefficient * int(table.amounts.counts[cell]) for cell, coefficient in terms if coefficient > 0)
        larger = "left" if left > right else "right"
        most = round_up(-(-abs(left - right) * _SHARES // max(abs(left), abs(right))))
        said.append(f"{table.equation(relation)} ({larger} side larger by up to {100 * most / _SHARES:g}%)")
    more = f"; and {len(relations) - _SHOWN} more" if len(relations) > _SHOWN else ""
    return (
        f"{len(relations)} relations do not add up: {'; '.join(said)}{more}.",
        "Is a row missing, or a code in the wrong place of its hierarchy?",
    )
