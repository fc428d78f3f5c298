"""What methods state about themselves, and what all of them share: wishes, parameters."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from tests.oracles.respondent_cases import case_of
from tests.oracles.single_contributions import open_attacks

import celosia as cz
from celosia.protection.adjustment.parameters import AdjustmentParameters
from celosia.protection.adjustment.solve import solve as adjust
from celosia.protection.method import Method, Wishes
from celosia.protection.perturbation.parameters import PerturbationParameters
from celosia.protection.random_rounding.parameters import BiasParameters
from celosia.protection.respondents.parameters import RespondentParameters
from celosia.protection.rounding.parameters import RoundingParameters
from celosia.protection.run import Run
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

METHODS: tuple[type[Method], ...] = (
    cz.Suppress,
    cz.Intervals,
    cz.Combined,
    cz.Mixed,
    cz.Round,
    cz.Perturb,
    cz.Adjust,
    cz.RandomRound,
)
PARAMETERS = (AdjustmentParameters, BiasParameters, PerturbationParameters, RespondentParameters, RoundingParameters)


def test_every_method_states_how_it_publishes() -> None:
    assert len({method.name for method in METHODS}) == len(METHODS)
    assert all(method.statuses and "shown" not in method.statuses for method in METHODS)
    assert [method.name for method in METHODS if method.criterion == "distance"] == ["adjust"]
    assert [method.name for method in METHODS if not method.takes_requirements] == ["adjust", "random-round"]
    assert [method.name for method in METHODS if method.seed_is_secret] == ["random-round"]
    assert [method.name for method in METHODS if method.has_fixed_costs] == ["combined"]


def test_hiding_everything_is_for_suppression_without_limits() -> None:
    assert cz.Suppress().hides_everything
    assert not cz.Suppress(at_most=3).hides_everything
    assert not cz.Suppress(width_if_hidden={1: 2}).hides_everything
    assert cz.Mixed().hides
    assert not cz.Mixed().only_hides
    assert not cz.Intervals().hides


@pytest.mark.parametrize(
    "method", [cz.Suppress(), cz.Intervals(secret=1), cz.Round(base=25), cz.Adjust(), cz.Mixed(secret=1)]
)
def test_wishes_are_applied_once(method: Any, grid: cz.Risk, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    calls: list[cz.Risk] = []
    apply_to = type(method).apply_to

    def count(own: Method, risk: cz.Risk) -> cz.Risk:
        calls.append(risk)
        applied: cz.Risk = apply_to(own, risk)
        return applied

    monkeypatch.setattr(type(method), "apply_to", count)
    cz.protect(grid, method)
    assert len(calls) == 1


def test_wishes_name_the_option_that_is_wrong(grid: cz.Risk) -> None:
    with pytest.raises(cz.SpecError, match="frozen: names cells that are sensitive"):
        Wishes(must_show=[6], show_option="frozen").apply_to(grid)


def test_a_mask_of_cells_to_show_holds_where_cells_must_move_together() -> None:
    """The table of the search has further cells then, and the mask was as long as the table without them."""
    case = case_of(1140)
    risk = cz.assess(case.table, case.rule, cost="unity")
    best = cz.protect(risk, cz.Suppress(), respondents=case.rule)
    mask = np.arange(len(risk)) == np.flatnonzero(best.pattern.status == "shown")[0]
    found = cz.protect(risk, cz.Suppress(must_show=mask), respondents=case.rule)
    assert found.cost == best.cost
    assert open_attacks(found.pattern, case.table, case.rule) == []


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        (AdjustmentParameters, {"first_gap": 1.5}, "first_gap must be between 0.0 and 1.0"),
        (AdjustmentParameters, {"windows": (0, 1)}, "windows must be 1 or more"),
        (BiasParameters, {"most_sets": 0}, "most_sets must be 1 or more"),
        (PerturbationParameters, {"least_seconds": -1.0}, "least_seconds must be 0 or more"),
        (RespondentParameters, {"oracle_share": 2.0}, "oracle_share must be between 0.0 and 1.0"),
        (RoundingParameters, {"tried_bases": -1}, "tried_bases must be 0 or more"),
    ],
)
def test_parameters_out_of_range_are_refused(kind: Any, given: dict[str, object], message: str) -> None:  # noqa: ANN401
    with pytest.raises(ValueError, match=message):
        kind(**given)


@pytest.mark.parametrize("kind", PARAMETERS)
def test_every_parameter_is_described(kind: type) -> None:
    described = (kind.__doc__ or "").replace(",", " ").split()
    assert [field.name for field in fields(kind) if field.name not in described] == []


def test_parameters_change_the_effort_and_not_the_table(grid: cz.Risk) -> None:
    method = cz.Adjust()
    risk = method.apply_to(grid)
    blocks = AdjustmentParameters(many_sides=0, block_sides=1, fruitless_blocks=1, balance_rounds=1)
    plain, other = (
        adjust(risk, method, Run(Clock(None), 0.0, backends()[0], 0, None), parameters)
        for parameters in (AdjustmentParameters(), blocks)
    )
    assert other.cost == plain.cost == plain.bound
