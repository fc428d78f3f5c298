"""Adjustment: what it refuses, what it says when there is no table, and the pieces of its search."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest
import scipy.sparse as sp
from tests.oracles.adjust_oracle import Shape, risk_of

import celosia as cz
from celosia import Adjust, Pattern
from celosia.pattern.modes.adjusted import Adjusted
from celosia.protection.adjustment.balance import balances_of
from celosia.protection.adjustment.bound import bound_of
from celosia.protection.adjustment.branch_and_bound import AdjustmentSearch
from celosia.protection.adjustment.formulation import formulate
from celosia.protection.adjustment.integer import leaves_of
from celosia.protection.distances import distances_of
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed

SQUARE = Shape((3, 3))
LEAVES = [20, 50, 10, 8, 19, 22, 17, 32, 12]


def square(levels: dict[int, tuple[int, int]], **options: Any) -> cz.Risk:  # noqa: ANN401
    """Return the table of Fischetti and Salazar (2003) with sensitive leaves by their number."""
    return risk_of(SQUARE.table(LEAVES), {SQUARE.leaves[leaf]: level for leaf, level in levels.items()}, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"norm": 3}, "norm: must be 1 or 2, not 3."),
        ({"weight": "1/b"}, "weight: '1/b' is unknown. Did you mean '1/a'?"),
        ({"totals": "some"}, "totals: 'some' is unknown. Known: 'all', 'free', 'grand'."),
        ({"decimals": -1}, "decimals: must be zero or more, not -1."),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    """Every option says what it may be."""
    with pytest.raises(cz.SpecError) as refused:
        Adjust(**options)
    assert str(refused.value) == message


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (Adjust(keep=[10]), "keep: names cells that are sensitive: 'cell 10'. A cell cannot be both."),
        (Adjust(weight=[1.0]), "weight: has the shape (1,) for 16 cells. Give one per cell."),
        (Adjust(weight=np.zeros(16)), "weight: is not between 1e-12 and 1e+12 for 16 cells, the first being cell 0."),
    ],
)
def test_wishes_that_contradict_the_table_are_refused(method: Adjust, message: str) -> None:
    """A sensitive cell cannot be kept, and weights are positive."""
    with pytest.raises(cz.SpecError) as refused:
        cz.protect(square({4: (3, 3)}), method)
    assert str(refused.value).startswith(message)


def test_a_sliding_level_alone_is_no_level() -> None:
    """How wide an attacker's interval is says nothing about how far to move."""
    risk = risk_of(SQUARE.table(LEAVES), {}, sliding={SQUARE.leaves[4]: 5})
    with pytest.raises(cz.SpecError, match="only sliding for sensitive cells: 'cell 10'"):
        cz.protect(risk, Adjust())


def test_levels_beyond_what_everybody_knows() -> None:
    """A cell that is known within 2 cannot move by 3."""
    table = SQUARE.table(LEAVES)
    known = cz.Attacker.between(table, table.values - 2, table.values + 2)
    with pytest.raises(cz.InfeasibleError, match="lead out of what everybody knows about sensitive cells: 'cell 10'"):
        cz.protect(square({4: (3, 3)}, attackers=[known]), Adjust())


def test_the_fewest_kept_cells_that_stand_in_the_way() -> None:
    """With all other cells of its row kept, a cell cannot move; one of them is enough."""
    row = [cell for cell, code in enumerate(SQUARE.codes) if code[0] == 2 and code != (2, 2)]
    with pytest.raises(cz.InfeasibleError) as refused:
        cz.protect(square({4: (3, 3)}), Adjust(keep=row))
    said = str(refused.value)
    assert said.startswith("keep: makes adjustment impossible by keeping these cells: ")
    assert said.endswith("Let it move.")
    assert any(f"'cell {cell}'." in said for cell in row)


