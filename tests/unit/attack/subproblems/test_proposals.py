"""Proposed witnesses are believed as little as any: each is checked against the release, relations and bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray

from celosia import Attacker, Pattern, Risk, audit, cells
from celosia.attack.findings import MET
from celosia.attack.subproblems import proposals
from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.system.system import attacker_system
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import Fixed

ROWS = {
    "a": ["x", "x", "y", "y", "z", "z"],
    "b": ["1", "2", "1", "2", "1", "2"],
    "value": [10, 20, 30, 40, 50, 60],
}


@pytest.fixture(scope="module")
def risk() -> Risk:
    """Return a table in which cell x, 1 must be kept 5 away on both sides."""
    table = cells(pl.DataFrame(ROWS), by=["a", "b"], value="value", totals="compute")
    status, level = np.full(len(table), SAFE), np.zeros(len(table), dtype=np.int64)
    status[table.find(a="x", b="1")], level[table.find(a="x", b="1")] = SENSITIVE, 5
    levels = Levels(Fixed(level, 0), Fixed(level, 0), Fixed(np.zeros_like(level), 0))
    return Risk(table, status, levels, np.ones(len(table)), (Attacker.external(table),))


def square(risk: Risk) -> NDArray[np.int64]:
    places = [risk.table.find(a=a, b=b) for a, b in (("x", "1"), ("x", "2"), ("y", "1"), ("y", "2"))]
    return np.array(places, dtype=np.int64)


def proposed(risk: Risk, *, by: int = 5, denominator: int = 1) -> ProposedWitnesses:
    """Return the two moves round a square, as good witnesses."""
    own, signs = square(risk), np.array([1, -1, -1, 1])
    return ProposedWitnesses(
        own[[0, 0]],
        np.zeros(2, dtype=np.int64),
        np.array([True, False]),
        np.array([0, 4, 8]),
        np.tile(own, 2),
        np.concatenate([by * signs, -by * signs]),
        np.full(2, denominator),
        0,
    )


def answered(risk: Risk, what: ProposedWitnesses, hidden: NDArray[np.int64]) -> Answers:
    mask = np.zeros(len(risk), dtype=bool)
    mask[hidden] = True
    attacker = risk.attackers[0]
    system = attacker_system(
        risk.table,
        [Pattern.hide(risk.table, mask).bounds(), (attacker.lower, attacker.upper)],
        names=["release", "attacker"],
    )
    column = int(np.flatnonzero(system.cells == square(risk)[0])[0])
    questions = Questions(np.array([column, column]), np.array([True, False]), np.array([5, 5]))
    return proposals.answer_by_proposals(system, questions, 0, what)


def test_a_sound_proposal_answers_its_question(risk: Risk) -> None:
    found = answered(risk, proposed(risk), square(risk))
    assert found.reach.tolist() == [5, 5]
    assert found.furthest.all()
    assert (found.table >= 0).all()


def test_a_proposal_in_fractions_of_a_count(risk: Risk) -> None:
    found = answered(risk, proposed(risk, by=15, denominator=3), square(risk))
    assert (found.reach.tolist(), found.denominator.tolist()) == ([5, 5], [1, 1])


def test_one_move_is_proposed_for_several_questions(risk: Risk) -> None:
    """The third and fourth proposal, about another cell of the square, share the moves of the first two."""
    own = square(risk)
    what = replace(
        proposed(risk),
        cells=own[[1, 1, 0, 0]],
        attackers=np.zeros(4, dtype=np.int64),
        upward=np.array([False, True, True, False]),
        table=np.array([0, 1, 0, 1]),
    )
    assert answered(risk, what, own).reach.tolist() == [5, 5]
    some = what.take(np.array([3, 1]))
    assert some.tables.tolist() == [0, 0]
    assert some.moves.tolist() == [-5, 5, 5, -5]
    joined = proposals.ProposedWitnesses.join([some, what])
    assert joined.tables.tolist() == [0, 0, 1, 2, 1, 2]
    assert answered(risk, joined, own).reach.tolist() == [5, 5]


def test_one_that_falls_short_counts_for_what_it_reaches(risk: Risk) -> None:
    found = answered(risk, proposed(risk, by=4), square(risk))
    assert found.reach.tolist() == [4, 4]
    assert not found.furthest.any()


@pytest.mark.parametrize("fault", ["relation", "bound", "shown", "attacker", "denominator", "twice", "claim"])
def test_an_unsound_proposal_counts_for_nothing(risk: Risk, fault: str) -> None:
    what, hidden = proposed(risk), square(risk)
    if fault == "relation":
        what.moves[[3, 7]] = 4, -4
    elif fault == "bound":
        what = proposed(risk, by=11)
        found = answered(risk, what, hidden)
        assert found.reach.tolist() == [5, 0]  # up it goes, down x, 1 would be below zero
        return
    elif fault == "shown":
        hidden = hidden[:3]
    elif fault == "attacker":
        what = replace(what, attackers=what.attackers + 1)
    elif fault == "denominator":
        what = replace(what, denominator=-what.denominator)
    elif fault == "twice":
        what.moved[[3, 7]] = what.moved[0]
    else:
        what = replace(what, cells=what.cells + 1)
    found = answered(risk, what, hidden)
    assert not found.furthest.any()
    assert found.reach.tolist() == [0, 0]


def test_an_audit_solves_what_no_sound_proposal_answers(risk: Risk) -> None:
    mask = np.zeros(len(risk), dtype=bool)
    mask[square(risk)] = True
    pattern = Pattern.hide(risk.table, mask)
    wrong = proposed(risk)
    wrong.moves[0] = 6
    for what in (None, proposed(risk), wrong):
        found = audit(pattern, risk, proposed=what)
        assert found.safe
        assert found.count(MET) == 1
    mask[square(risk)[3]] = False
    assert not audit(Pattern.hide(risk.table, mask), risk, proposed=proposed(risk)).safe
