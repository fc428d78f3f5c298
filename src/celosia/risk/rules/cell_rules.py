"""Rules that look at the cell, not at its contributors: zeros, requests, given statuses, and the user's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.errors import Problems, SpecError
from celosia.risk.rules.exact import divide_rounding_up, roomy, whole
from celosia.risk.rules.finding import Finding, check_percent, percent_of_value, to_share
from celosia.table.fixed import Fixed
from celosia.table.statistics import UNASKED
from celosia.table.table import Table
from celosia.tolerance import LEVEL_DECIMALS


@dataclass(frozen=True, slots=True)
class ZeroCells:
    """Cells of value zero are sensitive: that there is no contribution can be a disclosure.

    Parameters
    ----------
    level
        How far from zero an attacker must be kept, in units of the table.
    """

    level: float

    def __post_init__(self) -> None:
        if not 0 < self.level < float("inf"):
            raise SpecError.one("level", f"must be a positive number, not {self.level}.")

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return "zero cells"

    def find(self, table: Table) -> Finding:
        """Return the cells of value zero that have contributors, or of which the number is not known."""
        sensitive = table.amounts.counts == 0
        if table.statistics is not None:
            sensitive = sensitive & (table.statistics.respondents.count != 0)
        level, scale = whole(self.level)
        decimals = table.decimals + LEVEL_DECIMALS
        count = int(divide_rounding_up(np.array([level * 10**decimals], dtype=object), scale)[0])
        return Finding(sensitive, Fixed.of_counts(np.where(sensitive, count, 0), decimals))


@dataclass(frozen=True, slots=True)
class Requests:
    """A cell is sensitive if a respondent who asked for protection has more than `share` percent of it.

    Parameters
    ----------
    share
        In percent; 0: any contribution will do.
    percent
        The level, in percent of the value.
    """

    share: float = 0
    percent: float = 20

    def __post_init__(self) -> None:
        found = Problems()
        if not 0 <= self.share < 100:  # noqa: PLR2004  (percent)
            found.add("share", f"must be a percentage from 0 to below 100, not {self.share}.")
        check_percent(found, self.percent)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return f"request (more than {self.share:g} %)" if self.share else "request"

    def find(self, table: Table) -> Finding:
        """Return the cells in which a requester has a large enough share."""
        if table.statistics is None or table.statistics.requested is None:
            raise SpecError.one(
                self.words, "nobody could ask for protection.", "Name the request column when you tabulate."
            )
        if bool((table.statistics.requested == UNASKED).any()):
            message = "there are cells in which nobody could ask for protection."
            raise SpecError.one(self.words, message, "Name the request column of every table.")
        share, scale = whole(self.share)
        asked, total = roomy(100 * scale, table.statistics.requested, table.statistics.respondents.total)
        sensitive = np.asarray((asked >= 0) & ((100 * scale * asked > share * total) | ((share == 0) & (asked == 0))))
        return Finding(sensitive, percent_of_value(table, self.percent, sensitive), share=to_share(self.percent))


@dataclass(frozen=True, slots=True)
class GivenStatus:
    """Cells that came with the status ``sensitive`` are sensitive, with their own levels where they have some.

    Parameters
    ----------
    percent
        The level, in percent of the value, of cells without one of their own.
    """

    percent: float = 20

    def __post_init__(self) -> None:
        found = Problems()
        check_percent(found, self.percent)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return "given status"

    def find(self, table: Table) -> Finding:
        """Return the cells whose status says so. Levels of their own are set when the table is assessed."""
        if "status" not in table.extras:
            raise SpecError.one(
                self.words, "the cells came without a status.", "Name the status column when you read them."
            )
        sensitive = np.asarray(table.extras["status"] == "sensitive")
        return Finding(sensitive, percent_of_value(table, self.percent, sensitive), share=to_share(self.percent))


@dataclass(frozen=True, slots=True)
class OwnRule:
    """A rule of the user's own: a function from a table to the sensitive cells.

    Parameters
    ----------
    function
        Returns a truth value for every cell, or a `Finding`.
    percent
        The level, in percent of the value, where the function does not say.
    name
        How reports call it.
    """

    function: Callable[[Table], NDArray[np.bool_] | Finding]
    percent: float = 20
    name: str = "own rule"

    def __post_init__(self) -> None:
        found = Problems()
        check_percent(found, self.percent)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return self.name

    def find(self, table: Table) -> Finding:
        """Return what the function finds."""
        said = self.function(table)
        if isinstance(said, Finding):
            if len(said.sensitive) != len(table) or len(said.distance) != len(table):
                raise SpecError.one(self.name, f"must answer for each of {len(table)} cells.")
            return said
        mask = np.asarray(said)
        if mask.shape != (len(table),) or mask.dtype != bool:
            seen = f"{mask.dtype} of shape {mask.shape}"
            raise SpecError.one(self.name, f"must return a truth value for each of {len(table)} cells, not {seen}.")
        return Finding(mask, percent_of_value(table, self.percent, mask), share=to_share(self.percent))
