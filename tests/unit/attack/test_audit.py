from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from celosia import Attacker, DataError, Pattern, SolverError, SpecError, audit, publish
from celosia.attack.result import Audit
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.risk.risk import Levels
from celosia.table.fixed import Fixed

from .conftest import MakeAttacker, MakeRisk, MakeTable

SUM = [[-1, 1, 1]]
SQUARE = [
    [-1, 1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, -1, 1, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, -1, 1, 1],
    [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    [0, -1, 0, 0, 1, 0, 0, 1, 0],
    [0, 0, -1, 0, 0, 1, 0, 0, 1],
]
VALUES = [20, 9, 11, 8, 3, 5, 12, 6, 6]


def ends(said: Audit) -> list[tuple[int, object, object]]:
    """Return cell, lower and upper end of every interval, once all of them are proved to be ends."""
    assert all(finding.exact for finding in said.intervals)
    return [(finding.cell, finding.lower, finding.upper) for finding in said.intervals]


def test_a_hidden_cell_alone_is_disclosed(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SQUARE, VALUES)
    said = audit(Pattern.hide(table, [4]), risky(table, {4: (1, 1, 0)}), intervals=True)
    assert not said.safe
    assert [verdict.result for verdict in said.verdicts] == ["missed"]
    assert ends(said) == [(4, 3, 3)]


def test_four_hidden_corners_protect_each_other(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SQUARE, VALUES)
    said = audit(Pattern.hide(table, [4, 5, 7, 8]), risky(table, {4: (3, 5, 8)}), intervals=True)
    assert said.safe
    assert ends(said) == [(4, 0, 8), (5, 0, 8), (7, 1, 9), (8, 3, 11)]


@pytest.mark.parametrize("levels", [(4, 0, 0), (0, 6, 0), (0, 0, 9)])
def test_each_of_the_three_levels_can_be_missed(bare: MakeTable, risky: MakeRisk, levels: tuple[int, int, int]) -> None:
    table = bare(SQUARE, VALUES)
    said = audit(Pattern.hide(table, [4, 5, 7, 8]), risky(table, {4: levels}))
    assert [verdict.result for verdict in said.verdicts] == ["missed"]


def test_a_sensitive_cell_that_is_shown_is_missed(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SQUARE, VALUES)
    said = audit(Pattern.hide(table, [5, 7]), risky(table, {4: (0, 1, 0)}), intervals=True)
    assert [verdict.result for verdict in said.verdicts] == ["missed"]
    assert {finding.cell for finding in said.intervals} == {5, 7}


def test_every_attacker_must_be_kept_away(bare: MakeTable, risky: MakeRisk, attacker: MakeAttacker) -> None:
    table = bare(SQUARE, VALUES)
    outsider = Attacker.external(table)
    insider = replace(attacker([0, 0, 0, 0, 0, 5, 0, 0, 0], [None] * 9), name="owner of 5")
    risk = risky(table, {4: (1, 1, 0)}, outsider, insider)
    said = audit(Pattern.hide(table, [4, 5, 7, 8]), risk)
    assert [verdict.result for verdict in said.verdicts] == ["met", "missed"]
    assert not said.safe
    assert audit(Pattern.hide(table, [4, 5, 7, 8]), risk, attackers=[outsider]).safe


def test_a_level_beyond_the_attackers_own_bounds_is_missed_whatever_is_hidden(
    bare: MakeTable, risky: MakeRisk, attacker: MakeAttacker
) -> None:
    table = bare(SQUARE, VALUES)
    knows = attacker([0, 0, 0, 0, 1, 0, 0, 0, 0], [None, None, None, None, 6, None, None, None, None])
    for levels in ((3, 0, 0), (0, 4, 0), (0, 0, 6)):
        said = audit(Pattern.hide(table, list(range(9))), risky(table, {4: levels}, knows))
        assert [verdict.result for verdict in said.verdicts] == ["missed"]
    assert audit(Pattern.hide(table, list(range(9))), risky(table, {4: (2, 3, 5)}, knows)).safe


def test_levels_between_two_units_are_compared_exactly(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SQUARE, VALUES)
    pattern = Pattern.hide(table, [4, 5, 7, 8])
    assert audit(pattern, risky(table, {4: (300, 500, 800)}, decimals=2)).safe
    assert not audit(pattern, risky(table, {4: (300, 501, 0)}, decimals=2)).safe


def test_counts_are_audited_with_whole_numbers(bare: MakeTable, risky: MakeRisk) -> None:
    """Of x + 2 y = 7 with x below 3, whole numbers leave x = 1 only; decimals leave everything up to 2.5."""
    values, rows = [1, 3, 7], [[1, 2, -1]]
    below = (Fixed(np.array([0]), 1), Fixed(np.array([25]), 1))
    for counts, expected in ((True, (1, 1)), (False, (0, Fraction(5, 2)))):
        table = bare(rows, values, counts=counts)
        pattern = Pattern.of(table, Interval(np.array([0]), *below), *Pattern.hide(table, [1]).modes[:1])
        said = audit(pattern, risky(table, {0: (1, 1, 0)}), intervals=True)
        assert said.integer is counts
        assert ends(said)[0] == (0, *expected)
    table = bare(rows, values, counts=True)
    assert not audit(Pattern.hide(table, [0, 1]), risky(table, {0: (1, 1, 0)}), integer=False).integer


def test_ends_that_do_not_exist_are_none(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SUM, [-2, -5, 3])
    said = audit(Pattern.hide(table, [1, 2]), risky(table, {1: (100, 100, 0)}), intervals=True)
    assert ends(said) == [(1, None, None), (2, None, None)]
    assert said.safe


def test_a_cell_in_no_relation_is_known_to_nobody(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare([], [4, 2])
    said = audit(Pattern.hide(table, [0]), risky(table, {0: (4, 100, 0)}), intervals=True)
    assert said.safe
    assert ends(said) == [(0, 0, None)]


def test_the_tables_behind_a_verdict_are_tables(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SQUARE, VALUES)
    said = audit(Pattern.hide(table, [4, 5, 7, 8]), risky(table, {4: (3, 5, 0)}))
    (verdict,) = said.verdicts
    for answer, reached in ((verdict.finding.down, 0), (verdict.finding.up, 8)):
        moved = np.array(VALUES)
        moved[said.systems[0].cells[answer.columns]] += answer.moves
        assert moved[4] == reached
        assert not table.relations.residuals(moved).any()
        assert (moved >= 0).all()


def test_a_frame_has_a_line_per_attacker_and_hidden_cell(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SQUARE, VALUES)
    said = audit(Pattern.hide(table, [4, 5, 7, 8]), risky(table, {4: (3, 5, 8)}), intervals=True)
    columns = said.columns()
    assert columns["cell"] == [4, 5, 7, 8]
    assert columns["required_lower"] == [0, None, None, None]
    assert columns["required_upper"] == [8, None, None, None]
    assert columns["required_width"] == [8, None, None, None]
    assert columns["protected"] == ["met", None, None, None]
    assert "safe: 1 of 1" in repr(said)


def test_a_release_of_another_table_is_refused(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SQUARE, VALUES)
    other = bare(SQUARE, [21, 10, 11, 9, 4, 5, 12, 6, 6])
    release = publish(Pattern.hide(other, [4, 5, 7, 8]))
    with pytest.raises(DataError, match="the number shown is not the table's"):
        audit(release, risky(table, {4: (1, 1, 0)}))
    with pytest.raises(DataError, match="has 3 cells, and the table has 9"):
        audit(publish(Pattern.hide(bare(SUM, [3, 1, 2]), [1])), risky(table, {4: (1, 1, 0)}))


def test_an_attacker_whom_the_table_refutes_is_refused(
    bare: MakeTable, risky: MakeRisk, attacker: MakeAttacker
) -> None:
    table = bare(SUM, [5, 2, 3])
    with pytest.raises(DataError, match="attacker 'somebody': does not hold the true value of 1 cells"):
        audit(Pattern.hide(table, [1, 2]), risky(table, {1: (1, 1, 0)}, attacker([0, 3, 0], [None] * 3)))


def test_nobody_and_unknown_solvers_are_refused(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SUM, [5, 2, 3])
    pattern, risk = Pattern.hide(table, [1, 2]), risky(table, {1: (1, 1, 0)})
    with pytest.raises(SpecError, match="attackers"):
        audit(pattern, risk, attackers=[])
    with pytest.raises(SolverError, match="crystal ball"):
        audit(pattern, risk, solver="crystal ball")


def test_a_ray_on_which_one_cell_moves_a_hundred_times_slower_is_a_ray(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare([[100, -1]], [1, 100])
    said = audit(Pattern.hide(table, [0, 1]), risky(table, {0: (1, 1, 0)}), intervals=True)
    assert ends(said) == [(0, 0, None), (1, 0, None)]


def test_cells_that_are_free_both_ways_do_not_cancel(bare: MakeTable, risky: MakeRisk) -> None:
    rows = [[1, 1, 1, 1, 0], [1, 1, -1, -1, 2]]
    table = bare(rows, [-1, 2, -3, 4, 0])
    said = audit(Pattern.hide(table, [0, 1, 2, 3]), risky(table, {0: (1, 1, 0)}), intervals=True)
    assert ends(said) == [(cell, None, None) for cell in range(4)]


def test_whole_tables_may_jump_over_a_level(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare([[1, -2]], [9, 8], counts=True)
    said = audit(Pattern.hide(table, [0, 1]), risky(table, {0: (1, 1, 1)}), intervals=True)
    assert ends(said) == [(0, 1, None), (1, 4, None)]
    assert [verdict.result for verdict in said.verdicts] == ["met"]


# criterion of such a release is distance, and its distance is zero here.
def test_a_cell_adjusted_to_its_own_value_is_not_safe(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SUM, [5, 2, 3])
    pattern = Pattern.of(table, Adjusted(np.array([1, 2]), table.amounts[[1, 2]]))
    assert not audit(pattern, risky(table, {1: (1, 1, 0)})).safe


def test_an_attacker_on_another_table_is_refused(bare: MakeTable, risky: MakeRisk, attacker: MakeAttacker) -> None:
    table = bare(SUM, [5, 2, 3])
    for size in (1, 2):
        with pytest.raises(DataError, match="somebody"):
            audit(
                Pattern.hide(table, [1, 2]),
                risky(table, {1: (1, 1, 0)}),
                attackers=[attacker([0] * size, [None] * size)],
            )


def test_a_level_of_thirty_digits_is_missed(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SUM, [5, 2, 3])
    huge = Fixed.of_counts(np.array([0, 10**30, 0], dtype=object))
    risk = replace(risky(table, {1: (1, 1, 0)}), levels=Levels(huge, huge, huge))
    said = audit(Pattern.hide(table, [1, 2]), risk)
    assert [verdict.result for verdict in said.verdicts] == ["missed"]


def test_whole_numbers_that_the_table_refutes_are_refused(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SUM, [60, 25, 35], decimals=1)
    with pytest.raises((DataError, SpecError)):
        audit(Pattern.hide(table, [1, 2]), risky(table, {1: (1, 1, 0)}), integer=True)


# no such cell, a Risk made by hand may.
def test_a_sensitive_cell_without_levels_that_is_shown_is_not_safe(bare: MakeTable, risky: MakeRisk) -> None:
    table = bare(SUM, [5, 2, 3])
    assert not audit(Pattern.hide(table, []), risky(table, {1: (0, 0, 0)})).safe
