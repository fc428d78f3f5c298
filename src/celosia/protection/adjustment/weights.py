"""What a unit of deviation weighs."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import SpecError
from celosia.table.table import Table

Weight = Literal["1", "1/a", "1/sqrt(a)"]
"""Weights by name, of the absolute value a."""

_POWERS: dict[str, float] = {"1": 0.0, "1/a": -1.0, "1/sqrt(a)": -0.5}
_SMALLEST, _LARGEST = 1e-12, 1e12
"""Weights beyond these would be lost in floating point beside the others."""


def weights_of(weight: str | ArrayLike, table: Table) -> NDArray[np.float64]:
    """Return the weight of every cell, ``(n_cells,)``.

    Raises
    ------
    SpecError
        There are not as many weights as cells, or some are not positive.
    """
    if isinstance(weight, str):
        return np.maximum(np.abs(table.values), 10.0**-table.decimals) ** _POWERS[weight]
    try:
        weights = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise SpecError.one("weight", "holds something that is no number.", "Give one per cell.") from None
    if weights.shape != (len(table),):
        raise SpecError.one("weight", f"has the shape {weights.shape} for {len(table)} cells.", "Give one per cell.")
    wrong = np.flatnonzero(~((weights >= _SMALLEST) & (weights <= _LARGEST)))
    if len(wrong):
        first = table.label(int(wrong[0]))
        said = f"is not between {_SMALLEST:g} and {_LARGEST:g} for {len(wrong)} cells, the first being {first}."
        raise SpecError.one("weight", said, "Weights are positive; to leave a cell as it is, name it in keep.")
    return weights
