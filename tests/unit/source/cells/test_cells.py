from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from celosia import (
    DataError,
    Digits,
    Dominance,
    GivenStatus,
    Hierarchy,
    MinFrequency,
    PPercent,
    SpecError,
    Table,
    assess,
    cells,
)

TREE = Hierarchy.from_dict({"A": ["A1"], "B": ["B1", "B2"]})


def frame(**columns: Any) -> pl.DataFrame:  # noqa: ANN401
    return pl.DataFrame(columns, strict=False)


def ready(options: dict[str, Any] | None = None, **columns: Any) -> Table:  # noqa: ANN401
    return cells(frame(**columns), **({"by": ["region"], "value": "value"} | (options or {})))


def labels(table: Table) -> list[str]:
    return [table.label(cell) for cell in range(len(table))]


def test_cells_in_any_order_with_all_that_is_known_of_them() -> None:
    table = ready(
        {"count": "n", "largest": ["m1", "m2"], "status": "st", "cost": "c", "upper_level": "up"},
        region=["b", "Total", "a"], value=["20.5", "30.5", "10"], n=[3, 5, 2], m1=["9", "9", "6"], m2=["7", "7", "4"],
        st=["", "S", "u"], c=[1.5, None, 2.0], up=[None, None, 3.0],
    )  # fmt: skip
    assert labels(table) == ["Total", "b", "a"]
    assert table.amounts.texts() == ["30.5", "20.5", "10"]
    assert table.statistics is not None
    assert table.statistics.respondents.count.tolist() == [5, 3, 2]
    assert table.statistics.respondents.largest.tolist() == [[90, 70], [90, 70], [60, 40]]
    assert table.extras["status"].tolist() == ["safe", "", "sensitive"]
    assert table.extras["cost"].tolist()[1:] == [1.5, 2.0]
    assert np.isnan(table.extras["cost"][0])
    assert table.library == "polars"


def test_every_source_reads_the_same(tmp_path: Path) -> None:
    data = frame(region=["Total", "a", "b"], value=[3.5, 1.25, 2.25])
    data.write_csv(tmp_path / "cells.csv")
    data.write_parquet(tmp_path / "cells.parquet")
    sources = [data, data.to_pandas(), data.to_arrow(), tmp_path / "cells.csv", str(tmp_path / "cells.parquet")]
    sources.append(duckdb.connect().from_arrow(data.to_arrow()))
    for source in sources:
        table = cells(source, by=["region"], value="value")
        assert table.amounts.texts() == ["3.5", "1.25", "2.25"]


def test_a_dimension_may_have_its_own_total() -> None:
    given = {"hierarchies": {"region": Hierarchy.flat(["a", "b"], total="All")}}
    assert labels(ready(given, region=["All", "a", "b"], value=[3, 1, 2])) == ["All", "a", "b"]


def test_digits_may_have_their_own_total() -> None:
    given = {"hierarchies": {"region": Digits((1, 1), total="All")}}
    table = ready(given, region=["All", "1", "11", "12", "2"], value=[6, 3, 1, 2, 3])
    assert labels(table) == ["All", "1", "11", "12", "2"]


def test_hierarchies_of_no_dimension_are_refused() -> None:
    with pytest.raises(SpecError, match="regoin"):
        ready({"hierarchies": {"regoin": TREE}}, region=["Total", "a", "b"], value=[3, 1, 2])


def test_a_code_in_two_branches_is_given_as_a_path() -> None:
    given = {"hierarchies": {"region": Hierarchy.from_dict({"A": ["1", "2"], "B": ["1", "3"]})}}
    codes = ["Total", "A", "A / 1", "2", "B", "B / 1", "3"]
    assert labels(ready(given, region=codes, value=[10, 3, 1, 2, 7, 3, 4])) == codes
    with pytest.raises(DataError, match=r"several branches: '1'.*Write them as paths"):
        ready(given, region=["Total", "A", "1", "2", "B", "1", "3"], value=[10, 3, 1, 2, 7, 3, 4])


def test_several_variables_in_one_file_become_one_table() -> None:
    table = ready(
        {"variable": "what"}, what=["x"] * 3 + ["y"] * 3, region=["Total", "a", "b"] * 2, value=[3, 1, 2, 30, 10, 20]
    )
    assert table.variables == ("x", "y")
    assert labels(table) == ["x: Total", "x: a", "x: b", "y: Total", "y: a", "y: b"]
    assert table.components[0] == 2


