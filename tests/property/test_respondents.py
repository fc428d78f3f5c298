"""The fast audit of respondents against the full one and aggregations; Theorems 1 and 2."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.oracles.aggregation_oracle import sensitivity
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_cases import Case, case_of
from tests.oracles.single_contributions import OpenAttack, every_pair, open_attacks

from celosia import RespondentAudit, audit_respondents, worst_aggregation
from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.protection.engine.null_space.coordinates import find_coordinates
from celosia.risk.respondents.knowledge import Knowledge, respondents_of
from celosia.risk.rules.contributor_rules import Ties

MOST_CELLS = 12
MANY = 9  # respondents: the paper's program for more of them takes long


def both(case: Case, ties: Ties = "safe") -> tuple[RespondentAudit, list[OpenAttack]] | None:
    """Return the fast audit and the full one, None where all belong to one holding."""
    if len(np.unique(case.numbers)) == 1:
        return None
    fast = audit_respondents(case.pattern, case.table, rule=case.rule, ties=ties)
    return fast, open_attacks(case.pattern, case.table, case.rule, ties=ties)


@few_and_many(5, 80, st.integers(0, 2**32))
def test_the_fast_audit_finds_every_pair_that_the_full_one_finds_and_no_other(seed: int) -> None:
    """With holdings, singletons, equal contributions, negative values, published ranges, hidden totals."""
    found = both(case_of(seed))
    if found is not None:
        fast, full = found
        assert every_pair(fast) == [(one.attackers[0], one.target) for one in full]


@few_and_many(3, 30, st.integers(0, 2**32))
def test_it_does_so_where_ties_are_sensitive(seed: int) -> None:
    found = both(case_of(seed), "sensitive")
    if found is not None:
        fast, full = found
        assert every_pair(fast) == [(one.attackers[0], one.target) for one in full]


@few_and_many(4, 80, st.integers(0, 2**32), st.integers(1, 2), st.data())
def test_of_sets_of_attackers_and_targets_it_finds_the_pairs_of_the_full_one(
    seed: int, coalition: int, data: st.DataObject
) -> None:
    """Whoever is not among the attackers still blurs what they see, and a larger target clears no smaller one."""
    case = case_of(seed, coalition=coalition)
    numbers = np.unique(case.numbers).tolist()
    attackers, targets = (data.draw(st.sets(st.sampled_from(numbers), min_size=1)) for _ in range(2))
    assume(len(attackers | targets) > 1 and len(attackers) > coalition)
    fast = audit_respondents(case.pattern, case.table, rule=case.rule, attacker=attackers, target=targets)
    full = [one for one in open_attacks(case.pattern, case.table, case.rule) if one.target in targets]
    full = [one for one in full if set(one.attackers) <= attackers]
    assert fast.safe == (not full)
    assert all(int(part.respondents.numbers[one.target]) in targets for part in fast.parts for one in part.open)
    if coalition == 1:
        pairs = [pair for pair in every_pair(fast) if pair[0] in attackers]
        assert pairs == [(one.attackers[0], one.target) for one in full]


def drawn_moves(case: Case, seed: int) -> ProposedWitnesses | None:
    """Return moves of the hidden cells drawn at random, each proposed for every cell that it moves."""
    rng, hidden = np.random.default_rng(seed), np.flatnonzero(case.pattern.status != "shown")
    part = sp.csr_array(case.table.relations.matrix[:, hidden])
    found = find_coordinates(sp.csr_array(part[np.flatnonzero(np.diff(part.indptr) > 0)]), 10**6)
    if found is None or not found.degrees_of_freedom:
        return None
    drawn = rng.integers(-1, 2, (12, found.degrees_of_freedom)) * (rng.random((12, found.degrees_of_freedom)) < 0.5)
    moves = sp.csr_array(drawn @ found.combinations.T)
    moves.eliminate_zeros()
    moves = sp.csr_array(moves[np.flatnonzero(np.diff(moves.indptr) > 0)])
    table = np.repeat(np.arange(moves.shape[0]), np.diff(moves.indptr))
    return ProposedWitnesses(
        hidden[moves.indices],
        np.zeros(moves.nnz, dtype=np.int64),
        moves.data > 0,
        moves.indptr.astype(np.int64),
        hidden[moves.indices],
        moves.data,
        np.ones(moves.shape[0], dtype=np.int64),
        case.table.decimals,
        table,
    )


@few_and_many(5, 200, st.integers(0, 2**32))
def test_moves_that_are_proposed_change_no_verdict(seed: int) -> None:
    """Several moves clear a target together; who they do not clear is attacked as before."""
    case = case_of(seed)
    moves = drawn_moves(case, seed)
    if moves is None or len(np.unique(case.numbers)) == 1:
        return
    told = audit_respondents(case.pattern, case.table, rule=case.rule, proposed=moves)
    full = open_attacks(case.pattern, case.table, case.rule)
    assert every_pair(told) == [(one.attackers[0], one.target) for one in full]


@few_and_many(2, 20, st.integers(0, 2**32))
def test_coalitions_of_two_have_the_same_verdict_and_every_open_one_is_one(seed: int) -> None:
    found = both(case_of(seed, coalition=2))
    if found is not None:
        fast, full = found
        assert fast.safe == (not full)
        for one in fast.open:
            members = {int(fast.parts[0].respondents.numbers[place]) for place in one.attackers}
            target = int(fast.parts[0].respondents.numbers[one.target])
            assert any(members <= set(other.attackers) and target == other.target for other in full)


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32))
def test_a_pair_has_a_sensitive_aggregation_where_it_is_open(seed: int) -> None:
    case = case_of(seed, intervals=False)
    if not 1 < len(np.unique(case.numbers)) <= MANY or len(case.table) > MOST_CELLS:
        return
    pairs = every_pair(audit_respondents(case.pattern, case.table, rule=case.rule))
    numbers = respondents_of(case.table).numbers.tolist()
    for attacker in numbers:
        for target in numbers:
            if attacker != target:
                found = worst_aggregation(case.pattern, case.table, rule=case.rule, attacker=attacker, target=target)
                assert (found is not None) == ((attacker, target) in pairs)


contributions = st.lists(st.lists(st.integers(0, 50), min_size=4, max_size=4), min_size=1, max_size=4)
coefficients = st.lists(st.integers(-3, 3), min_size=4, max_size=4)


def aggregated(cells: list[list[int]], factors: list[int]) -> list[Fraction]:
    return [
        sum((Fraction(abs(factor) * cell[r]) for factor, cell in zip(factors, cells, strict=False)), Fraction(0))
        for r in range(4)
    ]


@given(contributions, coefficients, st.integers(1, 30), st.integers(31, 100))
def test_theorem_1_whoever_is_protected_in_an_aggregation_is_protected_in_its_cells(
    cells: list[list[int]], factors: list[int], p: int, q: int
) -> None:
    """(A.4): with lambda = |factor of the cell|, q (others + the rest of t) / lambda > p x_t."""
    own = aggregated(cells, factors)
    for s in range(4):
        for t in range(4):
            others = sum(own) - own[s] - own[t]
            if s == t or not q * others > p * own[t]:
                continue
            for cell, factor in zip(cells, factors, strict=False):
                if factor:
                    rest = own[t] - abs(factor) * cell[t]
                    assert q * (others + rest) > p * abs(factor) * cell[t]


@given(contributions, coefficients, st.integers(1, 30), st.integers(31, 100))
def test_theorem_2_cells_that_are_not_sensitive_add_up_to_none_that_is(
    cells: list[list[int]], factors: list[int], p: int, q: int
) -> None:
    rule = Knowledge(p, q, 100)
    used = [cell for cell, factor in zip(cells, factors, strict=False) if factor]
    if used and all(sensitivity(cell, rule) < 0 for cell in used):
        assert sensitivity(aggregated(cells, factors), rule) < 0
