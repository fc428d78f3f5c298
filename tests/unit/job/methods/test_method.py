"""How a job's table is protected: what the options ask of its cells."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.oracles.firms_job import JOB, RECORDS, write_inputs

from celosia import Adjust, CelosiaError, Intervals, Pattern, Perturb, Risk, Round, Suppress, publish, write_release
from celosia.job.assessment import assess_job
from celosia.job.pipeline import assess_source
from celosia.job.plan import make_plan
from celosia.job.protection import protect_risk
from celosia.job.source import read_source
from celosia.job.spec import Job, read_job


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_inputs(tmp_path).parent


def job_of(folder: Path, more: str = "") -> Job:
    (folder / "job.toml").write_text(JOB + more)
    return read_job(folder / "job.toml")


def assessed(job: Job) -> Risk:
    return assess_job(job)


def suppress(job: Job, risk: Risk) -> Suppress:
    method = job.method.build(risk)
    assert isinstance(method, Suppress)
    return method


def asked_of(folder: Path, more: str) -> Suppress:
    job = job_of(folder, more)
    return suppress(job, assessed(job))


def complaints(folder: Path, more: str) -> list[str]:
    """Return what is said about a job, when it is read or when its cells are looked for."""
    with pytest.raises(CelosiaError) as caught:
        asked_of(folder, more)
    return [str(problem).removeprefix(f"{folder / 'job.toml'}, ") for problem in caught.value.problems]


def test_by_default_nothing_is_asked_of_single_cells(folder: Path) -> None:
    job = job_of(folder)
    risk = assessed(job)
    asked = suppress(job, risk)
    assert np.array_equal(np.asarray(asked.cost), risk.cost)
    assert not len(asked.must_show)
    assert not len(asked.must_hide)
    assert asked.at_most is None
    assert not asked.width_if_hidden
    assert job.method.name == "suppress"
    assert [attacker.name for attacker in risk.attackers] == ["external"]


def test_costs_have_factors_for_single_cells(folder: Path) -> None:
    job = job_of(folder, '[method]\ncost = "unity"\nfactors = [{ industry = "10", region = "*", factor = 0.5 }]\n')
    asked = suppress(job, risk := assessed(job))
    halved = [risk.table.label(int(cell)) for cell in np.flatnonzero(asked.cost == 0.5)]
    assert halved == ["10", "10 x N", "10 x S"]
    assert set(np.asarray(asked.cost).tolist()) == {0.5, 1.0}


def test_what_was_hidden_last_period_costs_less(folder: Path) -> None:
    last = assessed(job_of(folder))
    cells = [last.table.find(industry="11", region="N"), last.table.find(industry="10", region="N")]
    write_release(publish(Pattern.hide(last.table, cells)), folder / "last.csv")
    job = job_of(folder, '[method]\ncost = "unity"\nkeep = { release = "last.csv", factor = 0.25 }\n')
    asked = suppress(job, assessed(job))
    assert np.flatnonzero(asked.cost == 0.25).tolist() == sorted(cells)
    assert folder / "last.csv" in job.inputs


def test_a_release_of_another_table_is_no_last_period(folder: Path) -> None:
    (folder / "last.csv").write_text("cell,region,status,published,lower,upper\n0,N,hidden,,,\n")
    assert complaints(folder, '[method]\nkeep = { release = "last.csv" }\n') == [
        "method.keep.release: has no column 'industry'. Is it the release of this table?"
    ]


def test_cells_to_show_and_to_hide(folder: Path) -> None:
    (folder / "hide.csv").write_text("industry,region\n11,N\n")
    job = job_of(folder, '[method]\nmust_show = [{ region = "*" }]\nmust_hide = "hide.csv"\nat_most = 6\n')
    asked = suppress(job, risk := assessed(job))
    assert [risk.table.label(cell) for cell in map(int, asked.must_show)] == ["Total", "N", "S"]
    assert [risk.table.label(cell) for cell in map(int, asked.must_hide)] == ["11 x N"]
    assert asked.at_most == 6
    assert folder / "hide.csv" in job.inputs


def test_a_sensitive_cell_cannot_be_shown_nor_one_be_both(folder: Path) -> None:
    more = '[method]\nmust_show = [{ industry = "*", region = "*" }]\nmust_hide = [{ industry = "11", region = "N" }]\n'
    both, sensitive = complaints(folder, more)
    assert both == "method.must_show: 11 x N is in must_show and in must_hide. Take it out of one of them."
    said = "method.must_show: 11 x S is sensitive (fewer than 2 contributors)."
    assert sensitive == f"{said} What is published anyway can be exempted from the rules: assess.exempt."


def test_widths_for_cells_that_are_hidden(folder: Path) -> None:
    more = (
        '[method]\nwidth_if_hidden = [{ industry = "*", region = "*", percent = 10 }, { region = "N", width = 50.5 }]\n'
    )
    job = job_of(folder, more)
    asked = suppress(job, risk := assessed(job))
    table = risk.table
    assert asked.width_if_hidden[table.find(region="N")] == Fraction(101, 2)
    assert asked.width_if_hidden[table.find(region="S")] == Fraction(283, 10)


def test_attackers_have_the_names_and_bounds_of_the_job(folder: Path) -> None:
    more = """
