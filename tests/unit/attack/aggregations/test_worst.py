"""The worst aggregation: what is said when time is up, and how soon an ordinary table has an answer."""

from __future__ import annotations

from time import process_time

import numpy as np
import polars as pl
import pytest

from celosia import (
    Digits,
    MinFrequency,
    OutOfTimeError,
    Pattern,
    PPercent,
    Table,
    assess,
    audit_respondents,
    tabulate,
    worst_aggregation,
)

RULE = PPercent(15)
SECONDS = 10  # of the processor: an ordinary table takes one or two


@pytest.fixture(scope="module")
def survey() -> Table:
    """Return turnover of four thousand firms by sector, in two levels, and region: 279 cells."""
    rng, n = np.random.default_rng(5), 4_000
    sectors = np.array([f"{s}{k}" for s in "ABCDEF" for k in range(5)])
    frame = pl.DataFrame(
        {
            "firm": [f"firm {k}" for k in range(n)],
            "sector": rng.choice(sectors, n, p=rng.dirichlet(np.full(30, 0.8))),
            "region": rng.choice([f"region {k}" for k in range(1, 9)], n, p=rng.dirichlet(np.full(8, 2.0))),
            "turnover": np.round(rng.lognormal(6, 2, n), 2),
        }
    )
    by, levels = ["sector", "region"], {"sector": Digits((1, 1))}
    return tabulate(frame, by=by, value="turnover", respondent="firm", contributions=True, hierarchies=levels)


@pytest.fixture(scope="module")
def bare(survey: Table) -> Pattern:
    """Return sensitive cells hidden, and nothing else: many respondents are exposed."""
    return Pattern.hide(survey, np.flatnonzero(assess(survey, RULE, MinFrequency(3)).sensitive))


def test_a_table_of_some_hundred_cells_and_thousands_of_firms_has_an_answer_in_seconds(
    survey: Table, bare: Pattern
) -> None:
    audited = audit_respondents(bare, survey, rule=RULE)
    assert not audited.safe
    began = process_time()
    found = worst_aggregation(bare, survey, rule=RULE)
    assert process_time() - began < SECONDS
    assert found is not None
    assert found.worst
    assert found.excess > 0


def test_where_time_is_up_at_once_nothing_is_called_safe(survey: Table, bare: Pattern) -> None:
    with pytest.raises(OutOfTimeError, match="before it was known whether an aggregation is sensitive") as raised:
        worst_aggregation(bare, survey, rule=RULE, time_limit=0)
    assert "Allow more time." in str(raised.value)


def test_a_safe_release_is_no_better_known_where_time_is_up(survey: Table) -> None:
    everything = Pattern.hide(survey, range(len(survey)))
    assert worst_aggregation(everything, survey, rule=RULE) is None
    with pytest.raises(OutOfTimeError, match="not judged"):
        worst_aggregation(everything, survey, rule=RULE, time_limit=0)


def test_a_sensitive_cell_that_is_shown_is_found_in_no_time_and_called_no_more_than_sensitive(survey: Table) -> None:
    found = worst_aggregation(Pattern.hide(survey, []), survey, rule=RULE, time_limit=0)
    assert found is not None
    assert not found.worst
    assert "it is not known whether another is worse" in str(found)
