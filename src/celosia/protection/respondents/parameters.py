"""Shares of the time and sizes that steer the protection of respondents. They never change what is safe."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class RespondentParameters:
    """How time is shared out where respondents are protected.

    Parameters
    ----------
    first_gap
        Gap of the first pattern, which only shows open pairs: 0 to 1.
    easy_gap
        Gap of the first pattern up to which cells alone are taken to be easy: then the search with the oracle finds
        better patterns than moves that clear all respondents do, and these are not improved. 0 to 1.
    first_share
        Share of the limit by which the first pattern is found; 0 to 1.
    oracle_share
        Share of the limit by which searches with the oracle end; what follows hides more and has that attacked. 0 to 1.
    least_share
        Share of the limit that every pattern has, however late it is; 0 to 1.
    judged_share
        Share of the limit by which the first pattern is attacked, where everything may be hidden in the end: that is
        attacked, too. 0 to 1.
    last_steps
        Hiding more than a pattern does, its audit and attacks take so many times what the first attacks took. 0 or
        more.
    rest_grace
        Attacks on a pattern in which nobody was found exposed when time was up may be so late, on the way from the
        limit to the last moment, where nothing else is known; 0 to 1, less than `last_grace`, which follows.
    last_grace
        Attacks on what hides everything may be so late, on the way from the limit to the last moment; 0 to 1.
    most_rounds
        Patterns without a limit of time: patterns of equal cost may take turns for long. 1 or more.
    coalitions
        Coalitions that come too close to a target become requirements, so many of them, once a first pattern has been
        attacked in full: what keeps these away mostly keeps the others away. 1 or more.
    opening_seconds
        Seconds of the search that opens every range as wide as it may be, in case time runs out; above 0. Without time
        for anything else it does just that.
    all_coalitions
        Of ranges so many in all, where only targets are attacked again that were exposed: the last few of these, who
        contribute to many cells, would take many rounds. 1 or more.
    last_targets
        Where no more targets than these are exposed, what is enough is asked of ranges for all corners of their boxes
        at once: with many cells they would take a round for every one. 1 or more.
    colours
        Colours of leaf cells of product tables; every target gets one move a colour, which is free in cells of all
        others. 1 or more: with eight a survey hides 4 percent of the cells less than with one, with more nothing else.
    restarts, clearance_share
        Patterns that clear all respondents by moves, each with other colours, of which the best is kept: the cost of
        two of them may differ by a fifth. Share of the time that is left for all but the first, which must be safe;
        0 to 1.
    restart_share
        Share of that time in which further patterns are begun; in the rest the best of them is shaken. 0 to 1.
    spread, most_idle
        Standard deviation of the logarithm of prices when a pattern is shaken, and how often nothing comes of it before
        that ends, 1 or more. A survey costs 313 million after half a minute of it, with more restarts 320.
    last_share
        Share of the time that is left for shaking it further, where there is no time for attacks; the rest is for a
        last audit. 0 to 1.
    poor_gap, clear_share
        Where the first ranges leave a gap of more than this, 0 to 1, there was no time for better ones, and ranges of
        moves that clear all respondents have this share of the time that is left, 0 to 1.
    raisings
        Cells of ranges that stay exposed, and their totals, can move by so many times what is required, one after the
        other, until no attack succeeds; 0 or more. Less than once was no use: attacks that nearly succeed take long.
    cell_prices
        What hiding any cell costs beside its own cost in these patterns, as parts of the median cost, in turns.
    nearly
        Of two such patterns whose costs differ by no more than this part, the one that hides fewer cells is better; 0
        to 1.
    """

    first_gap: float = 0.02
    easy_gap: float = 0.1
    first_share: float = 0.3
    oracle_share: float = 0.9
    least_share: float = 0.1
    judged_share: float = 0.6
    last_steps: float = 3.0
    rest_grace: float = 0.75
    last_grace: float = 0.9
    most_rounds: int = 60
    coalitions: int = 4
    opening_seconds: float = 0.01
    all_coalitions: int = 64
    last_targets: int = 3
    colours: int = 8
    restarts: int = 16
    clearance_share: float = 0.6
    restart_share: float = 0.5
    spread: float = 0.3
    most_idle: int = 10
    last_share: float = 0.8
    poor_gap: float = 0.9
    clear_share: float = 0.8
    raisings: tuple[float, ...] = (1.0, 2.0, 4.0)
    cell_prices: tuple[float, ...] = (4.0, 16.0, 1.0)
    nearly: float = 0.05

    def __post_init__(self) -> None:
        shares = ("first_gap", "first_share", "oracle_share", "least_share", "judged_share", "last_grace", "easy_gap")
        ranges: dict[str, tuple[float, float | None]] = dict.fromkeys(
            (
                *shares,
                "rest_grace",
                "clearance_share",
                "restart_share",
                "last_share",
                "clear_share",
                "poor_gap",
                "nearly",
            ),
            (0.0, 1.0),
        )
        check_ranges(
            self,
            **ranges,
            **dict.fromkeys(
                ("most_rounds", "coalitions", "all_coalitions", "last_targets", "colours", "restarts", "most_idle"),
                (1, None),
            ),
        )


RESPONDENTS = RespondentParameters()
