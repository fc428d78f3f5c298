"""Cell perturbation: values move within a known reach, and they still add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError, list_items
from celosia.pattern.entries import PERTURBED
from celosia.protection.method import NO_CELLS, Method, Wishes
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk
from celosia.table.cell_names import CellNames
from celosia.table.table import Table
from celosia.table.units import Number, count_units, read_fractions, refuse_fractions
from celosia.tolerance import MOST_DECIMALS

Side = Literal["up", "down"]


@dataclass(frozen=True, slots=True, eq=False)
class Perturb(Method):
    """Publish values near the true ones, with their reach, so that all still adds up (Salazar 2002, section 6).

    The reader of a value v with reach R knows that the truth lies in ``v - R .. v + R``. Sensitive cells are moved;
    the others as little as possible.

    Parameters
    ----------
    reach
        How far published values may be from true ones (R); it is published. So it must not be computed from the true
        values. In Python also one for each cell.
    windows
        The lowest and the highest value that may be published of some cells (Salazar 2002, (13)). Their reach is the
        width of their window, in place of `reach`; readers must not know the window itself. By places or labels.
    move
        How far sensitive cells are moved at least; by default by their protection level. That is the level on the side
        to which they are moved, as far as the reach leaves the level on the other side. In Python also one for each
        cell.
    side
        The side to which sensitive cells are moved: ``"random"``, ``"up"`` or ``"down"``. A side that readers know or
        guess is an end of the range for them: they would know that the truth lies below (or above) what is published.
    sides
        Sides of some sensitive cells, by their places.
    cost
        What a unit of distance from the true value costs in a cell: value, unity, frequency, log or sums of them
        (`celosia.Cost`). In Python also one number per cell.
    at_most
        The most cells that may be published with another value than the true one. Readers do not learn which.
    frozen
        Cells that are published as they are, such as those already published elsewhere. Readers learn that they are
        exact.
    decimals
        The decimals of published values; by default those of the table. No fewer than these.
    secret
        The seed of random sides and of concealed levels, which must stay secret; by default drawn afresh. The result's
        method knows it. With concealed levels use the same one again whenever the table is published again.
    zeros_known
        Every attacker knows which cells are zero.
    conceal
        Move every sensitive cell to the end of a class of values, drawn from the secret, so that who undoes moves by
        levels learns the class and no more: by default wherever that can be, which notes of the result say. True
        refuses what stands in the way, False moves cells by their levels, and warns of what readers undo. Levels must
        be parts of contributions or of the value, as those of rules are. The reach must leave room for classes; *What
        can be guessed* in the documentation has what that promises.
    """

    name = "perturb"
    statuses = frozenset((PERTURBED,))

    reach: Number | Sequence[Number] | NDArray[np.float64] | NDArray[np.int64]
    windows: Mapping[int, tuple[Number, Number]] = field(default_factory=dict)
    move: Number | Sequence[Number] | NDArray[np.float64] | NDArray[np.int64] | None = None
    side: Literal["random", "up", "down"] = "random"
    sides: Mapping[int, Side] = field(default_factory=dict)
    cost: str | Cost | ArrayLike = "unity"
    at_most: int | None = None
    frozen: CellNames = NO_CELLS
    decimals: int | None = None
    secret: int | None = None
    zeros_known: bool = False
    conceal: bool | None = None

    def __post_init__(self) -> None:
        found = Problems()
        with found.gather():
            reach = read_fractions("reach", self.reach)
            if any(number < 0 for number in reach) or not any(number > 0 for number in reach):
                found.add("reach", "must be above zero.", "It is a distance; freeze cells that must not move.")
        self._check_windows(found)
        with found.gather():
            if self.move is not None and any(number < 0 for number in read_fractions("move", self.move)):
                found.add("move", "must be zero or more.", "It is a distance.")
        if self.side not in ("random", "up", "down"):
            found.add("side", f"must be 'random', 'up' or 'down', not {self.side!r}.")
        wrong = [cell for cell, side in self.sides.items() if side not in ("up", "down")]
        if wrong:
            found.add("sides", f"must be 'up' or 'down'; they are not for {list_items(wrong)}.")
        if self.at_most is not None and self.at_most < 0:
            found.add("at_most", f"must be zero or more, not {self.at_most}.")
        if self.decimals is not None and not 0 <= self.decimals <= MOST_DECIMALS:
            found.add("decimals", f"must lie between 0 and {MOST_DECIMALS}, not {self.decimals}.")
        if self.secret is not None and self.secret < 0:
            found.add("secret", "must be zero or more.")
        if self.conceal and self.windows:
            found.add("windows", "and conceal are both given.", "A window of its own tells where the truth may lie.")
        if self.conceal and self.move is not None:
            found.add("move", "and conceal are both given.", "Readers who know how far cells are moved undo it.")
        found.raise_as(SpecError)

    def _check_windows(self, found: Problems) -> None:
        """Note windows that are none."""
        with found.gather():
            wrong = [cell for cell, ends in self.windows.items() if not _is_window(ends)]
            if wrong:
                said = f"must be a lowest value and a higher one; they are not for {list_items(wrong)}."
                found.add("windows", said, "Freeze cells that must not move.")

    @property
    def conceals_levels(self) -> bool:
        """Whether levels are concealed, so that moves tell nothing of contributions."""
        return self.conceal is not False and not self.forbids_concealment

    @property
    def forbids_concealment(self) -> str:
        """Which option tells how far cells may be, or are, moved; empty where none does."""
        return "windows" if self.windows else "move" if self.move is not None else ""

    def leave_no_room(self, risk: Risk, integer: bool | None) -> NDArray[np.bool_]:  # noqa: FBT001  (as a run says it)
        """Return which sensitive cells the reach does not let move to either side with their levels, ``(n_cells,)``."""
        table, levels, narrow = risk.table, risk.levels, np.zeros(len(risk), dtype=bool)
        reach, unit = self.reaches(table), Fraction(1, 10**table.decimals)
        for cell in np.flatnonzero(risk.sensitive).tolist():
            lower, upper, sliding = (level.fraction(cell) for level in (levels.lower, levels.upper, levels.sliding))
            grain = Fraction(1) if integer or table.is_count[cell] else unit
            needed = max(max(lower, upper) + 2 * grain, max(lower + upper, sliding) / 2 + grain)
            narrow[cell] = int(reach[cell]) * unit < needed
        return narrow

    @property
    def wishes(self) -> Wishes:
        """What is wished of cells."""
        return Wishes(self.cost, self.frozen, zeros_known=self.zeros_known, show_option="frozen")

    def reaches(self, table: Table) -> NDArray[np.int64]:
        """Return the reach of every cell in units of the table's last decimal, ``(n_cells,)``: r of Salazar (2002)."""
        reach = count_units("reach", self.reach, table)
        if self.windows:
            lowest, highest = self.count_windows(table)
            own = np.array(sorted(self.windows), dtype=np.int64)
            reach[own] = (highest - lowest)[own]
        return reach

    def count_windows(self, table: Table) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the lowest and highest value of every cell in units of the table's last decimal, ``(n_cells,)`` each.

        Raises
        ------
        SpecError
            A cell is not in the table, or an end is no whole number of units.
        """
        beyond = [cell for cell in self.windows if not 0 <= cell < len(table)]
        if beyond:
            raise SpecError.one("windows", f"name cells that are not in the table: {list_items(beyond)}.")
        truth, reach = np.asarray(table.amounts.counts, dtype=np.int64), count_units("reach", self.reach, table)
        ends = truth - reach, truth + reach
        own = np.array(sorted(self.windows), dtype=np.int64)
        for side, numbers in enumerate(ends):
            given = np.zeros(len(table), dtype=object)
            given[own] = [read_fractions("windows", self.windows[cell][side])[0] for cell in own.tolist()]
            numbers[own] = count_units("windows", given, table)[own]
        return ends

    def _refuse_windows(self, table: Table) -> None:
        """Refuse windows without the true value.

        Raises
        ------
        SpecError
            With the cells by their labels.
        """
        lowest, highest = self.count_windows(table)
        truth = np.asarray(table.amounts.counts, dtype=np.int64)
        wrong = np.flatnonzero((truth < lowest) | (truth > highest))
        if len(wrong):
            labels = list_items([table.label(int(cell)) for cell in wrong])
            raise SpecError.one("windows", f"exclude the true values of {labels}.", "Widen them, or leave them out.")

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk with the wishes of the method: costs, what is frozen, who knows zeros.

        Raises
        ------
        SpecError
            A cell is not in the table, a frozen one is sensitive, a side is given of one that is not; costs are
            negative; reach, windows, move or decimals do not suit the table, or windows exclude true values.
        DataError
            Counts are not whole numbers.
        """
        found = Problems()
        applied = risk
        with found.gather():
            applied = self.wishes.apply_to(risk)
        with found.gather():
            self.reaches(risk.table)
            self._refuse_windows(risk.table)
        with found.gather():
            if self.move is not None:
                count_units("move", self.move, risk.table)
        stray = [cell for cell in self.sides if not (0 <= cell < len(risk) and risk.sensitive[cell])]
        if stray:
            found.add(
                "sides", f"name cells that are not sensitive: {list_items(stray)}.", "Only those are moved aside."
            )
        if self.decimals is not None and self.decimals < risk.table.decimals:
            found.add(
                "decimals",
                f"is {self.decimals}, and the table has {risk.table.decimals}.",
                "Values must add up exactly.",
            )
        if self.decimals and set(risk.table.variables) & risk.table.counts:
            found.add("decimals", f"is {self.decimals}, and there are counts.", "Counts stay whole numbers.")
        found.raise_as(SpecError)
        refuse_fractions(risk.table, risk.table.is_count)
        return applied


def _is_window(ends: object) -> bool:
    """Return whether this is a number, and a larger one."""
    if not isinstance(ends, tuple | list) or len(ends) != 2:  # noqa: PLR2004  (two ends)
        return False
    lowest, highest = (read_fractions("windows", end)[0] for end in ends)
    return lowest < highest
