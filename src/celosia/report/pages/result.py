"""The page of a protection, as ``result.report("page.html")`` writes it."""

from __future__ import annotations

from pathlib import Path

from celosia.arguments import takes
from celosia.progress import SILENT, Progress
from celosia.protection.result import Protection
from celosia.report.followed import with_intervals
from celosia.report.pages.protection import write_protection_page
from celosia.report.pages.seed import seed_of


@takes(result=Protection, path=(str, Path))
def write_result_page(
    result: Protection, path: str | Path, *, title: str | None = None, progress: Progress = SILENT
) -> Path:
    """Write the page of a protection, wholly or not at all, and return its path. Confidential.

    Parameters
    ----------
    result
        What to show.
    path
        Where the page goes; a file of that name is replaced once the new one is complete.
    title
        The page's heading, by default what the table shows.
    progress
        Hears about long steps.
    """
    asked = {"Method": result.method.name} | seed_of(result)
    return write_protection_page(result, path, audit=with_intervals(result, progress), title=title, asked=asked)
