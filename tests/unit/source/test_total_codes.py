"""Codes that are called like a total: records have none."""

from __future__ import annotations

import pandas as pd
import pytest

import celosia as cz
from celosia.source.total_codes import names_a_total

ROWS = pd.DataFrame(
    {
        "sector": ["Total"] * 3 + ["A"] * 3 + ["B"] * 3,
        "area": ["Total", "x", "y"] * 3,
        "value": [10, 4, 6, 7, 3, 4, 3, 1, 2],
    }
)


def test_ready_made_cells_are_refused_as_microdata() -> None:
    with pytest.raises(cz.DataError) as refused:
        cz.tabulate(ROWS, by=["sector", "area"], value="value")
    assert [problem.place for problem in refused.value.problems] == [
        "data, dimension 'sector'",
        "data, dimension 'area'",
    ]
    assert "celosia.cells" in str(refused.value)
    assert "total_codes='keep'" in str(refused.value)
    assert cz.cells(ROWS, by=["sector", "area"], value="value").amounts.fraction(0) == 10


@pytest.mark.parametrize("word", ["Total", "TOTAL", " total", "_T", "grand total"])
def test_every_spelling_of_a_total_is_one(word: str) -> None:
    with pytest.raises(cz.DataError, match="called like a total"):
        cz.tabulate(ROWS.replace("Total", word), by=["sector", "area"], value="value")


def test_the_name_of_the_dimension_s_own_total_is_one() -> None:
    rows = ROWS.replace("Total", "FR")
    hierarchies = {"sector": cz.Hierarchy.flat(["FR", "A", "B"], total="FR")}
    with pytest.raises(cz.DataError, match="called like a total: 'FR'"):
        cz.tabulate(rows, by=["sector"], value="value", hierarchies=hierarchies)
    assert len(cz.tabulate(rows, by=["sector"], value="value")) == 4


def test_whoever_says_so_keeps_them_as_codes() -> None:
    table = cz.tabulate(ROWS, by=["sector", "area"], value="value", total_codes="keep")
    assert table.amounts.fraction(0) == 40
    with pytest.raises(cz.SpecError, match="total_codes: must be one of error, keep, not 'drop'"):
        cz.tabulate(ROWS, by=["sector"], value="value", total_codes="drop")


def test_one_code_under_a_total_is_no_total() -> None:
    assert len(cz.tabulate(ROWS[ROWS["sector"] == "A"][:1].replace("Total", "x"), by=["area"], value="value")) == 1


def test_what_looks_like_the_name_of_a_total() -> None:
    words = ["Total", "Total_EAST", "ALL", "_T", "Ensemble", "Totalizator", "Alloys", "T", "A", ""]
    assert [word for word in words if names_a_total(word)] == words[:5]
