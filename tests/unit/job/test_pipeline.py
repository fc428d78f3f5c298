"""From the job file to the risk: every kind of source, hierarchy and link arrives at the right verb."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from celosia import CelosiaError, DataError, Risk, SpecError
from celosia.job.pipeline import assess_file
from celosia.job.source import read_source

RECORDS = """firm,nace,section,region,turnover,domestic,export
f1,10,C,N,90,60,30
f2,10,C,S,40,40,0
f3,10,C,S,30,10,20
f4,11,C,N,20,20,0
f5,11,C,N,25,25,0
f6,45,G,S,7,7,0
f7,45,G,S,9,4,5
"""

CELLS = """ind,turnover,n,top1,top2,status,price
All,100,7,40,20,,3
A,60,3,40,15,u,2
B,40,4,20,10,,1
"""

JOB = """
[data]
file = "firms.csv"
respondent = "firm"

[dimensions.industry]
column = "nace"

[dimensions.region]

[[tables]]
by = ["industry", "region"]
value = "turnover"

[[rules]]
rule = "min-frequency"
n = 2
"""

READY = """
[cells]
file = "cells.csv"
value = "turnover"

[dimensions.industry]
column = "ind"
hierarchy = { flat = ["A", "B"], total = "All" }

[[tables]]
by = ["industry"]
"""

STATUS_RULE = '[[rules]]\nrule = "given-status"\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.csv").write_text(RECORDS)
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "nace.hrc").write_text("C\n@10\n@11\nG\n@45\n")
    return tmp_path


def risk_of(folder: Path, text: str) -> Risk:
    (folder / "job.toml").write_text(text)
    return assess_file(folder / "job.toml")


def sensitive(risk: Risk) -> set[str]:
    return {risk.table.label(cell) for cell in risk.sensitive.nonzero()[0].tolist()}


def total(risk: Risk) -> float:
    return float(risk.table.values[0])


def test_records_in_a_csv_file_become_a_risk(folder: Path) -> None:
    risk = risk_of(folder, JOB)
    assert total(risk) == 221
    assert [axis.name for axis in risk.table.axes] == ["industry", "region"]
    assert len(sensitive(risk)) == 1


@pytest.mark.parametrize("asked", ['table = "firms"', 'query = "SELECT * FROM firms WHERE 1 = 1"'])
def test_records_in_a_database_become_the_same(folder: Path, asked: str) -> None:
    with duckdb.connect(str(folder / "x.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE firms AS SELECT * FROM read_csv(?, all_varchar = false)", [str(folder / "firms.csv")]
        )
    risk = risk_of(folder, JOB.replace('file = "firms.csv"', f'database = "x.duckdb"\n{asked}'))
    assert total(risk) == 221
    assert sensitive(risk) == sensitive(risk_of(folder, JOB))


@pytest.mark.parametrize("asked", ['table = "nix"', 'query = "SELECT nix FROM firms"', 'query = "SELEC"'])
def test_a_database_that_has_no_answer_is_an_error(folder: Path, asked: str) -> None:
    with duckdb.connect(str(folder / "x.duckdb")) as connection:
        connection.execute("CREATE TABLE firms AS SELECT 1 AS turnover")
    with pytest.raises(CelosiaError, match=r"x\.duckdb"):
        risk_of(folder, JOB.replace('file = "firms.csv"', f'database = "x.duckdb"\n{asked}'))


def test_a_file_that_is_no_database_is_an_error(folder: Path) -> None:
    with pytest.raises(CelosiaError, match=r"firms\.csv"):
        risk_of(folder, JOB.replace('file = "firms.csv"', 'database = "firms.csv"\ntable = "x"'))


@pytest.mark.parametrize(
    "dimension",
    [
        'column = "nace"\nhierarchy = { hrc = "nace.hrc" }',
        'columns = ["section", "nace"]',
        'column = "nace"\nhierarchy = { tree = { C = ["10", "11"], G = ["45"] } }',
        'columns = ["section", "nace"]\nhierarchy = { hrc = "nace.hrc" }',
    ],
)
def test_levels_come_from_a_file_from_the_job_or_from_columns(folder: Path, dimension: str) -> None:
    risk = risk_of(folder, JOB.replace('column = "nace"', dimension))
    labels = risk.table.axes[0].labels
    assert set(labels) >= {"Total", "C", "10", "11"}
    assert risk.table.values[risk.table.labels(0).index("C")] == 205


def test_digits_and_several_hierarchies_are_understood(folder: Path) -> None:
    digits = risk_of(
        folder, JOB.replace('column = "nace"', 'column = "nace"\nhierarchy = { digits = [1, 1], total = "All" }')
    )
    assert set(digits.table.axes[0].labels) == {"All", "1", "10", "11", "4"}  # 45 is the only child of 4
    several = '[{ tree = { C = ["10", "11"], G = ["45"] } }, { tree = { X = ["10", "45"], Y = ["11"] } }]'
    both = risk_of(folder, JOB.replace('column = "nace"', f'column = "nace"\nhierarchy = {several}'))
    assert {"C", "X"} <= set(both.table.axes[0].labels)


def test_several_tables_are_linked(folder: Path) -> None:
    text = JOB + '[dimensions.section]\n[[tables]]\nby = ["section", "region"]\nvalue = "turnover"\n'
    risk = risk_of(folder, text)
    assert [axis.name for axis in risk.table.axes] == ["industry", "region", "section"]
    assert risk.table.components[0] == 1


def test_tables_of_different_variables_are_linked_by_relations(folder: Path) -> None:
    more = '[[tables]]\nby = ["region"]\nvalue = ["domestic", "export"]\n[[tables]]\nby = ["region"]\n'
    risk = risk_of(folder, JOB + more + '[links]\nrelations = ["turnover = domestic + export"]\n')
    assert set(risk.table.variables) == {"turnover", "domestic", "export", "count"}
    assert risk.table.components[0] == 2  # nothing links the count with the others


def test_a_relation_that_does_not_hold_is_an_error(folder: Path) -> None:
    text = JOB.replace('"turnover"', '["turnover", "domestic", "export"]')
    risk_of(folder, text + '[links]\nrelations = ["turnover = domestic + export"]\n')
    with pytest.raises(CelosiaError, match="export"):
        risk_of(folder, text + '[links]\nrelations = ["export = turnover + domestic"]\n')
    with pytest.raises(CelosiaError, match="nix"):
        risk_of(folder, text + '[links]\nrelations = ["turnover = domestic + nix"]\n')


def test_a_rule_gets_as_many_contributions_as_it_needs(folder: Path) -> None:
    dominance = JOB.replace('rule = "min-frequency"\nn = 2', 'rule = "dominance"\nn = 5\nk = 90')
    assert "Total" not in sensitive(risk_of(folder, dominance.replace("k = 90", "k = 99")))
    with pytest.raises(SpecError, match=r"job\.toml, rules\[0\] \(\(5, 90\) dominance\): needs the 5 largest"):
        risk_of(folder, dominance + "[assess]\nlargest = 2\n")


def test_ready_made_cells_become_a_risk_with_their_own_cost(folder: Path) -> None:
    part = READY.replace('value = "turnover"', 'value = "turnover"\nstatus = "status"\ncost = "price"\ncount = "n"')
    risk = risk_of(folder, part + STATUS_RULE)
    assert sensitive(risk) == {"A"}
    assert risk.cost.tolist() == [3, 2, 1]
    assert risk.table.axes[0].name == "industry"
    assert risk.table.axes[0].labels[0] == "All"


def test_ready_made_cells_know_their_largest_contributions(folder: Path) -> None:
    part = READY.replace('value = "turnover"', 'value = "turnover"\nlargest = ["top1", "top2"]\ncount = "n"')
    risk = risk_of(folder, part + '[[rules]]\nrule = "p-percent"\np = 20\n[assess]\nexempt = { industry = ["B"] }\n')
    assert sensitive(risk) == {"A"}  # 5 remain, less than 20 percent of 40


def test_a_status_that_no_rule_looks_at_is_refused(folder: Path) -> None:
    part = READY.replace('value = "turnover"', 'value = "turnover"\nstatus = "status"\ncount = "n"')
    with pytest.raises(SpecError, match=r"cells\.status: is looked at by no rule"):
        risk_of(folder, part + '[[rules]]\nrule = "min-frequency"\nn = 2\n')


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ('cost = "valeu"', r"job\.toml, assess\.cost: 'valeu' is not a measure"),
        ('cost = "value^^2"', r"job\.toml, assess\.cost: cannot be read"),
        ('exempt = { industry = ["99"] }', r"job\.toml, assess\.exempt\.industry: holds codes"),
        ("levels = { lower = 0, upper = 0 }", r"job\.toml, assess\.levels: are all zero"),
        ("levels = { lower = -1 }", r"job\.toml, assess\.levels\.lower: must be zero or more"),
    ],
)
def test_what_the_assessment_refuses_is_named_by_its_place_in_the_job(folder: Path, more: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        risk_of(folder, f"{JOB}[assess]\n{more}\n")


def test_levels_are_shaped_as_asked(folder: Path) -> None:
    risk = risk_of(folder, JOB + "[assess]\nlevels = { lower = 0, upper = 2 }\n")
    assert risk.levels.lower.floats.max() == 0
    assert risk.levels.upper.floats.max() == pytest.approx(0.4 * 90)


def test_faults_of_all_hierarchy_files_come_at_once(folder: Path) -> None:
    (folder / "nace.hrc").write_text("C\n@@10\n")
    (folder / "region.csv").write_text("parent,child\nN,S\nS,N\n")
    text = JOB.replace('column = "nace"', 'column = "nace"\nhierarchy = { hrc = "nace.hrc" }')
    text = text.replace("[dimensions.region]", '[dimensions.region]\nhierarchy = { pairs = "region.csv" }')
    with pytest.raises(DataError) as caught:
        risk_of(folder, text)
    places = [problem.place.removeprefix(f"{folder / 'job.toml'}, ") for problem in caught.value.problems]
    assert [place.split(",")[0] for place in places] == ["dimensions.industry.hierarchy", "dimensions.region.hierarchy"]


def test_a_file_with_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"Give a job file \(\.toml\) or a problem \(\.jj\)"):
        assess_file(tmp_path / "table.tab")


def test_the_input_of_a_bare_problem_is_itself(tmp_path: Path) -> None:
    assert read_source(tmp_path / "x.jj").inputs == (tmp_path / "x.jj",)
