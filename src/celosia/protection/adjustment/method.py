"""Controlled tabular adjustment: one plausible table close to the true one, sensitive cells far from the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError, list_items, nearest
from celosia.pattern.entries import ADJUSTED
from celosia.protection.method import NO_CELLS, Method
from celosia.protection.named_cells import places_of
from celosia.risk.risk import HIDE, SENSITIVE, SHOW, Risk
from celosia.table.cell_names import CellNames
from celosia.table.table import Table
from celosia.table.units import refuse_fractions
from celosia.tolerance import LARGEST_WEIGHT, SMALLEST_WEIGHT

Weight = Literal["1", "1/a", "1/sqrt(a)"]
"""Weights by name, of the absolute value a."""

_POWERS: dict[str, float] = {"1": 0.0, "1/a": -1.0, "1/sqrt(a)": -0.5}

NORMS = (1, 2)
"""The distances: the sum of weighted deviations, or of weighted squares."""

Totals = Literal["free", "grand", "all"]
"""Which totals keep their true value."""


@dataclass(frozen=True, slots=True, eq=False)
class Adjust(Method):
    r"""Move every sensitive cell out of its safety interval, and all cells as little as possible.

    The published table :math:`x` adds up, stays within what attackers know of the true one, and has
    :math:`x_s \le a_s - LPL_s` or :math:`x_s \ge a_s + UPL_s` for every sensitive cell (Baena, Castro and González,
    section 2.2). It minimises :math:`\sum_i w_i |x_i - a_i|^k`. A side whose level is zero is no way out. Sliding
    levels mean nothing here.

    What protects is distance from the truth: this is no statement about what attackers can conclude.

    Parameters
    ----------
    norm
        1 for the sum of weighted deviations, 2 for the sum of their squares (k).
    weight
        What a deviation weighs (w): the same in every cell, or by the inverse of the value or of its root. Of the
        absolute value, at least one unit of the last decimal; in Python also one positive number per cell.
    totals
        Which totals are published as they are: ``"free"`` for none, ``"grand"`` for those that are part of no other
        total, ``"all"``.
    keep
        Cells that are published as they are, such as those already published elsewhere.
    keep_zeros
        Zeros stay zeros.
    decimals
        The decimals of published values; by default those of the table. 0 for whole numbers.
    """

    name = "adjust"
    statuses = frozenset((ADJUSTED,))
    criterion = "distance"
    takes_requirements = False
    keeps_state = False

    norm: Literal[1, 2] = 1
    weight: Weight | ArrayLike = "1/a"
    totals: Totals = "free"
    keep: CellNames = NO_CELLS
    keep_zeros: bool = False
    decimals: int | None = None

    def __post_init__(self) -> None:
        found = Problems()
        if self.norm not in NORMS:
            found.add("norm", f"must be 1 or 2, not {self.norm}.")
        if isinstance(self.weight, str) and self.weight not in get_args(Weight):
            found.add("weight", f"{self.weight!r} is unknown.", nearest(self.weight, get_args(Weight)))
        if self.totals not in get_args(Totals):
            found.add("totals", f"{self.totals!r} is unknown.", nearest(self.totals, get_args(Totals)))
        if self.decimals is not None and self.decimals < 0:
            found.add("decimals", f"must be zero or more, not {self.decimals}.")
        found.raise_as(SpecError)

    def weights(self, table: Table) -> NDArray[np.float64]:
        """Return the weight of every cell, ``(n_cells,)``."""
        return weights_of(self.weight, table)

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk in which every cell that is to be published as it is has the status ``SHOW``.

        Raises
        ------
        SpecError
            A cell is not in the table, must be kept although it is sensitive, or must be hidden.
        DataError
            Counts are not whole numbers.
        """
        found = Problems()
        table = risk.table
        keep = np.zeros(len(table), dtype=bool)
        with found.gather():
            keep[places_of("keep", self.keep, table)] = True
        for place, cells, remedy in (
            ("keep", keep, "A cell cannot be both."),
            ("totals", find_kept_totals(table, self.totals), "Say totals='free', or exempt these cells."),
        ):
            clash = np.flatnonzero(cells & risk.sensitive)
            if len(clash):
                found.add(place, f"names cells that are sensitive: {_labels(table, clash)}.", remedy)
            keep |= cells
        hidden = np.flatnonzero(risk.status == HIDE)
        if len(hidden):
            remedy = "Adjustment publishes a number for every cell: suppress them instead."
            found.add("must_hide", f"names cells that cannot be hidden: {_labels(table, hidden)}.", remedy)
        found.raise_as(SpecError)
        refuse_fractions(table, table.is_count)
        status = risk.status.copy()
        status[keep] = SHOW
        return replace(risk, status=status)

    def frozen(self, risk: Risk) -> NDArray[np.bool_]:
        """Return which cells do not move, ``(n_cells,)``: those to be shown, and zeros where they are to stay.

        Raises
        ------
        SpecError
            A sensitive cell is a zero that is to stay.
        """
        zero = np.asarray(risk.table.amounts.counts == 0)
        clash = np.flatnonzero(zero & (risk.status == SENSITIVE))
        if self.keep_zeros and len(clash):
            said = f"keeps cells that are sensitive: {_labels(risk.table, clash)}."
            raise SpecError.one("keep_zeros", said, "Exempt these cells, or let zeros move.")
        return np.asarray((risk.status == SHOW) | (zero & self.keep_zeros))


def weights_of(weight: str | ArrayLike, table: Table) -> NDArray[np.float64]:
    """Return the weight of every cell, ``(n_cells,)``.

    Raises
    ------
    SpecError
        There are not as many weights as cells, or some are not positive.
    """
    if isinstance(weight, str):
        return np.maximum(np.abs(table.values), 10.0**-table.decimals) ** _POWERS[weight]
    try:
        weights = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise SpecError.one("weight", "holds something that is no number.", "Give one per cell.") from None
    if weights.shape != (len(table),):
        raise SpecError.one("weight", f"has the shape {weights.shape} for {len(table)} cells.", "Give one per cell.")
    wrong = np.flatnonzero(~((weights >= SMALLEST_WEIGHT) & (weights <= LARGEST_WEIGHT)))
    if len(wrong):
        first = table.label(int(wrong[0]))
        ends = f"{SMALLEST_WEIGHT:g} and {LARGEST_WEIGHT:g}"
        said = f"is not between {ends} for {len(wrong)} cells, the first being {first}."
        raise SpecError.one("weight", said, "Weights are positive; to leave a cell as it is, name it in keep.")
    return weights


def find_kept_totals(table: Table, which: str) -> NDArray[np.bool_]:
    """Return the totals that are kept, ``(n_cells,)``: see `Adjust`."""
    matrix = table.relations.matrix
    total, part = (np.zeros(len(table), dtype=bool) for _ in range(2))
    total[matrix.indices[matrix.data < 0]] = True
    part[matrix.indices[matrix.data > 0]] = True
    return {"free": np.zeros(len(table), dtype=bool), "grand": total & ~part, "all": total}[which]


def _labels(table: Table, cells: NDArray[np.int64]) -> str:
    return list_items([table.label(int(cell)) for cell in cells])
