"""Several attackers: requirements that wait, or that others imply, change neither what is safe nor what is cheapest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.attackers import draw_problem
from hypothesis import strategies as st
from tests.oracles import suppression_oracle as oracle
from tests.oracles.bare_tables import seeded
from tests.oracles.examples import few_and_many, first_few
from tests.oracles.suppression_cases import drawn, drawn_attacker, put

from celosia import InfeasibleError, Protection, Suppress, audit, protect
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import problem_of
from celosia.protection.engine.subproblems.requirements import SideRequirements, drop_implied_sides
from celosia.protection.run import Run
from celosia.protection.suppression.solve import solve
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

LAZY = replace(PARAMETERS, many_subproblems=0)
"""Every network is taken for a large one, so that attackers wait."""


def protected(wishes: oracle.Wishes) -> Protection | None:
    risk, method = put(wishes)
    try:
        return solve(risk, method, Run(Clock(None), 0.0, backends()[0], 0, None), LAZY)
    except InfeasibleError:
        return None


@pytest.mark.parametrize("number", first_few(24, range(300)))
def test_small_tables_with_attackers_who_wait_have_the_optimum_of_the_oracle(number: int) -> None:
    chance = seeded(f"many attackers {number}")
    case = drawn(chance, ("flat", "tree")[number % 2], wishes=False)
    values = [int(value) for value in case.values]
    case = replace(case, attackers=[drawn_attacker(chance, values) for _ in range(chance.randint(2, 6))])
    best, found = oracle.cheapest(case), protected(case)
    assert (best is None) == (found is None)
    if best is None or found is None:
        return
    pattern = frozenset(np.flatnonzero(found.pattern.status != "shown").tolist())
    assert oracle.is_safe(case, pattern)
    assert found.optimal
    assert case.price(pattern) <= case.price(best)


@pytest.mark.parametrize("seed", range(3))
def test_a_search_that_ends_with_its_first_pattern_has_forgotten_nobody(seed: int) -> None:
    risk = draw_problem(14, 0.05, 12, seed)
    problem, backend = problem_of(risk, integer=None), backends()[0]
    search = PatternSearch(problem, backend, backend, Clock(None), parameters=LAZY)
    assert len(search.waiting) > len(search.separator.sides)
    search.run(1.0)
    pattern = search.incumbent.pattern
    assert pattern is not None
    assert len(search.waiting) > 0
    assert not len(Separator.of(problem, backend).find_missed(pattern))


def test_who_waits_and_who_does_not_lead_to_the_same_optimum() -> None:
    risk = draw_problem(12, 0.04, 8)
    run = Run(Clock(None), 0.0, backends()[0], 0, None)
    lazy, eager = solve(risk, Suppress(), run, LAZY), protect(risk)
    assert lazy.optimal
    assert eager.optimal
    assert lazy.cost == eager.cost == lazy.bound
    assert audit(lazy.pattern, risk).safe


@st.composite
def sides_and_bounds(draw: st.DrawFn) -> tuple[SideRequirements, np.ndarray, np.ndarray]:
    """Draw sides of three cells against attackers whose bounds are often comparable, and often equal."""
    k, n = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    row = st.lists(st.integers(0, 2), min_size=n, max_size=n)
    up, down = (np.array([draw(row) for _ in range(k)], dtype=np.int64) for _ in range(2))
    one = st.tuples(st.integers(0, 2), st.integers(0, k - 1), st.booleans(), st.integers(1, 2))
    given = draw(st.lists(one, min_size=1, max_size=12, unique_by=lambda side: side[:3]))
    columns, attackers, upward, levels = (np.array(part) for part in zip(*given, strict=True))
    flat = np.zeros(len(given), dtype=bool)
    return SideRequirements(np.arange(len(given)), columns, attackers, upward, levels.astype(float), flat), up, down


@few_and_many(60, 2000, sides_and_bounds())
def test_what_is_dropped_is_implied_by_what_is_kept_and_nothing_that_is_kept_by_another(
    drawn_sides: tuple[SideRequirements, np.ndarray, np.ndarray],
) -> None:
    sides, up, down = drawn_sides
    kept = set(drop_implied_sides(sides, up, down).requirements.tolist())

    def implies(first: int, second: int) -> bool:
        a, b = sides.attackers[first], sides.attackers[second]
        same = sides.columns[first] == sides.columns[second] and sides.upward[first] == sides.upward[second]
        within = (up[a] <= up[b]).all() and (down[a] <= down[b]).all()
        return bool(same and a != b and within and sides.levels[first] >= sides.levels[second])

    for side in range(len(sides)):
        assert (side in kept) != any(implies(other, side) for other in kept)
