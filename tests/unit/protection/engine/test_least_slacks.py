"""Capacity cuts through sensitive cells count binary variables for no more than what is missing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from celosia.protection.engine.subproblems.least_slacks import LeastSlacks
from celosia.protection.engine.subproblems.slacks import Linear

BINARY = np.arange(8) >= 4
"""Cells 0 to 3: widths first, and then the variables that hide them."""


def least_of(levels: list[float]) -> LeastSlacks:
    least = np.array([*levels, *[0.0] * 4])
    return LeastSlacks(least, np.where(least > 0, np.arange(8) + 4, -1))


def test_what_sensitive_cells_have_in_any_case_reduces_the_coefficients_of_binaries() -> None:
    reach = Linear(0.0, np.array([0, 1, 4, 5]), np.array([1.0, 1.0, 10.0, 10.0]))
    tight = least_of([6.0, 0.0, 0.0, 0.0]).tighten(reach, 10.0, BINARY)
    assert tight.values == pytest.approx([1.0, 1.0, 10.0, 4.0])


@pytest.mark.parametrize("seed", range(30))
def test_a_tightened_cut_holds_wherever_cells_are_hidden_or_as_wide_as_their_level(seed: int) -> None:
    rng = np.random.default_rng(seed)
    level = float(rng.integers(5, 30))
    levels = [float(rng.integers(0, 12)) if rng.random() < 0.6 else 0.0 for _ in range(4)]
    values = np.concatenate([rng.integers(1, 3, 4), np.minimum(rng.integers(1, 40, 4), level)]).astype(np.float64)
    reach = Linear(float(rng.integers(0, 3)), np.arange(8), values)
    tight = least_of(levels).tighten(reach, level, BINARY)
    assert bool((tight.values <= values).all())
    for hidden in product((0.0, 1.0), repeat=4):
        least = np.where(np.array(hidden) > 0, 0.0, levels)
        for cell in range(4):  # whatever is missing to the level of the cut is added to one width
            v = np.concatenate([least, hidden])
            v[cell] += max(level - reach.at(v), 0.0) / values[cell]
            assert tight.at(v) >= level - 1e-9


def test_cuts_without_sensitive_cells_stay_as_they_are() -> None:
    reach = Linear(1.0, np.array([2, 6]), np.array([1.0, 9.0]))
    assert least_of([6.0, 0.0, 0.0, 0.0]).tighten(reach, 10.0, BINARY) is reach
