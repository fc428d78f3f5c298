"""Verdicts are the same whether or not intervals are asked for, and come with tables either way."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.instances import instance

from celosia import Attacker, Pattern, audit, certify


@pytest.mark.parametrize("name", ["t20x10", "d3a"])
@pytest.mark.parametrize("endless", [False, True])
@pytest.mark.parametrize("sliding", [False, True])
def test_intervals_change_no_verdict(name: str, *, endless: bool, sliding: bool) -> None:
    risk = instance(name, sliding=sliding)
    attackers = (Attacker.external(risk.table), *risk.attackers) if endless else risk.attackers
    hidden = risk.sensitive | (np.random.default_rng(3).random(len(risk)) < 0.2)
    pattern = Pattern.hide(risk.table, hidden)
    alone, beside = (audit(pattern, risk, attackers=attackers, intervals=asked) for asked in (False, True))
    said = [verdict.result for verdict in alone.verdicts]
    assert {"met", "missed"} <= set(said)
    assert said == [verdict.result for verdict in beside.verdicts]
    proved = [certify(one).counts["requirements_proved"] for one in (alone, beside)]
    assert proved == [said.count("met")] * 2
