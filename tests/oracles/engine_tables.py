"""Tables that an engine makes beside those that celosia makes of the same records itself."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
from tests.oracles.drawn import Draw

from celosia import Table
from celosia.table.statistics import Contributions, Contributors

Store = Callable[[pa.Table], Any]
"""Puts records into an engine and returns the table of ibis."""


def check_same(table: Table, other: Table) -> None:
    """See that two tables have the same cells and say the same of every one of them, to the last unit."""
    assert table.axes == other.axes
    assert table.codes.tolist() == other.codes.tolist()
    assert table.amounts.decimals == other.amounts.decimals
    assert table.amounts.counts.tolist() == other.amounts.counts.tolist()
    assert table.counts == other.counts
    assert table.notes == other.notes
    assert table.partial == other.partial
    known, others = table.statistics, other.statistics
    assert known is not None
    assert others is not None
    for column in fields(known):
        mine, its = getattr(known, column.name), getattr(others, column.name)
        if isinstance(mine, Contributors):
            for part in fields(mine):
                assert getattr(mine, part.name).tolist() == getattr(its, part.name).tolist(), (column.name, part.name)
        else:
            assert np.array_equal(mine, its), column.name


def check_draw(draw: Draw, store: Store, **more: object) -> None:
    """See that an engine makes the table of some records that celosia makes of them."""
    frame = draw.frame()
    check_same(draw.table(store(frame.to_arrow()), **more), draw.table(frame, **{"contributions": False} | more))


def contributions_by_owner(single: Contributions) -> list[list[tuple[int, int]]]:
    """Return what everybody contributes to which cells, without the numbers they go by."""
    owners: dict[int, list[tuple[int, int]]] = {}
    for cell, owner, amount in zip(
        single.cell.tolist(), single.respondent.tolist(), single.amount.tolist(), strict=True
    ):
        owners.setdefault(owner, []).append((cell, amount))
    return sorted(sorted(mine) for mine in owners.values())
