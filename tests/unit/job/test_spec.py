"""The job file: what is accepted, and what is said about the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from celosia import DataError, Digits, Hierarchy, MinFrequency, PPercent, SpecError
from celosia.job.sections.hierarchies import classification_of
from celosia.job.spec import Job, read_job

GOOD = """
[data]
file = "firms.csv"
respondent = "firm"
holding = "group"

[dimensions.industry]
column = "nace"
hierarchy = { hrc = "nace.hrc", total = "All" }

[dimensions.region]

[[tables]]
by = ["industry", "region"]
value = "turnover"

[[rules]]
rule = "p-percent"
p = 10

[[rules]]
rule = "min-frequency"
n = 3
by = "holding"
"""

CELLS = """
[cells]
file = "cells.csv"
value = "turnover"

[dimensions.region]

[[tables]]
by = ["region"]

[[rules]]
rule = "p-percent"
p = 10
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.csv").write_text("firm,group,nace,region,turnover\n1,1,10,N,5\n")
    (tmp_path / "cells.csv").write_text("region,turnover\nN,5\n")
    (tmp_path / "nace.hrc").write_text("C\n@10\n@11\n")
    return tmp_path


def job_of(folder: Path, text: str) -> Job:
    (folder / "job.toml").write_text(text)
    return read_job(folder / "job.toml")


def complaints(folder: Path, text: str) -> list[str]:
    """Return what is said about a job file, without the file's name."""
    with pytest.raises(SpecError) as caught:
        job_of(folder, text)
    prefix = f"{folder / 'job.toml'}, "
    said = [str(problem) for problem in caught.value.problems]
    assert all(line.startswith(prefix) for line in said)
    return [line.removeprefix(prefix) for line in said]


def test_a_job_is_read_with_paths_relative_to_it(folder: Path) -> None:
    job = job_of(folder, GOOD)
    assert job.data is not None
    assert job.data.file == str(folder / "firms.csv")
    assert job.folder == folder
    assert set(job.inputs) == {folder / name for name in ("job.toml", "firms.csv", "nace.hrc")}
    assert job.tables[0].by == ["industry", "region"]
    assert job.tables[0].value == ["turnover"]


def test_rules_are_built_with_their_own_defaults(folder: Path) -> None:
    rules = [rule.build() for rule in job_of(folder, GOOD).rules]
    assert rules == [PPercent(10), MinFrequency(3, by="holding")]
    assert str(rules[0]) == str(PPercent(10))  # 10 as written, not 10.0


def test_what_is_left_out_has_a_default(folder: Path) -> None:
    job = job_of(folder, GOOD)
    assert job.assess.levels == "symmetric"
    assert not job.assess.contributions
    assert job.dimensions["region"].column is None


def test_ready_made_cells_are_a_job_too(folder: Path) -> None:
    job = job_of(folder, CELLS)
    assert job.cells is not None
    assert job.cells.totals == "require"


