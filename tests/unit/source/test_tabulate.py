from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from celosia import (
    CelosiaError,
    DataError,
    Digits,
    Dominance,
    Hierarchy,
    MinFrequency,
    PPercent,
    SpecError,
    Table,
    assess,
    tabulate,
)
from celosia.table.statistics import Statistics

FIRMS = pl.DataFrame(
    {
        "industry": ["C10", "C10", "C11", "F", "F"],
        "region": ["N", "S", "N", "N", "N"],
        "turnover": [100, 50, 20, 7, 3],
        "firm": ["a", "b", "c", "d", "e"],
        "group": ["G", None, "G", None, "H"],
    }
)
INDUSTRY = Hierarchy.from_dict({"C": ["C10", "C11"], "F": None})


def values(table: Table) -> dict[str, Any]:
    return {table.label(cell): table.amounts.floats[cell] for cell in range(len(table))}


def known(table: Table) -> Statistics:
    assert table.statistics is not None
    return table.statistics


def written(folder: Path, text: str) -> Path:
    path = folder / "firms.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_totals_of_every_level_and_dimension() -> None:
    table = tabulate(FIRMS, by=["industry", "region"], value="turnover", hierarchies={"industry": INDUSTRY})
    assert values(table) == {
        "Total": 180, "N": 130, "S": 50, "C": 170, "C x N": 120, "C x S": 50, "C10": 150, "C10 x N": 100,
        "C10 x S": 50, "C11": 20, "C11 x N": 20, "F": 10, "F x N": 10,
    }  # fmt: skip
    assert repr(table).startswith("Table(turnover by industry x region: 13 cells, ")
    assert table.levels.max(axis=0).tolist() == [2, 1]


def test_a_holding_that_spans_cells_counts_once_in_their_total() -> None:
    table = tabulate(
        FIRMS, by=["industry"], value="turnover", respondent="firm", holding="group", hierarchies={"industry": INDUSTRY}
    )
    holdings = known(table).holdings
    assert holdings is not None
    found = {
        table.label(cell): (int(holdings.count[cell]), holdings.largest[cell].tolist()) for cell in range(len(table))
    }
    assert found["C"] == (2, [120, 50, 0])
    assert found["C10"] == (2, [100, 50, 0])
    assert found["Total"] == (4, [120, 50, 7])


def test_a_respondent_without_a_holding_is_not_the_holding_of_that_name() -> None:
    frame = pl.DataFrame({"r": ["x", "x"], "v": [1, 2], "firm": ["G", "b"], "group": [None, "G"]})
    holdings = known(tabulate(frame, by=["r"], value="v", respondent="firm", holding="group")).holdings
    assert holdings is not None
    assert holdings.count.tolist() == [2]


def test_without_respondents_every_record_is_one() -> None:
    table = tabulate(FIRMS, by=["industry"], value="turnover")
    assert known(table).respondents.count.tolist() == known(table).records.tolist() == [5, 2, 1, 2]


def test_a_table_of_counts() -> None:
    table = tabulate(FIRMS, by=["region"], respondent="firm", count_name="firms")
    assert values(table) == {"Total": 5, "N": 4, "S": 1}
    assert table.variables == ("firms",)
    assert table.counts == {"firms"}


def test_a_weighted_table_of_counts_is_no_count_any_more() -> None:
    table = tabulate(FIRMS.with_columns(weight=pl.lit(1.5)), by=["region"], weight="weight")
    assert values(table) == {"Total": 7.5, "N": 6, "S": 1.5}
    assert table.counts == frozenset()


def test_decimals_are_exact_in_every_type() -> None:
    texts = ["0.1", "0.2", "12345.67"]
    for column in (
        pl.Series(texts),
        pl.Series([float(text) for text in texts]),
        pl.Series([Decimal(text) for text in texts], dtype=pl.Decimal(12, 2)),
    ):
        table = tabulate(pl.DataFrame({"r": ["a", "a", "b"], "v": column}), by=["r"], value="v")
        assert table.amounts.fraction(0) == Fraction("12345.97")
        assert table.amounts.fraction(1) == Fraction("0.3")


@pytest.mark.parametrize("text", ["9007199254740993", "123456789012345.67", "1234567890123456.5"])
def test_texts_are_read_digit_by_digit(text: str, tmp_path: Path) -> None:
    """A value that no double holds: as whole numbers and decimals they are exact, so they must be as text."""
    table = tabulate(written(tmp_path, f"r,v\na,{text}\nb,1\n"), by=["r"], value="v")
    assert table.amounts.fraction(1) == Fraction(text)


