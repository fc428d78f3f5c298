"""Ranges of amounts of any size: what a solver proposes is repaired in exact arithmetic."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import celosia as cz
from celosia.attack.audit import audit
from celosia.pattern.modes.interval import Interval
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.master import CutPool, Master, scale_rows, scales_of
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.publish.stretching import StretchedWitnesses
from celosia.protection.method import Method
from celosia.risk.risk import Risk
from celosia.solve.problem import SMALLEST_ENTRY, LinearProgram
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed

AMOUNTS = [[7e7 + 0.01, 9e7 + 0.12, 4e7 + 0.03], [7e9 + 1, 9e9 + 2, 4e9 + 3], [2e10 + 1, 3e10, 1e10 + 7]]
METHODS = [cz.Intervals(cost="unity", conceal=False), cz.Combined(cost="unity", conceal=False), cz.Mixed(conceal=False)]


def risk_of(values: list[float]) -> Risk:
    """Return a table of one row whose first cell must be protected by a tenth of its value."""
    table = cz.tabulate(pd.DataFrame({"r": ["a", "b", "c"], "v": values}), by=["r"], value="v")
    sensitive = np.arange(len(table)) == table.find(r="a")
    return cz.assess(table, cz.OwnRule(lambda _: sensitive, percent=10))


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("values", AMOUNTS, ids=str)
def test_ranges_of_large_amounts_are_published_and_next_to_optimal(values: list[float], method: Method) -> None:
    found = cz.protect(risk_of(values), method, time_limit=60)
    assert found.safe
    assert found.cost <= found.bound * (1 + 1e-5) + 4
    assert found.cost == pytest.approx(0.4 * values[0], rel=1e-6)
    assert int((found.pattern.status == "interval").sum()) == 2


def narrow_ranges(risk: Risk, missing: int) -> Pattern:
    """Return ranges of the first two cells of a row whose upper levels are missed by so many units."""
    table = risk.table
    cells = np.array([table.find(r="a"), table.find(r="b")])
    far = -(-int(risk.levels.upper.fraction(int(cells[0])) * 10**table.decimals) // 1) - missing
    truth = table.amounts[cells].counts
    ends = (Fixed(truth - far, table.decimals), Fixed(truth + far, table.decimals))
    return Pattern.of(table, Interval(cells, *ends, np.ones(2), np.ones(2)))


@pytest.mark.parametrize("missing", [1, 1000])
def test_a_witness_that_misses_a_level_by_little_is_stretched_to_it_exactly(missing: int) -> None:
    risk = risk_of([2e10 + 1, 3e10, 1e10 + 7])
    checked = audit(narrow_ranges(risk, missing), risk)
    problem = problem_of(risk, integer=None)
    nothing = np.zeros(len(problem), dtype=np.int64)
    open_ = StretchedWitnesses(problem, problem.decimals, np.zeros(len(problem), dtype=bool), np.full(4, np.inf))
    wider = open_.widen(checked.verdicts[0], checked.systems[0], (nothing, nothing))
    assert wider is not None
    level = risk.levels.upper.fraction(risk.table.find(r="a"))
    for side in wider:
        assert sorted(side[side > 0].tolist()) == [level * 10**problem.decimals] * 2
    fixed = replace(open_, fixed=np.ones(len(problem), dtype=bool))
    assert fixed.widen(checked.verdicts[0], checked.systems[0], (nothing, nothing)) is None
    limited = replace(open_, most=np.full(4, float(level)))
    assert limited.widen(checked.verdicts[0], checked.systems[0], (nothing, nothing)) is None


def test_a_witness_that_misses_a_level_by_much_is_not_stretched() -> None:
    risk = risk_of([2e10 + 1, 3e10, 1e10 + 7])
    checked = audit(narrow_ranges(risk, 10**9), risk)
    problem = problem_of(risk, integer=None)
    nothing = np.zeros(len(problem), dtype=np.int64)
    stretched = StretchedWitnesses(problem, problem.decimals, np.zeros(len(problem), dtype=bool), np.full(4, np.inf))
    assert stretched.widen(checked.verdicts[0], checked.systems[0], (nothing, nothing)) is None


@pytest.mark.parametrize("right", [1e-12, 3e-9, 1.0, 3e7])
def test_a_master_satisfies_cuts_of_any_size_to_a_share_of_their_right_side(right: float) -> None:
    base = LinearProgram(sp.csr_array((0, 2)), np.zeros(0), np.zeros(0), np.zeros(2), np.full(2, np.inf), np.ones(2))
    master = Master(base, backends()[0], CutPool())
    master.add([Cut(np.arange(2), np.array([1.0, 0.5]), right), Cut(np.array([1]), np.ones(1), 1.0)])
    point = master.solve()
    assert point is not None
    assert float(point.x @ [1.0, 0.5]) >= right * (1 - 1e-6)
    assert point.bound == pytest.approx(max(1.0, right + 0.5), rel=1e-6)


def test_scaled_cuts_stay_valid() -> None:
    rows = sp.csr_array(np.array([[1.0, 1e-6, -1e-6], [1.0, 0.5, 0.25]]))
    scale = scales_of(np.array([2.0**24, 1.0]))
    assert scale.tolist() == [2.0**-24, 1.0]
    scaled = scale_rows(rows, scale).toarray()
    assert scaled[0].tolist() == [2.0**-24, 2 * SMALLEST_ENTRY, 0.0]
    assert scaled[1].tolist() == [1.0, 0.5, 0.25]
    assert Fraction(scaled[0][1]) > Fraction(1e-6) * Fraction(2.0**-24)