def test_a_hierarchy_that_no_table_uses_is_allowed(folder: Path) -> None:
    job_of(folder, GOOD + "[dimensions.size]\nhierarchy = { flat = ['S', 'L'] }\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("p = 10", 'p = "ten"'), "rules[0].p: must be a number, not 'ten'."),
        (("p = 10", ""), "rules[0].p: is missing."),
        (("p = 10", "p = 10\ncoalitoin = 2"), "rules[0].coalitoin: is no option here. Did you mean 'coalition'?"),
        (('"p-percent"', '"p-precent"'), "rules[0].rule: 'p-precent' is no rule. Did you mean 'p-percent'?"),
        (("n = 3", "n = 2.5"), "rules[1].n: must be a whole number, not 2.5."),
        (
            ('by = "holding"', 'by = "holdings"'),
            "rules[1].by: must be 'auto', 'respondent' or 'holding', not 'holdings'.",
        ),
        (('holding = "group"', ""), "rules[1].by: is 'holding', but [data] has no column of holdings."),
        (('"firms.csv"', '"firm.csv"'), "data.file: there is no file"),
        (('"firms.csv"', '"firm.csv"'), "Did you mean 'firms.csv'?"),
        (('file = "firms.csv"', ""), "data.file: is missing."),
        (('file = "firms.csv"', 'file = "firms.csv"\ntable = "firms"'), "data.table: belongs to a database."),
        (
            ('respondent = "firm"', 'respondant = "firm"'),
            "data.respondant: is no option here. Did you mean 'respondent'?",
        ),
        (
            ('respondent = "firm"', 'missing = "eror"'),
            "data.missing: must be 'error', 'category' or 'drop', not 'eror'.",
        ),
        (('respondent = "firm"', "decimals = -1"), "data.decimals: must be at least 0, not -1."),
        (('by = ["industry", "region"]', 'by = ["industy", "region"]'), "tables[0].by: 'industy' is no dimension."),
        (('by = ["industry", "region"]', "by = []"), "tables[0].by: is empty."),
        (('by = ["industry", "region"]', 'by = ["region", "region"]'), "tables[0].by: names 'region' twice."),
        (("[[tables]]", "[tables]"), "Write [[tables]] in double brackets"),
        (
            ('hrc = "nace.hrc", total', "digits = [3, 0], total"),
            "dimensions.industry.hierarchy.digits[1]: must be at least 1",
        ),
        (('hrc = "nace.hrc", total', "total"), "dimensions.industry.hierarchy: does not say where the codes are."),
        (('hrc = "nace.hrc", total', 'hrc = "nace.hrc", flat = ["a"], total'), "has both 'hrc' and 'flat'."),
        (
            ('hrc = "nace.hrc", total', 'hrc = "nace.hrc", totl'),
            "dimensions.industry.hierarchy.totl: is no option here.",
        ),
        (
            ('hrc = "nace.hrc", total', 'tree = { C = "10" }, total'),
            "dimensions.industry.hierarchy.tree.C: must be a list",
        ),
        (
            ('column = "nace"', 'column = "nace"\ncolumns = ["a"]'),
            "dimensions.industry.columns: stands beside a column.",
        ),
        (("[data]", "colour = 1\n[data]"), "colour: is no option here. Known: "),
    ],
)
def test_a_fault_is_named_with_its_place(folder: Path, change: tuple[str, str], said: str) -> None:
    assert change[0] in GOOD
    assert any(said in line for line in complaints(folder, GOOD.replace(*change, 1)))


def test_a_fault_has_one_message(folder: Path) -> None:
    assert len(complaints(folder, GOOD.replace("p = 10", 'p = "ten"'))) == 1
    assert len(complaints(folder, GOOD.replace('"p-percent"', '"p-precent"'))) == 1
    assert len(complaints(folder, GOOD.replace("p = 10", "p = -1"))) == 1


def test_parameters_out_of_range_are_said_by_the_rule_beside_wrong_types(folder: Path) -> None:
    said = complaints(folder, GOOD.replace("p = 10", 'p = -1\ncoalition = "two"').replace("n = 3", "n = -3"))
    assert [line.split(":")[0] for line in said] == ["rules[0].coalition", "rules[0].p", "rules[1].n"]


def test_everything_that_is_wrong_is_said_at_once(folder: Path) -> None:
    text = (
        GOOD.replace("firms.csv", "nix.csv").replace("p = 10", "p = true").replace('by = ["industry"', 'by = ["trade"')
    )
    assert [line.split(":")[0] for line in complaints(folder, text)] == ["data.file", "rules[0].p", "tables[0].by"]


def test_several_hierarchies_are_counted_from_zero(folder: Path) -> None:
    text = GOOD.replace('{ hrc = "nace.hrc", total = "All" }', '[{ hrc = "nace.hrc" }, { hrc = "nix.hrc" }]')
    assert [line.split(":")[0] for line in complaints(folder, text)] == ["dimensions.industry.hierarchy[1].hrc"]


def test_microdata_and_cells_exclude_each_other(folder: Path) -> None:
    both = GOOD + CELLS[: CELLS.index("[dimensions")]
    assert complaints(folder, both)[0].startswith("cells: stands beside [data].")
    neither = GOOD[GOOD.index("[dimensions.industry]") :]
    assert complaints(folder, neither)[0].startswith("data: is missing.")


