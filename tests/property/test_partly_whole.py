"""Counts beside amounts: audits against an oracle in fractions that knows of counts alone that they are whole."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from tests.oracles import attack_oracle as oracle
from tests.oracles.audit_cases import KINDS, drawn_case
from tests.oracles.bare_tables import seeded
from tests.oracles.partly_whole_cases import PartlyWhole, drawn_partly_whole, side_by_side
from tests.oracles.partly_whole_oracle import partly_whole_ends

from celosia import explain
from celosia.attack.subproblems.questions import Answer
from celosia.attack.system.system import System


def table_shown(known: oracle.Situation, system: System, answer: Answer, cell: int, end: Fraction) -> bool:
    """Return whether a witness is a table that the attacker could believe, and goes as far as this end."""
    digits = system.digits[answer.columns].tolist()
    moves = {
        int(system.cells[column]): Fraction(int(move), answer.denominator * 10**places)
        for column, move, places in zip(answer.columns.tolist(), answer.moves.tolist(), digits, strict=True)
    }
    new = {number: known.truth[number] + move for number, move in moves.items()}
    adds_up = all(sum(row[number] * move for number, move in moves.items() if row[number]) == 0 for row in known.rows)
    inside = all(
        oracle.inside((value, value), (known.lower[number], known.upper[number])) for number, value in new.items()
    )
    further = abs(moves[cell]) >= abs(end - known.truth[cell])
    whole = system.cells[system.whole].tolist()
    return adds_up and inside and further and all(new[number].denominator == 1 for number in whole if number in new)


def judged(*cases: PartlyWhole) -> Counter[str]:
    """Compare the audit of some cases, side by side in one table, with the oracle's; return what was compared."""
    case = side_by_side(cases)
    said = case.audited()
    (system,), known = said.systems, case.case.situation(0)
    assert set(system.cells[system.whole].tolist()) == case.whole & set(system.cells.tolist())
    truths: list[tuple[oracle.End, oracle.End] | None] = []
    for one in cases:
        truths += one.truth(0) or [None] * len(one.case.counts)
    seen: Counter[str] = Counter(cases=len(cases))
    for finding in said.intervals:
        true, interval = truths[finding.cell], (finding.lower, finding.upper)
        seen["intervals"] += 1
        seen["open"] += not finding.exact
        if true is None:
            seen["not judged"] += 1
        elif finding.exact:
            assert interval == true, (finding.cell, cases)
        else:
            assert oracle.inside(interval, true), (finding.cell, cases)
    for verdict in said.verdicts:
        cell, finding = verdict.requirement.cell, verdict.finding
        true = truths[cell]
        if verdict.result == "met":
            for answer, end in ((finding.down, finding.lower), (finding.up, finding.upper)):
                assert end is None or not len(answer.columns) or table_shown(known, system, answer, cell, end)
        if true is None:
            continue
        lower, upper, sliding = map(case.case.fine, case.case.levels[cell])
        good = oracle.meets(case.case.value(cell), true, (lower, upper, sliding))
        seen[verdict.result] += 1
        assert verdict.result in ("met" if good else "missed", "not shown safe"), (verdict.requirement, true, cases)
    return seen


@pytest.mark.parametrize("numbers", [range(6), pytest.param(range(6, 24), marks=pytest.mark.slow)], ids=["few", "many"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_audit_knows_of_counts_alone_that_they_are_whole(kind: str, numbers: range) -> None:
    seen: Counter[str] = Counter()
    for number in numbers:
        chance = seeded(f"partly whole {kind} {number}")
        cases = [drawn_partly_whole(chance, kind, number % 3) for _ in range(1 if number % 4 == 0 else 8)]
        seen += judged(*cases)
    assert seen["cases"] >= 34
    assert seen["not judged"] < seen["intervals"] * 3 / 5, seen
    assert min(seen["met"], seen["missed"]) > 2, seen
    assert seen["open"] <= seen["intervals"] / 25, seen  # whole numbers without an end have cases without an end


@pytest.mark.parametrize("most", [12, pytest.param(60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_the_oracle_agrees_with_those_that_know_of_all_cells_or_of_none(kind: str, most: int) -> None:
    compared = 0
    for number in range(most):
        situation = drawn_case(seeded(f"judge {kind} {number}"), kind, whole=True, attackers=1).situation(0)
        everything = frozenset(range(len(situation.truth)))
        tight, loose = partly_whole_ends(situation, everything), partly_whole_ends(situation, frozenset())
        others = oracle.whole_ends(situation), oracle.ends(situation)
        for own, other in zip((tight, loose), others, strict=True):
            if own is not None and other is not None:
                assert own == other, situation
                compared += 1
    assert compared > most / 3


@pytest.mark.parametrize("most", [6, pytest.param(36, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["flat", "equations", "linked"])
def test_explained_ends_hold_for_counts_and_amounts(kind: str, most: int) -> None:
    explained = 0
    for number in range(most):
        case = drawn_partly_whole(seeded(f"explained {kind} {number}"), kind, number % 3)
        said, truths = case.audited(), case.truth(0)
        if truths is None:
            continue
        for cell in said.systems[0].cells.tolist():
            for side, true in zip(("lower", "upper"), truths[cell], strict=True):
                found = explain(said, cell, side)
                if found is None:
                    continue
                sign = 1 if side == "upper" else -1
                assert true is not None
                assert sign * found.end >= sign * true, (case, cell, side)
                assert not found.exact or found.end == true, (case, cell, side)
                explained += 1
    assert explained > 3 * most / 2
