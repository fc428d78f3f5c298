"""Linked tables protected against respondents: attacks on records find nothing, and the bound holds for all patterns.

Who attacks knows that his contribution is one number in all tables; the judge (`linked_records`) knows records and
labels, and nothing of joint cells, searches or certificates.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many
from tests.oracles.linked_records import LinkedRecords

import celosia as cz
from celosia.protection.method import Method

DIMENSIONS = ("row", "column", "group")
LINKS = [[["row", "column"], ["row", "group"]], [["row", "column"], ["group"]]]
RULES: list[cz.PPercent | cz.PriorPosterior] = [
    cz.PPercent(20),
    cz.PriorPosterior(10, 50),
    cz.PPercent(15, coalition=2),
]
AMOUNTS = [1, 2, 5, 10, 40, 60, 100, 20]


def records_of(seed: int) -> pd.DataFrame:
    """Return records of firms, some with several, some with losses alone; every third firm has the owner of another."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, 10))
    firm = rng.integers(0, n, n)
    return pd.DataFrame(
        {
            "row": rng.choice(["A", "B", "C"], n),
            "column": rng.choice(["I", "II"], n),
            "group": rng.choice(["p", "q"], n),
            "firm": [f"f{k}" for k in firm],
            "owner": [f"f{k - 1 if k % 3 == 0 and k else k}" for k in firm],
            "turnover": rng.choice(AMOUNTS, n) * np.where(firm == 1, -1, 1),
        }
    )


def table_of(frame: pd.DataFrame, by: list[list[str]], *, owner: str) -> tuple[cz.Table, LinkedRecords]:
    """Return linked tables, and what is known of their records."""
    names = [name for name in DIMENSIONS if any(name in one for one in by)]
    assume(all(len(set(frame[name])) > 1 for name in (*names, "firm", "owner")))
    holding = None if owner == "firm" else owner
    table = cz.tabulate(frame, by=by, value="turnover", respondent="firm", holding=holding)
    return table, LinkedRecords.of(frame, names, table, owner, "turnover")


def protected(risk: cz.Risk, method: Method) -> cz.Protection | None:
    """Return a protection; None where respondents stay exposed whatever is hidden."""
    try:
        return cz.protect(risk, method)
    except cz.InfeasibleError:
        return None


@few_and_many(
    4, 120, st.integers(0, 2**32), st.sampled_from(RULES), st.sampled_from(LINKS), st.sampled_from(["firm", "owner"])
)
def test_nobody_is_exposed_by_records_and_no_pattern_that_is_as_safe_costs_less_than_the_bound(
    seed: int, rule: cz.PPercent | cz.PriorPosterior, by: list[list[str]], owner: str
) -> None:
    table, records = table_of(records_of(seed), by, owner=owner)
    risk = cz.assess(table, rule, cost="unity")
    assume(risk.sensitive.any())
    found = protected(risk, cz.Suppress())
    everything = cz.Pattern.hide(table, range(len(table)))
    if found is None:
        assert records.exposed(everything, rule)
        return
    assert found.safe
    assert found.risk.respondents == (rule,)
    assert records.exposed(found.pattern, rule) == set()
    assert cz.verify(cz.certify(found), risk, cz.publish(found)).proved
    cells = replace(risk, respondents=())
    must, free = np.flatnonzero(risk.sensitive), np.flatnonzero(~risk.sensitive)
    fewer = int(np.ceil(found.bound - 1e-6)) - 1 - len(must)
    for more in combinations(free.tolist(), fewer) if 0 <= fewer <= 3 else ():
        pattern = cz.Pattern.hide(table, np.union1d(must, np.array(more, dtype=np.int64)))
        assert not cz.audit(pattern, cells).safe or records.exposed(pattern, rule)


@pytest.mark.filterwarnings("ignore::celosia.MidpointWarning")
@few_and_many(
    1, 30, st.integers(0, 2**32), st.sampled_from(RULES), st.sampled_from(LINKS), st.sampled_from(["firm", "owner"])
)
@pytest.mark.parametrize("method", [cz.Intervals(), cz.Combined(), cz.Mixed()], ids=lambda one: one.name)
def test_ranges_of_linked_tables_expose_nobody(
    method: Method, seed: int, rule: cz.PPercent | cz.PriorPosterior, by: list[list[str]], owner: str
) -> None:
    table, records = table_of(records_of(seed), by, owner=owner)
    risk = cz.assess(table, rule)
    assume(risk.sensitive.any())
    found = protected(risk, method)
    if found is None:
        return
    assert found.safe
    assert records.exposed(found.pattern, rule) == set()
    assert cz.verify(cz.certify(found), risk, cz.publish(found)).proved


@few_and_many(2, 20, st.integers(0, 2**32), st.sampled_from(["firm", "owner"]))
def test_amounts_of_a_trillion_with_cents_and_two_rules_are_judged_in_fractions(seed: int, owner: str) -> None:
    rng = np.random.default_rng(seed)
    frame = records_of(seed).head(7)
    cents = rng.integers(1, 100, len(frame))
    frame["turnover"] = [
        f"{abs(own) * 10**10 + 7}.{cent:02d}" for own, cent in zip(frame["turnover"], cents, strict=True)
    ]
    exact = pd.Series([Decimal(text) for text in frame["turnover"]], index=frame.index, dtype=object)
    frame["turnover"] = exact
    table, records = table_of(frame, LINKS[0], owner=owner)
    first, second = cz.PPercent(20), cz.PriorPosterior(5, 40)
    risk = cz.assess(table, first, second, cost="unity")
    assume(risk.sensitive.any())
    found = protected(risk, cz.Suppress())
    if found is not None:
        assert records.exactly_exposed(found.pattern, first) == set()
        assert records.exactly_exposed(found.pattern, second) == set()


@few_and_many(3, 40, st.integers(0, 2**32), st.sampled_from([0.001, 0.2, 1.0]))
def test_what_a_short_limit_leaves_is_safe_or_nothing(seed: int, limit: float) -> None:
    table, records = table_of(records_of(seed), LINKS[0], owner="firm")
    risk = cz.assess(table, RULES[0])
    assume(risk.sensitive.any())
    try:
        found = cz.protect(risk, cz.Suppress(), time_limit=limit)
    except (cz.OutOfTimeError, cz.InfeasibleError):
        return
    assert records.exposed(found.pattern, RULES[0]) == set()
