from __future__ import annotations

import numpy as np
import pytest
from tests.unit.attack.conftest import MakeAttacker, MakeTable

from celosia import DataError
from celosia.attack.system.system import attacker_system
from celosia.table.fixed import INFINITE, Fixed
from celosia.tolerance import ENDLESS

SUM = [[-1, 1, 1]]


def test_rooms_are_distances_to_the_nearest_of_all_bounds(bare: MakeTable, attacker: MakeAttacker) -> None:
    one, other = attacker([None, 0, 1], [None, 9, 6]), attacker([0, 1, None], [10, None, None])
    found = attacker_system(bare(SUM, [7, 3, 4]), [(k.lower, k.upper) for k in (one, other)], names=["one", "other"])
    assert found.cells.tolist() == [0, 1, 2]
    assert found.down.tolist() == [7, 2, 3]
    assert found.up.tolist() == [3, 6, 2]


def test_cells_without_room_and_relations_among_them_are_left_out(bare: MakeTable, attacker: MakeAttacker) -> None:
    table = bare([[-1, 1, 1, 0, 0], [0, 0, 0, -1, 1]], [7, 3, 4, 5, 5])
    knows = attacker([7, 0, 0, 5, 5], [7, None, None, 5, 5])
    found = attacker_system(table, [(knows.lower, knows.upper)], names=["knows"])
    assert found.cells.tolist() == [1, 2]
    assert found.relations.tolist() == [0]
    assert found.matrix.toarray().tolist() == [[1, 1]]
    assert found.up.tolist() == [ENDLESS, ENDLESS]


def test_rooms_count_in_the_finest_decimal(bare: MakeTable, attacker: MakeAttacker) -> None:
    table = bare(SUM, [70, 30, 40], decimals=1)
    knows = attacker([6950, 2999, 4000], [7000, 3000, 4001], decimals=3)
    found = attacker_system(table, [(knows.lower, knows.upper)], names=["knows"])
    assert found.decimals == 3
    assert found.down.tolist() == [50, 1, 0]
    assert found.up.tolist() == [0, 0, 1]


def test_who_knows_that_values_are_whole_rounds_his_bounds_inwards(bare: MakeTable, attacker: MakeAttacker) -> None:
    knows = attacker([55, 29, 36], [79, 39, 41], decimals=1)
    found = attacker_system(
        bare(SUM, [7, 3, 4]), [(knows.lower, knows.upper)], names=["knows"], whole=np.ones(3, dtype=bool)
    )
    assert found.decimals == 0
    assert found.cells.tolist() == [0]
    assert (found.down.tolist(), found.up.tolist()) == ([1], [0])


@pytest.mark.parametrize(("lower", "upper"), [([8, 0, 0], [None] * 3), ([None] * 3, [None, 2, None])])
def test_bounds_that_the_table_refutes_are_refused_without_its_value(
    bare: MakeTable, attacker: MakeAttacker, lower: list[int | None], upper: list[int | None]
) -> None:
    knows = attacker(lower, upper)
    with pytest.raises(DataError, match=r"liar: does not hold the true value of 1 cells, the first being cell [01]"):
        attacker_system(bare(SUM, [7, 3, 4]), [(knows.lower, knows.upper)], names=["liar"])


def test_numbers_that_need_too_many_digits_are_refused(bare: MakeTable) -> None:
    """Whole numbers of 64 bits must hold every sum: what does not fit is an error, never a wrong answer."""
    lower = Fixed(np.array([0, 0, 0]), 18)
    upper = Fixed(np.full(3, INFINITE), 0)
    with pytest.raises(DataError, match="18 digits"):
        attacker_system(bare(SUM, [7, 3, 4]), [(lower, upper)], names=["fine"])
