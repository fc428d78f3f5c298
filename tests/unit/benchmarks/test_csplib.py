"""The benchmark on CSPLIB: its audit shares nothing with the package, and a part of it keeps the other rows."""

from __future__ import annotations

from pathlib import Path

import benchmarks.csplib
import numpy as np
import pytest
from benchmarks.csplib import Found, Part, csplib
from benchmarks.csplib_targets import TARGETS
from benchmarks.instances import instance
from benchmarks.jj_judge import judge, read
from benchmarks.processor_clock import processor_seconds
from benchmarks.registry import Row
from benchmarks.results import page, replace_rows, rows_of, table

import celosia as cz
from celosia.solve.clock import Clock


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, cz.Protection]:
    path = tmp_path_factory.mktemp("jj") / "t20x10.jj"
    risk = instance("t20x10")
    cz.write_jj(risk, path)
    return path, cz.protect(risk)


def test_the_judge_reads_what_the_package_reads(found: tuple[Path, cz.Protection]) -> None:
    problem, risk = read(found[0]), found[1].risk
    assert np.array_equal(problem.value, risk.table.amounts.floats)
    assert np.array_equal(problem.status, risk.status)
    assert not np.abs(problem.relations @ problem.value).any()


def test_the_judge_finds_a_safe_pattern_safe_and_asks_everything(found: tuple[Path, cz.Protection]) -> None:
    verdict = judge(read(found[0]), np.flatnonzero(found[1].pattern.status != "shown").tolist())
    assert verdict.safe
    assert verdict.asked == verdict.total == 2 * int(found[1].risk.sensitive.sum())


def test_the_judge_finds_what_is_missed_and_misplaced(found: tuple[Path, cz.Protection]) -> None:
    path, result = found
    hidden = set(np.flatnonzero(result.pattern.status != "shown").tolist())
    alone = set(np.flatnonzero(result.risk.sensitive).tolist())
    assert judge(read(path), sorted(alone)).missed  # optimal patterns hide more than the sensitive cells
    assert judge(read(path), sorted(hidden - {min(alone)})).misplaced == 1


def test_a_judge_without_time_says_how_little_it_asked(found: tuple[Path, cz.Protection]) -> None:
    verdict = judge(read(found[0]), range(len(found[1].risk)), seconds=0.0)
    assert verdict.asked < verdict.total
    assert f"{verdict.asked} of {verdict.total}" in str(verdict)


def test_what_was_known_at_a_moment_is_read_off_the_trace() -> None:
    run = Found(7.0, 5.0, (), [(0.1, None, 1.0), (0.2, 20.0, 1.0), (0.5, 9.0, 2.0), (3.0, 7.0, 5.0)], 4.0, 20.0)
    assert run.first == (0.5, 9.0)
    assert run.after(0.4) == (None, 1.0)
    assert run.after(1.0) == (9.0, 2.0)


def test_without_the_files_there_are_no_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(benchmarks.csplib, "FOLDER", Path("nowhere"))
    assert csplib(smoke=True) == []
    assert "skipped" in capsys.readouterr().out


def test_an_unknown_table_is_refused() -> None:
    if not benchmarks.csplib.FOLDER.is_dir():
        pytest.skip("the tables of CSPLIB are not beside the checkout")
    with pytest.raises(SystemExit, match="hier14"):
        csplib(smoke=False, part=Part(("hier14",)))


def test_every_target_says_what_it_wants() -> None:
    said = {name: str(target.last) for name, target in TARGETS.items()}
    assert said["hier13"] == "cost at most 7,300,000, gap at most 42 % in 60 s"
    assert said["nine12"] == "safe, not everything hidden in 120 s"
    assert said["cbs"] == "proved in 60 s"


def test_a_target_below_a_proved_bound_says_that_it_cannot_be_met() -> None:
    target = TARGETS["hier13x7x7d"]
    assert "every pattern costs 567,805 or more" in target.impossible(target.last)
    assert target.aim is not None
    assert target.impossible(target.aim) == ""
    assert all(other.impossible(other.last) == "" for name, other in TARGETS.items() if name != "hier13x7x7d")


def test_a_part_of_a_benchmark_replaces_its_own_rows() -> None:
    old = [Row("a, seed 0", "x", "1", met=True), Row("b, seed 0", "y", "2", met=False), Row("a, unit", "", "3")]
    text = page("", {"csplib": table(old), "other": "text"}, ["csplib", "other"])
    assert rows_of(text, "csplib") == old
    assert rows_of(text, "none") == []
    new = replace_rows(text, "csplib", [Row("a, seed 0", "x", "9", met=False), Row("c, seed 0", "", "4")])
    assert [(row.what, row.measured) for row in new] == [
        ("a, seed 0", "9"),
        ("a, unit", "3"),
        ("b, seed 0", "2"),
        ("c, seed 0", "4"),
    ]


def test_a_clock_counts_what_the_process_works() -> None:
    with processor_seconds():
        clock = Clock(10.0)
        began = clock.seconds
        sum(range(2_000_000))
        assert clock.seconds > began
