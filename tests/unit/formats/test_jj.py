from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from celosia import Attacker, DataError, Requirement, Risk, SpecError, read_jj, write_jj
from celosia.formats.jj_equations import Equation
from celosia.risk.risk import Levels
from celosia.table.fixed import Fixed

LINES = (
    "0",
    "4",
    "0 30 20000 s 0 45 0 0 0",
    "1 10 6667 u 0 45 2 2 0",
    "2 20 13333 m -inf inf 0 0 0",
    "3 0 1 z 0 0 0 0 0",
    "2",
    "0 3 : 0 (-1) 1 (1) 2 (1)",
    "-10 2 : 3 (1) 1 (-1)",
)


def read(tmp_path: Path, *lines: str) -> Risk:
    path = tmp_path / "t.jj"
    path.write_text("\n".join(lines) + "\n")
    return read_jj(path)


def changed(line: int, text: str, *more: str) -> list[str]:
    """Return the example with one line (counted from 1) replaced."""
    lines = list(LINES)
    lines[line - 1 : line] = [text, *more]
    return lines


def problems(tmp_path: Path, *lines: str) -> list[str]:
    """Return what is wrong with a file, as `line: message`."""
    with pytest.raises(DataError) as caught:
        read(tmp_path, *lines)
    said = [str(problem) for problem in caught.value.problems]
    return [text.removeprefix(f"{tmp_path / 't.jj'}, line ") for text in said]


def fractions(numbers: Fixed) -> list[Fraction | None]:
    return [None if numbers.infinite[place] else numbers.fraction(place) for place in range(len(numbers))]


# Reading


def test_a_file_becomes_a_table_without_axes(tmp_path: Path) -> None:
    table = read(tmp_path, *LINES).table
    assert table.axes == ()
    assert table.codes.shape == (4, 0)
    assert table.variables == ("value",)
    assert table.amounts.counts.tolist() == [30, 10, 20, 0]
    assert table.decimals == 0
    assert table.notes == ()
    assert table.label(2) == "cell 2"


def test_relations_keep_their_right_sides_and_hold_exactly(tmp_path: Path) -> None:
    table = read(tmp_path, *LINES).table
    assert [table.relations.terms(k) for k in range(2)] == [[(0, -1), (1, 1), (2, 1)], [(1, -1), (3, 1)]]
    assert table.relations.right.tolist() == [0, -10]
    assert not table.relations.residuals(table.amounts.counts).any()


def test_status_levels_costs_and_the_attacker_are_those_of_the_file(tmp_path: Path) -> None:
    risk = read(tmp_path, *LINES)
    assert risk.status.tolist() == ["s", "u", "m", "z"]
    assert risk.cost.tolist() == [20000.0, 6667.0, 13333.0, 1.0]
    assert list(risk.requirements) == [Requirement(1, 0, Fraction(2), Fraction(2), Fraction(0))]
    (attacker,) = risk.attackers
    assert attacker.name == "file"
    assert [attacker.bounds(cell) for cell in range(4)] == [(0, 45), (0, 45), (None, None), (0, 0)]


def test_values_have_one_common_number_of_decimals(tmp_path: Path) -> None:
    table = read(
        tmp_path, "0", "2", "0 1.50 1 s 0 9 0 0 0", "1 2.125 1 s 0 9 0 0 0", "1", "3.625 2 : 0 (1) 1 (1)"
    ).table
    assert table.decimals == 3
    assert table.amounts.counts.tolist() == [1500, 2125]
    assert table.relations.right.tolist() == [3625]


def test_scientific_notation_is_read_exactly(tmp_path: Path) -> None:
    risk = read(tmp_path, "0", "1", "0 1e3 2.5E-3 u -1.5e1 1E+30 1e-20 0 +3.", "0")
    assert fractions(risk.table.amounts) == [1000]
    assert risk.cost.tolist() == [0.0025]
    assert risk.attackers[0].bounds(0) == (Fraction(-15), Fraction(10**30))
    assert fractions(risk.levels.lower) == [Fraction(1, 10**20)]
    assert fractions(risk.levels.sliding) == [3]