def test_counts_are_declared() -> None:
    assert ready({"counts": True}, region=["Total", "a", "b"], value=[3, 1, 2]).counts == {"value"}


def test_missing_totals_are_refused_by_name_or_computed() -> None:
    columns = {"region": ["B1", "B2", "A1"], "value": [1, 2, 4], "n": [3, 4, 5]}
    given: dict[str, Any] = {"hierarchies": {"region": TREE}, "count": "n"}
    with pytest.raises(DataError, match=r"2 totals are missing, among them 'Total', 'B'.*totals='compute'"):
        ready(given, **columns)
    table = ready(given | {"totals": "compute"}, **columns)
    assert dict(zip(labels(table), table.values.tolist(), strict=True)) == {
        "Total": 7,
        "A": 4,
        "B": 3,
        "B1": 1,
        "B2": 2,
    }
    with pytest.raises(SpecError, match="the number of contributors is not known for 2 cells, the first being Total"):
        assess(table, MinFrequency(3))


def test_computed_totals_of_two_dimensions_add_up_whatever_is_missing() -> None:
    rows = [("a", "x", 1), ("a", "y", 2), ("b", "x", 4), ("Total", "x", 5), ("a", "Total", 3)]
    data = pl.DataFrame(rows, schema=["region", "size", "value"], orient="row")
    table = cells(data, by=["region", "size"], value="value", totals="compute")
    found = dict(zip(labels(table), table.values.tolist(), strict=True))
    assert found == {"Total": 7, "x": 5, "y": 2, "a": 3, "a x x": 1, "a x y": 2, "b": 4, "b x x": 4}
    assert not table.relations.residuals(table.amounts.counts).any()


def test_totals_must_be_required_or_computed() -> None:
    with pytest.raises(SpecError, match="totals: must be 'require' or 'compute', not 'guess'"):
        ready({"totals": "guess"}, region=["Total", "a"], value=[1, 1])


def test_an_only_child_may_repeat_its_parent() -> None:
    table = ready(
        {"hierarchies": {"region": TREE}}, region=["Total", "A", "A1", "B", "B1", "B2"], value=[7, 4, 4, 3, 1, 2]
    )
    assert labels(table) == ["Total", "A", "B", "B1", "B2"]


def only_child(**columns: Any) -> Table:  # noqa: ANN401
    """Return a table in which A and its only child A1 both stand, in this order."""
    roles = {"st": "status", "n": "count", "up": "upper_level"}
    options: dict[str, Any] = {role: name for name, role in roles.items() if name in columns}
    options["hierarchies"] = {"region": TREE}
    if "m" in columns:
        options["largest"] = ["m"]
    return ready(options, region=["Total", "A", "A1", "B", "B1", "B2"], **({"value": [7, 4, 4, 3, 1, 2]} | columns))


def test_an_only_child_with_another_value_is_refused() -> None:
    with pytest.raises(
        DataError,
        match="data, rows 2 and 3: are one cell, A and A1 being an only child and its parent, with different values",
    ):
        only_child(value=[7, 4, 5, 3, 1, 2])


@pytest.mark.parametrize(("parent", "child"), [("s", "u"), ("u", "s"), ("z", "u"), ("m", "s")])
def test_an_only_child_with_another_status_is_refused(parent: str, child: str) -> None:
    with pytest.raises(DataError, match=r"data, rows 2 and 3: are one cell, .* with different statuses. Settle on one"):
        only_child(st=["", parent, child, "", "", ""])


@pytest.mark.parametrize("statuses", [("u", ""), ("", "u")])
def test_a_status_of_the_parent_or_the_only_child_holds_for_both(statuses: tuple[str, str]) -> None:
    table = only_child(st=["", *statuses, "", "", ""])
    assert table.extras["status"].tolist() == ["", "sensitive", "", "", ""]


def test_an_only_child_with_another_number_of_contributors_is_refused() -> None:
    with pytest.raises(DataError):
        only_child(n=[9, 5, 1, 4, 2, 2])


@pytest.mark.parametrize("levels", [(None, 4.5), (4.5, None)])
def test_a_level_of_the_parent_or_the_only_child_holds_for_both(levels: tuple[float | None, float | None]) -> None:
    table = only_child(st=["", "u", "u", "", "", ""], up=[None, *levels, None, None, None])
    assert assess(table, GivenStatus()).levels.upper.floats[1] == 4.5


