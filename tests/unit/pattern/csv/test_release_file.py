from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from celosia import DataError, Pattern, Release, SpecError, Table, publish, read_release, write_release
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.suppressed import Suppressed
from celosia.table.fixed import INFINITE, Fixed

Maker = Callable[[Sequence[object]], Table]

EXAMPLE = """\
cell,status,published,lower,upper
0,shown,7,7,7
1,hidden,,,
2,interval,,90,200.5
3,rounded,100,51,149
4,perturbed,-120.25,-150.25,-90.25
5,adjusted,100,,
6,interval,,-inf,3
"""


def fixed(*texts: str) -> Fixed:
    return Fixed.of_texts(texts)


def at(*cells: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(cells, dtype=np.int64)


def read(tmp_path: Path, text: str, table: Table | None = None) -> Release:
    path = tmp_path / "r.csv"
    path.write_bytes(text.encode())
    return read_release(path, table)


def written(tmp_path: Path, release: Release, sensitive: Sequence[bool] | None = None) -> str:
    path = tmp_path / "w.csv"
    write_release(release, path, sensitive)
    return path.read_bytes().decode()


def problems(tmp_path: Path, text: str, table: Table | None = None) -> list[str]:
    """Return what is wrong with a file, as `line: message`."""
    with pytest.raises(DataError) as caught:
        read(tmp_path, text, table)
    return [str(problem).replace(f"{tmp_path / 'r.csv'}, line ", "") for problem in caught.value.problems]


def example_pattern(table: Table) -> Pattern:
    return Pattern.of(
        table,
        Suppressed(at(1)),
        Interval(at(2, 6), fixed("90", "-inf"), fixed("200.5", "3")),
        Rounded(at(3), fixed("100"), fixed("50"), 0),
        Perturbed(at(4), fixed("-120.25"), fixed("30")),
        Adjusted(at(5), fixed("100")),
    )


# Writing


def test_the_public_file_has_the_columns_of_the_design(tmp_path: Path, bare: Maker) -> None:
    assert written(tmp_path, publish(example_pattern(bare([7, 1, 95, 99, -100, 4, 3])))) == EXAMPLE


def test_the_office_s_copy_says_what_is_sensitive(tmp_path: Path, bare: Maker) -> None:
    release = publish(Pattern.hide(bare([1, 2]), [1]))
    assert written(tmp_path, release, [False, True]) == (
        "cell,sensitive,status,published,lower,upper\n0,0,shown,1,1,1\n1,1,hidden,,,\n"
    )


def test_labels_follow_the_cell_and_never_bear_a_name_of_ours(tmp_path: Path, regions: Maker) -> None:
    lines = written(tmp_path, publish(Pattern.hide(regions(range(9)), [4])), [False] * 9).splitlines()
    assert lines[0] == "cell,region,status_,sensitive,status,published,lower,upper"
    assert lines[1] == "0,Total,Total,0,shown,0,0,0"
    assert lines[5] == "4,North,old,0,hidden,,,"


def test_the_variable_is_named_where_there_are_several(tmp_path: Path, regions: Maker) -> None:
    table = replace(regions(range(9)), variables=("turnover", "staff"), variable=np.array([0] * 8 + [1], np.int32))
    text = written(tmp_path, publish(Pattern.of(table)))
    assert text.splitlines()[0] == "cell,region,status_,variable,status,published,lower,upper"
    assert text.splitlines()[9] == "8,South,new,staff,shown,8,8,8"
    again = read(tmp_path, text)
    assert again.labels.variables == ("turnover", "staff")
    assert written(tmp_path, again) == text
    again.check(table)


def test_labels_with_commas_quotes_and_line_ends_survive(tmp_path: Path, regions: Maker) -> None:
    table = regions(range(9))
    names = ("Total", 'a,"b"\nc\r', " é\t")
    table = replace(table, axes=(replace(table.axes[0], name='re,"gion', labels=names), table.axes[1]))
    text = written(tmp_path, publish(Pattern.of(table)))
    for known in (None, table):
        again = read(tmp_path, text, known)
        assert again.axes[0].name == 're,"gion'
        assert list(dict.fromkeys(again.labels.columns()['re,"gion'])) == list(names)
        assert written(tmp_path, again) == text
        again.check(table)


def test_sensitive_must_be_a_mask_of_the_cells(tmp_path: Path, bare: Maker) -> None:
    release = publish(Pattern.of(bare([1, 2])))
    for wrong in ([True], [0, 1]):
        with pytest.raises(SpecError, match="sensitive: must be a mask of 2 cells"):
            write_release(release, tmp_path / "w.csv", wrong)
    assert not (tmp_path / "w.csv").exists()


def test_a_file_that_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path, bare: Maker) -> None:
    release = publish(Pattern.of(bare([1, 2])))
    with pytest.raises(SpecError, match="cannot be written"):
        write_release(release, tmp_path / "nowhere" / "w.csv")
    (tmp_path / "folder").mkdir()
    with pytest.raises(SpecError, match="cannot be written"):
        write_release(release, tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_label_that_is_no_text_is_refused(tmp_path: Path, regions: Maker) -> None:
    table = regions(range(9))
    table = replace(table, axes=(replace(table.axes[0], labels=("Total", "\ud800", "South")), table.axes[1]))
    with pytest.raises(SpecError, match="a label is no Unicode text"):
        write_release(publish(Pattern.of(table)), tmp_path / "w.csv")
    assert list(tmp_path.iterdir()) == []


def test_writing_that_breaks_off_leaves_the_old_file(
    tmp_path: Path, bare: Maker, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "w.csv"
    path.write_text("old")

    def breaks(_: Fixed) -> list[str]:
        raise KeyboardInterrupt

    monkeypatch.setattr(Fixed, "texts", breaks)
    with pytest.raises(KeyboardInterrupt):
        write_release(publish(Pattern.of(bare([1, 2]))), path)
    assert [found.name for found in tmp_path.iterdir()] == ["w.csv"]
    assert path.read_text() == "old"


# Reading


def test_a_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    release = read(tmp_path, EXAMPLE)
    assert release.status.tolist() == ["shown", "hidden", "interval", "rounded", "perturbed", "adjusted", "interval"]
    assert release.published.texts() == ["7", "0", "0", "100", "-120.25", "100", "0"]
    assert release.lower.texts() == ["7", "-inf", "90", "51", "-150.25", "-inf", "-inf"]
    assert release.upper.texts() == ["7", "inf", "200.5", "149", "-90.25", "inf", "3"]
    assert release.axes == ()
    assert release.decimals == 2
    assert written(tmp_path, release) == EXAMPLE


def test_the_office_s_copy_is_read_as_the_public_one(tmp_path: Path) -> None:
    text = written(tmp_path, read(tmp_path, EXAMPLE), [True, False] * 3 + [True])
    assert written(tmp_path, read(tmp_path, text)) == EXAMPLE


def test_rows_columns_and_spelling_may_vary(tmp_path: Path) -> None:
    text = (
        "\ufeff\r\nupper, status ,cell,published,lower\r\n\r\n+7.0,shown,1,7,.7e1\r\n"
        ' ,hidden, 0 ,"",\r\nInfinity,interval,2,,-0\r\n'
    )
    assert written(tmp_path, read(tmp_path, text)) == (
        "cell,status,published,lower,upper\n0,hidden,,,\n1,shown,7,7,7\n2,interval,,0,inf\n"
    )


def test_a_table_gives_its_own_labels(tmp_path: Path, regions: Maker, bare: Maker) -> None:
    table = regions(range(9))
    release = publish(Pattern.hide(table, [4]))
    again = read(tmp_path, written(tmp_path, release), table)
    assert again.axes == table.axes
    bare_text = written(tmp_path, publish(Pattern.hide(bare(range(9)), [4])))
    assert read(tmp_path, bare_text, table).axes == table.axes
    alone = read(tmp_path, written(tmp_path, release))
    assert [axis.name for axis in alone.axes] == ["region", "status_"]
    alone.check(table)


# Every problem with its line


def test_all_problems_of_a_file_are_said_with_their_lines(tmp_path: Path) -> None:
    text = """\
cell,sensitive,status,published,lower,upper
0,0,shown,7,7,8
1,2,hidden,,,
2,0,interval,,9,8
2,0,interval,,8,9
x,0,hiden,,,

4,0,rounded,10,11,19
5,0,rounded,,6,14
6,1,adjusted,5,1,
7,0,perturbed,1e,1,2
8,0,hidden
9,0,interval,,-inf,inf
10,0,shown,inf,inf,inf
11,0,hidden,5,,
15,0,perturbed,5,-inf,8
"""
    assert problems(tmp_path, text) == [
        "2: lower and upper differ from the number shown. What is shown gives itself away: write it three times.",
        "3: sensitive is '2'. It must be 0 or 1.",
        "4: lower is above upper. An interval contains the truth.",
        "5: cell 2 stands already in line 4. Each cell has one row.",
        "6: cell 'x' is no cell number. Cells count from 0.",
        "6: status 'hiden' is unknown. Did you mean 'hidden'?",
        "8: the published number lies outside lower .. upper. It must be within its own reach.",
        "9: published is empty where the cell is rounded. Write a number.",
        "10: lower is given where the cell is adjusted. Leave it empty.",
        "11: published '1e' is not a number of up to 100 digits.",
        "12: a row of 3 entries where the header has 6. Has the file been cut off or edited?",
        "13: the interval is infinite on both sides. Give it the status hidden.",
        "14: published 'inf' is infinite.",
        "15: published is given where the cell is hidden. Leave it empty.",
        "16: lower or upper is infinite. A rounded or perturbed number tells how far the truth is.",
        f"{tmp_path / 'r.csv'}: these cells are missing: 3, 8, 12, 13, 14. Has the file been cut off or edited?",
    ]


def test_missing_and_repeated_columns_are_named_with_the_rest(tmp_path: Path) -> None:
    said = problems(tmp_path, "\ncell,status,status,lower\n0,secret,,x\n")
    assert said == [
        "2: column 'status' stands twice. Remove or rename one of them.",
        "2: column 'published' is missing. Wanted, parted by commas: cell,status,published,lower,upper.",
        "2: column 'upper' is missing. Wanted, parted by commas: cell,status,published,lower,upper.",
        "3: status 'secret' is unknown. Known: 'adjusted', 'hidden', 'interval', 'perturbed', 'rounded', 'shown'.",
        "3: lower 'x' is not a number of up to 100 digits.",
    ]
    semicolons = problems(tmp_path, EXAMPLE.replace(",", ";"))
    assert semicolons[0].startswith("1: column 'cell' is missing. Wanted, parted by commas")
    assert len(semicolons) == 5


def test_with_a_table_the_file_must_have_exactly_its_cells(tmp_path: Path, bare: Maker) -> None:
    text = "cell,status,published,lower,upper\n0,hidden,,,\n1,hidden,,,\n"
    assert problems(tmp_path, text, bare([1])) == ["3: cell 1 is not in the table. It has 1 cells, from 0 on."]
    (said,) = problems(tmp_path, text, bare(range(30)))
    assert said.startswith(f"{tmp_path / 'r.csv'}: these cells are missing: 2, 3, 4, 5, 6, 7, 8, 9 and 20 more. ")


def test_with_a_table_labels_must_be_its_labels(tmp_path: Path, regions: Maker) -> None:
    table = regions(range(9))
    text = written(tmp_path, publish(Pattern.of(table)))
    swapped = text.replace("1,Total,old", "@").replace("2,Total,new", "1,Total,new").replace("@", "2,Total,old")
    assert problems(tmp_path, swapped, table) == [
        "3: column 'status_' has another label. Do the rows stand in another order?",
        "4: column 'status_' has another label. Do the rows stand in another order?",
    ]
    assert problems(tmp_path, text.replace("region", "regoin"), table) == [
        "1: column 'regoin' is unknown. Did you mean 'region'?"
    ]


def test_a_number_that_stands_for_infinity_in_our_books_is_refused(tmp_path: Path) -> None:
    text = f"cell,status,published,lower,upper\n0,interval,,0,{INFINITE}\n"
    assert problems(tmp_path, text) == [f"2: upper '{INFINITE}' cannot be told from infinity."]


def test_a_huge_cell_number_does_no_harm(tmp_path: Path) -> None:
    said = problems(tmp_path, "cell,status,published,lower,upper\n999999999999999999,hidden,,,\n")
    assert "0, 1, 2, 3, 4, 5, 6, 7 and 999999999999999991 more" in said[0]


def test_only_the_first_twenty_problems_are_put_in_words(tmp_path: Path) -> None:
    rows = "".join(f"{cell},secret,,,\n" for cell in range(100))
    said = problems(tmp_path, f"cell,status,published,lower,upper\n{rows}")
    assert len(said) == 21
    assert said[20] == "... and 80 more"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty."),
        ("\n\n", "is empty."),
        ("cell,status,published,lower,upper\n", "has no cells."),
        ('cell,status,published,lower,upper\n0,"hidden,,,\n', "is not CSV"),
    ],
)
def test_a_file_without_cells_is_refused(tmp_path: Path, text: str, message: str) -> None:
    assert message in "\n".join(problems(tmp_path, text))


def test_what_is_no_text_or_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_bytes(b"cell\n\xff")
    with pytest.raises(DataError, match="line 2: is not UTF-8 text"):
        read_release(tmp_path / "r.csv")
    with pytest.raises(DataError, match="cannot be read: No such file"):
        read_release(tmp_path / "nowhere.csv")
    with pytest.raises(DataError, match="cannot be read"):
        read_release("a\0b")
