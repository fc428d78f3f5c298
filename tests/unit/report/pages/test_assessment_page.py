from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from typing import TYPE_CHECKING

import numpy as np
import pytest

from celosia import SpecError
from celosia.report.pages import assessment as page
from celosia.report.pages.assessment import render, write_page
from celosia.report.pages.limits import PageLimits
from celosia.risk.risk import Levels
from celosia.table.fixed import Fixed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from celosia.risk.risk import Risk

VOID = {"meta", "col", "input", "br", "rect", "path"}


@dataclass
class Element:
    """An element of a page, with its own text and that of everything in it."""

    tag: str
    attributes: dict[str, str | None]
    text: str = ""
    within: tuple[str, ...] = ()


@dataclass
class Reader(HTMLParser):
    """Reads a page into its elements, and insists that every tag is closed in its turn."""

    elements: list[Element] = field(default_factory=list)
    open: list[Element] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, dict(attrs), within=tuple(above.attributes.get("class") or "" for above in self.open))
        self.elements.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop().tag == tag

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.text += data


def read(risk: Risk, title: str | None = None, limits: PageLimits | None = None) -> Reader:
    reader = Reader()
    reader.feed("".join(render(risk, title=title, limits=limits)))
    assert not reader.open
    return reader


def entries(reader: Reader, status: str) -> list[Element]:
    """Return the cells of the sheets that have this status."""
    return [
        one
        for one in reader.elements
        if one.tag == "td" and one.attributes.get("class") == status and "grid" in one.within
    ]


def listed(reader: Reader, name: str) -> list[list[str]]:
    """Return the rows of a list, the header first."""
    rows: list[list[str]] = []
    inside = False
    for one in reader.elements:
        inside = one.attributes.get("id") == name if one.tag == "table" else inside
        if inside and one.tag == "tr":
            rows.append([])
        elif inside and one.tag in ("td", "th"):
            rows[-1].append(one.text)
    return rows


def test_the_page_says_that_it_is_confidential(two_way: Risk) -> None:
    banner = next(one for one in read(two_way).elements if one.attributes.get("class") == "banner")
    assert banner.text == "Confidential: this page shows true values; for the office only"


def test_the_page_fetches_nothing(two_way: Risk) -> None:
    reader = read(two_way)
    assert not [one for one in reader.elements if one.tag in ("link", "img", "iframe") or "src" in one.attributes]
    assert not [one for one in reader.elements if "href" in one.attributes]
    styles = "".join(one.text for one in reader.elements if one.tag == "style")
    assert "url(" not in styles
    assert "@import" not in styles
    policy = [one.attributes["content"] for one in reader.elements if "http-equiv" in one.attributes]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'"]


def test_sensitive_cells_are_marked_with_their_reasons_and_levels(two_way: Risk) -> None:
    found = {one.text: one.attributes["title"] for one in entries(read(two_way), "u")}
    assert found == {
        "a3,000": "C10 x Brink\nSensitive: p% rule (p = 10)\nProtection levels: lower 1,234.5, upper 1,234.5",
        "ab1,000": "C11 x Alten\nSensitive: p% rule (p = 10); fewer than 3 contributors\n"
        "Protection levels: lower 1,234.5, upper 1,234.5",
        "b1,000": "C11 x North\nSensitive: fewer than 3 contributors\nProtection levels: lower 1,234.5, upper 1,234.5",
    }


def test_the_offices_own_wishes_are_marked(two_way: Risk) -> None:
    reader = read(two_way)
    assert [one.attributes["title"] for one in entries(reader, "m")] == ["F x Alten\nTo be hidden"]
    assert [one.attributes["title"] for one in entries(reader, "z")] == ["F\nTo be shown"]
    legend = next(one for one in reader.elements if one.attributes.get("class") == "legend")
    assert "to be hidden" in legend.text
    assert "to be shown" in legend.text


def test_sensitive_cells_are_listed_with_labels_value_levels_and_reasons(two_way: Risk) -> None:
    assert listed(read(two_way), "sensitive") == [
        ["industry", "region", "value", "lower level", "upper level", "reasons"],
        ["C10", "Brink", "3,000", "1,234.5", "1,234.5", "p% rule (p = 10)"],
        ["C11", "North", "1,000", "1,234.5", "1,234.5", "fewer than 3 contributors"],
        ["C11", "Alten", "1,000", "1,234.5", "1,234.5", "p% rule (p = 10); fewer than 3 contributors"],
    ]


def test_only_the_kinds_of_levels_that_are_asked_for_have_a_column(two_way: Risk) -> None:
    levels = two_way.levels
    sliding = replace(two_way, levels=Levels(levels.sliding, levels.sliding, levels.upper))
    assert listed(read(sliding), "sensitive")[0] == ["industry", "region", "value", "sliding level", "reasons"]


def test_contributions_and_evidence_stay_out(two_way: Risk) -> None:
    text = "".join(render(two_way))
    digits = re.sub(r"[,.\s]", "", text)
    assert "987654321" not in digits
    assert "largest" not in text


def test_codes_and_titles_are_escaped(two_way: Risk) -> None:
    table = two_way.table
    axis = replace(table.axes[0], labels=("Total", "C", "<script>alert(1)</script>", 'C"11', "F&G"))
    risk = replace(two_way, table=replace(table, axes=(axis, *table.axes[1:])), rules=("<i>p</i>", "f"))
    text = "".join(render(risk, title="</title><script>alert(2)</script>"))
    assert text.count("<script>") == 1
    assert "<i>p</i>" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert listed(read(risk), "sensitive")[1][0] == "<script>alert(1)</script>"