def test_levels_of_more_digits_than_a_double_are_read_digit_by_digit(tmp_path: Path) -> None:
    digits = "12345.67890123456789012345678901234567"
    risk = read(tmp_path, "0", "1", f"0 7 1 u 0 inf {digits} 0 0", "0")
    assert fractions(risk.levels.lower) == [Fraction(digits)]


def test_bounds_may_be_much_finer_than_the_values(tmp_path: Path) -> None:
    tiny = "0.0000000000000000000000001"
    risk = read(tmp_path, "0", "2", f"0 0 1 s 0 {tiny} 0 0 0", "1 0 1 s 0 inf 0 0 0", "1", f"{tiny} 1 : 0 (1)")
    assert risk.attackers[0].bounds(0) == (Fraction(0), Fraction(tiny))
    assert problems(tmp_path, "0", "1", f"0 0 1 s {tiny} 1 0 0 0", "0")[0].startswith(
        "3: cell 0: the value lies outside"
    )


@pytest.mark.parametrize(
    "terms", ["0(-1) 1(1) 2(1)", " 0 ( -1 ) 1 ( 1 )  2 ( 1 )   ", "0 (-1.0) 1 (1) 2 (1e0)", "0 (-1)1 (1)2(1)"]
)
def test_terms_are_read_with_and_without_blanks(tmp_path: Path, terms: str) -> None:
    table = read(tmp_path, *changed(8, f"  0.0   3:{terms}")).table
    assert table.relations.terms(0) == [(0, -1), (1, 1), (2, 1)]


def test_what_r_makes_of_whole_numbers_is_read(tmp_path: Path) -> None:
    cells = [f"{cell if cell != 100_000 else '1e+05'} 0 1 s 0 0 0 0 0" for cell in range(100_001)]
    assert len(read(tmp_path, "0", "100001", *cells, "1", "0.0 1 : 1e+05 (1)").table) == 100_001


def test_capitals_blank_lines_carriage_returns_and_a_byte_order_mark_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "t.jj"
    text = "\r\n\r\n".join(LINES).upper().replace("INF", "inf")
    path.write_bytes(b"\xef\xbb\xbf" + text.encode() + b"\r\n  \r\n")
    assert read_jj(path).status.tolist() == ["s", "u", "m", "z"]


def test_a_term_of_coefficient_zero_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, *changed(8, "0 4 : 0 (-1) 1 (1) 2 (1) 3 (0)")).table.relations.terms(0) == [
        (0, -1),
        (1, 1),
        (2, 1),
    ]


def test_a_file_without_equations_has_no_relations(tmp_path: Path) -> None:
    assert len(read(tmp_path, *LINES[:6], "0").table.relations) == 0


def test_levels_of_cells_that_are_not_sensitive_are_left_aside_with_a_note(tmp_path: Path) -> None:
    risk = read(tmp_path, *changed(3, "0 30 20000 s 0 45 1 0 0"))
    assert risk.levels.lower.counts[0] == 0
    assert risk.table.notes == ("the levels of 1 cells that are not sensitive are left aside.",)


# Rounding


def test_a_right_side_takes_what_rounding_explains(tmp_path: Path) -> None:
    table = read(tmp_path, *changed(8, "1 3 : 0 (-1) 1 (1) 2 (1)")).table
    assert table.relations.right.tolist() == [0, -10]
    assert table.notes == ("1 of 2 equations miss by rounding: their right sides take the difference.",)


def test_a_right_side_of_more_decimals_than_the_values_is_compared_exactly(tmp_path: Path) -> None:
    assert read(tmp_path, *changed(8, "1.5 3 : 0 (-1) 1 (1) 2 (1)")).table.relations.right.tolist() == [0, -10]
    (said,) = problems(tmp_path, *changed(8, "1.50000000000000000000001 3 : 0 (-1) 1 (1) 2 (1)"))
    assert said.startswith("8: the values miss the right side by about 1.5 units")


def test_an_equation_that_misses_by_more_is_refused(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, *changed(3, "0 28 20000 s 0 45 0 0 0"))
    assert said.startswith(
        "8: the values miss the right side by about 2 units of their last decimal, and rounding explains 1.5."
    )


