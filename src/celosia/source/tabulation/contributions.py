"""Single contributions under anonymous numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import kernel
from celosia.source.tabulation.groups import Groups
from celosia.source.tabulation.sorting import sort_stably
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
    sums = _sum_groups(mark, groups.order, groups.starts)
    _, by_sum = sort_stably(sums)
    return _number_members(by_sum, groups.order, groups.starts).astype(np.int64)


def record_marks(columns: Iterable[NDArray[np.integer[Any]]], n_records: int) -> NDArray[np.uint64]:
    """Return a number for every record that depends on all of the given columns."""
    mark = np.zeros(n_records, dtype=np.uint64)
    for column in columns:
        _mix_in(mark, column.astype(np.int64, copy=False))
    return mark


@kernel()
def _mix_in(mark: NDArray[np.uint64], column: NDArray[np.int64]) -> None:
    """Mix a column into the marks of records."""
    for k in range(len(mark)):
        mixed = (mark[k] ^ np.uint64(column[k])) * _ODD
        mark[k] = mixed ^ (mixed >> np.uint64(29))


@kernel()
def _sum_groups(mark: NDArray[np.uint64], order: NDArray[np.int32], starts: NDArray[np.int32]) -> NDArray[np.uint64]:
    """Return the sum of the marks of every group, beyond 64 bits from zero again."""
    sums = np.zeros(len(starts) - 1, dtype=np.uint64)
    for group in range(len(sums)):
        for place in range(starts[group], starts[group + 1]):
            sums[group] += mark[order[place]]
    return sums


@kernel()
def _number_members(
    groups: NDArray[np.int32], order: NDArray[np.int32], starts: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return for every record the place of its group among some groups in a new order."""
    number = np.empty(len(groups), dtype=np.int32)
    for place in range(len(groups)):
        number[groups[place]] = place
    members = np.empty(len(order), dtype=np.int32)
    for group in range(len(groups)):
        for place in range(starts[group], starts[group + 1]):
            members[order[place]] = number[group]
    return members


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
    bits = int(respondent.max(initial=0)).bit_length()
    if (int(cell.max(initial=0)) + 1) << bits < LARGEST_COUNT:
        keys, order = sort_stably(((cell << bits) | respondent).view(np.uint64))
        first = _firsts(keys[1:] != keys[:-1])
        own = keys.view(np.int64) if len(first) == len(keys) else keys.view(np.int64)[first]
        cells, respondents = own >> bits, own & ((1 << bits) - 1)
    else:
        order = np.lexsort((respondent, cell)).astype(np.int32)
        first = _firsts((np.diff(cell[order]) != 0) | (np.diff(respondent[order]) != 0))
        cells, respondents = cell[order[first]], respondent[order[first]]
    rows = order if len(first) == len(order) else order[first]
    sums = amount[order]
    if len(first) < len(order):
        sums = np.add.reduceat(sums, first)
    free = None if waived is None else np.logical_and.reduceat(waived[order], first)
    return Contributions(
        cells, respondents, holding[rows], sums, origin, free if free is not None and free.any() else None
    )


def _firsts(changes: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return where sorted records begin to be other ones."""
    return np.concatenate([[0], np.flatnonzero(changes) + 1])


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
