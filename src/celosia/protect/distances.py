"""How far sensitive cells were moved from the truth, for methods that publish one plausible table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """What became of the sensitive cells of a table whose values were moved. Confidential.

    This is no statement about what attackers can conclude: it says how far published values are from the truth.

    Parameters
    ----------
    cells
        The sensitive cells, ``(k,)``.
    moved
        Whether each left its safety interval, ``(k,)``.
    """

    cells: NDArray[np.int64]
    moved: NDArray[np.bool_]

    @property
    def safe(self) -> bool:
        """Whether every sensitive cell left its safety interval."""
        return bool(self.moved.all())
