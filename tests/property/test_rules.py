"""Rules against the oracle: verdicts and levels in fractions, ties included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import polars as pl
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from celosia.risk.assess import assess
from celosia.risk.cell_rules import Requests
from celosia.risk.finding import Rule
from celosia.risk.rules import Dominance, MinFrequency, PPercent, PriorPosterior
from celosia.source.tabulate import tabulate
from celosia.table.table import Table
from celosia.tolerance import LEVEL_DECIMALS
from tests.property import brute_force
from tests.property.brute_force import Contributor, Record
from tests.property.drawn import Draw, draws

PERCENTAGES = ["1", "5", "10", "12.5", "20", "25", "33.3", "50", "66.67", "90"]
Judge = Callable[[Sequence[Contributor], Sequence[Contributor], Fraction], Fraction | None]


@st.composite
def rules(draw: st.DrawFn, *, by: Sequence[str], asks: bool) -> tuple[Rule, Judge]:
    """Return a rule and how the oracle judges a cell by it, from respondents, holdings and the value."""
    kind = draw(st.sampled_from(["frequency", "dominance", "p", "pq", *(["request"] if asks else [])]))
    whose = draw(st.sampled_from(by))

    def chosen(respondents: Sequence[Contributor], holdings: Sequence[Contributor]) -> Sequence[Contributor]:
        return holdings if whose == "holding" or (whose == "auto" and "holding" in by) else respondents

    p, k, share = (draw(st.sampled_from(PERCENTAGES)) for _ in range(3))
    n = draw(st.integers(1, 3))
    if kind == "frequency":
        return MinFrequency(n + 1, float(p), by=whose), lambda r, h, value: brute_force.min_frequency(  # type: ignore[arg-type]
            chosen(r, h), n + 1, Fraction(p), value
        )
    if kind == "dominance":
        return Dominance(n, float(k), by=whose), lambda r, h, _: brute_force.dominance(chosen(r, h), n, Fraction(k))  # type: ignore[arg-type]
    if kind == "request":
        return Requests(float(share), float(p)), lambda r, _, value: brute_force.request(
            r, Fraction(share), Fraction(p), value
        )
    q = (
        "100"
        if kind == "p"
        else draw(st.sampled_from([each for each in [*PERCENTAGES, "100"] if float(each) > float(p)]))
    )
    rule = PPercent(float(p), n, by=whose) if kind == "p" else PriorPosterior(float(p), float(q), n, by=whose)  # type: ignore[arg-type]
    return rule, lambda r, h, _: brute_force.prior_posterior(chosen(r, h), Fraction(p), Fraction(q), n)
