"""Larger tables have no more ranges than their cost asks for: what hardly counts beside widths is closed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.instances import drawn

import celosia as cz
from celosia.protection.combined.parameters import COMBINED
from celosia.protection.combined.solve import solve as solve_combined
from celosia.protection.mixed.parameters import MIXED
from celosia.protection.mixed.solve import solve as solve_mixed
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")


def protect(method: cz.Mixed | cz.Combined, charges: tuple[float, ...], *, sliding: bool) -> Protection:
    """Return what is found for a table of 99 cells with whatever charges for ranges."""
    risk, run = (
        drawn(((2, 4), (8,)), seed=1 if sliding else 5, sliding=sliding),
        Run(Clock(None), 0.02, backends()[0], 0, None),
    )
    if isinstance(method, cz.Mixed):
        return solve_mixed(method.apply_to(risk), method, run, replace(MIXED, start_columns=1, charges=charges))
    return solve_combined(method.apply_to(risk), method, run, replace(COMBINED, start_columns=1, charges=charges))


@pytest.mark.parametrize(
    ("method", "sliding"),
    [
        (cz.Mixed(may_hide=[], secret=1), False),
        (cz.Combined("unity", cell_cost=np.full(99, 1e-9), secret=1), False),
        (cz.Combined("unity", cell_cost=np.full(99, 1e-9), secret=1), True),
    ],
    ids=["mixed", "combined", "combined by widths"],
)
def test_ranges_that_hardly_count_are_closed_at_the_same_cost(method: cz.Mixed | cz.Combined, *, sliding: bool) -> None:
    many, few = (protect(method, charges, sliding=sliding) for charges in ((), COMBINED.charges))
    assert few.safe
    assert few.bound == many.bound
    assert few.cost <= many.cost * (1 + 2 * COMBINED.thinning_loss)
    numbers = [int(np.count_nonzero(found.pattern.status == "interval")) for found in (many, few)]
    assert numbers[1] < numbers[0]


def test_ranges_whose_cost_counts_are_left_as_the_search_has_weighed_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("celosia.protection.combined.thinning._Thinning.run", run)
    assert protect(cz.Combined("unity", cell_cost="value", secret=1), COMBINED.charges, sliding=True).safe
