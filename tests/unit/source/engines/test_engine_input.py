"""What is wrong with an engine, or with what it holds, is said in one message, which quotes no record."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import ibis
import pyarrow as pa
import pytest
from tests.oracles.engine_tables import check_same

import celosia as cz
from celosia.cli.main import status
from celosia.source.engines import address
from celosia.source.engines.rows import EngineRows, without_warnings


@pytest.fixture
def engine() -> Iterator[Any]:
    with without_warnings():
        one = ibis.duckdb.connect()
    yield one
    one.disconnect()


def stored(engine: Any, **columns: Any) -> Any:  # noqa: ANN401
    with without_warnings():
        return engine.create_table("firms", pa.table(columns), overwrite=True)


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        (
            {"d": ["1", "2", "1"], "v": [1.5, None, None]},
            {"value": "v"},
            "data, column 'v': no value in 2 records. Fill them, or leave the records out.",
        ),
        (
            {"d": ["1", "2"], "v": [float("inf"), 1.0]},
            {"value": "v"},
            "data, column 'v': an infinite value or none in 1 record. Mend it.",
        ),
        (
            {"d": ["1", "2"], "v": ["1", "2"]},
            {"value": "v"},
            "data, column 'v': holds no numbers, but string. Cast it to DECIMAL in a view or query.",
        ),
        (
            {"d": ["1", ""], "v": [1, 2]},
            {"value": "v"},
            (
                "data, column 'd': no code in 1 record. Mend them, or choose with `missing` to count them as a "
                "category or to drop them."
            ),
        ),
        (
            {"d": ["1", "2"], "v": [4_000_000_000_000_000_000, 4_000_000_000_000_000_000]},
            {"value": "v"},
            (
                "data, column 'v': sums to more than 18 digits with 0 decimals. Ask for fewer decimals, or use a "
                "larger unit."
            ),
        ),
        (
            {"d": ["1", "2"], "v": [10**17, 10**17], "w": [20.5, 3.25]},
            {"value": "v", "weight": "w"},
            (
                "data, column 'v': times its weights sums to more than 18 digits. Ask for fewer decimals, or use a "
                "larger unit."
            ),
        ),
        (
            {"d": ["1", "2"], "w": [1, 0]},
            {"weight": "w"},
            "data, column 'w': a weight of zero or less in 1 record. It says how many units a record is.",
        ),
        (
            {"d": ["1", "2"], "v": [1, 2], "r": ["a", None]},
            {"value": "v", "respondent": "r"},
            "data, column 'r': no respondent in 1 record. Every record belongs to somebody.",
        ),
        (
            {"d": ["1", "2"], "v": [1, 2], "q": ["yes", "no"]},
            {"value": "v", "request": "q"},
            (
                "data, column 'q': holds neither truth values nor numbers, but string. Cast it to BOOLEAN in a view or "
                "query."
            ),
        ),
        (
            {"d": [1.5, 2.5], "v": [1, 2]},
            {"value": "v"},
            (
                "data, column 'd': holds real numbers, which are no codes. Cast it to text or to whole numbers in a "
                "view or query."
            ),
        ),
        ({"d": ["1"], "v": [1]}, {"value": "vv"}, "data: has no column 'vv' (value). Did you mean 'v'?"),
    ],
)
def test_what_is_wrong_with_records_is_said(
    engine: Any,  # noqa: ANN401
    columns: dict[str, Any],
    options: dict[str, Any],
    said: str,
) -> None:
    with pytest.raises(cz.CelosiaError) as caught:
        cz.tabulate(stored(engine, **columns), by=["d"], **options)
    assert str(caught.value) == said


def test_codes_that_a_hierarchy_does_not_have_are_said(engine: Any) -> None:  # noqa: ANN401
    with pytest.raises(cz.DataError, match="codes that are not in the hierarchy: '3'"):
        cz.tabulate(stored(engine, d=["1", "3"]), by=["d"], hierarchies={"d": cz.Hierarchy.flat(["1", "2"])})


@pytest.mark.parametrize("missing", ["category", "drop"])
def test_records_without_a_code_are_kept_or_dropped_as_they_are_here(engine: Any, missing: str) -> None:  # noqa: ANN401
    columns = {"d": ["1", None, "2", ""], "e": ["x", "y", None, "x"], "v": [1, 2, 4, 8], "r": ["a", "a", "b", "b"]}
    options: dict[str, Any] = {"by": [["d"], ["e"]], "value": "v", "respondent": "r", "missing": missing}
    table = cz.tabulate(stored(engine, **columns), **options)
    check_same(table, cz.tabulate(pa.table(columns), **options, contributions=False))


def test_exact_decimals_and_rounded_ones_are_the_same_as_here(engine: Any) -> None:  # noqa: ANN401
    long = [Decimal("123456789012345.67"), Decimal("-0.05"), Decimal("0.15"), Decimal("2.50")]
    columns = {"d": ["1", "2", "1", "2"], "v": pa.array(long, pa.decimal128(20, 2)), "f": [0.5, 1.5, -2.5, 1 / 3]}
    for options in ({"value": "v"}, {"value": "v", "decimals": 1}, {"value": "f"}, {"value": "f", "decimals": 0}):
        table = cz.tabulate(stored(engine, **columns), by=["d"], **options)
        check_same(table, cz.tabulate(pa.table(columns), by=["d"], **options, contributions=False))


def test_linked_tables_of_several_variables_are_the_same_as_here(engine: Any) -> None:  # noqa: ANN401
    columns = {
        "d": ["1", "2", "1", "2"],
        "e": ["x", "y", "y", "x"],
        "a": [1, 2, 3, 4],
        "b": [5, 6, 7, 8],
        "r": ["p", "p", "q", "s"],
    }
    options: dict[str, Any] = {"by": [["d"], ["e"]], "value": ["a", "b"], "respondent": "r"}
    check_same(
        cz.tabulate(stored(engine, **columns), **options),
        cz.tabulate(pa.table(columns), **options, contributions=False),
    )
    single = cz.tabulate(stored(engine, **columns), **options, contributions=True).contributions
    assert single is not None
    assert len(single.joint) == 2


@pytest.mark.parametrize("number", [4, 5])
@pytest.mark.parametrize(
    "change",
    ["INSERT INTO firms VALUES ('1', 5, 'a')", "UPDATE firms SET v = v + 1 WHERE r = 'a'", "DELETE FROM firms"],
)
def test_a_table_that_changes_between_two_questions_is_refused(
    engine: Any,  # noqa: ANN401
    change: str,
    number: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = stored(engine, d=["1", "2", "2"], v=[1, 2, 3], r=["a", "b", "a"])
    fetch, asked = EngineRows.fetch, iter(range(100))

    def disturb(rows: EngineRows, query: Any) -> Any:  # noqa: ANN401
        if next(asked) == number:
            engine.raw_sql(change).fetchall()
        return fetch(rows, query)

    monkeypatch.setattr(EngineRows, "fetch", disturb)
    with pytest.raises(cz.DataError, match="has changed while it was read"):
        cz.tabulate(table, by=["d"], value="v", respondent="r")


def test_a_table_that_vanishes_between_two_questions_is_said(
    engine: Any,  # noqa: ANN401
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = stored(engine, d=["1", "2"], v=[1, 2], r=["a", "b"])
    fetch, asked = EngineRows.fetch, iter(range(100))

    def vanish(rows: EngineRows, query: Any) -> Any:  # noqa: ANN401
        if next(asked) == 4:
            engine.drop_table("firms")
        return fetch(rows, query)

    monkeypatch.setattr(EngineRows, "fetch", vanish)
    with pytest.raises(cz.DataError) as caught:
        cz.tabulate(table, by=["d"], value="v", respondent="r")
    said = "data: was there when the reading began, and does not answer any more. Has the table been replaced "
    assert str(caught.value) == said + "meanwhile? Then start again."


def test_an_engine_that_fails_does_not_quote_a_record(engine: Any) -> None:  # noqa: ANN401
    with without_warnings():
        query = stored(engine, d=["1", "secret"], v=[1, 2]).mutate(v=ibis._.d.cast("int64"))
    with pytest.raises(cz.DataError, match="the engine reports a ConversionException, whose text may") as caught:
        cz.tabulate(query, by=["d"], value="v")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("written", "said"),
    [
        (
            "postgresql://me:hush@localhost/register#firms",
            (
                "postgresql://localhost/register: holds a password. Take it out. Names and passwords come from the "
                "environment of the engine, such as PGUSER and PGPASSWORD."
            ),
        ),
        ("postgresql://localhost/register", "postgresql://localhost/register: names no table. Write "),
        ("postgresql://127.0.0.1:9/register#firms", "postgresql://127.0.0.1:9/register: nobody answers at port 9. "),
        (
            "postgresql://localhost:port/register#firms",
            "data: is no address: its host or port cannot be read. Such as ",
        ),
        ("postgresql://[localhost/register#firms", "data: is no address: its host or port cannot be read. Such as "),
        (
            "postgresql://localhost/register?sslpassword=hush#firms",
            "postgresql://localhost/register: holds a password. ",
        ),
        ("spark://127.0.0.1:9#firms", "spark://127.0.0.1:9: nobody answers at port 9. Is the engine running?"),
        ("ouija://localhost/register#firms", "ouija://localhost/register: is no address that ibis knows: ouija. "),
        (
            "duckdb:///nowhere/x.duckdb#firms",
            "duckdb:///nowhere/x.duckdb: refuses the connection (IOException). ",
        ),
    ],
)
def test_an_address_that_leads_nowhere_is_said(written: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "find_spec", lambda name: name)
    with pytest.raises(cz.CelosiaError) as caught:
        cz.tabulate(written, by=["d"])
    assert str(caught.value).startswith(said)
    assert "hush" not in str(caught.value)


def test_libraries_that_are_not_installed_are_named_with_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(address, "find_spec", lambda _: None)
    with pytest.raises(cz.SpecError) as caught:
        cz.tabulate("postgresql://localhost/register#firms", by=["d"])
    said = "postgresql://localhost/register: needs libraries that are not installed: ibis, psycopg. Install them: "
    assert str(caught.value) == said + "pip install 'celosia[postgres]'."


JOB = """
[data]
address = "duckdb://{path}"
{what}
respondent = "firm"

