"""From a job to a protection and its files; the search itself is a fake that hides all inner cells."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracles.firms_job import INPUTS, JOB, OUTPUT, OUTPUTS, write_inputs

from celosia import (
    CelosiaError,
    InfeasibleError,
    OutOfTimeError,
    Pattern,
    Protection,
    Risk,
    SpecError,
    Suppress,
    audit,
    read_release,
    verify,
)
from celosia.cli.main import status
from celosia.comparison import audit_to_ends
from celosia.job import protection
from celosia.job.pipeline import assess_source
from celosia.job.plan import Plan, make_plan
from celosia.job.protection import prepare_outputs, protect_risk, write_outputs
from celosia.job.run import StateFiles
from celosia.job.sections.limits import LimitsPart
from celosia.job.source import read_source
from celosia.progress import Progress
from celosia.report.pages import protection as protection_page

LIMITS = """
[limits]
time_limit = 30
seed = 4
"""

Seen = list[tuple[Suppress, LimitsPart]]


def hiding(risk: Risk, method: Suppress, *, all_of_it: bool = True) -> Protection:
    inner = (risk.table.levels >= 1).all(axis=1) if risk.table.axes else np.arange(len(risk)) > 0
    hidden = np.array(inner if all_of_it else risk.sensitive)
    hidden[np.asarray(method.must_hide, dtype=np.int64)] = True
    pattern = Pattern.hide(risk.table, hidden)
    cost = pattern.loss(np.asarray(method.cost))
    trace = ((0.0, None, 1.0, 0), (0.1, 10.0, 5.0, 2))
    return Protection(risk, Suppress(), pattern, cost, cost / 2, audit(pattern, risk), 0.1, "fake", trace, 0)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Put a fake in the place of the engine, and return what it was asked."""
    asked: Seen = []

    def fake(
        risk: Risk,
        method: Suppress,
        limits: LimitsPart,
        progress: Progress,
        files: StateFiles | None,  # noqa: ARG001  (see tests/unit/protection/test_resume.py)
    ) -> Protection:
        asked.append((method, limits))
        progress.search(10.0, 5.0, 2)
        return hiding(risk, method)

    monkeypatch.setattr(protection, "run_method", fake)
    return asked


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path, LIMITS + OUTPUT)
    return Path("job.toml")


def plan(path: Path | str, options: dict[str, dict[str, Any]] | None = None) -> Plan:
    return make_plan(read_source(path), options)


def protect(what: Plan) -> Protection:
    return protect_risk(assess_source(what.source), what)


def names() -> set[str]:
    return {path.name for path in Path().iterdir()}


def test_a_job_is_protected_as_it_says_and_everything_is_written(job: Path, seen: Seen) -> None:
    what = plan(job)
    result = protect(what)
    assert names() == INPUTS
    written = write_outputs(prepare_outputs(result, what))
    assert [path.name for path in written] == ["office.csv", "public.xlsx", "proof.json", "report.html"]
    assert names() == INPUTS | OUTPUTS
    ((_, limits),) = seen
    assert (limits.time_limit, limits.seed, limits.gap) == (30, 4, None)
    release = read_release("office.csv", result.risk.table)
    assert verify(Path("proof.json"), result.risk, release).proved
    page = Path("report.html").read_text()
    assert "time_limit = 30" in page
    assert "Attackers conclude" in page


def test_the_caller_s_options_come_before_those_of_the_job(job: Path, seen: Seen) -> None:
    options: dict[str, dict[str, Any]] = {
        "limits": {"gap": 0.1},
        "method": {"at_most": 9, "cost": "unity"},
        "output": {"release": "other.parquet"},
    }
    what = plan(job, options)
    assert what.outputs["release"] == Path("other.parquet")
    assert what.outputs["public"] == Path("public.xlsx")
    protect(what)
    ((method, limits),) = seen
    assert (limits.time_limit, limits.gap) == (30, 0.1)
    assert method.at_most == 9
    assert set(np.asarray(method.cost)) == {1.0}
    assert what.describe()["Method"] == "suppress, cost = unity, at_most = 9"


