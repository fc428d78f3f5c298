"""Parameters of the search over modes of publication; what counts as zero or reached stands in `celosia.tolerance`."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges
from celosia.protection.engine.cuts.parameters import ROUNDING, RoundingCutParameters


@dataclass(frozen=True, slots=True)
class ModeSeparationParameters:
    """How much work one separation of capacity cuts is.

    Parameters
    ----------
    enough_flow_cuts, subproblems_per_flow_cut
        Cuts from networks of some relations with which linear programs can wait, 1 or more, and one for so many
        subproblems, 1 or more, if that is more: flows are far cheaper, but few cuts of them hardly raise the bound.
    least_program_cuts
        Cuts from linear programs that missed their level before with which the other programs can wait, 1 or more: a
        master with new cuts has another point anyway.
    subproblems_per_cut
        One of those cuts for so many subproblems, 1 or more, if that is more, is enough for all to wait.
    capacities_at_once
        Capacities that are laid side by side for one call of the flow code where they differ from one subproblem to the
        next, 1 or more: 16 bytes each.
    reuse
        Share of a level, 0 to 1, that a move must reach to be scaled up into a witness.
    cut_step
        Coefficients of cuts, of which the largest is 1, are rounded up to multiples of this, 0 to 1. No variable is
        negative, so a cut stays valid, and cuts that differ by rounding errors are one.
    """

    enough_flow_cuts: int = 5
    subproblems_per_flow_cut: int = 40
    least_program_cuts: int = 10
    subproblems_per_cut: int = 4
    capacities_at_once: int = 2_000_000
    reuse: float = 0.5
    cut_step: float = 2.0**-29

    def __post_init__(self) -> None:
        counts = "least_program_cuts", "subproblems_per_cut", "capacities_at_once"
        of_flows = "enough_flow_cuts", "subproblems_per_flow_cut"
        check_ranges(self, reuse=(0.0, 1.0), cut_step=(0.0, 1.0), **dict.fromkeys((*of_flows, *counts), (1, None)))


SEPARATION = ModeSeparationParameters()
"""The parameters of separation that suit all tables known so far."""


@dataclass(frozen=True, slots=True)
class ModeSearchParameters:
    """How the search over modes of publication goes.

    Parameters
    ----------
    separation
        Those of one separation.
    rounding, rounding_rounds
        Those of mixed-integer rounding cuts, and rounds of them at most, 0 or more.
    widenings
        How much wider slacks are taken in the first separations, in units of slacks, stage by stage, 0 or more and in
        the end 0: cuts found so use fewer columns.
    widenings_of_uneven_costs
        The same where costs differ much from column to column: there are fewer ties.
    uneven_costs
        Costs differ much where their upper and lower deciles differ by more than this factor, 1 or more.
    tail
        The next stage begins where new cuts are no more than this share of the subproblems, 0 to 1.
    postponed
        Levels missed by less than this share, 0 to 1, make no cut while slacks are taken wider, nor at fractional
        points.
    purge_rounds
        Cuts that do not bind are dropped from the master every so many rounds, 1 or more.
    patience
        Solutions of the master in a row at which a cut is slack before it is dropped, 1 or more.
    stall, stall_rounds
        When the bound has risen by no more than this share, 0 to 1, in so many rounds, 1 or more, a fractional point is
        cut no more.
    raisings
        Widths are raised by so many times what is missing to a level, 1 or more, until it is reached: they do it alone
        where other slacks are constants.
    hasty_widenings
        How much wider the ranges of the last point are taken where time is up, in units of slacks, 0 or more.
    opens_everything
        Where time is up without a safe point, the one that opens everything is tried.
    widest
        The point that opens everything opens slacks as far as so many times the largest level, 1 or more.
    fractional
        Where no more than this share of the whole numbers, 0 to 1, is fractional in the relaxation, a tree over these
        alone is tried first.
    dived
        A dive fixes all variables that are at least this much above a whole number, 0 to 1; where there are none, one
        part of `dived_parts`, 1 or more, of the fractional ones.
    hiding_columns
        In tables of so many columns, 1 or more, the columns are hidden first that a fractional point hides by more than
        a share, and those whose ranges cost more than hiding them; smaller ones are soon solved without.
    hiding_shares
        These shares, 0 to 1, one after the other.
    completed
        Where these cells are hidden, ranges are narrowed until less than this share of the cost, 0 to 1, is to be
        gained: other cells promise more.
    flipping_share, flipping_gain
        Share of the time that is left after a dive, 0 to 1, in which single whole numbers of 0 or 1 are flipped, in
        tables of `hiding_columns`: a tree over all seldom finds better points. And the share of the cost, 0 to 1, that
        a flip must promise.
    most_steps
        Bounds of whole numbers are narrowed where the gap is worth fewer steps of one than this, 1 or more: of binaries
        one.
    round_gap_parts
        A master with whole numbers that will be cut again is solved to one of so many parts of the remaining gap, 1 or
        more.
    effort
        Share of the solver's work, 0 to 1, that goes into primal heuristics where there are no subproblems: six times
        the usual.
    """

    separation: ModeSeparationParameters = SEPARATION
    rounding: RoundingCutParameters = ROUNDING
    rounding_rounds: int = 8
    widenings: tuple[float, ...] = (0.1, 0.01, 0.001, 0.0)
    widenings_of_uneven_costs: tuple[float, ...] = (0.03, 0.0)
    uneven_costs: float = 10.0
    tail: float = 0.02
    postponed: float = 1e-4
    purge_rounds: int = 10
    patience: int = 3
    stall: float = 1e-4
    stall_rounds: int = 15
    raisings: tuple[float, ...] = (1.0, 10.0, 100.0)
    hasty_widenings: tuple[float, ...] = (0.0, 0.3, 3.0, 30.0, 300.0)
    opens_everything: bool = True
    widest: float = 4.0
    fractional: float = 0.1
    dived: float = 0.5
    dived_parts: int = 4
    hiding_columns: int = 250
    hiding_shares: tuple[float, ...] = (0.7, 0.5, 0.3, 0.1)
    completed: float = 0.002
    flipping_share: float = 0.5
    flipping_gain: float = 1e-4
    most_steps: int = 1_000
    round_gap_parts: int = 3
    effort: float = 0.3

    def __post_init__(self) -> None:
        shares = (
            "tail",
            "postponed",
            "stall",
            "fractional",
            "dived",
            "effort",
            "completed",
            "flipping_share",
            "flipping_gain",
        )
        ones = (
            "uneven_costs",
            "raisings",
            "widest",
            "purge_rounds",
            "patience",
            "stall_rounds",
            "dived_parts",
            "round_gap_parts",
            "most_steps",
            "hiding_columns",
        )
        check_ranges(
            self,
            rounding_rounds=(0, None),
            **dict.fromkeys(shares, (0.0, 1.0)),
            **dict.fromkeys(ones, (1, None)),
        )


SEARCH = ModeSearchParameters()
"""The parameters of the search that suit all tables known so far."""