def test_an_equation_without_terms_must_be_true(tmp_path: Path) -> None:
    assert len(read(tmp_path, *changed(8, "0 0 :")).table.relations) == 2
    assert problems(tmp_path, *changed(8, "1 0 :"))[0].startswith("8: the values miss")


# Bad input


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (1, "1", "1: the file begins with '1' instead of 0."),
        (2, "x", "2: the number of cells is 'x'."),
        (2, "0", "2: the number of cells is '0'."),
        (2, "4.5", "2: the number of cells is '4.5'."),
        (2, "5", "2: the file announces 5 cells and has 4 lines of cells."),
        (2, "3", "2: the file announces 3 cells and has 4 lines of cells."),
        (3, "0 30 20000 s 0 45 0 0", "3: a line of 8 entries where a cell has 9."),
        (3, "1 30 20000 s 0 45 0 0 0", "3: cell number '1' where 0 comes next."),
        (4, "x 10 6667 u 0 45 2 2 0", "4: cell number 'x' where 1 comes next."),
        (4, "1 1_0 6667 u 0 45 2 2 0", "4: value '#_#' is not a number."),
        (4, "1 ten 6667 u 0 45 2 2 0", "4: value 'ten' is not a number."),
        (4, "1 nan 6667 u 0 45 2 2 0", "4: value 'nan' is not a number."),
        (4, "1 inf 6667 u 0 45 2 2 0", "4: value 'inf' is infinite."),
        (4, "1 10 nan u 0 45 2 2 0", "4: cost 'nan' is not a number."),
        (4, "1 10 1e400 u 0 45 2 2 0", "4: cell 1: the cost is infinite or not a number."),
        (4, "1 10 -1 u 0 45 2 2 0", "4: cell 1: the cost is negative."),
        (4, "1 10 6667 q 0 45 2 2 0", "4: status 'q' is unknown: it must be s, u, m or z."),
        (4, "1 10 6667 u zero 45 2 2 0", "4: lb 'zero' is not a number."),
        (4, "1 10 6667 u 0 nan 2 2 0", "4: ub 'nan' is not a number."),
        (4, "1 10 6667 u 0 1e400 2 2 0", "4: ub '1e400' is out of reach"),
        (4, "1 10 6667 u 0 9223372036854775807 2 2 0", "4: ub '9223372036854775807' cannot be told from infinity"),
        (4, "1 10 6667 u 0 45 1e-999999999 2 0", "4: lpl '1e-999999999' is out of reach"),
        (4, f"1 10 6667 u 0 45 1e-{'9' * 30} 2 0", "4: lpl '1e-99999999999999999...' is out of reach"),
        (4, f"1 10 6667 u 0 45 0.{'1' * 99} 2 0", "4: lpl '0.111111111111111111...' is out of reach"),
        (4, "1 10 6667 u 0 45 2 inf 0", "4: upl 'inf' is infinite."),
        (4, "1 10 6667 u 0 45 2 2 -1", "4: cell 1: spl is negative."),
        (4, "1 10 6667 u 0 45 0 0.0 0", "4: cell 1: the cell is sensitive and has no protection level above zero."),
        (4, "1 10 6667 s 0 45 2 2 0", "4: there are protection levels and no sensitive cell."),
        (4, "1 10 6667 u 45 0 2 2 0", "4: cell 1: lb is above ub."),
        (4, "1 10 6667 u 0 9.99999999999999999 2 2 0", "4: cell 1: the value lies outside lb .. ub."),
        (4, "1 10 6667 u inf inf 2 2 0", "4: cell 1: the value lies outside lb .. ub."),
        (7, "two", "7: the number of equations is 'two'."),
        (7, "-2", "7: the number of equations is '-2'."),
        (7, "3", "9: the file announces 3 equations and has 2."),
        (7, "1", "9: the file goes on after the last of 1 equations."),
        (8, "0 3   0 (-1) 1 (1) 2 (1)", "8: '0 3   0 (-1) 1 (1) 2...' is no part of an equation."),
        (8, "3 : 0 (-1) 1 (1) 2 (1)", "8: '3' is no part of an equation."),
        (8, "0 x : 0 (-1) 1 (1) 2 (1)", "8: '0 x' is no part of an equation."),
        (8, "b 3 : 0 (-1) 1 (1) 2 (1)", "8: right side 'b' is not a number."),
        (8, "inf 3 : 0 (-1) 1 (1) 2 (1)", "8: right side 'inf' is infinite."),
        (8, "0 3 : 0 (-1) 1 (0.5) 2 (1)", "8: '1 (0.5' is no part of an equation."),
        (8, "0 3 : 0 (-1) 1 (1_0) 2 (1)", "8: '1 (1_0' is no part of an equation."),
        (8, "0 3 : 0 (-1) 1 1 2 (1)", "8: '1 1 2 (1' is no part of an equation."),
        (8, "0 3 : 0 (-1) 1 (1) 2 (1) !", "8: '!' is no part of an equation."),
        (8, "0 4 : 0 (-1) 1 (1) 2 (1)", "8: the equation announces 4 terms and has 3."),
        (8, "0 3 : 0 (-1) 1 (1) 4 (1)", "8: there is no cell 4."),
        (8, "0 3 : -1 (-1) 1 (1) 2 (1)", "8: there is no cell -1."),
        (8, "0 3 : 0 (-1) 1 (1) 1 (1)", "8: cell 1 stands more than once in the equation."),
        (8, "0 1 : 3 (9999999999999999999)", "8: a coefficient does not fit into 64 bits."),
        (8, "0 1 : 0 (999999999999999999)", "8: the sum of the equation does not fit into 64 bits."),
        (9, "-10 2 : 3 (1) 1 (-1)\n\n and so on", "11: the file goes on after the last of 2 equations."),
    ],
)
def test_a_problem_is_told_with_its_line(tmp_path: Path, line: int, text: str, said: str) -> None:
    (problem,) = problems(tmp_path, *changed(line, text))
    assert problem.startswith(said)


