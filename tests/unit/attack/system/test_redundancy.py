"""Relations that the others imply."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.redundancy import colour_rows, find_implied_rows


def sums(*branching: int) -> NDArray[np.int64]:
    """Return the sums of a tree whose nodes have so many children, level by level: -1 for the parent."""
    rows: list[dict[int, int]] = []
    level, n = [0], 1
    for n_children in branching:
        below = []
        for parent in level:
            children = list(range(n, n + n_children))
            n += n_children
            rows.append({parent: -1} | dict.fromkeys(children, 1))
            below += children
        level = below
    matrix = np.zeros((len(rows), n), dtype=np.int64)
    for k, row in enumerate(rows):
        matrix[k, list(row)] = list(row.values())
    return matrix


def relations(*trees: tuple[int, ...]) -> NDArray[np.int64]:
    """Return the relations of a table whose dimensions are these trees."""
    own = [sums(*tree) for tree in trees]
    parts = []
    for axis in range(len(own)):
        total = np.ones((1, 1), dtype=np.int64)
        for other, matrix in enumerate(own):
            total = np.kron(total, matrix if other == axis else np.eye(matrix.shape[1], dtype=np.int64))
        parts.append(total)
    return np.concatenate(parts)


TABLES = [
    ((4,), (3,)),
    ((2, 3), (4,)),
    ((4,), (2, 3)),
    ((2, 2, 2), (3,)),
    ((3,), (2, 2, 2)),
    ((2, 3), (3, 2)),
    ((3,), (3,), (3,)),
    ((2, 2), (2,), (3,)),
    ((2, 1, 3), (3,)),
    ((3,), (1, 2)),
]


@pytest.mark.parametrize("trees", TABLES)
def test_exactly_the_relations_that_follow_are_left_out(trees: tuple[tuple[int, ...], ...]) -> None:
    matrix = relations(*trees)
    found = find_implied_rows(sp.csr_array(matrix))
    rank = np.linalg.matrix_rank(matrix)
    assert np.linalg.matrix_rank(matrix[~found]) == rank
    assert int((~found).sum()) == rank or int(np.count_nonzero(matrix, axis=0).max()) == len(trees)


@pytest.mark.parametrize("trees", [*TABLES[:5], *TABLES[8:]])
def test_one_hierarchy_leaves_every_cell_in_two_relations(trees: tuple[tuple[int, ...], ...]) -> None:
    matrix = relations(*trees)
    assert int(np.count_nonzero(matrix[~find_implied_rows(sp.csr_array(matrix))], axis=0).max()) == len(trees)


def test_the_order_of_the_relations_does_not_matter() -> None:
    matrix = relations((2, 2, 2), (3,))
    order = np.random.default_rng(5).permutation(len(matrix))
    found = find_implied_rows(sp.csr_array(matrix[order]))
    assert int((~found).sum()) == np.linalg.matrix_rank(matrix)


def test_relations_that_do_not_follow_stay_however_crowded_their_cells() -> None:
    matrix = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1], [1, 1, 1]])
    kept = matrix[~find_implied_rows(sp.csr_array(matrix))]
    assert np.linalg.matrix_rank(kept) == np.linalg.matrix_rank(matrix)


def test_definitions_that_go_round_in_circles_are_all_kept() -> None:
    matrix = np.array([[-1, 1, 1, 0, 0], [1, -1, 0, 1, 0], [1, 1, 0, 0, -1]])
    assert not find_implied_rows(sp.csr_array(matrix)).any()


def test_rows_of_one_colour_share_no_column() -> None:
    matrix = sp.csr_array(relations((2, 2), (3,), (2,)))
    colour = colour_rows(matrix.indptr, matrix.indices, matrix.shape[1])
    for number in range(int(colour.max()) + 1):
        assert int(np.count_nonzero(matrix.toarray()[colour == number], axis=0).max()) == 1
