"""Attackers who wait: the hardest come first, then those that are missed by most; and many attackers as one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.attackers import draw_problem

from celosia.protection.engine.cuts.separation import Separator, ViolatedCuts
from celosia.protection.engine.heuristics.cheapest_paths import construct_by_paths
from celosia.protection.engine.parameters import PARAMETERS
from celosia.protection.engine.patterns.coalition import unite_attackers
from celosia.protection.engine.patterns.waiting import find_hardest, has_alternatives
from celosia.protection.engine.problem import problem_of
from celosia.protection.engine.subproblems.requirements import SideRequirements, choose_worst
from celosia.solve.registry import backends


def separator(attackers: int = 5, seed: int = 0) -> Separator:
    return Separator.of(problem_of(draw_problem(12, 0.04, attackers, seed), integer=None), backends()[0])


def sides(*given: tuple[int, int, bool]) -> SideRequirements:
    """Return sides of level 1 by column, attacker and whether it slides, up; sliding ones have both."""
    each = [(*side, upward) for side in given for upward in ((True, False) if side[2] else (True,))]
    columns, attackers, sliding, upward = (np.array(part) for part in zip(*each, strict=True))
    return SideRequirements(np.arange(len(each)), columns, attackers, upward, np.ones(len(each)), sliding)


def test_those_that_are_missed_by_most_are_called_and_those_that_are_met_are_not() -> None:
    asked = sides((0, 0, False), (0, 1, False), (0, 2, False), (1, 0, False), (2, 0, False))
    called = choose_worst(asked, np.array([0.1, 0.5, 0.2, 0.3, -0.2]), 1)
    assert called.tolist() == [False, True, False, True, False]
    assert choose_worst(asked, np.array([0.1, 0.5, 0.2, 0.3, -0.2]), 2)[:3].tolist() == [False, True, True]


def test_both_sides_of_a_sliding_level_are_called_together() -> None:
    asked = sides((0, 0, True), (0, 1, True))
    assert choose_worst(asked, np.array([0.1, 0.1, 0.4, 0.4]), 1).tolist() == [False, False, True, True]
    assert choose_worst(asked, np.full(4, 0.4), 1).tolist() == [True, True, False, False]


def test_one_attacker_has_no_alternatives() -> None:
    assert not has_alternatives(separator(1).sides)
    assert has_alternatives(separator(2).sides)


def test_every_side_of_a_cell_has_its_hardest_attacker() -> None:
    everyone = separator()
    hardest = everyone.sides.take(find_hardest(everyone, 1))
    keys = {(int(column), bool(up)) for column, up in zip(hardest.columns, hardest.upward, strict=True)}
    assert len(keys) == len(hardest) == len(everyone.sides) // 5
    narrow = replace(everyone.problem, up=everyone.problem.up.copy(), down=everyone.problem.down.copy())
    narrow.up[3] //= 1000
    narrow.down[3] //= 1000
    again = Separator.of(narrow, everyone.backend)
    assert set(again.sides.take(find_hardest(again, 1)).attackers.tolist()) == {3}


@pytest.mark.parametrize("seed", range(4))
def test_cheapest_paths_meet_all_requirements_and_what_is_safe_against_all_together_is_safe_against_each(
    seed: int,
) -> None:
    everyone = separator(seed=seed)
    problem = everyone.problem
    one = Separator.of(unite_attackers(problem, everyone.sides), everyone.backend)
    assert one.problem.n_attackers == 1
    for who in (one, everyone):
        found = construct_by_paths(who, who.sides, problem.forced, np.ones(len(problem), dtype=bool), problem.cost)
        assert found is not None
        assert not len(who.find_missed(found))
        assert not len(everyone.find_missed(found))
        assert found.sum() < len(problem) / 2


def test_without_cells_to_lead_through_there_is_no_path() -> None:
    everyone = separator()
    forced = everyone.problem.forced
    assert construct_by_paths(everyone, everyone.sides, forced, forced, everyone.problem.cost) is None
    none = everyone.sides.take(np.zeros(0, dtype=np.int64))
    assert construct_by_paths(everyone, none, forced, forced, everyone.problem.cost) is forced


@pytest.mark.parametrize("integer", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_cuts_from_those_who_miss_most_are_some_of_all_and_there_are_none_only_where_all_are_met(
    seed: int, *, integer: bool
) -> None:
    everyone = separator(seed=seed)
    sparing, chance = replace(everyone, sparing=True), np.random.default_rng(seed)
    forced, n_missed = everyone.problem.forced, 0
    for share in np.linspace(0.0, 1.0, 9):
        hidden = chance.random(len(forced)) < share
        x = np.where(forced, 1.0, hidden if integer else hidden * chance.random(len(forced)))
        worst, every = (one.separate(x, integer=integer) for one in (sparing, everyone))
        assert bool(worst.cuts) == bool(every.cuts)
        assert {cut.key for cut in worst.cuts} <= {cut.key for cut in every.cuts}
        assert all(cut.violation(x) > 0 for cut in worst.cuts)
        assert set(worst.missed.tolist()) <= set(every.missed.tolist())
        assert bool(len(worst.missed)) == bool(len(every.missed))
        n_missed += bool(every.cuts)
    assert 0 < n_missed < 9


def test_where_those_who_miss_most_bring_no_cut_the_others_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    everyone = separator()
    x = everyone.problem.forced.astype(float)
    worst = replace(everyone, sparing=True).separate(x)
    asked: list[int] = []
    solve = Separator._separate_by_networks

    def separate_second(one: Separator, x: np.ndarray, sides: SideRequirements, *, integer: bool) -> ViolatedCuts:
        asked.append(len(sides))
        found = solve(one, x, sides, integer=integer)
        return replace(found, cuts=[]) if len(asked) == 1 else found

    monkeypatch.setattr(Separator, "_separate_by_networks", separate_second)
    second = replace(everyone, sparing=True).separate(x)
    assert second.cuts
    assert sum(asked) == int((everyone.measure_shortfall(x) > 0).sum())
    assert set(worst.missed.tolist()) < set(second.missed.tolist())


@pytest.mark.parametrize("name", ["first_attackers", "more_attackers"])
def test_at_least_one_attacker_is_asked(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be 1 or more"):
        replace(PARAMETERS, **{name: 0})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(4))
def test_many_attackers_who_are_asked_as_one_first_reach_what_each_of_them_reaches_alone(seed: int) -> None:
    everyone, chance = separator(6, seed), np.random.default_rng(seed)
    subproblems, asked, met = everyone.subproblems, everyone.sides, 0
    asked = replace(asked, levels=asked.levels * chance.choice([0.5, 1.0, 2.0], len(asked)))
    for share in (0.1, 0.4, 0.8):
        hidden = chance.random(len(everyone.problem)) < share
        x = np.where(everyone.problem.forced, 1.0, hidden * chance.choice([0.3, 1.0], len(hidden)))
        together = subproblems.measure(x, asked)
        alone = [subproblems.measure(x, asked.take(np.array([place])))[0] for place in range(len(asked))]
        np.testing.assert_allclose(together, alone, atol=1e-8)
        met += int((together >= 1 - 1e-8).sum())
    assert 0 < met < 3 * len(asked)
