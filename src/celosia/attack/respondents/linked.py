"""Linked tables under attack by respondents: their joint cells are hidden cells beside the others."""

from __future__ import annotations

import numpy as np

from celosia.pattern.entries import HIDDEN
from celosia.pattern.labels import Labels
from celosia.pattern.release import Release
from celosia.risk.respondents.joint import add_joint_cells
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.table import Table


def open_joint_cells(table: Table, release: Release) -> tuple[Table, Release]:
    """Return linked tables with their joint cells, about which nothing is published; other tables as they are."""
    joint = add_joint_cells(table)
    more = len(joint) - len(table)
    if not more:
        return table, release
    published, lower, upper = (
        Fixed(np.concatenate([side.counts, np.full(more, nothing)]), side.decimals)
        for side, nothing in ((release.published, 0), (release.lower, -INFINITE), (release.upper, INFINITE))
    )
    status = np.concatenate([release.status, np.full(more, HIDDEN)])
    return joint, Release(Labels.of_table(joint), status, published, lower, upper, release.library)