@pytest.mark.parametrize(
    "numbers", [[1234567890123456.5, 0.25], [90071992547409.92, 0.001], [1234567890123457.0, 0.25]]
)
def test_doubles_are_read_as_they_print_or_rounded_with_a_note_in_any_order(numbers: list[float]) -> None:
    """All are short decimals; on the grid of the finer one the larger has more digits than a double counts."""
    # small one is rounded to a multiple of 16 hundredths, silently; after it, everything is rounded to whole numbers.
    found = []
    for order in (numbers, numbers[::-1]):
        table = tabulate(pl.DataFrame({"r": [str(value) for value in order], "v": order}), by=["r"], value="v")
        cells = {table.label(cell): table.amounts.fraction(cell) for cell in range(len(table))}
        assert all(cells[str(value)] == Fraction(repr(value)) for value in order) or table.notes
        found.append(cells)
    assert found[0] == found[1]


def test_long_digits_beside_a_power_of_ten_are_exact_or_noted(tmp_path: Path) -> None:
    table = tabulate(written(tmp_path, "r,v\na,9007199254740993\nb,1e3\n"), by=["r"], value="v")
    assert table.amounts.fraction(1) == 9007199254740993 or table.notes


def test_whole_numbers_beyond_a_double_are_exact() -> None:
    table = tabulate(pl.DataFrame({"r": ["a", "b"], "v": [2**53 + 1, 1]}), by=["r"], value="v")
    assert table.amounts.counts.tolist() == [2**53 + 2, 2**53 + 1, 1]


def test_real_numbers_are_rounded_with_a_note() -> None:
    table = tabulate(pl.DataFrame({"r": ["a", "b"], "v": [1 / 3, 2 / 3]}), by=["r"], value="v")
    assert table.notes == ("data, column 'v': records rounded to 9 decimals",)
    assert not table.relations.residuals(table.amounts.counts).any()


def test_decimals_on_request() -> None:
    table = tabulate(pl.DataFrame({"r": ["a", "b"], "v": [1.26, 2.24]}), by=["r"], value="v", decimals=1)
    assert table.amounts.texts() == ["3.5", "1.3", "2.2"]
    assert len(table.notes) == 1


def test_negative_decimals_are_refused() -> None:
    with pytest.raises(SpecError):
        tabulate(pl.DataFrame({"r": ["a", "b"], "v": [14.0, 26.0]}), by=["r"], value="v", decimals=-1)


def test_level_columns_keep_equal_codes_of_two_branches_apart() -> None:
    frame = pl.DataFrame({"s": ["A", "A", "B"], "d": ["other", "x", "other"], "v": [1, 2, 4]})
    table = tabulate(frame, by=["industry"], columns={"industry": ["s", "d"]}, value="v")
    assert values(table) == {"Total": 7, "A": 3, "A / other": 1, "x": 2, "B": 4}


def test_a_single_child_is_merged_with_its_parent() -> None:
    table = tabulate(FIRMS, by=["industry"], value="turnover", hierarchies={"industry": Hierarchy.from_dict(
        {"C": ["C10", "C11"], "other": {"F": None}})})  # fmt: skip
    assert len(table) == 5
    assert ("other", "F") in [table.axes[0].names(node) for node in range(len(table.axes[0].labels))]


def test_digits_are_read_off_the_data() -> None:
    frame = pl.DataFrame({"nace": ["101", "102", "201"], "v": [1, 2, 4]})
    table = tabulate(frame, by=["nace"], value="v", hierarchies={"nace": Digits((2, 1))})
    assert values(table) == {"Total": 7, "10": 3, "101": 1, "102": 2, "20": 4}


def test_missing_codes_are_an_error_a_category_or_dropped() -> None:
    frame = pl.DataFrame({"r": ["a", None, ""], "v": [1, 2, 4]})
    with pytest.raises(
        DataError, match=r"data, column 'r': no code in 2 records \(rows 2, 3, .* first record being row 1"
    ):
        tabulate(frame, by=["r"], value="v")
    assert values(tabulate(frame, by=["r"], value="v", missing="category")) == {"Total": 7, "a": 1, "(missing)": 6}
    assert values(tabulate(frame, by=["r"], value="v", missing="drop")) == {"Total": 1}


def test_a_missing_category_beside_a_code_of_that_name_still_adds_up() -> None:
    frame = pl.DataFrame({"r": ["a", None, "(missing)"], "v": [1, 2, 4]})
    try:
        table = tabulate(frame, by=["r"], value="v", missing="category")
    except DataError:
        return
    assert not table.relations.residuals(table.amounts.counts).any()


