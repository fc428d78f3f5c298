"""A part of the demo's table in two ways: with hidden cells, and with ranges in their place."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from celosia.attack.audit import audit
from celosia.attack.result import Audit
from celosia.errors import CelosiaError, MidpointWarning
from celosia.job.demo.data import industry, region
from celosia.progress import SILENT, Progress
from celosia.protection.intervals.method import Intervals
from celosia.protection.protect import protect
from celosia.protection.result import Protection
from celosia.protection.suppression.method import Suppress
from celosia.report.loss import Loss, loss
from celosia.risk.assess import assess
from celosia.risk.attacker import Attacker
from celosia.risk.risk import Risk
from celosia.risk.rules.finding import Rule
from celosia.source.tabulate import tabulate
from celosia.table.hierarchy import Hierarchy

SECTION = "C"
"""Manufacturing, by divisions and groups, and by the four regions: small enough to be looked at."""

SECONDS = 10.0
"""Each of the two has so long."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One table with hidden cells and with ranges.

    Parameters
    ----------
    results
        The two protections.
    audits
        What attackers conclude from each.
    """

    results: tuple[Protection, Protection]
    audits: tuple[Audit, Audit]

    @property
    def losses(self) -> tuple[Loss, Loss]:
        """What readers lose by each."""
        table = self.results[0].risk.table
        hidden, ranges = (
            loss(result.pattern, table, found) for result, found in zip(self.results, self.audits, strict=True)
        )
        return hidden, ranges

    @property
    def fact(self) -> str:
        """What the two lose, in a sentence."""
        risk = self.results[0].risk
        hidden, ranges = self.losses
        wide, narrow = hidden.width or 0.0, ranges.width or 0.0
        less = f", {1 - narrow / wide:.0%} less" if wide > narrow else ""
        return (
            f"Ranges tell more than crosses: of manufacturing by regions ({len(risk):,} cells,"
            f" {int(risk.sensitive.sum()):,} sensitive), against outsiders alone, suppression hides"
            f" {hidden.hidden:,} cells, which readers can guess within {wide:,.0f} in all ({_gap(self.results[0])});"
            f" ranges for {ranges.hidden:,} cells are {narrow:,.0f} wide in all{less} ({_gap(self.results[1])})."
        )


def _gap(result: Protection) -> str:
    return "optimal" if result.gap < 1e-4 else f"gap {result.gap:.1%}"  # noqa: PLR2004  (rounding of ends)


def manufacturing(data: pa.Table, rules: Sequence[Rule]) -> Risk:
    """Return manufacturing firms by industry and by the four regions, assessed as the whole table is.

    An outsider attacks alone: that ranges are narrow against firms, too, takes longer than anybody watches a demo.
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


def in_two_ways(data: pa.Table, rules: Sequence[Rule], seed: int, progress: Progress = SILENT) -> Pair | None:
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
            method = Intervals("unity", levels="sliding", secret=seed, search="cuts")
            ranges = protect(risk, method, time_limit=SECONDS, progress=progress)
    except CelosiaError:
        return None
    return Pair((hidden, ranges), (audit(hidden, intervals=True), audit(ranges, intervals=True)))
