"""Cell perturbation: sides, reach, decimals, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.oracles.bare_tables import lattice
from tests.unit.protection.conftest import GRID, MakeRisk, refuse

from celosia import DataError, InfeasibleError, Perturb, Protection, Risk, SpecError, protect, publish
from celosia.table.fixed import Fixed


def moved(result: Protection, cell: int = 6) -> int:
    return int(result.pattern.published().counts[cell] - result.risk.table.amounts.counts[cell])


@pytest.mark.parametrize("reach", [0, -1, [0, 0]])
def test_a_reach_that_is_not_positive(reach: object) -> None:
    with pytest.raises(SpecError, match="reach: must be above zero"):
        Perturb(reach, conceal=False)  # type: ignore[arg-type]


def test_words_and_numbers_that_make_no_sense() -> None:
    with pytest.raises(SpecError) as caught:
        Perturb(5, move=-1, side="left", sides={3: "left"}, at_most=-1, decimals=-1, secret=-1)  # type: ignore[arg-type, dict-item]
    assert [problem.place for problem in caught.value.problems] == [
        "move",
        "side",
        "sides",
        "at_most",
        "decimals",
        "secret",
    ]


def test_a_reach_that_cannot_protect_names_cells_and_a_reach(grid: Risk) -> None:
    refuse(grid, Perturb(9, conceal=False), InfeasibleError, "reach", ["'cell 6'", "reach of 20"])
    refuse(grid, Perturb(13, move=4, side="up"), InfeasibleError, "reach", ["'cell 6'", "reach of 20"])


def test_a_reach_as_in_figure_11_protects(grid: Risk) -> None:
    result = protect(grid, Perturb(14, move=4, side="up"))
    assert result.safe
    assert moved(result) == 4


@pytest.mark.parametrize("side", ["up", "down"])
def test_given_sides(grid: Risk, side: str) -> None:
    for method in (Perturb(20, side=side, conceal=False), Perturb(20, sides={6: side}, conceal=False)):  # type: ignore[arg-type, dict-item]
        result = protect(grid, method)
        assert result.safe
        assert moved(result) == (10 if side == "up" else -8), "by its level, as far as the reach leaves the other one"


def test_sides_are_random_and_reproducible_from_the_secret(grid: Risk) -> None:
    found = {secret: moved(protect(grid, Perturb(20, secret=secret, conceal=False))) for secret in range(8)}
    assert {int(np.sign(move)) for move in found.values()} == {-1, 1}
    assert found[3] == moved(protect(grid, Perturb(20, secret=3, conceal=False)))


def test_the_secret_is_drawn_afresh_and_kept_in_the_result(grid: Risk) -> None:
    first, second = (protect(grid, Perturb(20, conceal=False)).method for _ in range(2))
    assert first.secret != second.secret  # type: ignore[attr-defined]


def test_the_release_gives_the_reach_and_no_secret(grid: Risk) -> None:
    result = protect(grid, Perturb(20, secret=77, conceal=False))
    release = publish(result)
    lower, upper = release.bounds()
    assert (upper.counts - lower.counts == 40).all()
    assert "77" not in repr(release)


def test_frozen_cells_are_shown(grid: Risk) -> None:
    result = protect(grid, Perturb(20, side="up", frozen=[15, 3], conceal=False))
    assert result.pattern.status[[3, 15]].tolist() == ["shown", "shown"]
    assert result.pattern.published().counts[[3, 15]].tolist() == [80, 190]


def test_frozen_cells_that_give_a_sensitive_one_away(grid: Risk) -> None:
    refuse(
        grid, Perturb(20, frozen=[4, 5, 7], conceal=False), InfeasibleError, "protection", ["must be shown", "'cell 6'"]
    )


def test_few_cells_move_on_request_and_too_few_are_refused(grid: Risk) -> None:
    result = protect(grid, Perturb(20, side="up", at_most=4, conceal=False))
    assert result.safe
    assert int((result.pattern.published().counts != np.array(GRID)).sum()) == 4
    refuse(grid, Perturb(20, side="up", at_most=1, conceal=False), InfeasibleError, "protection", ["at_most"])


def test_sides_of_cells_that_are_not_sensitive(grid: Risk) -> None:
    refuse(grid, Perturb(20, sides={5: "up"}, conceal=False), SpecError, "sides", ["5"])


def test_counts_stay_whole(make: MakeRisk, grid_rows: list[list[int]]) -> None:
    risk = make(grid_rows, GRID, {6: (2, 3, 0)}, counts=True)
    assert protect(risk, Perturb(6, conceal=False)).pattern.published().decimals == 0
    refuse(risk, Perturb(6, decimals=1, conceal=False), SpecError, "decimals", ["counts"])
    broken = replace(risk, table=replace(risk.table, amounts=Fixed(np.array(GRID) * 5, 1)))
    refuse(broken, Perturb(6, conceal=False), DataError, "counts", ["whole"])


def test_fewer_decimals_than_the_table(make: MakeRisk, grid_rows: list[list[int]]) -> None:
    risk = make(grid_rows, GRID, {})
    fine = replace(risk, table=replace(risk.table, amounts=Fixed(np.array(GRID), 2)))
    refuse(fine, Perturb(1, decimals=1, conceal=False), SpecError, "decimals", ["2"])


def test_without_sensitive_cells_nothing_moves(make: MakeRisk, grid_rows: list[list[int]]) -> None:
    result = protect(make(grid_rows, GRID, {}), Perturb(5, conceal=False))
    assert result.cost == 0
    assert result.pattern.published().counts.tolist() == GRID


def test_sides_that_clash_are_turned_and_the_result_says_how_many(make: MakeRisk) -> None:
    """Two cells that add up to a frozen total go to different sides, whatever the coins say."""
    risk = make([[1, 1, -1]], [40, 40, 80], {0: (3, 3, 0), 1: (3, 3, 0)})
    notes = set()
    for secret in range(12):
        result = protect(risk, Perturb(8, frozen=[2], secret=secret, conceal=False))
        assert result.safe
        assert moved(result, 0) * moved(result, 1) < 0
        *said, last = result.notes
        assert last == risk.unasked_note
        notes.add(tuple(said))
    assert notes == {(), ("Of 2 sides that were drawn 1 had to be turned: nothing adds up otherwise.",)}


def test_frozen_cells_that_leave_no_room_are_named_and_no_more_of_them(make: MakeRisk) -> None:
    """One cell cannot make up for two: with the other rows nothing is wrong."""
    rows = [[1, 1, 1, -1, 0, 0, 0], [0, 0, 0, 0, 1, 1, -1]]
    risk = make(rows, [40, 40, 3, 83, 5, 5, 10], {0: (3, 3, 0)})
    refuse(
        risk,
        Perturb(10, move=7, frozen=[1, 3, 4], side="up"),
        InfeasibleError,
        "frozen",
        ["'cell 1', 'cell 3' are together enough", "Free one of them"],
    )


def test_values_that_miss_a_level_by_less_than_cuts_are_rounded_are_found(make: MakeRisk) -> None:
    """The search ended without a point here, and called that out of time."""
    rows = lattice([{0: [1, 2], 2: [3, 4]}, {0: [1, 2, 3], 1: [4, 5], 3: [6, 7]}])
    values = [187, 80, 19, 88, 24, 56, 49, 39, 62, 15, 13, 34, 13, 2, 13, 21, 125, 65, 6, 54, 11, 54, 36, 18]
    values += [49, 5, 5, 39, 3, 2, 34, 5, 76, 60, 1, 15, 8, 52, 2, 13]
    levels = {31: (2, 4, 2), 39: (3, 2, 5), 32: (2, 4, 0), 24: (4, 3, 0), 37: (4, 0, 0)}
    risk = make(rows, values, levels, cost=[1.0] * 40)
    result = protect(risk, Perturb(6, secret=105, conceal=False))
    assert result.safe
    assert result.cost == pytest.approx(40)
