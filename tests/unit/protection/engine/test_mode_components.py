"""Tables that nothing connects are searched apart by every method, and cost what they do alone."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.oracles.bare_tables import FLAT_2, lattice
from tests.unit.protection.conftest import MakeRisk

from celosia import Combined, Intervals, Mixed, Perturb, Protection, Risk, Round, protect
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.modes.components import split_components
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.offers import offer_ranges
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.problem import ProtectionProblem, problem_of
from celosia.protection.method import Method
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")

SQUARE = lattice([FLAT_2, FLAT_2])
CELLS, OTHER = [60, 28, 32, 30, 20, 10, 30, 8, 22], [38, 15, 23, 16, 7, 9, 22, 8, 14]
FIRST, SECOND = {8: (3, 3, 0)}, {4: (0, 0, 4), 8: (2, 2, 0)}

METHODS = [
    Intervals(secret=1),
    Combined(secret=1),
    Round(10),
    Perturb(8, side="up", secret=3),
    Mixed(round_base=5, secret=1),
]


def join(make: MakeRisk) -> Risk:
    """Return two tables side by side."""
    none = [0] * len(CELLS)
    rows = [*([*row, *none] for row in SQUARE), *([*none, *row] for row in SQUARE)]
    levels = {**FIRST, **{len(CELLS) + cell: own for cell, own in SECOND.items()}}
    return make(rows, [*CELLS, *OTHER], levels, cost=[1.0] * 2 * len(CELLS))


def say(found: Protection) -> tuple[object, ...]:
    """Return what must not depend on who does the work."""
    lower, upper = found.pattern.bounds()
    return found.cost, found.bound, found.pattern.status.tolist(), lower.counts.tolist(), upper.counts.tolist()


def offer_up_to(problem: ProtectionProblem, most: NDArray[np.float64]) -> Modes:
    """Return ranges of all columns that reach no further up and down."""
    one = np.ones(len(problem))
    return Modes.of(problem, [offer_ranges(np.arange(len(problem)), (one, one), (most, most))], 1.0)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_components_cost_what_they_do_alone_with_any_number_of_workers(make: MakeRisk, method: Method) -> None:
    risk = join(make)
    together = protect(risk, method, integer=False)
    assert together.safe
    alone = [
        protect(make(SQUARE, values, levels, cost=[1.0] * len(values)), method, integer=False)
        for values, levels in ((CELLS, FIRST), (OTHER, SECOND))
    ]
    assert together.bound <= sum(part.cost for part in alone) + 1e-6
    assert sum(part.bound for part in alone) <= together.cost + 1e-6
    with ThreadPoolExecutor(2) as executor:
        assert say(protect(risk, method, integer=False, executor=executor)) == say(together)


def test_processes_find_the_same(make: MakeRisk) -> None:
    risk = join(make)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as executor:
        assert say(protect(risk, METHODS[0], executor=executor)) == say(protect(risk, METHODS[0]))


@pytest.mark.parametrize("workers", [0, 1])
def test_where_one_component_is_impossible_all_is(make: MakeRisk, workers: int) -> None:
    problem = problem_of(join(make), integer=False)
    modes = offer_up_to(problem, np.where(np.arange(len(problem)) < len(CELLS), 9.0, 1.0))
    executor = ThreadPoolExecutor(workers) if workers else None
    run = Run(Clock(None), 0.0, backends()[0], 0, integer=False, executor=executor)
    search = ModeSearch(problem, modes, backends()[0], run, lambda _: None)
    search.solve()
    assert (search.impossible, search.best) == (True, None)


def test_a_component_has_the_cuts_that_are_about_it_alone(make: MakeRisk) -> None:
    problem = problem_of(join(make), integer=False)
    n = len(problem)
    modes = offer_up_to(problem, np.ones(n))
    first, second = split_components(problem, modes)
    assert sorted([*first.variables.tolist(), *second.variables.tolist()]) == list(range(2 * n))
    inside, across = Cut(second.variables[[0, 2]], np.ones(2)), Cut(np.array([0, 2 * n - 1]), np.ones(2))
    (own,) = second.restrict_cuts([inside, across])
    assert (own.columns.tolist(), first.restrict_cuts([inside, across])) == ([0, 2], [])
    assert second.spread_cuts([own])[0].key == inside.key
    assert (first.modes.cost(np.ones(n)), len(second.problem.requirements)) == (n, 2)
