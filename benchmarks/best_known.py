"""Best known costs and bounds of CSPLIB's tables, read off the rows of the benchmark for the page in the docs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.registry import Row

VALUES, UNITY, HALF = "costs = values", "unit costs", "LPL = UPL / 2"
VARIANTS = {
    VALUES: "Costs = values, lower = upper levels",
    UNITY: "Unit costs, lower = upper levels",
    HALF: "Costs = values, lower levels half of the upper ones",
}
"""What is varied, as rows of the benchmark call it, and in words."""

_NUMBER = r"([\d,]+)"
_FOUND = re.compile(rf"cost {_NUMBER}, bound {_NUMBER}, .*?{_NUMBER} of {_NUMBER} hidden")
_UNSAFE = "NOT SAFE"


@dataclass(frozen=True, slots=True)
class Known:
    """The least cost of a safe pattern and the highest bound that runs of a table have found.

    Parameters
    ----------
    cost, bound
        Both may come of different runs.
    hidden, cells
        How many cells the cheapest pattern hides, and how many there are.
    """

    cost: int
    bound: int
    hidden: int
    cells: int

    def join(self, other: Known) -> Known:
        """Return the better pattern with the higher bound."""
        best = min(self, other, key=lambda one: one.cost)
        return Known(best.cost, max(self.bound, other.bound), best.hidden, best.cells)

    @property
    def gap(self) -> float:
        """How much of the cost is not proved to be needed."""
        return 1 - self.bound / self.cost if self.cost else 0.0


def best_known(rows: Iterable[Row]) -> dict[str, dict[str, Known]]:
    """Return what is known of every table, by variant; patterns that the audit refuted are left out."""
    known: dict[str, dict[str, Known]] = {variant: {} for variant in VARIANTS}
    for row in rows:
        match = _FOUND.search(row.measured)
        if match is None or _UNSAFE in row.measured:
            continue
        found = Known(*(int(text.replace(",", "")) for text in match.groups()))
        table, _, rest = row.what.partition(", ")
        of_variant = known[next((variant for variant in (UNITY, HALF) if rest.startswith(variant)), VALUES)]
        of_variant[table] = of_variant[table].join(found) if table in of_variant else found
    return known


def describe(rows: Iterable[Row]) -> list[str]:
    """Return the best known costs and bounds as lines of Markdown, a table for each variant."""
    lines: list[str] = []
    for variant, tables in best_known(rows).items():
        if not tables:
            continue
        lines += [f"**{VARIANTS[variant]}**", ""]
        lines += ["| table | cells | best known cost | bound | gap | hidden |", "|---|---:|---:|---:|---:|---:|"]
        for name, known in tables.items():
            gap = "proved" if known.bound >= known.cost else f"{known.gap:.1%}"
            share = f"{known.hidden:,} ({known.hidden / known.cells:.0%})"
            lines.append(f"| {name} | {known.cells:,} | {known.cost:,} | {known.bound:,} | {gap} | {share} |")
        lines.append("")
    return lines or ["Nothing is measured yet: run `python -m benchmarks csplib`."]
