"""Requirements made of open pairs: the audit of cells has the verdict of the audit of respondents, pair by pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many
from tests.oracles.respondent_cases import case_of

from celosia import Pattern, Risk, assess, audit, audit_respondents
from celosia.attack.findings import MISSED
from celosia.attack.respondents.requirements import add_requirements
from celosia.risk.respondents.knowledge import respondents_of


def told(risk: Risk, pattern: Pattern) -> dict[tuple[str, int], bool]:
    """Return which requirements of their own attackers miss, by name and cell."""
    assert risk.further is not None
    own = set(risk.further.attackers.tolist())
    found = audit(pattern, risk)
    return {
        (risk.attackers[one.requirement.attacker].name, one.requirement.cell): one.result == MISSED
        for one in found.verdicts
        if one.requirement.attacker in own
    }


@few_and_many(5, 50, st.integers(0, 2**32), st.integers(1, 2))
def test_a_requirement_is_missed_where_its_pair_is_open_and_met_where_it_is_closed(seed: int, coalition: int) -> None:
    """Against the pattern itself, and against one that hides everything."""
    case = case_of(seed, coalition=coalition)
    if len(np.unique(case.numbers)) == 1:
        return
    found = audit_respondents(case.pattern, case.table, rule=case.rule)
    risk = add_requirements(assess(case.table, case.rule), found)
    if risk.further is None:
        assert found.safe
        return
    single = {
        (one.target, one.attackers, one.cells[0]) for one in found.open if len(one.cells) == 1 and not one.implied
    }
    missed = told(risk, case.pattern)
    assert sum(missed.values()) >= len({(attackers, cell) for _, attackers, cell in single})
    everything = Pattern.hide(case.table, np.ones(len(case.table), dtype=bool))
    later = audit_respondents(everything, case.table, rule=case.rule)
    left = {(one.target, one.attackers, one.cells[0]) for one in later.open if len(one.cells) == 1}
    names = respondents_of(case.table, case.rule.by)
    for (name, cell), open_ in told(risk, everything).items():
        if " against " in name:
            continue
        for target, attackers, where in single:
            numbers = ", ".join(str(int(names.numbers[place])) for place in attackers)
            said = f"{names.kind} {numbers}" if attackers else f"anybody among the {names.kind}s"
            if (said, where) == (name, cell) and len(attackers) == coalition:
                assert open_ == ((target, attackers, where) in left or (target, (), where) in left)


@few_and_many(5, 50, st.integers(0, 2**32))
def test_a_pattern_that_meets_them_leaves_none_of_these_pairs_open(seed: int) -> None:
    """Also for targets in several cells, where requirements ask for more than is needed."""
    case = case_of(seed)
    if len(np.unique(case.numbers)) == 1:
        return
    found = audit_respondents(case.pattern, case.table, rule=case.rule)
    risk = add_requirements(replace(assess(case.table, case.rule)), found)
    everything = Pattern.hide(case.table, np.ones(len(case.table), dtype=bool))
    if risk.further is None or any(told(risk, everything).values()):
        return
    later = {
        (one.attackers, one.target, one.cells) for one in audit_respondents(everything, case.table, rule=case.rule).open
    }
    assert not later & {(one.attackers, one.target, one.cells) for one in found.open}
