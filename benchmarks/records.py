"""Parquet files of records for the tabulation benchmark: the same draws whatever the machine."""

from __future__ import annotations

import itertools
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

DATA = Path(__file__).parent / ".data"
_INDUSTRIES, _REGIONS = 1000, 100
_CHUNK = 1_000_000


def records(rows: int) -> Path:
    """Return a file of so many records, made if it is not there yet.

    A thousand industries on three levels below the total, a hundred regions on two, so a hundred thousand leaf cells;
    30 % of the records belong to holdings of about fifteen units spread over all cells, the others stand alone.
    Identifiers are text.
    """
    path = DATA / f"records-{rows}.parquet"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        part = path.with_suffix(".part")
        chunks = (_named(_drawn(start, min(_CHUNK, rows - start), rows)) for start in range(0, rows, _CHUNK))
        first = next(chunks)
        with pq.ParquetWriter(part, first.schema) as writer:
            for chunk in itertools.chain([first], chunks):
                writer.write_table(chunk)
        part.rename(path)
    return path


def _drawn(start: int, n: int, rows: int) -> pa.Table:
    rng = np.random.default_rng([rows, start])
    return pa.table(
        {
            "row": np.arange(start, start + n),
            "grouped": rng.random(n) < 0.3,
            "holding": rng.integers(0, max(1, rows // 50), n),
            "industry": rng.integers(0, _INDUSTRIES, n),
            "region": rng.integers(0, _REGIONS, n),
            "turnover": np.ceil(rng.lognormal(3.0, 1.4, n)),
        }
    )


def _named(drawn: pa.Table) -> pa.Table:
    """Return the draws with codes and identifiers as text."""
    connection = duckdb.connect()
    connection.register("drawn", drawn)
    return connection.sql(
        """SELECT 'F' || lpad(row::VARCHAR, 9, '0') AS firm,
                  CASE WHEN grouped THEN 'G' || lpad(holding::VARCHAR, 8, '0')
                       ELSE 'S' || lpad(row::VARCHAR, 9, '0') END AS holding,
                  chr((65 + industry // 100)::INTEGER) || lpad((industry % 100)::VARCHAR, 2, '0') AS industry,
                  lpad(region::VARCHAR, 2, '0') AS region,
                  turnover
           FROM drawn""",
    ).to_arrow_table()
