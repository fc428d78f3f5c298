"""Parquet files of records for the tabulation benchmark: the same draws whatever the machine."""

from __future__ import annotations

from pathlib import Path

import duckdb

DATA = Path(__file__).parent / ".data"
LETTERS, DIGITS = 10, 100


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
        duckdb.connect().execute(f"COPY ({_draws(rows)}) TO '{part}' (FORMAT parquet)")
        part.rename(path)
    return path


def _draws(rows: int) -> str:
    def uniform(salt: int) -> str:
        return f"(hash(i, {salt}) / 18446744073709551616.0)"

    normal = f"sqrt(-2 * ln(1 - {uniform(1)})) * cos(2 * pi() * {uniform(2)})"
    holding = f"CAST({uniform(4)} * {rows} / 50 AS BIGINT)"
    return f"""
        WITH drawn AS (
            SELECT i, {uniform(3)} AS kind, {holding} AS holding,
                   CAST(floor({uniform(5)} * {LETTERS * DIGITS}) AS INTEGER) AS industry,
                   CAST(floor({uniform(6)} * 100) AS INTEGER) AS region,
                   ceil(exp(3 + 1.4 * {normal})) AS turnover
            FROM range({rows}) AS t(i))
        SELECT 'F' || lpad(i::VARCHAR, 9, '0') AS firm,
               CASE WHEN kind < 0.3 THEN 'G' || lpad(holding::VARCHAR, 8, '0')
                    ELSE 'S' || lpad(i::VARCHAR, 9, '0') END AS holding,
               chr(65 + industry // {DIGITS}) || lpad((industry % {DIGITS})::VARCHAR, 2, '0') AS industry,
               lpad(region::VARCHAR, 2, '0') AS region,
               turnover
        FROM drawn"""