@pytest.mark.parametrize("largest", [(None, 3), (3, None)])
def test_a_contribution_to_the_parent_or_the_only_child_holds_for_both(largest: tuple[int | None, int | None]) -> None:
    table = only_child(n=[9, 5, 5, 4, 2, 2], m=[3, *largest, 1, 1, 1])
    assert table.statistics is not None
    assert table.statistics.respondents.largest[1].tolist() == [3]


def test_of_many_duplicates_the_message_stays_readable() -> None:
    with pytest.raises(DataError) as caught:
        ready(region=["Total", "b", *["a"] * 2000], value=[3, 2, *[1] * 2000])
    assert len(str(caught.value)) < 5_000


def test_duplicated_cells_are_refused_row_by_row() -> None:
    with pytest.raises(DataError) as caught:
        ready(region=["Total", "a", "a", "b", "b"], value=[3, 1, 1, 2, 7])
    assert [str(problem) for problem in caught.value.problems] == [
        "data, rows 2 and 3: are both the cell a. Keep one of them.",
        "data, rows 4 and 5: are both the cell b. Keep one of them.",
    ]


def test_a_duplicate_of_an_only_child_is_a_duplicate() -> None:
    with pytest.raises(DataError, match="rows 3 and 4: are both the cell A1"):
        ready(
            {"hierarchies": {"region": TREE}},
            region=["Total", "A", "A1", "A1", "B", "B1", "B2"], value=[7, 4, 4, 4, 3, 1, 2],
        )  # fmt: skip


def test_duplicates_among_several_variables_carry_the_rows_of_the_file() -> None:
    with pytest.raises(DataError, match="data, rows 5 and 6: are both the cell a"):
        ready(
            {"variable": "what"},
            what=["x"] * 3 + ["y"] * 4,
            region=["Total", "a", "b", "Total", "a", "a", "b"],
            value=[3, 1, 2, 3, 1, 1, 2],
        )


def test_unknown_columns_are_named_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        ready({"count": "N", "largest": ["MAX"], "status": "st", "cost": "c"}, region=["Total"], value=[1], n=[1])
    assert len(caught.value.problems) == 4
    assert "has no column 'N' (count). Did you mean 'n'?" in str(caught.value) or "'N' (count)" in str(caught.value)


def test_no_dimension_is_refused() -> None:
    with pytest.raises(SpecError, match="by: must name at least one column"):
        ready({"by": []}, region=["Total"], value=[1])


def test_codes_outside_the_hierarchy_are_named_with_its_total() -> None:
    with pytest.raises(DataError, match=r"data, column 'region': .*not in the hierarchy: 'Z'.* Its total is 'Total'"):
        ready({"hierarchies": {"region": TREE}}, region=["Total", "A", "Z"], value=[1, 1, 1])


def test_bad_numbers_codes_and_statuses_are_told_at_once_with_rows() -> None:
    with pytest.raises(DataError) as caught:
        ready(
            {"count": "n", "largest": ["m"], "status": "st", "upper_level": "up"},
            region=["Total", "a", None, "b"], value=["x", "inf", "", "1"], n=["1.5", "-1", "", "2"],
            m=["nan", "1", "", "y"],
            st=["s", "secret?", "", ""], up=["-1", "z", "", ""],
        )  # fmt: skip
    said = str(caught.value)
    for place in ("'region'", "'value'", "'n'", "'m'", "'st'", "'up'"):
        assert f"data, column {place}" in said
    assert "(rows 1, 2, the first cell being row 1)" in said
    assert "row 3" in said
    assert all(problem.remedy for problem in caught.value.problems)


def test_bad_numbers_and_unknown_codes_and_duplicates_are_told_at_once() -> None:
    with pytest.raises(DataError) as caught:
        ready({"hierarchies": {"region": TREE}}, region=["Total", "A", "A", "Z", "B"], value=["7", "4", "4", "1", "x"])
    assert len(caught.value.problems) == 3


def test_largest_contributions_that_make_no_sense_are_refused() -> None:
    with pytest.raises(DataError) as caught:
        ready(
            {"count": "n", "largest": ["m1", "m2"]},
            region=["Total", "a", "b", "c", "d"], value=[40, 10, 10, 10, 10], n=[9, 3, 3, 0, 3],
            m1=[5, 3, 9, 1, 5], m2=[5, 4, 9, 0, -1],
        )  # fmt: skip
    assert len(caught.value.problems) == 4
    assert all(problem.place == "data, largest contributions" for problem in caught.value.problems)