@pytest.mark.parametrize("rows", [(["A", None, "X"], ["A", "A1", None]), ([None, "A1", None], ["A", "A2", None])])
def test_a_gap_above_a_level_is_no_code(rows: tuple[list[str | None], ...]) -> None:
    """As in `Hierarchy.from_levels`: a level may be empty only where the deeper ones are."""
    frame = pl.DataFrame([[*row, 1] for row in rows], schema=["s", "d", "g", "v"], orient="row")
    with pytest.raises(DataError):
        tabulate(frame, by=["industry"], columns={"industry": ["s", "d", "g"]}, value="v")


def test_a_path_that_ends_above_the_leaves_is_named() -> None:
    rows = [("A", "A1", None, 1), ("A", "A1", "A11", 2), ("A", "A1", "A12", 3), ("B", "B1", None, 4)]
    frame = pl.DataFrame(rows, schema=["s", "d", "g", "v"], orient="row")
    with pytest.raises(DataError, match="A / A1"):
        tabulate(frame, by=["industry"], columns={"industry": ["s", "d", "g"]}, value="v")


@pytest.mark.parametrize(
    ("by", "value"), [("code", "v"), ("r", "number"), ("code", "number"), ("d0", "v0"), ("celosia_rows", "weight")]
)
def test_columns_may_have_any_name(by: str, value: str) -> None:
    table = tabulate(pl.DataFrame({by: ["a", "b"], value: [1, 2]}), by=[by], value=value)
    assert values(table) == {"Total": 3, "a": 1, "b": 2}


def test_further_columns_do_not_matter() -> None:
    frame = pl.DataFrame({"r": ["a", "b"], "v": [1, 2], "code": [None, "x"], "number": ["y", None], "c0": [1, None]})
    assert values(tabulate(frame, by=["r"], value="v")) == {"Total": 3, "a": 1, "b": 2}


@pytest.mark.parametrize("name", ["with blank", "with'quote", 'with"quote', "Ümläut", "select", "a,b"])
def test_columns_may_have_any_letters(name: str) -> None:
    assert values(tabulate(pl.DataFrame({name: ["a"], "v": [1]}), by=[name], value="v")) == {"Total": 1}


def test_pandas_categories_nullable_numbers_and_dates_are_read() -> None:
    frame = pd.DataFrame(
        {
            "r": pd.Categorical(["a", "b", "a"]),
            "day": pd.to_datetime(["2026-01-01", "2026-01-02", "2026-01-01"]),
            "v": pd.array([1, 2, 3], dtype="Int64"),
            "flag": pd.array([True, None, False], dtype="boolean"),
        },
        index=[7, 7, 8],
    )
    table = tabulate(frame, by=["r", "day"], value="v", waiver="flag")
    assert table.amounts.floats[0] == 6
    assert table.library == "pandas"
    assert isinstance(table.to_frame(), pd.DataFrame)
    assert known(table).respondents.unwaived[0] == 2


@pytest.mark.parametrize("said", ["1", "true", "yes", "T", "0", "no", ""])
def test_flags_are_truth_values_or_numbers(said: str, tmp_path: Path) -> None:
    table = tabulate(written(tmp_path, f"r,v,w\na,1,{said}\na,2,false\n"), by=["r"], value="v", waiver="w")
    assert known(table).respondents.unwaived.tolist() == [2 if said in {"0", "no", ""} else 1]


def test_a_respondent_waives_in_a_cell_if_all_his_records_there_do() -> None:
    frame = pl.DataFrame({"r": ["a", "a", "b"], "v": [1, 2, 4], "f": ["x", "x", "x"], "w": [True, False, True]})
    respondents = known(tabulate(frame, by=["r"], value="v", respondent="f", waiver="w")).respondents
    assert respondents.unwaived.tolist() == [1, 1, 0]


