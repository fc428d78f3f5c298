from __future__ import annotations

from itertools import product

import numpy as np

from celosia import Hierarchy
from celosia.table.dimension import Dimension
from celosia.table.lattice import Lattice

REGION = Dimension.of("region", [Hierarchy.from_dict({"N": ["N1", "N2"], "S": None})])
SIZE = Dimension.of("size", [Hierarchy.flat(["small", "large"])])


def test_only_cells_that_hold_something_exist() -> None:
    """Leaf cells N1 x small and S x large: 3 + 2 regions with 2 sizes each, the totals shared."""
    lattice, _ = Lattice.above(np.array([[0, 0], [2, 1]], dtype=np.int32), [REGION, SIZE])
    named = {(REGION.axis.labels[a], SIZE.axis.labels[b]) for a, b in lattice.codes.tolist()}
    assert named == set(product(["Total", "N", "N1"], ["Total", "small"])) | set(
        product(["Total", "S"], ["Total", "large"])
    )
    assert len(lattice) == 9
    assert lattice.codes[0].tolist() == [0, 0]
    assert lattice.codes.tolist() == sorted(lattice.codes.tolist())


def test_steps_sum_leaf_cells_to_every_cell() -> None:
    lattice, steps = Lattice.above(np.array([[0, 0], [1, 0], [2, 1]], dtype=np.int32), [REGION, SIZE])
    sums = np.array([[1], [10], [100]])
    for step in steps:
        sums = step.sum(sums)
    found = {
        (REGION.axis.labels[a], SIZE.axis.labels[b]): int(total)
        for (a, b), total in zip(lattice.codes.tolist(), sums[:, 0], strict=True)
    }
    assert found["Total", "Total"] == 111
    assert found["N", "Total"] == found["N", "small"] == 11
    assert found["Total", "large"] == found["S", "Total"] == 100
    assert found["N2", "small"] == 10


def test_cells_are_found_again_and_others_are_not() -> None:
    codes = np.array([[2, 1], [0, 0], [2, 1], [1, 2]], dtype=np.int32)
    lattice = Lattice.of_codes(codes, [5, 3])
    assert lattice.codes.tolist() == [[0, 0], [1, 2], [2, 1]]
    assert lattice.find(codes).tolist() == [2, 0, 2, 1]
    assert lattice.find(np.array([[4, 2], [0, 1], [1, 1]], dtype=np.int32)).tolist() == [-1, -1, -1]


def test_many_large_dimensions_do_not_overflow() -> None:
    """40 dimensions of a thousand codes have 10^120 combinations; keys are packed in groups."""
    generator = np.random.default_rng(1)
    codes = generator.integers(0, 1000, (50, 40)).astype(np.int32)
    lattice = Lattice.of_codes(codes, [1000] * 40)
    assert len(lattice) == 50
    assert lattice.codes[lattice.find(codes)].tolist() == codes.tolist()
    other = codes.copy()
    other[:, 20] = (other[:, 20] + 1) % 1000
    assert (lattice.find(other) == -1).all()


def test_a_table_without_dimensions_has_one_cell() -> None:
    lattice = Lattice.of_codes(np.zeros((3, 0), dtype=np.int32), [])
    assert len(lattice) == 1
    assert lattice.find(np.zeros((2, 0), dtype=np.int32)).tolist() == [0, 0]
