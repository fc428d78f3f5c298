"""Published tables with a known cheapest suppression, and the benchmark's instances whose optima are proved.

Salazar's (2002) Figures 1 and 2, the thesis of Karlsson and Olsson (2015), Figure 3.6, the examples in the tests of
checkTauArgus and sdcTable (the numbers of their tables, no code), and `benchmarks.instances`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pytest
import scipy.sparse as sp
from benchmarks.instances import OPTIMA, instance
from tests.oracles import suppression_oracle as oracle
from tests.oracles.bare_tables import lattice

from celosia import Attacker, Pattern, Protection, Risk, Table, audit, protect
from celosia.attack.result import Audit
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations

SOLVERS = [
    "highs",
    pytest.param(
        "scip", marks=pytest.mark.skipif(find_spec("pyscipopt") is None, reason="celosia[scip] is not installed")
    ),
]


def table_of(rows: Sequence[Sequence[int]], values: Sequence[int]) -> Table:
    matrix = sp.csr_array(np.array(rows, dtype=np.int64))
    return Table(
        axes=(),
        codes=np.zeros((len(values), 0), dtype=np.int32),
        variables=("value",),
        variable=np.zeros(len(values), dtype=np.int32),
        amounts=Fixed(np.array(values, dtype=np.int64)),
        relations=Relations(matrix, np.asarray(matrix @ np.array(values, dtype=np.int64))),
    )


def risk_of(
    rows: Sequence[Sequence[int]],
    values: Sequence[int],
    levels: Mapping[int, tuple[int, int, int]],
    cost: Sequence[float] | None = None,
    attacker: Attacker | None = None,
) -> Risk:
    table = table_of(rows, values)
    numbers = np.zeros((3, len(values)), dtype=np.int64)
    for cell, own in levels.items():
        numbers[:, cell] = own
    return Risk(
        table,
        np.array([SENSITIVE if cell in levels else SAFE for cell in range(len(values))]),
        Levels(*(Fixed(part) for part in numbers)),
        np.array(values if cost is None else cost, dtype=np.float64),
        (attacker or Attacker.external(table),),
    )


def brute_force(risk: Risk, rows: Sequence[Sequence[int]], *, most: int | None = None) -> Fraction:
    """Return what the cheapest safe pattern costs, by the oracle."""
    n = len(risk)
    upper = [None if most is None else Fraction(most)] * n
    wishes = oracle.Wishes(
        rows=rows,
        values=[risk.table.amounts.fraction(cell) for cell in range(n)],
        cost=[Fraction(price) for price in risk.cost.tolist()],
        attackers=[([Fraction(0)] * n, upper)],
        levels={
            cell: (
                risk.levels.lower.fraction(cell),
                risk.levels.upper.fraction(cell),
                risk.levels.sliding.fraction(cell),
            )
            for cell in np.flatnonzero(risk.sensitive).tolist()
        },
    )
    found = oracle.cheapest(wishes)
    assert found is not None
    return wishes.price(found)


def intervals(said: Audit) -> dict[int, tuple[object, object]]:
    return {finding.cell: (finding.lower, finding.upper) for finding in said.intervals}


def hidden(protection: Protection) -> set[int]:
    return set(np.flatnonzero(protection.pattern.status != "shown").tolist())


# Salazar (2002), Figures 1 and 2: rows Activity I, II, III and Total by regions A, B, C and Total

SALAZAR = [20, 50, 10, 80, 8, 19, 22, 49, 17, 32, 12, 61, 45, 101, 44, 190]
SALAZAR_ROWS = [
    *([1 if k // 4 == row and k % 4 < 3 else -1 if k == 4 * row + 3 else 0 for k in range(16)] for row in range(4)),
    *([1 if k % 4 == col and k // 4 < 3 else -1 if k == 12 + col else 0 for k in range(16)] for col in range(4)),
]
II_C = 6


def test_salazar_figure_2_gives_5_to_30_and_so_misses_the_upper_level_of_figure_1() -> None:
    risk = risk_of(SALAZAR_ROWS, SALAZAR, {II_C: (10, 12, 0)})
    found = audit(Pattern.hide(risk.table, [4, II_C, 8, 10]), risk, intervals=True)
    assert intervals(found)[II_C] == (5, 30)
    assert 30 < 22 + 12, "the paper's own pattern misses UPL 12"
    assert not found.safe


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("levels", [(10, 12, 0), (10, 8, 0), (0, 0, 25), (0, 0, 26), (22, 12, 40)])
@pytest.mark.parametrize("cost", ["value", "unity"])
def test_salazar_figure_1_equals_brute_force(levels: tuple[int, int, int], cost: str, solver: str) -> None:
    prices = None if cost == "value" else [1] * 16
    risk = risk_of(SALAZAR_ROWS, SALAZAR, {II_C: levels}, prices)
    found = protect(risk, solver=solver)
    assert found.optimal
    assert found.cost == brute_force(risk, SALAZAR_ROWS)


def test_salazar_figure_2_is_optimal_for_the_levels_that_it_meets() -> None:
    found = protect(risk_of(SALAZAR_ROWS, SALAZAR, {II_C: (10, 8, 0)}))
    assert found.cost <= 8 + 22 + 17 + 12


# Karlsson and Olsson (2015), Figure 3.6, bounds 0 and 1000 (Example 3.5)

THESIS = [255, 90, 45, 390, 290, 230, 65, 585, 545, 320, 110, 975]
THESIS_ROWS = [
    *([1 if k // 4 == row and k % 4 < 3 else -1 if k == 4 * row + 3 else 0 for k in range(12)] for row in range(3)),
    *([1 if k % 4 == col and k // 4 < 2 else -1 if k == 8 + col else 0 for k in range(12)] for col in range(4)),
]


def thesis(levels: tuple[int, int, int], cost: Sequence[float] | None = None) -> Risk:
    table = table_of(THESIS_ROWS, THESIS)
    knows = Attacker.between(table, [0.0] * 12, [1000.0] * 12)
    return risk_of(THESIS_ROWS, THESIS, {0: levels}, cost, knows)


def test_thesis_figure_3_6_intervals() -> None:
    risk = thesis((65, 45, 0))
    found = audit(Pattern.hide(risk.table, [0, 2, 4, 6]), risk, intervals=True)
    assert found.safe
    assert intervals(found) == {0: (190, 300), 2: (0, 110), 4: (245, 355), 6: (0, 110)}


@pytest.mark.parametrize("cost", [None, [1.0] * 12])
@pytest.mark.parametrize("levels", [(65, 45, 0), (66, 0, 0), (0, 46, 0), (0, 0, 110), (0, 0, 111)])
def test_thesis_figure_3_6_equals_brute_force(levels: tuple[int, int, int], cost: Sequence[float] | None) -> None:
    risk = thesis(levels, cost)
    found = protect(risk)
    assert found.optimal
    assert found.cost == brute_force(risk, THESIS_ROWS, most=1000)


def test_thesis_figure_3_6_is_the_cheapest_pattern_for_its_own_interval() -> None:
    found = protect(thesis((65, 45, 0)))
    assert hidden(found) == {0, 2, 4, 6}
    assert found.cost == 255 + 45 + 290 + 65


# checkTauArgus, example 1: total and regions A to D by total, male, female


@pytest.mark.parametrize("solver", SOLVERS)
def test_check_tau_argus_example_1(solver: str) -> None:
    rows = lattice([{0: [1, 2, 3, 4]}, {0: [1, 2]}])
    values = [5146, 2757, 2389, 1032, 895, 137, 1726, 753, 973, 1055, 569, 486, 1333, 540, 793]
    found = protect(risk_of(rows, values, {5: (1, 1, 0)}), solver=solver)
    assert hidden(found) == {4, 5, 10, 11}
    assert found.cost == 2087
    assert found.optimal


# sdcTable: microdata1, regions by gender, A-female unsafe


def test_sdctable_microdata_1() -> None:
    rows = lattice([{0: [1, 2, 3, 4]}, {0: [1, 2]}])
    values = [100, 55, 45, 20, 18, 2, 33, 14, 19, 22, 12, 10, 25, 11, 14]
    found = protect(risk_of(rows, values, {5: (1, 1, 0)}))
    assert hidden(found) == {4, 5, 10, 11}, "cells 5, 6, 11 and 12, counted from 1"


# sdcTable's linked example (sdcTools/UserSupport, issue 136)

TOWNS = {"A": 2, "B": 2, "I": 8, "J": 8, "K": 3, "L": 3, "M": 3, "N": 7}
COUNTIES = {"county-1": "ABIJ", "county-2": "KLMN"}
SIZES = {"big": "LM", "small": "ABIJKN"}


def linked(groupings: Sequence[Mapping[str, str]]) -> tuple[Risk, list[str]]:
    """Return the towns with these groupings, counts up to 3 being sensitive."""
    groups = {name: towns for grouping in groupings for name, towns in grouping.items()}
    names = ["total", *groups, *TOWNS]
    values = [sum(TOWNS.values()), *(sum(TOWNS[town] for town in towns) for towns in groups.values()), *TOWNS.values()]
    rows = []
    for name, towns in groups.items():
        rows.append([-1 if other == name else int(other in towns and len(other) == 1) for other in names])
    rows += [[-1 if other == "total" else int(other in grouping) for other in names] for grouping in groupings]
    levels = {names.index(town): (1, 1, 0) for town, count in TOWNS.items() if count <= 3}
    return risk_of(rows, values, levels), names


def test_sdctable_linked_tables_apart_need_nothing_more() -> None:
    for grouping in (COUNTIES, SIZES):
        risk, names = linked([grouping])
        assert {names[cell] for cell in hidden(protect(risk))} == set("ABKLM")


def test_sdctable_linked_tables_together_disclose_k_unless_n_is_hidden() -> None:
    risk, names = linked([COUNTIES, SIZES])
    primaries = [names.index(town) for town in "ABKLM"]
    alone = audit(Pattern.hide(risk.table, primaries), risk)
    assert [names[verdict.requirement.cell] for verdict in alone.verdicts if verdict.result != "met"] == ["K"]
    found = protect(risk)
    assert {names[cell] for cell in hidden(found)} == set("ABKLMN")
    assert found.optimal


# The benchmark's instances


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("unity", [False, True], ids=["value", "unity"])
@pytest.mark.parametrize("name", ["t20x10", "t50x20", "h1", "h2", "h3", "hh1"])
def test_known_optima(name: str, solver: str, *, unity: bool) -> None:
    found = protect(instance(name, unity=unity), solver=solver)
    assert found.optimal
    assert found.cost == (OPTIMA[name].unity if unity else OPTIMA[name].value)


@pytest.mark.slow
@pytest.mark.parametrize("solver", SOLVERS)
def test_known_optimum_of_hh2(solver: str) -> None:
    found = protect(instance("hh2"), solver=solver)
    assert found.optimal
    assert found.cost == OPTIMA["hh2"].value
