"""Aggregations of Daalmans and de Waal (2010), and the examples of Karlsson and Olsson (2015) that lead to them.

The papers name the contributors of the cells they talk about. Of the other cells they say nothing: here these have four
equal contributors each, so that nobody in them is close to anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from tests.oracles.aggregation_oracle import sensitivity
from tests.oracles.single_contributions import every_pair, open_attacks

from celosia import (
    Attacker,
    Pattern,
    PPercent,
    PriorPosterior,
    Table,
    assess,
    audit,
    audit_respondents,
    contributors,
    tabulate,
    worst_aggregation,
)
from celosia.attack.aggregations.criterion import absolute_contributions
from celosia.risk.respondents.knowledge import Knowledge, respondents_of

Code = tuple[str, str]
TWENTY, TEN = PPercent(20), PPercent(10)


def table_of(rows: Sequence[str], columns: Sequence[str], body: Sequence[Sequence[int | list[int]]]) -> Table:
    """Return the table of some contributions; a number stands for four equal ones."""
    lines = [
        (row, column, amount, f"{row} {column} {number}")
        for row, line in zip(rows, body, strict=True)
        for column, entry in zip(columns, line, strict=True)
        for number, amount in enumerate(entry if isinstance(entry, list) else [entry / 4] * 4)
    ]
    frame = pl.DataFrame(lines, schema=["row", "column", "v", "firm"], orient="row", strict=False)
    return tabulate(frame, by=["row", "column"], value="v", respondent="firm", contributions=True)


def cell(table: Table, code: Code) -> int:
    return table.find(row=code[0], column=code[1])


def hidden(table: Table, *codes: Code) -> Pattern:
    return Pattern.hide(table, [cell(table, code) for code in codes])


def exposed(table: Table, pattern: Pattern, rule: PPercent | PriorPosterior) -> list[tuple[Code, Code]]:
    """Return the cells of attacker and target of every open pair, once the full audit says the same."""
    said = audit_respondents(pattern, table, rule=rule)
    pairs = every_pair(said)
    assert pairs == [(one.attackers[0], one.target) for one in open_attacks(pattern, table, rule)]
    respondents = respondents_of(table)
    place = {int(number): k for k, number in enumerate(respondents.numbers)}

    def home(number: int) -> Code:
        leaf = respondents.leaves[respondents.sizes[:, [place[number]]].nonzero()[0][0]]
        return table.labels(0)[leaf], table.labels(1)[leaf]

    return sorted((home(attacker), home(target)) for attacker, target in pairs)


TABLE_3 = table_of("ABC", ["I", "II", "III"], [[[100], 200, [150]], [250, 150, 300], [600, 450, 500]])
TABLE_4 = hidden(TABLE_3, ("A", "I"), ("A", "III"), ("B", "I"), ("B", "III"))
TABLE_6 = table_of("ABC", ["I", "II", "III"], [[[155, 4, 1], 380, 340], [[28, 10, 2], 80, 60], [610, 800, 270]])
TABLE_7 = hidden(TABLE_6, ("A", "I"), ("A", "II"), ("B", "I"), ("B", "II"))
SECOND_7 = table_of("ABC", ["I", "II"], [[[1000, 500, 100], 900], [[100, 30, 20], 2350], [2000, 1000]])
EXAMPLE_5 = hidden(SECOND_7, ("A", "I"), ("A", "II"), ("B", "I"), ("B", "II"))


def test_table_1_a_cell_alone_in_its_row_is_known_to_anybody() -> None:
    table = table_of(["R1", "R2", "R3"], ["C1", "C2", "C3"], [[[100], 1, 3], [[100], 2, 1], [70, 3, 2]])
    said = audit_respondents(hidden(table, ("R1", "C1"), ("R2", "C1")), table, rule=TWENTY)
    assert [one.attackers for one in said.open] == [(), ()]
    assert {table.label(one.cells[0]) for one in said.open} == {"R1 x C1", "R2 x C1"}


def intervals(table: Table, pattern: Pattern, attacker: Attacker | None = None) -> dict[str, tuple[object, object]]:
    """Return what an attacker concludes about every hidden cell, by default an outsider."""
    who = attacker or Attacker.external(table)
    said = audit(pattern, assess(table, TWENTY, attackers=[who]), intervals=True).intervals
    return {table.label(one.cell): (one.lower, one.upper) for one in said}


def test_table_2_the_suppression_interval_of_x11_is_99_to_103() -> None:
    table = table_of(["R1", "R2", "R3"], ["C1", "C2", "C3"], [[[100], 1, 3], [[100], 2, 1], [70, 3, 2]])
    pattern = hidden(table, ("R1", "C1"), ("R1", "C3"), ("R2", "C1"), ("R2", "C3"))
    assert intervals(table, pattern)["R1 x C1"] == (99, 103)


def test_table_5_the_suppression_intervals_of_table_4() -> None:
    expected = {"A x I": (0, 250), "A x III": (0, 250), "B x I": (100, 350), "B x III": (200, 450)}
    assert intervals(TABLE_3, TABLE_4) == expected


def test_table_6_and_example_2_a_x_i_is_sensitive_needs_190_and_outsiders_get_80_to_200() -> None:
    risk = assess(TABLE_6, TWENTY, attackers=[Attacker.external(TABLE_6)])
    place = cell(TABLE_6, ("A", "I"))
    assert risk.sensitive[place]
    assert risk.levels.upper.fraction(place) == 190 - 160
    assert intervals(TABLE_6, TABLE_7)["A x I"] == (80, 200)


def test_example_5_the_largest_of_b_x_i_finds_a_x_i_below_1650_where_the_cell_would_need_1700() -> None:
    place = cell(SECOND_7, ("A", "I"))
    largest = contributors(SECOND_7, cell(SECOND_7, ("B", "I")))[0]
    assert intervals(SECOND_7, EXAMPLE_5, Attacker.respondent(SECOND_7, largest))["A x I"][1] == 1650
    assert assess(SECOND_7, TWENTY).levels.upper.fraction(place) == 1700 - 1600


def test_table_3_the_total_of_row_c_is_1550_where_1150_is_printed() -> None:
    assert TABLE_3.amounts.fraction(TABLE_3.find(row="C")) == 600 + 450 + 500 == 1550


def test_examples_1_and_3_table_4_each_of_two_single_contributors_finds_the_other_exactly() -> None:
    assert exposed(TABLE_3, TABLE_4, TWENTY) == [(("A", "I"), ("A", "III")), (("A", "III"), ("A", "I"))]
    frame = audit_respondents(TABLE_4, TABLE_3, rule=TWENTY).to_frame("polars")
    assert frame["within"].to_list() == [0.0, 0.0]
    assert set(frame["target_in"].to_list()) == {"A x I", "A x III"}


def test_example_3_the_worst_aggregation_is_the_sum_of_250() -> None:
    found = worst_aggregation(TABLE_4, TABLE_3, rule=TWENTY)
    assert found is not None
    assert [TABLE_3.label(cell) for cell in found.cells.tolist()] == ["A x I", "A x III"]
    assert list(found.coefficients) == [1, 1]
    assert found.excess == Fraction(20, 100) * 150


def test_examples_2_and_4_table_7_the_neighbour_with_28_comes_within_20_percent_of_155() -> None:
    assert exposed(TABLE_6, TABLE_7, TWENTY) == [(("B", "I"), ("A", "I"))]
    frame = audit_respondents(TABLE_7, TABLE_6, rule=TWENTY).to_frame("polars")
    assert frame["within"].to_list() == pytest.approx([100 * (172 - 155) / 155])


def test_example_4_the_worst_aggregation_is_the_sum_of_200_in_words() -> None:
    found = worst_aggregation(TABLE_7, TABLE_6, rule=TWENTY)
    assert found is not None
    assert list(found.coefficients) == [1, 1]
    assert found.excess == Fraction(20, 100) * 155 - (200 - 155 - 28)
    said = str(found)
    assert "(in B x I) finds from A x I + B x I what" in said
    assert "(in A x I) contributes within 10.97 percent: too close" in said


def test_example_5_the_second_table_7_is_safe_where_cells_are_not() -> None:
    assert exposed(SECOND_7, EXAMPLE_5, TWENTY) == []


def test_section_2_1_a_cell_is_sensitive_by_its_largest_and_what_is_left_without_the_second() -> None:
    rule = Knowledge.of(TWENTY)
    assert sensitivity([155, 4, 1], rule) == Fraction(155 * 20, 100) - 1
    assert sensitivity([28, 10, 2], rule) > 0  # the paper calls this cell not sensitive: it has 28, 10 and 2 others
    assert sensitivity([1000, 500, 100], rule) == 100


def test_3_7_a_difference_of_cells_has_absolute_contributions() -> None:
    respondents = respondents_of(TABLE_3)
    cells = np.array([cell(TABLE_3, ("A", "I")), cell(TABLE_3, ("B", "I"))])
    own = absolute_contributions(respondents, cells, [Fraction(1), Fraction(-1)])
    assert sorted(own, reverse=True)[:6] == [1000, 625, 625, 625, 625, 0]  # tenths


def test_theorem_3_as_printed_would_call_every_table_unsafe() -> None:
    """Multipliers of zero have the value zero, which is not negative; so an optimum of zero must be looked at again."""
    assert worst_aggregation(EXAMPLE_5, SECOND_7, rule=TWENTY, ties="sensitive") is None


def test_5_4_a_tie_is_sensitive_in_the_paper_and_safe_here() -> None:
    """Two hidden cells of one row: 100 against 10 + 10 of others at p = 20."""
    table = table_of("AB", ["I", "II"], [[[100], [50, 10, 10]], [[100] * 5, [50] * 5]])
    pattern = hidden(table, ("A", "I"), ("A", "II"), ("B", "I"), ("B", "II"))
    assert exposed(table, pattern, TWENTY) == []
    tied = audit_respondents(pattern, table, rule=TWENTY, ties="sensitive")
    assert [(table.label(one.cells[0]), len(one.attackers)) for one in tied.open] == [("A x I", 1)]
    found = worst_aggregation(pattern, table, rule=TWENTY, ties="sensitive")
    assert found is not None
    assert found.excess == 0
    assert found.distance == 20
    full = open_attacks(pattern, table, TWENTY, ties="sensitive")
    assert [(one.attackers[0], one.target) for one in full] == every_pair(tied)


COLUMN_2 = [[40, 30, 30], [40, 40, 40], [30, 30, 20]]


@pytest.mark.parametrize(
    ("first", "pairs"),
    [
        ([[30, 20], [65, 10, 5]], []),  # Example 3.1: protected
        ([[50], [80]], [(("A", "1"), ("B", "1")), (("B", "1"), ("A", "1"))]),  # Example 3.2: singletons
        ([[48, 2], [70, 8, 2]], []),  # Example 3.3: not safe as a cell, safe as a contribution: 82 >= 1.1 * 70
    ],
)
def test_karlsson_olsson_examples_3_1_to_3_3(first: list[list[int]], pairs: list[tuple[Code, Code]]) -> None:
    rows = [*first, [30, 20, 20]]
    table = table_of("ABC", ["1", "2"], [list(line) for line in zip(rows, COLUMN_2, strict=True)])
    pattern = hidden(table, ("A", "1"), ("A", "2"), ("B", "1"), ("B", "2"))
    assert exposed(table, pattern, TEN) == pairs
