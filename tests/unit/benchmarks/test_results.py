"""The page of benchmark results."""

from __future__ import annotations

from benchmarks.registry import Row
from benchmarks.results import PAGE, page, table


def test_a_row_says_whether_its_target_is_met() -> None:
    rows = [Row("a", "at least 2", "3", met=True), Row("b", "at least 2", "1", met=False), Row("c", "", "7")]
    ends = [line.split("|")[-2].strip() for line in table(rows).splitlines()[2:]]
    assert ends == ["met", "**not met**", ""]


def test_a_section_is_replaced_and_the_others_stay() -> None:
    old = page("", {"first": "one", "second": "two"}, ["first", "second"])
    new = page(old, {"second": "2", "third": "3"}, ["first", "second", "third"])
    assert [part.split() for part in new.split("\n## ")[1:]] == [["first", "one"], ["second", "2"], ["third", "3"]]


def test_a_section_of_no_benchmark_is_dropped() -> None:
    assert "## gone" not in page("# Results\n\n## gone\n\n1\n\n## kept\n\n2\n", {}, ["kept"])


def test_the_page_in_the_repository_is_as_it_would_be_written() -> None:
    text = PAGE.read_text("utf-8")
    names = [line.removeprefix("## ") for line in text.splitlines() if line.startswith("## ")]
    assert page(text, {}, names) == text
