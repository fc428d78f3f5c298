"""Combined suppression of a table that is no network: by widths and by both ends, with descents where they suit."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.instances import drawn

import celosia as cz
from celosia.protection.combined.method import Combined
from celosia.protection.combined.parameters import CombinedParameters
from celosia.protection.combined.solve import solve
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

EARLY = CombinedParameters(descent_columns=1, start_columns=1)


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("sliding", [False, True])
def test_descents_find_what_searches_without_them_find(*, sliding: bool) -> None:
    risk = drawn(((3,), (2,), (2,)), 1, sliding=sliding)
    method = Combined("unity", cell_cost="value", secret=1, conceal=False)
    run = Run(Clock(None), 0.0, backends()[0], 0, None)
    found = solve(method.apply_to(risk), method, run, EARLY)
    plain = cz.protect(risk, method)
    assert cz.audit(found.pattern, risk).safe
    assert found.cost == pytest.approx(plain.cost, rel=2e-3)
    assert found.bound <= plain.cost * (1 + 1e-6)
    assert int(np.sum(found.pattern.status == "interval")) > 0
