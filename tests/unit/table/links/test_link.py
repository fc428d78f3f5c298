from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from celosia import (
    DataError,
    GivenStatus,
    Hierarchy,
    MinFrequency,
    PPercent,
    Requests,
    SpecError,
    Table,
    assess,
    cells,
    link,
    tabulate,
)

RECORDS = pl.DataFrame(
    {
        "industry": ["C", "C", "G", "G"],
        "region": ["N", "S", "N", "N"],
        "size": ["small", "large", "small", "small"],
        "turnover": [10, 20, 5, 5],
        "export": [1, 2, 3, 4],
        "home": [9, 18, 2, 1],
    }
)


def ready(column: str, *, total: str = "Total", partial: bool = False, **values: str | float) -> Table:
    """Return a ready-made table of one dimension."""
    frame = pl.DataFrame({column: [total, *list(values)[1:]], "value": [str(value) for value in values.values()]})
    hierarchy = Hierarchy.flat(list(values)[1:], total=total, partial=partial)
    return cells(frame, by=[column], value="value", hierarchies={column: hierarchy})


def labels(table: Table) -> list[str]:
    return [table.label(cell) for cell in range(len(table))]


def test_equal_cells_of_two_tables_become_one() -> None:
    first = tabulate(RECORDS, by=["industry", "region"], value="turnover")
    second = tabulate(RECORDS, by=["industry", "size"], value="turnover")
    linked = link([first, second])
    assert linked.links is not None
    assert {linked.label(int(cell)) for cell in linked.links.shared_cells()} == {"Total", "C", "G"}
    assert linked.links.names == ("turnover by industry x region", "turnover by industry x size")
    assert linked.links.between() == {linked.links.names: 3}
    assert len(linked) == len(first) + len(second) - 3
    assert len(set(labels(linked))) == len(linked)
    assert not linked.relations.residuals(linked.amounts.counts).any()


def test_tables_without_a_common_dimension_share_their_total() -> None:
    linked = link([tabulate(RECORDS, by=[name], value="turnover") for name in ("industry", "region", "size")])
    assert linked.links is not None
    assert [linked.label(int(cell)) for cell in linked.links.shared_cells()] == ["Total"]
    assert linked.components[0] == 1


def test_tables_of_two_variables_are_apart_until_a_relation_joins_them() -> None:
    parts = [tabulate(RECORDS, by=["region"], value=name) for name in ("turnover", "export", "home")]
    assert link(parts).components[0] == 3
    joined = link(parts, relations=["turnover = home + export"])
    assert joined.components[0] == 1
    assert len(joined.relations) == 3 + 3
    assert joined.variables == ("turnover", "export", "home")
    assert labels(joined)[0] == "turnover: Total"


def test_a_relation_that_does_not_hold_is_refused_with_the_side_that_is_larger() -> None:
    parts = [tabulate(RECORDS, by=["region"], value=name) for name in ("turnover", "export")]
    with pytest.raises(
        DataError,
        match=r"3 relations do not add up: turnover: Total = export: Total \(left side larger by up to 100%\)",
    ):
        link(parts, relations=["turnover = export"])


def test_a_relation_of_unknown_variables_is_refused() -> None:
    with pytest.raises(
        SpecError, match=r"relations\[0\]: 'exprt' is not a variable of the tables. Did you mean 'export'"
    ):
        link([tabulate(RECORDS, by=["region"], value="export")], relations=["export = exprt"])


def test_equal_cells_with_different_values_are_refused_by_name() -> None:
    first, second = ready("region", Total=30, a=10, b=20), ready("size", Total=31, x=11, y=20)
    with pytest.raises(DataError) as caught:
        link([first, second], names=["regions", "sizes"])
    (problem,) = caught.value.problems
    assert problem.place == "link"
    assert problem.message == "1 cells bear the same codes and have different values: Total (regions and sizes)."
    assert "declared partial" in problem.remedy


def test_totals_of_different_names_are_refused() -> None:
    first, second = ready("region", Total=30, a=10, b=20), ready("region", Total=10, c=5, a=5, total="East")
    with pytest.raises(
        SpecError, match=r"dimension 'region': has totals of different names: 'Total' in .* and 'East' in"
    ):
        link([first, second])


def test_a_partial_total_is_a_code_like_any_other() -> None:
    country = ready("region", Total=30, a=10, b=20)
    east = ready("region", Total=10, a1=4, a2=6, total="a", partial=True)
    linked = link([country, east])
    assert dict(zip(labels(linked), linked.values.tolist(), strict=True)) == {
        "Total": 30,
        "a": 10,
        "b": 20,
        "a1": 4,
        "a2": 6,
    }
    assert linked.components[0] == 1
    assert linked.links is not None
    assert labels(linked)[int(linked.links.shared_cells()[0])] == "a"


