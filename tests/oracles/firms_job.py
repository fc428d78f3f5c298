"""A job on seventeen firms, and a bare problem: the smallest tables on which every step of the way can be seen."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from celosia.cli.main import status

RECORDS = """firm,industry,region,turnover
f1,10,N,90
f2,10,N,5
f3,10,S,40
f4,10,S,30
f5,10,S,30
f6,11,N,20
f7,11,N,25
f8,11,N,30
f9,11,S,7
f10,12,N,70
f11,12,N,60
f12,12,S,65
f13,12,S,50
f14,13,N,35
f15,13,N,33
f16,13,S,31
f17,13,S,30
"""

# By itself only 11 x S, a cell with one firm, is sensitive.
JOB = """
[data]
file = "firms.csv"
respondent = "firm"

[dimensions.industry]

[dimensions.region]

[[tables]]
by = ["industry", "region"]
value = "turnover"

[[rules]]
rule = "min-frequency"
n = 2
"""

OUTPUT = """
[output]
release = "office.csv"
public = "public.xlsx"
certificate = "proof.json"
report = "report.html"
"""
OUTPUTS = {"office.csv", "public.xlsx", "proof.json", "report.html"}

# A column of four cells: one sensitive, and the total that must be shown.
PROBLEM = """0
4
0 30 30 z 0 100 0 0 0
1 10 10 u 0 100 2 2 0
2 12 12 s 0 100 0 0 0
3 8 8 s 0 100 0 0 0
1
0 4 : 0 (-1) 1 (1) 2 (1) 3 (1)
"""

INPUTS = {"firms.csv", "job.toml", "problem.jj"}


def write_inputs(folder: Path, more: str = OUTPUT) -> Path:
    """Write firms, job and problem into a folder, and return the job file; `more` goes to the end of the job.

    Unless it names others, an outsider attacks alone: firms would not let cells of two of them be shown.
    """
    (folder / "firms.csv").write_text(RECORDS)
    (folder / "job.toml").write_text(("" if "attackers" in more else 'attackers = ["external"]\n') + JOB + more)
    (folder / "problem.jj").write_text(PROBLEM)
    return folder / "job.toml"


def names() -> set[str]:
    """Return the files in the current folder that are none of the inputs."""
    return {path.name for path in Path().iterdir()} - INPUTS


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """Return what a command says as JSON."""
    capsys.readouterr()
    assert status([*arguments, "--json", "--quiet"]) == 0
    said: dict[str, object] = json.loads(capsys.readouterr().out)
    return said
