"""The problem of a sub-table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.decomposition.sub_tables import SubTable
from celosia.risk.attacker import Attacker
from celosia.risk.requirement import Requirements
from celosia.risk.risk import LEVELS, Levels, Risk
from celosia.table.relations import Relations
from celosia.table.table import Table


def restrict(risk: Risk, part: SubTable) -> Risk:
    """Return the problem of a sub-table: its cells, its relations, and what is required of them.

    An attacker concludes less from it than from the whole table. So a safe pattern of the whole is safe in every
    sub-table, and not the other way round. Respondents are left out.
    """
    cells = part.cells
    return Risk(
        table=_restrict_table(risk.table, part),
        status=risk.status[cells],
        levels=_restrict_levels(risk.levels, cells),
        cost=risk.cost[cells],
        attackers=tuple(_restrict_attacker(attacker, cells) for attacker in risk.attackers),
        further=None if risk.further is None else _restrict_requirements(risk.further, cells, len(risk)),
    )


def _restrict_table(table: Table, part: SubTable) -> Table:
    matrix = table.relations.matrix[part.relations][:, part.cells]
    return Table(
        axes=table.axes,
        codes=table.codes[part.cells],
        variables=table.variables,
        variable=table.variable[part.cells],
        amounts=table.amounts[part.cells],
        relations=Relations(matrix, table.relations.right[part.relations]),
        counts=table.counts,
    )


def _restrict_levels(levels: Levels, cells: NDArray[np.int64]) -> Levels:
    return Levels(*(getattr(levels, name)[cells] for name in LEVELS))


def _restrict_attacker(attacker: Attacker, cells: NDArray[np.int64]) -> Attacker:
    return replace(
        attacker,
        lower=attacker.lower[cells],
        upper=attacker.upper[cells],
        levels=None if attacker.levels is None else _restrict_levels(attacker.levels, cells),
        own=None if attacker.own is None else attacker.own[cells],
    )


def _restrict_requirements(required: Requirements, cells: NDArray[np.int64], n_cells: int) -> Requirements:
    place = np.full(n_cells, -1, dtype=np.int64)
    place[cells] = np.arange(len(cells))
    own = required.take(np.flatnonzero(place[required.cells] >= 0))
    return replace(own, cells=place[own.cells])
