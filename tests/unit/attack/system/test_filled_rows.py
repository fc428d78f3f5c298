from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from celosia.attack.system.filled_rows import take_filled_rows


@pytest.mark.parametrize("empty", [[], [0], [4], [0, 1, 4], [1, 3], [0, 1, 2, 3, 4]])
def test_rows_with_entries_are_those_that_numpy_takes(empty: list[int]) -> None:
    dense = np.arange(1, 16).reshape(5, 3)
    dense[empty] = 0
    dense[2, 1] = 0
    rows, places = take_filled_rows(sp.csr_array(dense))
    assert places.tolist() == [row for row in range(5) if row not in empty]
    assert rows.toarray().tolist() == dense[places].tolist()
    assert rows.shape == (len(places), 3)


def test_a_matrix_without_rows_or_columns_has_none() -> None:
    for shape in ((0, 3), (3, 0), (0, 0)):
        rows, places = take_filled_rows(sp.csr_array(shape, dtype=np.int64))
        assert (rows.shape, len(places)) == ((0, shape[1]), 0)
