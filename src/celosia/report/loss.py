"""What readers lose by a release, measured in several ways that need not agree.

Karlsson and Olsson (2015), section 3.4.1, name four: the number of suppressed cells (I), the sum of their values (II),
the sum of the widths of the suppression intervals (III) and the number of suppressed contributions (IV). A fifth, the
distance of what is published from the truth, is for numbers that are rounded, perturbed or adjusted. These figures
depend on true values: they are for the office.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.attack.result import Audit
from celosia.errors import SpecError, nearest
from celosia.pattern.entries import SHOWN
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import Release, publish
from celosia.table.frames import frame_of
from celosia.table.table import Table

VARIABLE = "variable"


@dataclass(frozen=True, slots=True, eq=False)
class LossParts:
    """The loss by parts of the table: levels of each dimension, and variables where there are several.

    Parameters
    ----------
    by, part
        What parts the table, and the name of the part: ``industry`` and ``level 2``, say.
    cells, hidden
        How many cells lie in the part, and how many of them are not shown.
    value, hidden_value
        The sum of their absolute values, and that of the cells not shown.
    width
        The sum of the widths of what an attacker can conclude about them, infinite where one has no end; not a number
        where no audit says.
    """

    by: tuple[str, ...]
    part: tuple[str, ...]
    cells: NDArray[np.int64]
    hidden: NDArray[np.int64]
    value: NDArray[np.float64]
    hidden_value: NDArray[np.float64]
    width: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.by)

    def columns(self) -> dict[str, Any]:
        """Return a line a part."""
        return {
            "by": list(self.by),
            "part": list(self.part),
            "cells": self.cells,
            "hidden": self.hidden,
            "value": self.value,
            "hidden_value": self.hidden_value,
            "width": self.width,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """What readers lose by a release. Confidential: sums of hidden values are among it.

    A cell is called hidden here wherever its true value is not shown, in whatever way. Sums run over all such cells,
    totals among them, as in the thesis.

    Parameters
    ----------
    cells
        How many cells the table has.
    hidden
        Measure I: how many of them are not shown.
    value, hidden_value
        The sum of all absolute values, and measure II: of those not shown.
    width
        Measure III: the sum of the widths of what an attacker can conclude about them, infinite where one has no end;
        None where no audit says.
    endless
        How many of these intervals have no end; None where no audit says.
    contributions
        Measure IV: how many contributions stand in the cells not shown; None where they are not known.
    distance
        How far the numbers that are published lie from the truth, in all.
    widths
        The width of every cell's interval, zero where the value is shown, not a number where no audit says,
        ``(n_cells,)``.
    parts
        The cells and values hidden, and widths, by level of each dimension.
    library
        The data frame library in which frames go back.
    """

    cells: int
    hidden: int
    value: float
    hidden_value: float
    width: float | None
    endless: int | None
    contributions: int | None
    distance: float
    widths: NDArray[np.float64]
    parts: LossParts
    library: str | None = None

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the parts as a data frame of the given library, by default the one that the data came in."""
        return frame_of(self.parts.columns(), library or self.library)

    def as_dict(self) -> dict[str, Any]:
        """Return the measures as plain numbers, ready for JSON; a sum without end is None."""
        return {
            "cells": self.cells,
            "hidden": self.hidden,
            "value": self.value,
            "hidden_value": self.hidden_value,
            "width": self.width if self.width is not None and math.isfinite(self.width) else None,
            "endless": self.endless,
            "contributions": self.contributions,
            "distance": self.distance,
        }

    def __repr__(self) -> str:
        share = self.hidden_value / self.value if self.value else 0.0
        return f"Loss({self.hidden:,} of {self.cells:,} cells hidden, with {share:.1%} of the value)"


