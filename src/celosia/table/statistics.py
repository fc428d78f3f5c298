"""What is known about the contributors to each cell.

Contributions are taken by their absolute value: a rule asks how much of a cell's movement one contributor accounts for,
whatever its sign (Daalmans and de Waal 2010, section 5). With non-negative data that is the contribution itself.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

UNKNOWN = -1
"""Stands for a count or contribution that is not known."""

UNASKED = -2
"""Stands for the largest contribution of a requester in a cell without data on requests."""

NO_SHADOW = np.iinfo(np.int64).min
"""Stands for the shadow of a cell on whose own values the rules look."""


@dataclass(frozen=True, slots=True, eq=False)
class Contributors:
    """The contributors of one kind, respondents or holdings, to each of n cells.

    Amounts are counted in 10^-`Statistics.decimals`; `UNKNOWN` where they are not known. Where fewer than k
    contributors exist, zeros follow.

    Parameters
    ----------
    count
        How many there are, ``(n,)``.
    total
        The sum of their absolute contributions, weighted, ``(n,)``.
    largest
        The k largest absolute contributions of single units, unweighted, largest first, ``(n, k)``.
    weighted
        The same contributors' weighted contributions, ``(n, k)``: a unit of weight 4 stands for four equal units.
    unwaived
        How many of them did not waive their protection, ``(n,)``.
    targets, weighted_targets
        As `largest` and `weighted`, for those alone.
    """

    count: NDArray[np.int64]
    total: NDArray[np.int64]
    largest: NDArray[np.int64]
    weighted: NDArray[np.int64]
    unwaived: NDArray[np.int64]
    targets: NDArray[np.int64]
    weighted_targets: NDArray[np.int64]

    @classmethod
    def of_known(
        cls,
        count: NDArray[np.int64],
        total: NDArray[np.int64],
        largest: NDArray[np.int64],
        *,
        weighted: NDArray[np.int64] | None = None,
    ) -> Contributors:
        """Return contributors without waivers; without weights unless they are given."""
        weighted = largest if weighted is None else weighted
        return cls(count, total, largest, weighted, count, largest, weighted)

    @classmethod
    def unknown(cls, n: int, k: int) -> Contributors:
        """Return what is known about `n` cells of which nothing is known."""
        lines = [np.full(n, UNKNOWN, dtype=np.int64) for _ in range(3)]
        lists = [np.full((n, k), UNKNOWN, dtype=np.int64) for _ in range(4)]
        return cls(lines[0], lines[1], lists[0], lists[1], lines[2], lists[2], lists[3])

    def fill(self, cells: NDArray[np.int64], part: Contributors) -> None:
        """Write what is known about some cells into these arrays."""
        for column in fields(self):
            getattr(self, column.name)[cells] = getattr(part, column.name)

    def scale(self, factor: int) -> Contributors:
        """Return the same with amounts counted in a finer decimal."""
        amounts = ("total", "largest", "weighted", "targets", "weighted_targets")
        arrays = {name: getattr(self, name) for name in amounts}
        return replace(self, **{name: np.where(array >= 0, array * factor, UNKNOWN) for name, array in arrays.items()})

    def widen(self, k: int) -> Contributors:
        """Return the same with `k` columns of contributions, the further ones unknown unless there are none."""
        missing = k - self.largest.shape[1]
        if missing <= 0:
            return self

        def wide(array: NDArray[np.int64]) -> NDArray[np.int64]:
            beyond = np.arange(array.shape[1], k) >= self.count[:, None]
            return np.hstack([array, np.where(beyond & (self.count[:, None] >= 0), 0, UNKNOWN)])

        wider = {name: wide(getattr(self, name)) for name in ("largest", "weighted", "targets", "weighted_targets")}
        return replace(self, **wider)


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Contributors' statistics of the cells of a table.

    Parameters
    ----------
    respondents
        By respondent.
    holdings
        By holding, None where no holding is known.
    records
        The number of records, ``(n,)``.
    weighted_records
        The sum of their weights, ``(n,)``.
    decimals
        In which decimal the amounts are counted.
    shadow
        The cells' totals of the variable on which the rules look, `NO_SHADOW` or None where that is the table's own,
        ``(n,)``.
    requested
        The largest absolute contribution of a respondent who asked for protection, -1 where none did, `UNASKED` or
        None where there are no data on it, ``(n,)``.
    weight_decimals
        How many decimals the sampling weights have.
    """

    respondents: Contributors
    holdings: Contributors | None
    records: NDArray[np.int64]
    weighted_records: NDArray[np.float64]
    decimals: int = 0
    shadow: NDArray[np.int64] | None = None
    requested: NDArray[np.int64] | None = None
    weight_decimals: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class JointContributions:
    """Contributions to linked tables at once: each stands in one joint cell, a part of one leaf cell of each table.

    Parameters
    ----------
    cells
        The leaf cells of every joint cell, one of each table, ``(k, n_tables)``.
    joint
        The joint cell of every contribution, ``(m,)``.
    respondent, holding, amount
        As in `Contributions`, ``(m,)`` each.
    """

    cells: NDArray[np.int64]
    joint: NDArray[np.int64]
    respondent: NDArray[np.int64]
    holding: NDArray[np.int64]
    amount: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Contributions:
    """Single contributions to leaf cells under anonymous numbers, for the attackers among the respondents.

    Parameters
    ----------
    cell
        The leaf cell, ``(m,)``.
    respondent, holding
        Anonymous numbers, ``(m,)``.
    amount
        The weighted contribution in the last decimal of the table, ``(m,)``.
    origin
        The tabulation that gave the numbers: those of another one mean other respondents.
    waived
        Which of them are not to be protected, ``(m,)``; None where that is none of them.
    joint
        Of linked tables the same by joint cells, variable by variable; nothing where that is not known.
    """

    cell: NDArray[np.int64]
    respondent: NDArray[np.int64]
    holding: NDArray[np.int64]
    amount: NDArray[np.int64]
    origin: object
    waived: NDArray[np.bool_] | None = None
    joint: tuple[JointContributions, ...] = ()
