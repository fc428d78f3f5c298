"""What stands in the way where nothing is safe: irreducible, and with its price."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from benchmarks.instances import instance
from numpy.typing import NDArray
from tests.oracles import suppression_oracle as oracle
from tests.oracles.bare_tables import seeded
from tests.oracles.suppression_cases import KINDS, drawn, put

from celosia import (
    Attacker,
    Combined,
    InfeasibleError,
    Intervals,
    Mixed,
    Pattern,
    Requirement,
    Risk,
    SpecError,
    Suppress,
    audit,
    protect,
)
from celosia.errors import list_items, roughly
from celosia.protection.infeasibility import Conflict, conflict_of, refuse_unreachable_levels
from celosia.protection.method import Method
from celosia.table.fixed import INFINITE, Fixed


def in_the_way(wishes: oracle.Wishes) -> Conflict:
    risk, method = put(wishes)

    def hiding(other: Risk) -> NDArray[np.bool_] | None:
        try:
            found = protect(other, Suppress(width_if_hidden=method.width_if_hidden))
        except InfeasibleError:
            return None
        return np.asarray(found.pattern.status != "shown")

    return conflict_of(method.apply_to(risk), method, hiding, integer=False)


@cache
def conflicts(kind: str, number: int) -> list[oracle.Wishes]:
    """Return cases in which cells that must be shown stand in the way."""
    chance = seeded(f"conflict {kind}")
    found: list[oracle.Wishes] = []
    for _ in range(200):
        case = replace(drawn(chance, kind), at_most=None)
        free = [cell for cell in range(len(case)) if cell not in case.forced]
        case = replace(case, shown=frozenset(chance.sample(free, len(free) * 3 // 4)))
        if oracle.cheapest(case) is None and oracle.cheapest(replace(case, shown=frozenset())) is not None:
            found.append(case)
        if len(found) == number:
            break
    return found


@pytest.mark.parametrize("number", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", KINDS)
def test_freeing_all_helps_and_freeing_less_does_not(kind: str, number: int) -> None:
    cases = conflicts(kind, number)
    assert len(cases) == number
    for case in cases:
        stand = frozenset(in_the_way(case).shown.tolist())
        assert stand
        assert stand <= case.shown
        assert oracle.cheapest(replace(case, shown=case.shown - stand)) is not None
        for kept in stand:
            less = replace(case, shown=case.shown - stand | {kept})
            assert oracle.cheapest(less) is None


@pytest.mark.parametrize("kind", ["flat", "cube"])
def test_the_message_names_them_and_says_what_freeing_costs(kind: str) -> None:
    for case in conflicts(kind, 2):
        stand = in_the_way(case).shown.tolist()
        opened = replace(case, shown=case.shown - frozenset(stand))
        best = oracle.cheapest(opened)
        assert best is not None
        risk, method = put(case)
        with pytest.raises(InfeasibleError) as caught:
            protect(risk, method)
        (problem,) = caught.value.problems
        assert problem.place == "protection"
        for cell in stand[:8]:
            assert repr(risk.table.label(cell)) in problem.message
        assert f"costs about {roughly(float(opened.price(best)))}." in problem.remedy


def test_levels_that_nothing_can_reach(grid: Risk) -> None:
    levels = replace(grid.levels, lower=replace(grid.levels.lower, counts=grid.levels.lower.counts * 0))
    high = replace(levels, upper=replace(levels.upper, counts=np.where(np.arange(16) == 6, 10**6, 0)))
    lower = np.zeros(16)
    upper = grid.table.amounts.floats * 2
    upper[6] = 10**9
    known = replace(grid.attackers[0], upper=type(grid.levels.upper).of_floats(upper))
    assert lower.sum() == 0
    with pytest.raises(InfeasibleError, match=r"even with everything hidden .*cell 6.* Lower the levels"):
        protect(replace(grid, levels=high, attackers=(known,)))


ROWS = {
    "nothing moves": [[-1, 3, -2], [-2, -1, 1], [1, 3, -1]],
    "others move": [[-1, 3, -2, 0, 0], [-2, -1, 1, 0, 0], [1, 3, -1, 0, 0], [1, 0, 0, 1, -1]],
}


@pytest.mark.parametrize("method", [Suppress(), Intervals(), Combined(), Mixed()], ids=lambda method: method.name)
@pytest.mark.parametrize("which", ROWS)
def test_a_cell_that_relations_alone_determine_cannot_be_protected(which: str, method: Method) -> None:
    """It was taken for the last of the cells that move, or ended in an IndexError."""
    rows = ROWS[which]
    truth = [Fraction(value) for value in (4, 2, 3, 5, 6, 11)[: len(rows[0])]]
    one = Fraction(1)
    case = oracle.Wishes(
        rows, truth, cost=[one] * len(truth), attackers=[([None] * len(truth),) * 2], levels={0: (one, one, 0 * one)}
    )
    with pytest.raises(InfeasibleError, match="cell 0"):
        protect(put(case)[0], method)


def test_all_cells_must_be_shown(grid: Risk) -> None:
    others = [cell for cell in range(16) if cell != 6]
    with pytest.raises(InfeasibleError, match=r"while these cells must be shown.* They give away 'cell 6'.*costs"):
        protect(grid, Suppress(must_show=others))


def test_a_forced_width_that_cannot_be_kept(grid: Risk) -> None:
    """A cell that must be hidden, and then keep a width, is in the way like a sensitive one."""
    values = grid.table.amounts.floats
    near, exact = np.where(np.arange(len(grid)) == 0, 50.0, 15.0), type(grid.levels.upper).of_floats
    known = replace(grid.attackers[0], lower=exact(np.maximum(values - near, 0.0)), upper=exact(values + near))
    wide = Suppress(must_hide=[0], width_if_hidden={0: 65.0})
    with pytest.raises(InfeasibleError, match=r"even with everything hidden .*'cell 0'"):
        protect(replace(grid, attackers=(known,)), wide)


def test_a_width_beyond_what_an_attacker_knows_is_refused(grid: Risk) -> None:
    known = replace(grid.attackers[0], upper=type(grid.levels.upper).of_floats(grid.table.amounts.floats + 50))
    with pytest.raises(SpecError, match=r"^width_if_hidden: is more than attackers' bounds leave open"):
        protect(replace(grid, attackers=(known,)), Suppress(must_hide=[0], width_if_hidden={0: 1000.0}))


def test_dozens_of_cells_none_of_which_could_stay_shown() -> None:
    """Audited: with all of them freed everything may be hidden safely, with one of them shown it may not."""
    risk = instance("t50x20")
    shown = np.flatnonzero(~risk.sensitive)
    applied = Suppress(must_show=shown).apply_to(risk)
    found = conflict_of(applied, Suppress(), lambda _: None, integer=False)
    assert found.least
    assert len(found.shown) > 5

    def safe(freed: NDArray[np.int64]) -> bool:
        hidden = risk.sensitive.copy()
        hidden[freed] = True
        return audit(Pattern.hide(risk.table, hidden), risk).safe

    assert safe(found.shown)
    for kept in range(len(found.shown)):
        assert not safe(np.delete(found.shown, kept))


def test_without_time_the_message_does_not_claim_too_much() -> None:
    risk = instance("t20x10")
    method = Suppress(must_show=np.flatnonzero(~risk.sensitive))
    found = conflict_of(method.apply_to(risk), method, lambda _: None, integer=False, seconds=0.0)
    assert not found.least
    assert found.remedy.startswith("Free all of them: perhaps fewer would do")


@pytest.mark.slow
def test_thousands_of_cells_that_must_be_shown() -> None:
    risk = instance("big1", sparse=True)
    sensitive = risk.sensitive
    shown = [cell for cell in range(len(risk)) if not sensitive[cell]]
    with pytest.raises(InfeasibleError, match="must be shown"):
        protect(risk, Suppress(must_show=shown))


def can_be_reached(risk: Risk, wanted: Requirement) -> bool:
    """Return whether an attacker's own bounds leave room for a requirement, one fraction after another."""
    truth = risk.table.amounts.fraction(wanted.cell)
    lower, upper = risk.attackers[wanted.attacker].bounds(wanted.cell)
    down = math.inf if lower is None else truth - lower
    up = math.inf if upper is None else upper - truth
    return down >= wanted.lower and up >= wanted.upper and down + up >= wanted.sliding


