"""What readers take for the truth: middles, ends, widths, moves, and whether they are right."""

from __future__ import annotations

import warnings
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

import celosia as cz
from celosia.attack.guesses import COLUMNS, KINDS, Guess
from celosia.pattern.modes.interval import Interval
from celosia.table.fixed import Fixed

FIRMS = [("N", "a", 1000), ("N", "b", 300), ("N", "b", 280), ("N", "b", 260), ("S", "a", 400), ("S", "a", 380)]
FIRMS += [("S", "a", 390), ("S", "b", 700), ("S", "b", 690), ("S", "b", 650)]


def risk(*rules: Any) -> cz.Risk:  # noqa: ANN401
    """Return a table with one firm of 1,000 in N x a, whose levels are 100."""
    firms = pd.DataFrame(FIRMS, columns=["area", "kind", "turnover"]).assign(firm=range(len(FIRMS)))
    table = cz.tabulate(firms, by=["area", "kind"], value="turnover", respondent="firm")
    return cz.assess(table, *(rules or (cz.PPercent(10),)), respondents=())


def of_range(low: int, high: int) -> dict[str, Guess]:
    """Return the guesses about the sensitive cell as a range, by their kinds."""
    assessed = risk()
    cell = assessed.table.find(area="N", kind="a")
    below, above = (Fixed(np.array([end])) for end in (low, high))
    ranges = Interval(np.array([cell]), below, above, table=assessed.table)
    found = cz.guesses(cz.Pattern.of(assessed.table, ranges), assessed)
    assert {guess.cell for guess in found} == {cell}
    return {guess.kind: guess for guess in found}


def test_the_middle_of_a_range_with_equal_levels_is_the_truth() -> None:
    found = of_range(900, 1100)
    assert found["middle"].guess == 1000
    assert found["middle"].truth_hit
    assert not found["middle"].kept
    assert found["middle"].promised_width == 200
    assert not found["lower end"].truth_hit
    assert found["lower end"].kept


def test_the_width_tells_the_largest_contribution_wherever_the_range_lies() -> None:
    for low in (810, 900, 990):
        width = of_range(low, low + 200)["width"]
        assert width.guess == 1000
        assert (width.left_lower, width.left_upper) == (990, 1000)
        assert not width.kept


def test_an_end_that_is_the_truth_is_found() -> None:
    assert not of_range(1000, 1300)["lower end"].kept
    assert not of_range(700, 1000)["upper end"].kept
    assert of_range(700, 1301)["together"].kept


def test_the_intervals_that_an_audit_gives_of_hidden_cells_are_guessed_at_too() -> None:
    assessed = risk()
    found = cz.guesses(cz.protect(assessed))
    assert {guess.kind for guess in found} == {"middle", "lower end", "upper end", "width", "together"}
    assert len({guess.cell for guess in found}) == 4
    both = [guess for guess in found if guess.kind == "together"]
    audited = {one.cell: one for one in cz.audit(cz.protect(assessed), intervals=True).intervals}
    assert all(Fraction(one.left_lower) == audited[one.cell].lower for one in both)
    assert all(Fraction(one.left_upper) == audited[one.cell].upper for one in both)


def test_values_that_moved_by_their_level_are_moved_back() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        moved = cz.protect(risk(), cz.Perturb(reach=400, secret=1, conceal=False))
        adjusted = cz.protect(risk(), cz.Adjust())
    for result in (moved, adjusted):
        found = cz.guesses(result)
        assert not found.of_kind("middle", sensitive=True)[0].truth_hit
        assert any(not guess.kept for guess in found if guess.kind in ("moved up", "moved down"))


def test_rounded_values_have_a_middle_and_ends() -> None:
    found = cz.guesses(cz.protect(risk(), cz.Round(base=500)))
    assert {guess.kind for guess in found} >= {"middle", "lower end", "upper end"}


def test_a_frame_has_the_columns_that_are_promised() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cz.guesses(cz.protect(risk(), cz.Intervals(conceal=False)))
    assert tuple(found.to_frame().columns) == COLUMNS
    assert set(found.to_frame()["kind"]) <= set(KINDS)
    assert found.sentence == "Of 1 sensitive cell 1 can be guessed closer than promised: middle 1, width 1, together 1."


def test_levels_that_were_given_say_nothing_of_widths() -> None:
    assessed = risk(cz.ZeroCells(5), cz.PPercent(10))
    assert assessed.shares is not None
    cell = assessed.table.find(area="N", kind="a")
    assert assessed.shares.width[cell] == pytest.approx(0.2)
    bare = replace(assessed, shares=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = cz.guesses(cz.publish(cz.protect(bare, cz.Intervals(conceal=False))), bare)
    assert not found.of_kind("width")


def test_guesses_need_a_risk() -> None:
    with pytest.raises(cz.SpecError, match="risk: is missing"):
        cz.guesses(cz.publish(cz.protect(risk())))
