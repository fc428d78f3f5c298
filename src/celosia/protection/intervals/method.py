"""Interval publication: cells are shown, or a range of each is published (partial suppression)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import Problems, SpecError, list_items, pluralise
from celosia.pattern.entries import INTERVAL
from celosia.protection.method import NO_CELLS, Method, Wishes, costs_of, refuse_beyond_knowledge
from celosia.risk.cell_levels import CellLevels, check_levels, gather_levels, require_levels
from celosia.risk.cost import Cost
from celosia.risk.risk import HIDE, SENSITIVE, SHOW, Levels, Risk
from celosia.table.cell_names import CellNames
from celosia.table.fixed import Fixed
from celosia.table.units import count_decimals

Number = float | int | Fraction

_MOST_DECIMALS = 9

CONDITIONAL = ("lower_if_not_shown", "upper_if_not_shown", "width_if_not_shown")


@dataclass(frozen=True, slots=True, eq=False)
class Intervals(Method):
    """Publish ranges that are as narrow as safety allows, and show all else (Salazar 2002, section 4).

    Parameters
    ----------
    cost
        What a unit of width costs in a cell: value, unity, frequency, log or sums of them (`celosia.Cost`). By default
        as in the assessment. In Python also one number per cell.
    lower_cost, upper_cost
        What a unit of width costs below or above the true value, where the two differ.
    must_show
        Cells that are published as they are, such as those already published elsewhere.
    least_width
        Widths of cells, sensitive or not: attackers must not conclude a narrower range.
    most_width
        Widths of cells: no wider range is published.
    width_if_not_shown
        Widths of cells: if such a cell is not shown, attackers must not conclude a narrower range for it. Conditional
        protection: Salazar 2002, section 7; thesis, section 3.4.2.
    lower_if_not_shown
        Distances of cells: if such a cell is not shown, attackers must not rule out values so far below the true one.
    upper_if_not_shown
        Distances of cells: if such a cell is not shown, attackers must not rule out values so far above the true one.
    at_most
        The most ranges that may be published, those of sensitive cells included.
    levels
        ``"own"`` for the levels as they are, ``"sliding"`` to ask for SPL = LPL + UPL instead of separate lower and
        upper levels: what attackers conclude is as wide, but the true value may lie anywhere in it. An audit of a job
        with sliding levels asks for the same.
    shift
        Place ranges at random around the true values, at the same cost, where all levels are sliding and none is
        concealed. Otherwise many ranges have the true value in their middle.
    conceal
        Publish for every sensitive cell the range of a class of values, drawn from the secret, whose width and ends
        tell no contribution: by default wherever that can be, which notes of the result say. True refuses what stands
        in the way, False publishes narrower ranges, and warns of what readers read off their widths. Levels must be
        parts of contributions or of the value, as those of rules are. Ranges are 1.6 to 4.2 times as wide in all;
        *What can be guessed* in the documentation has what that promises.
    secret
        The seed of random placing and of concealed levels, which must stay secret; by default drawn afresh. The
        result's method knows it. With concealed levels use the same one again whenever the table is published again.
    decimals
        The decimals of the ends; by default as few as cost next to nothing, and none for counts.
    digits
        Round ends outward to this number of significant digits. Ranges are then wider than what can be concluded.
    base
        Round ends outward to multiples of it. Ranges are then wider than what can be concluded.
    search
        How widths are searched for: ``"cuts"`` or ``"splitting"``; by default what suits the table.
    zeros_known
        Every attacker knows which cells are zero.
    """

    name = "interval"
    statuses = frozenset((INTERVAL,))

    cost: str | Cost | ArrayLike | None = None
    lower_cost: str | Cost | ArrayLike | None = None
    upper_cost: str | Cost | ArrayLike | None = None
    must_show: CellNames = NO_CELLS
    least_width: Mapping[int, Number] = field(default_factory=dict)
    most_width: Mapping[int, Number] = field(default_factory=dict)
    width_if_not_shown: Mapping[int, Number] = field(default_factory=dict)
    lower_if_not_shown: Mapping[int, Number] = field(default_factory=dict)
    upper_if_not_shown: Mapping[int, Number] = field(default_factory=dict)
    at_most: int | None = None
    levels: Literal["own", "sliding"] = "own"
    shift: bool = True
    conceal: bool | None = None
    secret: int | None = None
    decimals: int | None = None
    digits: int | None = None
    base: Number | None = None
    search: Literal["auto", "cuts", "splitting"] = "auto"
    zeros_known: bool = False

    def __post_init__(self) -> None:
        found = Problems()
        for name, widths in (("least_width", self.least_width), ("most_width", self.most_width)):
            wrong = [cell for cell, width in widths.items() if not (width > 0 and math.isfinite(width))]
            if wrong:
                remedy = "Leave it out for none." if name == "least_width" else "For points say must_show."
                found.add(name, f"must be above zero; it is not for {list_items(wrong)}.", remedy)
        if self.levels not in ("own", "sliding"):
            found.add("levels", f"must be 'own' or 'sliding', not {self.levels!r}.")
        if self.search not in ("auto", "cuts", "splitting"):
            found.add("search", f"must be 'auto', 'cuts' or 'splitting', not {self.search!r}.")
        if self.decimals is not None and not 0 <= self.decimals <= _MOST_DECIMALS:
            found.add("decimals", f"must lie between 0 and {_MOST_DECIMALS}, not {self.decimals}.")
        self._check_rounding(found)
        self._check_counting(found)
        if self.secret is not None and self.secret < 0:
            found.add("secret", "must be zero or more.")
        found.raise_as(SpecError)

    def _check_counting(self, found: Problems) -> None:
        """Note what is wrong with limits and conditions, which need binary variables."""
        if self.at_most is not None and self.at_most < 0:
            found.add("at_most", f"must be zero or more, not {self.at_most}.")
        for name in CONDITIONAL:
            check_levels(found, name, getattr(self, name))
        counted = ["at_most"] if self.at_most is not None else [name for name in CONDITIONAL if getattr(self, name)]
        if counted and self.wants_splitting:
            remedy = "Leave search out, or say search='cuts'."
            found.add(counted[0], "cannot be kept by the splitting method.", remedy)
        if self.forbids_concealment and self.conceal:
            said = "and conceal=True do not go together: widths that are asked for would tell what conceals them."
            found.add(self.forbids_concealment, said, "Leave one of them out.")

    def _check_rounding(self, found: Problems) -> None:
        """Note what is wrong with the rounding of ends."""
        if self.digits is not None and self.digits < 1:
            found.add("digits", f"must be 1 or more, not {self.digits}.")
        if self.base is not None and not self.base > 0:
            found.add("base", f"must be above zero, not {self.base}.")
        elif self.base is not None and (_to_fraction(self.base) * 10**self.base_decimals).denominator != 1:
            found.add("base", f"has too many decimals: {self.base}.", "Multiples of it are published.")
        if self.digits is not None and self.base is not None:
            found.add("digits", "and base are both given.", "Round ends in one way.")

    @property
    def wishes(self) -> Wishes:
        """What is wished of cells."""
        return Wishes(self.cost, self.must_show, zeros_known=self.zeros_known)

    @property
    def takes_corners(self) -> bool:
        """Whether ranges are not counted, nor protected under a condition: columns that are no cells would be."""
        return self.at_most is None and not self.conditional

    @property
    def counts_ranges(self) -> bool:
        """Whether the formulation has a binary variable for every range: they have a cost, a limit, or conditions."""
        return self.has_fixed_costs or self.at_most is not None or bool(self.conditional)

    @property
    def package(self) -> str:
        """The package whose ``solve`` runs the method: that of combined suppression where ranges are counted."""
        counted = self.counts_ranges and self.only_widens
        return "celosia.protection.combined" if counted else type(self).__module__.rpartition(".")[0]

    @property
    def wants_splitting(self) -> bool:
        """Whether widths of ranges are to be found by the splitting method (ADMM), whatever suits the table."""
        return self.search == "splitting"

    @property
    def conceals_levels(self) -> bool:
        """Whether levels are concealed, so that widths tell nothing of contributions."""
        return self.conceal is not False and not self.forbids_concealment

    @property
    def forbids_concealment(self) -> str:
        """Which option asks for widths, which would tell what conceals them; empty where none does."""
        return next((name for name in (*CONDITIONAL, "least_width") if getattr(self, name)), "")

    def leave_no_room(self, risk: Risk, integer: bool | None) -> NDArray[np.bool_]:  # noqa: ARG002, FBT001  (as a run says it)
        """Return which cells would need a wider range for their levels than they may have, ``(n_cells,)``."""
        narrow = np.zeros(len(risk), dtype=bool)
        levels = risk.levels
        for cell, most in self.most.items():
            asked = max(levels.sliding.fraction(cell), levels.lower.fraction(cell) + levels.upper.fraction(cell))
            narrow[cell] = bool(risk.sensitive[cell]) and asked > most
        return narrow

    @property
    def rounds(self) -> bool:
        """Whether ends are rounded outward on request."""
        return self.digits is not None or self.base is not None

    @property
    def base_decimals(self) -> int:
        """How many decimals the base has; none where there is no base."""
        return 0 if self.base is None else count_decimals([_to_fraction(self.base)])

    def refuse_base(self, risk: Risk, *, integer: bool | None) -> None:
        """Refuse a base whose multiples have more decimals than ends may have.

        Raises
        ------
        SpecError
            Saying which.
        """
        if self.base is None or not self.base_decimals:
            return
        counts = integer or bool(set(risk.table.variables) & risk.table.counts)
        if counts:
            raise SpecError.one("base", f"is {self.base}, and ends of counts are whole.", "Take a whole number.")
        if self.decimals is not None and self.decimals < self.base_decimals:
            said = f"is {self.base}, and ends have {pluralise(self.decimals, 'decimal')}."
            raise SpecError.one("base", said, "Take a coarser base, or more decimals.")

    @property
    def least(self) -> dict[int, Fraction]:
        """The least widths, exact as they are written."""
        return _exact(self.least_width)

    @property
    def most(self) -> dict[int, Fraction]:
        """The greatest widths, exact as they are written."""
        return _exact(self.most_width)

    @property
    def conditional(self) -> dict[int, CellLevels]:
        """The levels that cells keep if they are not shown, exact as they are written."""
        return gather_levels(self.lower_if_not_shown, self.upper_if_not_shown, self.width_if_not_shown)

    def conditional_levels(self, risk: Risk) -> dict[int, CellLevels]:
        """Return the levels of cells that may be shown or not; see `require_widths` for those that are never shown.

        Parameters
        ----------
        risk
            With the wishes of the method.
        """
        free = (risk.status != SHOW) & ~_are_never_shown(risk)
        return {cell: levels for cell, levels in self.conditional.items() if free[cell]}

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk with the wishes of the method: costs and levels, what must be shown, who knows zeros.

        Raises
        ------
        SpecError
            A cell is not in the table, a cell that must be shown is sensitive or has a least width, costs are negative.
        """
        found = Problems()
        applied = risk
        with found.gather():
            applied = self.wishes.apply_to(risk)
        for name in ("least_width", "most_width", *CONDITIONAL):
            cells = getattr(self, name)
            beyond = [cell for cell in cells if not 0 <= cell < len(risk)]
            if beyond:
                found.add(name, f"names cells that are not in the table: {list_items(beyond)}.")
        found.raise_as(SpecError)
        shown = [cell for cell in self.least_width if applied.status[cell] == SHOW]
        if shown:
            labels = list_items([risk.table.label(cell) for cell in shown])
            raise SpecError.one("least_width", f"names cells that must be shown: {labels}.", "A cell cannot be both.")
        refuse_beyond_knowledge(applied, self.conditional, CONDITIONAL)
        return applied if self.levels == "own" else slide_levels(applied)

    def costs(self, risk: Risk) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return what a unit below and above the true value costs, ``(n_cells,)`` each; `risk` is the applied one."""
        return costs_of("lower_cost", self.lower_cost, risk), costs_of("upper_cost", self.upper_cost, risk)

    def cell_costs(self, risk: Risk) -> NDArray[np.float64]:
        """Return what a range of every cell costs whatever its width, ``(n_cells,)``: nothing."""
        return np.zeros(len(risk))

    def may_be_no_range(self, risk: Risk) -> NDArray[np.bool_]:
        """Return which cells may be published in another way that protects them, ``(n_cells,)``."""
        return np.zeros(len(risk), dtype=bool)

    def require_widths(self, risk: Risk, hidden: NDArray[np.bool_] | None = None) -> Risk:
        """Return the risk in which cells with a least width are sensitive: a least width is a sliding level.

        So are cells that keep levels if they are not shown, where they are not; None asks for those that never are.
        """
        wanted = {cell: CellLevels(sliding=width) for cell, width in self.least.items()}
        conditional = self.conditional
        if conditional:
            hidden = _are_never_shown(risk) if hidden is None else hidden
            for cell, levels in conditional.items():
                if hidden[cell] or cell in wanted:
                    least = wanted.get(cell, levels).sliding
                    wanted[cell] = replace(levels, sliding=max(levels.sliding, least))
        return require_levels(risk, wanted)


def _are_never_shown(risk: Risk) -> NDArray[np.bool_]:
    """Return which cells are sensitive, must be hidden, or have requirements of their own, ``(n_cells,)``."""
    never = np.isin(risk.status, (SENSITIVE, HIDE))
    if risk.further is not None:
        never[risk.further.cells] = True
    return never


def slide_levels(risk: Risk) -> Risk:
    """Return the risk that asks for widths in the place of separate lower and upper levels."""
    shares = None if risk.shares is None else risk.shares.slide()
    return replace(risk.change_levels(make_sliding), shares=shares)


def make_sliding(levels: Levels) -> Levels:
    """Return levels that ask for the width of separate ones, wherever the true value lies in it: SPL = LPL + UPL."""
    decimals = max(levels.lower.decimals, levels.upper.decimals, levels.sliding.decimals)
    lower, upper, sliding = (
        level.to(decimals).counts.astype(object) for level in (levels.lower, levels.upper, levels.sliding)
    )
    nothing = Fixed(np.zeros(len(levels.lower), dtype=np.int64))
    return Levels(nothing, nothing, Fixed.of_counts(np.maximum(sliding, lower + upper), decimals))


def _exact(widths: Mapping[int, Number]) -> dict[int, Fraction]:
    return {cell: _to_fraction(width) for cell, width in widths.items()}


def _to_fraction(number: Number) -> Fraction:
    """Return a number, exact as it is written."""
    return Fraction(str(number)) if isinstance(number, float) else Fraction(number)
