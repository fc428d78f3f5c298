"""The sections of methods that hide cells or publish ranges of them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from celosia.job.methods.section import Keep, MethodPart
from celosia.job.sections.selection import Cells, Factors, Widths
from celosia.job.sections.tables import CostText, Decimals
from celosia.protection.combined.method import Combined
from celosia.protection.intervals.method import Intervals
from celosia.protection.mixed.method import Mixed
from celosia.protection.suppression.method import Suppress


class SuppressPart(MethodPart):
    """``name = "suppress"``: hide sensitive cells, and as few others as safety needs; see `celosia.Suppress`.

    Parameters
    ----------
    name
        The method.
    cost
        What hiding a cell costs: value, unity, frequency, log, sums of them; by default as in ``[assess]``.
    factors
        Multiples of the cost for some cells.
    keep
        A release of last period: what it hides had better stay hidden.
    must_show
        Cells that are published already, or must be.
    must_hide
        Cells that must not be shown.
    at_most
        At most so many cells are hidden.
    width_if_hidden
        The width that what anybody can conclude about a cell must keep, if the cell is hidden.
    zeros_known
        Everybody knows which cells are zero.
    """

    kind = Suppress
    name: Literal["suppress"] = "suppress"
    cost: CostText | None = None
    factors: Factors | None = None
    keep: Keep | None = None
    must_show: Cells | None = None
    must_hide: Cells | None = None
    at_most: Annotated[int, Field(ge=0)] | None = None
    width_if_hidden: Widths | None = None
    zeros_known: bool = False


class RangesPart(MethodPart):
    """What all methods that publish ranges have in common; see `celosia.Intervals`.

    Parameters
    ----------
    name
        The method.
    cost
        What a unit of width costs in a cell: value, unity, frequency, log, sums of them; by default as in ``[assess]``.
    lower_cost, upper_cost
        The same for what lies below and above the true value, where the two differ.
    factors
        Multiples of the cost for some cells.
    keep
        A release of last period: what it did not show had better stay a range.
    must_show
        Cells that are published already, or must be.
    least_width
        Nobody may conclude a narrower range for these cells, sensitive or not.
    most_width
        No wider range is published for these cells.
    levels
        ``own`` for the levels as they are; ``sliding`` asks for their width only, and ranges are placed at random.
    shift
        Place ranges at random around true values where all levels are sliding, at the same cost.
    secret
        The seed of that placing, which must stay secret; by default drawn afresh.
    decimals
        How many decimals ends have; by default as few as cost next to nothing.
    digits
        Round ends outward to so many significant digits.
    base
        Round ends outward to multiples of it.
    search
        How widths are searched for: ``cuts`` or ``splitting``; by default what suits the table.
    zeros_known
        Everybody knows which cells are zero.
    """

    cost: CostText | None = None
    lower_cost: CostText | None = None
    upper_cost: CostText | None = None
    factors: Factors | None = None
    keep: Keep | None = None
    must_show: Cells | None = None
    least_width: Widths | None = None
    most_width: Widths | None = None
    levels: Literal["own", "sliding"] = "own"
    shift: bool = True
    secret: Annotated[int, Field(ge=0)] | None = None
    decimals: Decimals | None = None
    digits: Annotated[int, Field(ge=1)] | None = None
    base: float | None = None
    search: Literal["auto", "cuts", "splitting"] = "auto"
    zeros_known: bool = False


class IntervalPart(RangesPart):
    """``name = "interval"``: publish ranges as narrow as safety allows; see `celosia.Intervals`."""

    kind = Intervals
    name: Literal["interval"] = "interval"


class CombinedPart(RangesPart):
    """``name = "combined"``: publish few ranges that are narrow; see `celosia.Combined`.

    Parameters
    ----------
    cell_cost
        What a range costs whatever its width: value, unity, frequency, log, sums of them.
    at_most
        At most so many ranges are published.
    """

    kind = Combined
    name: Literal["combined"] = "combined"
    cell_cost: CostText | None = None
    at_most: Annotated[int, Field(ge=0)] | None = None


class MixedPart(RangesPart):
    """``name = "mixed"``: show, hide, widen, round or perturb, each cell in one of its ways; see `celosia.Mixed`.

    Parameters
    ----------
    cost
        What a unit of width costs in a cell: unity, value, frequency, log, sums of them; by default unity.
    hide_cost
        What hiding a cell costs: value, unity, frequency, log, sums of them; by default value.
    may_hide
        Cells that may be hidden; by default all.
    may_range
        Cells that may be ranges; by default all.
    must_hide
        Cells that must not be shown.
    round_base
        Cells may be rounded to multiples of it; by default none is.
    may_round
        Cells that may be rounded; by default all, where there is a base.
    reach
        Cells may be perturbed by no more than this, which is published; by default none is.
    may_perturb
        Cells that may be perturbed; by default all, where there is a reach.
    move_cost
        What a unit of distance from the true value costs in a rounded or perturbed cell; by default unity.
    number_cost
        What a rounded or perturbed cell costs whatever its distance; by default unity.
    """

    kind = Mixed
    name: Literal["mixed"] = "mixed"
    cost: CostText | None = "unity"
    hide_cost: CostText | None = None
    may_hide: Cells | None = None
    may_range: Cells | None = None
    must_hide: Cells | None = None
    round_base: float | None = None
    may_round: Cells | None = None
    reach: float | None = None
    may_perturb: Cells | None = None
    move_cost: CostText | None = None
    number_cost: CostText | None = None
