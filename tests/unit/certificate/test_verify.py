"""The judge: proves what is proved, and nothing else."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.certificate.conftest import intervals, two_attackers

import celosia as cz
from celosia import DataError, Pattern, publish, read_release, verify, write_release
from celosia.table.fixed import Fixed

MakeCase = Callable[..., Any]

ROOM = Path(cz.__file__).parent / "certificate"
JUDGE = (
    *("canonical", "claim", "columns", "differences", "judge", "read", "verify", "whole"),
    *("respondents/coverage", "respondents/judge", "respondents/tables"),
)


def test_the_certificate_of_a_safe_release_is_proved(case: MakeCase) -> None:
    made = case()
    made.certificate().write(made.path)
    found = verify(made.path, made.risk, made.release)
    assert found.proved
    assert found.problems == ()
    assert found.compared == ("problem", "release")
    assert tuple(found.counts[name] for name in ("requirements", "requirements_proved", "tables")) == (1, 1, 2)
    assert repr(found) == "Verification(PROVED: the release is safe; tables for 1 of 1 requirements)"


@pytest.mark.parametrize(
    "options",
    [{"counts": True}, {"attackers": two_attackers}, {"integer": True}, {"intervals": True}],
    ids=["counts", "several attackers", "whole numbers", "intervals"],
)
def test_certificates_of_every_kind_are_proved(case: MakeCase, options: dict[str, object]) -> None:
    made = case(**options)
    assert made.judged(made.content(), rehash=False).proved


def test_published_ranges_are_proved_to_be_as_wide_as_they_look(case: MakeCase) -> None:
    made = intervals(case)
    found = made.judged(made.content(), rehash=False)
    assert found.proved
    assert found.ranges == "all reached"
    assert (found.counts["ranges"], found.counts["ranges_reached"]) == (4, 4)


def test_a_release_that_is_not_safe_is_not_proved(case: MakeCase) -> None:
    made = case(body=[[20, 50, 10], [2, 19, 22], [17, 32, 2]])
    found = made.judged(made.content(), rehash=False)
    assert not found.proved
    assert "0 of 1 requirements are met" in str(found.problems[0])


def test_the_certificate_of_another_release_is_refused(case: MakeCase) -> None:
    made = case()
    made.certificate().write(made.path)
    more = publish(Pattern.hide(made.risk.table, [5, 7, 9, 11, 13, 15]))
    found = verify(made.path, release=more)
    assert not found.proved
    assert {problem.place for problem in found.problems} == {"release, cell 5 (I x A)", "release, cell 7 (I x C)"}


def test_a_release_of_another_size_or_with_other_labels_is_refused(case: MakeCase, tmp_path: Path) -> None:
    made = case()
    made.certificate().write(made.path)
    write_release(made.release, tmp_path / "out.csv")
    assert verify(made.path, made.risk, tmp_path / "out.csv").proved
    lines = (tmp_path / "out.csv").read_text()
    (tmp_path / "out.csv").write_text(lines.replace("II,A", "II,B", 1))
    for problem in (None, made.risk):
        found = verify(made.path, problem, read_release(tmp_path / "out.csv"))
        assert "has another label" in str(found.problems[0])
    (tmp_path / "out.csv").write_text("".join(lines.splitlines(keepends=True)[:-1]))
    found = verify(made.path, release=read_release(tmp_path / "out.csv"))
    assert "15 cells" in str(found.problems[0])


def test_the_certificate_of_another_table_is_refused(case: MakeCase) -> None:
    made = case()
    made.certificate().write(made.path)
    other = case(body=[[20, 50, 10], [8, 19, 22], [17, 33, 12]])
    found = verify(made.path, other.risk)
    assert not found.proved
    assert "other values" in str(found.problems[0])


def moved_by(columns: Any, content: dict[str, Any], distance: int, denominator: int) -> None:  # noqa: ANN401
    """Let all tables move their cells by a fraction."""
    tables = content["witnesses"]
    columns.write(tables["denominators"], [denominator] * 2)
    columns.write(tables["moves"], [distance if move > 0 else -distance for move in columns.read(tables["moves"])])


@pytest.mark.parametrize(("numerator", "denominator", "proved"), [(22, 5, True), (13, 3, False), (14, 3, True)])
def test_fractions_are_exact(
    case: MakeCase,
    columns: Any,  # noqa: ANN401
    numerator: int,
    denominator: int,
    *,
    proved: bool,
) -> None:
    made = case()
    content = made.content()
    moved_by(columns, content, numerator, denominator)
    assert made.judged(content).proved is proved


@pytest.mark.parametrize("scale", [5 * 10**6, 5 * 10**17, 5 * 10**18, 5 * 10**30])
def test_a_level_is_missed_by_the_smallest_part(case: MakeCase, columns: Any, scale: int) -> None:  # noqa: ANN401
    made = case()
    content = made.content()
    moved_by(columns, content, 22 * scale // 5, scale)
    assert made.judged(content).proved
    moved_by(columns, content, 22 * scale // 5 - 1, scale)
    found = made.judged(content)
    assert not found.proved
    assert "lower protection level" in str(found.problems[-1])


@pytest.mark.parametrize(("counts", "decimals", "proved"), [(5, 0, True), (46, 1, True), (50_000_001, 7, False)])
def test_levels_may_have_decimals(
    case: MakeCase,
    columns: Any,  # noqa: ANN401
    counts: int,
    decimals: int,
    *,
    proved: bool,
) -> None:
    made = case()
    content = made.content()
    for side in ("lower", "upper"):
        columns.write(content["requirements"][side], [counts])
        content["requirements"][side]["decimals"] = decimals
    assert made.judged(content, alone=True).consistent is proved


@pytest.mark.parametrize(("width", "proved"), [(100, True), (101, False)])
def test_a_width_counts_both_tables(case: MakeCase, columns: Any, width: int, *, proved: bool) -> None:  # noqa: ANN401
    made = case()
    content = made.content()
    for side, level in (("lower", 0), ("upper", 0), ("sliding", width)):
        columns.write(content["requirements"][side], [level])
        content["requirements"][side]["decimals"] = 1
    assert made.judged(content, alone=True).consistent is proved


def test_a_requirement_that_asks_for_nothing_proves_nothing(case: MakeCase, columns: Any) -> None:  # noqa: ANN401
    made = case()
    content = made.content()
    for side in ("lower", "upper", "sliding"):
        columns.write(content["requirements"][side], [0])
    assert "asks for nothing" in str(made.judged(content, alone=True).problems[-1])


def test_half_a_respondent_proves_nothing(case: MakeCase, columns: Any) -> None:  # noqa: ANN401
    made = case(counts=True)
    content = made.content()
    distance = abs(columns.read(content["witnesses"]["moves"])[0])
    moved_by(columns, content, 2 * distance - 1, 2)
    assert "does not satisfy" in str(made.judged(content).problems[-1])
    content["whole_numbers"] = []
    assert not made.judged(content).proved  # attackers know that the table counts
    assert verify(made.path, made.risk, made.release, integer=False).proved


def test_the_table_of_another_attacker_proves_nothing(case: MakeCase, columns: Any) -> None:  # noqa: ANN401
    def informed(table: cz.Table) -> list[cz.Attacker]:
        external = cz.Attacker.external(table)
        lower = external.lower.counts.copy()
        lower[9] = table.amounts.counts[9] - 4
        return [external, replace(external, name="informed", lower=Fixed(lower))]

    made = case(attackers=informed)
    content = made.content()
    assert columns.read(content["proofs"]["up"]) == [1, -1]  # II x C can rise by 4 only, and needs 4.4
    content["verdict"] = "safe"
    for side in ("down", "up"):
        columns.alter(content["proofs"][side], 1, columns.read(content["proofs"][side])[0])
    found = made.judged(content)
    assert not found.proved
    assert "not what the attacker could believe" in str(found.problems[-1])


def test_an_attacker_whom_the_table_refutes_proves_nothing(case: MakeCase) -> None:
    made = case()
    content = made.content()
    content["requirements"]["attackers"][0]["upper"] |= {"given": "1 15", "numbers": "189"}
    assert "exclude the true value" in str(made.judged(content, alone=True).problems[-1])


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", "null", '{"a": 1, "a": 1}', '{"a": 1.5}', '{"a": NaN}', "[" * 100_000, '{"a": ' + "9" * 5000 + "}"],
    ids=["empty", "list", "cut", "null", "twice", "float", "nan", "deep", "long"],
)
def test_what_is_no_certificate_is_unreadable(tmp_path: Path, text: str) -> None:
    (tmp_path / "proof.json").write_text(text)
    with pytest.raises(DataError, match="proof"):
        verify(tmp_path / "proof.json")


def test_a_file_that_is_missing_or_no_text_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        verify(tmp_path / "none.json")
    (tmp_path / "proof.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="no text"):
        verify(tmp_path / "proof.json")


def test_the_judge_imports_neither_a_solver_nor_what_made_the_certificate() -> None:
    script = "import celosia.certificate.verify, sys; print(*sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    loaded = set(answer.stdout.split())
    rooms = ("celosia.attack", "celosia.solve", "celosia.protection", "celosia.source", "highspy", "numba", "pyscipopt")
    assert [name for name in loaded if name.startswith(rooms)] == []
    assert not {"celosia.certificate.certificate", "celosia.certificate.witnesses", "celosia.tolerance"} & loaded


@pytest.mark.parametrize("module", JUDGE)
def test_the_judge_knows_no_floating_point(module: str) -> None:
    tree = ast.parse((ROOM / f"{module}.py").read_text())
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float))
        assert not (isinstance(node, ast.Name) and node.id == "float")
        assert not (isinstance(node, ast.Attribute) and node.attr in {"floats", "values_", "float64"})
        assert not isinstance(node, ast.Div)


def test_many_problems_are_named(case: MakeCase, columns: Any) -> None:  # noqa: ANN401
    made = case()
    content = made.content()
    columns.write(content["table"]["values"], [number + 1 for number in columns.read(content["table"]["values"])])
    found = made.judged(content, rehash=False)
    assert len(found.problems) > 20
    assert json.dumps([str(problem) for problem in found.problems])


@pytest.mark.slow
def test_ten_thousand_requirements_are_verified_in_seconds(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    cells = [(f"r{row}", column, int(chance.integers(20, 90))) for row in range(5_000) for column in "ABCD"]
    table = cz.tabulate(pd.DataFrame(cells, columns=["r", "c", "v"]), by=["r", "c"], value="v")
    names = table.columns()
    hidden = np.isin(names["c"], ["A", "B"]) & (np.asarray(names["r"]) != "Total")
    risk = cz.assess(table, lambda rows: hidden[: len(rows)])
    assert len(risk.requirements) == 10_000
    release = publish(Pattern.hide(table, hidden))
    cz.certify(cz.audit(release, risk)).write(tmp_path / "proof.json")
    began = time.process_time()
    assert verify(tmp_path / "proof.json", risk, release).proved
    assert time.process_time() - began < 5
