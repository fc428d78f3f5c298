from __future__ import annotations

from pathlib import Path

import pytest

from celosia import DataError, Digits, Hierarchy, SpecError
from celosia.table.hierarchy import classify

TREE = ("Total", "C", "10", "11", "G", "45", "451")
PARENTS = (-1, 0, 1, 1, 0, 4, 5)


def hierarchies(folder: Path) -> dict[str, Hierarchy]:
    """Return the same ragged tree from every kind of source."""
    file = folder / "industry.hrc"
    file.write_text("C\n@10\n@11\nG\n@45\n@@451\n")
    return {
        "pairs": Hierarchy.from_pairs(
            [("Total", "C"), ("C", "10"), ("C", "11"), ("Total", "G"), ("G", "45"), ("45", "451")]
        ),
        "pairs without the total": Hierarchy.from_pairs([("C", "10"), ("C", "11"), ("G", "45"), ("45", "451")]),
        "level columns": Hierarchy.from_levels(
            {"section": ["C", "C", "G"], "division": ["10", "11", "45"], "group": ["", None, "451"]}
        ),
        "level rows": Hierarchy.from_levels([["C", "10", float("nan")], ["C", "11"], ["G", "45", "451"]]),
        "nested dict": Hierarchy.from_dict({"C": ["10", "11"], "G": {"45": {"451": None}}}),
        "paths": Hierarchy.from_paths([["C", "10"], ["C", "11"], ["G", "45", "451"]]),
        "hrc": Hierarchy.from_hrc(file),
    }


@pytest.mark.parametrize(
    "source", ["pairs", "pairs without the total", "level columns", "level rows", "nested dict", "paths", "hrc"]
)
def test_every_source_gives_the_same_tree(source: str, tmp_path: Path) -> None:
    found = hierarchies(tmp_path)[source]
    assert (found.labels, found.parents) == (TREE, PARENTS)
    assert len(found) == 7
    assert found.total == "Total"
    assert found.paths()[-1] == ("G", "45", "451")
    assert found.children()[0] == [1, 4]


def test_digits_of_the_code() -> None:
    found = Hierarchy.from_digits(["34120", "3411", "29"], [2, 1, 1, 1])
    assert found.labels == ("Total", "34", "341", "3412", "34120", "3411", "29")
    assert Digits((2, 1, 1, 1), total="All").of(["29"]).labels == ("All", "29")


def test_the_same_code_may_stand_in_two_branches() -> None:
    found = Hierarchy.from_dict({"A": ["other", "x"], "B": ["other"]})
    assert found.labels.count("other") == 2
    assert found.paths()[2] == ("A", "other")


def test_codes_are_opaque(tmp_path: Path) -> None:
    codes = ["a b", " 1", "1.5", "x,y", "é", '"', "-", "a" * 500]
    assert Hierarchy.flat(codes).labels == ("Total", *codes)
    file = tmp_path / "codes.hrc"
    file.write_text("Nr\r\n@ 1  \r\n@10\r\n", encoding="utf-8")
    assert Hierarchy.from_hrc(file).labels == ("Total", "Nr", " 1", "10")


def test_an_hrc_file_may_have_another_lead_and_an_old_encoding(tmp_path: Path) -> None:
    file = tmp_path / "old.hrc"
    file.write_bytes("Süd\n--Köln\n".encode("latin-1"))
    assert Hierarchy.from_hrc(file, lead="--", total="T").labels == ("T", "Süd", "Köln")


def test_a_hundred_levels_are_no_limit() -> None:
    assert len(Hierarchy.from_paths([[f"level {depth}" for depth in range(100)]])) == 101


def test_one_more_code_lies_under_the_total() -> None:
    more = Hierarchy.flat(["a"]).with_code("(missing)")
    assert (more.labels, more.parents) == (("Total", "a", "(missing)"), (-1, 0, 0))


def test_circles_are_refused_with_their_codes() -> None:
    with pytest.raises(DataError, match=r"run in a circle: 'B', 'A', 'C'.* Break the circle") as caught:
        Hierarchy.from_pairs([("A", "B"), ("B", "A"), ("B", "C"), ("X", "Y")])
    assert len(caught.value.problems) == 1


