"""Controlled rounding: bases, frozen cells, relaxations, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from tests.unit.protection.conftest import GRID, MakeRisk, refuse

from celosia import Attacker, DataError, InfeasibleError, Risk, Round, SpecError, audit, protect, publish
from celosia.risk.risk import SHOW
from celosia.table.fixed import Fixed


@pytest.fixture
def safe(make: MakeRisk, grid_rows: list[list[int]]) -> Risk:
    """Return the table without sensitive cells, of counts."""
    return make(grid_rows, GRID, {}, counts=True)


@pytest.mark.parametrize("base", [0, -5, 0.0, [5, 0]])
def test_a_base_that_is_not_positive(base: object) -> None:
    with pytest.raises(SpecError, match=r"base: must be above zero"):
        Round(base)  # type: ignore[arg-type]


@pytest.mark.parametrize("base", ["five", float("nan"), float("inf"), [5, None]])
def test_a_base_that_is_no_number(base: object) -> None:
    with pytest.raises(SpecError, match="base: is not a finite number"):
        Round(base)  # type: ignore[arg-type]


def test_a_base_larger_than_every_cell(safe: Risk) -> None:
    refuse(safe, Round(191), SpecError, "base", ["larger than every cell."])


def test_a_base_that_is_no_whole_number_of_units(safe: Risk) -> None:
    refuse(safe, Round(2.5), SpecError, "base", ["units of the last decimal", "multiples of 1"])


def test_as_many_bases_as_cells(safe: Risk) -> None:
    refuse(safe, Round([5, 5]), SpecError, "base", ["2 numbers for 16 cells"])


def test_counts_that_are_not_whole(safe: Risk) -> None:
    broken = replace(safe.table, amounts=Fixed(np.array(GRID) * 5, 1))
    refuse(replace(safe, table=broken), Round(3), DataError, "counts", ["not whole numbers", "'cell 5'"])


def test_negative_extra() -> None:
    with pytest.raises(SpecError, match="extra: must be zero or more"):
        Round(5, extra=-1)


def test_frozen_cells_that_are_sensitive_or_not_there(grid: Risk) -> None:
    refuse(grid, Round(5, frozen=[6]), SpecError, "frozen", ["sensitive"])
    refuse(grid, Round(5, frozen=[16]), SpecError, "frozen", ["not in the table"])


def test_levels_beyond_the_base_name_the_cell_and_a_base(grid: Risk) -> None:
    refuse(grid, Round(5), InfeasibleError, "base", ["'cell 6'", "base of 20"])


def test_frozen_cells_that_are_no_multiples_are_named_the_fewest(safe: Risk) -> None:
    frozen = [0, 3, 4, 15]  # 20, 80 and 190 can stay; 8 cannot
    refuse(safe, Round(5, frozen=frozen), InfeasibleError, "frozen", ["'cell 4' is enough", "Free it"])


def test_frozen_cells_that_clash_together_are_named(make: MakeRisk, grid_rows: list[list[int]]) -> None:
    values = [5, 5, 5, 15, 5, 5, 5, 15, 6, 7, 5, 18, 16, 17, 15, 48]
    risk = make(grid_rows, values, {}, counts=True)
    frozen = [0, 1, 8, 9, 10]  # 6 + 7 + 5 is 18: every one of 6 and 7 alone has no multiple to add up to
    refuse(risk, Round(5, frozen=frozen), InfeasibleError, "frozen", ["enough"])


def test_frozen_cells_are_shown_as_they_are(safe: Risk) -> None:
    result = protect(safe, Round(5, frozen=[0, 1, 2, 3]))
    assert result.pattern.status[:4].tolist() == ["shown"] * 4
    assert result.pattern.published().counts[:4].tolist() == GRID[:4]
    assert set(result.pattern.status[4:].tolist()) == {"rounded"}


def test_cells_that_must_be_shown_are_frozen(safe: Risk) -> None:
    status = safe.status.copy()
    status[3] = SHOW
    assert protect(replace(safe, status=status), Round(5)).pattern.status[3] == "shown"


def test_multiples_of_the_base_are_not_given_away(safe: Risk) -> None:
    release = publish(protect(safe, Round(5)))
    lower, upper = release.bounds()
    assert release.status[0] == "rounded"
    assert (lower.counts[0], upper.counts[0]) == (20 - 4, 20 + 4)


def test_bases_by_cell(safe: Risk) -> None:
    base = [5] * 15 + [10]
    result = protect(safe, Round(base))
    published = result.pattern.published().counts
    assert (published % np.array(base) == 0).all()
    assert not safe.table.relations.residuals(published).any()


@pytest.mark.parametrize("base", [Decimal("0.5"), "0.5", Fraction(1, 2), 0.5])
def test_any_base_for_magnitudes(make: MakeRisk, grid_rows: list[list[int]], base: object) -> None:
    risk = make(grid_rows, GRID, {})
    risk = replace(risk, table=replace(risk.table, amounts=Fixed(np.array(GRID), 1)))
    risk = replace(risk, attackers=tuple(replace(one, lower=Fixed(one.lower.counts, 1)) for one in risk.attackers))
    result = protect(risk, Round(base))  # type: ignore[arg-type]
    published = result.pattern.published()
    assert published.decimals == 1
    assert (published.counts % 5 == 0).all()
    lower, upper = result.pattern.bounds()
    assert (upper.counts - lower.counts == 2 * (5 - 1)).all(), "one unit is a tenth here"


def test_whole_numbers_written_with_decimals_are_rounded_as_whole_numbers(
    make: MakeRisk, grid_rows: list[list[int]]
) -> None:
    plain = make(grid_rows, GRID, {6: (2, 2, 0)}, counts=True)
    fine = replace(plain, table=replace(plain.table, amounts=Fixed(np.array(GRID) * 10, 1)))
    first, second = protect(plain, Round(5)), protect(fine, Round(5))
    assert first.cost == second.cost
    assert (first.pattern.published().counts * 10).tolist() == second.pattern.published().to(1).counts.tolist()


def test_costs_decide_what_is_rounded_to_the_nearest(safe: Risk) -> None:
    cost = np.ones(16)
    cost[5] = 100.0
    result = protect(safe, Round(5, cost=cost))
    assert result.pattern.published().counts[5] == 20  # 19


def test_relaxed_levels_are_not_called_safe(grid: Risk) -> None:
    result = protect(grid, Round(5, relax_levels=True))
    assert not result.safe
    assert result.notes[0] == "Levels were relaxed: 1 of 1 requirement not met. This is not a safe release."
    assert not audit(result).safe
    assert not grid.table.relations.residuals(result.pattern.published().counts).any()


def test_relaxing_changes_nothing_where_levels_can_be_met(make: MakeRisk, grid_rows: list[list[int]]) -> None:
    risk = make(grid_rows, GRID, {6: (2, 2, 0)}, counts=True)
    strict, relaxed = protect(risk, Round(5)), protect(risk, Round(5, relax_levels=True))
    assert strict.safe
    assert relaxed.safe
    assert strict.cost == relaxed.cost


def test_more_multiples_on_request_meet_higher_levels(grid: Risk) -> None:
    result = protect(grid, Round(10, extra=1))
    assert result.safe
    assert result.method.extra == 1  # type: ignore[attr-defined]
    note = result.notes[0]
    assert note.startswith("Values may be rounded 1 multiple further than to the next one")
    assert note.endswith("the truth lies within 2 bases.")


def test_levels_that_nothing_can_meet_name_the_cells_that_are_frozen(
    make: MakeRisk, grid_rows: list[list[int]]
) -> None:
    values = [value * 5 for value in GRID]
    risk = make(grid_rows, values, {6: (2, 2, 0)})
    frozen = [4, 5, 7]  # the rest of the row
    refuse(risk, Round(5, frozen=frozen), InfeasibleError, "protection", ["must be shown", "'cell 6'"])


def test_an_attacker_who_knows_all_the_rest_is_said_to_come_too_close(make: MakeRisk) -> None:
    """Nothing that is published makes a difference to him: the search had no cut, and called that out of time."""
    risk = make([[1, 1, -1]], [10, 12, 22], {0: (2, 2, 0)})
    known = Attacker("neighbour", Fixed(np.array([0, 12, 22])), Fixed(np.array([40, 12, 22])))
    asked = replace(risk, attackers=(*risk.attackers, known))
    refuse(asked, Round(5), InfeasibleError, "protection", ["attackers come too close to 'cell 0'"])
