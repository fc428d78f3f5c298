"""Karlsson and Olsson (2015), Three approaches to cell suppression: their examples, with their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import polars as pl
import pytest

from celosia import (
    Dominance,
    Hierarchy,
    MinFrequency,
    Pattern,
    PPercent,
    PriorPosterior,
    Risk,
    Table,
    assess,
    audit,
    cells,
    link,
    loss,
    tabulate,
)
from celosia.risk.rules.finding import Rule

FIGURE_2_4 = {
    ("A", "1"): [120, 80, 40, 10],
    ("A", "2"): [55, 45],
    ("B", "1"): [280, 15, 5],
    ("B", "2"): [99, 99, 2],
}
TABLE_2_1 = {
    "A x 1": "safe safe safe safe",
    "A x 2": "sensitive safe sensitive sensitive",
    "B x 1": "safe sensitive sensitive sensitive",
    "B x 2": "safe safe sensitive sensitive",
    "A": "safe safe safe safe",
    "B": "safe safe safe safe",
    "1": "safe safe safe safe",
    "2": "safe safe safe safe",
    "Total": "safe safe safe safe",
}
RULES: Sequence[Rule] = [MinFrequency(3), Dominance(1, 90), Dominance(2, 90), PriorPosterior(20, 50)]

FIGURE_3_3 = {
    ("A", "1"): [30, 20],
    ("A", "2"): [40, 30, 30],
    ("B", "1"): [65, 10, 5],
    ("B", "2"): [40, 40, 40],
    ("C", "1"): [30, 20, 20],
    ("C", "2"): [30, 30, 20],
}


def table_of(contributions: Mapping[tuple[str, str], Sequence[float]]) -> Table:
    """Return the table of a figure: a company a term."""
    rows = [(row, column, term) for (row, column), terms in contributions.items() for term in terms]
    frame = pl.DataFrame(rows, schema=["business", "location", "turnover"], orient="row")
    return tabulate(frame, by=["business", "location"], value="turnover")


def cell(table: Table, label: str) -> int:
    return next(place for place in range(len(table)) if table.label(place) == label)


def verdict(risk: Risk, label: str) -> str:
    return "sensitive" if risk.sensitive[cell(risk.table, label)] else "safe"


def test_figure_2_4_the_values() -> None:
    table = table_of(FIGURE_2_4)
    expected = {"A x 1": 250, "A x 2": 100, "A": 350, "B x 1": 300, "B x 2": 200, "B": 500, "1": 550, "2": 300}
    assert {table.label(place): table.values[place] for place in range(len(table))} == {**expected, "Total": 850}


@pytest.mark.parametrize(("column", "rule"), list(enumerate(RULES)), ids=lambda part: getattr(part, "words", ""))
def test_table_2_1_nine_cells_by_four_rules(column: int, rule: Rule) -> None:
    risk = assess(table_of(FIGURE_2_4), rule)
    found = {risk.table.label(place): verdict(risk, risk.table.label(place)) for place in range(len(risk))}
    assert found == {label: verdicts.split()[column] for label, verdicts in TABLE_2_1.items()}


def test_example_2_1_the_relations_of_figure_2_1() -> None:
    table = table_of(FIGURE_2_4)
    assert sorted(table.equation(number) for number in range(len(table.relations))) == sorted(
        [
            "Total = A + B",
            "1 = A x 1 + B x 1",
            "2 = A x 2 + B x 2",
            "Total = 1 + 2",
            "A = A x 1 + A x 2",
            "B = B x 1 + B x 2",
        ]
    )


def test_example_2_2_the_relations_of_the_linked_table_of_figure_2_3() -> None:
    """Every equation of the example once; the link equations are the row equations of the right table."""
    left = {
        "A": (250, 100, 350), "Aa": (100, 50, 150), "Ab": (150, 50, 200), "B": (300, 200, 500), "Ba": (115, 60, 175),
        "Bb": (175, 125, 300), "Bc": (10, 15, 25), "Total": (550, 300, 850),
    }  # fmt: skip
    right = {"A": (150, 200, 350), "B": (55, 445, 500), "Total": (205, 645, 850)}
    business = Hierarchy.from_dict({"A": ["Aa", "Ab"], "B": ["Ba", "Bb", "Bc"]})

    def read(figures: Mapping[str, Sequence[int]], column: str, codes: Sequence[str]) -> Table:
        rows = [(row, code, value) for row, line in figures.items() for code, value in zip(codes, line, strict=True)]
        frame = pl.DataFrame(rows, schema=["business", column, "turnover"], orient="row")
        given = business if "Aa" in figures else Hierarchy.flat(["A", "B"])
        return cells(frame, by=["business", column], value="turnover", hierarchies={"business": given})

    linked = link([read(left, "location", ["1", "2", "Total"]), read(right, "size", ["I", "II", "Total"])])
    assert len(linked) == 24 + 9 - 3
    assert linked.links is not None
    assert {linked.label(int(place)) for place in linked.links.shared_cells()} == {"A", "B", "Total"}
    rows = [f"{row} = {row} x {first} + {row} x {second}" for row, first, second in
            [*((row, "1", "2") for row in left if row != "Total"), ("A", "I", "II"), ("B", "I", "II")]]  # fmt: skip
    columns = ["Total = A + B", *(f"{code} = A x {code} + B x {code}" for code in ("1", "2", "I", "II"))]
    totals = ["Total = 1 + 2", "Total = I + II"]
    hierarchy = ["A = Aa + Ab", "B = Ba + Bb + Bc"]
    hierarchy += [f"A x {code} = Aa x {code} + Ab x {code}" for code in ("1", "2")]
    hierarchy += [f"B x {code} = Ba x {code} + Bb x {code} + Bc x {code}" for code in ("1", "2")]
    found = sorted(linked.equation(number) for number in range(len(linked.relations)))
    assert found == sorted([*rows, *columns, *totals, *hierarchy])
    assert not linked.relations.residuals(linked.amounts.counts).any()


def test_example_2_3_contributors_of_a_cell_and_of_a_margin() -> None:
    rows = [(row, column, term) for (row, column), terms in FIGURE_2_4.items() for term in terms]
    frame = pl.DataFrame(rows, schema=["business", "location", "turnover"], orient="row")
    table = tabulate(frame, by=["business", "location"], value="turnover", largest=7)
    assert table.statistics is not None
    contributors = table.statistics.respondents
    a1, total1 = cell(table, "A x 1"), cell(table, "1")
    assert contributors.count[[a1, total1]].tolist() == [4, 7]
    assert contributors.largest[a1].tolist() == [120, 80, 40, 10, 0, 0, 0]
    assert contributors.largest[total1].tolist() == [280, 120, 80, 40, 15, 10, 5]


def one_cell(*contributions: int) -> Table:
    frame = pl.DataFrame({"cell": ["x"] * len(contributions), "turnover": contributions})
    return tabulate(frame, by=["cell"], value="turnover", largest=4)


@pytest.mark.parametrize(
    ("contributions", "two", "three"),
    [((46, 45, 9), True, True), ((80, 9, 4, 4, 3), False, True), ((46, 45, 8, 1), True, True)],
)
def test_example_2_4_dominance_is_inconsistent(contributions: tuple[int, ...], *, two: bool, three: bool) -> None:
    """(2, 90) calls 46+45+9 sensitive and 80+9+4+4+3 safe, though the first is the safer; (20, 50) does not."""
    table = one_cell(*contributions)
    assert bool(assess(table, Dominance(2, 90)).sensitive[0]) is two
    assert bool(assess(table, Dominance(3, 90)).sensitive[0]) is three
    assert bool(assess(table, PriorPosterior(20, 50)).sensitive[0])


def test_example_2_4_a_tie_of_the_three_largest_is_safe() -> None:
    """The pair of the text, 80+9+4+4+3 and 46+45+8+1: 93 against 99 percent; at exactly 93 percent a cell is safe."""
    assert not assess(one_cell(80, 9, 4, 4, 3), Dominance(3, 93)).sensitive[0]
    assert assess(one_cell(46, 45, 8, 1), Dominance(3, 93)).sensitive[0]


@pytest.mark.parametrize(
    ("label", "level", "lowest", "highest"),
    [("A x 1", "3", "47", "53"), ("B x 1", "1.5", "78.5", "81.5")],
)
def test_example_3_1_levels(label: str, level: str, lowest: str, highest: str) -> None:
    table = table_of(FIGURE_3_3)
    for rule in (PPercent(10), PriorPosterior(10, 100)):
        risk = assess(table, rule)
        place = cell(table, label)
        assert {table.label(each) for each in range(len(table)) if risk.sensitive[each]} == {"A x 1", "B x 1"}
        assert risk.levels.upper.fraction(place) == risk.levels.lower.fraction(place) == Fraction(level)
        value = table.amounts.fraction(place)
        assert value - risk.levels.lower.fraction(place) == Fraction(lowest)
        assert value + risk.levels.upper.fraction(place) == Fraction(highest)


def test_example_3_3_the_required_upper_end_is_85() -> None:
    risk = assess(table_of({**FIGURE_3_3, ("A", "1"): [48, 2], ("B", "1"): [70, 8, 2]}), PPercent(10))
    place = cell(risk.table, "B x 1")
    assert risk.table.amounts.fraction(place) + risk.levels.upper.fraction(place) == 85


# Example 3.6 gives intervals and sums; the contributions are ours: twelve in (a), eight in (b), as its text supposes.
FIGURE_3_8_A = {
    ("A", "1"): [20, 20, 20, 20, 20],
    ("A", "2"): [0.5, 0.5],
    ("B", "1"): [0.5, 0.5],
    ("B", "2"): [0.4, 0.3, 0.3],
}
FIGURE_3_8_B = {("A", "1"): [32, 32], ("A", "2"): [7, 6], ("B", "1"): [7, 6], ("B", "2"): [7, 6]}


@pytest.mark.parametrize(
    ("figure", "width", "contributions"),
    # The thesis prints 128 for (b); its own terms, (77-51)+(26-0)+(26-0)+(26-0), sum to 104.
    [(FIGURE_3_8_A, 8, 12), (FIGURE_3_8_B, 104, 8)],
    ids=["a", "b"],
)
def test_example_3_6_the_four_measures_of_figure_3_8(
    figure: Mapping[tuple[str, str], Sequence[float]], width: int, contributions: int
) -> None:
    table = table_of(figure)
    inner = [cell(table, label) for label in ("A x 1", "A x 2", "B x 1", "B x 2")]
    pattern = Pattern.hide(table, inner)
    found = audit(pattern, assess(table, MinFrequency(1)), intervals=True)
    measured = loss(pattern, table, found)
    assert (measured.hidden, measured.hidden_value) == (4, 103)
    assert measured.width == width
    assert measured.endless == 0
    assert measured.contributions == contributions
