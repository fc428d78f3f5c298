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


def protect(
    method: cz.Mixed | cz.Combined,
    charges: tuple[float, ...],
    *,
    sliding: bool,
    gap: float = 0.02,
    seed: int | None = None,
) -> Protection:
    """Return what is found for a table of 99 cells with whatever charges for ranges."""
    seed = (1 if sliding else 5) if seed is None else seed
    risk, run = drawn(((2, 4), (8,)), seed=seed, sliding=sliding), Run(Clock(None), gap, backends()[0], 0, None)
    if isinstance(method, cz.Mixed):
        return solve_mixed(method.apply_to(risk), method, run, replace(MIXED, start_columns=1, charges=charges))
    return solve_combined(method.apply_to(risk), method, run, replace(COMBINED, start_columns=1, charges=charges))


def count_ranges(found: Protection) -> int:
    """Return how many ranges are published."""
    return int(np.count_nonzero(found.pattern.status == "interval"))


@pytest.mark.parametrize(
    ("method", "sliding"),
    [
        (cz.Mixed(may_hide=[], secret=1), False),
        (cz.Combined("unity", cell_cost=np.full(99, 1e-9), secret=1), False),
        (cz.Combined("unity", cell_cost=np.full(99, 1e-9), secret=1), True),
    ],
    ids=["mixed", "combined", "combined by widths"],
)
def test_ranges_that_hardly_count_are_closed_within_the_gap(method: cz.Mixed | cz.Combined, *, sliding: bool) -> None:
    many, few = (protect(method, charges, sliding=sliding) for charges in ((), COMBINED.charges))
    assert few.safe
    assert few.bound == many.bound
    assert few.gap <= max(0.02, many.gap + 2 * COMBINED.thinning_loss)
    assert count_ranges(few) < count_ranges(many)


@pytest.mark.parametrize("sliding", [False, True])
def test_what_a_gap_allows_is_spent_on_fewer_ranges(*, sliding: bool) -> None:
    method = cz.Combined("value", cell_cost=np.full(99, 1e-9), secret=1)
    exact, near = (protect(method, COMBINED.charges, sliding=sliding, gap=gap, seed=0) for gap in (0.0, 0.1))
    assert near.safe
    assert near.gap <= 0.1
    assert count_ranges(near) < count_ranges(exact)


def test_ranges_whose_cost_counts_are_left_as_the_search_has_weighed_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(_: object) -> None:
        raise AssertionError

    monkeypatch.setattr("celosia.protection.combined.thinning._Thinning.run", run)
    assert protect(cz.Combined("unity", cell_cost="value", secret=1), COMBINED.charges, sliding=True).safe