[[attackers]]

[[attackers]]
attacker = "percentage"
percent = 50
name = "insider"

[[attackers]]
attacker = "factor"
factor = 11
knows = [{ region = "N", upper = 400 }]
"""
    risk = assessed(job_of(folder, more))
    table = risk.table
    assert [attacker.name for attacker in risk.attackers] == ["external", "insider", "factor"]
    assert risk.attackers[1].bounds(table.find(region="N")) == (Fraction(184), Fraction(552))
    assert risk.attackers[2].bounds(table.find(region="N")) == (Fraction(0), Fraction(400))


def test_attackers_have_the_levels_of_the_job_and_the_method_may_make_them_sliding(folder: Path) -> None:
    more = '[[attackers]]\n[[attackers]]\nname = "rival"\nlevels = [{ region = "N", lower = 5, upper = 7.5 }]\n'
    risk = assessed(job_of(folder, more))
    place = risk.table.find(region="N")
    own = [one for one in risk.requirements if one.attacker == 1]
    assert [(one.cell, one.lower, one.upper) for one in own] == [(place, Fraction(5), Fraction("7.5"))]
    sliding = assessed(job_of(folder, more + '[method]\nname = "interval"\nlevels = "sliding"\n'))
    assert [one.sliding for one in sliding.requirements if one.attacker == 1] == [Fraction("12.5")]


def test_levels_beyond_what_an_attacker_knows_are_refused(folder: Path) -> None:
    more = '[[attackers]]\nlevels = [{ region = "N", lower = 100000 }]\n[[attackers]]\nlevels = []\n'
    assert any("levels: must be a list of cells" in said for said in complaints(folder, more))
    found = complaints(folder, more.partition("[[attackers]]\nlevels = []")[0])
    assert found == [
        "attackers[0]: asks for more than he leaves open himself in N. He knows more beforehand than the levels allow."
    ]


def test_zeros_are_known_to_every_attacker_where_the_method_says_so(folder: Path) -> None:
    (folder / "firms.csv").write_text(RECORDS + "f18,14,N,0\nf19,14,S,4\n")
    risk = assessed(job_of(folder, "[method]\nzeros_known = true\n[[attackers]]\n"))
    zero = risk.table.find(industry="14", region="N")
    assert risk.attackers[0].bounds(zero) == (Fraction(0), Fraction(0))
    assert risk.attackers[0].bounds(risk.table.find(industry="14"))[1] is None
    assert assessed(job_of(folder, "[method]\nzeros_known = true\n")).attackers[0].bounds(zero) == (
        Fraction(0),
        Fraction(0),
    )


def test_what_an_attacker_cannot_know_is_refused(folder: Path) -> None:
    more = '[[attackers]]\nknows = [{ region = "N", upper = 2 }]\n' + 2 * '[[attackers]]\nname = "two"\n'
    found = complaints(folder, more)
    assert found[0].startswith("attackers[0]: believes something that is not true of 1 cell, the first being N.")
    assert found[1:] == ["attackers: two of them are called 'two'. Give each a name."]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('[method]\nname = "supress"\n', "method.name: 'supress' is no method. Did you mean 'suppress'?"),
        ("[method]\nat_mots = 3\n", "method.at_mots: is no option here. Did you mean 'at_most'?"),
        (
            '[method]\nname = "adjust"\nat_most = 3\n',
            "method.at_most: is no option of the method 'adjust'. It belongs to 'suppress', 'interval',",
        ),
        ('[method]\nname = "interval"\nbase = 0\n', "method.base: must be above zero, not 0"),
        ('[method]\nname = "interval"\nbase = 5\ndigits = 2\n', "method.digits: and base are both given."),
        ("[methods.intervall]\n", "methods.intervall: is no method. Did you mean 'interval'?"),
        ("[methods.interval]\ndigits = 0\n", "methods.interval.digits: must be 1 or more, not 0."),
        ('[methods.interval]\nname = "suppress"\n', "methods.interval.name: is 'suppress' in the section of"),
        ('[methods.interval]\nmust_show = [{ regio = "N" }]\n', "methods.interval.must_show[0].regio: 'regio' is no"),
        ("[method]\nat_most = -3\n", "method.at_most: must be at least 0, not -3."),
        ('[method]\ncost = "valeu"\n', "method.cost: 'valeu' is not a measure. Did you mean 'value'?"),
        ('[method]\ncost = "value-"\n', "method.cost: 'value-' is not a measure. Did you mean 'value'?"),
        ('[method]\ncost = "unity"\n[assess]\ncost = "unity"\n', "method.cost: stands beside assess.cost."),
        ("[limits]\ntime_limit = 0\n", "limits.time_limit: must be above zero, not 0."),
        ("[limits]\ngap = 2\n", "limits.gap: must be at most 1"),
        ("[limit]\ngap = 0\n", "limit: is no option here. Did you mean 'limits'?"),
        ('[output]\nrelaese = "x.csv"\n', "output.relaese: is no option here. Did you mean 'release'?"),
        ("[[attackers]]\nfactor = 3\n", "attackers[0].factor: belongs to the attacker 'factor'."),
        ('[[attackers]]\nattacker = "percentage"\n', "attackers[0].percent: is missing."),
        ('[method]\nmust_show = [{ industri = "10" }]\n', "method.must_show[0].industri: 'industri' is no dimension."),
        ("[method]\nfactors = [{ factor = -1 }]\n", "method.factors[0].factor: must be a number from zero up, not -1."),
        ("[method]\nfactors = [{ factor = 1e400 }]\n", "method.factors[0].factor: must be a number from zero up"),
    ],
)
def test_every_fault_is_named(folder: Path, more: str, said: str) -> None:
    (found,) = complaints(folder, more)
    assert found.startswith(said)


def test_outputs_lie_beside_the_job(folder: Path) -> None:
    job = job_of(folder, '[output]\nrelease = "out/a.csv"\nreport = "/tmp/r.html"\n[limits]\ntime_limit = 5\ngap = 0\n')
    assert job.output.release == str(folder / "out" / "a.csv")
    assert job.output.report == "/tmp/r.html"  # noqa: S108
    assert (job.limits.time_limit, job.limits.gap, job.limits.seed) == (5, 0, None)


def test_all_faults_of_a_method_come_at_once(folder: Path) -> None:
    more = '[method]\nname = "interval"\nmust_hide = []\nlevels = "slidding"\nbase = -1\ndigitss = 2\n'
    assert complaints(folder, more) == [
        "method.must_hide: is no option of the method 'interval'. It belongs to 'suppress', 'mixed'.",
        "method.levels: must be 'own' or 'sliding', not 'slidding'. Did you mean 'sliding'?",
        "method.digitss: is no option here. Did you mean 'digits'?",
        "method.base: must be above zero, not -1.",
    ]


def test_ranges_have_options_of_their_own(folder: Path) -> None:
    more = """
