"""What the page of a protection shows: audits and searches are run here, before the page is drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from celosia.arguments import takes
from celosia.comparison.audit_to_ends import audit_to_ends
from celosia.progress import SILENT, Progress
from celosia.protection.result import Protection
from celosia.protection.trade_off import TradeOff, trade_off
from celosia.report.pages.beside import SideBySide
from celosia.report.pages.content import PageContent
from celosia.report.seed import describe_seed

if TYPE_CHECKING:
    from celosia.protection.combined.method import Combined
    from celosia.protection.why import Why

POINT_SECONDS = 10.0
"""The most seconds for a point of the trade-off curve: enough for tables of some thousand cells."""

LEAST_SECONDS = 1.0
"""The page may take this long whatever the time limit; with no more than this left, there is no curve."""

CURVE_GAP = 1e-3
"""The search for a point of the curve ends within this share of its bound, less than a plot can show."""


@takes(result=Protection, path=(str, Path))
def write_result_page(
    result: Protection, path: str | Path, *, title: str | None = None, progress: Progress = SILENT
) -> Path:
    """Write the page of a protection, wholly or not at all, and return its path: ``result.report("page.html")``.

    Parameters
    ----------
    result
        What to show. Confidential.
    path
        Where the page goes; a file of that name is replaced once the new one is complete.
    title
        The page's heading, by default what the table shows.
    progress
        Hears about long steps.
    """
    # the plots take a second to import, which only those wait for who ask for a page
    from celosia.report.pages.protection import write_protection_page  # noqa: PLC0415

    asked = {"Method": result.method.name} | describe_seed(result)
    return write_protection_page(PageContent(result, audit_to_ends(result, progress), title, asked), path)


def prepare_page(
    result: Protection,
    title: str,
    asked: Mapping[str, str],
    progress: Progress = SILENT,
    *,
    time_limit: float | None = None,
    gap: float | None = None,
    beside: SideBySide | None = None,
    whys: Sequence[Why] = (),
) -> PageContent:
    """Return the content of a protection's page, with intervals to their ends and the trade-off curve.

    Parameters
    ----------
    result, title, beside, whys
        As in `PageContent`.
    asked
        What was asked, in words; the seed comes on top.
    progress
        Hears about long steps.
    time_limit
        Seconds for search and page together.
    gap
        As in `celosia.protect`, for the points of the curve.
    """
    left = None if time_limit is None else max(LEAST_SECONDS, time_limit - result.seconds)
    audit = audit_to_ends(result, progress, left)
    curve = _trade_off_curve(result, left, gap, progress)
    return PageContent(result, audit, title, {**asked, **describe_seed(result)}, curve, beside, whys)


def _trade_off_curve(result: Protection, left: float | None, gap: float | None, progress: Progress) -> TradeOff | None:
    """Return the curve between few ranges and narrow ones for the method that weighs them; otherwise None.

    Only those respondents attack that came too close on the way to the release: to look for others at every point
    takes too long.
    """
    if not result.method.has_fixed_costs or (left is not None and left <= LEAST_SECONDS):
        return None
    progress.start("weighing the number of ranges against their widths")
    risk, seconds = replace(result.risk, respondents=()), min(left or POINT_SECONDS, POINT_SECONDS)
    method = cast("Combined", result.method)
    return trade_off(risk, method, time_limit=seconds, gap=gap or CURVE_GAP, known=[result])
