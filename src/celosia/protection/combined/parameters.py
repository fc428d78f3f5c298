"""Parameters of combined suppression, on top of those of interval publication."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges
from celosia.protection.intervals.parameters import IntervalParameters
from celosia.tolerance import TREE_BOUND


@dataclass(frozen=True, slots=True)
class CombinedParameters(IntervalParameters):
    """How ranges are searched for whose formulation has binary variables.

    Parameters
    ----------
    first_share, first_share_with_oracle
        Share of the time, 0 to 1, for the cheapest ranges by widths alone, a linear program, from which the search
        starts; more where respondents attack, because the first release that they cannot attack is worth waiting for.
    splitting_share
        Share of the time that is left, 0 to 1, for a bound by the splitting method, where cells form a product of three
        or more trees, and a search from a pattern follows.
    widths_share
        Share of the time, 0 to 1, for the search over widths that start from a pattern: those that cannot be placed
        need the rest.
    start_columns
        Tables of so many columns, 1 or more, start from a suppression pattern at the fixed costs; smaller ones are
        solved to the optimum without it.
    counting_share
        Where all fixed costs together are no more than this share of what widths cost at least, 0 to 1, they hardly
        count, and no pattern is searched for.
    least_seconds
        Seconds that a first search gets at least, 0 or more: with little time one good release is worth more than an
        improved bad one.
    thinning_loss
        Share of the cost, 0 to 1, by which fewer ranges may cost more: a search takes no smaller gap for one.
    thinning_share, thinning_share_in_gap
        Share of the time that is left after a search, 0 to 1, in which they are looked for; another where a gap is
        allowed, which they may use up.
    thinning_flips, thinning_tree
        Share of that time, 0 to 1, in which whole numbers are flipped before, where a gap is allowed, and of what is
        left then for a tree, whose bound allows more to be spent.
    closing_share, nearly_as_cheap
        Ranges are closed one by one, the cheapest first, in this share of what is left of that time, 0 to 1. Rises of
        the cost that differ by less than the second share, 0 to 1, of what may be spent count as equal.
    charges, charge_halvings
        What every range is charged then, one after the other, in parts of that loss by the number of ranges, above 0:
        most of what is charged is never paid. And how often, 0 or more, the factor is halved between the last charge
        that the loss allows and the first that it does not.
    """

    first_share: float = 0.25
    first_share_with_oracle: float = 0.5
    splitting_share: float = 0.7
    widths_share: float = 0.85
    start_columns: int = 250
    counting_share: float = 1e-4
    least_seconds: float = 2.0
    thinning_loss: float = 2 * TREE_BOUND
    thinning_share: float = 0.5
    thinning_share_in_gap: float = 0.8
    thinning_flips: float = 0.4
    thinning_tree: float = 0.35
    closing_share: float = 0.8
    nearly_as_cheap: float = 0.02
    charges: tuple[float, ...] = (1.0, 10.0, 100.0, 1000.0)
    charge_halvings: int = 3

    def __post_init__(self) -> None:
        IntervalParameters.__post_init__(self)
        shares = (
            "first_share",
            "first_share_with_oracle",
            "widths_share",
            "splitting_share",
            "counting_share",
            "thinning_loss",
            "thinning_share",
            "thinning_share_in_gap",
            "thinning_flips",
            "thinning_tree",
            "closing_share",
            "nearly_as_cheap",
        )
        counts = {"start_columns": (1, None), "charge_halvings": (0, None)}
        check_ranges(self, charges=(0.0, None), **counts, **dict.fromkeys(shares, (0.0, 1.0)))


COMBINED = CombinedParameters()
"""The parameters of combined suppression that suit all tables known so far."""
