"""The worst aggregation against a program for every pair, the program of the paper, and clocks that stop anywhere."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from benchmarks.paper_program import paper_optimum
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles.aggregation_oracle import largest_excess
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_cases import Case, case_of

from celosia import OutOfTimeError, audit_respondents, publish, worst_aggregation
from celosia.attack.aggregations import worst as module
from celosia.attack.aggregations.criterion import Aggregation
from celosia.pattern.entries import HIDDEN
from celosia.risk.respondents.knowledge import Knowledge, respondents_of
from celosia.risk.rules.contributor_rules import Ties
from celosia.solve.clock import Clock
from celosia.solve.registry import backends

MANY = 9  # respondents: the paper's program for more of them takes long
MOST_LEAVES = 3  # of one respondent: the oracle tries all signs


def small_case(seed: int) -> Case:
    case = case_of(seed, intervals=False)
    assume(1 < len(np.unique(case.numbers)) <= MANY)
    people = respondents_of(case.table, case.rule.by)
    assume(int(np.bincount(people.sizes.indices).max()) <= MOST_LEAVES)
    return case


def by_oracle(case: Case) -> dict[tuple[str, str], float]:
    people, knowledge = respondents_of(case.table, case.rule.by), Knowledge.of(case.rule)
    dense = people.sizes.toarray()
    sizes = {
        leaf: {str(number): float(size) for number, size in zip(people.numbers.tolist(), row.tolist(), strict=True)}
        for leaf, row in zip(people.leaves.tolist(), dense, strict=True)
    }
    hidden = publish(case.pattern).status == HIDDEN
    relations = case.table.relations.matrix.toarray().astype(float)
    return largest_excess(relations, hidden, sizes, knowledge.p / knowledge.unit, knowledge.q / knowledge.unit)


def is_one(case: Case, found: Aggregation) -> bool:
    """Return whether an aggregation is zero for every table in which shown cells are, in fractions, by elimination."""
    hidden = np.flatnonzero(publish(case.pattern).status == HIDDEN).tolist()
    if len(found.cells) == 1 and found.cells[0] not in hidden:
        return True
    rows = [[Fraction(int(v)) for v in row] for row in case.table.relations.matrix.toarray()[:, hidden]]
    goal = [dict(zip(found.cells.tolist(), found.coefficients, strict=True)).get(cell, Fraction(0)) for cell in hidden]
    return _rank(rows) == _rank([*rows, goal])


def _rank(rows: list[list[Fraction]]) -> int:
    rows, rank = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((k for k in range(rank, len(rows)) if rows[k][column]), None)
        if pivot is None:
            continue
        rows[rank], rows[pivot] = rows[pivot], rows[rank]
        for k in range(rank + 1, len(rows)):
            if factor := rows[k][column] / rows[rank][column]:
                rows[k] = [a - factor * b for a, b in zip(rows[k], rows[rank], strict=True)]
        rank += 1
    return rank


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 2**32))
def test_it_is_the_largest_excess_of_any_pair_and_an_aggregation_in_fractions(seed: int) -> None:
    assert_largest(small_case(seed))


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.integers(0, 2**32))
def test_it_is_so_of_many_tables(seed: int) -> None:
    assert_largest(small_case(seed))


def assert_largest(case: Case) -> None:
    largest = max(by_oracle(case).values(), default=-1.0)
    found = worst_aggregation(case.pattern, case.table, rule=case.rule, time_limit=None)
    if found is None:
        assert largest <= 1e-6
    else:
        assert found.worst
        assert found.excess > 0
        assert float(found.excess) == pytest.approx(largest, rel=1e-6)
        assert is_one(case, found)


@few_and_many(2, 30, st.integers(0, 2**32), st.data())
def test_of_one_attacker_or_one_target_it_is_the_largest_of_theirs(seed: int, data: st.DataObject) -> None:
    case = small_case(seed)
    excesses = by_oracle(case)
    numbers = respondents_of(case.table, case.rule.by).numbers.tolist()
    one = data.draw(st.sampled_from(numbers))
    for place, name in enumerate(("attacker", "target")):
        largest = max((value for pair, value in excesses.items() if pair[place] == str(one)), default=-1.0)
        found = worst_aggregation(case.pattern, case.table, rule=case.rule, time_limit=None, **{name: one})
        assert (0 if found is None else float(found.excess)) == pytest.approx(max(largest, 0.0), rel=1e-6, abs=1e-6)


@few_and_many(3, 60, st.integers(0, 2**32), st.data())
def test_of_sets_of_attackers_and_targets_it_is_the_largest_of_their_pairs(seed: int, data: st.DataObject) -> None:
    """The reduced model at the end of section 6: a pre-defined set of contributions, a selection of attackers."""
    case = small_case(seed)
    numbers = respondents_of(case.table, case.rule.by).numbers.tolist()
    attackers, targets = (data.draw(st.sets(st.sampled_from(numbers), min_size=1)) for _ in range(2))
    assume(len(attackers | targets) > 1)
    own = [value for pair, value in by_oracle(case).items() if int(pair[0]) in attackers and int(pair[1]) in targets]
    found = worst_aggregation(
        case.pattern, case.table, rule=case.rule, time_limit=None, attacker=attackers, target=targets
    )
    largest = max(own, default=0.0)
    assert (0 if found is None else float(found.excess)) == pytest.approx(max(largest, 0.0), rel=1e-6, abs=1e-6)
    if found is not None:
        people = found.respondents.numbers
        assert people[found.attacker] in attackers
        assert people[found.target] in targets
        assert found.attacker != found.target
        assert is_one(case, found)


@few_and_many(2, 30, st.integers(0, 2**32), st.sampled_from(["safe", "sensitive"]))
def test_the_program_of_the_paper_has_the_same_verdict_and_finds_nothing_worse(seed: int, ties: Ties) -> None:
    case = small_case(seed)
    paper = paper_optimum(case.pattern, case.table, rule=case.rule, ties=ties, backend=backends()[0])
    found = worst_aggregation(case.pattern, case.table, rule=case.rule, ties=ties, time_limit=None)
    assert (found is None) == (paper is None)
    if found is not None and paper is not None:
        assert found.excess >= paper.excess


class Looked(Clock):
    """A clock that is up after so many looks."""

    looks = 0

    @property
    def left(self) -> float:
        """Nothing, after so many looks."""
        type(self).looks -= 1
        return 1e9 if type(self).looks >= 0 else 0.0

    def share(self, part: float) -> Clock:
        """Return the same: whatever comes first is up first."""
        del part
        return self


@few_and_many(6, 60, st.integers(0, 2**32), st.integers(0, 12))
def test_whenever_time_is_up_there_is_no_all_clear_that_is_not_proved(seed: int, looks: int) -> None:
    case = case_of(seed, intervals=False)
    assume(len(np.unique(case.numbers)) > 1)
    safe = audit_respondents(case.pattern, case.table, rule=case.rule).safe
    Looked.looks = looks
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Clock", Looked)
        try:
            found = worst_aggregation(case.pattern, case.table, rule=case.rule)
        except OutOfTimeError:
            return
    assert (found is None) == safe
