"""How much a page draws."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PageLimits:
    """The most that a page draws of anything, so that browsers stay quick and readers find what matters.

    Parameters
    ----------
    cells
        Of all sheets together: browsers grow slow beyond.
    columns
        Of a sheet: a wider one cannot be read.
    rows
        Of a list of cells.
    bars
        Intervals drawn as bars, the tightest ones: a screen full.
    """

    cells: int = 400_000
    columns: int = 1_000
    rows: int = 5_000
    bars: int = 30
