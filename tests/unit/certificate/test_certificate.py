"""Certificates: what they hold, and what has none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import celosia as cz
from celosia import DataError, Pattern, SpecError, __version__, audit, certify
from celosia.attack.subproblems.questions import Answer
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.solve.registry import backend, backends
from celosia.table.fixed import Fixed
from celosia.tolerance import ENDLESS

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
    assert certificate.content["versions"]["solver"].startswith("highs 1.")
    assert repr(certificate) == "Certificate(safe: 1 of 1 requirements proved by 2 tables)"


@pytest.mark.parametrize("solver", [backend.name for backend in backends()])
def test_the_certificate_says_what_solved(case: MakeCase, solver: str) -> None:
    certificate = case(solver=solver).certificate()
    assert certificate.content["versions"].keys() == {"celosia", "python", "solver"}
    assert certificate.content["versions"]["solver"] == f"{solver} {backend(solver).version}"


def test_the_result_of_a_protection_is_certified_by_its_audit(case: MakeCase) -> None:
    made = case()
    found = audit(made.release, made.risk)
    assert certify(SimpleNamespace(audit=found)).text() == certify(found).text()


def test_a_release_that_is_not_safe_is_called_so_and_lists_only_what_is_met(case: MakeCase) -> None:
    certificate = case(body=[[20, 50, 10], [2, 19, 22], [17, 32, 2]]).certificate()
    assert not certificate.safe
    assert certificate.content["verdict"] == "not safe"
    none = {"numbers": "-1", "times": ""}
    assert certificate.content["proofs"] == {"down": none, "up": none}
    assert certificate.content["witnesses"]["denominators"]["numbers"] == ""


def test_numbers_that_matter_are_texts(case: MakeCase) -> None:
    content = case().content()
    assert content["table"]["values"]["numbers"].startswith("190 45 101 44 80 ")
    assert content["requirements"]["cells"] == {"numbers": "11", "times": ""}
    assert content["requirements"]["lower"] == {"decimals": 1, "numbers": "44", "times": ""}
    assert content["requirements"]["attackers"][0]["lower"] == {
        "given": "16",
        "decimals": 0,
        "numbers": "0",
        "times": "16",
    }
    assert content["requirements"]["attackers"][0]["upper"]["given"] == "0 16"
    assert content["witnesses"] == {
        "denominators": {"numbers": "1", "times": "2"},
        "sizes": {"numbers": "4", "times": "2"},
        "cells": {"numbers": "9 11 13 15 9 11 13 15", "times": ""},
        "moves": {"numbers": "5 -5 -5 5 -5 5 5 -5", "times": ""},
    }


def test_a_table_that_proves_several_requirements_is_stored_once(case: MakeCase, columns: Any) -> None:  # noqa: ANN401
    made = case(attackers=lambda table: [cz.Attacker.external(table), cz.Attacker.factor(table, 11)])
    content = made.content()
    assert [columns.read(content["proofs"][side]) for side in ("down", "up")] == [[0, 0], [1, 1]]
    assert len(columns.read(content["witnesses"]["denominators"])) == 2


def test_tables_of_counts_are_proved_by_whole_tables(case: MakeCase, columns: Any) -> None:  # noqa: ANN401
    content = case(counts=True).content()
    assert content["whole_numbers"] == ["count"]
    assert content["table"]["counts"] == content["table"]["variables"]
    assert set(columns.read(content["witnesses"]["denominators"])) == {1}


@pytest.mark.parametrize("intervals", [True, False], ids=["audited", "not audited"])
def test_the_ends_of_published_ranges_have_tables(
    case: MakeCase,
    table: MakeTable,
    columns: Any,  # noqa: ANN401
    *,
    intervals: bool,
) -> None:
    mode = ranges(table([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), [5] * 4, [5] * 4)
    content = case(mode, intervals=intervals).content()
    assert content["ranges"]["claim"] == "all reached"
    assert columns.read(content["ranges"]["cells"]) == [9, 11, 13, 15]
    assert sorted(columns.read(content["ranges"]["down"])) == [0, 0, 1, 1]
    assert len(columns.read(content["witnesses"]["denominators"])) == 2


def test_a_range_that_others_narrow_is_not_listed(case: MakeCase, table: MakeTable, columns: Any) -> None:  # noqa: ANN401
    mode = ranges(table([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), [5, 6, 5, 5], [5] * 4)
    content = case(mode).content()
    assert content["ranges"]["claim"] == "not all reached"
    assert columns.read(content["ranges"]["cells"]) == [9, 13, 15]


def test_a_range_without_an_upper_end_needs_no_table_there(case: MakeCase, table: MakeTable, columns: Any) -> None:  # noqa: ANN401
    mode = ranges(table([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), [5] * 4, None)
    content = case(mode).content()
    assert content["ranges"]["claim"] == "all reached"
    assert columns.read(content["ranges"]["up"]) == [-1] * 4


def test_a_range_is_what_a_reader_concludes_and_no_insider(case: MakeCase, table: MakeTable, columns: Any) -> None:  # noqa: ANN401
    """An insider narrows the range by what only he knows; it is as wide as it looks all the same."""

    def informed(table: cz.Table) -> list[cz.Attacker]:
        external = cz.Attacker.external(table)
        lower = external.lower.counts.copy()
        lower[9] = table.amounts.counts[9] - 4
        return [replace(external, name="informed", lower=Fixed(lower)), external]

    mode = ranges(table([[20, 50, 10], [8, 19, 22], [17, 32, 12]]), [5] * 4, [5] * 4)
    content = case(mode, attackers=informed).content()
    assert content["ranges"]["claim"] == "all reached"
    assert columns.read(content["ranges"]["cells"]) == [9, 11, 13, 15]


def test_an_end_between_whole_numbers_is_not_reached_by_whole_tables(case: MakeCase, table: MakeTable) -> None:
    made = table([[20, 50, 10], [8, 19, 22], [17, 32, 12]], counts=True)
    cells = np.array([made.find(r=r, c=c) for r in ("II", "III") for c in "AC"])
    truth = 10 * made.amounts.counts[cells]
    mode = Interval(cells, Fixed(truth - 55, 1), Fixed(truth + 50, 1))
    content = case(mode, counts=True).content()
    assert content["verdict"] == "safe"
    assert content["ranges"] == {
        "claim": "not all reached",
        **{key: {"numbers": "", "times": ""} for key in ("cells", "down", "up")},
    }


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
    everything = Pattern.hide(made, np.arange(len(made)))
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
