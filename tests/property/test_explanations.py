"""Explanations of hundreds of small audits, added up by hand in fractions and compared with the oracle's ends."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import ceil, floor

import pytest
from tests.oracles import attack_oracle as oracle
from tests.oracles.audit_cases import KINDS, Case, audited, drawn_case, intervals_of, joined
from tests.oracles.bare_tables import seeded

from celosia import Explanation, explain
from celosia.attack.explain import SIDES


def added_up(case: Case, said: Explanation, number: int) -> Fraction:
    """Return the end that an explanation gives, from the case's own relations and bounds, having checked each step."""
    situation = case.situation(number)
    rest = [Fraction(int(cell == said.cell)) for cell in range(len(case.counts))]
    constant = Fraction(0)
    for row, factor in said.relations:
        assert factor
        rest = [left - factor * entry for left, entry in zip(rest, case.rows[row], strict=True)]
        constant += factor * sum(entry * case.value(cell) for cell, entry in enumerate(case.rows[row]) if entry)
    assert {used.cell: used.multiplier for used in said.cells} == {cell: left for cell, left in enumerate(rest) if left}
    if said.relations:
        assert not rest[said.cell]
    end = constant
    for cell, left in enumerate(rest):
        if left:
            above = (left > 0) == (said.side == "upper")
            bound = (situation.upper if above else situation.lower)[cell]
            assert bound is not None
            if case.whole:
                bound = Fraction(floor(bound) if above else ceil(bound))
            assert next(used.bound for used in said.cells if used.cell == cell) == bound
            end += left * bound
    assert end == said.total
    return Fraction((floor if said.side == "upper" else ceil)(end)) if case.whole else end


@pytest.mark.parametrize("together", [2, pytest.param(6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("whole", [False, True], ids=["decimals", "whole"])
@pytest.mark.parametrize("kind", KINDS)
def test_multiplied_relations_and_bounds_add_up_to_the_end_of_the_interval(
    kind: str, together: int, *, whole: bool
) -> None:
    seen: Counter[str] = Counter()
    for number in range(3):
        chance = seeded(f"explained {kind} {whole} {number}")
        decimals = 0 if whole else number % 3
        cases = [drawn_case(chance, kind, whole=whole, decimals=decimals, attackers=2) for _ in range(together)]
        case = joined(cases)
        audit = audited(case)
        truths = intervals_of(cases)
        for cell in sorted({*case.entries, *case.levels}):
            for attacker, side in ((attacker, side) for attacker in range(2) for side in SIDES):
                said = explain(audit, cell, side, attacker=attacker)
                true = truths[attacker][cell]
                seen["without an end" if said is None else "relations" if said.relations else "own bound"] += 1
                if said is None:
                    assert true is None or true[SIDES.index(side)] is None
                    continue
                assert said.end == added_up(case, said, attacker)
                seen["exact"] += said.exact
                if true is None:
                    continue
                end = true[SIDES.index(side)]
                if said.exact or not whole:
                    assert said.end == end, (cell, attacker, side)
                    assert said.exact
                else:
                    assert end is not None
                    assert oracle.inside((end, end), (said.end, None) if side == "lower" else (None, said.end))
    assert min(seen["relations"], seen["own bound"]) > 20 * together / 6, seen
    assert seen["exact"] > 0.6 * (seen["relations"] + seen["own bound"]), seen  # of whole tables not all are found
