"""Programs of respondents in units that suit a solver, and answers that are nearly right made exact."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import scipy.sparse as sp
from tests.oracles.large_respondent_cases import large_case_of

from celosia import Pattern, PPercent, SolverError, Table, audit_respondents, tabulate, worst_aggregation
from celosia.attack.respondents.programs.refinement import refine_moves
from celosia.attack.respondents.programs.scaled_model import ScaledModel, choose_unit
from celosia.attack.respondents.programs.sparing import SparingModel
from celosia.attack.system.exact import find_exact_moves
from celosia.risk.respondents.knowledge import respondents_of
from celosia.solve.backend import Model
from celosia.solve.registry import backends
from celosia.tolerance import ENDLESS, SCALED_LEVEL

HUGE = 10**16
ADDS_UP = sp.csr_array(np.array([[1, 1, -1, 0], [0, 0, 1, -1]], dtype=np.int64))


def counts(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(numbers, dtype=np.int64)


@pytest.mark.parametrize("level", [1, 64, 65, 10**9, 10**17])
def test_a_unit_is_a_power_of_two_in_which_a_level_is_about_one_and_small_levels_keep_theirs(level: int) -> None:
    unit = choose_unit(level)
    assert np.log2(unit) == int(np.log2(unit)) >= 0
    assert level / unit < 2 * SCALED_LEVEL
    assert unit == 1 or level / unit >= SCALED_LEVEL


def test_bounds_of_1e16_counts_are_no_trouble_for_a_solver() -> None:
    model = ScaledModel(ADDS_UP, backends()[0])
    unit = choose_unit(HUGE)
    wide = counts(HUGE + 1, 7, ENDLESS, ENDLESS)
    x = model.solve(np.where(wide == HUGE + 1, HUGE, -wide), wide, unit, "dual")
    assert x is not None
    found = find_exact_moves(x * unit, ADDS_UP, wide, -np.where(wide == HUGE + 1, HUGE, -wide))
    assert found is not None


class Silent:
    """A model whose solver gives an answer to one method only."""

    def __init__(self, model: Model, method: str) -> None:
        self._model, self._method = model, method
        self.asked: list[str] = []

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def solve(self, *, method: str, duals: bool) -> object:
        self.asked.append(method)
        if method != self._method:
            raise SolverError.one("solver", "ended without an answer.")
        return self._model.solve(method=method, duals=duals)  # type: ignore[arg-type]


@pytest.mark.parametrize(("answers", "asked"), [("afresh", 3), ("dual", 1), ("none", 3)])
def test_where_a_method_has_no_answer_the_others_are_asked_and_nothing_is_raised(answers: str, asked: int) -> None:
    model = ScaledModel(ADDS_UP, backends()[0])
    silent = Silent(model._model, answers)
    model._model = silent  # type: ignore[assignment]
    wide = counts(5, 5, 5, 5)
    x = model.solve(np.array([3, -5, -5, -5]), wide, 1.0, "dual")
    assert (x is None) is (answers == "none")
    assert len(silent.asked) == asked


def test_moves_that_miss_by_a_millionth_are_refined_to_exact_ones() -> None:
    up, down = counts(HUGE, 10, ENDLESS, HUGE + 3), counts(-HUGE, 10, ENDLESS, ENDLESS)
    x = np.array([HUGE, -1e10, HUGE, HUGE * (1 + 1e-6)])
    assert find_exact_moves(x, ADDS_UP, up, down) is None
    found = refine_moves(x, ADDS_UP, -down, up, np.zeros(4), backends()[0])
    assert found is not None
    moves, denominator = found
    assert denominator == 1
    assert moves[0] == HUGE
    assert not (ADDS_UP @ moves).any()


def test_refined_moves_go_as_far_as_their_costs_let_them() -> None:
    up, down = counts(HUGE, 10, ENDLESS, HUGE + 3), counts(0, 10, ENDLESS, 0)
    cost = np.array([0.0, 0.0, 0.0, -1.0])
    found = refine_moves(np.array([HUGE, 0, HUGE, HUGE + 1e9]), ADDS_UP, -down, up, cost, backends()[0])
    assert found is not None
    assert found[0][3] == HUGE + 3


def test_what_is_impossible_by_one_count_is_not_refined() -> None:
    up, down = counts(HUGE, 0, ENDLESS, HUGE - 1), counts(-HUGE, 0, ENDLESS, 0)
    assert refine_moves(np.array([HUGE, 0, HUGE, HUGE]), ADDS_UP, -down, up, np.zeros(4), backends()[0]) is None
    assert refine_moves(np.full(4, np.inf), ADDS_UP, -down, up, np.zeros(4), backends()[0]) is None


def cube(scale: float) -> Table:
    rng = np.random.default_rng(5)
    lines: list[tuple[object, ...]] = []
    for leaf in np.ndindex(2, 3, 2):
        for _ in range(int(rng.integers(1, 4))):
            lines.append((*map(str, leaf), round(float(rng.lognormal(0, 1.5)) * scale, 2), f"f{len(lines) // 2}"))
    frame = pl.DataFrame(lines, schema=["a", "b", "c", "v", "firm"], orient="row")
    return tabulate(frame, by=["a", "b", "c"], value="v", respondent="firm", contributions=True)


def test_where_no_solver_has_an_answer_nobody_is_called_safe_by_a_program(monkeypatch: pytest.MonkeyPatch) -> None:
    table = cube(1e7)
    pattern = Pattern.hide(table, respondents_of(table).leaves)
    rules = (PPercent(10), PPercent(5, coalition=2))
    before = {
        (part.rule, one.target) for part in audit_respondents(pattern, table, rule=rules).parts for one in part.open
    }
    monkeypatch.setattr(ScaledModel, "solve", lambda *_: None)
    monkeypatch.setattr(SparingModel, "table", lambda *_: None)
    found = audit_respondents(pattern, table, rule=rules)
    assert before <= {(part.rule, one.target) for part in found.parts for one in part.open}
    assert not found.safe


def test_an_aggregation_about_a_unit_and_1e15_units_of_one_respondent_has_a_program() -> None:
    """Solvers take no entries beyond 1e15, nor below 1e-9."""
    case = large_case_of(4)
    pattern = Pattern.hide(case.table, np.flatnonzero(case.pattern.status != "shown"))
    rule = case.rules[0]
    assert isinstance(rule, PPercent)
    assert not audit_respondents(pattern, case.table, rule=rule).safe
    assert worst_aggregation(pattern, case.table, rule=rule) is not None


@pytest.mark.parametrize("seed", [223, 288])
def test_solvers_print_no_bounds_of_columns_that_are_merged(seed: int, capfd: pytest.CaptureFixture[str]) -> None:
    """HiGHS 1.15 has a line for them that no option silences: in front of what `--json` prints, and with figures."""
    case = large_case_of(seed)
    audit_respondents(case.pattern, case.table, rule=case.rules)
    assert capfd.readouterr() == ("", "")
