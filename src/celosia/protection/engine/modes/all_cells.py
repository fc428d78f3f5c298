"""Modes of every cell of a table, also of those that a problem leaves out because every attacker knows them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from celosia.protection.engine.modes.modes import Modes, Offer
from celosia.protection.engine.problem import ColumnRequirements, ProtectionProblem
from celosia.table.table import Table


def modes_of_all_cells(problem: ProtectionProblem, table: Table, offers: Sequence[Offer], unit: float) -> Modes:
    """Return modes whose offers name cells of the table, and whose slacks are those of the columns of a problem.

    A problem leaves out what every attacker knows. Published numbers must add up with such cells too.

    Parameters
    ----------
    problem
        The requirements.
    table
        The table.
    offers
        What may be published about which cells.
    unit
        Counts of the problem in one unit of slacks.
    """
    n = len(table)
    none = np.zeros(0, dtype=np.int64)
    nothing = np.zeros((problem.n_attackers, n), dtype=np.int64)
    every = ProtectionProblem(
        cells=np.arange(n),
        matrix=sp.csr_array(table.relations.matrix),
        implied=np.zeros(len(table.relations), dtype=bool),
        up=nothing,
        down=nothing,
        cost=np.zeros(n),
        forced=np.zeros(n, dtype=bool),
        requirements=ColumnRequirements(none, none, none, none, none),
        decimals=problem.decimals,
        whole=np.zeros(n, dtype=bool),
    )
    return Modes.of(every, offers, unit).select(problem.cells)