def test_a_bare_problem_is_protected_the_same_way(job: Path, seen: Seen) -> None:  # noqa: ARG001
    result = protect(plan("problem.jj", {"limits": {"time_limit": 5}}))
    assert result.audit.safe
    assert seen[0][1].time_limit == 5
    assert np.array_equal(np.asarray(seen[0][0].cost), result.risk.cost)


def test_everything_that_can_be_checked_is_checked_before_any_work(job: Path, seen: Seen) -> None:
    job.write_text((JOB + OUTPUT).replace("proof.json", "firms.csv").replace("report.html", "nowhere/report.html"))
    with pytest.raises(SpecError) as caught:
        plan(job, {"limits": {"time_limit": -1}, "method": {"cost": "value^"}, "output": {"public": "office.csv"}})
    assert [str(problem) for problem in caught.value.problems] == [
        "--cost: cannot be read at 'value^'. Write it like 'value', 'value^0.5' or '0.5*value + 2*unity'.",
        "--time-limit: must be above zero, not -1. It is in seconds; leave it out for none.",
        "firms.csv: has the ending '.csv', which is not written here. Name a .json file.",
        "firms.csv: is an input of this job and would be overwritten. Give the output another name.",
        "nowhere/report.html: cannot be written: there is no folder 'nowhere'. Make it first, or mend the path.",
        "office.csv: is named for the release and for the public. Give each a name of its own.",
    ]
    assert not seen


def test_wishes_that_the_table_refutes_are_told_with_the_job_s_name(job: Path, seen: Seen) -> None:
    job.write_text(JOB + '[method]\nmust_show = [{ industry = "11", region = "S" }]\n')
    what = plan(job)
    with pytest.raises(SpecError, match=r"job\.toml, method\.must_show: 11 x S is sensitive"):
        protect(what)
    assert not seen


def test_an_unsafe_pattern_is_never_written(job: Path, seen: Seen) -> None:
    what = plan(job)
    result = protect(what)
    unsafe = hiding(result.risk, seen[0][0], all_of_it=False)
    assert not unsafe.audit.safe
    with pytest.raises(SpecError, match="nothing is written"):
        prepare_outputs(unsafe, what)
    assert names() == INPUTS


