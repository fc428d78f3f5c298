"""Counts linked to amounts, protected in every way, and attacked by integer programs in which only counts are whole."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from tests.oracles.bare_tables import seeded

import celosia as cz
from celosia import InfeasibleError, Release, Risk, Table
from celosia.protection.method import Method
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import Fixed

METHODS: dict[str, Callable[[], Method]] = {
    "interval": lambda: cz.Intervals(secret=1),
    "combined": lambda: cz.Combined(secret=1),
    "suppress": cz.Suppress,
    "round": lambda: cz.Round(5),
    "perturb": lambda: cz.Perturb(6, secret=1),
}


def drawn_table(chance: random.Random, *, tied: bool) -> Table:
    """Return counts and amounts with a decimal, side by side, or tied by an equation."""
    records = []
    for a, b in ((a, b) for a in "AB" for b in "NSW"):
        for _ in range(chance.randint(1, 5)):
            rest = chance.randint(0, 40) / 10
            records.append({"a": a, "b": b, "rest": rest, "all": round(2 + rest, 1)})
    data = pa.Table.from_pylist(records)
    groups = [cz.Hierarchy.from_dict(tree) for tree in ({"NS": ["N", "S"], "W": []}, {"SW": ["S", "W"], "N": []})]
    options = {"by": ["a", "b"], "hierarchies": {"b": groups}} if chance.random() < 0.5 else {"by": ["a", "b"]}
    names = ("rest", "all") if tied else ("rest",)
    parts = [cz.tabulate(data, **options), *(cz.tabulate(data, value=name, **options) for name in names)]
    return cz.link(parts, relations=["all = 2 * count + rest"] if tied else [])


def drawn_risk(chance: random.Random, table: Table) -> Risk:
    leaves = np.flatnonzero((table.codes != 0).all(axis=1))
    cells = np.array(sorted(chance.sample(leaves.tolist(), 2)))
    amounts = [[0, 5, 10, 15], [0, 10, 15], [0, 0, 25]]
    numbers = np.zeros((3, len(table)), dtype=np.int64)
    for cell in cells.tolist():
        numbers[:, cell] = [chance.choice(own) for own in amounts]
        numbers[1, cell] += 5 * (not numbers[:, cell].any())
    status = np.full(len(table), SAFE)
    status[cells] = SENSITIVE
    levels = Levels(*(Fixed(own, 1) for own in numbers))
    return Risk(table, status, levels, np.ones(len(table)), (cz.Attacker.external(table),))


def ends(table: Table, release: Release, cell: int, lowest: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least and the most that a cell can be, in tables of an integer program."""
    lower, upper = (side.floats for side in release.bounds())
    right = table.relations.matrix @ table.values
    sums = LinearConstraint(table.relations.matrix, right - 1e-8, right + 1e-8)
    found = []
    for sign in (1.0, -1.0):
        cost = np.zeros(len(table))
        cost[cell] = sign
        within = Bounds(np.maximum(lower, lowest), upper)
        solved = milp(cost, constraints=sums, bounds=within, integrality=table.is_count.astype(int))
        found.append(sign * np.inf * -1 if solved.x is None else float(solved.x[cell]))
    return found[0], found[1]


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("tables", [1, pytest.param(10, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tied", [False, True], ids=["side by side", "tied"])
@pytest.mark.parametrize("method", METHODS)
def test_protected_counts_and_amounts_stand_an_integer_program(method: str, tables: int, *, tied: bool) -> None:
    judged = protected = 0
    for number in range(3 * tables):
        if protected == tables:
            break
        chance = seeded(f"protected {method} {tied} {number}")
        table = drawn_table(chance, tied=tied)
        risk = drawn_risk(chance, table)
        try:
            result = cz.protect(risk, METHODS[method](), time_limit=20)
        except InfeasibleError:
            continue
        protected += 1
        assert result.safe
        assert result.bound <= result.cost
        release, wanted = cz.publish(result), risk.requirements
        for k, cell in enumerate(wanted.cells.tolist()):
            low, high = ends(table, release, cell, result.risk.attackers[0].lower.floats)
            lower, upper, sliding = (level.floats[k] for level in (wanted.lower, wanted.upper, wanted.sliding))
            value = table.values[cell]
            assert value - low >= lower - 1e-5, (number, cell)
            assert high - value >= upper - 1e-5, (number, cell)
            assert high - low >= sliding - 1e-5, (number, cell)
            judged += 1
        ranges = table.is_count & (release.status == "interval")
        assert not any((side.floats[ranges] % 1).any() for side in release.bounds())
    assert judged >= tables


@pytest.mark.parametrize("number", [5, 22])
def test_amounts_that_are_tied_to_counts_move_as_far_as_these_are_rounded(number: int) -> None:
    """There was no room for values that add up within a few steps of the last decimal; and moves were dear for that."""
    chance = seeded(f"protected perturb True {number}")
    risk = drawn_risk(chance, drawn_table(chance, tied=True))
    found = cz.protect(risk, METHODS["perturb"](), time_limit=20)
    assert found.safe
    assert found.cost == pytest.approx(12.0)
