"""A part of the demo's table in two ways: with hidden cells, and with ranges in their place."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from celosia.attack.audit import audit
from celosia.errors import CelosiaError, MidpointWarning
from celosia.job.demo.data import industry, region
from celosia.progress import SILENT, Progress
from celosia.protection.intervals.method import Intervals
from celosia.protection.protect import protect
from celosia.protection.result import Protection
from celosia.protection.suppression.method import Suppress
from celosia.report.loss import loss
from celosia.report.pages.beside import SideBySide
from celosia.risk.assess import assess
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Risk
from celosia.risk.rules.finding import Rule
from celosia.source.tabulate import tabulate
from celosia.table.hierarchy import Hierarchy

SECTION = "C"
"""Manufacturing, by divisions and groups, and by the four regions: small enough to be looked at."""

SECONDS = 10.0
"""The time limit of each of the two."""


TITLE = "Manufacturing by regions, against outsiders alone: suppressed and as ranges (levels not concealed)"


def describe_pair(pair: SideBySide) -> str:
    """Return what readers lose by hidden cells and by ranges, in a sentence."""
    (first, second), risk = pair.results, pair.results[0].risk
    hidden, ranges = (
        loss(result.pattern, risk.table, found) for result, found in zip(pair.results, pair.audits, strict=True)
    )
    wide, narrow = hidden.width or 0.0, ranges.width or 0.0
    less = f", {1 - narrow / wide:.0%} less" if wide > narrow else ""
    return (
        f"Ranges tell more than crosses: of manufacturing by regions ({len(risk):,} cells,"
        f" {int(risk.sensitive.sum()):,} sensitive), against outsiders alone, suppression hides"
        f" {hidden.hidden:,} cells, which readers can guess within {wide:,.0f} in all ({_gap(first)});"
        f" ranges for {ranges.hidden:,} cells are {narrow:,.0f} wide in all{less} ({_gap(second)})."
        " Levels are not concealed here, as they are by default: ranges are wider then, and tell no contribution."
    )


def _gap(result: Protection) -> str:
    return "optimal" if result.gap < 1e-4 else f"gap {result.gap:.1%}"  # noqa: PLR2004  (rounding of ends)


def manufacturing(data: pa.Table, rules: Sequence[Rule]) -> Risk:
    """Return manufacturing firms by industry and by the four regions, assessed as the whole table is.

    An outsider attacks alone: that ranges are narrow against firms, too, takes too long for a demo.
    """
    above = {path[-1]: path[0] for path in region().paths() if path}
    regions = pa.array([above[name] for name in data["region"].to_pylist()])
    data = data.set_column(data.schema.get_field_index("region"), "region", regions)
    inside = [path[1:] for path in industry().paths() if path[:1] == (SECTION,) and len(path) > 1]
    table = tabulate(
        data.filter(pc.starts_with(data["industry"], SECTION)),
        by=["industry", "region"],
        value="turnover",
        respondent="firm",
        holding="group",
        request="request",
        waiver="waiver",
        contributions=False,
        hierarchies={
            "industry": Hierarchy.from_paths(inside, total=SECTION),
            "region": Hierarchy.flat(dict.fromkeys(above.values())),
        },
    )
    return assess(table, *rules, cost="value", attackers=[Attacker.external(table)])


def protect_in_two_ways(
    data: pa.Table, rules: Sequence[Rule], seed: int, progress: Progress = SILENT
) -> SideBySide | None:
    """Return a part of the demo's table suppressed and as ranges; None where it cannot be, as with very few firms.

    Parameters
    ----------
    data
        The firms.
    rules
        What is sensitive.
    seed
        From which ranges are placed: in a demo it is no secret.
    progress
        Hears how far it has come.
    """
    try:
        risk = manufacturing(data, rules)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", MidpointWarning)
            hidden = protect(risk, Suppress("value"), time_limit=SECONDS, progress=progress)
            method = Intervals("unity", levels="sliding", conceal=False, secret=seed, search="cuts")
            ranges = protect(risk, method, time_limit=SECONDS, progress=progress)
    except CelosiaError:
        return None
    return SideBySide(TITLE, (hidden, ranges), (audit(hidden, intervals=True), audit(ranges, intervals=True)))
