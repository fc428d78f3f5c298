"""Any mix of modes against one program with a copy of the table for every question (Salazar 2002, Figure 6)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracles.bare_tables import seeded
from tests.oracles.examples import first_few
from tests.oracles.mode_oracle import cheapest
from tests.oracles.suppression_cases import KINDS, drawn, put

from celosia.protection.engine.modes import offers
from celosia.protection.engine.modes.modes import Modes, Offer
from celosia.protection.engine.modes.offer_changes import price_ranges
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import Extend, Extension, ProtectionProblem, problem_of
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.tolerance import LEVEL_REACHED

_FAR = 50.0
_ROUNDS, _MANY = 1, 40

MIXES = ("ranged", "opened", "hidden", "mixed", "rounded", "perturbed", "ranged and hidden")


def offered(chance: random.Random, problem: ProtectionProblem, mix: str, unit: float) -> list[Offer]:
    """Return offers of one mix for the columns of a problem."""
    n = len(problem)
    costs = np.array([chance.choice([0.5, 1.0, 1.0, 2.0, 3.0]) for _ in range(2 * n)])
    fixed = np.array([chance.choice([0.0, 1.0, 5.0]) for _ in range(n)])
    kind = np.array([chance.choice([0, 1, 2]) for _ in range(n)])
    base = np.full(n, float(chance.choice([2, 3, 5])) * 1000 / unit)
    remainder = np.array([float(chance.randint(0, 2)) for _ in range(n)]) % (base * unit / 1000) * 1000 / unit
    extra = chance.choice([0, 1])
    reach = np.array([chance.choice([1.0, 3.0, 8.0]) for _ in range(n)])

    def one(word: str, at: NDArray[np.int64]) -> Offer:
        wide, far, nobody = (costs[at], costs[n + at]), np.full(len(at), _FAR), np.zeros(len(at), dtype=bool)
        none = np.zeros(len(at))
        return {
            "ranged": lambda: offers.offer_ranges(at, wide, (far, far)),
            "opened": lambda: price_ranges(offers.offer_ranges(at, wide, (far, far)), fixed[at], nobody),
            "hidden": lambda: offers.offer_hiding(at, costs[at] * 5, nobody),
            "rounded": lambda: offers.offer_rounding(at, costs[at], remainder[at], base[at], 1000 / unit, extra=extra),
            "perturbed": lambda: offers.offer_perturbation(
                at, wide, reach[at], (reach[at], reach[at]), (none, none), integer=False
            ),
        }[word]()

    if mix == "mixed":
        words = enumerate(("ranged", "hidden", "opened"))
        return [one(word, np.flatnonzero(kind == which)) for which, word in words]
    return [one(word, np.arange(n)) for word in mix.split(" and ")]


def told_later(problem: ProtectionProblem, modes: Modes) -> tuple[ProtectionProblem, Extend]:
    """Return a problem with one requirement only, and somebody who tells of another one where a point misses it."""
    every, known = np.arange(len(problem)), [0]

    def grow(v: NDArray[np.float64]) -> Extension | None:
        separator = CapacitySeparator(problem, modes, backends()[0])
        missed = np.setdiff1d(separator.sides.requirements[separator.separate(v).reached < 1 - LEVEL_REACHED], known)
        known.extend(missed[:1].tolist())
        return Extension(problem.part(every, np.sort(known)), necessary=True) if len(missed) else None

    return problem.part(every, np.array(known)), grow


def compare(name: str, kind: str, mix: str, solver: int, *, later: bool = False) -> None:
    chance = seeded(name)
    risk, _ = put(drawn(chance, kind, wishes=False))
    problem = problem_of(risk, integer=False)
    problem = problem.part(np.arange(len(problem)), np.flatnonzero(~problem.beyond))
    if not len(problem.requirements):
        return
    levels = np.maximum(problem.requirements.sliding, np.maximum(problem.requirements.up, problem.requirements.down))
    unit = float(np.median(levels))
    modes = Modes.of(problem, offered(chance, problem, mix, unit), unit)
    run = Run(Clock(None), 0.0, backends()[solver], 0, integer=False)
    first, grow = told_later(problem, modes) if later else (problem, None)
    search = ModeSearch(first, modes, backends()[0], run, lambda _: None, grow)
    search.solve()
    wanted = cheapest(problem, modes)
    if np.isnan(wanted):
        return
    assert search.impossible == np.isinf(wanted)
    if search.best is not None:
        assert search.cost == pytest.approx(wanted, rel=3e-5, abs=1e-5)
        assert search.bound <= wanted + 1e-6 * abs(wanted) + 1e-6
        assert CapacitySeparator(problem, modes, backends()[0]).separate(search.best).least >= 1 - 1e-6


@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_search_finds_what_one_large_program_finds(kind: str, mix: str) -> None:
    for number in range(_ROUNDS):
        compare(f"{kind} {mix} {number}", kind, mix, len(mix + kind) % len(backends()))


@pytest.mark.parametrize("half", first_few(1, [0, 1]), ids=["one half", "other half"])
@pytest.mark.parametrize("mix", MIXES)
def test_a_search_that_is_told_of_goals_one_by_one_finds_the_same(mix: str, half: int) -> None:
    """Of every mix some kinds, and of every kind some mixes, are tried whenever tests run."""
    for number, kind in list(enumerate(KINDS))[(list(MIXES).index(mix) + half) % 2 :: 2]:
        compare(f"{kind} {mix} {number}", kind, mix, number % len(backends()), later=True)


@pytest.mark.slow
@pytest.mark.parametrize("mix", MIXES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_search_finds_it_many_times(kind: str, mix: str) -> None:
    for number in range(_MANY):
        compare(f"slow {kind} {mix} {number}", kind, mix, number % len(backends()))
