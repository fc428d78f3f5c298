"""Respondents in linked tables: a contribution that stands in several leaf cells is one unknown, for SciPy as here."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_oracle import exposed
from tests.property.test_respondents_of_sums import sums_of

import celosia as cz

RULES = [cz.PPercent(20), cz.PriorPosterior(10, 50)]
LINKS = [[["row", "column"], ["row", "group"]], [["row", "column"], ["group"]], [["row", "column"], ["row"]]]
DIMENSIONS = ("row", "column", "group")


def records_of(seed: int) -> pd.DataFrame:
    """Return the records of a few firms, some with several, some of them losses."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 10))
    return pd.DataFrame(
        {
            "row": rng.choice(["A", "B"], n),
            "column": rng.choice(["I", "II"], n),
            "group": rng.choice(["p", "q"], n),
            "firm": [f"f{k}" for k in rng.integers(0, n, n)],
            "turnover": rng.choice([1, 5, 10, 40, 60, -20], n),
        }
    )


def table_of(frame: pd.DataFrame, by: list[list[str]]) -> cz.Table:
    return cz.tabulate(frame, by=by, value="turnover", respondent="firm")


def by_scipy(
    frame: pd.DataFrame,
    by: list[list[str]],
    table: cz.Table,
    pattern: cz.Pattern,
    rule: cz.PPercent | cz.PriorPosterior,
) -> set[str]:
    """Return who is exposed, from records and labels: unknown are the amounts of firms in joint cells."""
    used = [name for name in DIMENSIONS if any(name in names for names in by)]
    summed = sums_of(frame, (*used, "firm"), "turnover")
    contributions = {(key[:-1], key[-1]): float(amount) for key, amount in summed.items()}
    joint = {leaf for leaf, _ in contributions}
    places = [[axis.name for axis in table.axes].index(name) for name in used]
    labels = [tuple(table.labels(axis)[cell] for axis in places) for cell in range(len(table))]
    parts = {
        cell: [leaf for leaf in joint if all(a in ("Total", b) for a, b in zip(cell, leaf, strict=True))]
        for cell in labels
    }
    low, high = cz.publish(pattern).bounds()
    entries = {
        cell: (-np.inf if low.infinite[k] else low.floats[k], np.inf if high.infinite[k] else high.floats[k])
        for k, cell in enumerate(labels)
    }
    q = rule.q if isinstance(rule, cz.PriorPosterior) else 100.0
    return {target for _, target in exposed(entries, parts, contributions, lambda size: size * rule.p / 100, q)}


@few_and_many(8, 60, st.integers(0, 2**32), st.sampled_from(RULES), st.sampled_from(LINKS))
def test_the_audit_exposes_as_many_as_scipy_does_and_in_the_same_joint_cells(
    seed: int, rule: cz.PPercent | cz.PriorPosterior, by: list[list[str]]
) -> None:
    frame = records_of(seed)
    assume(all(len(set(frame[name])) > 1 for name in (*DIMENSIONS, "firm")))
    table = table_of(frame, by)
    rng = np.random.default_rng(seed)
    pattern = cz.Pattern.hide(table, np.flatnonzero(rng.random(len(table)) < rng.choice([0.4, 0.7, 0.95])))
    found = cz.audit_respondents(pattern, table, rule=rule)
    names = by_scipy(frame, by, table, pattern, rule)
    (part,) = found.parts
    assert len(part.exposed) == len(names)
    used = [name for name in DIMENSIONS if any(name in names_ for names_ in by)]
    own = frame[frame["firm"].isin(names)][used]
    homes = {" x ".join(key) for key in own.itertuples(index=False)}
    seen = {label for cells in found.to_frame("pandas")["target_in"] for label in cells.split(", ")}
    assert seen <= homes


def linked_firms() -> pd.DataFrame:
    """Return two firms in a hidden cell of each table, which are the same two."""
    lines = [("A", "I", "p", "a", 50), ("A", "I", "p", "b", 40)]
    lines += [(r, c, g, f"{r}{c}{g}{k}", 1) for r in "AB" for c in ("I", "II") for g in "pq" for k in range(4)]
    return pd.DataFrame(lines, columns=[*DIMENSIONS, "firm", "turnover"])


def test_one_contribution_in_two_hidden_cells_is_not_counted_twice() -> None:
    """Hidden in both tables with nothing beside them, both cells follow from their totals."""
    table = table_of(linked_firms(), LINKS[0])
    cells = [table.find(row="A", column="I"), table.find(row="A", group="p")]
    assert not cz.audit_respondents(cz.Pattern.hide(table, cells), table, rule=cz.PPercent(20)).safe
    assert cz.audit_respondents(cz.Pattern.hide(table, range(len(table))), table, rule=cz.PPercent(20)).safe


def test_a_search_does_not_ask_them_and_says_that_the_audit_does() -> None:
    risk = cz.assess(table_of(linked_firms(), LINKS[0]), cz.PPercent(20))
    assert risk.respondents == ()
    assert "celosia.audit_respondents says what they find" in risk.unasked
    with pytest.raises(cz.DataError, match="stand in several leaf cells each"):
        cz.assess(risk.table, cz.PPercent(20), respondents=cz.PPercent(20))


def test_whoever_waived_his_protection_is_no_target_in_joint_cells() -> None:
    frame = linked_firms().assign(agreed=lambda one: one["firm"].isin(["a", "b"]))
    table = cz.tabulate(frame, by=LINKS[0], value="turnover", respondent="firm", waiver="agreed")
    shown = cz.Pattern.hide(table, [])
    assert cz.audit_respondents(shown, table, rule=cz.PPercent(60)).safe
    assert not cz.audit_respondents(shown, table_of(linked_firms(), LINKS[0]), rule=cz.PPercent(60)).safe


def test_tables_that_were_linked_later_have_no_joint_cells_and_are_refused() -> None:
    parts = [cz.tabulate(linked_firms(), by=by, value="turnover", respondent="firm") for by in LINKS[0]]
    linked = cz.link(parts)
    with pytest.raises(cz.CelosiaError):
        cz.audit_respondents(cz.Pattern.hide(linked, []), linked, rule=cz.PPercent(20))
