"""Small tables against the first model in one linear program, and what must hold of published ranges of any size."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from benchmarks.instances import drawn
from tests.oracles.examples import first_few
from tests.oracles.first_model import least_loss

from celosia import Attacker, Intervals, Pattern, Protection, Risk, Suppress, audit, certify, protect, verify
from celosia.table.fixed import INFINITE, Fixed

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")

SHAPES = {
    "flat": ((4,), (3,)),
    "tree": ((2, 2), (3,)),
    "trees": ((2, 2), (2, 2)),
    "cube": ((2,), (3,), (2,)),
}


def small(shape: str, seed: int, *, unity: bool, sparse: bool = False, sliding: bool = True) -> Risk:
    return drawn(SHAPES[shape], seed, unity=unity, sparse=sparse, sliding=sliding)


def ranges(risk: Risk, **options: object) -> Protection:
    return protect(risk, Intervals(**{"secret": 1, "decimals": 6} | options, conceal=False))  # type: ignore[arg-type]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", first_few(3, range(5)))
def test_the_cost_is_that_of_the_first_model(shape: str, seed: int) -> None:
    """The width model, shifted and placed, costs what Figure 6 costs, and its bound is below."""
    risk = small(shape, seed, unity=bool(seed % 2))
    if not risk.sensitive.any():
        return
    found, least = ranges(risk), least_loss(risk)
    assert found.safe
    assert found.cost == pytest.approx(least, rel=1e-5)
    assert found.bound <= least * (1 + 1e-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_separate_levels_cost_what_the_first_model_costs(shape: str, seed: int) -> None:
    """Lower levels that are twice the upper ones, and other costs below than above, need the general model."""
    risk = small(shape, seed, unity=bool(seed % 2), sliding=False)
    levels = risk.levels
    risk = replace(risk, levels=replace(levels, lower=Fixed(2 * levels.lower.counts, levels.lower.decimals)))
    above = 1.5 * risk.cost
    least = least_loss(risk, upper_cost=above)
    if not np.isfinite(least):
        return
    found = ranges(risk, upper_cost=above)
    assert found.safe
    assert found.cost == pytest.approx(least, rel=1e-5)
    assert found.bound <= least * (1 + 1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_another_attacker_never_lowers_the_loss(shape: str) -> None:
    risk = small(shape, 0, unity=True)
    wiser = Attacker.percentage(risk.table, 60)
    both = replace(risk, attackers=(*risk.attackers, Attacker.together([risk.attackers[0], wiser])))
    least = least_loss(both)
    one, two = ranges(risk), ranges(both)
    assert two.safe
    assert two.cost >= one.cost * (1 - 1e-6)
    assert two.cost == pytest.approx(least, rel=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(2))
def test_symmetric_levels_cost_what_the_first_model_costs(shape: str, seed: int) -> None:
    risk = small(shape, seed, unity=True, sliding=False)
    assert ranges(risk).cost == pytest.approx(least_loss(risk), rel=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_published_ranges_are_what_attackers_can_conclude(shape: str, seed: int) -> None:
    """An audit of the release finds no end that could not be reached within one step of the last decimal."""
    found = ranges(small(shape, seed, unity=True), decimals=None)
    checked = audit(found, intervals=True)
    release, step = checked.release, 10.0**-checked.release.decimals
    for finding in checked.intervals:
        assert finding.exact
        assert release.lower.floats[finding.cell] == pytest.approx(float(finding.lower or 0), abs=1.001 * step)
        assert release.upper.floats[finding.cell] == pytest.approx(float(finding.upper or 0), abs=1.001 * step)


@pytest.mark.parametrize("shape", SHAPES)
def test_ranges_lose_no_more_than_those_of_a_complete_pattern(shape: str) -> None:
    """What attackers conclude from hidden cells is a set of safe ranges, too."""
    risk = small(shape, 0, unity=True)
    hidden = audit(protect(risk, Suppress()), intervals=True)
    found = hidden.intervals
    width = np.subtract(np.array(found.upper(), dtype=float), np.array(found.lower(), dtype=float)).sum()
    least = ranges(risk).cost
    assert least <= width * (1 + 1e-6)
    for seed in range(5):  # and of other safe patterns
        more = np.random.default_rng(seed).random(len(risk)) < 0.5
        pattern = Pattern.hide(risk.table, more | (hidden.release.status != "shown"))
        checked = audit(pattern, risk, intervals=True)
        assert checked.safe
        lower, upper = (np.array(ends, dtype=float) for ends in (checked.intervals.lower(), checked.intervals.upper()))
        assert least <= (upper - lower).sum() * (1 + 1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_certificates_verify(shape: str, tmp_path: Path) -> None:
    found = ranges(small(shape, 1, unity=False), decimals=None)
    certificate = certify(found)
    certificate.write(tmp_path / "proof.json")
    assert certificate.safe
    assert verify(tmp_path / "proof.json").consistent


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("base", [5, 50])
def test_ends_rounded_outward_stay_safe(shape: str, base: int) -> None:
    risk = small(shape, 2, unity=True)
    wide = replace(risk, attackers=(replace(risk.attackers[0], upper=_endless(risk)),))
    found = ranges(wide, base=base, decimals=None)
    cells = np.flatnonzero(found.pattern.status == "interval")
    lower, upper = (side.floats[cells] for side in found.pattern.bounds())
    assert found.safe
    assert not (np.concatenate([lower, upper]) % base).any()


def _endless(risk: Risk) -> Fixed:
    return Fixed(np.full(len(risk), INFINITE))


@pytest.mark.parametrize("shape", SHAPES)
def test_whole_numbers_are_audited_as_such(shape: str) -> None:
    """Attackers who know that values are whole numbers still cannot come too close, and ends are whole."""
    risk = small(shape, 3, unity=True)
    found = protect(risk, Intervals(secret=1, conceal=False), integer=True)
    assert found.safe
    assert found.audit.integer
    assert found.audit.release.decimals == 0


@pytest.mark.parametrize("secret", range(3))
def test_another_secret_costs_the_same(secret: int) -> None:
    risk = small("tree", 0, unity=True)
    assert ranges(risk, secret=secret).cost == pytest.approx(ranges(risk, shift=False).cost, rel=1e-5)
