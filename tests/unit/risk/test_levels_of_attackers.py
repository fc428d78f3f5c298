"""Attackers with levels of their own (Salazar 2002, section 2: levels with an index k), and what is one's own."""

from __future__ import annotations

import random
import warnings
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog

import celosia as cz
from celosia import Attacker, MinFrequency, SpecError, Table, assess, audit, protect

FIRMS = pl.DataFrame(
    [
        *(("1", "x", "a", 100), ("1", "y", "b", 50), ("1", "y", "c", 60), ("2", "x", "d", 70), ("2", "x", "e", 80)),
        *(("2", "y", "f", 90), ("3", "x", "g", 40), ("3", "x", "h", 45), ("3", "y", "i", 30), ("3", "y", "j", 35)),
    ],
    schema=["r", "c", "firm", "v"],
    orient="row",
)
METHODS = (
    *(cz.Suppress(), cz.Intervals(secret=1), cz.Combined(secret=1), cz.Mixed(secret=1)),
    *(cz.Perturb(reach=60, secret=1), cz.Round(100)),
)


@pytest.fixture(scope="module")
def table() -> Table:
    return cz.tabulate(FIRMS, by=["r", "c"], value="v", respondent="firm", contributions=True)


def asked(risk: cz.Risk) -> list[tuple[int, int, float, float, float]]:
    return [
        (one.cell, one.attacker, float(one.lower), float(one.upper), float(one.sliding)) for one in risk.requirements
    ]


def test_singletons_of_two_sensitive_cells_are_kept_from_each_other_and_not_from_themselves(table: Table) -> None:
    mine, yours = table.find(r="1", c="x"), table.find(r="2", c="y")
    attackers = [Attacker.singleton(table, mine), Attacker.singleton(table, yours)]
    risk = assess(table, MinFrequency(2), attackers=attackers)
    assert {(cell, attacker) for cell, attacker, *_ in asked(risk)} == {(yours, 0), (mine, 1)}
    found = protect(risk)
    assert found.safe
    said = "Attacker 'singleton of 1 x x' is not kept from 1 sensitive cell of his own."
    assert said in found.notes
    assert said in audit(found).notes
    told = {(one.cell, one.attacker): one.upper or 10**9 for one in audit(found, intervals=True).intervals}
    assert told[yours, 0] - 90 >= 18  # 20 percent, as MinFrequency says
    assert told[mine, 1] - 100 >= 20


def test_an_outsider_who_knows_a_sensitive_cell_is_still_refused(table: Table) -> None:
    """What somebody knows who has not contributed it cannot be protected from him, and that is said."""
    mine = table.find(r="1", c="x")
    knows = Attacker.external(table).with_knowledge(table, {mine: 100})
    with pytest.raises(cz.InfeasibleError):
        protect(assess(table, MinFrequency(2), attackers=[knows]))


def test_own_levels_stand_in_the_place_of_those_of_the_rules(table: Table) -> None:
    mine, other = table.find(r="1", c="x"), table.find(r="3", c="y")
    close = Attacker.external(table, "close").with_levels(table, {mine: 1, other: (2, 3, 8)})
    risk = assess(table, MinFrequency(2), attackers=[Attacker.external(table), close])
    assert risk.sensitive[[mine, other]].all()
    assert risk.reason(other) == ("levels of attacker 'close'",)
    wanted = {(mine, 0): 20.0, (table.find(r="2", c="y"), 0): 18.0, (mine, 1): 1.0, (other, 1): 3.0}
    assert {(cell, who): upper for cell, who, _, upper, _ in asked(risk)} == wanted
    assert float(risk.largest_levels.sliding.fraction(other)) == 8.0


def test_levels_of_attackers_are_enough_without_rules(table: Table) -> None:
    mine = table.find(r="1", c="x")
    risk = assess(table, attackers=[Attacker.external(table, "he").with_levels(table, {mine: ("5", "7.5")})])
    assert asked(risk) == [(mine, 0, 5.0, 7.5, 0.0)]
    for method in METHODS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", cz.MidpointWarning)
            found = protect(risk, method)
        ends = next(one for one in audit(found, intervals=True).intervals if one.cell == mine)
        assert (ends.lower or 0) <= 95, method.name
        assert (ends.upper or 10**9) >= 107.5, method.name


def test_an_audit_by_other_attackers_asks_for_all_that_their_levels_name(table: Table) -> None:
    found = protect(assess(table, MinFrequency(2), attackers=[Attacker.external(table)]))
    shown = int(np.flatnonzero(found.pattern.status == "shown")[0])
    he = Attacker.external(table, "he").with_levels(table, {shown: 1})
    assert not audit(found, attackers=[he]).safe


def test_widths_are_asked_of_attackers_with_own_levels_too(table: Table) -> None:
    mine = table.find(r="1", c="x")
    risk = assess(table, attackers=[Attacker.external(table, "he").with_levels(table, {mine: 5})])
    sliding = cz.Intervals(secret=1, levels="sliding").apply_to(risk)
    assert asked(sliding) == [(mine, 0, 0.0, 0.0, 10.0)]
    wide = cz.Intervals(secret=1, least_width={mine: 30, 0: 4})
    assert asked(wide.require_widths(wide.apply_to(risk))) == [(0, 0, 0.0, 0.0, 4.0), (mine, 0, 5.0, 5.0, 30.0)]


