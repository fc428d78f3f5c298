"""Mixed releases with rounded and perturbed cells: against one large program, and against trying every release."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from benchmarks.instances import drawn as drawn_risk
from tests.golden.test_intervals import SQUARE
from tests.oracles.bare_tables import seeded
from tests.oracles.mode_oracle import cheapest
from tests.oracles.suppression_cases import KINDS, drawn, put
from tests.unit.protection.conftest import GRID, make_risk

from celosia import Attacker, InfeasibleError, Intervals, Mixed, Pattern, Perturb, Risk, audit, protect
from celosia.attack.system.decomposition import decompose
from celosia.pattern.entries import WITH_VALUE, of_status
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.suppressed import Suppressed
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.problem import problem_of
from celosia.protection.intervals.publish.consistency import adds_up
from celosia.protection.mixed.formulation import HidingPrices, MixedModes, NumberPrices
from celosia.protection.mixed.numbers import Numbers, Roundings, perturbations_of, steps_of
from celosia.protection.perturbation.formulation import PerturbationModel
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")

_MANY = 25
_WIDE = 60.0


def modes_of(name: str, kind: str) -> tuple[Risk, MixedModes, int] | None:
    """Return a table, and ways of publishing it that are drawn for each of its cells."""
    chance = seeded(name)
    risk, _ = put(drawn(chance, kind, wishes=False))
    problem = problem_of(risk, integer=False)
    n = len(problem)
    follows = decompose(problem.system(np.arange(n))).component[problem.requirements.columns] < 0
    if bool(problem.beyond.any() or follows.any()) or not len(problem.requirements):
        return None
    units, step = steps_of(problem, risk, integer=False)

    def some(values: list[float]) -> np.ndarray:
        return np.array([chance.choice(values) for _ in range(n)])

    rounds, moves = (np.flatnonzero(some([0, 1, 1])) for _ in range(2))
    truth = np.asarray(risk.table.amounts.counts, dtype=np.int64)[problem.cells[rounds]] // units
    numbers = Numbers(
        Roundings(rounds, np.full(len(rounds), chance.choice([3, 5, 10])), truth, np.ones_like(truth)),
        perturbations_of(
            PerturbationModel(risk, Perturb(chance.choice([2, 5]), conceal=False), integer=False),
            problem,
            moves,
            chance.randint(0, 99),
        ),
        step,
    )
    prices = HidingPrices(some([1.0, 2.0]), some([1.0, 2.0]), hide=some([4.0, 9.0, np.inf]))
    mixed = MixedModes.of(
        problem, prices, some([0.0, _WIDE * step]), numbers, NumberPrices(some([0.0, 1.0]), some([0.0, 1.0]))
    )
    return risk, mixed, step


def compare(name: str, kind: str, solver: int) -> None:
    made = modes_of(name, kind)
    if made is None:
        return
    risk, mixed, _ = made
    problem = problem_of(risk, integer=False)
    run = Run(Clock(None), 0.0, backends()[solver], 0, integer=False)
    search = ModeSearch(problem, mixed.modes, backends()[0], run, lambda _: None)
    search.suggest(mixed.widest)
    search.solve()
    wanted = cheapest(problem, mixed.modes)
    if np.isnan(wanted):
        return
    assert search.impossible == np.isinf(wanted)
    if search.best is not None:
        assert search.cost == pytest.approx(wanted, rel=3e-5, abs=1e-5)
        assert search.bound <= wanted + 1e-6 * abs(wanted) + 1e-6
        choice = mixed.read(search.best)
        ways = np.zeros(len(problem), dtype=np.int64)
        for columns in (np.flatnonzero(choice.hidden), choice.rounded, choice.perturbed):
            ways[columns] += 1
        assert ways.max(initial=0) <= 1
        assert np.abs(search.best[: 2 * len(problem)][np.tile(ways > 0, 2)]).max(initial=0.0) < 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_the_cheapest_mix_is_that_of_one_large_program(kind: str) -> None:
    compare(f"numbers {kind}", kind, len(kind) % len(backends()))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_cheapest_mix_is_that_of_one_large_program_many_times(kind: str) -> None:
    for number in range(_MANY):
        compare(f"slow numbers {kind} {number}", kind, number % len(backends()))


def tiny(level: int) -> Risk:
    """Return two rows and two columns with totals, of which the first cell is sensitive."""
    rows = [
        [1, 1, -1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 1, -1, 0, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 1, -1],
        [1, 0, 0, 1, 0, 0, -1, 0, 0],
        [0, 1, 0, 0, 1, 0, 0, -1, 0],
        [0, 0, 1, 0, 0, 1, 0, 0, -1],
    ]
    return make_risk(rows, [7, 12, 19, 9, 4, 13, 16, 16, 32], {0: (level, level, 0)}, cost=[1.0] * 9)


HIDES, ROUNDS, BASE = (0, 1, 3), (0, 1, 2, 4, 6), 5


def releases(risk: Risk) -> Iterator[tuple[float, Pattern]]:
    """Yield every release of the tiny table in which some cells are hidden and some rounded, with its cost."""
    table, values = risk.table, risk.table.amounts.counts
    ways = [
        [None, *(["hidden"] if cell in HIDES else []), *((0, 1) if cell in ROUNDS else ())] for cell in range(len(risk))
    ]
    for chosen in itertools.product(*ways):
        hidden = np.array([cell for cell, way in enumerate(chosen) if way == "hidden"], dtype=np.int64)
        cells = np.array([cell for cell, way in enumerate(chosen) if way in (0, 1)], dtype=np.int64)
        if any(chosen[cell] == 1 and values[cell] % BASE == 0 for cell in cells):
            continue
        up = np.array([chosen[cell] for cell in cells], dtype=np.int64)
        rounded = (values[cells] // BASE + up) * BASE
        modes: list[Mode] = [Suppressed(hidden), Rounded(cells, Fixed(rounded), Fixed(np.full(len(cells), BASE)), 0)]
        cost = float(values[hidden].sum() + len(cells) + np.abs(rounded - values[cells]).sum())
        pattern = Pattern.of(table, *modes)
        if adds_up(pattern):
            yield cost, pattern


@pytest.mark.parametrize("level", [1, 3])
def test_no_release_of_a_tiny_table_that_passes_the_audit_is_cheaper(level: int) -> None:
    risk = tiny(level)
    best = next(cost for cost, pattern in sorted(releases(risk), key=lambda one: one[0]) if audit(pattern, risk).safe)
    found = protect(risk, Mixed(may_hide=HIDES, may_range=[], round_base=BASE, may_round=ROUNDS, conceal=False))
    assert found.safe
    assert found.cost == pytest.approx(best)
    assert found.bound == pytest.approx(best, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_add_up_wherever_a_relation_has_nothing_else(kind: str) -> None:
    risk, _ = put(drawn(seeded(f"sums {kind}"), kind, wishes=False))
    try:
        found = protect(risk, Mixed(hide_cost="unity", round_base=3, reach=4, secret=1, conceal=False), time_limit=20)
    except InfeasibleError:
        return
    assert adds_up(found.pattern)
    matrix = risk.table.relations.matrix
    silent = ~of_status(found.pattern.status, WITH_VALUE)
    published = found.pattern.published()
    whole = abs(matrix) @ silent == 0
    right = risk.table.relations.right * 10 ** (published.decimals - risk.table.decimals)
    assert found.safe
    assert audit(found.pattern, risk).safe
    assert not (np.asarray(matrix @ published.counts) - right)[whole].any()


def test_a_mix_with_numbers_is_cheaper_than_every_pure_release_of_the_same_prices() -> None:
    """Ranges, hidden cells, rounded ones and perturbed ones, alone and together (Salazar 2002, Figure 1)."""
    risk = make_risk(SQUARE, GRID, {6: (2, 2, 0)}, cost=[1.0] * 16)
    every = Mixed(round_base=5, reach=4, secret=1, conceal=False)
    ways = ("may_hide", "may_range", "may_round", "may_perturb")
    none: dict[str, Any] = dict.fromkeys(ways, ())
    pure = [protect(risk, replace(every, **{**none, one: None})).cost for one in ways]
    mixed = protect(risk, every)
    assert len(set(mixed.pattern.status)) > 2
    assert mixed.cost < min(pure) * 0.9
    assert mixed.bound == pytest.approx(mixed.cost, rel=1e-4)


def test_ranges_reach_as_far_as_numbers_must_move_for_all_to_add_up() -> None:
    """The first cell is rounded to 5, so the range of the second must contain 15, which attackers know to be false.

    Rounding costs 1 and 2 for the distance, the range from 12 to 15 costs 3; rounding to 10 would cost 8 in all.
    """
    risk = make_risk([[1, 1, -1]], [7, 13, 20], {0: (1, 1, 0)}, cost=[1.0] * 3)
    knowing = Attacker("knows more", Fixed(np.array([6, 10, 20])), Fixed(np.array([8, 16, 20])))
    ways = Mixed(may_hide=[], may_range=[1], round_base=5, may_round=[0], secret=1, conceal=False)
    found = protect(replace(risk, attackers=(knowing,)), ways)
    lower, upper = (side.floats for side in found.pattern.bounds())
    assert found.safe
    assert found.cost == pytest.approx(6)
    assert found.bound == pytest.approx(6, rel=1e-4)
    assert (lower[1], upper[1]) == (12, 15)
    note = "So that published numbers add up, 1 range may be wider than what can be concluded."
    assert found.notes == (note, risk.unasked_note)


def test_a_search_that_ends_early_is_no_dearer_than_ranges_alone() -> None:
    risk = drawn_risk(((3, 3), (4,)), 2, unity=True, sliding=False)
    alone = protect(risk, Intervals("unity", conceal=False))
    ways = Mixed(hide_cost=np.full(len(risk), 1e6), round_base=50, reach=40, secret=1, conceal=False)
    assert protect(risk, ways, gap=0.99).cost <= alone.cost * (1 + 1e-3)
