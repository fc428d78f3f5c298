"""Protection of respondents: the cure for Tables 4 and 7 of Daalmans and de Waal (2010), and what is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.golden.test_daalmans_dewaal_2010 import TABLE_3, TABLE_4, TABLE_6, TABLE_7, TWENTY

from celosia.attack.audit import MISSED, audit
from celosia.attack.respondents import audit_respondents
from celosia.attack.single_contributions import open_attacks
from celosia.certify.certificate import certify
from celosia.certify.verify import verify
from celosia.errors import DataError, InfeasibleError, SpecError
from celosia.pattern.pattern import Pattern
from celosia.protect.methods import protect
from celosia.protect.suppress import Suppress
from celosia.risk.assess import assess
from celosia.risk.rules import PPercent
from celosia.table.table import Table


@pytest.mark.parametrize(("table", "printed"), [(TABLE_3, TABLE_4), (TABLE_6, TABLE_7)], ids=["4", "7"])
def test_the_cure_for_tables_4_and_7_hides_more_and_leaves_nobody_exposed(table: Table, printed: Pattern) -> None:
    risk = assess(table, TWENTY, cost="unity")
    found = protect(risk, Suppress(), respondents=TWENTY)
    assert audit_respondents(found, rule=TWENTY).safe
    assert open_attacks(found.pattern, table, TWENTY) == []
    assert not audit_respondents(printed, table, rule=TWENTY).safe
    assert found.optimal
    assert found.closing is not None
    assert found.cost >= found.closing.cost


def test_certificates_cover_the_requirements_of_respondents(tmp_path: Path) -> None:
    found = protect(assess(TABLE_3, TWENTY, cost="unity"), Suppress(), respondents=TWENTY)
    assert found.risk.further is not None
    names = {attacker.name for attacker in found.risk.attackers}
    assert any(name.startswith("respondent ") for name in names)
    certify(found).write(tmp_path / "proof.json")
    said = verify(tmp_path / "proof.json")
    assert said.counts["requirements"] == said.counts["requirements_proved"] == len(found.risk.requirements)
    assert len(found.risk.requirements) > len(found.risk.further)


def test_a_pattern_that_is_safe_anyway_costs_one_round() -> None:
    found = protect(assess(TABLE_6, PPercent(1), cost="unity"), Suppress(), respondents=PPercent(1))
    assert found.closing is not None
    assert (found.closing.pairs, found.closing.cost) == (0, found.cost)


def test_without_contributions_it_is_refused() -> None:
    risk = assess(replace(TABLE_3, contributions=None), TWENTY)
    with pytest.raises(SpecError, match="contributions: the table does not know single contributions"):
        protect(risk, Suppress(), respondents=TWENTY)


def test_what_cannot_be_hidden_leaves_somebody_exposed() -> None:
    """Everything but the cells of Table 4 must be shown."""
    shown = [cell for cell in range(len(TABLE_3)) if TABLE_4.status[cell] == "shown"]
    with pytest.raises(InfeasibleError):
        protect(assess(TABLE_3, TWENTY), Suppress(must_show=shown), respondents=TWENTY)


def test_time_that_is_up_is_an_error_or_a_safe_pattern() -> None:
    risk = assess(TABLE_3, TWENTY, cost="unity")
    found = protect(risk, Suppress(), respondents=TWENTY, time_limit=30)
    assert audit_respondents(found, rule=TWENTY).safe


def test_contributions_that_do_not_add_up_are_refused() -> None:
    said = TABLE_3.contributions
    assert said is not None
    table = replace(TABLE_3, contributions=replace(said, amount=said.amount + 1))
    with pytest.raises(DataError, match="do not add up"):
        protect(assess(table, TWENTY), Suppress(), respondents=TWENTY)


def test_an_audit_of_a_risk_that_protects_respondents_asks_them() -> None:
    risk = assess(TABLE_3, TWENTY, respondents=TWENTY)
    assert audit(TABLE_4, replace(risk, respondents=None)).safe
    said = audit(TABLE_4, risk)
    assert not said.safe
    missed = {said.risk.attackers[one.requirement.attacker].name for one in said.of_result(MISSED)}
    assert all(name.startswith("respondent ") for name in missed)
    assert len(missed) == 2
    assert audit(protect(risk)).safe


def test_a_certificate_belongs_to_the_problem_whose_respondents_it_protects(tmp_path: Path) -> None:
    risk = assess(TABLE_3, TWENTY, cost="unity", respondents=TWENTY)
    certify(protect(risk)).write(tmp_path / "proof.json")
    assert verify(tmp_path / "proof.json", problem=risk).proved
    other = verify(tmp_path / "proof.json", problem=replace(risk, respondents=None))
    assert not other.proved
    assert "other attackers" in str(other.problems[0])
