"""A search with an oracle has a part of the time, and all of it once a pattern withstands every attack."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest
from tests.unit.protection.conftest import make_risk

from celosia.pattern.pattern import Pattern
from celosia.protection.respondents.attacked import LastingOracle
from celosia.protection.run import Ask, ViolatedRequirements
from celosia.solve.clock import Clock, PartOfClock


class Attacks:
    """An oracle whose attacks succeed, or not."""

    def __init__(self, *, succeed: bool) -> None:
        self.found = cast("ViolatedRequirements", object()) if succeed else None

    def violated(self, pattern: Pattern, ask: Ask = "exactly") -> ViolatedRequirements | None:  # noqa: ARG002
        return self.found


@pytest.mark.parametrize("succeed", [False, True])
def test_time_is_left_for_what_follows_as_long_as_attacks_succeed(*, succeed: bool) -> None:
    risk = make_risk([[1, 1, -1]], [7, 13, 20], {0: (2, 2, 0)}, cost=[1.0] * 3)
    oracle, clock = Attacks(succeed=succeed), PartOfClock(Clock(100.0), 10.0)
    found = LastingOracle(oracle, clock).violated(Pattern.hide(risk.table, np.array([0, 1])))
    assert found is oracle.found
    assert (clock.left > 50) != succeed
