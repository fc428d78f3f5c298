"""Random rounding: what it refuses, what it keeps secret, and what it says about its bias."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.oracles.adjust_oracle import Shape, risk_of

import celosia as cz
from celosia.pattern.entries import SHOWN
from celosia.protection.adjustment.method import find_kept_totals

SHAPE = Shape((3, 4))
LEAVES = [31, 52, 17, 44, 28, 19, 63, 35, 47, 22, 58, 26]


def risk(levels: dict[int, tuple[int, int]] | None = None, **options: Any) -> cz.Risk:  # noqa: ANN401
    """Return a table with sensitive leaves by their number."""
    chosen = {SHAPE.leaves[leaf]: level for leaf, level in (levels or {}).items()}
    return risk_of(SHAPE.table(LEAVES, counts=True), chosen, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": 0}, "base: must be above zero, not 0."),
        ({"base": -5}, "base: must be above zero, not -5."),
        ({"base": "five"}, "base: 'five' is no decimal number. Write it as 12.5."),
        ({"base": 5, "reach": 0}, "reach: must be above zero, not 0."),
        ({"base": 5, "scheme": "plane"}, "scheme: 'plane' is unknown. Did you mean 'plain'?"),
        ({"base": 5, "draws": 0}, "draws: must be one or more, not 0."),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    """Every option says what it may be."""
    with pytest.raises(cz.SpecError) as refused:
        cz.RandomRound(**options)
    assert str(refused.value) == message


@pytest.mark.parametrize("scheme", ["plain", "controlled", "sensitive"])
def test_bases_that_do_not_fit_the_table(scheme: Any) -> None:  # noqa: ANN401
    """A base is a whole number of units, and no larger than everything."""
    with pytest.raises(cz.SpecError, match=r"base: 0\.5 is finer than the 0 decimals of the table"):
        cz.protect(risk({0: (1, 1)}), cz.RandomRound("0.5", scheme))
    with pytest.raises(cz.SpecError, match="base: 5000 is larger than every value of the table"):
        cz.protect(risk({0: (1, 1)}), cz.RandomRound(5000, scheme))


def test_counts_that_are_no_whole_numbers() -> None:
    """Half a person cannot be rounded as a count."""
    table = Shape((3,)).table([15, 20, 31], decimals=1, counts=True)
    with pytest.raises(cz.DataError, match="counts: are not whole numbers: 'cell 0', 'cell 1', 'cell 3'"):
        cz.protect(risk_of(table, {}), cz.RandomRound(1, "plain"))


def test_magnitudes_with_decimals_are_rounded_on_their_grid() -> None:
    """A base of 0.5 rounds tenths."""
    table = Shape((3,)).table([13, 22, 31], decimals=1)
    release = cz.publish(cz.protect(risk_of(table, {}), cz.RandomRound("0.5", "controlled"), seed=5))
    assert not (release.published.to(1).counts % 5).any()
    release.check(table)


def test_a_base_that_protects_nobody_names_one_that_would() -> None:
    """Levels of 9 do not fit around a multiple of 5."""
    with pytest.raises(cz.InfeasibleError) as refused:
        cz.protect(risk({1: (9, 9)}), cz.RandomRound(5), seed=1)
    said = "base: 5 cannot protect these cells, whichever way they are rounded: 'cell 7'. A base of 20 would."
    assert str(refused.value) == said
    assert cz.protect(risk({1: (9, 9)}), cz.RandomRound(20), seed=1).safe


def test_a_reach_that_protects_nobody_names_one_that_would() -> None:
    """Within 3 of the published value there is no room for a level of 9."""
    with pytest.raises(cz.InfeasibleError, match=r"reach: 3 leaves .* cells: 'cell 7'\. A reach of 19 would do\."):
        cz.protect(risk({1: (9, 9)}), cz.RandomRound(20, reach=3), seed=1)


def test_plain_rounding_that_does_not_protect_is_refused() -> None:
    """Nobody draws again until it does: that would bias every cell."""
    with pytest.raises(cz.InfeasibleError, match="random-round: does not protect 'cell 7' with the base 3"):
        cz.protect(risk({1: (9, 9)}), cz.RandomRound(3, "controlled"), seed=1)


def test_sensitive_totals_cannot_be_kept() -> None:
    """A sensitive total is rounded, so it cannot stay; without that wish it is."""
    asked = risk_of(SHAPE.table(LEAVES, counts=True), {5: (1, 1)})
    with pytest.raises(cz.SpecError, match="keep_totals: keeps cells that are sensitive: 'cell 5'"):
        cz.protect(asked, cz.RandomRound(10), seed=1)
    result = cz.protect(asked, cz.RandomRound(10, keep_totals=False), seed=1)
    assert cz.publish(result).published.counts[5] % 10 == 0
    assert result.safe


def test_totals_are_shown_and_everything_else_has_one_status() -> None:
    """Which cells were sensitive is not to be seen from the statuses."""
    result = cz.protect(risk({1: (2, 2), 6: (3, 3)}), cz.RandomRound(10), seed=3)
    release = cz.publish(result)
    totals = find_kept_totals(result.risk.table, "all")
    assert ((release.status == SHOWN) == totals).all()
    assert set(release.status[~totals].tolist()) == {"perturbed"}
    assert (release.upper.counts - release.published.counts)[~totals].tolist() == [9] * int((~totals).sum())
    assert result.audit.safe


def test_several_attackers_are_all_kept_away() -> None:
    """An attacker who knows a neighbour exactly is one more requirement."""
    table = SHAPE.table(LEAVES, counts=True)
    outside = cz.Attacker.external(table)
    inside = outside.with_knowledge(table, {SHAPE.leaves[0]: 31}, name="neighbour")
    result = cz.protect(risk({1: (2, 2)}, attackers=[outside, inside]), cz.RandomRound(10), seed=3)
    assert len(result.audit.verdicts) == 2
    assert result.safe


def test_three_dimensions() -> None:
    """The paper leaves them open."""
    shape = Shape((2, 2, 3))
    table = shape.table(np.random.default_rng(0).integers(20, 90, size=12).tolist())
    cells = [shape.leaves[k] for k in (0, 5)]
    result = cz.protect(risk_of(table, dict.fromkeys(cells, (3, 3))), cz.RandomRound(12), seed=2)
    published = cz.publish(result).published.counts
    assert not (published[cells] % 12).any()
    assert not table.relations.residuals(published).any()
    assert result.safe


def test_the_same_seed_gives_the_same_table_and_no_seed_a_fresh_one() -> None:
    """The office can repeat a draw; nobody can guess it."""
    method = cz.RandomRound(7, "plain")
    first, again, other = (cz.protect(risk(), method, seed=seed) for seed in (11, 11, 12))
    assert (cz.publish(first).published.counts == cz.publish(again).published.counts).all()
    assert (cz.publish(first).published.counts != cz.publish(other).published.counts).any()
    fresh = [cz.protect(risk(), method).seed for _ in range(2)]
    assert fresh[0] != fresh[1]
    assert min(fresh) > 2**40
    repeated = cz.protect(risk(), method, seed=fresh[0])
    assert repeated.seed == fresh[0]


def test_no_public_file_carries_the_seed(tmp_path: Path) -> None:
    """The release knows nothing of it, nor does what is written."""
    seed = 987654321987654321
    for scheme in ("plain", "controlled", "sensitive"):
        result = cz.protect(risk({1: (2, 2)}), cz.RandomRound(10, scheme), seed=seed)
        release = cz.publish(result)
        assert str(seed) not in repr(release)
        assert not hasattr(release, "seed")
        cz.write(release, tmp_path / "out.csv")
        assert str(seed) not in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize("seed", range(1, 13))
def test_every_run_states_the_bias_of_the_scheme(seed: int) -> None:
    """14 would become 20 with probability 0.4, but then 3 and 5 would have to lose 6: it always becomes 10."""
    shape = Shape((2, 2))
    table = shape.table([14, 3, 5, 30])
    known = cz.Attacker.between(table, [0] * 9, [2000] * 9)
    result = cz.protect(risk_of(table, {shape.leaves[0]: (1, 1)}, [known]), cz.RandomRound(10), seed=seed)
    assert result.notes[0] == (
        "Bias of the scheme, over all 2 sets of rounded values: "
        "cell 4, always below the truth by up to 40% of the base; "
        "of the others most cell 5, always above the truth by up to 40% of the base."
    )


@pytest.mark.parametrize("number", [30, pytest.param(400, marks=pytest.mark.slow)])
def test_the_stated_bias_is_that_of_many_runs(number: int) -> None:
    """Two cells with a choice: some sets cannot be completed, and what remains shifts both."""
    shape = Shape((2, 3))
    table = shape.table([14, 17, 20, 4, 6, 40])
    asked = risk_of(table, dict.fromkeys(shape.leaves[:2], (1, 1)))
    runs = [cz.protect(asked, cz.RandomRound(10), seed=seed) for seed in range(1, number + 1)]
    assert len({result.notes[0] for result in runs}) == 1
    words = re.findall(r"(cell \d+), (?:on average|always) (above|below) the truth by up to (\d+)%", runs[0].notes[0])
    said = {cell: int(most) * (10 if side == "above" else -10) / 100 for cell, side, most in words}
    assert said
    mean = np.mean([cz.publish(result).published.counts - table.amounts.counts for result in runs], axis=0)
    for cell in shape.leaves[:2]:
        assert abs(mean[cell] - said.get(table.label(cell), 0)) < 1.5, (table.label(cell), mean[cell], words)


def test_a_bias_that_only_one_multiple_makes_is_stated_where_sets_are_many() -> None:
    shape = Shape((2, 12))
    table = shape.table([*[14] * 7, 19, *[60] * 4, *[60] * 12])
    levels = dict.fromkeys(shape.leaves[:7], (1, 1)) | {shape.leaves[7]: (1, 9)}
    note = cz.protect(risk_of(table, levels), cz.RandomRound(10), seed=3).notes[0]
    always = f"{table.label(shape.leaves[7])}, always above the truth by up to 10% of the base"
    assert f"{always}, because no other multiple protects them" in note


@pytest.mark.parametrize("seed", [1, *(pytest.param(one, marks=pytest.mark.slow) for one in (2, 3, 11, 14))])
def test_of_too_many_sets_the_bias_is_stated_as_a_bound(seed: int) -> None:
    """Seven cells with a choice; the first cannot go up, because the cell below it has too little to make up for."""
    shape = Shape((2, 12))
    table = shape.table([*[14] * 7, *[60] * 5, 3, *[60] * 11])
    asked = risk_of(table, dict.fromkeys(shape.leaves[:7], (1, 1)))
    note = cz.protect(asked, cz.RandomRound(10), seed=seed).notes[0]
    words = re.fullmatch(
        r"Bias of the scheme: about (\d+)% of the base at most in any other rounded cell \(.*\)\.", note
    )
    assert words is not None, note
    assert 40 <= int(words[1]) <= 100  # of ten sets four are not usable: the first cell is always off by -4


def test_no_public_file_carries_the_bias(tmp_path: Path) -> None:
    shape = Shape((2, 2))
    table = shape.table([14, 3, 5, 30])
    release = cz.publish(cz.protect(risk_of(table, {shape.leaves[0]: (1, 1)}), cz.RandomRound(10), seed=1))
    for name in ("out.csv", "out.parquet", "out.xlsx"):
        cz.write(release, tmp_path / name)
        assert b"Bias" not in (tmp_path / name).read_bytes()
    assert "Bias" not in repr(release) + repr(vars(release) if hasattr(release, "__dict__") else "")


def test_a_table_that_cannot_be_completed_is_refused() -> None:
    """With neighbours of zero nothing can make up for rounding."""
    shape = Shape((2, 2))
    table = shape.table([14, 0, 0, 30])
    with pytest.raises(cz.InfeasibleError, match="random-round: found no safe table in 5 draws"):
        cz.protect(risk_of(table, {shape.leaves[0]: (1, 1)}), cz.RandomRound(10, draws=5), seed=1)
