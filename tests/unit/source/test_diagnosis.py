"""Whatever is wrong with records: place, rows and remedy in one message, and nobody's secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from celosia import DataError, Hierarchy, tabulate

SECRETS = ("Meier", "Huber", "4711", "4712", "secret")


def refused(data: object, **options: Any) -> DataError:  # noqa: ANN401
    """Return the error that tabulating gives; it must not tell secrets."""
    with pytest.raises(DataError) as caught:
        tabulate(data, **({"by": ["region"], "value": "turnover"} | options))
    said = str(caught.value)
    assert not any(secret in said for secret in SECRETS)
    assert all(problem.place and problem.remedy for problem in caught.value.problems)
    return caught.value


def csv(folder: Path, *lines: str) -> Path:
    path = folder / "firms.csv"
    path.write_text("\n".join(["region,turnover,firm,weight,asked", *lines, ""]))
    return path


def test_text_in_a_number_column_is_reported_with_its_rows(tmp_path: Path) -> None:
    error = refused(csv(tmp_path, "N,4711,Meier,1,", "S,secret,Huber,1,", "N,4712,Meier,1,", "N,12 000,Huber,1,"))
    (problem,) = error.problems
    assert problem.place == "firms.csv, column 'turnover'"
    assert "not a number" in problem.message
    assert "2 records (rows 2, 4, the first record being row 1)" in problem.message


@pytest.mark.parametrize("entry", ["inf", "-inf", "nan", "Infinity"])
def test_infinite_values_are_reported(tmp_path: Path, entry: str) -> None:
    (problem,) = refused(csv(tmp_path, "N,4711,Meier,1,", f"S,{entry},Huber,1,")).problems
    assert "infinite" in problem.message
    assert "row 2" in problem.message


def test_missing_values_are_reported(tmp_path: Path) -> None:
    (problem,) = refused(csv(tmp_path, "N,4711,Meier,1,", "S,,Huber,1,", 'S,"",Huber,1,')).problems
    assert "no value in 2 records (rows 2, 3," in problem.message


@pytest.mark.parametrize("weight", ["0", "-1", "0.0", "-0.5"])
def test_weights_of_zero_or_less_are_reported(tmp_path: Path, weight: str) -> None:
    (problem,) = refused(csv(tmp_path, "N,4711,Meier,1,", f"S,4712,Huber,{weight},"), weight="weight").problems
    assert problem.place == "firms.csv, column 'weight'"
    assert "zero or less" in problem.message
    assert "row 2" in problem.message


def test_flags_that_are_neither_yes_nor_no_are_reported(tmp_path: Path) -> None:
    for role in ("request", "waiver"):
        error = refused(csv(tmp_path, "N,4711,Meier,1,yes", "S,4712,Huber,1,perhaps"), **{role: "asked"})
        assert error.problems[0].place == "firms.csv, column 'asked'"
        assert "row 2" in error.problems[0].message


def test_records_without_a_respondent_or_a_holding_are_reported(tmp_path: Path) -> None:
    path = csv(tmp_path, "N,4711,Meier,1,", "S,4712,,1,")
    assert "no respondent in 1 record (row 2," in str(refused(path, respondent="firm"))
    assert "no holding in 1 record (row 2," in str(refused(path, holding="firm"))


def test_everything_wrong_with_a_file_is_told_at_once(tmp_path: Path) -> None:
    path = csv(
        tmp_path,
        "N,4711,Meier,1,0",
        ",4712,Huber,1,0",
        "X,4712,Huber,1,0",
        "N,secret,Huber,1,0",
        "N,,Huber,1,0",
        "N,inf,Huber,1,0",
        "N,1,Huber,0,0",
        "N,1,Huber,secret,0",
        "N,1,,1,0",
        "N,1,Huber,1,perhaps",
        "All,1,Huber,1,0",
    )
    hierarchy = Hierarchy.from_dict({"N": None, "S": None}, total="All")
    error = refused(path, weight="weight", respondent="firm", request="asked", hierarchies={"region": hierarchy})
    places = [problem.place.removeprefix("firms.csv, column ") for problem in error.problems]
    assert places.count("'region'") == 3
    assert places.count("'turnover'") == 3
    assert places.count("'weight'") == 2
    assert places.count("'firm'") == 1
    assert places.count("'asked'") == 1


def test_of_many_bad_rows_the_first_five_are_named() -> None:
    frame = pl.DataFrame({"region": ["N"] * 1500, "turnover": ["secret"] * 1200 + ["1"] * 300})
    (problem,) = refused(frame).problems
    assert "1,200 records (rows 1, 2, 3, 4, 5, ..., the first record being row 1)" in problem.message


def test_row_numbers_are_those_of_the_file_beyond_the_first_batch() -> None:
    rows = 300_000
    turnover = ["1"] * rows
    turnover[250_000] = "secret"
    (problem,) = refused(pl.DataFrame({"region": ["N"] * rows, "turnover": turnover})).problems
    assert "(row 250001, the first record being row 1)" in problem.message


def test_codes_that_stand_in_several_branches_are_named() -> None:
    hierarchy = Hierarchy.from_dict({"A": ["1", "2"], "B": ["1", "3"]})
    frame = pl.DataFrame({"region": ["1", "3"], "turnover": [4711, 4712]})
    (problem,) = refused(frame, hierarchies={"region": hierarchy}).problems
    assert "stand in several branches: '1'." in problem.message
    assert "columns of all levels" in problem.remedy


def test_many_unknown_codes_are_counted() -> None:
    codes = [f"code {number:02d}" for number in range(20)]
    frame = pl.DataFrame({"region": codes, "turnover": [1] * 20})
    (problem,) = refused(frame, hierarchies={"region": Hierarchy.flat(["N", "S"])}).problems
    assert "'code 07' and 12 more." in problem.message


def test_paths_that_a_given_hierarchy_does_not_have_are_named() -> None:
    frame = pl.DataFrame({"s": ["A", "A"], "d": ["1", "9"], "turnover": [1, 2]})
    hierarchy = Hierarchy.from_dict({"A": ["1", "2"], "B": None})
    error = refused(frame, by=["industry"], columns={"industry": ["s", "d"]}, hierarchies={"industry": hierarchy})
    assert "'A / 9'" in str(error)


def test_a_code_of_digits_that_does_not_fit_and_a_bad_number_are_told_at_once() -> None:
    hierarchy = Hierarchy.flat(["N", "S"])
    frame = pl.DataFrame({"region": ["N", "X"], "size": ["q", None], "turnover": ["secret", "1"]})
    error = refused(frame, by=["region", "size"], hierarchies={"region": hierarchy})
    assert {problem.place for problem in error.problems} == {
        "data, column 'region'",
        "data, column 'size'",
        "data, column 'turnover'",
    }
