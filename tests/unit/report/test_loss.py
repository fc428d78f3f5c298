from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from celosia import Pattern, Risk, SpecError, audit, loss, publish
from celosia.pattern.modes.rounded import Rounded
from celosia.table.fixed import Fixed


def test_cells_and_values_are_counted_by_level_of_each_dimension(two_way: Risk) -> None:
    pattern = Pattern.hide(two_way.table, two_way.sensitive)
    found = loss(pattern, two_way.table)
    assert (found.cells, found.hidden, found.hidden_value) == (len(two_way), 3, 5_000)
    lines = [
        (line["by"], line["part"], line["cells"], line["hidden"], line["hidden_value"])
        for line in found.to_frame("polars").to_dicts()
    ]
    assert lines == [
        ("industry", "total", 5, 0, 0),
        ("industry", "level 1", 10, 0, 0),
        ("industry", "level 2", 9, 3, 5_000),
        ("region", "total", 5, 0, 0),
        ("region", "level 1", 10, 1, 1_000),
        ("region", "level 2", 9, 2, 4_000),
    ]
    assert found.parts.value[0] == 36_000 + 22_000 + 12_000 + 10_000 + 14_000


def test_every_level_adds_up_to_the_whole(three_way: Risk) -> None:
    found = loss(Pattern.hide(three_way.table, three_way.sensitive), three_way.table)
    for name in ("industry", "size", "region"):
        mine = np.array(found.parts.by) == name
        assert found.parts.cells[mine].sum() == found.cells
        assert found.parts.hidden[mine].sum() == found.hidden
        assert math.isclose(found.parts.hidden_value[mine].sum(), found.hidden_value)


def test_variables_are_told_apart(linked: Risk) -> None:
    found = loss(Pattern.hide(linked.table, linked.sensitive), linked.table)
    assert [part for by, part in zip(found.parts.by, found.parts.part, strict=True) if by == "variable"] == [
        "turnover",
        "export",
    ]


def test_without_an_audit_nothing_is_said_about_widths(two_way: Risk) -> None:
    found = loss(Pattern.hide(two_way.table, two_way.sensitive), two_way.table)
    assert (found.width, found.endless) == (None, None)
    assert np.isnan(found.widths[two_way.sensitive]).all()
    assert not found.widths[~two_way.sensitive].any()


def test_an_interval_without_an_end_makes_the_width_infinite_and_null_in_json(two_way: Risk) -> None:
    pattern = Pattern.hide(two_way.table, np.arange(len(two_way)))
    risk = replace(two_way, status=np.where(two_way.sensitive, "u", "s"))
    found = loss(pattern, two_way.table, audit(pattern, risk, intervals=True))
    assert found.width == math.inf
    assert found.endless == len(two_way)
    assert found.as_dict()["width"] is None


def test_contributions_are_not_known_without_statistics(bare: Risk, two_way: Risk) -> None:
    assert loss(Pattern.hide(bare.table, bare.sensitive), bare.table).contributions is None
    hidden = two_way.sensitive
    assert two_way.table.statistics is not None
    expected = int(two_way.table.statistics.respondents.count[hidden].sum())
    assert loss(Pattern.hide(two_way.table, hidden), two_way.table).contributions == expected


def test_rounded_numbers_lose_their_distance_from_the_truth(two_way: Risk) -> None:
    table = two_way.table
    values = Fixed(np.rint(table.amounts.counts / 2_000).astype(np.int64) * 2_000)
    pattern = Pattern.of(table, Rounded(np.arange(len(table)), values, Fixed(np.array([2_000])), 0))
    found = loss(publish(pattern), table)
    assert found.hidden == len(table)
    assert found.distance == np.abs(values.counts - table.amounts.counts).sum()


def test_an_audit_without_intervals_is_refused(two_way: Risk) -> None:
    pattern = Pattern.hide(two_way.table, two_way.sensitive)
    with pytest.raises(SpecError, match="intervals=True"):
        loss(pattern, two_way.table, audit(pattern, two_way))


def test_an_unknown_attacker_is_refused_with_the_nearest_name(two_way: Risk) -> None:
    pattern = Pattern.hide(two_way.table, two_way.sensitive)
    found = audit(pattern, two_way, intervals=True)
    assert loss(pattern, two_way.table, found, attacker="external").width is not None
    with pytest.raises(SpecError, match="Did you mean 'external'"):
        loss(pattern, two_way.table, found, attacker="extern")
