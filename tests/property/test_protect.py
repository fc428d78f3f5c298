"""Hundreds of small tables against an oracle, and what must hold of protections of any size."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest
from tests.oracles import suppression_oracle as oracle
from tests.oracles.bare_tables import seeded
from tests.oracles.suppression_cases import KINDS, drawn, put

from celosia import InfeasibleError, OutOfTimeError, Protection, protect

BOTH, ONE, MANY = range(3), range(3, 6), range(6, 200)
"""Tables of each kind that every solver gets, that one of them gets, and that are left to a long run."""

SOLVERS = [
    "highs",
    pytest.param(
        "scip", marks=pytest.mark.skipif(find_spec("pyscipopt") is None, reason="celosia[scip] is not installed")
    ),
]
NAMES = ["highs", "scip"] if find_spec("pyscipopt") is not None else ["highs"]


def hidden(protection: Protection) -> frozenset[int]:
    return frozenset(np.flatnonzero(protection.pattern.status != "shown").tolist())


def protected(wishes: oracle.Wishes, **options: Any) -> Protection | None:  # noqa: ANN401
    """Return what celosia makes of a case, None where it says that nothing is safe; check what it says of itself."""
    risk, method = put(wishes)
    try:
        found = protect(risk, method, **options)
    except InfeasibleError:
        return None
    pattern = hidden(found)
    assert oracle.is_safe(wishes, pattern)
    assert found.safe
    assert found.cost == pytest.approx(float(wishes.price(pattern)))
    assert found.bound <= found.cost
    return found


def optimum(wishes: oracle.Wishes, **options: Any) -> Fraction | None:  # noqa: ANN401
    """Return the cost of celosia's optimum."""
    found = protected(wishes, **options)
    if found is None:
        return None
    assert found.optimal
    return wishes.price(hidden(found))


def price(wishes: oracle.Wishes, pattern: frozenset[int] | None) -> Fraction | None:
    return None if pattern is None else wishes.price(pattern)


def assert_no_dearer(found: Fraction | None, best: Fraction | None, name: str) -> None:
    """Check against the oracle's cost. What is cheaper, and safe in fractions, only shows that it lost an optimum."""
    assert (found is None) == (best is None), name
    assert found is None or best is None or found <= best, name


@cache
def some_tables(name: str, number: int) -> list[tuple[oracle.Wishes, Fraction]]:
    """Return tables of every kind for which there is a safe pattern, with what the oracle's costs."""
    found = []
    for kind in KINDS:
        chance = seeded(f"{name} {kind}")
        judged = ((case, price(case, oracle.cheapest(case))) for case in (drawn(chance, kind) for _ in range(100)))
        safe = ((case, best) for case, best in judged if best is not None)
        found += [next(safe) for _ in range(number)]
    return found


# Against the oracle


@cache
def expected(kind: str, number: int, *, wishes: bool) -> tuple[oracle.Wishes, Fraction | None]:
    case = drawn(seeded(f"{kind} {number}"), kind, wishes=wishes)
    return case, price(case, oracle.cheapest(case))


def compare(kind: str, numbers: Iterable[int], solver: str | None, *, wishes: bool) -> int:
    """Compare some tables with the oracle; return how many can be protected."""
    solved = 0
    for k in numbers:
        case, best = expected(kind, k, wishes=wishes)
        assert_no_dearer(optimum(case, solver=solver or NAMES[k % len(NAMES)]), best, f"{kind} {k}")
        solved += best is not None
    return solved


every_kind = pytest.mark.parametrize("kind", KINDS)
with_and_without_wishes = pytest.mark.parametrize("wishes", [False, True], ids=["plain", "wishes"])


@pytest.mark.parametrize("solver", SOLVERS)
@with_and_without_wishes
@every_kind
def test_same_optimum_as_one_program_with_a_copy_per_requirement(kind: str, solver: str, *, wishes: bool) -> None:
    assert compare(kind, BOTH, solver, wishes=wishes) >= len(BOTH) // 3


@with_and_without_wishes
@every_kind
def test_same_optimum_on_more_tables_with_one_solver_each(kind: str, *, wishes: bool) -> None:
    assert compare(kind, ONE, None, wishes=wishes) >= len(ONE) // 3


@pytest.mark.slow
@with_and_without_wishes
@every_kind
def test_same_optimum_on_thousands_of_tables(kind: str, *, wishes: bool) -> None:
    assert compare(kind, MANY, None, wishes=wishes) >= len(MANY) // 3


