"""Parameters of joint moves of a product table."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class JointMoveParameters:
    """Effort of the joint programs by which patterns of product tables are improved.

    Parameters
    ----------
    least_subproblems, most_columns
        Columns times sides of requirements from which joint programs are worth it: smaller problems are solved by
        cutting planes. Columns up to which one program holds the whole table: larger ones take too long.
    share
        Share of the time that is left for them; 0 to 1.
    few_targets
        Levels up to which the dual simplex method solves a program first; with more the interior-point method is
        faster, by far.
    damping
        A program is solved again for each of these, with prices divided by how far every cell moved plus this part of
        the median level: cells that hardly move become dear, so fewer are hidden.
    kept_price
        What a cell that is hidden anyway costs in a program, as a part of the median cost: short moves are preferred.
    highest_price
        Largest price of a cell, as a multiple of the median cost, so that programs are well scaled.
    missed_prices
        Joint moves one after the other serve what the earlier ones miss: what missing a level costs in each of them, as
        a multiple of the median cost. Where it is low, levels are left out that would hide dear cells in this
        direction, and may be cheaper in another. The last leave nothing out. A survey by four dimensions and tau-ARGUS'
        data by three cost 2 % less than where none did.
    hurried_missed_prices, columns_a_second
        The same in a first step for which there is less than a second for so many columns: programs that leave nothing
        out take half as long.
    cell_prices
        What hiding any cell costs beside its own cost, as parts of the median cost; one is drawn for every step.
    spreads
        Standard deviations of the logarithm of prices; one is drawn for every step after the first.
    afresh
        Share of the steps that draw the directions of moves again in place of keeping them; 0 to 1.
    tolerated
        A pattern that is dearer than the best by no more than this part is still a place to go on from; 0 to 1.
    most_idle
        Steps without a better pattern after which the search ends.
    block_share
        Share of the time that is left for a block of a table that is too large for one program, all having as much.
    window_leaves, window_price
        Leaves of every dimension in windows around a cell that no move of few cells serves, one window after the other,
        and what missing its level costs there, as a multiple of the median cost.
    """

    least_subproblems: int = 1_000_000
    most_columns: int = 25_000
    share: float = 0.85
    few_targets: int = 60
    damping: tuple[float, ...] = (1.0, 0.3, 0.1, 0.03, 0.01)
    kept_price: float = 1e-5
    highest_price: float = 1e4
    missed_prices: tuple[float, ...] = (30.0, 300.0, 1e7, 1e7)
    hurried_missed_prices: tuple[float, ...] = (1e7, 1e7, 1e7, 1e7)
    columns_a_second: int = 500
    cell_prices: tuple[float, ...] = (0.0, 1.0)
    spreads: tuple[float, ...] = (0.0, 0.1, 0.3)
    afresh: float = 0.2
    tolerated: float = 0.01
    most_idle: int = 40
    block_share: float = 0.5
    window_leaves: tuple[int, ...] = (3, 6, 12, 24, 48, 96)
    window_price: float = 1e7

    def __post_init__(self) -> None:
        shares = dict.fromkeys(("share", "afresh", "tolerated"), (0.0, 1.0))
        check_ranges(self, **shares, most_idle=(1, None), columns_a_second=(1, None))


JOINT_MOVES = JointMoveParameters()
