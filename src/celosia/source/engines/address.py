"""Addresses of tables, such as ``postgresql://localhost/register#firms``: what stands before # is ibis's own."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from celosia.errors import DataError, SpecError
from celosia.library import OnFirstUse
from celosia.source.engines.rows import EngineRows, close_connection, without_warnings
from celosia.source.places import holds_password

if TYPE_CHECKING:
    import ibis
else:
    ibis = OnFirstUse("ibis")

_EXTRAS = {"duckdb": "ibis", "postgres": "postgres", "postgresql": "postgres", "spark": "spark", "pyspark": "spark"}
_LIBRARIES = {"ibis": ("ibis",), "postgres": ("ibis", "psycopg"), "spark": ("ibis", "pyspark")}
_PORTS = {"postgres": 5432, "postgresql": 5432, "spark": 7077}
_PATIENCE = 10.0  # seconds until nobody answers
_CREDENTIALS = "Names and passwords come from the environment of the engine, such as PGUSER and PGPASSWORD."


def is_ibis_table(data: object) -> bool:
    """Return whether something is a table of ibis; nobody has one who has not loaded it."""
    return type(data).__module__.partition(".")[0] == "ibis" and hasattr(data, "to_pyarrow")


def open_address(address: str, table: str | None = None, query: str | None = None) -> EngineRows:
    """Return the rows of a table, or of a query, of the engine that answers at an address.

    Parameters
    ----------
    address
        Such as ``postgresql://HOST/DATABASE``; where neither a table nor a query is given, with ``#TABLE`` behind it.
    table
        The name of a table, with a dot behind that of its schema.
    query
        Or a query in the engine's own language.

    Raises
    ------
    SpecError
        The address has a password, names no table, or its engine is not installed.
    DataError
        Nobody answers, or there is no such table.
    """
    try:
        parts = urlsplit(address)
        place, _ = _place(parts), parts.port
    except ValueError:
        remedy = "Such as postgresql://HOST:PORT/DATABASE#TABLE."
        raise SpecError.one("data", "is no address: its host or port cannot be read.", remedy) from None
    if holds_password(address):
        raise SpecError.one(place, "holds a password.", f"Take it out. {_CREDENTIALS}")
    table = table or parts.fragment or None
    if table is None and query is None:
        raise SpecError.one(place, "names no table.", f"Write {place}#TABLE.")
    _check_installed(parts.scheme.lower(), place)
    _check_answer(parts, place)
    try:
        with without_warnings():
            backend = _connect(parts)
    except Exception as error:  # noqa: BLE001 - every engine has errors of its own
        remedy = "Is the path right?" if parts.scheme.lower() == "duckdb" else _CREDENTIALS
        raise DataError.one(place, f"refuses the connection ({type(error).__name__}).", remedy) from None
    return _open(backend, place, table, query)


def _open(backend: Any, place: str, table: str | None, query: str | None) -> EngineRows:  # noqa: ANN401  (ibis)
    try:
        with without_warnings():
            if query is not None:
                return EngineRows(backend.sql(query, schema=_schema(backend, query)), f"{place}, query", backend)
            schema, _, name = (table or "").rpartition(".")
            return EngineRows(backend.table(name, database=schema or None), f"{place}#{table}", backend)
    except Exception as error:  # noqa: BLE001
        close_connection(backend)
        if query is not None:
            message = f"does not answer the query ({type(error).__name__})."
            raise DataError.one(place, message, "Does the engine understand it when you ask it yourself?") from None
        raise DataError.one(place, f"has no table {table!r}, or does not show it.", "Write SCHEMA.TABLE.") from None


def _schema(backend: Any, query: str) -> Any:  # noqa: ANN401  (ibis)
    """Return what the columns of a query are, where ibis cannot find it out: it asks what DuckDB 2 has no more."""
    if backend.name != "duckdb":
        return None
    from ibis.backends.sql.datatypes import DuckDBType  # noqa: PLC0415 - an optional library

    described = backend.con.execute(f"DESCRIBE {query}").fetchall()
    return ibis.schema({name: DuckDBType.from_string(kind, nullable=True) for name, kind, *_ in described})


def _place(parts: SplitResult) -> str:
    """Return an address as messages have it: without a user, password or option."""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _check_installed(scheme: str, place: str) -> None:
    """Refuse an engine whose libraries are not installed."""
    extra = _EXTRAS.get(scheme)
    missing = [name for name in _LIBRARIES[extra or "ibis"] if find_spec(name) is None]
    if missing:
        remedy = f"Install them: pip install 'celosia[{extra or 'ibis'}]'."
        raise SpecError.one(place, f"needs libraries that are not installed: {', '.join(missing)}.", remedy)
    if extra is None and scheme not in {known.name for known in ibis.util.backend_entry_points()}:
        raise SpecError.one(place, f"is no address that ibis knows: {scheme}.", "Such as postgresql:// or duckdb://.")


def _check_answer(parts: SplitResult, place: str) -> None:
    """See that somebody answers at a host: engines themselves wait for minutes."""
    port = parts.port or _PORTS.get(parts.scheme.lower())
    if not parts.hostname or port is None:
        return
    try:
        socket.create_connection((parts.hostname, port), timeout=_PATIENCE).close()
    except OSError:
        raise DataError.one(place, f"nobody answers at port {port}.", "Is the engine running?") from None


def _connect(parts: SplitResult) -> Any:  # noqa: ANN401  (ibis)
    """Return the engine at an address."""
    if parts.scheme.lower() in ("spark", "pyspark"):
        return _connect_spark(parts)
    more: dict[str, Any] = {}
    if parts.scheme.lower().startswith("postgres"):
        more["connect_timeout"] = int(_PATIENCE)
    elif parts.scheme.lower() == "duckdb" and parts.netloc + parts.path:
        more["read_only"] = True
    return ibis.connect(parts._replace(fragment="").geturl(), **more)


def _connect_spark(parts: SplitResult) -> Any:  # noqa: ANN401  (ibis)
    """Return the session of Spark that there is, or one with the master that is named, or one on this machine."""
    from pyspark import SparkConf  # noqa: PLC0415 - an optional library
    from pyspark.sql import SparkSession  # noqa: PLC0415

    settings = SparkConf().setIfMissing("spark.ui.showConsoleProgress", "false")
    if parts.netloc:
        settings.setMaster(f"spark://{parts.netloc.rpartition('@')[2]}")
    else:
        settings.setIfMissing("spark.master", "local[*]")
    ours = SparkSession.getActiveSession() is None
    session = SparkSession.builder.config(conf=settings).getOrCreate()
    if ours:
        session.sparkContext.setLogLevel("OFF")  # what Spark says of an error may quote a record
    return ibis.pyspark.connect(session)