@pytest.mark.parametrize("kept", range(1, len(LINES)))
def test_a_file_that_breaks_off_is_refused_wherever_that_is(tmp_path: Path, kept: int) -> None:
    said = problems(tmp_path, *LINES[:kept])
    assert any("breaks off" in text or "announces" in text for text in said)


def test_a_missing_cell_is_told_once_and_not_at_every_line_that_follows(tmp_path: Path) -> None:
    said = problems(tmp_path, *changed(4, ""))
    assert [text.split(".")[0] for text in said] == [
        "2: the file announces 4 cells and has 3 lines of cells",
        "5: cell number '2' where 1 comes next",
    ]


def test_values_of_more_than_18_digits_are_refused(tmp_path: Path) -> None:
    (said,) = problems(tmp_path, "0", "2", "0 123456789012 1 s 0 inf 0 0 0", "1 0.00000001 1 s 0 inf 0 0 0", "0")
    assert said.startswith("3: cell 0: the value has too many digits where values have 8 decimals.")


def test_all_problems_come_at_once_in_the_order_of_the_lines(tmp_path: Path) -> None:
    lines = list(LINES)
    lines[2] = "0 thirty -5 s 0 45 0 0 -2"
    lines[3] = "1 10 6667 u 0 45 0 0 0"
    lines[7] = "0 4 : 0 (-1) 1 (1) 2 (1)"
    lines[8] = "-20 2 : 3 (1) 1 (-1)"
    assert [text[:2] for text in problems(tmp_path, *lines)] == ["3:", "3:", "3:", "4:", "8:", "9:"]


def test_an_equation_over_a_cell_that_could_not_be_read_is_not_judged(tmp_path: Path) -> None:
    assert len(problems(tmp_path, *changed(3, "0 thirty 20000 s 0 45 0 0 0"))) == 1


def test_twenty_problems_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    said = problems(tmp_path, "0", "33", *(f"{cell} 1 -1 s 0 9 0 0 0" for cell in range(33)), "0")
    assert len(said) == 21
    assert said[-1] == "... and 13 more"


