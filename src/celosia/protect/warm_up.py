"""Compiled parts made ready before the clock starts: on a new machine that takes some seconds, once."""

from __future__ import annotations

from functools import cache

import numpy as np
import scipy.sparse as sp

from celosia.protect.cleaning import Cleaner
from celosia.protect.cuts import Workshop
from celosia.protect.master import Pool
from celosia.protect.separation import Separator
from celosia.protect.sides import sides_of
from celosia.protect.task import Goals, Task
from celosia.solve.registry import backends


@cache
def warm_up() -> None:
    """Attack and clean up a table of two by two cells, so that everything that is compiled has been."""
    backend = backends()[0]
    separator = Separator(Workshop.of(_smallest()), sides_of(_smallest().goals), backend)
    separator.attack(_smallest().forced.astype(np.float64))
    Cleaner(separator, Pool(), lambda: False).cleaned(np.ones(9, dtype=bool), np.ones(9))


def _smallest() -> Task:
    """Return a table with margins in which one cell must move by 1."""
    line = np.array([[-1, 1, 1]], dtype=np.int64)
    matrix = np.concatenate([np.kron(np.eye(3, dtype=np.int64), line), np.kron(line, np.eye(3, dtype=np.int64))])
    one, nothing = np.ones(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    return Task(
        cells=np.arange(9),
        matrix=sp.csr_array(matrix),
        implied=np.zeros(len(matrix), dtype=bool),
        up=np.full((1, 9), 9),
        down=np.full((1, 9), 9),
        cost=np.ones(9),
        forced=np.arange(9) == 4,  # noqa: PLR2004  (the first inner cell)
        goals=Goals(4 * one, nothing, one, one, nothing),
        decimals=0,
    )
