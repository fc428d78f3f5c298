"""Protection of respondents: the cure for Tables 4 and 7 of Daalmans and de Waal (2010), and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from tests.golden.test_daalmans_dewaal_2010 import TABLE_3, TABLE_4, TABLE_6, TABLE_7, TWENTY
from tests.oracles.single_contributions import open_attacks

from celosia import (
    DataError,
    InfeasibleError,
    Intervals,
    Pattern,
    PPercent,
    SpecError,
    Suppress,
    Table,
    assess,
    audit,
    audit_respondents,
    certify,
    protect,
    publish,
    tabulate,
    verify,
)
from celosia.attack.findings import MISSED
from celosia.certificate.canonical import digests
from celosia.protection.method import Method


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


def test_the_trace_knows_costs_of_patterns_that_nobody_attacks_with_success_only() -> None:
    found = protect(assess(TABLE_3, TWENTY, cost="unity"), Suppress(), respondents=TWENTY)
    assert found.closing is not None
    assert found.cost > found.closing.cost
    assert found.trace[-1][1:3] == (found.cost, found.bound)
    assert all(cost is None or cost >= found.cost for _, cost, _, _ in found.trace)
    assert all(bound <= found.cost for _, _, bound, _ in found.trace)
    times = [seconds for seconds, *_ in found.trace]
    assert times == sorted(times)


def test_certificates_cover_the_requirements_of_respondents(tmp_path: Path) -> None:
    found = protect(assess(TABLE_3, TWENTY, cost="unity"), Suppress(), respondents=TWENTY)
    assert found.risk.further is not None
    names = {attacker.name for attacker in found.risk.attackers}
    assert any(name.startswith("respondent ") for name in names)
    certify(found).write(tmp_path / "proof.json")
    said = verify(tmp_path / "proof.json")
    assert said.counts["requirements"] == said.counts["requirements_proved"] == len(found.risk.requirements)
    assert len(found.risk.requirements) > len(found.risk.further)


@pytest.mark.parametrize("part", ["requirements", "proofs", "witnesses", "attackers"])
def test_a_certificate_whose_respondents_were_altered_proves_nothing(tmp_path: Path, part: str) -> None:
    """Also where the hashes were made again: a level, a proof, a table or what a respondent knows does not fit."""
    found = protect(assess(TABLE_3, TWENTY, cost="unity"))
    assert found.risk.further is not None
    content = json.loads(certify(found).text())
    last = len(found.risk.requirements) - 1
    if part == "requirements":
        content[part]["upper"] = _raised(content[part]["upper"], last, 1000)
    elif part == "proofs":
        content[part]["up"] = _raised(content[part]["up"], last, -1)
    elif part == "witnesses":
        content[part]["moves"] = _raised(content[part]["moves"], -1, 1)
    else:
        respondent = content["requirements"]["attackers"][-1]
        assert respondent["name"].startswith("respondent ")
        respondent["upper"] = respondent["lower"]  # knows nothing that could be true
    for rehashed in (False, True):
        if rehashed:
            content["sha256"] = digests(content)
        (tmp_path / "proof.json").write_text(json.dumps(content), encoding="ascii")
        try:
            assert not verify(tmp_path / "proof.json").consistent
        except DataError:
            assert rehashed  # a column that cannot be read


def _raised(part: dict[str, str], place: int, by: int) -> dict[str, str]:
    """Return a column with another number at a place."""
    entries = part["numbers"].split(" ")
    times = [int(n) for n in part["times"].split(" ")] if part["times"] else [1] * len(entries)
    numbers = [int(number) for number, n in zip(entries, times, strict=True) for _ in range(n)]
    numbers[place] += by
    return part | {"numbers": " ".join(map(str, numbers)), "times": ""}


def test_holdings_in_several_cells_are_closed_exactly() -> None:
    """A holding alone in two cells that hang together: the pattern is optimal, and every corner stays possible."""
    lines = [("A", "I", 100, "h"), ("B", "II", 60, "h"), ("A", "II", 30, "a"), ("B", "I", 50, "b")]
    lines += [
        (row, column, 20, f"{row}{column}{k}") for row in "ABC" for column in ("I", "II", "III") for k in range(4)
    ]
    frame = pl.DataFrame(lines, schema=["row", "column", "v", "firm"], orient="row")
    table = tabulate(frame, by=["row", "column"], value="v", respondent="firm", contributions=True)
    found = protect(assess(table, TWENTY, cost="unity"))
    assert open_attacks(found.pattern, table, TWENTY) == []
    assert found.optimal


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
    assert audit(TABLE_4, replace(risk, respondents=())).safe
    said = audit(TABLE_4, risk)
    assert not said.safe
    missed = {said.risk.attackers[one.requirement.attacker].name for one in said.of_result(MISSED)}
    assert all(name.startswith("respondent ") for name in missed)
    assert len(missed) == 2
    assert audit(protect(risk)).safe


def test_a_certificate_belongs_to_the_problem_whose_respondents_it_protects(tmp_path: Path) -> None:
    risk = assess(TABLE_3, TWENTY, cost="unity", respondents=TWENTY)
    found = protect(risk)
    certify(found).write(tmp_path / "proof.json")
    assert verify(tmp_path / "proof.json", risk, publish(found)).proved
    other = verify(tmp_path / "proof.json", replace(risk, respondents=()), publish(found))
    assert not other.proved
    assert "other attackers" in str(other.problems[0])


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize(
    ("told", "method"),
    [((), Suppress()), ((PPercent(12),), Intervals(conceal=False))],
    ids=["left out", "weakened"],
)
def test_a_certificate_without_what_respondents_require_proves_nothing(
    tmp_path: Path, told: tuple[PPercent, ...], method: Method
) -> None:
    """Contributors who were left out, or asked for less, come too close, and a certificate that is made says so."""
    problem = assess(TABLE_3, TWENTY, cost="unity", respondents=TWENTY)
    found = protect(replace(problem, respondents=told), method)
    assert (found.risk.further is None) == (not told)
    certify(found).write(tmp_path / "proof.json")
    said = verify(tmp_path / "proof.json", problem=problem)
    assert not said.proved
    assert "does not protect respondents by 1 rule: p% rule (p = 20)" in str(said.problems[0])
    forged = replace(found.audit, risk=replace(found.audit.risk, respondents=problem.respondents))
    certify(forged).write(tmp_path / "proof.json")
    said = verify(tmp_path / "proof.json", problem=problem)
    assert not said.consistent
    assert "says that the release is not safe" in str(said.problems[0])


def test_requirements_dropped_from_a_certificate_of_a_safe_pattern_leave_it_safe(tmp_path: Path) -> None:
    """What is dropped was not needed to find out: the contributors attack again."""
    problem = assess(TABLE_3, TWENTY, cost="unity", respondents=TWENTY)
    found = protect(problem)
    bare = audit(found.pattern, replace(problem, respondents=()))
    bare = replace(bare, risk=replace(bare.risk, respondents=problem.respondents))
    certify(bare).write(tmp_path / "proof.json")
    assert verify(tmp_path / "proof.json", problem, publish(found)).proved
