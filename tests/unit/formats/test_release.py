"""Releases as files of each kind: what they say, what they must not say, and what is left when writing fails."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pyarrow.parquet
import pytest
from tests.unit.pattern.conftest import table_of_regions

from celosia import DataError, Pattern, Release, SpecError, Table, publish, read_release, write
from celosia.files import all_or_nothing, check_writable
from celosia.formats import release_excel
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.suppressed import Suppressed
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.relations import Relations

NAMES = {"n": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
HIDDEN = [4, 5, 7, 8]


def four_hidden(inner: int = 20) -> Release:
    """Return a release whose four inner cells are hidden, and depend on `inner`."""
    values = [100, 40, 60, 50, inner, 50 - inner, 50, 40 - inner, 10 + inner]
    return publish(Pattern.hide(table_of_regions(values), HIDDEN))


def every_status() -> Release:
    values = ["7", "5", "100.5", "101", "-120", "90", "2"]
    amounts = Fixed.of_texts(values)
    table = Table((), np.zeros((7, 0), np.int32), ("value",), np.zeros(7, np.int32), amounts, Relations.none(7))
    one = np.ones(1, dtype=np.int64)
    return publish(
        Pattern.of(
            table,
            Suppressed(one),
            Interval(2 * one, Fixed(90 * one), Fixed(2005 * one, 1)),
            Rounded(3 * one, Fixed(100 * one), Fixed(50 * one), 1),
            Perturbed(4 * one, Fixed(-12025 * one, 2), Fixed(30 * one)),
            Adjusted(5 * one, Fixed(100 * one)),
            Interval(6 * one, Fixed(-INFINITE * one), Fixed(3 * one)),
        )
    )


def same(first: Release, second: Release) -> bool:
    return first.status.tolist() == second.status.tolist() and all(
        getattr(first, name).texts() == getattr(second, name).texts() for name in ("published", "lower", "upper")
    )


def _parsed(book: zipfile.ZipFile, name: str) -> ET.Element:
    return ET.fromstring(book.read(name))  # noqa: S314  (we wrote it)


def sheet(path: Path, number: int = 1) -> dict[str, tuple[str, str]]:
    """Return the text and the fill colour of every cell of a sheet."""
    with zipfile.ZipFile(path) as book:
        texts = [
            "".join(part.text or "" for part in entry.iter(f"{{{NAMES['n']}}}t"))
            for entry in _parsed(book, "xl/sharedStrings.xml")
        ]
        styles = _parsed(book, "xl/styles.xml")
        content = _parsed(book, f"xl/worksheets/sheet{number}.xml")
    fills = [
        color.get("rgb", "") if (color := fill.find(".//n:fgColor", NAMES)) is not None else ""
        for fill in styles.findall("n:fills/n:fill", NAMES)
    ]
    colours = [fills[int(style.get("fillId", 0))] for style in styles.findall("n:cellXfs/n:xf", NAMES)]
    out = {}
    for cell in content.iter(f"{{{NAMES['n']}}}c"):
        value = cell.find("n:v", NAMES)
        said = "" if value is None or value.text is None else value.text
        said = texts[int(said)] if cell.get("t") == "s" else said
        out[cell.get("r", "")] = (said, colours[int(cell.get("s", 0))][2:])
    return out


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("office", [False, True])
def test_what_is_written_is_read(tmp_path: Path, ending: str, *, office: bool) -> None:
    release, path = every_status(), tmp_path / f"out.{ending}"
    write(release, path, np.arange(len(release)) == 1 if office else None)
    assert same(read_release(path), release)


def test_whole_numbers_are_integers_in_parquet_and_others_decimals(tmp_path: Path) -> None:
    write(four_hidden(), tmp_path / "a.parquet")
    write(every_status(), tmp_path / "b.parquet")
    first, second = (pyarrow.parquet.read_table(tmp_path / name) for name in ("a.parquet", "b.parquet"))
    assert first.column_names == ["cell", "region", "status_", "status", "published", "lower", "upper"]
    assert str(first.schema.field("published").type) == "int64"
    assert str(second.schema.field("published").type) == "decimal128(38, 2)"
    assert first["published"].to_pylist()[3:6] == [50, None, None]


def test_numbers_too_long_for_anything_else_are_text_in_parquet(tmp_path: Path) -> None:
    table = table_of_regions([10**40, 0, 10**40, 10**40, 0, 10**40, 0, 0, 0])
    release = publish(Pattern.of(table))
    write(release, tmp_path / "a.parquet")
    assert same(read_release(tmp_path / "a.parquet"), release)


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_a_public_file_does_not_depend_on_hidden_values(tmp_path: Path, ending: str) -> None:
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    write(four_hidden(inner=20), first)
    write(four_hidden(inner=17), second)
    assert first.read_bytes() == second.read_bytes()


def test_a_public_excel_file_has_no_formulas_comments_hidden_sheets_or_colours_apart(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    write(four_hidden(), path)
    with zipfile.ZipFile(path) as book:
        parts = {name: book.read(name).decode() for name in book.namelist()}
    assert not [name for name in parts if "comment" in name.lower() or "custom" in name.lower()]
    assert not re.search(r"<f[ >]", "".join(parts.values()))
    assert "state=" not in parts["xl/workbook.xml"]
    assert "sensitive" not in parts["xl/sharedStrings.xml"]
    table = sheet(path)
    assert {table[place] for place in ("C6", "D6", "C7", "D7")} == {("x", "D9D9D9")}
    assert table["B5"] == ("100", "")


def test_the_office_s_excel_file_tells_sensitive_cells_from_the_others(tmp_path: Path) -> None:
    path = tmp_path / "out.xlsx"
    sensitive = np.zeros(9, dtype=bool)
    sensitive[4] = True
    write(four_hidden(), path, sensitive)
    table = sheet(path)
    assert table["C6"] == ("x", "F9B27C")
    assert [table[place] for place in ("D6", "C7", "D7")] == [("x", "BCD2EE")] * 3
    assert "confidential" in table["A1"][0]
    assert {table["A2"], table["D2"]} == {
        ("x: hidden because sensitive", "F9B27C"),
        ("x: hidden to protect sensitive cells", "BCD2EE"),
    }
    listed = sheet(path, 2)
    assert [listed[f"{letter}4"][0] for letter in "ABCDEFGH"] == [
        "cell", "region", "status_", "sensitive", "status", "published", "lower", "upper"
    ]  # fmt: skip
    assert [listed[f"D{row}"][0] for row in range(5, 14)] == list("000010000")


def test_a_label_that_looks_like_a_formula_stays_text(tmp_path: Path) -> None:
    values = [100, 40, 60, 50, 20, 30, 50, 20, 30]
    write(publish(Pattern.of(table_of_regions(values, north="=1+1"))), tmp_path / "out.xlsx")
    assert sheet(tmp_path / "out.xlsx")["A6"][0] == "=1+1"
    with zipfile.ZipFile(tmp_path / "out.xlsx") as book:
        assert "<f>" not in book.read("xl/worksheets/sheet1.xml").decode()


def test_ranges_and_long_numbers_stand_in_excel_as_text(tmp_path: Path) -> None:
    write(every_status(), tmp_path / "out.xlsx")
    listed = sheet(tmp_path / "out.xlsx")
    assert [listed[f"{letter}7"][0] for letter in "BDE"] == ["interval", "90", "200.5"]
    assert listed["D11"][0] == "-inf"


def test_more_cells_than_excel_has_rows_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release_excel, "_MOST_ROWS", 10)
    with pytest.raises(SpecError, match="a sheet of Excel has 10"):
        write(four_hidden(), tmp_path / "out.xlsx")
    assert not list(tmp_path.iterdir())


def test_sheets_have_names_of_their_own() -> None:
    taken: set[str] = set()
    names = [release_excel._sheet_name("turnover [by] a/b and something far too long", taken) for _ in range(12)]
    assert len({name.lower() for name in names}) == 12
    assert max(map(len, names)) <= 31
    assert not any(letter in name for name in names for letter in "[]:*?/\\")


@pytest.mark.parametrize("name", ["out.txt", "out"])
def test_an_unknown_ending_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SpecError, match=r"Name a \.csv, \.parquet or \.xlsx file"):
        write(four_hidden(), tmp_path / name)


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_flags_that_are_no_mask_are_refused(tmp_path: Path, ending: str) -> None:
    with pytest.raises(SpecError, match="must be a mask of 9 cells"):
        write(four_hidden(), tmp_path / f"out.{ending}", [1, 2])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_a_folder_that_is_not_there_is_refused(tmp_path: Path, ending: str) -> None:
    with pytest.raises(SpecError, match="cannot be written"):
        write(four_hidden(), tmp_path / "nowhere" / f"out.{ending}")


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("cell,status\n")
    with pytest.raises(DataError, match="it is no Parquet file"):
        read_release(tmp_path / "a.parquet")
    with pytest.raises(DataError, match="No such file"):
        read_release(tmp_path / "b.parquet")


def test_places_are_checked_all_at_once_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text("")
    (tmp_path / "folder.csv").mkdir()
    wrong: dict[str | Path, list[str]] = {
        tmp_path / "out.txt": [".csv"],
        tmp_path / "folder.csv": [".csv"],
        tmp_path / "nowhere" / "out.csv": [".csv"],
        tmp_path / "job.toml": [".toml"],
        Path("/proc/out.csv"): [".csv"],
        str(tmp_path / "twice.csv"): [".csv"],
        tmp_path / "twice.csv": [".csv"],
    }
    with pytest.raises(SpecError) as caught:
        check_writable(wrong, [tmp_path / "job.toml"])
    assert [problem.message.split(":")[0] for problem in caught.value.problems] == [
        "has the ending '.txt', which is not written here.",
        "is a folder.",
        "cannot be written",
        "is an input of this job and would be overwritten.",
        "cannot be written",
        "is named for two outputs.",
    ]
    check_writable({tmp_path / "out.csv": [".csv"]})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.csv", "job.toml"]


def test_what_a_killed_process_left_is_swept_up_and_nothing_else(tmp_path: Path) -> None:
    dead = 2**22 + 1  # beyond the largest process number
    with all_or_nothing([tmp_path / "out.csv"]) as stand_ins:
        left = stand_ins[tmp_path / "out.csv"].name.split("-", 1)[1]
        stand_ins[tmp_path / "out.csv"].write_text("whole")
    (tmp_path / f".{dead}-{left}").write_text("half")
    others = [f".{dead}-elsewhere-out.csv", f".1-{left}", ".note-out.csv"]
    for name in others:
        (tmp_path / name).write_text("")
    with all_or_nothing([tmp_path / "out.csv"]) as stand_ins:
        stand_ins[tmp_path / "out.csv"].write_text("whole again")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["out.csv", *others])