def test_the_same_table_twice_is_refused_whatever_its_order(folder: Path) -> None:
    twice = GOOD + '[[tables]]\nby = ["region", "industry"]\nvalue = ["turnover"]\n'
    assert complaints(folder, twice) == ["tables[1]: is the same table as tables[0]. Drop one of them."]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[assess]\nlargest = 3\n", "assess.largest: belongs to microdata."),
        ("[[tables]]\nby = ['region']\n", "tables[1]: is a second table."),
        ("[links]\nrelations = ['a = b + c']\n", "links: needs several variables"),
        ("[[rules]]\nrule = 'given-status'\n", "rules[1]: looks at the status, but [cells] has no column of it."),
        ("[[rules]]\nrule = 'requests'\n", "rules[1]: looks at requests of respondents"),
    ],
)
def test_nothing_that_has_no_effect_on_cells_is_accepted(folder: Path, more: str, said: str) -> None:
    assert any(line.startswith(said) for line in complaints(folder, CELLS + more))


def test_a_file_that_is_no_toml_is_named_with_its_line(folder: Path) -> None:
    with pytest.raises(SpecError, match=r"job\.toml, line 3, column \d+: is no TOML: "):
        job_of(folder, "[data]\nfile = 'x'\nrespondent = firm\n")


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"job\.toml: does not exist"):
        read_job(tmp_path / "job.toml")
    with pytest.raises(SpecError, match="is a folder"):
        read_job(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"[data]\nfile = 'caf\xe9.csv'\n")
    with pytest.raises(SpecError, match=r"line 2: is not UTF-8 text"):
        read_job(tmp_path / "latin.toml")


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        ('{ hrc = "nace.hrc" }', ("Total", "C", "10", "11")),
        ('{ levels = "levels.csv" }', ("Total", "C", "10", "11", "G")),
        ('{ pairs = "pairs.csv" }', ("Total", "C", "10", "11")),
        ('{ tree = { C = ["10", "11"], G = {} }, total = "T" }', ("T", "C", "10", "11", "G")),
        ('{ flat = ["a", "b"] }', ("Total", "a", "b")),
    ],
)
def test_hierarchies_are_read_in_every_way_of_writing(folder: Path, written: str, labels: tuple[str, ...]) -> None:
    (folder / "levels.csv").write_text("section;division\nC;10\nC;11\nG;\n")
    (folder / "pairs.csv").write_text("child,parent\n10,C\n11,C\n")
    job = job_of(folder, GOOD.replace('{ hrc = "nace.hrc", total = "All" }', written))
    hierarchy = classification_of(job.dimensions["industry"].hierarchy or (), "here")
    assert isinstance(hierarchy, Hierarchy)
    assert hierarchy.labels == labels


def test_digits_wait_for_the_codes_of_the_data(folder: Path) -> None:
    job = job_of(folder, GOOD.replace('hrc = "nace.hrc"', "digits = [1, 1]"))
    assert classification_of(job.dimensions["industry"].hierarchy or (), "here") == Digits((1, 1), total="All")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("levels", "section,division\n", "has no codes"),
        ("levels", "section,division\n,10\n", "a level is empty"),
        ("levels", "section\nC,10\n", "more columns than names"),
        ("pairs", "above,below\nC,10\n", "Name two columns 'parent' and 'child'"),
        ("pairs", "parent,child\nC,\n", "without a parent or a child"),
        ("pairs", "parent,child\nA,B\nB,A\n", "circle"),
        ("pairs", "", "Name two columns"),
    ],
)
def test_files_without_a_hierarchy_are_refused(folder: Path, name: str, content: str, said: str) -> None:
    (folder / "h.csv").write_text(content)
    job = job_of(folder, GOOD.replace('hrc = "nace.hrc"', f'{name} = "h.csv"'))
    with pytest.raises(DataError, match=said) as caught:
        classification_of(job.dimensions["industry"].hierarchy or (), "dimensions.industry.hierarchy")
    assert str(caught.value).startswith("dimensions.industry.hierarchy")