def test_values_of_different_precision_may_differ_by_half_a_unit() -> None:
    """The total 10 is 10.4 on closer view; the coarse relation 10 = 3 + 3 + 4 misses by 0.4, as rounding may."""
    coarse, fine = ready("region", Total=10, a=3, b=3, c=4), ready("size", Total="10.4", x="5.2", y="5.2")
    linked = link([coarse, fine])
    assert linked.amounts.texts()[0] == "10.4"
    assert not linked.relations.residuals(linked.amounts.counts).any()


def test_values_of_different_precision_that_differ_by_more_are_refused() -> None:
    with pytest.raises(DataError, match="1 cells bear the same codes"):
        link([ready("region", Total=10, a=4, b=6), ready("size", Total="10.6", x="5.3", y="5.3")])


def test_an_only_child_that_another_table_names_is_the_same_cell() -> None:
    one = Hierarchy.from_dict({"A": ["A1"], "B": ["B1", "B2"]})
    records = pl.DataFrame({"x": ["A1", "B1", "B2"], "y": ["p", "q", "q"], "v": [1, 2, 4]})
    first = tabulate(records, by=["x"], value="v", hierarchies={"x": one})
    second = tabulate(records, by=["x", "y"], value="v", hierarchies={"x": Hierarchy.flat(["A1", "B1", "B2"])})
    linked = link([first, second])
    assert linked.links is not None
    assert {linked.label(int(cell)) for cell in linked.links.shared_cells()} == {"Total", "A", "B1", "B2"}


def test_a_code_that_is_ambiguous_in_one_table_only_is_still_the_same_cell() -> None:
    """Section 1 has a division 1. The path of the section is the same in a table by sections alone."""
    records = pl.DataFrame(
        {
            "section": ["1", "1", "2", "2"],
            "division": ["1", "2", "1", "2"],
            "size": ["x", "y", "x", "y"],
            "v": [1, 2, 3, 4],
        }
    )
    fine = tabulate(records, by=["industry"], columns={"industry": ["section", "division"]}, value="v")
    coarse = tabulate(records, by=["industry", "size"], columns={"industry": "section"}, value="v")
    linked = link([fine, coarse])
    assert linked.links is not None
    assert len(linked.links.shared_cells()) == 3


def test_linking_in_steps_is_linking_at_once() -> None:
    """Codes 1 and 2 stand for sections and for divisions of both, so nodes are known by their paths."""
    records = pl.DataFrame(
        {
            "section": ["1", "1", "2", "2"],
            "division": ["1", "2", "1", "2"],
            "size": ["x", "y", "x", "y"],
            "region": ["N", "N", "S", "S"],
            "v": [1, 2, 3, 4],
        }
    )
    levels = {"industry": ["section", "division"]}
    by: list[list[str]] = [["industry"], ["industry", "size"], ["industry", "region"]]
    first, second, third = (tabulate(records, by=names, columns=levels, value="v") for names in by)
    coarse = tabulate(records, by=["industry", "region"], columns={"industry": "section"}, value="v")
    assert len(link([link([first, second]), third])) == len(link([first, second, third]))
    assert len(link([link([first, second]), coarse])) == len(link([first, second, coarse]))


def test_tables_of_the_same_name_are_told_apart() -> None:
    tables = [ready("region", Total=3, a=1, b=2) for _ in range(3)]
    links = link(tables).links
    assert links is not None
    assert len(links.between()) == 3


def ready_extras(rows: list[tuple[Any, ...]], columns: list[str], **roles: Any) -> Table:  # noqa: ANN401
    return cells(pl.DataFrame(rows, schema=columns, orient="row"), by=[columns[0]], value="value", **roles)


def test_conflicting_statuses_of_one_cell_are_refused() -> None:
    first = ready_extras(
        [("Total", 3, "s"), ("a", 1, ""), ("b", 2, "")], ["region", "value", "status"], status="status"
    )
    second = ready_extras([("Total", 3, "u"), ("x", 1, ""), ("y", 2, "")], ["size", "value", "status"], status="status")
    with pytest.raises(DataError) as caught:
        link([first, second], names=["one", "two"])
    (problem,) = caught.value.problems
    assert problem.place == "Total"
    assert problem.message == "is one cell with two entries of status: 'safe' and, in two, 'sensitive'."
    assert problem.remedy == "Settle on one."


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_status_that_one_table_gives_is_kept(order: tuple[int, int]) -> None:
    given = ready_extras(
        [("Total", 3, "u"), ("a", 1, ""), ("b", 2, "")], ["region", "value", "status"], status="status"
    )
    tables = [given, ready("size", Total=3, x=1, y=2)]
    risk = assess(link([tables[place] for place in order]), GivenStatus())
    assert [risk.table.label(int(cell)) for cell in np.flatnonzero(risk.sensitive)] == ["Total"]


