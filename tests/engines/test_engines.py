"""PostgreSQL and Spark make the tables that celosia makes itself, to the last unit."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from tests.oracles.drawn import Draw, draws
from tests.oracles.engine_tables import Store, check_draw, check_same, contributions_by_owner
from tests.oracles.examples import few_and_many

import celosia as cz

pytestmark = pytest.mark.engines

EVERYTHING: dict[str, Any] = {
    "respondent": "firm",
    "holding": "group",
    "request": "asks",
    "waiver": "waives",
}
"""All that may be known about contributors at once."""


def register(rows: int, seed: int) -> pa.Table:
    """Return records of every type of column: holdings of many units, halves to round, numbers that cancel."""
    rng = np.random.default_rng(seed)
    firm = rng.integers(0, rows // 2, rows)
    group = rng.integers(0, rows // 10, rows)
    cents = rng.integers(-10_000, 9 * 10**15, rows)  # doubles do not tell them apart
    return pa.table(
        {
            "industry": pa.array([f"{code:02d}" for code in rng.integers(10, 40, rows)]),
            "region": pa.array(rng.integers(1, 6, rows)),
            "firm": pa.array([f"Müller & Söhne '{number}'" for number in firm]),
            "group": pa.array([f"G{number}" if number % 3 else None for number in group]),
            "turnover": pa.array([Decimal(int(value)).scaleb(-2) for value in cents], pa.decimal128(18, 2)),
            "halves": pa.array(rng.integers(-9, 9, rows) / 2),
            "employees": pa.array(rng.integers(0, 50, rows)),
            "weight": pa.array(rng.integers(10, 40, rows) / 10),
            "asks": pa.array(rng.random(rows) < 0.1),
            "waives": pa.array([bool(yes) or None for yes in rng.random(rows) < 0.2]),
        }
    )


def check_register(stored: object, records: pa.Table, **options: Any) -> None:  # noqa: ANN401
    options = dict[str, Any](by=["industry", "region"], contributions=False) | options
    options["hierarchies"] = {"industry": cz.Digits((1, 1))}
    table, read = cz.tabulate(stored, **options), cz.tabulate(records, **options)
    check_same(table, read)
    assert (table.contributions is None) == (read.contributions is None)
    if table.contributions is not None and read.contributions is not None:
        assert contributions_by_owner(table.contributions) == contributions_by_owner(read.contributions)


@few_and_many(8, 80, draws(most_dimensions=3))
def test_postgresql_says_the_same_of_every_cell(store_in_postgres: Store, draw: Draw) -> None:
    check_draw(draw, store_in_postgres)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(draws())
def test_spark_says_the_same_of_every_cell(store_in_spark: Store, draw: Draw) -> None:
    check_draw(draw, store_in_spark)


@pytest.mark.parametrize("engine", ["store_in_postgres", "store_in_spark"])
def test_a_register_with_everything_in_it_is_the_same(engine: str, request: pytest.FixtureRequest) -> None:
    store: Store = request.getfixturevalue(engine)
    records = register(400, 0)
    stored = store(records)
    check_register(stored, records, value="turnover", contributions=True, **EVERYTHING)
    # Spark takes its time for every question: real numbers and weights with as few of them as there are
    check_register(stored, records, by=["industry"], value="halves", decimals=0, weight="weight")


def test_postgresql_gives_single_contributions_on_request_only(store_in_postgres: Store) -> None:
    stored = store_in_postgres(register(100, 1))
    assert cz.tabulate(stored, by=["industry"], value="turnover", respondent="firm").contributions is None


def test_an_address_with_a_schema_names_a_table(postgres: str) -> None:
    records = register(100, 2)
    engine = ibis.connect(postgres)
    engine.raw_sql("CREATE SCHEMA IF NOT EXISTS business").close()
    engine.create_table("firms", records, database="business", overwrite=True)
    engine.disconnect()
    options: dict[str, Any] = {"by": ["region"], "value": "employees", "respondent": "firm"}
    table = cz.tabulate(f"{postgres}#business.firms", **options)
    check_same(table, cz.tabulate(records, **options, contributions=False))


def test_a_table_that_is_not_there_and_a_wrong_query_are_said(postgres: str) -> None:
    with pytest.raises(cz.CelosiaError, match=r"has no table 'nothing', or does not show it"):
        cz.tabulate(f"{postgres}#nothing", by=["region"])


def test_a_table_that_goes_between_two_questions_is_said(postgres: str) -> None:
    engine = ibis.connect(postgres)
    stored = engine.create_table("gone", register(50, 3), overwrite=True)
    engine.drop_table("gone")
    with pytest.raises(cz.CelosiaError, match="was there when the reading began, and does not answer any more"):
        cz.tabulate(stored, by=["region"])
    engine.disconnect()


def test_a_wrong_password_is_said_without_it(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "hush")
    with pytest.raises(cz.CelosiaError, match="refuses the connection") as caught:
        cz.tabulate(postgres.replace("celosia@", "nobody@") + "#firms", by=["region"])
    assert "hush" not in str(caught.value)
    assert "nobody" not in str(caught.value)