def test_two_kept_cells_when_one_is_not_enough() -> None:
    """Two sensitive cells in rows that are kept apart need one released cell each."""
    rows = [cell for cell, code in enumerate(SQUARE.codes) if code[0] in (1, 2) and code not in ((1, 1), (2, 2))]
    with pytest.raises(cz.InfeasibleError, match="any fewer would not help") as refused:
        cz.protect(square({0: (3, 3), 4: (3, 3)}), Adjust(keep=rows))
    assert str(refused.value).count("'cell ") == 2


def test_cells_that_cannot_leave_their_intervals_together() -> None:
    """A total known within 2 holds back a part that must move by 5 against a part that is known."""
    shape = Shape((2,))
    table = shape.table([20, 30])
    known = cz.Attacker.between(table, [48, 0, 28], [52, 1000, 32])
    with pytest.raises(cz.InfeasibleError, match="levels: cannot be left by all of these cells together: 'cell 1'"):
        cz.protect(risk_of(table, {1: (5, 5)}, [known]), Adjust())


def test_out_of_time() -> None:
    """Without time there is no table, and that is said."""
    with pytest.raises(cz.OutOfTimeError, match="before a table was known"):
        cz.protect(square({4: (3, 3)}), Adjust(), time_limit=1e-9)


def test_a_cell_that_must_be_hidden_cannot_be_adjusted() -> None:
    """Adjustment shows a number for every cell."""
    risk = square({4: (3, 3)})
    risk.status[1] = "m"
    with pytest.raises(cz.SpecError, match="must_hide: names cells that cannot be hidden: 'cell 1'"):
        cz.protect(risk, Adjust())


@pytest.mark.parametrize("norm", [1, 2])
def test_any_multipliers_prove_a_bound(norm: Literal[1, 2]) -> None:
    """Whatever the multipliers are, the bound is below the optimum; narrowing keeps every cheaper table."""
    risk = square({4: (3, 9), 0: (5, 2)})
    problem, _ = formulate(risk, Adjust(norm), integer=False)
    best = cz.protect(risk, Adjust(norm))
    search = AdjustmentSearch(problem, backends()[0], Clock(None), lambda: None)
    search.run(0.0)
    assert search.moves is not None
    random = np.random.default_rng(1)
    rows = balances_of(problem, "every")
    for size in (0.0, 1e-3, 0.1, 3.0):
        multipliers = random.normal(size=problem.matrix.shape[0]) * size
        tilt = rows.tilt(np.arange(len(rows)), random.random(len(rows)) * size) if norm == 1 else None
        bound = bound_of(problem, multipliers, best.cost * 1.01, tilt)
        assert bound.value <= best.cost
        narrow = bound.fix_by_reduced_costs()
        assert narrow.admits(search.moves)


def test_balance_rows_hold_for_every_move() -> None:
    """No cell moves more than the rest of a relation together."""
    problem, _ = formulate(square({4: (3, 9), 0: (5, 2)}), Adjust(), integer=False)
    balances = balances_of(problem, "every")
    rows = balances.rows(np.arange(len(balances)))
    assert rows.shape[0] == 32  # eight relations of four cells
    every = SQUARE.sums() @ np.random.default_rng(0).integers(-5, 6, size=(9, 100))
    assert not (rows @ np.abs(every) < 0).any()


def test_the_rows_that_distances_violate_are_those_with_a_cell_that_moves_most() -> None:
    """What is looked up without the rows is what the rows say."""
    problem, _ = formulate(square({4: (3, 9), 0: (5, 2)}), Adjust(), integer=False)
    balances = balances_of(problem, "every")
    rows = balances.rows(np.arange(len(balances)))
    for sizes in np.random.default_rng(0).integers(0, 9, size=(50, len(problem))).astype(float):
        assert balances.find_violated(sizes).tolist() == np.flatnonzero(rows @ sizes < 0).tolist()
        few = balances_of(problem, "split").find_violated(sizes)
        assert set(few.tolist()) == {
            place
            for place in balances.find_violated(sizes).tolist()
            if problem.split[balances.relations.indices[place]]
        }