@pytest.mark.parametrize("levels", [(50.0, 5.0), (5.0, 50.0)])
def test_different_levels_of_one_cell_never_end_in_the_smaller(levels: tuple[float, float]) -> None:
    columns = ["region", "value", "status", "level"]
    tables = [
        ready_extras(
            [("Total", 150, "", None), ("a", 100, "u", level), ("b", 50, "", None)],
            columns,
            status="status",
            upper_level="level",
        )
        for level in levels
    ]
    try:
        risk = assess(link(tables), GivenStatus())
    except DataError:
        return
    assert risk.levels.upper.floats[1] == 50


def test_numbers_of_contributors_that_contradict_each_other_are_refused() -> None:
    first = ready_extras([("Total", 3, 9), ("a", 1, 4), ("b", 2, 5)], ["region", "value", "n"], count="n")
    second = ready_extras([("Total", 3, 8), ("x", 1, 4), ("y", 2, 4)], ["size", "value", "n"], count="n")
    with pytest.raises(
        DataError, match="1 cells that stand in another table too have another number of respondents there"
    ):
        link([first, second])


def test_what_one_table_knows_about_contributors_serves_the_shared_cells() -> None:
    first = ready_extras([("Total", 3, 9), ("a", 1, 4), ("b", 2, 5)], ["region", "value", "n"], count="n")
    linked = link([ready("size", Total=3, x=1, y=2), first])
    assert linked.statistics is not None
    known = dict(zip(labels(linked), linked.statistics.respondents.count.tolist(), strict=True))
    assert known == {"Total": 9, "a": 4, "b": 5, "x": -1, "y": -1}
    with pytest.raises(SpecError, match="the number of contributors is not known for 2 cells"):
        assess(linked, MinFrequency(3))


def test_contributions_that_one_table_did_not_keep_are_not_taken_for_zero() -> None:
    first = tabulate(RECORDS, by=["industry"], value="turnover", largest=1)
    second = tabulate(RECORDS, by=["region"], value="turnover", largest=3)
    with pytest.raises(SpecError, match=r"needs contributions that are not known in . cells, the first being"):
        assess(link([first, second]), PPercent(10, coalition=2))


def test_a_shadow_of_one_table_leaves_the_levels_of_another_alone() -> None:
    plain = tabulate(pl.DataFrame({"r": ["a", "b", "b"], "v": [100, -60, -1]}), by=["r"], value="v")
    other = tabulate(pl.DataFrame({"q": ["x", "y"], "w": [10, 20], "s": [1, 2]}), by=["q"], value="w", shadow="s")
    alone = assess(plain, PPercent(10)).levels.upper
    linked = link([plain, other])
    assert linked.links is not None
    assert assess(linked, PPercent(10)).levels.upper[linked.links.places[0]].floats.tolist() == alone.floats.tolist()


def test_cells_in_which_nobody_could_ask_are_not_cells_in_which_nobody_asked() -> None:
    records = RECORDS.with_columns(asked=pl.Series([True, False, False, False]))
    asked = tabulate(records, by=["industry"], value="turnover", request="asked")
    linked = link([asked, tabulate(records, by=["region"], value="turnover")])
    try:
        risk = assess(linked, Requests())
    except (SpecError, DataError):
        return
    assert {linked.label(int(cell)) for cell in np.flatnonzero(risk.sensitive)} >= {"Total", "C", "N"}


def test_contributions_of_one_tabulation_go_on_and_sum_to_the_cells_once() -> None:
    by = [["industry", "region"], ["region", "industry"], ["size"]]
    table = tabulate(RECORDS, by=by, value="turnover", contributions=True)
    assert table.contributions is not None
    sums = np.zeros(len(table))
    np.add.at(sums, table.contributions.cell, table.contributions.amount)
    touched = np.unique(table.contributions.cell)
    assert sums[touched].tolist() == table.values[touched].tolist()


def test_contributions_of_two_tabulations_are_left_out_with_a_note() -> None:
    parts = [tabulate(RECORDS, by=[name], value="turnover", contributions=True) for name in ("industry", "region")]
    linked = link(parts)
    assert linked.contributions is None
    assert "tabulated apart" in linked.notes[-1]


def test_two_hierarchies_at_once_are_two_tables_linked() -> None:
    records = pl.DataFrame({"country": ["FR", "DE", "NO", "US"], "v": [1, 2, 4, 8]})
    eu = Hierarchy.from_dict({"EU": ["FR", "DE"], "rest": ["NO", "US"]})
    continents = Hierarchy.from_dict({"Europe": ["FR", "DE", "NO"], "America": ["US"]})
    both = tabulate(records, by=["country"], value="v", hierarchies={"country": [eu, continents]})
    parts = [tabulate(records, by=["country"], value="v", hierarchies={"country": each}) for each in (eu, continents)]
    linked = link(parts)
    assert set(labels(linked)) == set(labels(both))
    assert {linked.equation(k) for k in range(len(linked.relations))} == {
        both.equation(k) for k in range(len(both.relations))
    }
