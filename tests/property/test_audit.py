"""Thousands of small audits against an oracle in fractions."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from tests.oracles import attack_oracle as oracle
from tests.oracles.audit_cases import KINDS, Case, audited, drawn_case, intervals_of, joined
from tests.oracles.bare_tables import seeded


def judged(*cases: Case) -> Counter[str]:
    """Compare the audit of some cases, side by side in one table, with the oracle's; return what was compared."""
    case = joined(cases)
    said = audited(case)
    truths = intervals_of(cases)
    seen: Counter[str] = Counter(cases=len(cases))
    assert len(said.intervals) == len(case.entries) * len(case.attackers)
    for finding in said.intervals:
        true = truths[finding.attacker][finding.cell]
        interval, value = (finding.lower, finding.upper), case.value(finding.cell)
        assert oracle.inside((value, value), interval)
        seen["intervals"] += 1
        seen["open"] += not finding.exact
        if true is None:
            seen["not judged"] += 1
        elif finding.exact:
            assert interval == true, (finding.attacker, finding.cell, cases)
        else:
            assert oracle.inside(interval, true), (finding.attacker, finding.cell, cases)
    assert len(said.verdicts) == len(case.levels) * len(case.attackers)
    for verdict in said.verdicts:
        cell = verdict.requirement.cell
        true = truths[verdict.requirement.attacker][cell]
        if true is None:
            continue
        lower, upper, sliding = map(case.fine, case.levels[cell])
        good = oracle.meets(case.value(cell), true, (lower, upper, sliding))
        seen[verdict.result] += 1
        expected = {True: ("met", "not shown safe"), False: ("missed", "not shown safe")}[good]
        assert verdict.result in expected, (verdict.requirement, true, cases)
        assert verdict.result != "not shown safe" or not verdict.finding.exact
    assert said.safe == all(verdict.result == "met" for verdict in said.verdicts)
    return seen


@pytest.mark.parametrize("numbers", [range(6), pytest.param(range(6, 20), marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("whole", [False, True], ids=["decimals", "whole"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_audit_of_small_tables_is_that_of_the_oracle(kind: str, numbers: range, *, whole: bool) -> None:
    seen: Counter[str] = Counter()
    for number in numbers:
        chance = seeded(f"{kind} {whole} {number}")
        decimals, attackers = (0 if whole else number % 3), 1 + number % 2
        cases = [
            drawn_case(chance, kind, whole=whole, decimals=decimals, attackers=attackers)
            for _ in range(1 if number % 4 == 0 else 14)
        ]
        seen += judged(*cases)
    assert seen["cases"] >= 58
    assert seen["not judged"] < seen["intervals"] / 2
    assert min(seen["met"], seen["missed"]) > len(numbers)
    assert seen["open"] <= 2 + seen["intervals"] / 100, (
        seen
    )  # allowed, and rare: a method that gives up more shows here


@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_agrees_with_all_vertices_and_with_all_whole_tables(kind: str) -> None:
    """The judge is judged: simplex, vertices and enumeration have nothing in common but the elimination."""
    judged_by = Counter[str]()
    for number in range(40):
        case = drawn_case(seeded(f"oracle {kind} {number}"), kind, whole=True, attackers=1)
        near = tuple(tuple(count * 100 + sign * 300 for count in case.counts) for sign in (-1, 1))
        near_case = replace(case, attackers=((near[0], near[1]),))
        situation = near_case.situation(0)
        if len(oracle.solved(situation).free) > 3:
            continue
        loose = oracle.ends(situation)
        assert loose == oracle.ends_by_vertices(situation)
        judged_by["vertices"] += 1
        tight = oracle.whole_ends(situation)
        if tight is not None:
            judged_by["whole tables"] += 1
            assert all(oracle.inside(narrow, wide) for narrow, wide in zip(tight, loose, strict=True))
    assert min(judged_by["vertices"], judged_by["whole tables"]) >= 15


# What must hold whatever the oracle says
