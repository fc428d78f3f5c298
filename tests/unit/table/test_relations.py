from __future__ import annotations

import numpy as np

from celosia import Hierarchy
from celosia.table.dimension import Dimension
from celosia.table.lattice import Lattice
from celosia.table.relations import Relations, missing_totals, sums_of

REGION = Dimension.of("region", [Hierarchy.from_dict({"N": ["N1", "N2"], "S": None})])


def test_sums_run_along_every_dimension_over_what_exists() -> None:
    size = Dimension.of("size", [Hierarchy.flat(["small", "large"])])
    lattice, _ = Lattice.above(np.array([[0, 0], [2, 1]], dtype=np.int32), [REGION, size])
    relations = sums_of([REGION, size], lattice)

    def name(cell: int) -> str:
        region, level = lattice.codes[cell].tolist()
        return f"{REGION.axis.labels[region]}-{size.axis.labels[level]}"

    found = {
        (
            *(name(cell) for cell, coefficient in relations.terms(number) if coefficient == -1),
            frozenset(name(cell) for cell, coefficient in relations.terms(number) if coefficient == 1),
        )
        for number in range(len(relations))
    }
    assert found == {
        ("Total-Total", frozenset(["N-Total", "S-Total"])),
        ("Total-small", frozenset(["N-small"])),
        ("Total-large", frozenset(["S-large"])),
        ("N-Total", frozenset(["N1-Total"])),
        ("N-small", frozenset(["N1-small"])),
        ("Total-Total", frozenset(["Total-small", "Total-large"])),
        ("N-Total", frozenset(["N-small"])),
        ("N1-Total", frozenset(["N1-small"])),
        ("S-Total", frozenset(["S-large"])),
    }
    assert not relations.right.any()


def test_residuals_are_what_is_left_over() -> None:
    relations = Relations.of_terms(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([-1, 1, 1]), shape=(1, 3))
    assert relations.residuals(np.array([5, 2, 3])).tolist() == [0]
    assert relations.residuals(np.array([5, 2, 4])).tolist() == [1]
    assert Relations(relations.matrix, np.array([1])).residuals(np.array([5, 2, 4])).tolist() == [0]


def test_components_are_the_cells_that_hang_together() -> None:
    row, cell, coefficient = np.array([0, 0, 1, 1]), np.array([0, 2, 1, 4]), np.array([-1, 1, -1, 1])
    count, part = Relations.of_terms(row, cell, coefficient, shape=(2, 5)).components()
    assert count == 3
    assert part[0] == part[2]
    assert part[1] == part[4]
    assert len({int(part[k]) for k in (0, 1, 3)}) == 3


def test_cells_without_relations_are_components_of_their_own() -> None:
    count, part = Relations.none(3).components()
    assert count == 3
    assert sorted(part.tolist()) == [0, 1, 2]
    assert len(Relations.none(3)) == 0


def test_missing_totals_of_all_levels_are_found() -> None:
    """Given N1 alone: N and the total are missing; S does not exist."""
    lattice = Lattice.of_codes(np.array([[2]], dtype=np.int32), [len(REGION)])
    assert [REGION.axis.labels[node] for (node,) in missing_totals([REGION], lattice).tolist()] == ["Total", "N"]
    full = Lattice.of_codes(np.arange(5, dtype=np.int32)[:, None], [5])
    assert len(missing_totals([REGION], full)) == 0
