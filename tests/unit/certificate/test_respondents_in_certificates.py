"""Certificates cover every respondent: tables protect each from all others, and the judge finds whom they do not."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.golden.test_daalmans_dewaal_2010 import TABLE_3, TWENTY

import celosia as cz
from celosia.certificate.canonical import digests
from celosia.certificate.certificate import Certificate
from celosia.certificate.columns import column, read_column


@pytest.fixture(scope="module")
def risk() -> cz.Risk:
    return cz.assess(TABLE_3, TWENTY, cost="unity")


@pytest.fixture(scope="module")
def found(risk: cz.Risk) -> cz.Protection:
    """Return Table 3 of Daalmans and de Waal, protected against respondents."""
    return cz.protect(risk, cz.Suppress())


def altered(certificate: Certificate, change: Any) -> Certificate:  # noqa: ANN401
    """Return a certificate whose tables for respondents are changed, with hashes that fit."""
    content = copy.deepcopy(dict(certificate.content))
    change(content)
    content["sha256"] = digests(content)
    return Certificate(content, certificate.counts)


def test_a_protected_table_has_tables_for_both_firms_that_see_through_each_other(
    risk: cz.Risk, found: cz.Protection
) -> None:
    certificate = cz.certify(found)
    assert certificate.safe
    (part,) = certificate.content["contributors"]
    assert len(read_column(part["targets"], "targets")) >= 2
    verified = cz.verify(certificate, risk, cz.publish(found))
    assert verified.proved
    assert "respondents" in verified.compared


def test_without_the_tables_of_a_target_nothing_is_proved(risk: cz.Risk, found: cz.Protection) -> None:
    def drop(content: dict[str, Any]) -> None:
        for name in content["contributors"][0]:
            content["contributors"][0][name] = column(read_column(content["contributors"][0][name], name)[:0])

    forged = altered(cz.certify(found), drop)
    assert cz.verify(forged).consistent
    verified = cz.verify(forged, risk, cz.publish(found))
    assert not verified.proved
    said = "no tables show that 2 respondents cannot be found too closely, the first in A x I (p% rule (p = 20))."
    assert said in str(verified.problems[0])


def test_without_a_list_of_rules_nothing_is_proved(risk: cz.Risk, found: cz.Protection) -> None:
    def drop(content: dict[str, Any]) -> None:
        content["contributors"] = []

    assert not cz.verify(altered(cz.certify(found), drop), risk, cz.publish(found)).proved


def test_tables_with_other_signs_or_of_other_targets_prove_nothing(risk: cz.Risk, found: cz.Protection) -> None:
    def turn(content: dict[str, Any]) -> None:
        part = content["contributors"][0]
        part["signs"] = column(0 * read_column(part["signs"], "signs") + 1)
        part["tables"] = column(0 * read_column(part["tables"], "tables") + read_column(part["tables"], "tables")[0])

    def swap(content: dict[str, Any]) -> None:
        part = content["contributors"][0]
        part["targets"] = column(read_column(part["targets"], "targets")[::-1].copy())

    for change in (turn, swap):
        assert not cz.verify(altered(cz.certify(found), change), risk, cz.publish(found)).proved


def test_tables_that_do_not_satisfy_the_relations_prove_nothing(risk: cz.Risk, found: cz.Protection) -> None:
    certificate = cz.certify(found)
    (part,) = certificate.content["contributors"]
    used = set(read_column(part["tables"], "tables").tolist())

    def bend(content: dict[str, Any]) -> None:
        tables = content["witnesses"]
        sizes, moves = read_column(tables["sizes"], "sizes"), read_column(tables["moves"], "moves").copy()
        first = 0
        for place, size in enumerate(sizes.tolist()):
            if place in used:
                moves[first] += 1
            first += size
        tables["moves"] = column(moves)

    assert not cz.verify(altered(certificate, bend), risk, cz.publish(found)).proved


def test_a_smaller_target_of_the_same_cell_is_protected_by_the_tables_of_the_larger_one() -> None:
    """Two firms of 9 and 8 in a hidden cell: each is exposed where it is shown, and one of them has tables."""
    lines = [("A", "I", 9), ("A", "I", 8)]
    lines += [(row, column, 30) for row in "ABC" for column in ("I", "II") for _ in range(5) if row + column != "AI"]
    frame = pd.DataFrame([(*line, f"f{k}") for k, line in enumerate(lines)], columns=["r", "c", "v", "firm"])
    table = cz.tabulate(frame, by=["r", "c"], value="v", respondent="firm")
    risk = cz.assess(table, cz.PPercent(20), cost="unity")
    found = cz.protect(risk, cz.Suppress())
    certificate = cz.certify(found)
    (part,) = certificate.content["contributors"]
    assert len(read_column(part["targets"], "targets")) == 1
    assert cz.verify(certificate, risk, cz.publish(found)).proved


SCRIPT = """
import sys
import pandas as pd
import celosia as cz
table = cz.tabulate(pd.read_csv(sys.argv[1]), by=["r", "c"], value="v", respondent="firm")
risk = cz.assess(table, cz.PPercent(20), cost="unity")
found = cz.verify(sys.argv[2], risk, sys.argv[3])
assert found.proved and "respondents" in found.compared, found
print(*sys.modules)
"""


def test_verifying_respondents_loads_no_solver_and_no_audit(tmp_path: Path) -> None:
    firms, proof, public = (tmp_path / name for name in ("firms.csv", "proof.json", "public.csv"))
    lines = [("A", "I", 100), ("A", "II", 150)]
    lines += [(row, column, 30) for row in "BCD" for column in ("I", "II") for _ in range(5)]
    frame = pd.DataFrame([(*line, f"f{k}") for k, line in enumerate(lines)], columns=["r", "c", "v", "firm"])
    frame.to_csv(firms, index=False)
    table = cz.tabulate(frame, by=["r", "c"], value="v", respondent="firm")
    found = cz.protect(cz.assess(table, cz.PPercent(20), cost="unity"))
    cz.certify(found).write(proof)
    cz.write_release(cz.publish(found), public)
    command = [sys.executable, "-c", SCRIPT, str(firms), str(proof), str(public)]
    answer = subprocess.run(command, capture_output=True, text=True, check=False)
    assert answer.returncode == 0, answer.stderr
    rooms = ("celosia.attack", "celosia.protection", "celosia.solve", "highspy", "pyscipopt")
    assert [name for name in answer.stdout.split() if name.startswith(rooms)] == []
