"""Files of changed values, attacked by somebody who shares nothing with the code: SciPy, the file, what is said."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.oracles.bare_tables import seeded
from tests.oracles.moving_cases import KINDS, drawn, put
from tests.oracles.moving_oracle import Case

import celosia as cz
from celosia import InfeasibleError, SpecError
from celosia.protection.method import Method

_ROUNDS, _MANY = 2, 40
_NEAR = 1e-6


def methods(base: int, reach: int, number: int) -> list[tuple[Method, int]]:
    """Return methods, and how far readers know the truth to be from what is published."""
    return [
        (cz.Round(base, extra=0), base - 1),
        (cz.Round(base, extra=1), 2 * base - 1),
        (cz.Perturb(reach, secret=number), reach),
        (cz.RandomRound(base, keep_totals=False), base - 1),
        (cz.RandomRound(base, scheme="controlled"), base - 1),
    ]


def read(path: Path) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the numbers of a file, and which are said to be exact."""
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    numbers = np.array([float(row["published"]) for row in rows])
    return numbers, np.array([row["status"] == "shown" for row in rows])


def ends(case: Case, cell: int, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> list[float]:
    """Return the least and the largest value of a cell in any table between bounds."""
    rows, n = np.array(case.rows, dtype=float), len(case.values)
    right, found = rows @ np.array(case.values, dtype=float), []
    for sign in (1.0, -1.0):
        answer = milp(
            sign * (np.arange(n) == cell),
            constraints=LinearConstraint(rows, right, right),
            bounds=Bounds(lower, upper),
            integrality=np.full(n, case.whole),
        )
        assert answer.status == 0
        found.append(float(answer.x[cell]))
    return found


def attack(kind: str, number: int, folder: Path) -> int:
    """Return how many releases of a table withstood."""
    chance = seeded(f"attacked {kind} {number}")
    case, safe = drawn(chance, kind, whole=bool(number % 2)), 0
    truth = np.array(case.values, dtype=float)
    for method, reach in methods(chance.choice([3, 5, 10]), chance.choice([4, 6, 9]), number):
        try:
            result = cz.protect(put(case), method, seed=number + 1, integer=case.whole)
        except (InfeasibleError, SpecError):
            continue
        assert result.safe
        cz.write(cz.publish(result), folder / "out.csv")
        published, exact = read(folder / "out.csv")
        assert np.array(case.rows) @ (published - truth) == pytest.approx(0)
        far = np.where(exact, 0.0, reach)
        for own_lower, own_upper in case.attackers:
            lower = np.maximum(published - far, np.array(own_lower, dtype=float))
            upper = np.minimum(published + far, np.array(own_upper, dtype=float))
            for cell, (down, up, sliding) in case.levels.items():
                low, high = ends(case, cell, lower, upper)
                assert low <= truth[cell] - down + _NEAR, (method, cell)
                assert high >= truth[cell] + up - _NEAR, (method, cell)
                assert high - low >= sliding - _NEAR, (method, cell)
        safe += 1
    return safe


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_called_safe_withstands(kind: str, tmp_path: Path) -> None:
    assert sum(attack(kind, number, tmp_path) for number in range(_ROUNDS))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_called_safe_withstands_many_times(kind: str, tmp_path: Path) -> None:
    assert sum(attack(kind, number, tmp_path) for number in range(_ROUNDS, _MANY))
