"""Where a solver gives no answer among bounds of very different size, a search goes on without those that are far."""

from __future__ import annotations

import pandas as pd

import celosia as cz

RECORDS = [
    ("B", "II", "f7", 0, -20),
    ("A", "II", "f0", 10, 10),
    ("B", "III", "f2", 5, -20),
    ("B", "III", "f3", 40, 0),
    ("B", "I", "f4", 40, -20),
    ("A", "II", "f3", 40, -20),
    ("B", "I", "f6", 5, 10),
    ("A", "III", "f7", 5, 10),
]


def test_signed_variables_that_add_up_are_protected_though_highs_ends_without_an_answer() -> None:
    firms = pd.DataFrame(RECORDS, columns=["row", "column", "firm", "domestic", "export"])
    firms["turnover"] = firms.domestic + firms.export
    table = cz.tabulate(
        firms,
        by=["row", "column"],
        value=["turnover", "domestic", "export"],
        relations=["turnover = domestic + export"],
        respondent="firm",
    )
    risk = cz.assess(table, cz.PriorPosterior(10, 50), cost="unity", attackers=[cz.Attacker.external(table)])
    results = [cz.protect(risk, solver=solver) for solver in ("highs", "scip")]
    assert [(result.safe, result.optimal, result.cost) for result in results] == [(True, True, 25.0)] * 2
