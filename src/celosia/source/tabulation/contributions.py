"""Single contributions under anonymous numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.source.tabulation.groups import Groups
from celosia.table.statistics import Contributions, JointContributions
from celosia.table.table import Table
from celosia.tolerance import LARGEST_COUNT

_ODD = np.uint64(0x9E3779B97F4A7C15)


def anonymous_numbers(groups: Groups, mark: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return a number for every record's respondent that follows from his records, not from their order or his name.

    Parameters
    ----------
    groups
        Which records belong together.
    mark
        A number for every record that mixes its codes and amounts (`record_marks`).
    """
    sums = np.add.reduceat(mark[groups.order], groups.starts[:-1])
    rank = np.empty(len(groups), dtype=np.int64)
    rank[np.argsort(sums, kind="stable")] = np.arange(len(groups))
    return rank[groups.numbers()]


def record_marks(columns: Iterable[NDArray[np.integer[Any]]], n_records: int) -> NDArray[np.uint64]:
    """Return a number for every record that depends on all of the given columns."""
    mark = np.zeros(n_records, dtype=np.uint64)
    for column in columns:
        mark = (mark ^ column.astype(np.int64).view(np.uint64)) * _ODD
        mark ^= mark >> np.uint64(29)
    return mark


def leaf_contributions(
    cell: NDArray[np.int64],
    amount: NDArray[np.int64],
    respondent: NDArray[np.int64],
    holding: NDArray[np.int64],
    origin: object,
    waived: NDArray[np.bool_] | None = None,
) -> Contributions:
    """Return what every respondent contributes to every leaf cell, in order of cells and numbers.

    Parameters
    ----------
    cell, amount
        The leaf cell and the weighted contribution of every record.
    respondent, holding
        Anonymous numbers of every record.
    origin
        The tabulation that gave them.
    waived
        Which records are about somebody who waived his protection; None where nobody could.
    """
    order = np.lexsort((respondent, cell))
    changes = (np.diff(cell[order]) != 0) | (np.diff(respondent[order]) != 0)
    first = np.concatenate([[0], np.flatnonzero(changes) + 1])
    rows = order[first]
    amounts = np.add.reduceat(amount[order], first)
    free = None if waived is None or not waived.any() else np.logical_and.reduceat(waived[order], first)
    return Contributions(cell[rows], respondent[rows], holding[rows], amounts, origin, free)


def keep_joint_contributions(
    linked: Table,
    leaves: Sequence[NDArray[np.int64]],
    amounts: Sequence[tuple[NDArray[np.int64], int]],
    respondent: NDArray[np.int64],
    holding: NDArray[np.int64],
) -> Table:
    """Return linked tables with contributions by joint cells: records that lie together in every table.

    Parameters
    ----------
    linked
        The linked tables, those of the first group of dimensions first, in each of them variable by variable.
    leaves
        For every group of dimensions the leaf cell of every record in its own table.
    amounts
        For every variable the weighted contribution of every record, and its decimals.
    respondent, holding
        Anonymous numbers of every record.
    """
    said, links = linked.contributions, linked.links
    assert said is not None  # noqa: S101  (both are there: the caller has looked)
    assert links is not None  # noqa: S101
    joint = np.zeros(len(respondent), dtype=np.int64)
    for own in leaves:
        many = int(own.max(initial=0)) + 1
        if (int(joint.max(initial=0)) + 1) * many >= LARGEST_COUNT:
            joint = np.unique(joint, return_inverse=True)[1].astype(np.int64)
        joint = joint * many + own
    _, first, joint = np.unique(joint, return_index=True, return_inverse=True)
    kept = []
    for number, (amount, decimals) in enumerate(amounts):
        places = [links.places[k * len(amounts) + number] for k in range(len(leaves))]
        cells = np.column_stack([place[own[first]] for place, own in zip(places, leaves, strict=True)])
        one = leaf_contributions(joint, amount, respondent, holding, said.origin)
        scale = 10 ** (linked.decimals - decimals)
        kept.append(JointContributions(cells, one.cell, one.respondent, one.holding, one.amount * scale))
    return replace(linked, contributions=replace(said, joint=tuple(kept)))
