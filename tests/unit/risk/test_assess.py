from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from celosia import (
    Attacker,
    CelosiaError,
    DataError,
    Dominance,
    GivenStatus,
    Hierarchy,
    LevelShape,
    MinFrequency,
    PPercent,
    Risk,
    SpecError,
    Table,
    ZeroCells,
    assess,
    cells,
    tabulate,
)
from celosia.table.fixed import INFINITE, Fixed

Make = Callable[..., Table]


def sensitive(risk: Risk) -> list[str]:
    return [risk.table.label(int(cell)) for cell in np.flatnonzero(risk.sensitive)]


def given(columns: dict[str, list[Any]], **roles: Any) -> Table:  # noqa: ANN401
    frame = pl.DataFrame({"cell": ["Total", "a", "b"], "value": [30, 10, 20], **columns}, strict=False)
    return cells(frame, by=["cell"], value="value", **roles)


def test_a_cell_is_sensitive_if_one_rule_says_so(contributed: Make) -> None:
    table = contributed({"a": [90, 5, 5], "b": [10, 10], "c": [10, 10, 10]})
    risk = assess(table, Dominance(1, 80), MinFrequency(3))
    assert sensitive(risk) == ["a", "b"]
    assert risk.reason(1) == ("(1, 80) dominance",)
    assert risk.reason(2) == ("fewer than 3 contributors",)
    assert risk.reason(3) == ()
    assert repr(risk).endswith("2 sensitive)")


def test_rules_are_needed(contributed: Make) -> None:
    with pytest.raises(SpecError, match=r"rules: are missing. Give at least one"):
        assess(contributed({"a": [1]}))


def test_symmetric_levels_reach_no_further_down_than_zero(contributed: Make) -> None:
    risk = assess(contributed({"a": [10], "b": [10, 10, 10]}), MinFrequency(2, percent=250))
    assert risk.levels.upper.floats.tolist() == [0, 25, 0]
    assert risk.levels.lower.floats.tolist() == [0, 10, 0]
    assert risk.levels.sliding.floats.tolist() == [0, 0, 0]


def test_where_values_can_be_negative_levels_reach_below_zero(contributed: Make) -> None:
    risk = assess(contributed({"a": [10], "b": [-10, -10, -10]}), MinFrequency(2, percent=250))
    assert risk.levels.lower.floats.tolist() == [0, 25, 0]


def test_sliding_and_asymmetric_levels(contributed: Make) -> None:
    table = contributed({"a": [10], "b": [10, 10, 10]})
    sliding = assess(table, MinFrequency(2, percent=30), levels="sliding").levels
    assert (sliding.lower.floats[1], sliding.upper.floats[1], sliding.sliding.floats[1]) == (0, 0, 6)
    other = assess(table, MinFrequency(2, percent=30), levels=LevelShape(0.5, 1.5, 1)).levels
    assert (other.lower.floats[1], other.upper.floats[1], other.sliding.floats[1]) == (1.5, 4.5, 3)
    only_down = assess(table, MinFrequency(2, percent=30), levels=LevelShape(1, 0, 0)).levels
    assert (only_down.lower.floats[1], only_down.upper.floats[1]) == (3, 0)


def test_a_level_is_at_least_one_unit(contributed: Make) -> None:
    """One percent of 10 is a tenth of a unit: an attacker who is off by that knows the cell."""
    risk = assess(contributed({"a": [10], "b": [10, 10, 10]}), MinFrequency(2, percent=1))
    assert risk.levels.upper.floats[1] == risk.levels.lower.floats[1] == 1
    fine = assess(contributed({"a": [10.25], "b": [10.0, 10.0, 10.0]}), MinFrequency(2, percent=0.001))
    assert fine.levels.upper.floats[1] == 0.01


def test_a_zero_that_may_only_be_protected_downwards_is_protected_upwards(contributed: Make) -> None:
    risk = assess(contributed({"a": [0], "b": [10, 10, 10]}), MinFrequency(2), levels=LevelShape(1, 0, 0))
    assert risk.levels.upper.floats[1] == 1


