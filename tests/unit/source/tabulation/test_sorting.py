"""Sorting by digits is what a stable sort by comparison is."""

from __future__ import annotations

import numpy as np
import pytest

from celosia.source.tabulation.sorting import sort_stably

RNG = np.random.default_rng(0)
WHOLE = np.iinfo(np.uint64).max
KEYS = {
    "none": np.zeros(0, dtype=np.uint64),
    "one": np.array([7], dtype=np.uint64),
    "ends": np.array([WHOLE, 0, WHOLE, 1, 0], dtype=np.uint64),
    "small": RNG.integers(0, 50, 5_000).astype(np.uint64),
    "spread": RNG.integers(0, WHOLE, 20_000, dtype=np.uint64),
    "41 bits": RNG.integers(0, 1 << 41, 20_000).astype(np.uint64),
    "one far away, the others near": np.append(RNG.integers(0, 9_000, 20_000), 1 << 62).astype(np.uint64),
    "falling": np.arange(30_000, 0, -1).astype(np.uint64),
    "equal": np.full(5_000, 1 << 50, dtype=np.uint64),
}


@pytest.mark.parametrize("keys", KEYS.values(), ids=KEYS)
def test_equal_keys_keep_their_order(keys: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> None:
    before = keys.copy()
    found, order = sort_stably(keys)
    assert np.array_equal(keys, before)
    assert np.array_equal(order, np.argsort(keys, kind="stable"))
    assert np.array_equal(found, np.sort(keys))
