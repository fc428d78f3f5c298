"""Random rounding: cells go up or down to a base at random, so that published values are right on average."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from celosia.errors import Problems, SpecError, list_items, nearest
from celosia.pattern.entries import PERTURBED, ROUNDED
from celosia.protection.method import Method
from celosia.risk.risk import HIDE, Risk
from celosia.table.fixed import Fixed
from celosia.table.table import Table
from celosia.table.units import count_units, grains_of, refuse_fractions

Scheme = Literal["sensitive", "plain", "controlled"]
"""What is rounded, and how totals come about; see `RandomRound`."""

MOST_DRAWS = 100


@dataclass(frozen=True, slots=True)
class RandomRound(Method):
    r"""Round up or down to a multiple of a base at random, so that values are right on average.

    A value is rounded up with probability :math:`(a \bmod b) / b`, so that the expected published value is the true
    one: rounding is *unbiased*, but for ``"sensitive"``, where sets of values that no table completes are drawn again.
    The published table adds up.

    Parameters
    ----------
    base
        Values are rounded to multiples of it (b). A whole number of units of the table's last decimal.
    scheme
        Round the ``"sensitive"`` cells and move others a little, round every cell by itself (``"plain"``), or round so
        that all adds up (``"controlled"``). ``"plain"`` rounds every cell that is no total, and adds up (Fellegi 1975):
        a total of m cells may be off by m times the base. ``"controlled"`` rounds every cell and every total to a
        neighbouring multiple (Cox 1987); for tables of one or two dimensions with at most one hierarchy.
        ``"sensitive"`` rounds the sensitive cells only, keeps the totals, and moves the other cells as little as
        possible in the sense of chi-square (Tiwari); of any dimension, against any number of attackers.
    keep_totals
        Totals are published as they are, where the sensitive cells are rounded.
    reach
        How far published values may be from true ones, where the sensitive cells are rounded; by default one unit less
        than the base. The reader is told. The default is what rounding itself gives away.
    keep_sum
        The sum of the sensitive cells is published as it is, where these are rounded. The base must divide it (Fellegi
        1975). Readers who know of that know the sum, and the audit takes it for known.
    cells
        The rounded values of the sensitive cells, in place of a draw. Neighbouring multiples of the base, of every
        sensitive cell, by places or labels. Nothing is left to chance then, and nothing is unbiased.
    draws
        The most sets of rounded values that are drawn, where the sensitive cells are rounded. One that cannot be
        completed to a table, or whose table fails the audit, is drawn again; that makes for a bias, which the notes of
        every result state.

    Notes
    -----
    The seed of `celosia.protect` is a secret: who knows it knows more about the remainders than the table tells. With
    the default of 0 a fresh one is drawn; `celosia.Protection` keeps it for the office, no release does. Choose your
    own from many digits.

    Cost and bound of the result are those of the values drawn: chance chose them, not a search. With ``"sensitive"``
    the cost is the chi-square distance, elsewhere the sum of deviations.
    """

    name = "random-round"
    statuses = frozenset((ROUNDED, PERTURBED))
    takes_requirements = False
    keeps_state = False
    seed_is_secret = True

    base: int | float | str | Decimal
    scheme: Scheme = "sensitive"
    keep_totals: bool = True
    reach: int | float | str | Decimal | None = None
    keep_sum: bool = False
    cells: Mapping[int, int | float | str | Decimal | Fraction] = field(default_factory=dict, hash=False)
    draws: int = MOST_DRAWS

    def __post_init__(self) -> None:
        found = Problems()
        for name, number in (("base", self.base), ("reach", self.reach)):
            if number is None:
                continue
            try:
                said = _read_number(number)
            except ValueError:
                found.add(name, f"{number!r} is no decimal number.", "Write it as 12.5.")
            else:
                if said.counts[0] <= 0 or said.infinite[0]:
                    found.add(name, f"must be above zero, not {number}.")
        if self.scheme not in get_args(Scheme):
            found.add("scheme", f"{self.scheme!r} is unknown.", nearest(self.scheme, get_args(Scheme)))
        for name in ("keep_sum", "cells"):
            if getattr(self, name) and self.scheme != "sensitive":
                wrong = f"goes with the scheme 'sensitive', not {self.scheme!r}."
                found.add(name, wrong, "The others round every cell.")
        if self.draws < 1:
            found.add("draws", f"must be one or more, not {self.draws}.")
        found.raise_as(SpecError)

    def count_base(self, table: Table) -> int:
        """Return the base in counts of the table's last decimal.

        Raises
        ------
        SpecError
            It is no whole number of them, or larger than every value.
        """
        base = _count_units("base", _read_number(self.base), table)
        if len(table) and base > int(np.abs(table.amounts.counts).max()):
            said = f"{self.base} is larger than every value of the table."
            raise SpecError.one("base", said, "Everything would become zero or the base itself: take a smaller one.")
        return base

    def count_reaches(self, table: Table) -> NDArray[np.int64]:
        """Return the reach of every cell, in counts of the table's last decimal, ``(n_cells,)``."""
        if self.reach is None:
            return self.count_base(table) - grains_of(table)
        return np.full(len(table), _count_units("reach", _read_number(self.reach), table), dtype=np.int64)

    def count_given(self, risk: Risk) -> NDArray[np.int64] | None:
        """Return the given rounded values of the sensitive cells in counts, ``(k,)``; None where they are drawn.

        Raises
        ------
        SpecError
            They are not those of the sensitive cells, or no neighbouring multiples of the base.
        """
        if not self.cells:
            return None
        table, sensitive = risk.table, np.flatnonzero(risk.sensitive)
        stray = [cell for cell in self.cells if not (0 <= cell < len(risk) and risk.sensitive[cell])]
        missing = [table.label(int(cell)) for cell in sensitive if int(cell) not in self.cells]
        if stray or missing:
            said = f"name cells that are not sensitive: {list_items(stray)}." if stray else ""
            said = said or f"leave out sensitive cells: {list_items(missing)}."
            raise SpecError.one("cells", said, "Give the rounded value of every sensitive cell, and of no other.")
        base = self.count_base(table)
        numbers = np.zeros(len(table), dtype=object)
        numbers[sensitive] = [self.cells[int(cell)] for cell in sensitive]
        values = count_units("cells", numbers, table)[sensitive]
        off = (values % base != 0) | (np.abs(values - table.amounts.counts[sensitive]) >= base)
        if bool(off.any()):
            labels = list_items([table.label(int(cell)) for cell in sensitive[off]])
            raise SpecError.one("cells", f"are no neighbouring multiples of the base: {labels}.", "Round them so.")
        return values

    def refuse_sum(self, risk: Risk, values: NDArray[np.int64] | None) -> None:
        """Refuse a sum of the sensitive cells that cannot be kept.

        Raises
        ------
        SpecError
            The base does not divide it, or given values have another one.
        """
        if not self.keep_sum:
            return
        total = int(risk.table.amounts.counts[risk.sensitive].sum())
        if total % self.count_base(risk.table):
            said = "the base does not divide the sum of the sensitive cells."
            raise SpecError.one("keep_sum", said, "Take a base that does, or leave it out.")
        if values is not None and int(values.sum()) != total:
            raise SpecError.one("cells", "have another sum than the sensitive cells.", "Leave keep_sum out.")

    def apply_to(self, risk: Risk) -> Risk:
        """Return the risk, if it can be rounded.

        Raises
        ------
        SpecError
            A cell must be hidden; given values do not suit the table; the sum cannot be kept.
        DataError
            Counts are no whole numbers.
        """
        table = risk.table
        hidden = np.flatnonzero(risk.status == HIDE)
        if len(hidden):
            labels = list_items([table.label(int(cell)) for cell in hidden])
            remedy = "Rounding publishes a number for every cell: suppress them instead."
            raise SpecError.one("must_hide", f"names cells that cannot be hidden: {labels}.", remedy)
        refuse_fractions(table, table.is_count)
        self.refuse_sum(risk, self.count_given(risk))
        return risk


def _read_number(number: float | str | Decimal) -> Fixed:
    return Fixed.of_texts([str(number)])


def _count_units(name: str, number: Fixed, table: Table) -> int:
    decimals = max(number.decimals, table.decimals)
    unit: int = 10 ** (decimals - table.decimals)
    count = int(number.to(decimals).counts[0])
    if count % unit:
        said = f"{number.texts()[0]} is finer than the {table.decimals} decimals of the table."
        raise SpecError.one(name, said, "Take a whole number of units of its last decimal.")
    if bool((count // unit % grains_of(table)).any()):
        raise SpecError.one(name, f"{number.texts()[0]} is no whole number, and there are counts.", "Take a whole one.")
    return count // unit
