"""Random rounding that is called safe whatever is drawn: no draw is refused, and none exposes a respondent."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_oracle import exposed_in

import celosia as cz
from celosia.progress import SILENT
from celosia.protection.protect import prepare_run
from celosia.protection.random_rounding.every_draw import Draws, describe_draws, find_base_of_safe_draws
from celosia.protection.random_rounding.method import Scheme

RULES: list[cz.PPercent | cz.MinFrequency] = [cz.PPercent(1), cz.PPercent(1, coalition=2), cz.MinFrequency(3)]
BASES = (6, 12, 24)
SAFE, NOT_SAFE = "Every draw would have been safe", "Not every draw is shown to be safe"


def risk_of(seed: int, rule: cz.PPercent | cz.MinFrequency) -> cz.Risk:
    """Return a table of few firms, whose amounts lie between multiples of bases or next to one."""
    rng = np.random.default_rng(seed)
    cells = [(row, column) for row in "AB" for column in ("I", "II")]
    lines = [
        (*cell, f"f{rng.integers(0, 9)}", int(rng.choice([5, 6, 7, 11, 17, 18, 19])))
        for cell in cells
        for _ in range(int(rng.integers(1, 4)))
    ]
    frame = pd.DataFrame(lines, columns=["row", "column", "firm", "v"])
    return cz.assess(cz.tabulate(frame, by=["row", "column"], value="v", respondent="firm"), rule)


@pytest.mark.parametrize("scheme", ["controlled", "plain"])
@few_and_many(3, 100, st.integers(0, 2**32), st.sampled_from(RULES), st.sampled_from(BASES))
def test_where_a_note_says_so_no_draw_is_refused_and_none_exposes_anybody(
    scheme: Scheme, seed: int, rule: cz.PPercent | cz.MinFrequency, base: int
) -> None:
    risk, notes, refused = risk_of(seed, rule), [], 0
    for draw in range(1, 9):
        try:
            found = cz.protect(risk, cz.RandomRound(base, scheme=scheme), seed=draw)
        except cz.InfeasibleError as error:
            if "with the base" not in str(error):
                return  # no draw has anything to do with it
            refused += 1
            continue
        notes += [note for note in found.notes if note.startswith((SAFE, NOT_SAFE))]
        if draw < 3:
            assert exposed_in(found.pattern, risk.table, rule) == []
    assert len(notes) == 8 - refused
    assert len(set(notes)) <= 1
    assert not (refused and any(note.startswith(SAFE) for note in notes))


def test_a_draw_that_is_refused_names_a_base_with_which_none_is() -> None:
    risk = risk_of(14, RULES[0])
    with pytest.raises(cz.InfeasibleError, match="With a base of 24 every draw is safe"):
        cz.protect(risk, cz.RandomRound(6, scheme="controlled"), seed=3)
    for seed in range(1, 7):
        found = cz.protect(risk, cz.RandomRound(24, scheme="controlled"), seed=seed)
        assert found.notes[0].startswith(SAFE)
        assert exposed_in(found.pattern, risk.table, RULES[0]) == []


def test_without_time_for_another_audit_the_note_says_that_nobody_asked() -> None:
    risk = risk_of(0, RULES[0])
    method = cz.RandomRound(24, scheme="plain")
    draws = Draws.of_every_cell(risk.table, method.count_base(risk.table))
    run = prepare_run(risk, method, time_limit=1e-9, solver=None, seed=1, integer=None, progress=SILENT)
    assert "was not asked" in describe_draws(risk, run, draws, 1.0)
    assert find_base_of_safe_draws(risk, run, 6, lambda base: Draws.of_every_cell(risk.table, base), 1.0) is None


@pytest.mark.filterwarnings("ignore::celosia.MidpointWarning")
@few_and_many(3, 40, st.integers(0, 2**32), st.sampled_from(RULES[:2]), st.sampled_from([5, 10, 20]))
def test_rounding_in_a_mixed_release_is_searched_against_respondents(
    seed: int, rule: cz.PPercent | cz.MinFrequency, base: int
) -> None:
    risk = risk_of(seed, rule)
    try:
        found = cz.protect(risk, cz.Mixed(round_base=base, hide_cost="value", conceal=False), time_limit=20)
    except (cz.InfeasibleError, cz.OutOfTimeError):
        return
    assert found.safe
    assert not any("not asked" in note for note in found.notes)
    assert exposed_in(found.pattern, risk.table, rule) == []