def test_the_tables_are_of_every_kind() -> None:
    cases = [
        drawn(seeded(f"{kind} {k}"), kind, wishes=wishes)
        for kind in KINDS
        for k in range(10)
        for wishes in (False, True)
    ]
    assert len(cases) >= 120
    seen = {
        "one attacker": sum(len(case.attackers) == 1 for case in cases),
        "several attackers": sum(len(case.attackers) > 1 for case in cases),
        "fractions of a unit": sum(
            any(0 < level < 1 for own in case.levels.values() for level in own) for case in cases
        ),
        "widths": sum(bool(case.widths) for case in cases),
        "at most": sum(case.at_most is not None for case in cases),
        "shown": sum(bool(case.shown) for case in cases),
        "zeros known": sum(case.zeros_known for case in cases),
    }
    for place, name in enumerate(("lower", "upper", "sliding")):
        seen[name] = sum(any(own[place] for own in case.levels.values()) for case in cases)
        seen[f"no {name}"] = sum(any(not own[place] for own in case.levels.values()) for case in cases)
    assert min(seen.values()) >= 5, seen


on_few_and_many = pytest.mark.parametrize(
    "numbers", [range(8), pytest.param(range(8, 60), marks=pytest.mark.slow)], ids=["few", "many"]
)


@cache
def expected_in_order(k: int) -> tuple[oracle.Wishes, Fraction | None] | None:
    case = drawn(seeded(f"in order {k}"), "equations" if k % 2 else "flat")
    if len(case) - len(case.forced | case.shown) > 8:
        return None
    return case, price(case, oracle.cheapest_in_order(case))


@on_few_and_many
@pytest.mark.parametrize("solver", SOLVERS)
def test_same_optimum_as_all_patterns_in_order_of_cost(solver: str, numbers: range) -> None:
    for k in numbers:
        if (known := expected_in_order(k)) is not None:
            case, best = known
            assert optimum(case, solver=solver) == best, k


@on_few_and_many
def test_the_two_oracles_agree(numbers: range) -> None:
    for k in numbers:
        case = drawn(seeded(f"oracles {k}"), "equations")
        assert price(case, oracle.cheapest(case)) == price(case, oracle.cheapest_in_order(case)), k


@cache
def expected_of_whole_numbers(k: int) -> tuple[oracle.Wishes, Fraction | None, bool] | None:
    """Return a table, what its optimum costs, and whether it would cost something else in decimals."""
    chance = seeded(f"whole {k}")
    case = drawn(chance, "equations", wishes=False, whole=True)
    if len(case) > 6:
        return None
    near = [
        ([v - chance.randint(0, 4) for v in case.values], [v + chance.randint(0, 4) for v in case.values])
        for _ in case.attackers
    ]
    levels = {cell: (Fraction(0), Fraction(chance.randint(1, 3), 2), Fraction(0)) for cell in case.levels}
    case = replace(case, attackers=near, levels=levels)
    best = price(case, oracle.cheapest_in_order(case))
    return case, best, price(case, oracle.cheapest(replace(case, whole=False))) != best


@pytest.mark.parametrize("most", [8, pytest.param(79, marks=pytest.mark.slow)])
@pytest.mark.parametrize("solver", SOLVERS)
def test_whole_numbers_that_attackers_know_to_be_whole(solver: str, most: int) -> None:
    solved = wrong_in_decimals = 0
    refuted = (79, 85, 91, 105, 114, 131, 132)  # with patterns that only whole numbers refute, one after another
    for k in (*range(most), *refuted):
        if (known := expected_of_whole_numbers(k)) is None:
            continue
        case, best, wrong = known
        assert optimum(case, solver=solver) == best, k
        solved += best is not None
        wrong_in_decimals += wrong
    assert solved >= 3
    assert wrong_in_decimals >= 2, "the cases should need whole numbers"


# What must hold of any protection

of_every_kind = pytest.mark.parametrize("each", [1, pytest.param(4, marks=pytest.mark.slow)])
"""How many tables of every kind."""


@of_every_kind
@pytest.mark.parametrize("options", [{"time_limit": 1e-3}, {"time_limit": 0.02}, {"gap": 0.1}], ids=str)
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_bound_holds_at_any_time(solver: str, options: dict[str, float], each: int) -> None:
    for case, best in some_tables("tables", each):
        try:
            found = protected(case, solver=solver, **options)
        except OutOfTimeError:
            assert "time_limit" in options
            continue
        assert found is not None
        assert found.bound <= float(best) + 1e-9
        assert found.gap <= options.get("gap", 1.0)
        assert not found.optimal or case.price(hidden(found)) <= best


