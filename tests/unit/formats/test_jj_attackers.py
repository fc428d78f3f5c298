"""Further attackers of a JJ problem stand in a file beside it, are read with it, and written again."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from celosia import Attacker, DataError, SpecError, protect, read_jj, write_jj
from celosia.cli.main import status

PROBLEM = """0
6
0 60 60 s 0 200 0 0 0
1 10 10 u 0 200 2 2 0
2 20 20 s 0 200 0 0 0
3 30 30 s 0 200 0 0 0
4 35 35 s 0 200 0 0 0
5 25 25 z 0 200 0 0 0
2
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
0 3 : 0 (-1) 4 (1) 5 (1)
"""
HEAD = "attacker,cell,lower,upper,lower_level,upper_level,sliding_level,own\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.jj").write_text(PROBLEM, encoding="utf-8")


def beside(*lines: str, head: str = HEAD) -> None:
    Path("p.attackers.csv").write_text(head + "".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_attackers_beside_a_problem_attack_with_what_they_know_and_with_their_levels() -> None:
    beside("Miller,2,15,25.5,,,,", "Smith,3,,,5,0,12,", "Smith,1,10,10,,,,1")
    risk = read_jj("p.jj")
    assert [attacker.name for attacker in risk.attackers] == ["file", "Miller", "Smith"]
    assert risk.attackers[1].bounds(2) == (Fraction(15), Fraction("25.5"))
    assert risk.attackers[1].bounds(3) == (Fraction(0), Fraction(200))
    asked = [(one.cell, one.attacker, *map(int, (one.lower, one.upper, one.sliding))) for one in risk.requirements]
    assert asked == [(1, 0, 2, 2, 0), (1, 1, 2, 2, 0), (3, 2, 5, 0, 12)]
    assert risk.table.notes == ("2 further attackers beside that of the problem, from p.attackers.csv.",)
    assert protect(risk).safe
    assert status(["protect", "p.jj", "--quiet"]) == 0


def test_protect_says_that_attackers_stand_beside_the_problem(capsys: pytest.CaptureFixture[str]) -> None:
    beside("Miller,2,15,25.5,,,,")
    assert status(["protect", "p.jj", "--quiet"]) == 0
    assert "1 further attacker" in capsys.readouterr().out


def test_a_failure_leaves_no_new_attackers_beside_an_old_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    beside("Miller,2,15,25.5,,,,")
    risk = read_jj("p.jj")
    before = {path.name: path.read_text(encoding="utf-8") for path in Path().iterdir()}

    def fails(*_: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("celosia.formats.jj._file_lines", fails)
    with pytest.raises(OSError, match="No space"):
        write_jj(replace(risk, attackers=risk.attackers[:1]), "p.jj")
    assert {path.name: path.read_text(encoding="utf-8") for path in Path().iterdir()} == before


def test_what_is_written_is_read_again() -> None:
    beside('"Smith, ""J""",3,,,5,0,12,', "Miller,2,15,25.5,,,,1", "Nobody,0,,,,,,")
    risk = read_jj("p.jj")
    write_jj(risk, "again.jj")
    again = read_jj("again.jj")
    assert [attacker.name for attacker in again.attackers] == ["file", 'Smith, "J"', "Miller", "Nobody"]
    assert [*again.requirements] == [*risk.requirements]
    for one, other in zip(again.attackers, risk.attackers, strict=True):
        assert [one.bounds(cell) for cell in range(6)] == [other.bounds(cell) for cell in range(6)]
    Path("p.attackers.csv").unlink()
    write_jj(read_jj("p.jj"), "again.jj")
    assert len(read_jj("again.jj").attackers) == 1


def test_attackers_of_whom_the_files_cannot_tell_are_refused_and_nothing_is_written() -> None:
    risk = read_jj("p.jj")
    wise = risk.attackers[0].with_knowledge(risk.table, {2: (19, 21)}, "wise")
    for attackers, message in (
        ((wise, risk.attackers[0]), "'wise' comes first and knows what 'file' does not"),
        ((wise.with_levels(risk.table, {2: 1}), wise), "'wise' comes first and has levels"),
    ):
        with pytest.raises(SpecError, match=message):
            write_jj(replace(risk, attackers=attackers), "out.jj")
    assert [path.name for path in Path().iterdir()] == ["p.jj"]


def test_a_problem_without_an_attacker_is_refused() -> None:
    with pytest.raises(SpecError, match="attackers: are missing"):
        write_jj(replace(read_jj("p.jj"), attackers=()), "out.jj")
    assert [path.name for path in Path().iterdir()] == ["p.jj"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("file,1,,,,,,", "line 2: needs the name of a further attacker"),
        (",1,,,,,,", "line 2: needs the name of a further attacker"),
        ("A,6,,,,,,", "line 2: names no cell of the problem, which has 6"),
        ("A,x,,,,,,", "line 2: names no cell of the problem"),
        ("A,1,,,,,,yes", "line 2: has something else than 0 or 1"),
        ("A,1,,,,,,,9", "line 2: has more entries than columns"),
        ("A,1,few,,,,,", "attacker 'A': is or holds no decimal number"),
        ("A,1,11,12,,,,", "attacker 'A': believes something that is not true"),
        ("A,1,,,11,,,", "attacker 'A': asks for more than he leaves open himself"),
        ("A,5,,,1,,,", "has levels for cells that must be shown, the first being 5"),
    ],
)
def test_bad_lines_are_named(line: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    beside(line)
    with pytest.raises(DataError, match=message):
        read_jj("p.jj")
    assert status(["protect", "p.jj", "--quiet"]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_two_lines_for_one_cell_and_unknown_columns_are_refused() -> None:
    beside("A,1,0,20,,,,", "A,1,5,15,,,,")
    with pytest.raises(DataError, match="line 3: says something about a cell a second time"):
        read_jj("p.jj")
    beside("A,1", head="attacker,place\n")
    with pytest.raises(DataError, match="line 1: must name the columns attacker and cell"):
        read_jj("p.jj")


def test_an_attacker_of_a_table_is_written_with_what_is_his_own() -> None:
    risk = read_jj("p.jj")
    own = replace(Attacker.together([risk.attackers[0]], "owner"), own=risk.sensitive)
    write_jj(replace(risk, attackers=(risk.attackers[0], own)), "own.jj")
    assert {one.attacker for one in read_jj("own.jj").requirements} == {0}