def test_several_tables_and_variables_at_once() -> None:
    frame = FIRMS.with_columns(export=pl.col("turnover") // 2, home=pl.col("turnover") - pl.col("turnover") // 2)
    table = tabulate(
        frame,
        by=[["industry"], ["region"]],
        value=["turnover", "home", "export"],
        relations=["turnover = home + export"],
    )
    assert table.variables == ("turnover", "home", "export")
    assert len(table) == 3 * (4 + 3 - 1)
    assert table.components[0] == 1


def test_the_result_does_not_depend_on_the_number_of_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(3)
    frame = pl.DataFrame(
        {
            "r": generator.integers(0, 9, 2000).astype(str),
            "v": generator.integers(-5, 100, 2000),
            "f": generator.integers(0, 300, 2000).astype(str),
            "h": generator.integers(0, 40, 2000).astype(str),
        }
    )
    found = []
    for processors in (1, 2, 3, 7):
        monkeypatch.setattr("os.cpu_count", lambda processors=processors: processors)
        statistics = known(tabulate(frame, by=["r"], value="v", respondent="f", holding="h"))
        assert statistics.holdings is not None
        found.append((statistics.respondents.largest.tolist(), statistics.holdings.largest.tolist()))
    assert all(each == found[0] for each in found)


def test_ten_dimensions_of_a_hundred_codes() -> None:
    """A hundred to the tenth combinations do not fit into 64 bits."""
    names = [f"x{number}" for number in range(10)]
    frame = pl.DataFrame({name: ["1", "2", "3"] for name in names} | {"v": [1, 2, 4]})
    codes = Hierarchy.flat([str(number) for number in range(100)])
    table = tabulate(frame, by=names, value="v", hierarchies=dict.fromkeys(names, codes))
    assert len(table) == 3 * (2**10 - 1) + 1
    assert not table.relations.residuals(table.amounts.counts).any()


def test_a_sole_contributor_with_tiny_weights_is_still_found() -> None:
    """Weights of 0.000000001 put values on a grid where four records of one firm wrap round in 64 bits."""
    records = 4
    frame = pl.DataFrame(
        {
            "r": ["a"] * records,
            "v": [4_611_686_018] * records,
            "w": pl.Series([Decimal("0.000000001")] * records, dtype=pl.Decimal(18, 9)),
            "f": ["only"] * records,
        }
    )
    # 1.8e19, and the only contributor's cell passes the p% rule and the dominance rule.
    try:
        table = tabulate(frame, by=["r"], value="v", weight="w", respondent="f")
    except DataError:
        return
    assert assess(table, PPercent(10)).sensitive.all()
    assert assess(table, Dominance(1, 90)).sensitive.all()


@pytest.mark.parametrize(
    ("column", "secret"),
    [
        (pa.array([2**64 - 1], pa.uint64()), "18446744073709551615"),
        (pa.array([Decimal("1234567890123456789.25")], pa.decimal128(38, 2)), "1234567890123456789"),
    ],
)
def test_a_value_that_does_not_fit_is_not_told_in_the_message(column: Any, secret: str) -> None:  # noqa: ANN401
    with pytest.raises(DataError) as caught:
        tabulate(pa.table({"r": ["a"], "v": column}), by=["r"], value="v")
    assert secret not in str(caught.value)
    assert "column 'v'" in str(caught.value)


def test_sums_of_more_than_18_digits_are_refused_with_a_remedy() -> None:
    frame = pl.DataFrame({"r": ["a"] * 3, "v": [2**61] * 3})
    with pytest.raises(DataError, match=r"column 'v': sums to more than 18 digits .* use a larger unit"):
        tabulate(frame, by=["r"], value="v")
    weighted = pl.DataFrame({"r": ["a"], "v": [2**60], "w": [Decimal("1.001")]})
    with pytest.raises(DataError, match="column 'v': times its weights sums to more than 18 digits"):
        tabulate(weighted, by=["r"], value="v", weight="w")


def test_every_unknown_column_is_named_with_a_hint() -> None:
    with pytest.raises(SpecError) as caught:
        tabulate(
            FIRMS, by=["industri", "region"], value="turnovr", respondent="frm", holding="x", weight="y", request="z",
            waiver="w", shadow="s",
        )  # fmt: skip
    assert len(caught.value.problems) == 8
    assert all(problem.place == "data" for problem in caught.value.problems)
    assert "has no column 'turnovr' (value). Did you mean 'turnover'?" in str(caught.value)
    assert "has no column 'x' (holding). Known: 'firm', 'group', 'industry', 'region', 'turnover'." in str(caught.value)


def test_hierarchies_of_no_dimension_are_refused() -> None:
    with pytest.raises(SpecError, match=r"hierarchies\['industri'\]: is not a dimension .* Did you mean 'industry'"):
        tabulate(FIRMS, by=["industry"], value="turnover", hierarchies={"industri": INDUSTRY})


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"by": []}, "by"),
        ({"by": [[]]}, "by"),
        ({"by": ["industry", "industry"]}, "by"),
        ({"by": ["industry", ["region"]]}, "by"),
        ({"largest": 0}, "largest"),
        ({"missing": "ignore"}, "missing"),
        ({"value": None, "shadow": "turnover"}, "shadow"),
    ],
)
def test_impossible_wishes_are_refused_by_name(options: dict[str, Any], place: str) -> None:
    with pytest.raises(SpecError) as caught:
        tabulate(FIRMS, **({"by": ["industry"], "value": "turnover"} | options))
    assert [problem.place for problem in caught.value.problems] == [place]


