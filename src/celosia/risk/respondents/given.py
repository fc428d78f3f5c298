"""Contributions to the cells of a table that came ready-made."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.arguments import takes
from celosia.errors import DataError, Problems, SpecError, list_items, pluralise
from celosia.risk.respondents.knowledge import listed_respondents
from celosia.table.fixed import Fixed
from celosia.table.statistics import Contributions
from celosia.table.table import Table


@takes(table=Table)
def with_contributions(
    table: Table,
    cells: Sequence[int],
    respondents: Sequence[Hashable],
    amounts: ArrayLike,
    *,
    holdings: Mapping[Hashable, Sequence[Hashable]] | None = None,
) -> Table:
    """Return the table with single contributions to its leaf cells, under anonymous numbers.

    Parameters
    ----------
    table
        Any table.
    cells, respondents, amounts
        For every contribution the leaf cell (`Table.find`), who made it, and how large it is. A respondent who is named
        twice in a cell contributed the sum.
    holdings
        The members of every holding; a respondent without one is a holding of his own.

    Raises
    ------
    SpecError
        The three lists differ in length, or name cells that the table does not have.
    DataError
        Contributions do not add up to their cells, amounts have more decimals than the table, a holding has no
        members, or members that contribute nothing or belong to another holding.

    Notes
    -----
    Numbers follow the order of first appearance: names stay behind, and no message tells one.
    """
    found = Problems()
    cell = np.asarray(cells, dtype=np.int64)
    values = np.asarray(amounts, dtype=np.float64)
    if not len(cell) == len(respondents) == len(values):
        seen = f"{len(cell)} cells, {len(respondents)} respondents and {len(values)} amounts"
        raise SpecError.one("contributions", f"are {seen}.", "Give one of each for every contribution.")
    beyond = sorted(set(cell[(cell < 0) | (cell >= len(table))].tolist()))
    if beyond:
        found.add("cells", f"are not in the table: {list_items(beyond)}.", f"Cells are 0 to {len(table) - 1}.")
    if not len(cell):
        found.add("contributions", "are missing: the list is empty.")
    found.raise_as(SpecError)
    exact = Fixed.of_floats(values) if np.isfinite(values).all() else None
    if exact is None or exact.decimals > table.decimals:
        message = f"are no numbers with {pluralise(table.decimals, 'decimal')}, as the table's are."
        raise DataError.one("amounts", message, "Contributions add up to cells exactly.")
    number = _number_contributors(respondents)
    owner = np.array([number[name] for name in respondents], dtype=np.int64)
    holding = _holdings(holdings, number)[owner] if holdings is not None else owner
    order = np.lexsort((owner, cell))
    said = Contributions(
        cell[order], owner[order], holding[order], exact.to(table.decimals).counts[order], origin=object()
    )
    told = replace(table, contributions=said)
    listed_respondents(told)
    return told


def _number_contributors(names: Sequence[Hashable]) -> dict[Hashable, int]:
    number: dict[Hashable, int] = {}
    for name in names:
        number.setdefault(name, len(number))
    return number


def _holdings(holdings: Mapping[Hashable, Sequence[Hashable]], number: Mapping[Hashable, int]) -> NDArray[np.int64]:
    """Return the number of every respondent's holding."""
    found = Problems()
    owner = np.full(len(number), -1, dtype=np.int64)
    for place, members in enumerate(holdings.values()):
        where = f"holdings[{place}]"
        if not len(members):
            found.add(where, "has no members.", "Leave it out, or name its respondents.")
        unknown = sum(name not in number for name in members)
        if unknown:
            found.add(where, f"has {pluralise(unknown, 'member')} without contributions.", "Leave them out.")
        places = [number[name] for name in members if name in number]
        if bool((owner[places] >= 0).any()):
            found.add(where, "has members that belong to another holding, too.", "Name each once.")
        owner[places] = len(number) + place
    found.raise_as(DataError)
    own = np.where(owner < 0, np.arange(len(number)), owner)
    return np.unique(own, return_inverse=True)[1].astype(np.int64)