def test_what_was_asked_is_on_the_page(two_way: Risk) -> None:
    text = next(one.text for one in read(two_way).elements if one.attributes.get("class") == "card asked")
    for said in ("p% rule (p = 10)", "that no value is negative", "Two records had no region.", "celosia 0."):
        assert said in text


def test_rows_are_indented_by_their_depth_and_go_by_all_their_names(two_way: Risk) -> None:
    reader = read(two_way)
    heads = [one for one in reader.elements if one.attributes.get("scope") == "row" and "grid" in one.within]
    assert [(one.text, one.attributes["style"]) for one in heads] == [
        ("Total", "--d:0"),
        ("C", "--d:1"),
        ("C10", "--d:2"),
        ("C11", "--d:2"),
        ("F", "--d:1"),
    ]
    assert "South = Jorvik" in [one.text for one in reader.elements if one.attributes.get("scope") == "col"]


def test_further_dimensions_are_sheets_behind_a_selector(three_way: Risk) -> None:
    reader = read(three_way)
    options = [one.text for one in reader.elements if one.tag == "option" and one.attributes.get("value") is None]
    assert options == ["size Total", "size small (1 sensitive)", "size large (1 sensitive)"]
    shown = [one for one in reader.elements if one.attributes.get("class") == "sheet"]
    assert ["hidden" in one.attributes for one in shown] == [False, True, True]


def test_linked_tables_with_several_variables_have_a_sheet_each(linked: Risk) -> None:
    reader = read(linked)
    options = [one.text for one in reader.elements if one.tag == "option" and one.attributes.get("value") is None]
    times = "\N{MULTIPLICATION SIGN}"
    assert options == [
        f"turnover by industry {times} size",
        f"turnover by industry {times} region (1 sensitive)",
        f"export by industry {times} size (1 sensitive)",
        f"export by industry {times} region",
    ]
    assert listed(reader, "sensitive")[1][:4] == ["turnover", "C10", "Total", "Brink"]


def test_a_bare_problem_is_a_list_of_all_cells(bare: Risk) -> None:
    rows = listed(read(bare), "cells")
    assert rows[0] == ["cell", "value", "status", "lower level", "upper level", "reasons"]
    assert len(rows) == 1 + len(bare)
    assert rows[1] == ["0", "36,000", "Safe", "", "", ""]
    assert [row[2] for row in rows[1:]].count("Sensitive") == 3
    assert {row[-1] for row in rows[1:] if row[2] == "Sensitive"} == {"given as sensitive"}


def test_a_table_without_sensitive_cells_has_no_list_of_them(two_way: Risk) -> None:
    none = Fixed(np.zeros(len(two_way), dtype=np.int64))
    reader = read(replace(two_way, status=np.full(len(two_way), "s"), levels=Levels(none, none, none)))
    assert listed(reader, "sensitive") == []
    assert entries(reader, "u") == []


def test_only_the_first_sheets_are_drawn_when_there_are_too_many(three_way: Risk) -> None:
    reader = read(three_way, limits=PageLimits(cells=50))
    warning = next(one.text for one in reader.elements if one.attributes.get("class") == "warn")
    assert warning == "The page draws the first 2 of 3 sheets: browsers grow slow beyond 50 cells."


def test_a_sheet_that_is_too_large_is_cut(two_way: Risk) -> None:
    reader = read(two_way, limits=PageLimits(cells=8, columns=4))
    warning = next(one.text for one in reader.elements if one.attributes.get("class") == "warn")
    assert warning == "Drawn are 2 of 5 rows and 4 of 5 columns."
    assert len([one for one in reader.elements if one.tag == "td" and "grid" in one.within]) == 8


def test_long_lists_are_cut_and_say_so(two_way: Risk) -> None:
    reader = read(two_way, limits=PageLimits(rows=2))
    assert len(listed(reader, "sensitive")) == 1 + 2
    warning = next(one.text for one in reader.elements if one.attributes.get("class") == "warn")
    assert warning == "The first sensitive cells are listed; 1 more are not."


def test_the_same_risk_gives_the_same_page(two_way: Risk) -> None:
    assert "".join(render(two_way)) == "".join(render(two_way))


def test_the_page_is_written_where_it_was_asked(two_way: Risk, tmp_path: Path) -> None:
    path = write_page(two_way, tmp_path / "risk.html", title="Our firms")
    assert path.read_text(encoding="utf-8") == "".join(render(two_way, title="Our firms"))
    assert list(tmp_path.iterdir()) == [path]


def test_a_page_that_fails_leaves_the_old_one_as_it_was(
    two_way: Risk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> Iterator[str]:
        yield "half a page"
        raise RuntimeError

    path = tmp_path / "risk.html"
    path.write_text("the old page")
    monkeypatch.setattr(page, "render", broken)
    with pytest.raises(RuntimeError):
        write_page(two_way, path)
    assert path.read_text() == "the old page"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_error_with_a_remedy(two_way: Risk, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"risk\.html: cannot be written: .*\. Is there such a folder"):
        write_page(two_way, tmp_path / "nowhere" / "risk.html")
