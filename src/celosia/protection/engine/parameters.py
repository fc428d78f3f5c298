"""Parameters of the search for a suppression pattern: shares of time, numbers of attempts, thresholds of effort.

None of them decides what is safe or what a bound is worth; they decide how soon a good pattern is found. What counts as
zero, reached or violated stands in `celosia.tolerance`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields


@dataclass(frozen=True, slots=True)
class CutParameters:
    """Effort of separation.

    Parameters
    ----------
    least_share
        Share by which every cell of a network counts as hidden when its minimum cuts are looked for, so that cuts with
        few other cells are preferred; 0 to 1, far below a violation that counts.
    enough_cuts
        Cuts from networks of some relations with which attackers' linear programs can wait; 1 or more.
    least_ratio
        Attackers' bounds in the second program of a subproblem end at the level divided by a cell's multiplier, which
        is taken for no smaller than this; above 0.
    most_colours
        Colours of relations, each of which covers every cell at most once, of which two and two form networks.
    sides_a_round, columns_a_round
        Requirements, and other columns, for which kernel coordinates are asked for a cut in one round, at most.
    largest_tableau
        Entries of a tableau of kernel coordinates up to which points are separated by its rows; 8 bytes each, and some
        seconds for the first basis of more.
    exchanges, exchanges_at_once, least_fall
        Pivots by which one row of a tableau is made cheaper: so many times so many, as long as they leave no more than
        this share of its price, 0 to 1.
    weight_of_forced
        What forced columns weigh in rows of others, where they make the cut say nothing: more than any violation.
    rows_a_tableau, cuts_a_round
        Rows of one tableau that become cuts, and deepest cuts of all tableaux that one round adds, at most: with more
        the master takes longer than the separation.
    even_share, few_cuts
        Share by which every column counts as hidden when tableaux are chosen, 0 to 1: combinations of few columns are
        preferred, whose cuts are deeper. It is halved, down to `least_share`, where a round finds so few cuts.
    many_lines
        Cuts from single relations, or from few, with which a round of separation in kernel coordinates needs no others.
    sums_a_round, sum_violation
        Cuts from sums of few relations that a round adds, at most, and the violation, 0 to 1, below which they are not
        worth adding.
    steps_of_sums, longest_sum, share_in_sums
        Relations that such a sum takes beside the first, and columns that it has, at most; and the share by which every
        column counts as hidden while it is looked for, 0 to 1.
    kernel_work, least_programs
        Columns times degrees of freedom of all programs of either kind in one round, about a second; but so many
        programs at least.
    tableau_work, least_rows
        The same for rows of tableaux that are made cheaper, and their least number.
    inward, mean_weight
        How far from the last point towards the mean of earlier ones points are separated in kernel coordinates, and
        the weight of the last point in that mean; 0 to 1.
    most_moves, most_scaled
        Moves of attackers' programs that are kept for other patterns and requirements, some hundred bytes each, and by
        how much they are scaled up, 1 or more: rounding errors grow as much.
    longest_chain
        Relations in a chain by which a cell is determined; longer ones are left to other cuts.
    patience, patience_in_kernel
        Solutions of the master in a row at which a cut is slack before it leaves the master; 1 or more. Separation in
        kernel coordinates finds so many cuts that the master would take most of the time if they stayed.
    zero_half_rows, zero_half_sums, zero_half_cuts
        Tightest rows that are combined, sums of them that are halved, and most violated zero-half cuts that are
        returned, each at most.
    zero_half_violation
        A zero-half cut that is violated by less is not worth adding; 0 to 1.
    zero_half_coefficient
        Zero-half cuts with larger coefficients are left out: they are dense, and weak.
    """

    least_share: float = 1e-4
    enough_cuts: int = 5
    least_ratio: float = 0.05
    most_colours: int = 10
    sides_a_round: int = 60
    columns_a_round: int = 60
    largest_tableau: int = 10_000_000
    exchanges: int = 10
    exchanges_at_once: int = 3
    least_fall: float = 0.9
    weight_of_forced: float = 10.0
    rows_a_tableau: int = 150
    cuts_a_round: int = 150
    even_share: float = 0.03
    few_cuts: int = 20
    many_lines: int = 50
    sums_a_round: int = 600
    sum_violation: float = 0.01
    steps_of_sums: int = 10
    longest_sum: int = 24
    share_in_sums: float = 0.01
    kernel_work: int = 12_000_000
    least_programs: int = 5
    tableau_work: int = 40_000_000
    least_rows: int = 15
    inward: float = 0.7
    mean_weight: float = 0.2
    most_moves: int = 5000
    most_scaled: float = 10.0
    longest_chain: int = 200
    patience: int = 3
    patience_in_kernel: int = 1
    zero_half_rows: int = 600
    zero_half_sums: int = 400
    zero_half_cuts: int = 40
    zero_half_violation: float = 1e-2
    zero_half_coefficient: float = 8.0

    def __post_init__(self) -> None:
        _check_shares(self, "share_in_sums", "sum_violation")
        _check_shares(self, "least_share", "zero_half_violation", "inward", "mean_weight", "even_share", "least_fall")
        _check_least(self, enough_cuts=1, patience=1, patience_in_kernel=1, most_moves=1, most_scaled=1)


@dataclass(frozen=True, slots=True)
class HeuristicParameters:
    """Effort of the primal heuristics.

    Parameters
    ----------
    most_built
        Columns up to which patterns are constructed by linear programs; larger ones would take too long each.
    small_part
        Columns of a component up to which reverse delete is quick even where it is no network.
    restarts, later_restarts
        Reverse deletes with perturbed weights in a row without a better pattern that end the restarts, at the root and
        later.
    spread
        Standard deviation of the logarithm of perturbed weights.
    dear
        A column whose reduced cost exceeds this part of the bound is left out of constructions.
    constructions, later_constructions
        Constructed patterns in a row that are no better, which end the construction, at the root and later.
    small_gap
        Relative gap, 0 to 1, from which on constructions at the root end as soon as later ones do: a tree closes it.
    construction_share
        Share of the time that is left for constructing patterns; 0 to 1.
    joint_share, later_joint_share
        Share of the time that is left for joint moves, where kernel coordinates are few, at the root and later; 0 to 1.
    cleaning_share
        Share of the time that is left for reverse delete of a pattern that was extended in haste; 0 to 1.
    most_programs
        Linear programs that showing one cell is worth in reverse delete; a cell that takes more stays hidden.
    least_rerouted
        Part of its level that a witness keeps when it is led round a cell, at least; 0 to 1. It is scaled up by the
        inverse, and rounding errors with it.
    longest_detour
        How far cells may move, as a multiple of the cell that a witness is led round.
    least_move
        Slope scaling takes no move for smaller than this part of the level; above 0, up to 1.
    price_of_hidden
        What a hidden cell costs in a construction, as a part of the median price: short moves are preferred.
    least_price
        What cells without cost cost in a construction, for the same reason.
    most_paths
        Paths of a flow by which one requirement of a network is met, at most; 1 or more. Most need one or two.
    trust, least_part
        How far the master's point is believed: a cell that it hides fully costs ``1 - trust + least_part`` of its cost;
        0 to 1 each.
    starts, start_spread
        Constructions from scratch before neighbourhoods are searched, and by how much the spread of prices grows from
        one to the next.
    spreads, raises
        Standard deviations of the logarithm of prices in a neighbourhood, and the most by which prices of forgotten
        cells rise, as multiples; one of each is drawn. Constructions from scratch use the last spread.
    forgotten
        Smallest and largest share of the hidden cells that a neighbourhood forgets; 0 to 1.
    likely
        Columns of the small construction, as a multiple of those that the point hides.
    mostly
        Share of constructions that use those alone: they are faster, and hardly worse; 0 to 1.
    tolerated
        A pattern that is dearer than the best by no more than this part is still a place to start from; 0 to 1.
    """

    most_built: int = 4000
    small_part: int = 40
    restarts: int = 3
    later_restarts: int = 2
    spread: float = 0.3
    dear: float = 0.1
    constructions: int = 25
    later_constructions: int = 4
    small_gap: float = 0.005
    construction_share: float = 0.2
    joint_share: float = 0.5
    later_joint_share: float = 0.2
    cleaning_share: float = 0.5
    most_programs: int = 60
    least_rerouted: float = 0.1
    longest_detour: float = 100.0
    least_move: float = 0.2
    price_of_hidden: float = 1e-4
    least_price: float = 1e-9
    most_paths: int = 500
    trust: float = 0.95
    least_part: float = 0.01
    starts: int = 4
    start_spread: float = 0.1
    spreads: tuple[float, ...] = (0.0, 0.15, 0.4)
    raises: tuple[float, ...] = (0.2, 2.0)
    forgotten: tuple[float, float] = (0.02, 0.35)
    likely: float = 1.5
    mostly: float = 0.7
    tolerated: float = 0.01

    def __post_init__(self) -> None:
        shares = ("dear", "construction_share", "cleaning_share", "least_rerouted", "trust", "least_part", "mostly")
        _check_shares(self, *shares, "least_move", "forgotten", "tolerated", "small_gap")
        _check_least(self, restarts=1, later_restarts=1, constructions=1, later_constructions=1, most_paths=1)


@dataclass(frozen=True, slots=True)
class MoveParameters:
    """Effort of the moves of few cells by which product tables get their first pattern.

    Parameters
    ----------
    least_columns
        Columns from which a problem that is no network begins with moves; smaller ones are solved as quickly without.
    most_leaves
        Leaves of a dimension up to which its paths are listed: time and memory grow with pairs of them.
    width, wide_width
        Parts of a move that are kept from one dimension to the next, at first and where no move was found; 1 or more.
        Fewer than 8 make patterns 4 to 5 percent dearer, more change nothing.
    longest
        Cells that a witness moves at most: in four dimensions, four codes in each.
    rising_leaves, falling_leaves, falling_leaves_of_groups
        Leaves that may rise below a group or total; leaves that may fall instead of a leaf, and instead of one of those
        below a group. The nearest come first, and of those the ones with most room.
    wide
        So many times as many leaves where no move was found.
    tries, wide_tries, later_tries
        Paths that are tried for one move, at first, where none was found, and in pivots and swaps; some 50 ns each.
    partners
        Witnesses with which one is combined to free it of a cell.
    users
        A cell that more witnesses use stays hidden.
    rounds
        How often pivots and swaps go over all cells: once with one witness for both sides of a requirement, then with
        one for each.
    chunk
        Searches between two looks at the clock; some 50 microseconds each.
    share
        Share of the time that is left for pivots and swaps; 0 to 1.
    hidden_price
        What a hidden cell costs in a move, as a part of the median cost: moves of few cells are preferred.
    cell_prices
        What hiding any cell costs beside its own cost, as parts of the median cost: one search for each, of which the
        cheapest pattern is kept. Some tables lose less where few cells are hidden than where cheap ones are.
    most_priced_twice
        Columns up to which there is time for more than the first of these searches.
    """

    least_columns: int = 300
    most_leaves: int = 4000
    width: int = 8
    wide_width: int = 64
    longest: int = 256
    rising_leaves: int = 24
    falling_leaves: int = 64
    falling_leaves_of_groups: int = 8
    wide: int = 8
    tries: int = 50_000
    wide_tries: int = 2_000_000
    later_tries: int = 5_000
    partners: int = 20
    users: int = 300
    rounds: int = 3
    chunk: int = 200
    share: float = 0.15
    hidden_price: float = 1e-6
    cell_prices: tuple[float, ...] = (0.0, 1.0)
    most_priced_twice: int = 60_000

    def __post_init__(self) -> None:
        _check_shares(self, "share", "hidden_price")
        _check_least(self, width=1, wide_width=1, longest=4, rising_leaves=1, falling_leaves=1, wide=1, chunk=1)


@dataclass(frozen=True, slots=True)
class EngineParameters:
    """Effort of branch and cut.

    Parameters
    ----------
    purge_every
        Rounds of cutting planes after which slack cuts leave the master; 1 or more. Deleting rows costs a
        factorisation, so not after every round.
    least_rise, rounds_without_rise
        Cutting planes end when the bound has risen by less than this part of itself (0 to 1) in so many rounds (1 or
        more): it is tailing off, and heuristics or a tree are worth more.
    rounds_with_zero_half
        The same number at the root where zero-half cuts are added beside separation in kernel coordinates: the bound
        rests for some rounds there, and rises again. jjtabeltest3 of CSPLIB ended 5 % lower after 6.
    columns_nearby, steps_nearby, most_steps_nearby, gap_nearby
        Columns from which masters beside joint moves are solved nearly, by a first-order method, as long as that raises
        the bound, since the simplex method takes seconds there; its steps each, and up to which number they are doubled
        as long as few cuts are found; and the relative gap, 0 to 1, from which on masters are solved to the end: bounds
        are a thousandth too low.
    cutting_share, cutting_share_without_pattern
        Share of the time that is left for one run of cutting planes, once a safe pattern is known and before; 0 to 1.
    cutting_share_beside_moves, cutting_share_nearby
        The same where joint moves find patterns, which need no point that is nearly safe, and where masters are solved
        nearly, so that the bound rises sooner; 0 to 1.
    most_required
        Sensitive columns for each degree of freedom up to which patterns come from joint moves, 0 to 1; with more, one
        move breaks the bounds of some of them, and patterns are constructed requirement by requirement.
    most_freedom
        Degrees of freedom for each column up to which patterns come from joint moves, 0 to 1: with more, relations are
        sparse, and the least-cost moves of single requirements short. table3 of CSPLIB has 0.48, ninenew 0.27.
    turn_share, least_turns, turn_memory
        Where joint moves find patterns, cutting planes, integer masters and joint moves take turns: the share of the
        time that is left for one turn, the share of the time that each of them gets whatever it brings, and after how
        many seconds of its work, as a share of the time so far, what it brought counts half; 0 to 1.
    presolve_share, presolve_seconds
        Share of the time that is left, or seconds, whichever is more, for dropping requirements that the forced cells
        meet by themselves.
    grace
        How far on the way from the time limit to the last moment a first pattern may still be found; 0 to 1.
    many_subproblems
        Columns times subproblems from which cutting takes long, so that a first pattern comes before it.
    first_attackers, more_attackers
        Attackers by which each side of a sensitive cell of a large network is separated at first, and by how many more
        whenever a point misses some that wait; 1 or more each. Of a hundred attackers a few decide.
    rounds_share, most_rounds
        Share of the time (0 to 1), and number, of integer masters that are solved one after another before a tree with
        lazy cuts takes the rest.
    first_rounds
        Integer masters that go to the solver of the linear master, which opens faster than the tree's.
    round_points
        Whether points of the relaxation are turned into patterns; without it patterns come from the tree alone.
    most_merged, most_eliminated
        Columns of a component up to which those that move together are merged, and entries of the dense array in which
        relations are eliminated for that: more would take seconds, and much memory.
    explaining_seconds
        Least and most seconds for finding out which cells to free where nothing is safe, and again for what that costs:
        as many as are left, within these.
    cuts
        Effort of separation.
    heuristics
        Effort of the primal heuristics.
    moves
        Effort of moves of few cells.
    """

    purge_every: int = 5
    least_rise: float = 1e-4
    rounds_without_rise: int = 6
    rounds_with_zero_half: int = 15
    columns_nearby: int = 1000
    steps_nearby: int = 400
    most_steps_nearby: int = 1600
    gap_nearby: float = 0.1
    cutting_share: float = 0.1
    cutting_share_without_pattern: float = 0.25
    cutting_share_beside_moves: float = 0.25
    cutting_share_nearby: float = 0.18
    most_required: float = 0.5
    most_freedom: float = 0.4
    turn_share: float = 0.1
    least_turns: float = 0.1
    turn_memory: float = 0.1
    presolve_share: float = 0.1
    presolve_seconds: float = 0.5
    grace: float = 0.5
    many_subproblems: int = 1_000_000
    first_attackers: int = 1
    more_attackers: int = 1
    rounds_share: float = 0.5
    most_rounds: int = 40
    first_rounds: int = 5
    round_points: bool = True
    most_merged: int = 20_000
    most_eliminated: int = 40_000_000
    explaining_seconds: tuple[float, float] = (1.0, 5.0)
    cuts: CutParameters = field(default_factory=CutParameters)
    heuristics: HeuristicParameters = field(default_factory=HeuristicParameters)
    moves: MoveParameters = field(default_factory=MoveParameters)

    def __post_init__(self) -> None:
        _check_shares(
            self,
            "least_rise",
            "gap_nearby",
            "cutting_share",
            "cutting_share_without_pattern",
            "cutting_share_beside_moves",
            "cutting_share_nearby",
            "most_required",
            "most_freedom",
            "turn_share",
            "least_turns",
            "turn_memory",
            "presolve_share",
            "grace",
            "rounds_share",
        )
        _check_least(self, purge_every=1, rounds_without_rise=1, rounds_with_zero_half=1)
        _check_least(self, first_attackers=1, more_attackers=1)


def _check_shares(parameters: object, *names: str) -> None:
    """Refuse parameters that are no share, 0 to 1."""
    for name in names:
        value = getattr(parameters, name)
        if not all(0 <= one <= 1 for one in (value if isinstance(value, tuple) else (value,))):
            message = f"{name} must be between 0 and 1, not {value}"
            raise ValueError(message)


def _check_least(parameters: object, **least: float) -> None:
    """Refuse parameters that are smaller than makes sense; all others that are numbers may not be negative."""
    for one in fields(parameters):  # type: ignore[arg-type]
        value = getattr(parameters, one.name)
        if isinstance(value, int | float) and value < least.get(one.name, 0):
            message = f"{one.name} must be {least.get(one.name, 0)} or more, not {value}"
            raise ValueError(message)


PARAMETERS = EngineParameters()
