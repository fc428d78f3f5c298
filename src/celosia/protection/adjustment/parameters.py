"""Sizes and seconds that steer the search for an adjusted table. They change how soon it ends, never what is safe."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class AdjustmentParameters:
    """How hard adjustment searches.

    Parameters
    ----------
    many_sides
        With more split cells than this, blocks of sides are freed before the tree of the whole problem: below it the
        tree alone is faster. 0 or more.
    block_sides
        So many split cells choose their sides at a time in a block: the program is solved within seconds. 1 or more.
    block_seconds
        Seconds for one block. 0 or more.
    fruitless_blocks
        Blocks end after so many in a row without a better table. 1 or more.
    first_gap
        A tree that looks for any table ends within this share of its bound. From 0 to 1.
    windows
        So many units around a solution of the relaxation are searched for whole numbers, one after the other: most are
        found in the first. Each 1 or more.
    many_cells
        With more cells than this, squares are rounded leaf by leaf before a linear program over single units is tried,
        which has as many columns as units. 0 or more.
    fractional_share
        Where a larger share of the cells is not whole, totals are computed from rounded leaves: neighbourhoods of so
        many cells would be most of the table. From 0 to 1.
    neighbourhood_seconds
        Seconds for the whole numbers of one neighbourhood. 0 or more.
    most_unit_steps
        A program over steps of one unit has at most so many columns. 1 or more.
    many_balance_rows
        With more balance rows than this, the interior-point method is faster than the simplex method: 7 s against 54 s
        with 7,000 rows. 0 or more.
    balance_rounds
        So many times violated balance rows are separated; the last rounds add next to nothing. 1 or more.
    conflict_seconds
        Seconds for the cells that make a problem infeasible. 0 or more.
    """

    many_sides: int = 400
    block_sides: int = 40
    block_seconds: float = 20.0
    fruitless_blocks: int = 6
    first_gap: float = 0.5
    windows: tuple[int, ...] = (1, 3, 10)
    many_cells: int = 10_000
    fractional_share: float = 0.02
    neighbourhood_seconds: float = 20.0
    most_unit_steps: int = 60_000
    many_balance_rows: int = 2_000
    balance_rounds: int = 8
    conflict_seconds: float = 10.0

    def __post_init__(self) -> None:
        shares = dict.fromkeys(("first_gap", "fractional_share"), (0.0, 1.0))
        whole = ("block_sides", "fruitless_blocks", "windows", "most_unit_steps", "balance_rounds")
        check_ranges(self, **shares, **dict.fromkeys(whole, (1, None)))


ADJUSTMENT = AdjustmentParameters()
