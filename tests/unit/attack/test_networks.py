from __future__ import annotations

import numpy as np

from celosia.attack.networks import flow_answers
from celosia.attack.parts import parts_of
from celosia.attack.questions import Answers, Questions
from celosia.attack.system import ENDLESS, System
from celosia.attack.verification import verified

from .conftest import MakeSystem

SQUARE = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]


def asked(system: System, limit: int = ENDLESS) -> Answers:
    """Return how far every cell goes down and up."""
    columns = np.repeat(np.arange(len(system)), 2)
    upward = np.tile([False, True], len(system))
    return flow_answers(system, parts_of(system), Questions(columns, upward, np.full(len(columns), limit)))


def test_the_narrowest_of_a_way_around_says_how_far(system: MakeSystem) -> None:
    """Pushing the first cell up takes from its neighbours and gives to the opposite corner."""
    table = system(SQUARE, [8, 22, 17, 12], [None] * 4)
    answers = asked(table)
    assert answers.reach.tolist() == [8, 17, 17, 8, 17, 8, 8, 17]
    assert answers.furthest.all()
    assert verified(table, answers).all()


def test_the_flow_is_a_table(system: MakeSystem) -> None:
    table = system(SQUARE, [8, 22, 17, 12], [None] * 4)
    up = asked(table)[1]
    assert dict(zip(up.columns.tolist(), up.moves.tolist(), strict=True)) == {0: 17, 1: -17, 2: -17, 3: 17}


def test_nobody_goes_further_than_he_is_asked_to(system: MakeSystem) -> None:
    answers = asked(system(SQUARE, [8, 22, 17, 12], [None] * 4), limit=5)
    assert answers.reach.tolist() == [5] * 8
    assert answers.furthest.all()


def test_a_room_of_its_own_stops_a_cell(system: MakeSystem) -> None:
    answers = asked(system(SQUARE, [8, 22, 17, 12], [3, None, None, None]))
    assert answers.reach.tolist()[:2] == [8, 3]


def test_without_an_end_the_reach_has_none(system: MakeSystem) -> None:
    answers = asked(system(SQUARE, [None] * 4, [None] * 4))
    assert (answers.reach >= ENDLESS).all()


def test_flows_join_and_turn_back_where_the_first_way_was_wrong(system: MakeSystem) -> None:
    """Two rows of three: the reach of a cell is a sum over ways that share cells."""
    rows = [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]]
    table = system(rows, [9, 4, 5, 9, 9, 9], [9, 9, 9, 9, 7, 2])
    answers = asked(table)
    assert answers[1].reach == 4 + 2
    assert verified(table, answers).all()


def test_cells_at_the_edge_flow_to_the_ground(system: MakeSystem) -> None:
    table = system([[1, 1, -1]], [3, 4, None], [None, None, 10])
    assert asked(table).reach.tolist() == [3, 14, 4, 13, 7, 10]
    assert verified(table, asked(table)).all()


def test_a_witness_that_breaks_a_relation_or_a_room_is_not_verified(system: MakeSystem) -> None:
    table = system(SQUARE, [8, 22, 17, 12], [None] * 4)
    columns, ends = np.array([0, 1, 2, 3]), np.array([0, 4])

    def sound(*moves: int) -> bool:
        one = np.ones(1, dtype=np.int64)
        return bool(verified(table, Answers(one * moves[0], one, one > 0, one - 1, ends, columns, np.array(moves)))[0])

    assert sound(17, -17, -17, 17)
    assert not sound(18, -18, -18, 18)
    assert not sound(17, -17, -17, 16)
