"""Single contributions of an engine's records, on request: sums by leaf cell under anonymous numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.source.engines.rows import EngineRows, numbers_of, without_warnings
from celosia.source.tabulation.contributions import anonymous_numbers, record_marks
from celosia.source.tabulation.groups import Groups

if TYPE_CHECKING:
    import ibis
else:
    ibis = OnFirstUse("ibis")


@dataclass(frozen=True, slots=True, eq=False)
class Singles:
    """What everybody contributes to every joint leaf cell, ``(n,)`` each.

    Parameters
    ----------
    leaves
        Leaf numbers by dimension.
    amounts
        Weighted contributions by variable.
    respondent, holding
        Anonymous numbers.
    waived
        Which of them are about somebody who waived his protection; None where nobody could.
    """

    leaves: dict[str, NDArray[np.int32]]
    amounts: list[NDArray[np.int64]]
    respondent: NDArray[np.int64]
    holding: NDArray[np.int64]
    waived: NDArray[np.bool_] | None


def fetch_singles(rows: EngineRows, table: Any, dimensions: Sequence[str], masses: Sequence[str]) -> Singles:  # noqa: ANN401
    """Return the single contributions of an engine's records.

    Names become numbers in the engine, and the numbers others here, which follow from the contributions alone.

    Parameters
    ----------
    rows
        The engine.
    table
        Its rows, with leaf numbers `n0`, `n1`, ... and whole counts.
    dimensions
        The names of the dimensions.
    masses
        The columns of weighted contributions.
    """
    places = [f"n{k}" for k in range(len(dimensions))]
    names = [name for name in ("r", "h") if name in table.columns]
    flags = [name for name in ("waived",) if name in table.columns]
    with without_warnings():
        if "r" in names:
            sums: dict[str, Any] = {mass: table[mass].sum() for mass in masses}
            sums |= {flag: table[flag].all() for flag in flags}
            table = table.group_by([*places, *names]).aggregate(**sums)
        ranks = {f"{name}_rank": ibis.dense_rank().over(ibis.window(order_by=name)) for name in names}
        ranked = table.mutate(**ranks).select(*places, *masses, *flags, *ranks)
    answer = rows.fetch(ranked)
    columns = numbers_of(answer, [*places, *masses, *flags, *ranks])
    order = np.lexsort([columns[name] for name in reversed([*places, *masses])])
    columns = {name: column[order] for name, column in columns.items()}
    marks = record_marks([columns[name] for name in [*places, *masses]], len(order))

    def numbers(rank: str) -> NDArray[np.int64]:
        known = columns.get(rank)
        groups = Groups.single(len(order)) if known is None else Groups.of_whole_numbers(known)
        return anonymous_numbers(groups, marks)

    respondent = numbers("r_rank")
    return Singles(
        {name: columns[place].astype(np.int32) for name, place in zip(dimensions, places, strict=True)},
        [columns[mass] for mass in masses],
        respondent,
        numbers("h_rank") if "h" in names else respondent,
        columns["waived"] != 0 if flags else None,
    )