def test_a_code_may_not_be_its_own_parent() -> None:
    with pytest.raises(DataError, match="circle: 'A'"):
        Hierarchy.from_pairs([("Total", "B"), ("A", "A")])


def test_orphans_two_parents_a_total_below_and_circles_are_reported_at_once() -> None:
    pairs = [("Total", "A"), ("lost", "x"), ("A", "x"), ("A", "Total"), ("p", "q"), ("q", "p")]
    with pytest.raises(DataError) as caught:
        Hierarchy.from_pairs(pairs)
    said = str(caught.value)
    assert len(caught.value.problems) == 4
    assert all(problem.place == "pairs" and problem.remedy for problem in caught.value.problems)
    assert "'x' has two parents, 'lost' and 'A'" in said
    assert "the total 'Total' stands as a child of 'A'" in said
    assert "these codes hang under no other: 'lost'" in said
    assert "run in a circle: 'q', 'p'" in said


def test_gaps_in_level_columns_are_refused_row_by_row() -> None:
    with pytest.raises(DataError) as caught:
        Hierarchy.from_levels([["A", "A1"], ["", "B1"], ["C", None, "C11"]])
    assert [problem.place for problem in caught.value.problems] == ["levels, row 2", "levels, row 3"]
    assert "Fill it, or leave the deeper ones empty." in str(caught.value)


def test_level_columns_may_hold_numbers_and_pandas_gaps() -> None:
    pandas = pytest.importorskip("pandas")
    assert Hierarchy.from_levels([[1, 11], [2, pandas.NA]]).labels == ("Total", "1", "11", "2")


def test_a_frame_is_not_silently_taken_for_its_column_names() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"section": ["C", "C"], "division": ["10", "11"]})
    try:
        found = Hierarchy.from_levels(frame)
    except (SpecError, DataError):
        return
    assert found.labels == ("Total", "C", "10", "11")


@pytest.mark.parametrize("widths", [[], [0], [2, -1]])
def test_impossible_widths_are_refused(widths: list[int]) -> None:
    with pytest.raises(SpecError, match=r"digits: must be positive widths such as \[3, 1, 1\]"):
        Hierarchy.from_digits(["111"], widths)


def test_codes_that_do_not_fit_the_digits_are_listed() -> None:
    with pytest.raises(
        DataError, match=r"must have 2, 3 characters; not so: '1', '1234'.* Mend the codes or the widths"
    ):
        Hierarchy.from_digits(["1", "11", "1234"], [2, 1])


def test_a_hierarchy_needs_a_code() -> None:
    with pytest.raises(DataError, match="has no code below its total 'Total'"):
        Hierarchy.flat([])


def test_an_hrc_file_reports_every_bad_line(tmp_path: Path) -> None:
    file = tmp_path / "bad.hrc"
    file.write_text("A\n@1\n@@@deep\n@1\n@@\nB\n@1\n")
    with pytest.raises(DataError) as caught:
        Hierarchy.from_hrc(file)
    assert [problem.place for problem in caught.value.problems] == [f"{file}, line {line}" for line in (3, 4, 5)]
    assert "more than one level below" in str(caught.value)
    assert "stands under the same parent already in line 2" in str(caught.value)
    assert "has a depth but no code" in str(caught.value)


def test_an_empty_hrc_file_and_none_at_all_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "empty.hrc"
    file.write_text("\n\n")
    with pytest.raises(DataError, match="is empty"):
        Hierarchy.from_hrc(file)
    with pytest.raises(DataError, match="cannot be read"):
        Hierarchy.from_hrc(tmp_path / "nowhere.hrc")


def test_classify_asks_for_the_codes_of_the_data_only_where_it_needs_them() -> None:
    def unasked() -> list[str]:
        raise AssertionError

    flat = Hierarchy.flat(["a"])
    assert classify(flat, unasked) == (flat,)
    assert classify([flat, flat], unasked) == (flat, flat)
    assert classify(None, lambda: ["b", "c"])[0].labels == ("Total", "b", "c")
    assert classify(Digits((1, 1)), lambda: ["12"])[0].labels == ("Total", "1", "12")