[dimensions.region]

[[tables]]
by = ["region"]
value = "turnover"

[[rules]]
rule = "min-frequency"
n = 3

[output]
release = "release.csv"
"""


@pytest.fixture
def register(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "register.duckdb")) as made:
        made.execute(
            "CREATE TABLE firms AS SELECT i % 4 AS region, i::VARCHAR AS firm, i AS turnover FROM range(20) t(i)"
        )
    return tmp_path / "register.duckdb"


@pytest.mark.parametrize("what", ['table = "firms"', "query = 'SELECT * FROM firms WHERE turnover > 2'"])
def test_a_job_reads_a_table_at_an_address(register: Path, what: str) -> None:
    job = register.with_name("job.toml")
    job.write_text(JOB.format(path=register, what=what))
    assert status(["protect", str(job), "--quiet"]) == 0
    assert register.with_name("release.csv").exists()


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ('table = "firm"', "has no table 'firm', or does not show it."),
        ('query = "SELECT"', "does not answer the query"),
        ('table = "firms"\nquery = "SELECT 1"', "stands beside a table."),
        ("", "data.query: is missing. Give a query or a table."),
    ],
)
def test_a_job_whose_address_leads_nowhere_ends_with_a_message_and_writes_nothing(
    register: Path, what: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    job = register.with_name("job.toml")
    job.write_text(JOB.format(path=register, what=what))
    assert status(["protect", str(job), "--quiet"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert "Traceback" not in told
    assert not register.with_name("release.csv").exists()


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("postgresql://me:hush@localhost/register", "holds a password."),
        ("register.duckdb", "must be an address such as postgresql://HOST/DATABASE"),
    ],
)
def test_a_job_has_no_password_and_no_file_for_an_address(
    tmp_path: Path, written: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    job = tmp_path / "job.toml"
    job.write_text(JOB.format(path="", what='table = "firms"').replace("duckdb://", written))
    assert status(["assess", str(job), "--quiet"]) == 2
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert "hush" not in told
