"""Contributors as attackers: what they know is true, and all of them together know everything."""

from __future__ import annotations

import numpy as np
from tests.oracles import drawn
from tests.oracles.examples import few_and_many

from celosia import Attacker, contributors


@few_and_many(12, 200, drawn.draws(large=False))
def test_contributions_sum_to_the_values_and_what_anybody_knows_is_true(draw: drawn.Draw) -> None:
    """All contributors together know the whole table; each by himself believes nothing that is not so."""
    table = draw.table(contributions=True)
    everybody = contributors(table, table.find())
    together = Attacker.coalition(table, respondents=everybody)
    assert [together.bounds(cell) for cell in range(len(table))] == [
        (table.amounts.fraction(cell),) * 2 for cell in range(len(table))
    ]
    for number in everybody:
        assert Attacker.respondent(table, number).knows(table).all()
    if table.statistics is not None and not (set(draw.roles) & {"shadow"}):
        counts = [len(contributors(table, cell)) for cell in range(len(table))]
        assert np.array_equal(table.statistics.respondents.count, counts)
