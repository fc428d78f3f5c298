"""Contributions of either sign: whom the rule protects is safe from attackers who know signs, or not even those.

Daalmans and de Waal (2010, section 5): the rule assumes that everybody knows all signs, and contributions within q
percent. Their footnote 1 has an attacker who knows nothing but signs; another does not know them either. Both must take
more for possible, so whoever is safe by the rule is safe from them. An exact judge tries every pair.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from tests.oracles.exact_contributions import Knows, comes_too_close
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_cases import protected

import celosia as cz
from celosia.risk.respondents.knowledge import respondents_of

FEW = 9  # contributors, and fractions take long
OTHERS: tuple[Knows, ...] = ("its sign", "nothing")


def signed_table(seed: int) -> cz.Table:
    """Return the profits and losses of a few firms by two rows and two or three columns."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, FEW))
    frame = pl.DataFrame(
        {
            "row": rng.choice(["A", "B"], n),
            "column": rng.choice(["I", "II", "III"][: int(rng.integers(2, 4))], n),
            "firm": [f"f{k}" for k in range(n)],
            "profit": rng.choice([-40, -30, -9, -1, 1, 8, 20, 35, 50], n),
        }
    )
    return cz.tabulate(frame, by=["row", "column"], value="profit", respondent="firm")


@few_and_many(6, 80, st.integers(0, 2**32), st.sampled_from([cz.PPercent(10), cz.PriorPosterior(20, 50)]))
def test_no_pair_that_the_audit_calls_safe_is_open_to_attackers_who_know_less(
    seed: int, rule: cz.PPercent | cz.PriorPosterior
) -> None:
    table = signed_table(seed)
    assume(bool((table.amounts.counts < 0).any()))
    rng = np.random.default_rng(seed)
    pattern = cz.Pattern.hide(table, np.flatnonzero(rng.random(len(table)) < rng.choice([0.4, 0.7, 0.95])))
    found = cz.audit_respondents(pattern, table, rule=rule)
    (part,) = found.parts
    numbers = part.respondents.numbers.tolist()
    exposed = {numbers[one.target] for one in found.open}
    for target in set(numbers) - exposed:
        for attacker in set(numbers) - {target}:
            for knows in OTHERS:
                assert not comes_too_close(pattern, table, rule, (attacker,), target, knows)


@few_and_many(2, 30, st.integers(0, 2**32))
def test_a_protected_table_of_profits_and_losses_is_safe_whatever_attackers_know_of_signs(seed: int) -> None:
    table, rule = signed_table(seed), cz.PPercent(10)
    assume(bool((table.amounts.counts < 0).any()))
    risk = cz.assess(table, rule, cost="unity")
    assert risk.respondents == (rule,)
    assume(bool(risk.sensitive.any()))
    found = protected(risk, cz.Suppress(), rule)
    assume(found is not None)
    assert found is not None
    numbers = respondents_of(table).numbers.tolist()
    for target in numbers:
        for attacker in set(numbers) - {target}:
            for knows in ("within q percent", *OTHERS):
                assert not comes_too_close(found.pattern, table, rule, (attacker,), target, knows)


def test_who_knows_less_than_the_rule_says_is_an_attacker_of_his_own_in_the_exact_judge() -> None:
    """Of 100, -95, 3 and -3 the second comes near the first, unless the others may be anything of their signs."""
    frame = pl.DataFrame({"area": ["N"] * 4, "firm": list("abcd"), "profit": [100, -95, 3, -3]})
    table = cz.tabulate(frame, by=["area"], value="profit", respondent="firm")
    shown = cz.Pattern.hide(table, [])
    a, b = cz.contributors(table, "Total")[:2]
    rule = cz.PPercent(10)
    assert comes_too_close(shown, table, rule, (b,), a)
    assert not comes_too_close(shown, table, rule, (b,), a, "its sign")
    assert not comes_too_close(shown, table, rule, (b,), a, "nothing")
    assert not cz.audit_respondents(shown, table, rule=rule).safe


@pytest.mark.parametrize("knows", OTHERS)
def test_two_contributors_see_through_each_other_whatever_they_know_of_signs(knows: Knows) -> None:
    frame = pl.DataFrame({"area": ["N"] * 2, "firm": list("ab"), "profit": [100, -95]})
    table = cz.tabulate(frame, by=["area"], value="profit", respondent="firm")
    shown = cz.Pattern.hide(table, [])
    a, b = cz.contributors(table, "Total")
    assert comes_too_close(shown, table, cz.PPercent(10), (b,), a, knows)
    assert not cz.audit_respondents(shown, table, rule=cz.PPercent(10)).safe
