"""What a rule is, and what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.risk.rules.exact import divide_rounding_up, roomy, spread, whole
from celosia.tolerance import LEVEL_DECIMALS

if TYPE_CHECKING:
    from celosia.errors import Problems
    from celosia.table.fixed import Fixed
    from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What a rule finds.

    Parameters
    ----------
    sensitive
        Which cells are sensitive, ``(n_cells,)``.
    distance
        How far an attacker must be kept away, ``(n_cells,)``; zero where the cell is safe.
    evidence
        The numbers behind it, a column each, for the office only.
    share
        The largest part of the value that a distance of the rule can be: of a cell of one contributor it is that part.
        None where distances are no part of the value.
    """

    sensitive: NDArray[np.bool_]
    distance: Fixed
    evidence: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    share: Fraction | None = None


class Rule(Protocol):
    """Anything that looks at a table and finds sensitive cells."""

    @property
    def words(self) -> str:
        """The rule as people call it."""

    def find(self, table: Table) -> Finding:
        """Return the sensitive cells of a table."""


def percent_of_value(table: Table, percent: float, sensitive: NDArray[np.bool_]) -> Fixed:
    """Return a percentage of every sensitive cell's absolute value, rounded up; zero for the others."""
    share, scale = whole(percent)
    where = np.flatnonzero(sensitive)
    factor = share * 10**LEVEL_DECIMALS
    (part,) = roomy(factor, np.abs(table.amounts.counts[where]))
    counts = divide_rounding_up(part * factor, 100 * scale)
    return spread(counts, where, len(table), table.decimals + LEVEL_DECIMALS)


def to_share(percent: float) -> Fraction:
    """Return a percentage as a part of one, exact as it is written."""
    return Fraction(str(percent)) / 100


def check_percent(found: Problems, percent: float) -> None:
    """Note a percentage that cannot be a level."""
    if not 0 < percent < float("inf"):
        found.add("percent", f"must be a positive percentage, not {percent}.")