@takes(release=(Release, Pattern), table=Table, audit=Audit)
def loss(release: Release | Pattern, table: Table, audit: Audit | None = None, *, attacker: str | None = None) -> Loss:
    """Return what readers lose by a release.

    Parameters
    ----------
    release
        What is published.
    table
        The table with its true values.
    audit
        An audit of the release with ``intervals=True``, for the widths of intervals.
    attacker
        Whose intervals; by default those of the audit's first attacker.

    Raises
    ------
    DataError
        The release is not of this table.
    SpecError
        The audit has no intervals, or no such attacker.

    References
    ----------
    Karlsson and Olsson (2015), section 3.4.1, I to IV.
    """
    if isinstance(release, Pattern):
        release = publish(release)
    release.check(table)
    hidden = np.asarray(release.status != SHOWN)
    size = np.abs(table.values)
    widths = _widths(release, hidden, audit, attacker)
    published = np.where(release.has_value & hidden, release.published.floats - table.values, 0.0)
    return Loss(
        cells=len(table),
        hidden=int(hidden.sum()),
        value=math.fsum(size),
        hidden_value=math.fsum(size[hidden]),
        width=None if audit is None else float(widths.sum()),
        endless=None if audit is None else int(np.isinf(widths).sum()),
        contributions=_contributions(table, hidden),
        distance=math.fsum(np.abs(published)),
        widths=widths,
        parts=_parts(table, hidden, size, widths),
        library=table.library,
    )


def _widths(
    release: Release, hidden: NDArray[np.bool_], audit: Audit | None, attacker: str | None
) -> NDArray[np.float64]:
    widths = np.where(hidden, np.nan, 0.0)
    if audit is None:
        return widths
    names = [each.name for each in audit.risk.attackers]
    if attacker is not None and attacker not in names:
        raise SpecError.one("attacker", f"{attacker!r} is none of the audit's.", nearest(attacker, names))
    who = names.index(attacker) if attacker is not None else 0
    for finding in audit.intervals:
        if finding.attacker == who:
            open_ = finding.lower is None or finding.upper is None
            widths[finding.cell] = math.inf if open_ else float((finding.upper or 0) - (finding.lower or 0))
    if bool(np.isnan(widths).any()) or len(audit.release) != len(release):
        raise SpecError.one("audit", "has no intervals of this release.", "Audit it with intervals=True.")
    return widths


def _contributions(table: Table, hidden: NDArray[np.bool_]) -> int | None:
    if table.statistics is None:
        return None
    counts = table.statistics.respondents.count[hidden]
    return int(counts.sum()) if bool((counts >= 0).all()) else None


def _parts(
    table: Table, hidden: NDArray[np.bool_], size: NDArray[np.float64], widths: NDArray[np.float64]
) -> LossParts:
    found = list(_groups(table))
    cells = [np.bincount(place, minlength=len(names)) for _, names, place in found]
    hits = [np.bincount(place[hidden], minlength=len(names)) for _, names, place in found]
    value = [np.bincount(place, size, len(names)) for _, names, place in found]
    lost = [np.bincount(place[hidden], size[hidden], len(names)) for _, names, place in found]
    wide = [np.bincount(place[hidden], widths[hidden], len(names)) for _, names, place in found]
    return LossParts(
        by=tuple(by for by, names, _ in found for _ in names),
        part=tuple(name for _, names, _ in found for name in names),
        cells=np.concatenate([np.zeros(0, dtype=np.int64), *cells]),
        hidden=np.concatenate([np.zeros(0, dtype=np.int64), *hits]),
        value=np.concatenate([np.zeros(0), *value]),
        hidden_value=np.concatenate([np.zeros(0), *lost]),
        width=np.concatenate([np.zeros(0), *wide]),
    )


def _groups(table: Table) -> Iterator[tuple[str, list[str], NDArray[np.int64]]]:
    """Yield what parts the table: its name, the names of the parts, and the part of every cell."""
    for axis, depth in zip(table.axes, table.levels.T, strict=True):
        levels, place = np.unique(depth, return_inverse=True)
        yield axis.name, ["total" if level == 0 else f"level {level}" for level in levels.tolist()], place
    if len(table.variables) > 1:
        yield VARIABLE, list(table.variables), table.variable.astype(np.int64)
