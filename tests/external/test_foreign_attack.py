"""Releases of public tables, attacked by linear programs of SciPy on a JJ file: code that shares nothing with ours."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from benchmarks.jj_judge import judge_ranges, read
from benchmarks.real_tables import INSEE_TABLES, is_there, risk_of
from numpy.typing import NDArray

from celosia import Combined, Intervals, MidpointWarning, Mixed, Risk, Suppress, protect, publish
from celosia.formats.jj import write_jj
from celosia.protection.method import Method

SECONDS = 20.0
"""Of the processor, for the questions of one release."""

RANGES: list[Method] = [
    Intervals(secret=1, conceal=False),
    Combined(secret=1, conceal=False),
    Mixed(secret=1, conceal=False),
]
CASES = [
    *(
        pytest.param(f"INSEE {name}", method, marks=[] if name == INSEE_TABLES[0] else pytest.mark.slow)
        for name in INSEE_TABLES
        for method in RANGES
    ),
    ("survey 4-D", Suppress()),
    pytest.param("survey 3-D", Mixed(secret=1, conceal=False), marks=pytest.mark.slow),
    pytest.param("tau-ARGUS 3-D", Suppress(), marks=pytest.mark.slow),
]

pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(not is_there("survey 4-D"), reason="public data are not beside the checkout"),
]


def publish_ends(name: str, method: Method) -> tuple[Risk, NDArray[np.float64], NDArray[np.float64]]:
    risk = risk_of(name, outsiders=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MidpointWarning)
        release = publish(protect(risk, method, time_limit=20.0))
    low, high = release.bounds()
    return risk, low.floats, high.floats


@pytest.mark.parametrize(("name", "method"), CASES, ids=lambda one: getattr(one, "name", one))
def test_what_is_published_of_public_tables_withstands_linear_programs_of_others(
    tmp_path: Path, name: str, method: Method
) -> None:
    risk, low, high = publish_ends(name, method)
    write_jj(risk, tmp_path / "table.jj")
    verdict = judge_ranges(read(tmp_path / "table.jj"), low, high, seconds=SECONDS)
    assert verdict.asked > 0
    assert verdict.safe, verdict


def test_programs_of_others_notice_ranges_that_are_narrower(tmp_path: Path) -> None:
    risk, low, high = publish_ends("INSEE act_size", Intervals(secret=1, conceal=False))
    write_jj(risk, tmp_path / "table.jj")
    problem = read(tmp_path / "table.jj")
    narrow = problem.value + 0.9 * (low - problem.value), problem.value + 0.9 * (high - problem.value)
    assert judge_ranges(problem, *narrow, seconds=SECONDS).missed > 0
