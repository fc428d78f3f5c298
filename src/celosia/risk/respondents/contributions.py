"""What contributors know of every cell: their own contributions, summed upwards through the relations.

Single contributions are kept for leaf cells (`celosia.table.statistics.Contributions`). What a respondent contributes
to a total is the sum over its parts, so his contributions are a table of their own with the same relations: each cell
follows from the relation in which it is the last unknown.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.errors import SpecError, list_items, pluralise
from celosia.risk.respondents.leaf_sums import leaf_sums
from celosia.table.cell_names import CellName, find_cell
from celosia.table.statistics import Contributions
from celosia.table.table import Table

KINDS = ("respondent", "holding")
"""Who contributes: single respondents, or holdings of them."""


def own_contributions(
    table: Table, kind: str, members: Collection[int]
) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
    """Return what some contributors together know of every cell.

    Parameters
    ----------
    table
        A table with single contributions.
    kind
        ``respondent`` or ``holding``.
    members
        Their anonymous numbers.

    Returns
    -------
    own
        The sum of their contributions, in counts of the table's decimal, ``(n_cells,)``.
    alone
        No other respondent contributed anything but zero, ``(n_cells,)``: contributions of zero hide none.
    bounded
        No contribution can be negative, as far as the data show, ``(n_cells,)``: no contribution to a
        cell of the same variable is negative.

    Raises
    ------
    SpecError
        The table knows no single contributions, or not these contributors.
    DataError
        The contributions to some cells are not known.
    """
    said = single_contributions(table)
    number = numbers_of(said, kind)
    unknown = sorted(set(members) - set(np.unique(number).tolist()))
    if unknown:
        remedy = f"Numbers are those of celosia.contributors; there are {pluralise(len(np.unique(number)), kind)}."
        raise SpecError.one(f"{kind}s", f"hold numbers that nobody has: {list_items(unknown)}.", remedy)
    inside = np.isin(number, list(members))
    steps = leaf_sums(table, said)
    at_leaves = np.zeros((2, len(table)), dtype=np.int64)
    np.add.at(at_leaves[0], said.cell[inside], said.amount[inside])
    np.add.at(at_leaves[1], said.cell[~inside], (said.amount[~inside] != 0).astype(np.int64))
    negative = np.zeros(len(table.variables), dtype=bool)
    negative[table.variable[said.cell[said.amount < 0]]] = True
    own, others = (steps.sum_up(amount) for amount in at_leaves)
    return own, np.asarray(others == 0), ~negative[table.variable]


@takes(table=Table)
def contributors(table: Table, cell: CellName, kind: str = "respondent") -> tuple[int, ...]:
    """Return the anonymous numbers of a cell's contributors, the largest contribution first. Confidential.

    Parameters
    ----------
    table
        A table with single contributions, as from `celosia.tabulate`.
    cell
        A cell: its number, its label (``"C x North"``) or its codes.
    kind
        ``respondent`` or ``holding``.

    Raises
    ------
    SpecError
        The table knows no single contributions, or not this cell.
    """
    said = single_contributions(table)
    number = numbers_of(said, kind)
    weight = leaf_sums(table, said).parts(find_cell(table, cell))[said.cell]
    counted_in = np.flatnonzero(weight)
    who, place = np.unique(number[counted_in], return_inverse=True)
    amount = np.zeros(len(who), dtype=np.int64)
    np.add.at(amount, place, weight[counted_in] * said.amount[counted_in])
    return tuple(who[np.lexsort((who, -np.abs(amount)))].tolist())


def check_cell(table: Table, cell: int) -> None:
    """Refuse a cell that the table does not have."""
    if not 0 <= cell < len(table):
        raise SpecError.one("cell", f"there is no cell {cell}.", f"Cells are 0 to {len(table) - 1}; see Table.find.")


def single_contributions(table: Table) -> Contributions:
    """Return the single contributions of a table; SpecError where it does not know them."""
    if table.contributions is None:
        knows = "Attacker.external(table).with_knowledge(table, ...)"
        remedy = f"Tabulate with contributions=True, or say what he knows: {knows}."
        raise SpecError.one("contributions", "the table does not know single contributions.", remedy)
    return table.contributions


def numbers_of(said: Contributions, kind: str) -> NDArray[np.int64]:
    """Return the anonymous number behind every contribution, of respondents or of holdings, ``(m,)``."""
    if kind not in KINDS:
        raise SpecError.one("kind", f"must be {' or '.join(KINDS)}, not {kind!r}.")
    return said.respondent if kind == "respondent" else said.holding