def test_no_shape_makes_a_level_smaller_than_one_unit(contributed: Make) -> None:
    table = contributed({"a": [10], "b": [10, 10, 10]})
    for shape in (LevelShape(0, 0.001, 0), LevelShape(0.001, 0, 0), LevelShape(0, 0, 0.001), LevelShape(0.1, 0.1, 0.1)):
        levels = assess(table, MinFrequency(2, percent=10), levels=shape).levels
        assert max(levels.lower.floats[1], levels.upper.floats[1], levels.sliding.floats[1]) >= 1


def test_no_level_of_its_own_makes_a_cell_less_than_one_unit_wide() -> None:
    table = given(
        {"st": ["", "u", ""], "l": [None, 0.1, None], "u": [None, 0.1, None]},
        status="st",
        lower_level="l",
        upper_level="u",
    )
    levels = assess(table, GivenStatus()).levels
    assert max(levels.lower.floats[1], levels.upper.floats[1], levels.sliding.floats[1]) >= 1


def test_levels_of_zero_of_its_own_become_one_unit() -> None:
    table = given(
        {"st": ["", "u", ""], "l": [None, 0, None], "u": [None, 0, None]}, status="st", lower_level="l", upper_level="u"
    )
    assert assess(table, GivenStatus()).levels.upper.floats[1] == 1


def test_levels_of_cells_that_are_safe_are_zero() -> None:
    table = given({"u": [5.0, 5.0, 5.0], "n": [9, 2, 7]}, upper_level="u", count="n")
    assert assess(table, MinFrequency(3)).levels.upper.floats.tolist() == [0, 5, 0]


@pytest.mark.parametrize(
    ("factors", "places"),
    [
        ((0, 0, 0), ["levels"]),
        ((-1, 1, 0), ["levels.lower"]),
        ((1, float("inf"), float("nan")), ["levels.upper", "levels.sliding"]),
    ],
)
def test_shapes_that_protect_nothing_are_refused(factors: tuple[float, float, float], places: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        LevelShape(*factors)
    assert [problem.place for problem in caught.value.problems] == places


def test_unknown_shapes_are_refused(contributed: Make) -> None:
    with pytest.raises(SpecError, match=r"levels: 'symetric' is not known. Did you mean 'symmetric'"):
        assess(contributed({"a": [1]}), MinFrequency(3), levels="symetric")


def test_statuses_that_came_with_the_cells_hold_without_being_asked_for() -> None:
    table = given({"st": ["z", "m", "u"], "n": [9, 8, 7]}, status="st", count="n")
    risk = assess(table, MinFrequency(3))
    assert risk.status.tolist() == ["z", "m", "u"]
    assert risk.rules == ("fewer than 3 contributors", "given status")


def test_a_cell_declared_safe_is_safe_whatever_the_rules_say() -> None:
    table = given({"st": ["", "s", ""], "n": [9, 1, 7]}, status="st", count="n")
    assert sensitive(assess(table, MinFrequency(3))) == []


def test_a_cell_to_be_hidden_that_is_sensitive_is_sensitive() -> None:
    table = given({"st": ["", "m", ""], "n": [9, 1, 7]}, status="st", count="n")
    assert assess(table, MinFrequency(3)).status.tolist() == ["s", "u", "s"]


def test_a_sensitive_cell_that_must_be_shown_is_refused_by_name() -> None:
    table = given({"st": ["", "z", ""], "n": [9, 1, 7]}, status="st", count="n")
    with pytest.raises(DataError, match=r"status: .* to be shown and.* sensitive, the first being a \(fewer than 3"):
        assess(table, MinFrequency(3))


def test_exempt_codes_are_safe_and_their_totals_are_not() -> None:
    frame = pl.DataFrame({"r": ["?", "a", "a", "a"], "q": ["x", "x", "y", "x"], "v": [1, 2, 3, 4]})
    table = tabulate(frame, by=["r", "q"], value="v")
    assert sensitive(assess(table, MinFrequency(2), exempt={"r": ["?"]})) == ["y", "a x y"]
    assert sensitive(assess(table, MinFrequency(2))) == ["y", "?", "? x x", "a x y"]


def test_an_only_child_may_be_exempted_by_either_name() -> None:
    tree = Hierarchy.from_dict({"A": ["A1"], "B": ["B1", "B2"]})
    frame = pl.DataFrame({"r": ["A1", "B1", "B2"], "v": [1, 2, 3]})
    table = tabulate(frame, by=["r"], value="v", hierarchies={"r": tree})
    for code in ("A", "A1"):
        assert sensitive(assess(table, MinFrequency(2), exempt={"r": [code]})) == ["B1", "B2"]


def test_everything_that_is_wrong_is_told_at_once(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [2, 3]})
    short = Attacker("short", Fixed(np.zeros(1, dtype=np.int64)), Fixed(np.full(1, INFINITE)))
    rules = (PPercent(10, by="holding"), Dominance(9, 80), GivenStatus())
    with pytest.raises(CelosiaError) as caught:
        assess(table, *rules, exempt={"cel": ["a"], "cell": ["z"]}, levels="x", cost="y", attackers=[short])
    places = {problem.place for problem in caught.value.problems}
    assert {
        "p% rule (p = 10) by holding",
        "given status",
        "exempt.cel",
        "exempt.cell",
        "levels",
        "cost",
        "attacker 'short'",
    } <= places


