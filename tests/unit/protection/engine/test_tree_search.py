"""Integer masters: cut inside one tree, and where a solver fails there, one after another."""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

import numpy as np
import pytest
from tests.unit.protection.engine.test_oracle import drawn

from celosia import SolverError
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.offers import offer_hiding
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import problem_of
from celosia.protection.engine.tree.search import TreeSearch
from celosia.protection.run import Run
from celosia.solve.backend import Backend, Capability
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

LAZY = [backend for backend in backends() if Capability.LAZY in backend.capabilities]
AT_ONCE = replace(PARAMETERS, most_rounds=0, round_points=False)
"""A tree with lazy cuts from the start, and no patterns but its own."""

pytestmark = pytest.mark.skipif(not LAZY, reason="no solver has lazy cuts")


def search_patterns(seed: int, tree: Backend) -> PatternSearch:
    problem = problem_of(drawn(seed, cube=True), integer=False)
    search = PatternSearch(problem, backends()[0], tree, Clock(None), parameters=AT_ONCE)
    search.run(0.0)
    return search


def search_modes(seed: int, tree: Backend) -> ModeSearch:
    """Return a search over cells to hide as modes, whose cost is that of patterns."""
    problem = problem_of(drawn(seed, cube=True), integer=False)
    modes = Modes.of(problem, [offer_hiding(np.arange(len(problem)), problem.cost, problem.forced)], 1.0)
    search = ModeSearch(problem, modes, backends()[0], Run(Clock(None), 0.0, tree, 0, integer=False), lambda _: None)
    search.solve()
    return search


@pytest.mark.parametrize("seed", [3, 5])
def test_a_solver_that_fails_inside_its_tree_solves_masters_one_after_another(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed: list[int] = []

    def fail(*_: object, **__: object) -> NoReturn:
        failed.append(1)
        raise SolverError.one("tree", "takes a cut for satisfied.", "Cut outside.")

    (tree, *_), known = LAZY, search_patterns(seed, backends()[0])
    monkeypatch.setattr(type(tree.open(known.relaxation.master.base)), "solve_lazily", fail)
    found, same = search_patterns(seed, tree), search_modes(seed, tree)
    assert 1 <= len(failed) <= 2  # once a search
    assert found.incumbent.done
    assert found.cost == known.cost
    assert same.cost == pytest.approx(known.cost, rel=1e-5)


def test_other_errors_of_solvers_are_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> NoReturn:
        raise SolverError.one("tree", "does not answer.", "Ask another.")

    monkeypatch.setattr(TreeSearch, "_solve", fail)
    with pytest.raises(SolverError, match="does not answer"):
        search_patterns(0, backends()[0])
