"""Attackers who contribute to the table themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest

from celosia import Attacker, DataError, SpecError, Table, cells, contributors, link, tabulate

FIRMS = [
    ("a", "x", "f1", "g", 10), ("a", "x", "f2", "h", 3), ("a", "y", "f1", "g", 4), ("b", "x", "f3", "g", 7),
    ("b", "y", "f2", "h", 2), ("b", "y", "f2", "h", 1),
]  # fmt: skip


def firms(rows: Sequence[tuple[Any, ...]] = FIRMS, **options: Any) -> Table:  # noqa: ANN401
    frame = pl.DataFrame(rows, schema=["r", "c", "firm", "group", "v"], orient="row")
    roles: dict[str, Any] = {"value": "v", "respondent": "firm", "holding": "group", "contributions": True} | options
    return tabulate(frame, by=["r", "c"], **roles)


def known(table: Table, attacker: Attacker) -> dict[str, tuple[object, object]]:
    return {table.label(cell): attacker.bounds(cell) for cell in range(len(table))}


def biggest(table: Table, **codes: str) -> int:
    return contributors(table, table.find(**codes))[0]


def test_contributors_come_in_the_order_of_their_contributions() -> None:
    table = firms()
    first, second = contributors(table, table.find(r="a"))
    assert (first, second) == (biggest(table, r="a", c="y"), biggest(table, r="b", c="y"))
    assert contributors(table, table.find())[0] == first
    assert len(contributors(table, table.find())) == 3
    assert len(contributors(table, table.find(), "holding")) == 2


def test_a_respondent_knows_that_cells_hold_at_least_what_he_gave_and_his_own_cells_exactly() -> None:
    table = firms()
    assert known(table, Attacker.respondent(table, biggest(table, r="a"))) == {
        "Total": (14, None), "x": (10, None), "y": (4, None), "a": (14, None), "a x x": (10, None), "a x y": (4, 4),
        "b": (0, None), "b x x": (0, None), "b x y": (0, None),
    }  # fmt: skip


def test_a_holding_knows_the_contributions_of_all_its_firms() -> None:
    table = firms()
    holding = contributors(table, table.find(), "holding")[0]
    found = known(table, Attacker.holding(table, holding))
    assert (found["Total"], found["x"], found["b x x"]) == ((21, None), (17, None), (7, 7))


def test_a_coalition_knows_exactly_where_all_contributors_are_its_members() -> None:
    table = firms()
    members = contributors(table, table.find(r="a"))
    found = known(table, Attacker.coalition(table, respondents=members))
    assert found["a"] == (17, 17)
    assert found["a x x"] == (13, 13)
    assert found["b"] == (3, None)
    everybody = Attacker.coalition(table, respondents=contributors(table, table.find()))
    assert all(low == high for low, high in known(table, everybody).values())


def test_whoever_contributed_nothing_hides_nobody() -> None:
    table = firms([*FIRMS, ("b", "x", "f9", "k", 0)])
    assert known(table, Attacker.respondent(table, biggest(table, r="b", c="x")))["b x x"] == (7, 7)


def test_where_others_can_be_negative_nothing_is_known_below() -> None:
    table = firms([*FIRMS, ("b", "x", "f4", "g", -3)])
    found = known(table, Attacker.respondent(table, biggest(table, r="a")))
    assert found["a x y"] == (4, 4)
    assert {bounds for label, bounds in found.items() if label != "a x y"} == {(None, None)}


def test_the_only_contributor_of_a_cell_knows_its_value() -> None:
    table = firms(holding=None)
    cell = table.find(r="b", c="x")
    single = Attacker.singleton(table, cell)
    assert single.name == "singleton of b x x"
    assert known(table, single) == known(table, Attacker.respondent(table, biggest(table, r="b", c="x")))
    without = Attacker.singleton(firms(contributions=False), cell)
    assert (known(table, without)["b x x"], known(table, without)["b"]) == ((7, 7), (0, None))


def test_of_two_firms_of_one_holding_the_holding_is_the_singleton() -> None:
    table = firms([*FIRMS, ("b", "x", "f4", "g", 5)])
    cell = table.find(r="b", c="x")
    assert known(table, Attacker.singleton(table, cell))["b x x"] == (12, 12)
    with pytest.raises(SpecError, match="singleton: b x x has 2 contributors, not one"):
        Attacker.singleton(firms([*FIRMS, ("b", "x", "f4", "g", 5)], holding=None), cell)


def test_what_is_not_known_is_asked_for() -> None:
    table = firms()
    bare = replace(table, contributions=None)
    with pytest.raises(SpecError, match=r"does not know single contributions. Tabulate with contributions=True"):
        Attacker.respondent(bare, 0)
    with pytest.raises(SpecError, match=r"respondents: hold numbers that nobody has: 3, 99.* 3 respondents"):
        Attacker.coalition(table, respondents=[0, 99, 3])
    with pytest.raises(SpecError, match="coalition: has no members"):
        Attacker.coalition(table)
    with pytest.raises(SpecError, match="respondents or of holdings, not both"):
        Attacker.coalition(table, respondents=[0], holdings=[0])
    with pytest.raises(SpecError, match="there is no cell 9"):
        contributors(table, 9)
    with pytest.raises(SpecError, match="kind: must be respondent or holding, not 'firm'"):
        contributors(table, 0, "firm")
    nobody = replace(bare, statistics=None)
    with pytest.raises(SpecError, match=r"does not know the numbers of contributors.*with_knowledge"):
        Attacker.singleton(nobody, 0)


def test_contributions_that_do_not_reach_all_cells_are_not_enough() -> None:
    other = cells(pl.DataFrame({"size": ["Total", "big", "small"], "value": [27, 20, 7]}), by=["size"], value="value")
    linked = link([firms(), replace(other, variables=("v",))])
    with pytest.raises(DataError, match="the contributions to 2 cells are not known, the first being big"):
        Attacker.respondent(linked, 0)


def test_linked_tables_of_one_tabulation_share_their_respondents() -> None:
    frame = pl.DataFrame(FIRMS, schema=["r", "c", "firm", "group", "v"], orient="row")
    table = tabulate(frame, by=[["r", "c"], ["r", "group"]], value="v", respondent="firm", contributions=True)
    who = contributors(table, table.find(r="a", group="g"))
    assert len(who) == 1
    found = known(table, Attacker.respondent(table, who[0]))
    assert (found["a x g"], found["a"], found["g"]) == ((14, 14), (14, None), (14, None))