def test_attackers_whom_the_table_refutes_are_refused(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [2]})
    wrong = Attacker("neighbour", Fixed(np.array([0, 5, 0])), Fixed(np.full(3, INFINITE)))
    with pytest.raises(
        CelosiaError, match=r"attacker 'neighbour': believes something that is not true of .*, the first being a"
    ):
        assess(table, MinFrequency(3), attackers=[wrong])
    with pytest.raises(CelosiaError, match="attackers: are missing"):
        assess(table, MinFrequency(3), attackers=[])


def test_values_beyond_a_double_keep_their_levels_exact(contributed: Make) -> None:
    large = 2**58 + 1
    risk = assess(
        contributed({"a": [large], "b": [large, large, large]}), MinFrequency(2, percent=12.5), PPercent(12.5)
    )
    assert risk.levels.upper.fraction(1) == Fraction(large, 8)
    assert risk.levels.lower.fraction(1) == Fraction(large, 8)


def test_frames_go_back_in_the_library_they_came_from() -> None:
    data = {"r": ["a", "b", "b", "b"], "v": [1, 2, 3, 4]}
    for made, kind in ((pl.DataFrame(data), pl.DataFrame), (pd.DataFrame(data), pd.DataFrame)):
        frame = assess(tabulate(made, by=["r"], value="v"), MinFrequency(2)).to_frame()
        assert isinstance(frame, kind)
        assert list(frame.columns) == [
            "r", "value", "records", "respondents", "sensitive", "status", "reason", "lower_level", "upper_level",
            "sliding_level", "cost",
        ]  # fmt: skip
        assert list(frame["status"]) == ["safe", "sensitive", "safe"]


def test_evidence_is_given_on_request_only(contributed: Make) -> None:
    risk = assess(contributed({"a": [90, 5, 5]}), PPercent(10))
    assert not any("largest contribution" in name for name in risk.columns())
    assert any("largest contribution" in name for name in risk.columns(evidence=True))


def test_zero_cells_and_other_rules_give_the_larger_level(contributed: Make) -> None:
    risk = assess(contributed({"a": [0], "b": [4, 4, 4]}), ZeroCells(7), MinFrequency(2))
    assert risk.levels.upper.floats[1] == 7
    assert risk.reason(1) == ("zero cells", "fewer than 2 contributors")