@pytest.mark.parametrize("seed", [*range(6), *(pytest.param(one, marks=pytest.mark.slow) for one in range(6, 24))])
def test_levels_beyond_what_an_attacker_knows_are_named_and_no_others(seed: int) -> None:
    risk = instance("t20x10", seed, sliding=seed % 2 == 1)
    rng, truth, decimals = np.random.default_rng(seed), risk.table.amounts.counts, risk.table.decimals
    endless, near = rng.random((2, len(truth))) < 0.3, rng.integers(0, 60 if seed % 3 else 600, (2, len(truth)))
    lower = Fixed(np.where(endless[0], -INFINITE, (truth - near[0]) * 10), decimals + 1)
    upper = Fixed(np.where(endless[1], INFINITE, truth + near[1]), decimals)
    risk = replace(risk, attackers=(*risk.attackers, Attacker("neighbour", lower, upper)))
    beyond = {wanted.cell for wanted in risk.requirements if not can_be_reached(risk, wanted)}
    if not beyond:
        refuse_unreachable_levels(risk)
        return
    with pytest.raises(InfeasibleError) as refused:
        refuse_unreachable_levels(risk)
    named = list_items([f"{risk.table.label(cell)} (attacker 'neighbour')" for cell in sorted(beyond)])
    assert refused.value.problems[0].message == f"lie beyond what attackers know already: {named}."
