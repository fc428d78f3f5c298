"""Attackers' programs that stay open: standing still is always a move, so no program is without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.oracles.bare_tables import lattice

from celosia import Perturb, SolverError, protect
from celosia.solve.highs.backend import HighsModel
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
