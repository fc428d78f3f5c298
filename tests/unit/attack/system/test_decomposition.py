from __future__ import annotations

from tests.unit.attack.conftest import MakeSystem

from celosia.attack.system.decomposition import decompose

SQUARE = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]
"""Four cells of a table with all margins known."""


def test_a_cell_alone_in_a_relation_follows_and_others_after_it(system: MakeSystem) -> None:
    parts = decompose(system([[1, 0, 0], [1, 1, 0], [0, 1, 1]], [5, 5, 5], [5, 5, 5]))
    assert parts.component.tolist() == [-1, -1, -1]
    assert parts.peeled.tolist() == [0, 1, 2]
    assert len(parts) == 0


def test_what_shares_no_relation_is_apart(system: MakeSystem) -> None:
    parts = decompose(system([[1, 1, 0, 0], [0, 0, 1, 1]], [5] * 4, [5] * 4))
    assert len(parts) == 2
    assert [sorted(parts.members(k).tolist()) for k in range(2)] == [[0, 1], [2, 3]]
    assert parts.network.tolist() == [True, True]


def test_a_cell_in_no_relation_is_a_component_of_its_own(system: MakeSystem) -> None:
    parts = decompose(system([[1, 1, 0]], [5] * 3, [5] * 3))
    assert len(parts) == 2
    assert parts.component[2] >= 0


def test_two_dimensions_are_a_network_whose_arcs_join_a_row_and_a_column(system: MakeSystem) -> None:
    parts = decompose(system(SQUARE, [5] * 4, [5] * 4))
    assert parts.network.tolist() == [True]
    ends = [{int(parts.tail[k]), int(parts.head[k])} for k in range(4)]
    assert ends == [{0, 2}, {0, 3}, {1, 2}, {1, 3}]


def test_signs_that_no_turning_makes_opposite_are_no_network(system: MakeSystem) -> None:
    odd = [[1, 1, 0], [0, 1, 1], [1, 0, 1]]
    assert decompose(system(odd, [5] * 3, [5] * 3)).network.tolist() == [False]
    turned = [[1, 1, 0], [0, -1, 1], [1, 0, 1]]
    assert decompose(system(turned, [5] * 3, [5] * 3)).network.tolist() == [True]


def test_coefficients_other_than_one_are_no_network(system: MakeSystem) -> None:
    assert decompose(system([[2, 1]], [5, 5], [5, 5])).network.tolist() == [False]


def test_three_dimensions_are_no_network(system: MakeSystem) -> None:
    corners = [(i, j, k) for i in range(2) for j in range(2) for k in range(2)]
    rows = [
        [int(all(c[a] == fixed[n] for n, a in enumerate(kept))) for c in corners]
        for kept in ((0, 1), (0, 2), (1, 2))
        for fixed in ((0, 0), (0, 1), (1, 0), (1, 1))
    ]
    assert decompose(system(rows, [5] * 8, [5] * 8)).network.tolist() == [False]


def test_nothing_unknown_has_no_parts(system: MakeSystem) -> None:
    parts = decompose(system(SQUARE, [0] * 4, [0] * 4))
    assert len(parts) == 0
    assert len(parts.component) == 0


def test_large_factors_turn_no_rows(system: MakeSystem) -> None:
    """The product of two factors may be zero in eight bits, and a row that is turned by zero is never done."""
    assert decompose(system([[16, 1, 0], [16, 0, 1]], [5] * 3, [5] * 3)).network.tolist() == [False]
    assert decompose(system([[256, 1, 0], [1, 0, 1]], [5] * 3, [5] * 3)).network.tolist() == [False]
