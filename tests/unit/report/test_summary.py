from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from celosia import Attacker, Risk, Table
from celosia.report.summary import GIVEN, LevelCount, RuleCount, summary
from celosia.risk.risk import SAFE, SENSITIVE, Levels
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations


def test_counts_cells_by_status(two_way: Risk) -> None:
    found = summary(two_way)
    assert (found.cells, found.sensitive, found.must_hide, found.must_show) == (len(two_way), 3, 1, 1)
    assert found.sensitive_share == 3 / len(two_way)
    assert found.relations == len(two_way.table.relations)
    assert found.components == 1
    assert found.table == "turnover by industry \N{MULTIPLICATION SIGN} region"


def test_a_rule_counts_its_cells_and_those_it_finds_alone(two_way: Risk) -> None:
    by_rule = summary(two_way).by_rule
    assert by_rule == (RuleCount("p% rule (p = 10)", 2, 1), RuleCount("fewer than 3 contributors", 2, 1))


def test_levels_count_along_each_dimension(two_way: Risk) -> None:
    levels = [count for count in summary(two_way).by_level if count.dimension == "industry"]
    per_industry = np.bincount(two_way.table.levels[:, 0])
    assert levels == [
        LevelCount("industry", 0, per_industry[0], 0),
        LevelCount("industry", 1, per_industry[1], 0),
        LevelCount("industry", 2, per_industry[2], 3),
    ]


def test_the_share_of_value_counts_every_value_once(two_way: Risk) -> None:
    (turnover,) = summary(two_way).variables
    # Sensitive and no sum of others: C10 x Brink (3,000) and C11 x Alten (1,000), which is also C11 x North.
    assert turnover.value_share == pytest.approx(4_000 / 36_000)


def test_a_relation_between_variables_makes_no_total() -> None:
    # turnover = domestic + export, in one cell: all three are the finest there is.
    relations = Relations.of_terms(np.zeros(3, np.int64), np.arange(3), np.array([-1, 1, 1]), shape=(1, 3))
    risk = _all_sensitive(("turnover", "domestic", "export"), [9, 5, 4], relations)
    assert [count.value_share for count in summary(risk).variables] == [1, 1, 1]


def test_a_variable_that_is_zero_has_no_share() -> None:
    found = summary(_all_sensitive(("turnover",), [0], Relations.none(1)))
    assert found.variables[0].value_share is None
    assert found.zeros == 1


def test_contributors_are_those_of_the_largest_cell(two_way: Risk) -> None:
    found = summary(two_way)
    assert (found.respondents, found.records, found.holdings) == (len(two_way), 2 * len(two_way), None)


def test_unknown_contributors_are_none(bare: Risk) -> None:
    found = summary(bare)
    assert (found.respondents, found.records, found.holdings) == (None, None, None)


def test_a_sensitive_cell_that_no_rule_names_was_given(bare: Risk) -> None:
    assert summary(bare).by_rule == (RuleCount(GIVEN, 3, 3),)


def test_rules_that_find_nothing_are_listed_all_the_same(two_way: Risk) -> None:
    safe = replace(two_way, status=np.full(len(two_way), SAFE))
    found = summary(safe)
    assert found.sensitive == 0
    assert [count.cells for count in found.by_rule] == [0, 0]


def test_linked_tables_are_named_by_their_own_dimensions(linked: Risk) -> None:
    times = "\N{MULTIPLICATION SIGN}"
    assert summary(linked).table == f"turnover, export by industry {times} size and industry {times} region"


def test_an_attackers_knowledge_is_said_in_words(two_way: Risk) -> None:
    table, n = two_way.table, len(two_way)
    nothing = Attacker("blank", Fixed(np.full(n, -(2**63 - 1))), Fixed(np.full(n, 2**63 - 1)))
    attackers = (Attacker.external(table), nothing, Attacker.factor(table, 11))
    said = [attacker.knows for attacker in summary(replace(two_way, attackers=attackers)).attackers]
    assert said == ["that no value is negative, and nothing more", "nothing", f"bounds of his own on {n} of {n} cells"]


def test_as_dict_is_ready_for_json(two_way: Risk, linked: Risk, bare: Risk) -> None:
    for risk in (two_way, linked, bare):
        told = json.loads(json.dumps(summary(risk).as_dict(), allow_nan=False))
        assert told["sensitive"] == int(risk.sensitive.sum())
        assert told["sensitive_share"] == told["sensitive"] / told["cells"]
        assert sum(count["cells"] for count in told["variables"]) == told["cells"]


def _all_sensitive(variables: tuple[str, ...], values: list[int], relations: Relations) -> Risk:
    """Return a bare table with one cell of every variable, all of them sensitive."""
    n = len(values)
    place = np.arange(n, dtype=np.int32)
    table = Table((), np.zeros((n, 0), np.int32), variables, place, Fixed(np.array(values)), relations)
    none = Fixed(np.zeros(n, dtype=np.int64))
    return Risk(table, np.full(n, SENSITIVE), Levels(none, none, none), table.values, ())
