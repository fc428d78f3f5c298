"""Ranges beside hidden cells: cuts with the same cells hidden lead a descent to cheaper ones."""

from __future__ import annotations

import pytest
from benchmarks.instances import drawn

from celosia import Mixed
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.intervals.publish.publication import RangePublisher
from celosia.protection.intervals.search import RangeSearches
from celosia.protection.mixed.parameters import MixedParameters
from celosia.protection.mixed.problem import MixedProblem
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends


def searched(seed: int) -> ModeSearch:
    """Return a search for a mixed release of a small cube, by descents, at its end."""
    method, run = Mixed(secret=1), Run(Clock(None), 0.0, backends()[0], 0, None)
    risk = method.apply_to(drawn(((4,), (4,), (3,)), seed))
    ranges = MixedProblem(risk, method.require_widths(risk), method, None, MixedParameters(descent_columns=1))
    searches = RangeSearches(ranges, RangePublisher(ranges, run), run)
    search = searches.open(ranges.formulate_by_ends())
    searches.finish(search)
    return search


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_cuts_beside_hidden_cells_lead_a_descent_to_cheaper_ranges(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ModeSearch, "solve", lambda _: None)  # descents alone
    found = searched(seed)
    assert found.best is not None
    assert found.separator.separate(found.best).safe
    assert not found.relaxation.master.is_restricted
    assert found.bound <= found.cost

    monkeypatch.setattr(ModeSearch, "cut_beside", lambda *_: None)
    assert found.cost < 0.95 * searched(seed).cost


def test_cuts_beside_hidden_cells_are_no_bound() -> None:
    best = searched(2)
    beside = searched(2)
    before, widest = beside.bound, beside.modes.program.upper
    beside.cut_beside(widest, Clock(None))
    assert beside.bound == before
    assert beside.bound <= best.cost * (1 + 1e-9)
