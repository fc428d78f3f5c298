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
from celosia.certificate.canonical import digests
from celosia.certificate.certificate import Certificate
from celosia.protection.method import Method

RULES = [cz.PPercent(20), cz.PriorPosterior(10, 50)]
LINKS = [[["row", "column"], ["row", "group"]], [["row", "column"], ["group"]], [["row", "column"], ["row"]]]
DIMENSIONS = ("row", "column", "group")


def records_of(seed: int) -> pd.DataFrame:
    """Return the records of a few firms, some with several, some with losses alone."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 10))
    frame = pd.DataFrame(
        {
            "row": rng.choice(["A", "B"], n),
            "column": rng.choice(["I", "II"], n),
            "group": rng.choice(["p", "q"], n),
            "firm": [f"f{k}" for k in rng.integers(0, n, n)],
            "turnover": rng.choice([1, 5, 10, 40, 60, 20], n),
        }
    )
    frame.loc[frame["firm"].isin(["f1", "f4"]), "turnover"] *= -1
    return frame


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


def test_where_one_contribution_is_in_several_cells_and_not_known_in_which_nobody_is_asked_and_a_note_says_so() -> None:
    parts = [cz.tabulate(linked_firms(), by=by, value="turnover", respondent="firm") for by in LINKS[0]]
    risk = cz.assess(cz.link(parts), cz.PPercent(20))
    assert risk.respondents == ()
    assert "Respondents were not asked" in (risk.unasked_note or "")


@pytest.mark.filterwarnings("ignore::celosia.MidpointWarning")
@pytest.mark.parametrize("method", [cz.Round(100), cz.Perturb(200), cz.Intervals(at_most=20)], ids=lambda one: one.name)
def test_searches_that_cannot_ask_them_say_so_and_refuse_to_where_it_is_demanded(method: Method) -> None:
    table = table_of(linked_firms(), LINKS[0])
    risk = cz.assess(table, cz.PPercent(20))
    assert risk.respondents == (cz.PPercent(20),)
    found = cz.protect(risk, method, time_limit=20)
    assert any("several leaf cells of linked tables" in note for note in found.notes)
    assert found.risk.respondents == ()
    alone = cz.assess(table, cz.PPercent(20), attackers=[cz.Attacker.external(table)])
    with pytest.raises(cz.SpecError, match="several leaf cells of linked tables"):
        cz.protect(alone, method, respondents=cz.PPercent(20))


def test_an_audit_of_cells_counts_who_is_exposed_in_joint_cells() -> None:
    table = table_of(linked_firms(), LINKS[0])
    risk = cz.assess(table, cz.PPercent(20))
    cells = [table.find(row="A", column="I"), table.find(row="A", group="p")]
    found = cz.audit(cz.Pattern.hide(table, cells), risk)
    assert not found.safe
    assert found.exposed == len(cz.audit_respondents(cz.Pattern.hide(table, cells), risk).parts[0].exposed) > 0
    assert "exposed" in repr(found)
    assert not cz.certify(found).safe


def test_a_certificate_of_linked_tables_holds_beside_its_problem_only_and_with_all_its_tables() -> None:
    table = table_of(linked_firms(), LINKS[0])
    risk = cz.assess(table, cz.PPercent(20))
    found = cz.protect(risk)
    certificate, release = cz.certify(found), cz.publish(found)
    assert cz.verify(certificate, risk, release).proved
    other = cz.assess(table_of(linked_firms().assign(group="p"), LINKS[0]), cz.PPercent(20))
    assert not cz.verify(certificate, other, release).proved
    content = dict(certificate.content)
    more = content["joint"] | {"cells": content["joint"]["cells"] + 1}
    changes: list[dict[str, object]] = [{"contributors": []}, {"joint": more}]
    for part in changes:
        forged = dict(content) | part
        forged["sha256"] = digests(forged)
        assert not cz.verify(Certificate(forged, certificate.counts), risk, release).proved
    without = {name: part for name, part in content.items() if name != "joint"} | {"contributors": []}
    without["sha256"] = digests(without)
    assert not cz.verify(Certificate(without, certificate.counts), risk, release).proved


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


def test_who_gains_and_loses_in_one_cell_of_linked_tables_is_not_counted_by_both() -> None:
    """Firm m adds 5 to column I: by its gain of 100 and its loss of 95 the others there were hidden, and are not."""
    lines = [("I", "p", "t", 100), ("I", "p", "m", 100), ("I", "q", "m", -95), ("I", "p", "x", 1)]
    lines += [("II", group, f"{group}{k}", 100) for group in "pq" for k in range(2)]
    frame = pd.DataFrame(lines, columns=["column", "group", "firm", "turnover"])
    apart = cz.tabulate(frame, by=["column"], value="turnover", respondent="firm")
    assert not cz.audit_respondents(cz.Pattern.hide(apart, []), apart, rule=cz.PPercent(10)).safe
    linked = cz.tabulate(frame, by=[["column"], ["group"]], value="turnover", respondent="firm")
    groups = cz.Pattern.hide(linked, [linked.find(group=group) for group in "pq"])
    with pytest.raises(cz.DataError, match="opposite signs"):
        cz.audit_respondents(groups, linked, rule=cz.PPercent(10))
    assert "not asked: somebody contributes a gain" in (cz.assess(linked, cz.PPercent(10)).unasked_note or "")
    assert not cz.assess(linked, cz.PPercent(10)).respondents
