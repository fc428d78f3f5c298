"""Cell perturbation of small tables against every table that adds up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.oracles.bare_tables import seeded
from tests.oracles.moving_cases import KINDS, drawn, put
from tests.oracles.moving_oracle import Case, distance, moves, safe

import celosia as cz
from celosia import InfeasibleError, Perturb, Protection
from celosia.pattern.modes.perturbed import Perturbed
from celosia.solve.registry import backends

_ROUNDS, _MANY = 8, 40


def check(case: Case, reach: int, result: Protection, proof: Path) -> np.ndarray:
    """Check what every perturbed table promises; return what is published."""
    published = result.pattern.published()
    counts = published.to(max(published.decimals, 2)).counts
    assert not (np.array(case.rows) @ (counts - 100 * np.array(case.values))).any()
    assert (np.abs(counts - 100 * np.array(case.values)) <= 100 * reach).all()
    assert all(isinstance(mode, Perturbed) for mode in result.pattern.modes)
    assert result.safe
    assert result.bound <= result.cost + 1e-9
    for cell in case.levels:
        assert counts[cell] != 100 * case.values[cell], "sensitive cells move"
    cz.certify(result).write(proof)
    assert cz.verify(proof).consistent
    return counts


def cheapest(case: Case, reach: int, move: int, at_most: int | None = None) -> tuple[int, ...] | None:
    """Return the nearest safe table in which sensitive cells move up by so much at least."""
    options = [
        range(value + move, value + reach + 1)
        if cell in case.levels
        else range(max(0, value - reach), value + reach + 1)
        for cell, value in enumerate(case.values)
    ]
    for table in moves(case, options):
        changed = sum(v != a for v, a in zip(table, case.values, strict=True))
        if at_most is not None and changed > at_most:
            continue
        if safe(case, [v - reach for v in table], [v + reach for v in table]):
            return table
    return None


@pytest.mark.parametrize("kind", KINDS)
def test_random_sides_give_tables_that_keep_every_promise(kind: str, tmp_path: Path) -> None:
    for number in range(_ROUNDS):
        chance = seeded(f"perturb {kind} {number}")
        whole = bool(number % 2)
        case, reach = drawn(chance, kind, whole=whole), chance.choice([3, 5, 8])
        method = Perturb(
            reach, cost=list(case.cost), secret=number, decimals=None if whole else chance.choice([0, 1, 2])
        )
        try:
            result = cz.protect(put(case), method, solver=backends()[number % len(backends())].name)
        except InfeasibleError:
            continue
        check(case, reach, result, tmp_path / "proof.json")


def compare(name: str, proof: Path, number: int) -> None:
    chance = seeded(name)
    case = drawn(chance, "flat", whole=True)
    if len(case.values) > 9 or max(case.values) > 30:
        return
    reach, move = chance.choice([2, 3]), 1
    at_most = chance.choice([None, None, 4, 6])
    method = Perturb(reach, move=move, side="up", cost=list(case.cost), at_most=at_most)
    try:
        result = cz.protect(put(case), method, solver=backends()[number % len(backends())].name)
    except InfeasibleError:
        assert cheapest(case, reach, move, at_most) is None
        return
    counts = check(case, reach, result, proof)
    wanted = cheapest(case, reach, move, at_most)
    assert wanted is not None
    assert result.cost == pytest.approx(distance(case, wanted))
    changed = int((counts != 100 * np.array(case.values)).sum())
    assert at_most is None or changed <= at_most


def test_the_nearest_safe_table_is_found(tmp_path: Path) -> None:
    for number in range(3 * _ROUNDS):
        compare(f"up {number}", tmp_path / "proof.json", number)


@pytest.mark.slow
def test_the_nearest_safe_table_is_found_many_times(tmp_path: Path) -> None:
    for number in range(3 * _MANY):
        compare(f"slow up {number}", tmp_path / "proof.json", number)
