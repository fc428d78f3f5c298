"""Where the truth lies in ranges, by the levels that are asked for (Baena, Castro and Gonzalez, Tables 3 and 4).

python -m benchmarks.midpoints docs/_static/midpoints.svg     prints the table of docs/howto/intervals.md, and draws
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

import celosia as cz
from benchmarks.instances import instance
from celosia.pattern.midpoint import midpoints
from celosia.table.fixed import Fixed

_TITLES = ("LPL = UPL", "LPL = UPL / 2", '`levels="sliding"`, shifted')


def releases() -> list[cz.Protection]:
    """Return the ranges of h1 with unit costs: equal levels, levels that differ, and sliding ones."""
    warnings.simplefilter("ignore", cz.MidpointWarning)
    equal = instance("h1", unity=True)
    lower = equal.levels.lower
    differ = replace(equal, levels=replace(equal.levels, lower=Fixed(5 * lower.counts, lower.decimals + 1)))
    sliding = cz.Intervals(secret=1, levels="sliding", conceal=False)
    plain = cz.Intervals(conceal=False)
    return [cz.protect(equal, plain), cz.protect(differ, plain), cz.protect(equal, sliding)]


def main(path: Path) -> None:
    """Print the table, and draw the plot."""
    found = releases()
    shares = [midpoints(release.pattern).shares for release in found]
    for title, release, own in zip(_TITLES, found, shares, strict=True):
        ranges = int((release.pattern.status == "interval").sum())
        said = " | ".join(f"{share:.1%}".replace(".0%", "%").replace("%", " %") for share in own.values())
        print(f"| {title} | {ranges} | {release.cost:,.0f} | {said} |")
    with rc_context(
        {"svg.hashsalt": "midpoints", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    ):
        figure = Figure(figsize=(7, 3), layout="constrained")
        axes = figure.subplots()
        place = np.arange(len(shares[0]))
        for k, (title, own) in enumerate(zip(_TITLES, shares, strict=True)):
            axes.bar(place + 0.27 * (k - 1), list(own.values()), width=0.25, label=title.replace("`", ""))
        axes.set_xticks(place, list(shares[0]))
        axes.set_xlabel("the middle of a range of width 100, relative to the true value")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda one, _: f"{one:.0%}"))
        axes.set_ylabel("share of ranges")
        axes.legend(frameon=False)
        figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
