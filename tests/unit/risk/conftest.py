"""Tables of flat cells, made of contributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
import pytest

from celosia import Table, tabulate


@pytest.fixture
def contributed() -> Callable[..., Table]:
    """Return a function that makes a table of contributions by cell.

    Further columns by role (respondent, holding, weight, waiver, request, shadow) follow the contributions in their
    order; every table begins with its total.
    """

    def make(cells: Mapping[str, Sequence[float]], *, largest: int = 4, **columns: Sequence[Any]) -> Table:
        rows = [(code, amount) for code, amounts in cells.items() for amount in amounts]
        frame = pl.DataFrame(
            {"cell": [code for code, _ in rows], "value": [amount for _, amount in rows], **columns}, strict=False
        )
        roles: dict[str, Any] = {role: role for role in columns}
        return tabulate(frame, by=["cell"], value="value", largest=largest, **roles)

    return make
