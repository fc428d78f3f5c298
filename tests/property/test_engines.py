"""Records that stay in an engine: the same table as of records that are read, to the last unit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import ibis
import pyarrow as pa
import pytest
from tests.oracles.drawn import Draw, draws
from tests.oracles.engine_tables import Store, check_draw, contributions_by_owner
from tests.oracles.examples import few_and_many

from celosia.source.engines.rows import without_warnings


@pytest.fixture(scope="module")
def store() -> Iterator[Store]:
    """Return how records come into a DuckDB of ibis."""
    with without_warnings():
        engine = ibis.duckdb.connect()
    number = count()

    def put(table: pa.Table) -> object:
        with without_warnings():
            return engine.create_table(f"records {next(number)}", table)

    yield put
    engine.disconnect()


@few_and_many(6, 150, draws(most_dimensions=3))
def test_an_engine_says_the_same_of_every_cell(store: Store, draw: Draw) -> None:
    check_draw(draw, store)


@few_and_many(3, 60, draws())
def test_contributions_on_request_are_those_of_the_same_respondents(store: Store, draw: Draw) -> None:
    frame = draw.frame()
    asked = draw.table(store(frame.to_arrow()), contributions=True).contributions
    read = draw.table(frame, contributions=True).contributions
    assert asked is not None
    assert read is not None
    assert contributions_by_owner(asked) == contributions_by_owner(read)
    owners = {(record.respondent, record.holding) for record in draw.records}
    if len(owners) == len({respondent for respondent, _ in owners}):  # who is in several holdings goes with one of them
        assert len(set(asked.holding.tolist())) == len(set(read.holding.tolist()))
    assert (asked.waived is None) == (read.waived is None)