def test_totals_follow_from_leaves() -> None:
    """With totals computed from the leaves any leaves make an additive table."""
    matrix = SQUARE.relations().matrix
    leaves = leaves_of(matrix)
    problem, _ = formulate(square({}), Adjust(), integer=False)
    moves = np.random.default_rng(0).integers(-5, 6, size=len(problem))
    own = leaves_of(problem.matrix).complete_totals(problem, moves)
    assert not (matrix @ own).any()
    assert len(leaves.rest) == matrix.shape[0] - 7


def test_relations_in_a_circle_define_nothing() -> None:
    """a = b + c and b = a - c say the same: one of them defines."""
    circle = sp.csr_array(np.array([[-1, 1, 1], [1, -1, -1]]))
    assert len(leaves_of(circle).rest) == 1


def test_distances_are_judged_from_the_published_table_alone() -> None:
    """A table that does not add up, or leaves a cell where it was, is not safe."""
    risk = square({4: (3, 3)})
    truth = risk.table.amounts.counts
    still = distances_of(Pattern.of(risk.table, Adjusted(np.arange(16), Fixed(truth))), risk)
    assert not still.safe
    assert still.additive
    moved = truth.copy()
    moved[SQUARE.leaves[4]] += 3
    odd = distances_of(Pattern.of(risk.table, Adjusted(np.arange(16), Fixed(moved))), risk)
    assert odd.moved.all()
    assert not odd.safe
    assert repr(odd) == "Distances(1 of 1 sensitive cells left their safety interval, does not add up)"
    assert still.columns()["moved"].tolist() == [False]


def test_a_side_without_a_level_is_no_way_out() -> None:
    """With an upper level only, the cell goes up, even where down is cheaper."""
    result = cz.protect(square({4: (0, 5)}), Adjust(weight="1"))
    release = cz.publish(result)
    assert release.published.counts[SQUARE.leaves[4]] >= 19 + 5


def test_an_adjusted_table_has_no_audit() -> None:
    """Distance is not an interval: who asks for an audit is told so."""
    result = cz.protect(square({4: (3, 3)}), Adjust())
    assert result.safe
    with pytest.raises(cz.SpecError, match="protects by distance"):
        _ = result.audit


def test_own_weights_and_a_finer_grid() -> None:
    """With a decimal more the table is no further away, and cheap cells take the change."""
    risk = square({4: (3, 3)})
    weight = np.ones(16)
    weight[SQUARE.leaves[0]] = 1e-3
    coarse, fine = (cz.protect(risk, Adjust(2, weight, decimals=decimals)) for decimals in (0, 1))
    assert fine.cost <= coarse.cost
    assert cz.publish(fine).decimals == 1
    assert math.isclose(coarse.gap, 0.0)


def test_squares_without_a_quadratic_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the interior-point method gives up, the same table is found by steps of one unit."""
    risk = square({4: (3, 9), 0: (5, 2)})
    wanted = cz.protect(risk, Adjust(2))

    def fails(*_: object) -> None:
        raise cz.SolverError.one("HiGHS", "ended without an answer, twice: Unknown.")

    monkeypatch.setattr("celosia.protection.adjustment.relaxation._quadratic", fails)
    result = cz.protect(risk, Adjust(2))
    assert result.cost == pytest.approx(wanted.cost, rel=1e-9)
    assert result.optimal


@pytest.mark.parametrize("norm", [1, 2])
def test_rounded_sides_that_have_no_table_do_not_end_the_search(norm: Literal[1, 2]) -> None:
    """Three sensitive parts of a total that is kept must take different sides, whatever each prefers."""
    shape = Shape((3,))
    risk = risk_of(shape.table([30, 30, 30]), {1: (10, 4), 2: (10, 4), 3: (10, 4)})
    result = cz.protect(risk, Adjust(norm, "1", totals="grand"))
    moved = cz.publish(result).published.counts[1:] - 30
    assert sorted(moved.tolist()) in ([-10, 4, 6], [-10, 5, 5])
    assert result.optimal