@pytest.mark.parametrize("content", [b"", b" \n\r\n\t"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.jj").write_bytes(content)
    with pytest.raises(DataError, match=r"t\.jj: is empty"):
        read_jj(tmp_path / "t.jj")


@pytest.mark.parametrize(
    "content", ["0\n1\n0 \u0661 1 s 0 9 0 0 0\n0".encode(), "0\n1\n".encode("utf-16"), b"0\n\n\xe9"]
)
def test_a_file_that_is_not_plain_text_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.jj").write_bytes(content)
    with pytest.raises(DataError, match=r"t\.jj, line [13]: is not plain text"):
        read_jj(tmp_path / "t.jj")


@pytest.mark.parametrize("name", ["nowhere.jj", ".", "bad\0name"])
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(DataError, match="cannot be read"):
        read_jj(tmp_path / name)


def test_a_number_as_long_as_the_memory_is_refused_and_not_computed(tmp_path: Path) -> None:
    said = problems(tmp_path, *changed(4, f"1 1e999999999 1e-5000 u -{'9' * 5000} {'1' * 5000} 0e999999999 2 1e99999"))
    assert [text.split(" ")[1] for text in said] == ["lb", "ub", "value", "spl"]


# Writing


def test_what_is_written_is_what_was_read(tmp_path: Path) -> None:
    write_jj(read(tmp_path, *LINES), tmp_path / "out.jj")
    assert (tmp_path / "out.jj").read_text().splitlines() == [*LINES[:8], "-10 2 : 1 (-1) 3 (1)"]


def test_levels_finer_than_the_table_are_written_exactly(tmp_path: Path) -> None:
    risk = read(tmp_path, *LINES)
    zero = Fixed(np.zeros(4, dtype=np.int64), 6)
    fine = Fixed.of_counts(np.array([0, 10**25 + 1, 0, 0], dtype=object), 15)
    write_jj(replace(risk, levels=Levels(zero, zero, fine)), tmp_path / "out.jj")
    assert read_jj(tmp_path / "out.jj").levels.sliding.fraction(1) == Fraction(10**25 + 1, 10**15)


def test_a_problem_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    risk = read(tmp_path, *LINES)
    nothing = Fixed(np.zeros(4, dtype=np.int64))
    liar = Attacker("liar", nothing, nothing)
    with pytest.raises(DataError) as caught:
        write_jj(
            replace(
                risk, cost=np.array([1, np.nan, 1, 1]), levels=Levels(nothing, nothing, nothing), attackers=(liar,)
            ),
            tmp_path / "x",
        )
    assert [problem.place for problem in caught.value.problems] == ["cell 1", "cell 1", "cell 0", "cell 1", "cell 2"]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    risk = read(tmp_path, *LINES)
    target = tmp_path / "out.jj"
    target.write_text("what was there")

    def fails(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fails)
    with pytest.raises(SpecError, match=r"out\.jj: cannot be written: No space left on device"):
        write_jj(risk, target)
    assert target.read_text() == "what was there"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.jj", "t.jj"]


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be written: No such file or directory"):
        write_jj(read(tmp_path, *LINES), tmp_path / "nowhere" / "out.jj")


def test_an_equation_is_the_same_however_terms_are_written() -> None:
    plain = Equation.of_text("0 3 : 100000 (-1) 1 (1) 2 (1)")
    for other in ("0 3 : 1e+05 (-1) 1 (1) 2 (1)", "0 3:100000( -1 )1(1.0)2(+1) ", "0 3.0 : 100000 (-1.0) 1 (1) 2 (1)"):
        assert Equation.of_text(other) == plain


@pytest.mark.parametrize(
    ("terms", "wrong"),
    [("0 (-1) 1 (1_0)", " 1 (1_0"), ("0 (-1) 1 (1(1)", " 1 (1(1"), ("0 (-1) x (1)", " x (1"), ("0 (-1) 1 1)", " 1 1")],
)
def test_what_is_no_term_of_an_equation_is_named(terms: str, wrong: str) -> None:
    with pytest.raises(ValueError) as error:  # noqa: PT011 - its text is compared
        Equation.of_text(f"0 2 : {terms}")
    assert str(error.value) == wrong
