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
    most_split_cells
        Side patterns are written down for relations with at most so many split cells, 2 to the power of their number.
        0 or more.
    most_patterns
        With more side patterns than this in all, they are left out: the relaxation would be slow. 0 or more.
    root_rounds
        So many times held rows are separated before the first choice of a side; `balance_rounds` times after each
        later one. 1 or more.
    held_rows
        So many held rows at most are added to the relaxation with side patterns at a time. 1 or more.
    first_visits, visits
        The tree with side patterns rounds the relaxations of so many nodes to tables, and then of every so manyth: a
        table costs as much time as a node. 0 or more, and 1 or more.
    uneven_nodes
        Where levels differ by side and the table is no network, that tree ends after so many nodes. 0 or more.
    larger_promise
        What the better side of a cell counts beside the worse where the tree branches. From 0 to 1.
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
    most_split_cells: int = 9
    most_patterns: int = 12_000
    root_rounds: int = 32
    held_rows: int = 200
    first_visits: int = 40
    visits: int = 5
    uneven_nodes: int = 40
    larger_promise: float = 0.2
    conflict_seconds: float = 10.0

    def __post_init__(self) -> None:
        shares = dict.fromkeys(("first_gap", "fractional_share", "larger_promise"), (0.0, 1.0))
        whole = (
            "block_sides",
            "fruitless_blocks",
            "windows",
            "most_unit_steps",
            "balance_rounds",
            "root_rounds",
            "held_rows",
        )
        check_ranges(self, **shares, **dict.fromkeys(whole, (1, None)))


ADJUSTMENT = AdjustmentParameters()