@pytest.mark.parametrize("rule", [PPercent(10), Dominance(1, 80), Dominance(2, 90)], ids=lambda rule: str(rule.words))
def test_a_largest_contribution_that_nobody_told_is_not_zero(rule: PPercent | Dominance) -> None:
    """Cell a has one contributor, who has all of it; the file leaves his contribution out."""
    try:
        table = ready(
            {"count": "n", "largest": ["m1", "m2"]},
            region=["Total", "a", "b"], value=[150, 100, 50], n=[6, 1, 5], m1=[None, None, 10], m2=[None, None, 10],
        )  # fmt: skip
        risk = assess(table, rule)
    except (DataError, SpecError):
        return
    assert risk.sensitive[1]


def test_contributions_that_cannot_make_up_the_cell_are_refused() -> None:
    """One contributor, whose largest contribution is a tenth of the cell: one of the columns is wrong."""
    try:
        table = ready(
            {"count": "n", "largest": ["m1", "m2"]},
            region=["Total", "a", "b"], value=[150, 100, 50], n=[6, 1, 5], m1=[20, 10, 20], m2=[10, 0, 10],
        )  # fmt: skip
        risk = assess(table, PPercent(10))
    except (DataError, SpecError):
        return
    assert risk.sensitive[1]


def test_holdings_are_what_the_rules_look_at() -> None:
    table = ready(
        {"count": "n", "holdings": "h", "largest": ["m"]},
        region=["Total", "a", "b"], value=[150, 100, 50], n=[9, 4, 5], h=[3, 1, 2], m=[100, 100, 30],
    )  # fmt: skip
    assert assess(table, MinFrequency(2)).sensitive.tolist() == [False, True, False]
    assert assess(table, MinFrequency(2, by="respondent")).sensitive.tolist() == [False, False, False]
    assert assess(table, Dominance(1, 60)).sensitive.tolist() == [True, True, False]


def test_a_cell_of_one_holding_needs_no_second_contribution() -> None:
    """Cell a is one holding's: the second largest is empty because there is none."""
    table = ready(
        {"count": "n", "holdings": "h", "largest": ["m1", "m2"]},
        region=["Total", "a", "b"], value=[150, 100, 50], n=[9, 4, 5], h=[3, 1, 2], m1=[100, 100, 30],
        m2=[30, None, 20],
    )  # fmt: skip
    assert assess(table, PPercent(10)).sensitive.tolist() == [False, True, True]


def test_large_counts_of_large_contributors_are_not_refused() -> None:
    """Ten million contributors of up to ten billion: their product does not fit into 64 bits."""
    table = ready(
        {"count": "n", "largest": ["m"]},
        region=["Total", "a", "b"], value=["5000000000000.25", "2000000000000.10", "3000000000000.15"],
        n=[10_000_000, 4_000_000, 6_000_000], m=["10000000000.00", "10000000000.00", "9000000000.00"],
    )  # fmt: skip
    assert len(table) == 3


def test_an_empty_file_and_a_header_hold_no_cells(tmp_path: Path) -> None:
    path = tmp_path / "cells.csv"
    path.write_text("")
    with pytest.raises(DataError, match=r"cells\.csv: is empty"):
        cells(path, by=["region"], value="value")
    path.write_text("region,value\n")
    with pytest.raises(DataError, match=r"cells\.csv: holds no cells"):
        cells(path, by=["region"], value="value")


def test_statuses_have_the_names_of_people_jj_files_and_tau_argus() -> None:
    said = ["Safe", "S", "u", "UNSAFE", "sensitive", "m", "hidden", "z", "P", "shown", "", None]
    codes = [f"c{number}" for number in range(len(said) - 1)]
    table = ready({"status": "st"}, region=[*codes, "Total"], value=[1] * len(codes) + [len(codes)], st=said)
    found = dict(zip(labels(table), table.extras["status"].tolist(), strict=True))
    assert [found[code] for code in codes] == ["safe"] * 2 + ["sensitive"] * 3 + ["hide"] * 2 + ["show"] * 3 + [""]
    assert found["Total"] == ""