[method]
name = "interval"
cost = "unity"
factors = [{ region = "N", factor = 3 }]
least_width = [{ industry = "10", width = 12.5 }]
levels = "sliding"
secret = 77
digits = 3
"""
    job = job_of(folder, more)
    method = job.method.build(risk := assessed(job))
    assert isinstance(method, Intervals)
    assert method.least_width == {risk.table.find(industry="10"): Fraction(25, 2)}
    assert np.asarray(method.cost)[risk.table.find(region="N")] == 3
    assert (method.levels, method.secret, method.digits, method.shift) == ("sliding", 77, 3, True)


def test_what_a_method_itself_refuses_has_its_place(folder: Path) -> None:
    more = '[method]\nname = "interval"\nmust_show = [{ region = "N" }]\nleast_width = [{ region = "N", width = 2 }]\n'
    job_of(folder, more)
    plan = make_plan(read_source(folder / "job.toml"))
    with pytest.raises(CelosiaError, match=r"job\.toml, method\.least_width: names cells that must be shown: 'N'\."):
        protect_risk(assess_source(plan.source), plan)


def test_rounding_has_a_base_and_bases_of_single_cells(folder: Path) -> None:
    more = '[method]\nname = "round"\nbase = 5\nbases = [{ base = 10 }]\nmust_show = [{ industry = "10" }]\n'
    job = job_of(folder, more)
    method = job.method.build(risk := assessed(job))
    assert isinstance(method, Round)
    assert method.bases(risk.table).tolist() == [10] + [5] * (len(risk) - 1)
    assert list(method.frozen) == [risk.table.find(industry="10")]


def test_adjustment_says_what_it_keeps_in_the_words_of_all_methods(folder: Path) -> None:
    job = job_of(folder, '[method]\nname = "adjust"\nmust_show = [{ industry = "10" }]\ntotals = "grand"\nnorm = 2\n')
    method = job.method.build(risk := assessed(job))
    assert isinstance(method, Adjust)
    assert (list(method.keep), method.totals, method.norm) == ([risk.table.find(industry="10")], "grand", 2)


def test_perturbation_says_which_cells_go_up(folder: Path) -> None:
    more = '[method]\nname = "perturb"\nreach = 10\nup = [{ industry = "11", region = "S" }]\n'
    job = job_of(folder, more)
    method = job.method.build(risk := assessed(job))
    assert isinstance(method, Perturb)
    assert dict(method.sides) == {risk.table.find(industry="11", region="S"): "up"}
    assert complaints(folder, more + 'down = [{ industry = "11", region = "*" }]\n') == [
        "method.up: 11 x S is in up and in down. Take it out of one of them."
    ]
