"""What the page of a protection shows, as data: whoever writes a page computes it first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from celosia.attack.result import Audit
from celosia.protection.result import Protection
from celosia.report.pages.beside import SideBySide
from celosia.report.pages.limits import PageLimits

if TYPE_CHECKING:
    from celosia.protection.trade_off import TradeOff
    from celosia.protection.why import Why


@dataclass(frozen=True, slots=True, eq=False)
class PageContent:
    """The content of a protection's page.

    Parameters
    ----------
    result
        The protection.
    audit
        An audit of the same pattern with intervals, for bars that go to their ends; by default the result's own.
    title
        The page's heading, by default what the table shows.
    asked
        What was asked, in words, by its name.
    curve
        The choice between few ranges and narrow ones.
    beside
        A table protected in several ways, to be shown side by side.
    whys
        Why some cells are not shown.
    limits
        How much is drawn.
    """

    result: Protection
    audit: Audit | None = None
    title: str | None = None
    asked: Mapping[str, str] = field(default_factory=dict)
    curve: TradeOff | None = None
    beside: SideBySide | None = None
    whys: Sequence[Why] = ()
    limits: PageLimits = field(default_factory=PageLimits)
