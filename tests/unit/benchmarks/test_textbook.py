"""The textbook algorithm finds the known optima of small instances, and its patterns are safe."""

from __future__ import annotations

import pytest
from benchmarks.instances import OPTIMA, instance
from benchmarks.textbook import textbook

import celosia as cz


@pytest.mark.parametrize("unity", [False, True], ids=["value", "unity"])
def test_the_optimum_of_t20x10(*, unity: bool) -> None:
    risk = instance("t20x10", unity=unity)
    found = textbook(risk)
    assert found.hidden is not None
    assert found.cost == (OPTIMA["t20x10"].unity if unity else OPTIMA["t20x10"].value)
    assert cz.audit(cz.Pattern.hide(risk.table, found.hidden), risk).safe


def test_sliding_levels_are_met() -> None:
    risk = instance("t20x10", sliding=True)
    found = textbook(risk)
    assert found.hidden is not None
    assert found.cost <= 7104
    assert cz.audit(cz.Pattern.hide(risk.table, found.hidden), risk).safe


def test_out_of_time_there_is_a_bound_and_no_pattern() -> None:
    found = textbook(instance("t20x10"), time_limit=1e-9)
    assert found.hidden is None
    assert found.cost <= 7104
