"""Engines for a test run: a PostgreSQL server and a Spark session, on this machine and nowhere else."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pyarrow as pa
import pytest
from tests.oracles.engine_tables import Store

from celosia.source.engines.rows import without_warnings


def find_server_programs() -> Path | None:
    """Return the folder of PostgreSQL's own programs, which Debian keeps off the path."""
    folders = [*sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)]
    on_path = shutil.which("initdb")
    folders += [Path(on_path).parent] if on_path else []
    return next((folder for folder in folders if (folder / "initdb").exists()), None)


def free_port() -> int:
    """Return a port on which nobody listens."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Return the address of a PostgreSQL server that runs as long as the tests do."""
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    programs = find_server_programs()
    if programs is None:
        pytest.skip("PostgreSQL is not installed")
    # not among pytest's own folders, which are its user's alone
    folder, port = Path(tempfile.mkdtemp(prefix="celosia-postgres-")), free_port()
    as_server: list[str] = []
    if os.getuid() == 0:  # the server refuses to run as root
        shutil.chown(folder, "postgres")
        as_server = ["runuser", "-u", "postgres", "--"]
    data = folder / "data"
    settings = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off -c jit=off"
    run = [*as_server, str(programs / "pg_ctl"), "-D", str(data)]
    initialise = [*as_server, str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", "celosia"]
    subprocess.run(initialise, check=True, capture_output=True, cwd=folder)
    start = [*run, "-o", settings, "-l", str(folder / "log"), "-w", "start"]
    subprocess.run(start, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
    try:
        yield f"postgresql://celosia@127.0.0.1:{port}/postgres"
    finally:
        subprocess.run([*run, "-m", "fast", "-w", "stop"], check=True, capture_output=True, cwd=folder)
        shutil.rmtree(folder)


@pytest.fixture(scope="session")
def store_in_postgres(postgres: str) -> Iterator[Store]:
    """Return how records come into PostgreSQL."""
    import ibis  # noqa: PLC0415

    with without_warnings():
        engine = ibis.connect(postgres)
    number = count()

    def put(table: pa.Table) -> object:
        with without_warnings():
            return engine.create_table(f"records {next(number)}", table)

    yield put
    engine.disconnect()


@pytest.fixture(scope="session")
def store_in_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return how records come into Spark: as a view of a Parquet file, so that no Python runs in it."""
    pytest.importorskip("pyspark", reason="pyspark is not installed")
    if shutil.which("java") is None:
        pytest.skip("Java is not installed, and Spark runs on it")
    import ibis  # noqa: PLC0415
    import pyarrow.parquet as pq  # noqa: PLC0415
    from pyspark.sql import SparkSession  # noqa: PLC0415

    folder, number = tmp_path_factory.mktemp("spark"), count()
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    settings: dict[str, bool | float | int | str | None] = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        # a query of a hundred rows is sooner done than compiled or thought over
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.shuffle.partitions": "1",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    with without_warnings():
        session = SparkSession.builder.config(map=settings).getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        engine = ibis.pyspark.connect(session)

    def put(table: pa.Table) -> object:
        name = f"records_{next(number)}"
        pq.write_table(table, folder / f"{name}.parquet")
        with without_warnings():
            session.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
            return engine.table(name)

    yield put
    with without_warnings():
        session.stop()