def test_what_is_ones_own_may_be_hidden_whatever_width_hidden_cells_keep(table: Table) -> None:
    mine, yours = table.find(r="1", c="x"), table.find(r="2", c="y")
    attackers = [Attacker.external(table), Attacker.singleton(table, mine)]
    risk = assess(table, attackers=[Attacker.external(table, "he").with_levels(table, {yours: 5}), *attackers])
    method = cz.Suppress(width_if_hidden={mine: 10}, must_hide=[mine])
    found = protect(risk, method)
    assert found.safe
    kept = [one for one in audit(found, intervals=True).intervals if one.cell == mine and one.attacker != 2]
    assert all(one.upper is None or one.lower is None or one.upper - one.lower >= 10 for one in kept)


def test_those_who_work_together_have_the_largest_of_their_levels(table: Table) -> None:
    one = Attacker.external(table, "one").with_levels(table, {3: 5, 4: 1})
    two = Attacker.external(table, "two").with_levels(table, {4: (0, 2, 6)})
    both = Attacker.together([one, two])
    assert both.levels is not None
    assert [float(getattr(both.levels, kind).fraction(4)) for kind in ("lower", "upper", "sliding")] == [1, 2, 6]
    with pytest.raises(SpecError, match="levels of their own, and others of them are not"):
        Attacker.together([one, Attacker.external(table)])
    wiser = one.with_knowledge(table, {5: (0, 1000)})
    assert wiser.levels is not None
    assert wiser.levels.required.sum() == 2


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({}, "names no cell in his levels"),
        ({99: 1}, "99"),
        ({4: "much"}, "no decimal number"),
        ({4: -1}, "above zero, and none below"),
        ({4: (0, 0, 0)}, "above zero, and none below"),
        ({4: (101, 0)}, "more than he leaves open himself in 1 x x"),
        ({8: (0, 21)}, "more than he leaves open himself in 2 x y"),
        ({8: (0, 0, 200)}, "more than he leaves open himself in 2 x y"),
    ],
)
def test_bad_levels_are_refused(table: Table, levels: dict[int, object], message: str) -> None:
    knows = Attacker.external(table, "he").with_knowledge(table, {8: (50, 110)})
    with pytest.raises(SpecError, match=message):
        knows.with_levels(table, levels)  # type: ignore[arg-type]


def test_levels_for_cells_that_are_always_safe_are_refused(table: Table) -> None:
    he = Attacker.external(table, "he").with_levels(table, {table.find(r="1", c="x"): 5})
    with pytest.raises(SpecError, match="'he': name cells that are always safe: '1 x x'"):
        assess(table, MinFrequency(2), attackers=[he], exempt={"r": ["1"]})


@pytest.mark.parametrize("seed", range(12))
def test_the_cheapest_pattern_for_levels_by_attacker_is_that_of_all_patterns(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    inner = [chance.randint(1, 30) for _ in range(4)]
    frame = pl.DataFrame({"r": list("1122"), "c": list("xyxy"), "v": inner})
    table = cz.tabulate(frame, by=["r", "c"], value="v")
    truth = np.round(table.amounts.floats).astype(int)
    attackers = []
    for name in ("one", "two", "three")[: chance.randint(1, 3)]:
        ends = {
            cell: (max(0, int(truth[cell]) - 20), int(truth[cell]) + 25) for cell in range(9) if chance.random() < 0.3
        }
        levels = {
            cell: (chance.randint(0, min(3, int(truth[cell]))), chance.randint(1, 4), chance.choice([0, 0, 6]))
            for cell in chance.sample(range(9), 2)
        }
        attackers.append(Attacker.external(table, name).with_knowledge(table, ends).with_levels(table, levels))
    risk = assess(table, attackers=attackers)
    least = min((cost for cost, safe in _judge_all_patterns(risk, truth) if safe), default=None)
    if least is None:
        with pytest.raises(cz.InfeasibleError):
            protect(risk)
    else:
        assert protect(risk).cost == least


def _judge_all_patterns(risk: cz.Risk, truth: np.ndarray) -> list[tuple[float, bool]]:
    """Return the cost of every pattern that hides all sensitive cells, and whether no attacker comes too close."""
    out, relations = [], risk.table.relations.matrix.toarray()
    for hidden in product([False, True], repeat=len(truth)):
        mask = np.array(hidden)
        if (risk.sensitive & ~mask).any():
            continue
        safe = all(_keeps(risk, attacker, cell, relations, truth, mask) for cell, attacker in _pairs(risk))
        out.append((float(risk.cost[mask].sum()), safe))
    return out


def _pairs(risk: cz.Risk) -> list[tuple[int, int]]:
    """Return which attacker has levels for which cell, read from what the attackers were given."""
    return [
        (int(cell), place)
        for place, attacker in enumerate(risk.attackers)
        if attacker.levels is not None
        for cell in np.flatnonzero(attacker.levels.upper.floats + attacker.levels.lower.floats > 0)
    ]


def _keeps(risk: cz.Risk, place: int, cell: int, relations: np.ndarray, truth: np.ndarray, hidden: np.ndarray) -> bool:
    """Return whether an attacker is kept from a cell, by two linear programs."""
    attacker, levels = risk.attackers[place], risk.attackers[place].levels
    assert levels is not None
    bounds = [
        (max(0.0, attacker.lower.floats[k]), min(attacker.upper.floats[k], 1e6)) if hidden[k] else (truth[k], truth[k])
        for k in range(len(truth))
    ]
    aim = np.zeros(len(truth))
    aim[cell] = 1.0
    low, high = (
        sign * linprog(sign * aim, A_eq=relations, b_eq=np.zeros(len(relations)), bounds=bounds).fun for sign in (1, -1)
    )
    lower, upper, sliding = (getattr(levels, kind).floats[cell] for kind in ("lower", "upper", "sliding"))
    slack = 1e-6
    return bool(
        low <= truth[cell] - lower + slack and high >= truth[cell] + upper - slack and high - low >= sliding - slack
    )
