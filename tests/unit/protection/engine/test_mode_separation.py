"""Attackers' programs that stay open: standing still is always a move, so no program is without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from benchmarks.instances import drawn
from tests.oracles.bare_tables import lattice

from celosia import Perturb, SolverError, protect
from celosia.protection.engine.modes.lp import AttackerPrograms
from celosia.protection.engine.modes.parameters import ModeSeparationParameters
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.formulation import Prices, formulate_by_ends
from celosia.solve.highs.backend import HighsModel
from celosia.solve.registry import backends
from celosia.solve.solution import Solution

if TYPE_CHECKING:
    from tests.unit.protection.conftest import MakeRisk

CUBE = lattice([{0: [1, 2]}] * 3)
VALUES = [80, 40, 40, 40, 20, 20, 40, 20, 20, 40, 20, 20, 20, 10, 10, 20, 10, 10, *[40, 20, 20, 20, 10, 10, 20, 10, 10]]


def confused(monkeypatch: pytest.MonkeyPatch, *methods: str) -> list[str]:
    """Let HiGHS find no move wherever it is asked by one of these methods; return which were asked for."""
    asked, solve = list[str](), HighsModel.solve

    def stand_in(self: HighsModel, **options: Any) -> Solution:  # noqa: ANN401
        asked.append(options.get("method", "auto"))
        return Solution.infeasible(0.0) if asked[-1] in methods else solve(self, **options)

    monkeypatch.setattr(HighsModel, "solve", stand_in)
    return asked


def test_a_program_without_a_move_is_solved_afresh(make: MakeRisk, monkeypatch: pytest.MonkeyPatch) -> None:
    risk = make(CUBE, VALUES, {13: (3, 3, 0)})
    asked = confused(monkeypatch, "primal")
    assert protect(risk, Perturb(9, secret=1)).safe
    assert "primal" in asked
    assert asked[asked.index("primal") + 1] == "afresh"


def test_one_that_has_none_even_then_is_the_fault_of_the_solver(
    make: MakeRisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    risk = make(CUBE, VALUES, {13: (3, 3, 0)})
    confused(monkeypatch, "primal", "afresh")
    with pytest.raises(SolverError, match="attack"):
        protect(risk, Perturb(9, secret=1))


def test_programs_that_reached_their_level_wait_for_those_that_missed_it(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of(drawn(((4,), (4,), (3,)), 1), integer=None)
    n = len(problem)
    modes = formulate_by_ends(problem, Prices(np.ones(n), np.ones(n)), np.full(n, np.inf))
    parameters = ModeSeparationParameters(least_program_cuts=1, subproblems_per_cut=1)
    separator = CapacitySeparator(problem, modes, backends()[0], parameters)
    monkeypatch.setattr(separator, "_partial_networks", [])  # all cuts are those of programs
    asked, solve = list[int](), AttackerPrograms.solve

    def stand_in(self: AttackerPrograms, slacks: Any, k: int) -> Any:  # noqa: ANN401
        asked.append(k)
        return solve(self, slacks, k)

    target = int(separator.sides.columns[0])
    wide = np.full(len(modes.program.cost), 1e3)
    wide[[target, target + n]] = 0.0
    missed = np.flatnonzero(separator.separate(wide).reached < 1.0)
    assert 0 < len(missed) < len(separator.sides)

    monkeypatch.setattr(AttackerPrograms, "solve", stand_in)
    monkeypatch.setattr(AttackerPrograms, "recall", lambda *_: None)
    found = separator.separate(wide, effort="enough")
    assert set(asked) == set(missed.tolist())
    assert found.cuts
    assert not found.complete
    assert separator.separate(wide).complete
