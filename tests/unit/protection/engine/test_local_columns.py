"""Cells that must move together: requirements with columns of their own, which no pattern knows of."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from scipy.optimize import linprog
from tests.oracles.examples import first_few
from tests.unit.protection.conftest import make_risk
from tests.unit.protection.engine.test_oracle import run_with

from celosia import InfeasibleError, Pattern, Risk, Suppress, audit
from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.protection.engine.problem import problem_of
from celosia.protection.suppression.solve import solve as suppress
from celosia.risk.corner import Corner
from celosia.risk.risk import HIDE

SHAPE = (3, 4)
LEAVES = np.array([0, 1, 2, 4, 5, 6])


def drawn(seed: int) -> Risk:
    """Return a table of two rows by three columns with totals, a sensitive cell, and a corner of two other cells."""
    rng = np.random.default_rng(seed)
    inner = rng.integers(20, 60, size=(SHAPE[0] - 1, SHAPE[1] - 1))
    for axis in range(2):
        inner = np.concatenate([inner, inner.sum(axis=axis, keepdims=True)], axis=axis)
    places, rows = np.arange(inner.size).reshape(SHAPE), []
    for line in (*places, *places.T):
        row = np.zeros(inner.size, dtype=int)
        row[line] = [1] * (len(line) - 1) + [-1]
        rows.append(row.tolist())
    sensitive, *pair = rng.permutation(LEAVES)[:3].tolist()
    cost = rng.integers(1, 30, size=inner.size).tolist()
    risk = make_risk(rows, inner.ravel().tolist(), {sensitive: (3, 4, 0)}, cost=cost)
    needs = tuple(
        (int(np.searchsorted(LEAVES, cell)), int(rng.choice([-1, 1]) * rng.integers(2, 7))) for cell in sorted(pair)
    )
    down, up = (rng.integers(0, 8, size=len(LEAVES)).astype(object) for _ in range(2))
    for leaf, need in needs:  # from there it reaches to one side only
        (down if need > 0 else up)[leaf] = 0
    return replace(risk, corners=(Corner("a corner", LEAVES, needs, down, up, 0),))


def is_possible(corner: Corner, risk: Risk, hidden: list[int]) -> bool:
    """Return whether some table that agrees with what is shown moves all needed cells, by a program of its own."""
    needs = dict(corner.needs)
    bounds: list[tuple[float | None, float | None]] = []
    for cell in range(len(risk)):
        leaf = int(np.searchsorted(LEAVES, cell))
        if cell not in hidden:
            bounds.append((0.0, 0.0))
        elif cell in LEAVES:
            bounds.append((needs.get(leaf, 0) - corner.down[leaf], needs.get(leaf, 0) + corner.up[leaf]))
        else:
            bounds.append((None, None))
    missed = any(cell not in hidden for cell in corner.cells.tolist())
    matrix = risk.table.relations.matrix.toarray()
    return not missed and linprog(np.zeros(len(risk)), A_eq=matrix, b_eq=np.zeros(len(matrix)), bounds=bounds).success


def find_cheapest(risk: Risk) -> float | None:
    """Return the cost of the cheapest safe pattern, of all there are."""
    forced = np.flatnonzero(risk.sensitive).tolist() + risk.corners[0].cells.tolist()
    others = [cell for cell in range(len(risk)) if cell not in forced and risk.status[cell] != "z"]
    patterns = [[*forced, *some] for n in range(len(others) + 1) for some in combinations(others, n)]
    for hidden in sorted(patterns, key=lambda some: risk.cost[some].sum()):
        safe = is_possible(risk.corners[0], risk, hidden)
        if safe and audit(Pattern.hide(risk.table, hidden), risk.without_corners, integer=False).safe:
            return float(risk.cost[hidden].sum())
    return None


@pytest.mark.parametrize("seed", first_few(6, range(40)))
def test_the_cheapest_pattern_lets_cells_move_together(seed: int) -> None:
    risk = drawn(seed)
    best = find_cheapest(risk)
    if best is None:
        with pytest.raises(InfeasibleError):
            suppress(risk, Suppress(), run_with("highs"))
        return
    found = suppress(risk, Suppress(), run_with("highs"))
    hidden = np.flatnonzero(found.pattern.status != "shown").tolist()
    assert is_possible(risk.corners[0], risk, hidden)
    assert found.cost == found.bound == best
    assert found.risk.corners == found.audit.risk.corners == ()
    assert len(found.pattern.table) == len(risk)


def test_columns_that_are_no_cells_come_last_and_have_numbers_beyond_the_table() -> None:
    risk = drawn(0)
    (corner,) = risk.corners
    problem, plain = (problem_of(one, integer=False) for one in (risk, risk.without_corners))
    assert (problem.n_local, plain.n_local) == (3, 0)
    np.testing.assert_array_equal(problem.cells, [*plain.cells, *(len(risk) + np.arange(3))])
    np.testing.assert_array_equal(problem.cells_among(np.arange(len(problem))), plain.cells)
    raising = problem.n_own
    np.testing.assert_array_equal(problem.up[:, raising], [0, corner.largest])
    np.testing.assert_array_equal(problem.down[:, raising], [0, 0])
    assert problem.requirements.columns[-1] == raising
    assert problem.requirements.up[-1] == corner.largest
    assert problem.forced[raising:].all()
    assert not problem.cost[raising:].any()
    some = problem.part(np.array([0, raising - 1, raising, raising + 2]), np.array([1]))
    assert (some.n_local, some.n_own) == (2, 2)


def test_a_column_beside_what_is_needed_follows_its_cell_where_others_attack() -> None:
    risk = drawn(1)
    (corner,) = risk.corners
    problem = problem_of(risk, integer=False)
    own = np.searchsorted(problem.cells, corner.cells)
    for side in (problem.up, problem.down):
        np.testing.assert_array_equal(side[0, problem.n_own + 1 :], side[0, own])
    rows = problem.matrix.toarray()[-len(own) :]
    moves = np.zeros(len(problem))
    moves[problem.n_own] = corner.largest
    for place, (_, need) in zip(own, corner.needs, strict=True):
        moves[place] = need
    assert not (rows @ moves).any()


def test_cells_that_must_be_shown_and_keep_others_from_moving_together_are_named() -> None:
    """An audit does not judge that: it found nothing in the way, and blamed a greatest number of hidden cells."""
    risk = drawn(0)
    totals = np.setdiff1d(np.arange(len(risk)), LEAVES)
    (corner,) = risk.corners
    one, other = corner.cells.tolist()
    down, up = (np.zeros(len(LEAVES), dtype=object) for _ in range(2))
    tight = replace(corner, needs=((int(np.searchsorted(LEAVES, one)), 3), (int(np.searchsorted(LEAVES, other)), 3)))
    shown = Suppress(must_show=totals.tolist())
    asked = shown.apply_to(replace(risk, corners=(replace(tight, down=down, up=up),)))
    status = asked.status.copy()
    status[corner.cells] = HIDE
    with pytest.raises(InfeasibleError) as refused:
        suppress(replace(asked, status=status), shown, run_with("highs"))
    assert "while these cells must be shown" in str(refused.value)
    assert risk.table.label(one) in str(refused.value)


def test_proposals_about_cells_are_kept_without_what_moves_beyond() -> None:
    proposed = ProposedWitnesses(
        np.array([0, 5]),
        np.array([0, 1]),
        np.array([True, True]),
        np.array([0, 3, 5]),
        np.array([0, 2, 6, 1, 5]),
        np.array([4, -4, 1, 2, 3]),
        np.ones(2, dtype=np.int64),
        0,
    )
    kept = proposed.below(5)
    assert (kept.cells.tolist(), kept.moved.tolist(), kept.moves.tolist()) == ([0], [0, 2], [4, -4])
    assert kept.starts.tolist() == [0, 2]
    assert proposed.below(7) is proposed