@of_every_kind
def test_a_cheaper_cell_never_raises_the_optimum(each: int) -> None:
    for case, _ in some_tables("tables", each):
        before = optimum(case)
        chance = seeded("which")
        cell = chance.randrange(len(case))
        cheaper = replace(case, cost=[c / 2 if k == cell else c for k, c in enumerate(case.cost)])
        after = optimum(cheaper)
        assert before is not None
        assert after is not None
        assert before - case.cost[cell] / 2 <= after <= before


def halved(level: Fraction) -> Fraction:
    return Fraction(int(level * 500), 1000)


@of_every_kind
def test_a_weaker_level_never_raises_the_optimum(each: int) -> None:
    for case, _ in some_tables("tables", each):
        halves = {cell: (halved(own[0]), halved(own[1]), halved(own[2])) for cell, own in case.levels.items()}
        kept = {cell: own if any(own) else case.levels[cell] for cell, own in halves.items()}
        before, after = optimum(case), optimum(replace(case, levels=kept))
        assert before is not None
        assert after is not None
        assert after <= before


@of_every_kind
def test_the_order_of_cells_changes_nothing_in_the_optimum(each: int) -> None:
    for k, (case, _) in enumerate(some_tables("tables", each)):
        order = list(range(len(case)))
        seeded(f"order {k}").shuffle(order)
        place = {cell: new for new, cell in enumerate(order)}
        moved = replace(
            case,
            rows=[[row[cell] for cell in order] for row in reversed(case.rows)],
            values=[case.values[cell] for cell in order],
            cost=[case.cost[cell] for cell in order],
            attackers=[([low[c] for c in order], [high[c] for c in order]) for low, high in case.attackers],
            levels={place[cell]: own for cell, own in case.levels.items()},
            shown=frozenset(place[cell] for cell in case.shown),
            hidden=frozenset(place[cell] for cell in case.hidden),
            widths={place[cell]: width for cell, width in case.widths.items()},
        )
        assert optimum(moved) == optimum(case)


def side_by_side(cases: list[oracle.Wishes]) -> oracle.Wishes:
    """Return plain cases with one attacker each as one table of several components."""
    n = sum(len(case) for case in cases)
    start = 0
    rows: list[list[int]] = []
    levels: dict[int, oracle.Levels] = {}
    for case in cases:
        rows += [[*[0] * start, *row, *[0] * (n - start - len(row))] for row in case.rows]
        levels |= {start + cell: own for cell, own in case.levels.items()}
        start += len(case)
    sides = [[end for case in cases for end in case.attackers[0][side]] for side in range(2)]
    return replace(
        cases[0],
        rows=rows,
        values=[value for case in cases for value in case.values],
        cost=[cost for case in cases for cost in case.cost],
        attackers=[(sides[0], sides[1])],
        levels=levels,
    )


@pytest.fixture(scope="module")
def several() -> oracle.Wishes:
    chance = seeded("several")
    drawn_ones = (drawn(chance, kind, wishes=False) for _ in range(20) for kind in ("flat", "tree", "cube", "linked"))
    single = (replace(case, attackers=case.attackers[:1]) for case in drawn_ones)
    safe = (case for case in single if oracle.cheapest(case) is not None)
    return side_by_side([next(safe) for _ in range(6)])


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_same_pattern_again_and_with_threads(several: oracle.Wishes, solver: str) -> None:
    alone = protected(several, solver=solver)
    again = protected(several, solver=solver)
    with ThreadPoolExecutor(2) as executor:
        shared = protected(several, solver=solver, executor=executor)
    assert alone is not None
    assert again is not None
    assert shared is not None
    assert alone.optimal
    assert hidden(alone) == hidden(again) == hidden(shared)
    assert alone.bound == again.bound == shared.bound


def test_the_same_pattern_with_processes(several: oracle.Wishes) -> None:
    alone = protected(several)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as executor:
        shared = protected(several, executor=executor)
    assert alone is not None
    assert shared is not None
    assert hidden(alone) == hidden(shared)


def test_an_executor_keeps_further_wishes() -> None:
    chance = seeded("executor")
    tried = 0
    while tried < 4:
        case = drawn(chance, "flat", wishes=False)
        best = oracle.cheapest(case)
        free = None if best is None else oracle.cheapest(replace(case, at_most=len(best) - 1))
        if best is None or free is not None or len(best) == len(case.levels):
            continue
        tried += 1
        narrow = replace(case, at_most=len(best))
        with ThreadPoolExecutor(2) as executor:
            assert_no_dearer(optimum(narrow, executor=executor), case.price(best), "at most")
            assert protected(replace(case, at_most=len(best) - 1), executor=executor) is None
