"""Attackers as plain data: what they know about every cell before anything is published."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.arguments import takes
from celosia.errors import DataError, Problems, SpecError, pluralise
from celosia.risk.respondents.contributions import check_cell, contributors, own_contributions
from celosia.risk.risk import LEVELS, Levels
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.table import Table

Number = int | float | str | Decimal
"""A decimal number, exact as it is written."""

Known = Number | tuple[Number | None, Number | None]
"""What an attacker knows about a cell: its value, or bounds, None where there is none."""


Closeness = Number | tuple[Number, Number] | tuple[Number, Number, Number]
"""How close an attacker may come to a cell: LPL = UPL, both, or both and SPL."""


@dataclass(frozen=True, slots=True, eq=False)
class Attacker:
    """An attacker, who knows that ``lower <= a <= upper``, cell by cell.

    An attacker who contributes to the table knows true values, so he is confidential, as the table is.

    Parameters
    ----------
    name
        How reports call him.
    lower, upper
        His bounds, infinite where he knows nothing.
    levels
        How close he may come, in the place of the levels of the risk (Salazar's :math:`LPL^k, UPL^k, SPL^k`); zero
        where he is not kept from a cell. None for those of the risk; see `with_levels`.
    own
        Cells to which nobody else contributed, ``(n_cells,)``: he is not kept from what is his. None for none.
    told_classes
        He is no attacker of the risk but a reader who is told classes of values (`celosia.risk.concealment`).
    """

    name: str
    lower: Fixed
    upper: Fixed
    levels: Levels | None = field(default=None, kw_only=True)
    own: NDArray[np.bool_] | None = field(default=None, kw_only=True)
    told_classes: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        found = Problems()
        place = f"attacker {self.name!r}"
        if len(self.lower) != len(self.upper):
            message = f"has {len(self.lower)} lower bounds and {len(self.upper)} upper ones."
            found.add(place, message, "Give one of each for every cell.")
        if bool((self.lower.counts == INFINITE).any() or (self.upper.counts == -INFINITE).any()):
            found.add(place, "has bounds that no number meets.", "A lower bound may be -inf, an upper one inf.")
        found.raise_as(SpecError)

    @classmethod
    @takes(table=Table)
    def external(cls, table: Table, name: str = "external") -> Attacker:
        """Return the default attacker: he knows that values are not negative, where that is so, and nothing above.

        The sign is known variable by variable: where one value or contribution of a variable is negative, he knows
        nothing about that variable.
        """
        negative = np.zeros(len(table.variables), dtype=bool)
        np.logical_or.at(negative, table.variable, (table.amounts.counts < 0) | _find_netting(table))
        lower = np.where(negative[table.variable], -INFINITE, 0)
        return cls(name, Fixed(lower, table.decimals), Fixed(np.full(len(table), INFINITE), table.decimals))

    @classmethod
    @takes(table=Table)
    def factor(cls, table: Table, factor: int, name: str = "factor") -> Attacker:
        """Return an attacker who knows that every value lies between zero and `factor` times the truth.

        The tests of Karlsson and Olsson (2015) use a factor of 11. Of a zero he knows that it is at most `factor`
        units.
        """
        if factor < 1:
            raise SpecError.one("factor", f"must be at least 1, not {factor}.")
        if not table.nonnegative:
            raise SpecError.one("factor", "makes no sense for a table with negative values.", "Use a percentage.")
        counts = table.amounts.counts
        upper = np.where(counts > 0, counts, 1).astype(object) * factor
        zero = Fixed(np.zeros_like(counts), table.decimals)
        return cls(name, zero, Fixed.of_counts(upper, table.decimals))

    @classmethod
    @takes(table=Table)
    def percentage(cls, table: Table, percent: Number, name: str | None = None) -> Attacker:
        r"""Return an attacker who knows every value within a percentage, and what the public knows.

        .. math:: |y_i - a_i| \le \mathrm{percent} / 100 \cdot |a_i|

        A zero he knows exactly. The bounds are decimals as they come out, not rounded.
        """
        share = _decimals([percent], "percent")
        if share.infinite.any() or share.counts[0] < 0:
            raise SpecError.one("percent", f"must be zero or more, not {percent}.")
        truth = table.amounts.counts.astype(object)
        room, decimals = np.abs(truth) * int(share.counts[0]), table.decimals + share.decimals + 2
        scale = 10 ** (share.decimals + 2)
        while scale > 1 and not (room % 10).any():
            room, scale, decimals = room // 10, scale // 10, decimals - 1
        around = cls(
            name or f"within {percent}%",
            Fixed.of_counts(truth * scale - room, decimals),
            Fixed.of_counts(truth * scale + room, decimals),
        )
        return cls.together([around, cls.external(table)], around.name)

    @classmethod
    @takes(table=Table)
    def between(cls, table: Table, lower: ArrayLike, upper: ArrayLike, name: str = "own bounds") -> Attacker:
        """Return an attacker with bounds of your own, ``(n_cells,)`` each, -inf and inf where there is none.

        Raises
        ------
        SpecError
            There are not as many bounds as cells, or some are no numbers.
        DataError
            A bound does not hold the true value.
        """
        found = Problems()
        sides = []
        for place, numbers in (("lower", lower), ("upper", upper)):
            array = np.asarray(numbers, dtype=np.float64)
            if array.shape != (len(table),) or bool(np.isnan(array).any()):
                found.add(place, f"must hold a number for each of {pluralise(len(table), 'cell')}, inf where none is.")
            else:
                sides.append(Fixed.of_floats(array))
        found.raise_as(SpecError)
        return cls(name, *sides).check(table)

    @classmethod
    @takes(table=Table)
    def respondent(cls, table: Table, number: int, name: str | None = None) -> Attacker:
        """Return a respondent who knows his own contributions (`coalition` of one)."""
        return cls.coalition(table, respondents=[number], name=name or f"respondent {number}")

    @classmethod
    @takes(table=Table)
    def holding(cls, table: Table, number: int, name: str | None = None) -> Attacker:
        """Return a holding that knows the contributions of all its respondents (`coalition` of one)."""
        return cls.coalition(table, holdings=[number], name=name or f"holding {number}")

    @classmethod
    @takes(table=Table)
    def coalition(
        cls,
        table: Table,
        *,
        respondents: Collection[int] = (),
        holdings: Collection[int] = (),
        name: str = "coalition",
    ) -> Attacker:
        """Return contributors who know their own contributions, and tell each other.

        A cell is at least what they contributed to it, where others cannot contribute less than nothing; of a variable
        with negative contributions they know no more than the public. A cell to which no other respondent contributed
        anything they know exactly, and are not kept from: it is theirs.

        Parameters
        ----------
        table
            A table with single contributions, as from `celosia.tabulate`.
        respondents, holdings
            Their anonymous numbers (`celosia.contributors`); one or the other.
        name
            How reports call them.

        Raises
        ------
        SpecError
            The table knows no single contributions, or not these contributors.

        Notes
        -----
        Contributions are weighted, as in the table: who stands for four equal units knows of all four.
        """
        if bool(respondents) == bool(holdings):
            message = "needs numbers of respondents or of holdings, not both." if holdings else "has no members."
            raise SpecError.one(name, message, "Find numbers with celosia.contributors(table, cell).")
        kind, members = ("holding", holdings) if holdings else ("respondent", respondents)
        own, alone, bounded = own_contributions(table, kind, members)
        nothing = np.full(len(table), INFINITE)
        theirs = cls(
            name,
            Fixed(np.where(alone | bounded, own, -nothing), table.decimals),
            Fixed(np.where(alone, own, nothing), table.decimals),
            own=alone,
        )
        return cls.together([cls.external(table), theirs.check(table)], name)

    @classmethod
    @takes(table=Table)
    def singleton(cls, table: Table, cell: int, name: str | None = None) -> Attacker:
        """Return the only contributor of a cell: he knows its value, and his other contributions if the table does.

        Where holdings are known, the only holding.

        Raises
        ------
        SpecError
            It is not known how many contributors the cell has, or there is not exactly one.
        """
        check_cell(table, cell)
        said = name or f"singleton of {table.label(cell)}"
        statistics = table.statistics
        kind = "respondent" if statistics is None or statistics.holdings is None else "holding"
        if table.contributions is not None:
            who = contributors(table, cell, kind)
            _check_alone(table, cell, len(who))
            members: dict[str, Any] = {f"{kind}s": who}
            return cls.coalition(table, **members, name=said).with_knowledge(
                table, {cell: table.amounts[cell].texts()[0]}
            )
        if statistics is None:
            remedy = "Say what he knows: Attacker.external(table).with_knowledge(table, {cell: value})."
            raise SpecError.one("singleton", "the table does not know the numbers of contributors.", remedy)
        counts = statistics.respondents.count if statistics.holdings is None else statistics.holdings.count
        _check_alone(table, cell, int(counts[cell]))
        alone = replace(cls.external(table, said), own=np.arange(len(table)) == cell)
        return alone.with_knowledge(table, {cell: table.amounts[cell].texts()[0]})

    @classmethod
    def together(cls, attackers: Sequence[Attacker], name: str | None = None) -> Attacker:
        """Return one who knows what each of several attackers knows: the narrower bound of every cell.

        Contributors who add up their contributions know more than that: see `coalition`. Of levels of their own the
        largest count; what is one's own is theirs.

        Raises
        ------
        SpecError
            There are none, they have bounds for different numbers of cells, or some have levels of their own only.
        """
        if not attackers:
            raise SpecError.one("attackers", "are missing.", "Give at least one.")
        if len({len(attacker) for attacker in attackers}) > 1:
            sizes = ", ".join(f"{attacker.name!r} {len(attacker)}" for attacker in attackers)
            raise SpecError.one("attackers", f"have bounds for different numbers of cells: {sizes}.")
        levels = [attacker.levels for attacker in attackers if attacker.levels is not None]
        if levels and len(levels) < len(attackers):
            message = "are judged by levels of their own, and others of them are not."
            raise SpecError.one("attackers", message, "Say levels of those who work together: with_levels.")
        own = [attacker.own for attacker in attackers if attacker.own is not None]
        return cls(
            name or " and ".join(attacker.name for attacker in attackers),
            reduce(lambda one, other: _narrower(one, other, 1), (attacker.lower for attacker in attackers)),
            reduce(lambda one, other: _narrower(one, other, -1), (attacker.upper for attacker in attackers)),
            levels=reduce(Levels.largest, levels) if levels else None,
            own=np.logical_or.reduce(own) if own else None,
        )

    def with_knowledge(self, table: Table, known: Mapping[int, Known], name: str | None = None) -> Attacker:
        """Return the attacker with knowledge about some cells on top: ``{cell: value}`` or ``{cell: (lower, upper)}``.

        Raises
        ------
        SpecError
            There is no such cell, or what is known is no decimal number.
        DataError
            It is not true.
        """
        found = Problems()
        for cell in known:
            with found.gather():
                check_cell(table, cell)
        pairs = [said if isinstance(said, tuple) else (said, said) for said in known.values()]
        places = np.array(list(known), dtype=np.int64)
        sides = []
        with found.gather():
            for side, endless in ((0, "-inf"), (1, "inf")):
                texts = [endless if (end := pair[side]) is None else end for pair in pairs]
                sides.append(_decimals(texts, f"attacker {name or self.name!r}"))
        found.raise_as(SpecError)
        lower, upper = (
            _spread(side, places, len(table), endless)
            for side, endless in zip(sides, (-INFINITE, INFINITE), strict=True)
        )
        wiser = Attacker(name or self.name, lower, upper, levels=self.levels)
        return Attacker.together([self, wiser.check(table)], wiser.name)

    def with_levels(self, table: Table, levels: Mapping[int, Closeness], name: str | None = None) -> Attacker:
        """Return the attacker with levels of his own: ``{cell: level}`` or ``{cell: (lower, upper, sliding)}``.

        A single number is the level to both sides; the sliding one may be left out. He is kept from these cells, and
        from no others; `celosia.assess` calls all of them sensitive.

        Raises
        ------
        SpecError
            No cell is named, there is no such cell, a level is no decimal number or negative, all of a cell are zero,
            or more is asked for than he leaves open himself.
        """
        found, place = Problems(), f"attacker {name or self.name!r}"
        if not levels:
            found.add(place, "names no cell in his levels.", "Leave them out for the levels of the rules.")
        sides: list[tuple[Number, ...]] = []
        for cell, said in levels.items():
            with found.gather():
                check_cell(table, cell)
            given = said if isinstance(said, tuple) else (said, said)
            sides.append((*given, *(0,) * (len(LEVELS) - len(given))))
        found.raise_as(SpecError)
        places = np.array(list(levels), dtype=np.int64)
        own = Levels(*(_spread(_decimals(side, place), places, len(table), 0) for side in zip(*sides, strict=True)))
        for cell in places.tolist():
            wrong = self._find_fault(table, cell, [getattr(own, kind).fraction(cell) for kind in LEVELS])
            if wrong:
                found.add(place, f"{wrong[0]} in {table.label(cell)}.", wrong[1])
        found.raise_as(SpecError)
        return replace(self, name=name or self.name, levels=own)

    def _find_fault(self, table: Table, cell: int, levels: Sequence[Fraction]) -> tuple[str, str] | None:
        """Return what is wrong with levels of a cell, and what to do; None where nothing is."""
        below, above, sliding = levels
        if min(levels) < 0 or max(levels) == 0:
            return "needs a level above zero, and none below", "Leave a cell out that he is not kept from."
        truth, (lowest, highest) = table.amounts.fraction(cell), self.bounds(cell)
        down, up = None if lowest is None else truth - lowest, None if highest is None else highest - truth
        wide = down is not None and up is not None and down + up < sliding
        if wide or (down is not None and down < below) or (up is not None and up < above):
            return "asks for more than he leaves open himself", "He knows more beforehand than the levels allow."
        return None

    def check(self, table: Table) -> Attacker:
        """Return the attacker himself, if what he knows is true of the table.

        Raises
        ------
        DataError
            He has bounds for another number of cells, or some do not hold the true value.
        """
        place = f"attacker {self.name!r}"
        if len(self) != len(table):
            raise DataError.one(place, f"has bounds for {len(self)} cells, the table has {len(table)}.")
        wrong = np.flatnonzero(~self.knows(table))
        if len(wrong):
            first = table.label(int(wrong[0]))
            message = (
                f"believes something that is not true of {pluralise(len(wrong), 'cell')}, the first being {first}."
            )
            raise DataError.one(place, message, "Bounds must hold the value.")
        return self

    def __len__(self) -> int:
        return len(self.lower)

    def knows(self, table: Table) -> NDArray[np.bool_]:
        """Return for which cells the attacker's bounds hold the true value, ``(n_cells,)``."""
        decimals = max(table.decimals, self.lower.decimals, self.upper.decimals)
        truth = table.amounts.to(decimals).counts
        above = self.lower.infinite | (self.lower.to(decimals).counts <= truth)
        below = self.upper.infinite | (truth <= self.upper.to(decimals).counts)
        return np.asarray(above & below, dtype=bool)

    def bounds(self, cell: int) -> tuple[Fraction | None, Fraction | None]:
        """Return the bounds of one cell, None where there is none."""
        return (
            None if self.lower.infinite[cell] else self.lower.fraction(cell),
            None if self.upper.infinite[cell] else self.upper.fraction(cell),
        )


def _find_netting(table: Table) -> NDArray[np.bool_]:
    """Return the cells in which negative contributions hide: absolute contributions sum to more than the value."""
    statistics = table.statistics
    if statistics is None or statistics.shadow is not None or statistics.decimals != table.decimals:
        return np.zeros(len(table), dtype=bool)
    return np.asarray(statistics.respondents.total > np.abs(table.amounts.counts))


def _check_alone(table: Table, cell: int, number: int) -> None:
    if number != 1:
        seen = "an unknown number of contributors" if number < 0 else pluralise(number, "contributor")
        raise SpecError.one("singleton", f"{table.label(cell)} has {seen}, not one.", "See Attacker.coalition.")


def _decimals(numbers: Sequence[Number], place: str) -> Fixed:
    """Return numbers as they are written."""
    try:
        return Fixed.of_texts([str(number) for number in numbers])
    except ValueError:
        raise SpecError.one(place, "is or holds no decimal number.", "Write it as 12.5.") from None


def _spread(numbers: Fixed, places: NDArray[np.int64], n: int, elsewhere: int) -> Fixed:
    counts = np.full(n, elsewhere, dtype=numbers.counts.dtype if len(numbers) else np.int64)
    counts[places] = numbers.counts
    return Fixed(counts, numbers.decimals)


def _narrower(one: Fixed, other: Fixed, sign: int) -> Fixed:
    """Return the larger of two lower bounds (1) or the smaller of two upper ones (-1), cell by cell."""
    decimals = max(one.decimals, other.decimals)
    first, second = one.to(decimals).counts, other.to(decimals).counts
    endless = -sign * INFINITE
    better = (second != endless) & ((first == endless) | (sign * second > sign * first))
    return Fixed(np.where(better, second, first), decimals)