def test_too_many_intervals_are_left_alone(job: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setattr(audit_to_ends, "MOST_INTERVALS", 2)
    result = protect(plan(job))
    assert audit_to_ends.audit_to_ends(result) is result.audit


def test_when_one_file_cannot_be_written_none_is(job: Path, seen: Seen, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(protection_page, "write_protection_page", full)
    what = plan(job)
    result = protect(what)
    with pytest.raises(SpecError, match="No space left on device"):
        write_outputs(prepare_outputs(result, what))
    assert names() == INPUTS


def test_another_method_takes_its_own_section_or_every_option_of_the_job_s(job: Path, seen: Seen) -> None:  # noqa: ARG001
    plain = job.read_text()
    job.write_text(plain + '[method]\ncost = "unity"\nzeros_known = true\n')
    method = plan(job, {"method": {"name": "interval", "digits": 2}}).method
    said = method.model_dump()
    assert (said["name"], said["cost"], said["zeros_known"], said["digits"]) == ("interval", "unity", True, 2)
    job.write_text(plain + "[method]\nat_most = 4\n[methods.interval]\nbase = 10\n")
    method = plan(job, {"method": {"name": "interval"}}).method
    said = method.model_dump()
    assert (said["name"], said["base"], said["cost"]) == ("interval", 10, None)
    job.write_text(plain + '[method]\nname = "perturb"\nreach = 4\n')
    with pytest.raises(SpecError) as caught:
        plan(job, {"method": {"name": "interval", "must_hide": "x.csv", "digits": 0}})
    assert [str(problem) for problem in caught.value.problems] == [
        "--must-hide: is no option of the method 'interval'. It belongs to 'suppress', 'mixed'.",
        "--digits: must be 1 or more, not 0.",
    ]
    with pytest.raises(SpecError, match=r"^method\.reach: stands in \[method\], and 'interval' has no such option"):
        plan(job, {"method": {"name": "interval"}})


# the command


def test_the_command_prints_one_json_object(job: Path, seen: Seen, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert status(["protect", str(job), "--json", "--quiet", "--certificate", "p.json"]) == 0
    said = json.loads(capsys.readouterr().out)
    wanted = {
        "method",
        "criterion",
        "safe",
        "objective",
        "bound",
        "gap",
        "cells",
        "sensitive",
        "secondary",
        "seconds",
        "solver",
    }
    assert wanted <= set(said)
    assert (said["method"], said["criterion"], said["safe"]) == ("suppress", "intervals", True)
    assert (said["cells"], said["sensitive"], said["secondary"]) == (15, 1, 7)
    assert said["objective"] == 651
    assert said["files"] == ["office.csv", "public.xlsx", "p.json", "report.html"]


def test_the_command_says_the_result_in_words(job: Path, seen: Seen, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: ARG001
    assert status(["protect", str(job)]) == 0
    out, err = capsys.readouterr()
    assert "Safe: all of 1 requirement met, audited." in out
    assert "8 of 15 cells are not shown (53.3%): 1 sensitive and 7 to protect them" in out
    assert err == (
        "Written: office.csv (confidential)\nWritten: public.xlsx\nWritten: proof.json (confidential)\n"
        "Written: report.html (confidential)\n"
        "Verify it with: celosia verify proof.json --problem job.toml --release office.csv\n"
    )


def test_every_option_reaches_the_search(job: Path, seen: Seen) -> None:
    Path("show.csv").write_text("industry\n10\n")
    Path("hide.csv").write_text("industry,region\n12,N\n")
    arguments = "--method suppress --cost unity --at-most 7 --must-show show.csv --must-hide hide.csv"
    more = "--time-limit 2.5 --gap 0.25 --seed 9 --solver highs"
    assert status(["protect", str(job), "--quiet", *arguments.split(), *more.split()]) == 0
    ((method, limits),) = seen
    assert (len(method.must_show), len(method.must_hide), method.at_most) == (1, 1, 7)
    assert limits == LimitsPart(time_limit=2.5, gap=0.25, seed=9, solver="highs")


@pytest.mark.parametrize(
    ("error", "code"),
    [(InfeasibleError, 1), (OutOfTimeError, 3), (SpecError, 2)],
)
def test_exit_codes_tell_what_happened_and_no_file_is_written(
    job: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: type[CelosiaError],
    code: int,
) -> None:
    def fails(*_: object) -> Protection:
        raise error.one("cell 3", "stands in the way.")

    monkeypatch.setattr(protection, "run_method", fails)
    assert status(["protect", str(job)]) == code
    assert "error: cell 3: stands in the way." in capsys.readouterr().err
    assert names() == INPUTS


def test_a_pattern_that_is_not_safe_ends_with_1(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake: Callable[..., Protection] = lambda risk, method, *_: hiding(risk, method, all_of_it=False)  # noqa: E731
    monkeypatch.setattr(protection, "run_method", fake)
    assert status(["protect", str(job)]) == 1
    out, err = capsys.readouterr()
    assert "Not shown safe: 0 of 1 requirement met." in out
    assert "Written" not in err
    assert names() == INPUTS


def test_an_optimum_is_called_one(
    job: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def best(risk: Risk, method: Suppress, *_: object) -> Protection:
        found = hiding(risk, method)
        return replace(found, bound=found.cost)

    monkeypatch.setattr(protection, "run_method", best)
    assert status(["protect", str(job), "--quiet"]) == 0
    assert "Cost 651, proved to be the least." in capsys.readouterr().out
