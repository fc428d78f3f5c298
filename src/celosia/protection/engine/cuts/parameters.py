"""Parameters of mixed-integer rounding cuts; what counts as zero or violated stands in `celosia.tolerance`."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class RoundingCutParameters:
    """Effort of the separation of mixed-integer rounding cuts.

    Parameters
    ----------
    most_rows
        Tightest rows that are rounded, alone and in pairs, 1 or more.
    most_entries
        Rows times columns, beyond which nothing is tried, 1 or more: 8 bytes each.
    partners
        Rows that are subtracted from each row, one after the other, 0 or more: those with the most in common.
    least_common
        Of the width that a row has at the point, the other has this share at least, 0 to 1.
    pairs_at_once
        Pairs that are rounded side by side, 1 or more.
    divisors, divisor_parts
        Coefficients of the most fractional variables by which a row is divided, so many, 1 or more; and these parts of
        each, 1 or more.
    least_divisor
        A divisor is no smaller than this share of the largest coefficient of its row, 0 to 1: others are differences of
        rounding errors.
    least_part
        The fraction of a right side that is rounded up, 0 to 1: smaller ones give cuts of very uneven coefficients.
    least_distance
        How far cuts lie from the point, 0 to 1: closer ones are not worth adding.
    most_cuts
        The most distant cuts that are returned, 1 or more.
    """

    most_rows: int = 1000
    most_entries: int = 4_000_000
    partners: int = 5
    least_common: float = 0.1
    pairs_at_once: int = 500
    divisors: int = 6
    divisor_parts: tuple[int, ...] = (1, 2)
    least_divisor: float = 1e-4
    least_part: float = 0.02
    least_distance: float = 2e-4
    most_cuts: int = 100

    def __post_init__(self) -> None:
        shares = "least_common", "least_divisor", "least_part", "least_distance"
        counts = "most_rows", "most_entries", "pairs_at_once", "divisors", "divisor_parts", "most_cuts"
        check_ranges(self, partners=(0, None), **dict.fromkeys(shares, (0.0, 1.0)), **dict.fromkeys(counts, (1, None)))


ROUNDING = RoundingCutParameters()
"""The parameters of mixed-integer rounding that suit all tables known so far."""
