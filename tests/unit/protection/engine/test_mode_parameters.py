"""Parameters of the search over modes and of the methods that use it: ranges are checked, and they reach the search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from benchmarks.instances import instance

from celosia.protection.combined.formulation import FixedPrices, formulate_by_ends
from celosia.protection.combined.parameters import CombinedParameters
from celosia.protection.engine.modes.parameters import ModeSearchParameters, ModeSeparationParameters
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.admm.parameters import SplittingParameters
from celosia.protection.intervals.parameters import IntervalParameters
from celosia.protection.mixed.parameters import MixedParameters
from celosia.solve.registry import backends


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [
        (ModeSeparationParameters, {"enough_flow_cuts": 0}),
        (ModeSearchParameters, {"tail": 2.0}),
        (ModeSearchParameters, {"widenings": (0.1, -0.1)}),
        (SplittingParameters, {"relaxation": 2.5}),
        (IntervalParameters, {"search_share": 1.5}),
        (CombinedParameters, {"search_share": 1.5}),
        (CombinedParameters, {"first_share": -0.1}),
        (MixedParameters, {"refused_choices": 0}),
    ],
)
def test_parameters_out_of_range_are_refused(kind: type[Any], wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        kind(**wrong)


def test_subproblems_laid_out_one_by_one_give_the_same_cuts() -> None:
    problem = problem_of(instance("t20x10"), integer=None)
    n = len(problem)
    modes = formulate_by_ends(problem, FixedPrices(np.ones(n), np.ones(n), np.ones(n)), np.full(n, np.inf))
    point = np.where(modes.program.upper <= 1.0, 0.3, 0.0)
    together, alone = (
        CapacitySeparator(problem, modes, backends()[0], ModeSeparationParameters(capacities_at_once=many)).separate(
            point
        )
        for many in (2_000_000, 1)
    )
    assert together.cuts
    assert {cut.key for cut in together.cuts} == {cut.key for cut in alone.cuts}
    assert np.array_equal(together.reached, alone.reached)