def test_all_impossible_wishes_are_told_at_once() -> None:
    with pytest.raises(SpecError) as caught:
        tabulate(FIRMS, by=[], largest=-1, missing="?", shadow="turnover")
    assert [problem.place for problem in caught.value.problems] == ["by", "largest", "missing", "shadow"]


@pytest.mark.parametrize("data", [{"r": ["a"]}, 17, None, [1, 2]])
def test_what_is_no_frame_is_refused(data: object) -> None:
    with pytest.raises(SpecError, match=r"data: cannot be read: .* Give a path to a \.parquet or \.csv file"):
        tabulate(data, by=["r"], value="v")


def test_files_that_are_absent_empty_or_of_another_kind_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"nowhere\.csv: does not exist"):
        tabulate(tmp_path / "nowhere.csv", by=["r"], value="v")
    with pytest.raises(DataError, match=r"firms\.csv: is empty"):
        tabulate(written(tmp_path, ""), by=["r"], value="v")
    with pytest.raises(SpecError, match=r"ending '\.xls', which is not read"):
        tabulate(tmp_path / "x.xls", by=["r"], value="v")
    (tmp_path / "bad.parquet").write_bytes(b"PAR1 not really")
    with pytest.raises(DataError, match=r"bad\.parquet: cannot be read"):
        tabulate(tmp_path / "bad.parquet", by=["r"], value="v")


def test_a_file_of_a_header_only_holds_no_records(tmp_path: Path) -> None:
    for hierarchies in ({}, {"r": Hierarchy.flat(["a"])}):
        with pytest.raises(DataError, match="holds no records"):
            tabulate(written(tmp_path, "r,v\n"), by=["r"], value="v", hierarchies=hierarchies)
    with pytest.raises(DataError, match="holds no records"):
        tabulate(FIRMS.clear(), by=["region"], value="turnover")


def test_a_csv_file_with_a_row_too_long_names_the_row_and_not_its_contents(tmp_path: Path) -> None:
    path = written(tmp_path, "r,v,f\n" + "a,1,x\n" * 30 + "b,17,Meier,4711\n" + "a,1,x\n" * 5)
    with pytest.raises(CelosiaError) as caught:
        tabulate(path, by=["r"], value="v")
    said = str(caught.value)
    assert "Meier" not in said
    assert "4711" not in said
    assert "32" in said or "31" in said


def test_codes_outside_the_hierarchy_are_named_and_records_are_not() -> None:
    frame = pl.DataFrame({"industry": ["C10", "Z99", "C"], "v": [4711, 4712, 4713], "f": ["Meier", "Huber", "Ott"]})
    with pytest.raises(DataError) as caught:
        tabulate(frame, by=["industry"], value="v", respondent="f", hierarchies={"industry": INDUSTRY})
    said = str(caught.value)
    assert [problem.place for problem in caught.value.problems] == ["data, column 'industry'"] * 2
    assert "'Z99'" in said
    assert "'C'" in said
    assert all(problem.remedy for problem in caught.value.problems)
    assert not any(secret in said for secret in ("471", "Meier", "Huber", "Ott"))


def test_a_relation_of_duckdb_is_read_where_it_is() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE TABLE firms AS SELECT * FROM (VALUES ('a', 1), ('b', 2)) AS t(r, v)")
    table = tabulate(connection.sql("SELECT r, v * 10 AS v FROM firms"), by=["r"], value="v")
    assert values(table) == {"Total": 30, "a": 10, "b": 20}
    assert connection.sql("SELECT count(*) FROM firms").fetchall() == [(2,)]


def test_a_rule_that_needs_more_of_the_largest_says_so() -> None:
    frame = pl.DataFrame({"r": ["a"] * 6, "v": range(6, 0, -1)})
    table = tabulate(frame, by=["r"], value="v", largest=2)
    with pytest.raises(
        SpecError, match=r"\(3, 80\) dominance: needs the 3 largest contributions, 2 are known.*largest=3"
    ):
        assess(table, Dominance(3, 80))
    assert not assess(tabulate(frame, by=["r"], value="v"), MinFrequency(3)).sensitive.any()


def test_ctrl_c_that_duckdb_answers_with_an_error_of_its_own_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise RuntimeError("Query interrupted")  # what DuckDB 2.0 raises when SIGINT comes while a query runs

    for method in ("fetchall", "to_arrow_reader"):
        with monkeypatch.context() as patch:
            patch.setattr(duckdb.DuckDBPyRelation, method, interrupt)
            with pytest.raises(KeyboardInterrupt):
                tabulate(FIRMS, by=["industry"], value="turnover")
