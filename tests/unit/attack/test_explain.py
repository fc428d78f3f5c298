"""Explanations in words, and what they refuse; that they add up is judged in the property tests."""

from __future__ import annotations

from fractions import Fraction

import pytest

from celosia import Pattern, SpecError, audit, explain
from celosia.attack.result import Audit

from .conftest import MakeAttacker, MakeRisk, MakeTable

ROWS = [[-1, 1, 1, 0], [0, 0, 2, -1]]
VALUES = [100, 60, 40, 80]


@pytest.fixture
def audited(bare: MakeTable, attacker: MakeAttacker, risky: MakeRisk) -> Audit:
    made = bare(ROWS, VALUES)
    knows = attacker([None] * 4, [None, None, None, 90])
    return audit(Pattern.hide(made, [1, 2, 3]), risky(made, {1: (10, 10, 0)}, knows))


def test_an_end_is_a_sum_of_relations_and_bounds(audited: Audit) -> None:
    said = explain(audited, 1, "lower")
    assert said is not None
    assert (said.end, said.exact, said.whole) == (Fraction(55), True, False)
    assert said.relations == ((0, Fraction(1)), (1, Fraction(-1, 2)))
    assert str(said).splitlines() == [
        "cell 1 is at least 55:",
        "  cell 0 (100) - 0.5 * cell 3 (at most 90 for somebody) = 55",
        "by these relations, added up:",
        "  cell 0 = cell 1 + cell 2",
        "  -0.5 times  cell 3 = 2*cell 2",
    ]
    assert said.equations() == ["cell 0 = cell 1 + cell 2", "cell 3 = 2*cell 2"]


def test_where_there_is_no_end_there_is_nothing_to_explain(audited: Audit) -> None:
    assert explain(audited, 1, "upper") is None


def test_a_shown_cell_is_explained_by_itself(audited: Audit) -> None:
    assert str(explain(audited, 0, attacker="somebody")) == "cell 0 is 100."


def test_whole_numbers_are_rounded_inwards(bare: MakeTable, attacker: MakeAttacker, risky: MakeRisk) -> None:
    made = bare([[-2, 1]], [3, 6], counts=True)
    found = audit(Pattern.hide(made, [0, 1]), risky(made, {0: (1, 1, 0)}, attacker([0, 0], [None, 9])))
    said = explain(found, 0)
    assert said is not None
    assert (said.total, said.end, said.whole) == (Fraction(9, 2), Fraction(4), True)
    assert "  rounded to 4, because values are whole numbers" in said.words()


def test_what_is_not_there_cannot_be_explained(audited: Audit) -> None:
    with pytest.raises(SpecError, match="cell: there is no cell 4"):
        explain(audited, 4)
    with pytest.raises(SpecError, match="side: must be lower or upper, not 'up'"):
        explain(audited, 1, "up")
    with pytest.raises(SpecError, match="attacker: there is no attacker 1"):
        explain(audited, 1, attacker=1)
    with pytest.raises(SpecError, match="attacker: 'sombody' is none of this audit"):
        explain(audited, 1, attacker="sombody")
