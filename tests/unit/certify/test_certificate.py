"""Certificates: what they hold, and what has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import celosia as cz
from celosia.attack.audit import audit
from celosia.attack.questions import Answer
from celosia.attack.system import ENDLESS
from celosia.certify.certificate import certify
from celosia.errors import DataError, SpecError
from celosia.pattern.adjusted import Adjusted
from celosia.pattern.interval import Interval
from celosia.pattern.pattern import Pattern
from celosia.table.fixed import Fixed
from celosia.version import __version__

MakeCase = Callable[..., Any]
MakeTable = Callable[..., cz.Table]


def ranges(table: cz.Table, below: list[int], above: list[int] | None) -> Interval:
    """Return ranges around the four cells of Figure 2, open above where nothing is said."""
    cells = np.array([table.find(r=r, c=c) for r in ("II", "III") for c in "AC"])
    truth = table.amounts.counts[cells]
    upper = Fixed.of_texts(["inf"] * 4) if above is None else Fixed(truth + np.array(above))
    return Interval(cells, Fixed(truth - np.array(below)), upper)


def test_a_safe_release_has_a_certificate_that_says_so(case: MakeCase) -> None:
    certificate = case().certificate()
    assert certificate.safe
    assert certificate.content["verdict"] == "safe"
    assert certificate.content["confidential"] is True
    assert "true values" in certificate.content["note"]
    assert certificate.content["versions"]["celosia"] == __version__
    assert "highs" in certificate.content["versions"]
    assert repr(certificate) == "Certificate(safe: 1 of 1 requirements proved by 2 tables)"


def test_versions_are_those_that_are_given(case: MakeCase) -> None:
    made = case()
    certificate = certify(audit(made.release, made.risk), versions={"oracle": "7"})
    assert set(certificate.content["versions"]) == {"celosia", "python", "oracle"}


def test_a_release_that_is_not_safe_is_called_so_and_lists_only_what_is_met(case: MakeCase) -> None:
    certificate = case(body=[[20, 50, 10], [2, 19, 22], [17, 32, 2]]).certificate()
    assert not certificate.safe
    assert certificate.content["verdict"] == "not safe"
    assert certificate.content["proofs"] == [None]
    assert certificate.content["witnesses"] == []


def test_numbers_that_matter_are_texts(case: MakeCase) -> None:
    content = case().content()
    assert content["table"]["values"][0] == "190"
    assert content["requirements"]["required"] == [[11, 0, "4.4", "4.4", "0"]]
    assert set(content["requirements"]["attackers"][0]["upper"]) == {"inf"}
    assert content["witnesses"][0] == {"denominator": "1", "moves": [[9, "5"], [11, "-5"], [13, "-5"], [15, "5"]]}


def test_a_table_that_proves_several_requirements_is_stored_once(case: MakeCase) -> None:
    made = case(attackers=lambda table: [cz.Attacker.external(table), cz.Attacker.factor(table, 11)])
    content = made.content()
    assert content["proofs"] == [[0, 1], [0, 1]]
    assert len(content["witnesses"]) == 2


def test_tables_of_counts_are_proved_by_whole_tables(case: MakeCase) -> None:
    content = case(counts=True).content()
    assert content["whole_numbers"] is True
    assert content["table"]["counts"] == content["table"]["variables"]
    assert {table["denominator"] for table in content["witnesses"]} == {"1"}


def test_the_ends_of_published_ranges_have_tables(case: MakeCase, table: MakeTable) -> None:
    mode = ranges(table([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), [5] * 4, [5] * 4)
    content = case(mode, intervals=True).content()
    assert content["ranges"]["claim"] == "all reached"
    assert [entry[0] for entry in content["ranges"]["reached"]] == [9, 11, 13, 15]
    assert len(content["witnesses"]) == 2


def test_a_range_that_others_narrow_is_not_listed(case: MakeCase, table: MakeTable) -> None:
    mode = ranges(table([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), [5, 6, 5, 5], [5] * 4)
    content = case(mode, intervals=True).content()
    assert content["ranges"]["claim"] == "not all reached"
    assert [entry[0] for entry in content["ranges"]["reached"]] == [9, 13, 15]


def test_a_range_without_an_upper_end_needs_no_table_there(case: MakeCase, table: MakeTable) -> None:
    mode = ranges(table([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), [5] * 4, None)
    content = case(mode, intervals=True).content()
    assert content["ranges"]["claim"] == "all reached"
    assert {entry[3] for entry in content["ranges"]["reached"]} == {None}


def test_ranges_that_were_not_audited_are_said_not_to_be_certified(case: MakeCase, table: MakeTable) -> None:
    mode = ranges(table([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), [5] * 4, [5] * 4)
    assert case(mode).content()["ranges"] == {"claim": "not certified", "reached": []}


def test_a_reach_without_end_and_without_a_table_proves_nothing(case: MakeCase) -> None:
    made = case()
    found = audit(made.release, made.risk)
    nothing = np.zeros(0, dtype=np.int64)
    endless = Answer(ENDLESS, 1, furthest=True, columns=nothing, moves=nothing)
    verdict = found.verdicts[0]
    claimed = replace(verdict, finding=replace(verdict.finding, upper=None, up=endless))
    assert not certify(replace(found, verdicts=(claimed,))).safe


def test_requirements_that_reach_without_end_are_proved_by_finite_tables(table: MakeTable, tmp_path: Path) -> None:
    made = table([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    everything = Pattern.suppressing(made, np.arange(len(made)))
    risk = cz.assess(made, lambda rows: np.arange(len(rows)) == 11)
    certificate = certify(audit(everything, risk, intervals=True))
    assert certificate.safe
    certificate.write(tmp_path / "proof.json")


def test_adjusted_cells_have_no_certificate(case: MakeCase, table: MakeTable) -> None:
    made = table([[20, 50, 10], [8, 19, 22], [17, 32, 12]])
    with pytest.raises(SpecError, match="distance"):
        case(Adjusted(np.arange(len(made)), made.amounts)).certificate()


def test_whole_numbers_that_are_none_are_refused(case: MakeCase) -> None:
    made = case()
    found = audit(made.release, made.risk, integer=True)
    table = replace(made.risk.table, amounts=Fixed(made.risk.table.amounts.counts, 1))
    with pytest.raises(DataError, match="no whole numbers"):
        certify(replace(found, risk=replace(made.risk, table=table)))


def test_a_certificate_is_written_whole_or_not_at_all(case: MakeCase, tmp_path: Path) -> None:
    certificate = case().certificate()
    certificate.write(tmp_path / "new.json")
    assert json.loads((tmp_path / "new.json").read_text()) == certificate.content
    assert [path.name for path in tmp_path.iterdir()] == ["new.json"]
    with pytest.raises(SpecError, match="cannot be written"):
        certificate.write(tmp_path / "no folder" / "new.json")


def test_the_same_audit_gives_the_same_certificate(case: MakeCase) -> None:
    made = case()
    assert made.certificate().text() == made.certificate().text()
