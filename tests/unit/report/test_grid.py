from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from celosia.table.grid import views
from celosia.table.relations import Relations

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.risk.risk import Risk
    from celosia.table.grid import GridBlock


def test_two_dimensions_make_one_block(two_way: Risk) -> None:
    (view,) = views(two_way.table)
    (block,) = view.blocks()
    assert [head.label for head in block.rows()] == ["Total", "C", "C10", "C11", "F"]
    assert [head.label for head in block.columns()] == ["Total", "North", "Alten", "Brink", "South"]
    assert [head.depth for head in block.rows()] == [0, 1, 2, 2, 1]
    assert [head.heads_parts for head in block.rows()] == [True, True, False, False, False]
    assert block.name == ""


def test_a_node_goes_by_all_its_names(two_way: Risk) -> None:
    (block,) = views(two_way.table)[0].blocks()
    assert [head.others for head in block.columns()] == [(), (), (), (), ("Jorvik",)]


def test_every_cell_stands_at_its_codes_and_only_there(two_way: Risk) -> None:
    (block,) = views(two_way.table)[0].blocks()
    grid = _grid(block)
    assert sorted(grid[grid >= 0]) == list(range(len(two_way)))
    assert two_way.table.label(int(grid[2, 3])) == "C10 x Brink"
    assert grid[3, 3] == -1  # nobody there


def test_inner_dimensions_make_a_block_each_the_total_first(three_way: Risk) -> None:
    (view,) = views(three_way.table)
    blocks = list(view.blocks())
    assert [block.name for block in blocks] == ["size Total", "size small", "size large"]
    cells = np.concatenate([_grid(block).ravel() for block in blocks])
    assert sorted(cells) == list(range(len(three_way)))


def test_linked_tables_are_shown_one_by_one_and_share_their_totals(linked: Risk) -> None:
    times = "\N{MULTIPLICATION SIGN}"
    found = views(linked.table)
    assert [view.name for view in found] == [
        f"turnover by industry {times} size",
        f"turnover by industry {times} region",
        f"export by industry {times} size",
        f"export by industry {times} region",
    ]
    by_size, by_region = found[:2]
    shared = np.intersect1d(by_size.cells, by_region.cells)
    assert {linked.table.label(int(cell)) for cell in shared} == {
        f"turnover: {c}" for c in ("Total", "C", "C10", "C11", "F")
    }
    assert len(np.unique(np.concatenate([view.cells for view in found]))) == len(linked)


def test_variables_stand_across_where_there_is_one_dimension(linked: Risk) -> None:
    one = linked.table.codes[:, 1:].max(axis=1) == 0
    table = replace(
        linked.table,
        axes=linked.table.axes[:1],
        codes=linked.table.codes[one][:, :1],
        variable=linked.table.variable[one],
        amounts=linked.table.amounts[one],
        relations=Relations.none(int(one.sum())),
    )
    (view,) = views(table)
    (block,) = view.blocks()
    assert view.name == "turnover, export by industry"
    assert [head.label for head in block.columns()] == ["turnover", "export"]
    assert block.shape == (5, 2)


def test_bare_problems_have_no_views(bare: Risk) -> None:
    assert views(bare.table) == []


def test_a_corner_of_a_block_is_cut_out(two_way: Risk) -> None:
    (block,) = views(two_way.table)[0].blocks()
    assert np.array_equal(block.cells(2, 3), _grid(block)[:2, :3])


def _grid(block: GridBlock) -> NDArray[np.int64]:
    return block.cells(*block.shape)
