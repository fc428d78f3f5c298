"""Controlled rounding of small tables against every rounding there is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.oracles.bare_tables import seeded
from tests.oracles.moving_cases import KINDS, drawn, put
from tests.oracles.moving_oracle import Case, distance, nearest_rounding, roundings

import celosia as cz
from celosia import InfeasibleError, Protection
from celosia.pattern.modes.rounded import Rounded
from celosia.solve.registry import backends

_ROUNDS, _MANY = 6, 66
_BASES = (3, 3, 5)


def check(case: Case, base: int, result: Protection, proof: Path) -> None:
    """Check what every rounded table promises."""
    extra = result.method.extra  # type: ignore[attr-defined]
    published = result.pattern.published().counts
    assert not result.risk.table.relations.residuals(published).any()
    assert (published % base == 0).all()
    assert (np.abs(published - np.array(case.values)) < (extra + 1) * base).all()
    assert all(isinstance(mode, Rounded) and mode.extra == extra for mode in result.pattern.modes)
    assert result.safe
    cz.certify(result).write(proof)
    assert cz.verify(proof).consistent
    assert result.cost == pytest.approx(distance(case, published.tolist()))


def compare(name: str, kind: str, proof: Path, *, whole: bool, number: int) -> None:
    chance = seeded(name)
    case, base = drawn(chance, kind, whole=whole), chance.choice(_BASES)
    method = cz.Round(base, cost=list(case.cost))
    each = [base] * len(case.values)
    if all(base > value for value in case.values):
        return
    try:
        result = cz.protect(put(case), method, solver=backends()[number % len(backends())].name)
    except InfeasibleError:
        assert nearest_rounding(case, each, 0) is None
        return
    check(case, base, result, proof)
    extra = result.method.extra  # type: ignore[attr-defined]
    if extra:
        assert nearest_rounding(case, each, extra - 1) is None
        assert kind == "cube" or len(case.levels)
    wanted = nearest_rounding(case, each, extra)
    assert wanted is not None
    assert result.cost == pytest.approx(distance(case, wanted))
    assert result.bound <= result.cost


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_safe_rounding_is_found(kind: str, whole: bool, tmp_path: Path) -> None:  # noqa: FBT001
    for number in range(_ROUNDS):
        compare(f"round {kind} {number}", kind, tmp_path / "proof.json", whole=whole, number=number)


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_safe_rounding_is_found_many_times(kind: str, whole: bool, tmp_path: Path) -> None:  # noqa: FBT001
    for number in range(_MANY):
        compare(f"slow round {kind} {number}", kind, tmp_path / "proof.json", whole=whole, number=number)


@pytest.mark.parametrize("kind", KINDS)
def test_relaxed_levels_give_a_rounding_that_is_not_called_safe_unless_it_is(kind: str) -> None:
    for number in range(_ROUNDS):
        chance = seeded(f"relaxed {kind} {number}")
        case, base = drawn(chance, kind, whole=True), chance.choice(_BASES)
        if all(base > value for value in case.values):
            continue
        each = [base] * len(case.values)
        try:
            result = cz.protect(put(case), cz.Round(base, cost=list(case.cost), relax_levels=True))
        except InfeasibleError:
            assert kind == "linked"
            assert not roundings(case, each, 1)
            continue
        extra = result.method.extra  # type: ignore[attr-defined]
        assert tuple(result.pattern.published().counts.tolist()) in roundings(case, each, extra)
        assert result.safe == cz.audit(result).safe
        if nearest_rounding(case, each, 0) is not None:
            assert result.safe
