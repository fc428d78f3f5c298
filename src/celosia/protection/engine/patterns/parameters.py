"""Parameters of integer masters that are solved before anything else is tried."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class QuickParameters:
    """Effort of integer masters where these seem to be easy: in large tables of two dimensions.

    Parameters
    ----------
    most_fractional
        Share of the columns hidden at all that a point hides in part, up to which integer masters are taken to be easy;
        0 to 1. Tables in two dimensions have up to 0.4, in three more than 0.55.
    most_fractional_with_oracle
        The same where an oracle adds requirements, for which points are more fractional; 0 to 1. The demo's table has
        0.6 then, and its masters are solved in a second or two.
    share, seconds
        Integer masters that are solved within this share of the time that is left (0 to 1), and so many seconds, go on
        one after another; the first that takes longer ends them.
    part, first_gap, closing_gap
        To which part of the gap that is left they are solved, what counts as a gap before there is a good pattern, and
        up to which gap they are solved to the optimum, as parts of the bound; 0 to 1 each.
    small_master
        Columns up to which the first of them go to the solver of the linear master, which opens faster than the tree's.
    moved_gap
        Gap up to which joint moves of product tables are not tried afterwards; 0 to 1: they hardly come as close.
    """

    most_fractional: float = 0.5
    most_fractional_with_oracle: float = 0.7
    share: float = 0.3
    seconds: float = 3.0
    part: float = 0.1
    first_gap: float = 0.05
    closing_gap: float = 0.002
    small_master: int = 1000
    moved_gap: float = 0.05

    def __post_init__(self) -> None:
        shares = (
            "most_fractional",
            "most_fractional_with_oracle",
            "share",
            "part",
            "first_gap",
            "closing_gap",
            "moved_gap",
        )
        check_ranges(self, **dict.fromkeys(shares, (0.0, 1.0)), seconds=(0.0, None), small_master=(0, None))


QUICK = QuickParameters()
