from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.unit.attack.conftest import MakeSystem

from celosia.attack.subproblems.flows import network as networks
from celosia.attack.subproblems.flows.network import solve_by_flows
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.subproblems.verification import check_claims, verify_witnesses
from celosia.attack.system.decomposition import Parts, decompose
from celosia.attack.system.system import System
from celosia.tolerance import ENDLESS

SQUARE = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]


def flow_answers(system: System, parts: Parts, questions: Questions) -> Answers:
    """Return the answers of `solve_by_flows`, in the order of the questions."""
    found = list(solve_by_flows(system, parts, questions))
    answers = Answers.join([answers for _, answers in found])
    return answers.take(np.argsort(np.concatenate([places for places, _ in found]), kind="stable"))


def asked(system: System, limit: int = ENDLESS) -> Answers:
    """Return how far every cell goes down and up."""
    columns = np.repeat(np.arange(len(system)), 2)
    upward = np.tile([False, True], len(system))
    return flow_answers(system, decompose(system), Questions(columns, upward, np.full(len(columns), limit)))


def test_the_narrowest_of_a_way_around_says_how_far(system: MakeSystem) -> None:
    """Pushing the first cell up takes from its neighbours and gives to the opposite corner."""
    table = system(SQUARE, [8, 22, 17, 12], [None] * 4)
    answers = asked(table)
    assert answers.reach.tolist() == [8, 17, 17, 8, 17, 8, 8, 17]
    assert answers.furthest.all()
    assert verify_witnesses(table, answers).all()


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
    assert verify_witnesses(table, answers).all()


def test_cells_at_the_edge_flow_to_the_ground(system: MakeSystem) -> None:
    table = system([[1, 1, -1]], [3, 4, None], [None, None, 10])
    assert asked(table).reach.tolist() == [3, 14, 4, 13, 7, 10]
    assert verify_witnesses(table, asked(table)).all()


def test_a_table_answers_every_question_that_it_pushes_to_its_end(system: MakeSystem) -> None:
    """In a square of four cells two tables, one in each direction, say everything."""
    table = system(SQUARE, [9, 9, 9, 9], [9, 9, 9, 9])
    answers = asked(table)
    assert answers.reach.tolist() == [9] * 8
    assert answers.n_tables == 2
    assert verify_witnesses(table, answers).all()
    assert check_claims(
        Questions(np.repeat(np.arange(4), 2), np.tile([False, True], 4), np.full(8, ENDLESS)), answers
    ).all()


def test_a_cell_that_does_not_move_has_no_table(system: MakeSystem) -> None:
    answers = asked(system(SQUARE, [0, 5, 5, 0], [5, 0, 0, 5]))
    assert answers.reach.tolist() == [0, 5, 5, 0, 5, 0, 0, 5]
    assert ((answers.table < 0) == (answers.reach == 0)).all()


def furthest(matrix: NDArray[np.int64], down: list[int], up: list[int], cell: int, sign: int) -> int:
    """Return how far a cell moves, one augmenting way after the other, in Python's integers.

    Every cell stands in a row and a column: the first and the last of its two relations, which are its two nodes.
    """
    ends = [(int(rows[0]), int(rows[-1])) for rows in (np.flatnonzero(column) for column in matrix.T)]
    moves = [0] * len(ends)
    source, sink = ends[cell] if sign < 0 else ends[cell][::-1]
    got, most = 0, up[cell] if sign > 0 else down[cell]
    while got < most:
        way: dict[int, tuple[int, int]] = {}
        waiting = [source]
        for node in waiting:
            for arc, (tail, head) in enumerate(ends):
                for here, there, turn in ((tail, head, 1), (head, tail, -1)):
                    room = up[arc] - moves[arc] if turn > 0 else down[arc] + moves[arc]
                    if here == node and arc != cell and there not in way and there != source and room > 0:
                        way[there] = (arc, turn)
                        waiting.append(there)
        if sink not in way:
            break
        steps, node = [], sink
        while node != source:
            arc, turn = way[node]
            steps.append((arc, turn))
            node = ends[arc][0] if turn > 0 else ends[arc][1]
        amount = min([most - got, *(up[a] - moves[a] if t > 0 else down[a] + moves[a] for a, t in steps)])
        for arc, turn in steps:
            moves[arc] += turn * amount
        got += amount
    return got


@pytest.mark.parametrize("seed", range(20))
def test_flows_are_the_largest(system: MakeSystem, seed: int) -> None:
    """Random networks, sparse and dense, with rooms small, large, zero and without end."""
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 8, 2).tolist()
    there = np.argwhere(rng.random((rows, columns)) < rng.choice([0.5, 0.8, 1.0]))
    matrix = np.zeros((rows + columns, len(there)), dtype=np.int64)
    matrix[there[:, 0], np.arange(len(there))] = 1
    matrix[rows + there[:, 1], np.arange(len(there))] = 1
    scale = int(rng.choice([3, 1_000, 10**14]))
    down, up = (np.where(rng.random(len(there)) < 0.1, ENDLESS, rng.integers(0, scale, len(there))) for _ in "du")
    rooms = ([None if room == ENDLESS else room for room in side.tolist()] for side in (down, up))
    table = system(matrix[matrix.any(axis=1)].tolist(), *rooms)
    parts = decompose(table)
    free = np.flatnonzero(parts.component >= 0)
    assert parts.network.all()
    if not len(free):
        return
    limits = np.full(2 * len(free), 2 * scale)
    questions = Questions(np.repeat(free, 2), np.tile([False, True], len(free)), limits)
    answers = flow_answers(table, parts, questions)
    cells = table.cells[questions.columns].tolist()
    sides = [(cell, 1 if up else -1) for cell, up in zip(cells, questions.upward.tolist(), strict=True)]
    most = [furthest(matrix, down.tolist(), up.tolist(), cell, sign) for cell, sign in sides]
    assert answers.reach.tolist() == np.minimum(most, limits).tolist()
    assert (verify_witnesses(table, answers) & check_claims(questions, answers)).all()


def test_pieces_begin_with_a_component_unless_it_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(networks, "_PIECE", 4)
    component = np.repeat(np.arange(5, dtype=np.int32), [3, 3, 1, 10, 2])
    assert networks._split_by_component(component).tolist() == [0, 6, 8, 12, 17, 19]


def test_a_witness_that_breaks_a_relation_or_a_room_is_not_verified(system: MakeSystem) -> None:
    table = system(SQUARE, [8, 22, 17, 12], [None] * 4)
    columns, ends = np.array([0, 1, 2, 3]), np.array([0, 4])

    def sound(*moves: int) -> bool:
        one = np.ones(1, dtype=np.int64)
        return bool(
            verify_witnesses(table, Answers(one * moves[0], one, one > 0, one - 1, ends, columns, np.array(moves)))[0]
        )

    assert sound(17, -17, -17, 17)
    assert not sound(18, -18, -18, 18)
    assert not sound(17, -17, -17, 16)
    columns = np.array([0, 1, 2, 0])
    assert not sound(9, -17, -17, 8)
