"""The pattern that tau-ARGUS published for tau_testW, Size by Region, Var2: what it hides, audited."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from celosia import Attacker, Hierarchy, Pattern, PPercent, Release, Table, assess, audit, publish, tabulate
from celosia.attack.findings import MISSED
from celosia.attack.result import Audit

TAU = Path(__file__).parents[3] / "shared" / "data" / "tau-argus"
PRIMARY, SECONDARY, EMPTY = "3", "11", "14"
FIELDS = {"Size": (8, 10), "Region": (11, 13), "Var2": (27, 37)}

pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(not TAU.is_dir(), reason=f"public data are not beside the checkout: {TAU}"),
]


@pytest.fixture(scope="module")
def table() -> Table:
    lines = (TAU / "tau_testW.asc").read_text(encoding="latin-1").splitlines()
    columns = {name: [line[start:end] for line in lines] for name, (start, end) in FIELDS.items()}
    columns["Var2"] = [text.strip() for text in columns["Var2"]]
    region = Hierarchy.from_hrc(TAU / "region2.hrc")
    return tabulate(pl.DataFrame(columns), by=["Size", "Region"], value="Var2", hierarchies={"Region": region})


@pytest.fixture(scope="module")
def statuses(table: Table) -> list[str]:
    with (TAU / "expected_size_by_region.txt").open(encoding="latin-1", newline="") as file:
        published = {(size, region): status for size, region, _, status in csv.reader(file)}
    return [published[codes] for codes in zip(table.labels(0), table.labels(1), strict=True)]


@pytest.fixture(scope="module")
def said(table: Table, statuses: list[str]) -> Audit:
    outsiders = assess(table, PPercent(15), attackers=[Attacker.external(table)])
    return audit(release_of(table, statuses), outsiders, intervals=True)


def release_of(table: Table, statuses: list[str]) -> Release:
    hidden = np.array([status in {PRIMARY, SECONDARY} for status in statuses])
    return publish(Pattern.hide(table, hidden))


def interval(said: Audit, **codes: str) -> tuple[object, object]:
    cell = said.risk.table.find(**codes)
    return next((f.lower, f.upper) for f in said.intervals if f.cell == cell)


def test_the_release_hides_nine_primaries_and_their_secondaries(said: Audit, statuses: list[str]) -> None:
    assert statuses.count(PRIMARY) == 9
    assert EMPTY not in statuses
    assert len(said.intervals) == statuses.count(PRIMARY) + statuses.count(SECONDARY)
    assert sorted(v.requirement.cell for v in said.verdicts) == np.flatnonzero(np.array(statuses) == PRIMARY).tolist()


def test_every_primary_has_a_proper_interval_that_holds_the_truth(said: Audit, table: Table) -> None:
    primary = {verdict.requirement.cell for verdict in said.verdicts}
    for finding in said.intervals:
        assert finding.exact
        assert finding.lower is not None
        truth = table.amounts.fraction(finding.cell)
        assert finding.lower <= truth
        assert finding.upper is None or truth <= finding.upper
        if finding.cell in primary:
            assert finding.upper is None or finding.lower < finding.upper


def test_size_9_region_4_lies_between_0_and_30118(said: Audit, table: Table) -> None:
    assert table.amounts.fraction(table.find(Size=" 9", Region=" 4")) == 11_968
    assert interval(said, Size=" 9", Region=" 4") == (0, 30_118)


def test_at_the_levels_of_p_15_the_pattern_protects_all_nine_primaries_against_outsiders(said: Audit) -> None:
    """Of every primary both ends are further away than the p% rule asks; most can be anything from 0 to 20 or 25."""
    assert [verdict.result for verdict in said.verdicts] == ["met"] * 9
    assert said.safe


def test_respondents_are_not_all_protected_by_it(table: Table, statuses: list[str]) -> None:
    """What outsiders cannot know two contributors can: each knows what he contributes himself."""
    found = audit(release_of(table, statuses), assess(table, PPercent(15)))
    missed = {found.risk.attackers[verdict.requirement.attacker].name for verdict in found.of_result(MISSED)}
    assert not found.safe
    assert missed
    assert all("respondent" in name for name in missed)


def test_the_secondaries_of_large_sizes_are_all_but_published(said: Audit) -> None:
    """Hiding a cell is not protecting it: of (size 6, Nr), some 660,000, everybody knows all but a width of 25."""
    assert interval(said, Size=" 6", Region="Nr") == (659_665, 659_690)
