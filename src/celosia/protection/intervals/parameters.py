"""Parameters of interval publication; what counts as zero or reached stands in `celosia.tolerance`."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from celosia.arguments import check_ranges
from celosia.protection.engine.modes.parameters import SEARCH, ModeSearchParameters
from celosia.protection.intervals.admm.parameters import SPLITTING, SplittingParameters


@dataclass(frozen=True, slots=True)
class IntervalParameters:
    """How ranges are searched for and published.

    Parameters
    ----------
    search, splitting
        Those of branch and cut, and of the splitting method (ADMM).
    search_share, attacked_search_share
        Share of a time limit that goes into the search, 0 to 1; placing and auditing its ranges takes the rest. More
        where respondents attack: ranges that they have not attacked are worth little.
    start_seconds, start_share
        A suppression pattern to start from is searched for in so many seconds, 0 or more, or in this share of the time
        that is left, 0 to 1, if that is less.
    descent_columns, descent_entries
        Where cells form no networks, ranges of tables of so many columns, 1 or more, are found by a descent over moves,
        before cuts and after them: smaller ones are solved to the optimum by cuts alone. Not where levels times columns
        are more than the second, 1 or more: 8 bytes each.
    widths_part, cuts_share
        There the width model has this part of the time that is left, 0 to 1, and cuts of both ends end after this share
        of the time of a search; the last descent has the rest.
    first_cuts_share, attacked_share, attacked_cuts_share
        Where respondents attack, cuts of the first ranges, for outsiders, end after the first of these shares of the
        time, 0 to 1: the next search goes on with them. There a descent that meets what is needed against respondents
        has the second share of what is left, and cuts, whose bound is better with that, have the third of what is left
        then: seconds are enough.
    hidden_share
        A descent begins with the columns hidden that a fractional point hides by more than this share, 0 to 1.
    beside_share
        Share of the time that is left, 0 to 1, for cuts beside the columns that a descent has hidden; the next descent,
        from there, has the rest.
    descent_gain
        A descent ends after a round that gains less than this share of the cost, 0 to 1.
    late_moves
        Where no more than this share of the levels, 0 to 1, is without a move, these are found however late it is: the
        moves of all others would be in vain.
    splitting_dimensions
        Splitting is tried in tables of more dimensions than this, 1 or more: in a plane cuts are faster.
    splitting_size
        And with more cells times sensitive cells than this, 0 or more: with fewer, cuts find the optimum in seconds.
    splitting_widening
        Share by which ranges of the splitting method are widened, 0 to 1: more than placing takes away as rounding
        errors.
    widest_levels
        Ranges with a fixed cost each, where cells form no network and attackers' bounds are infinite, are no wider than
        so many largest levels, 1 or more: the link z <= UB x needs a finite bound.
    placing_margin
        By this share, and by so many units, the attacker's bounds are narrowed in which ranges are placed, 0 to 1:
        published widths are a little wider.
    many_attackers
        Against more attackers than so many, 1 or more, ranges are audited before it is asked what can be concluded:
        that takes several times as long, and there may be no time for it.
    single_step
        Ranges that are widened one by one grow by steps of so many counts, above 0.
    widening_grace
        They may be so late, on the way from the end of a search to its last moment, 0 to 1; the rest is then widened
        with all totals, at once.
    least_cost
        Widening a range costs at least this share of the dearest, 0 to 1, so that ranges without a cost are not widened
        at will.
    new_range
        Widening a cell that is no range yet, so that the audit finds ranges safe, counts so many times as much, 1 or
        more: rounding errors alone should not make new ranges.
    dearer
        Share by which ranges that are moved at random may cost more, 0 to 1: rounding their ends costs as much.
    rounding_loss
        Decimals are added until rounding ends outward costs no more than this share of the whole, 0 to 1.
    more_decimals
        So many more decimals than those of the table are tried, 1 or more.
    widening_rounds
        Audits after which ranges that are still unsafe are an error, 1 or more.
    shift_draws
        Vertices of shifts that are averaged, 1 or more: with widths that are multiples of a tenth, five make shifts
        multiples of a fiftieth.
    secret_bits
        Bits of a secret seed that is drawn, 32 or more.
    """

    search: ModeSearchParameters = SEARCH
    splitting: SplittingParameters = SPLITTING
    search_share: float = 0.8
    attacked_search_share: float = 0.9
    start_seconds: float = 10.0
    start_share: float = 0.25
    descent_columns: int = 250
    descent_entries: int = 20_000_000
    widths_part: float = 0.35
    cuts_share: float = 0.6
    first_cuts_share: float = 0.4
    attacked_share: float = 0.35
    attacked_cuts_share: float = 0.2
    hidden_share: float = 0.3
    beside_share: float = 0.6
    descent_gain: float = 0.002
    late_moves: float = 0.1
    splitting_dimensions: int = 2
    splitting_size: int = 100_000
    splitting_widening: float = 1e-6
    widest_levels: float = 1000.0
    placing_margin: float = 1e-5
    many_attackers: int = 8
    single_step: Fraction = Fraction(1, 1000)
    widening_grace: float = 0.5
    least_cost: float = 1e-6
    new_range: float = 8.0
    dearer: float = 1e-4
    rounding_loss: float = 1e-4
    more_decimals: int = 6
    widening_rounds: int = 50
    shift_draws: int = 5
    secret_bits: int = 64

    def __post_init__(self) -> None:
        shares = (
            "search_share",
            "attacked_search_share",
            "widening_grace",
            "splitting_widening",
            "placing_margin",
            "least_cost",
            "dearer",
            "rounding_loss",
            "start_share",
            "descent_gain",
            "late_moves",
            "first_cuts_share",
            "attacked_share",
            "attacked_cuts_share",
            "widths_part",
            "cuts_share",
            "hidden_share",
            "beside_share",
        )
        counts = (
            "splitting_dimensions",
            "more_decimals",
            "widening_rounds",
            "shift_draws",
            "widest_levels",
            "new_range",
            "descent_columns",
            "many_attackers",
            "descent_entries",
        )
        check_ranges(
            self, secret_bits=(32, None), **dict.fromkeys(shares, (0.0, 1.0)), **dict.fromkeys(counts, (1, None))
        )


INTERVALS = IntervalParameters()
"""The parameters of interval publication that suit all tables known so far."""
