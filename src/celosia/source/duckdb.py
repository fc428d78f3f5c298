"""Whatever DuckDB can read, as one relation of rows."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celosia.errors import DataError, SpecError, nearest
from celosia.library import OnFirstUse
from celosia.source.places import EXTENSIONS, is_pattern, is_remote, scheme_of

if TYPE_CHECKING:
    import duckdb
    import narwhals as nw
else:
    duckdb = OnFirstUse("duckdb")
    nw = OnFirstUse("narwhals")

_SEPARATORS = ",;|\t"
_INTERRUPTED = "Query interrupted"

ROWS = "celosia_rows"
"""The name under which queries see the rows."""


def quote(name: str) -> str:
    """Return a column name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _silence(connection: duckdb.DuckDBPyConnection) -> duckdb.DuckDBPyConnection:
    connection.execute("SET enable_progress_bar = false")  # it would print amid a machine-readable answer
    return connection


@contextmanager
def _ctrl_c_as_itself() -> Iterator[None]:
    """Raise Ctrl-C as the KeyboardInterrupt that it is: DuckDB answers it with a RuntimeError."""
    try:
        yield
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            raise KeyboardInterrupt from None
        raise


def _memory() -> duckdb.DuckDBPyConnection:
    """Return a connection for frames and files, which share nothing but the database in memory below."""
    return _silence(_database_in_memory(os.getpid()).cursor())


@cache
def _database_in_memory(process: int) -> duckdb.DuckDBPyConnection:  # noqa: ARG001 - a fork has no threads of ours
    """Return the database of a process: opening one takes longer than tabulating a small frame.

    It remembers nothing of files, which may be others at the next call.
    """
    connection = duckdb.connect(":memory:")
    connection.execute("SET enable_external_file_cache = false")
    return connection


class RowSource:
    """Rows that answer queries, without an order and without a copy.

    Parameters
    ----------
    relation
        The rows.
    place
        How messages call them.
    counted
        The number of rows is known without reading them.
    """

    def __init__(self, relation: duckdb.DuckDBPyRelation, place: str, *, counted: bool = False) -> None:
        self.relation = relation
        self.place = place
        self.counted = counted
        self.types = {name: str(kind) for name, kind in zip(relation.columns, relation.types, strict=True)}

    def fetch(self, sql: str) -> list[Any]:
        """Return the rows of a query on the table `ROWS`."""
        with _ctrl_c_as_itself():
            return self._query(sql).fetchall()

    def fetch_arrow(self, sql: str) -> Any:  # noqa: ANN401  (pyarrow)
        """Return the answer to a query on the table `ROWS` as an Arrow table."""
        with _ctrl_c_as_itself():
            return self._query(sql).to_arrow_table()

    def stream(self, sql: str, size: int) -> Iterator[Any]:
        """Yield the answer to a query on the table `ROWS` as Arrow batches of some `size` rows."""
        with _ctrl_c_as_itself():
            yield from self._query(sql).to_arrow_reader(size)

    def _query(self, sql: str) -> duckdb.DuckDBPyRelation:
        answer = self.relation.query(ROWS, sql)
        if answer is None:
            raise ValueError("not a query")
        return answer

    def expected_rows(self) -> int | None:
        """Return how many rows there are where that costs nothing to find out."""
        if not self.counted:
            return None
        return int(self.fetch(f"SELECT count(*) FROM {ROWS}")[0][0])

    def explain_missing(self, column: str, role: str) -> str | None:
        """Return what is wrong when a column is not there."""
        if column in self.types:
            return None
        return f"has no column {column!r} ({role}). {nearest(column, self.types)}"


def open_rows(data: Any) -> RowSource:  # noqa: ANN401
    """Return the rows of a Parquet or CSV file, or of many, a DuckDB relation, or a frame that speaks Arrow.

    Raises
    ------
    DataError
        The file is not there, cannot be read, or holds nothing.
    SpecError
        The thing is none of these.
    """
    if isinstance(data, duckdb.DuckDBPyRelation):
        return RowSource(data, "query")
    if isinstance(data, str) and (is_remote(data) or is_pattern(data)):
        return _many_files(data)
    if isinstance(data, str | Path):
        return _many_files(f"{data}/**/*.parquet") if Path(data).is_dir() else _file(Path(data))
    try:
        frame = nw.from_native(data)
        table = (frame.collect() if isinstance(frame, nw.LazyFrame) else frame).to_arrow()
    except TypeError as error:
        seen = type(data).__name__
        remedy = "Give a path to a .parquet or .csv file, a DuckDB relation, or a pandas, polars or pyarrow frame."
        raise SpecError.one("data", f"cannot be read: {seen}.", remedy) from error
    return RowSource(_memory().from_arrow(table), "data", counted=True)


def database(path: Path, query: str) -> RowSource:
    """Return the answer to a query on a DuckDB database file, which is opened for reading only."""
    if not path.is_file():
        raise DataError.one(str(path), "does not exist.", "Is the path right?")
    try:
        return RowSource(_silence(duckdb.connect(str(path), read_only=True)).sql(query), f"{path}, query")
    except duckdb.Error as error:
        raise DataError.one(str(path), f"the query fails: {without_values(error)}.") from None


def _file(path: Path) -> RowSource:
    readers = {".parquet": _parquet, ".pq": _parquet, ".csv": _csv, ".txt": _csv, ".gz": _csv}
    if path.suffix.lower() not in readers:
        raise SpecError.one(
            str(path), f"has the ending {path.suffix!r}, which is not read.", "Give a .parquet or .csv file."
        )
    if not path.is_file():
        raise DataError.one(str(path), "does not exist.", "Is the path right?")
    if path.stat().st_size == 0:
        raise DataError.one(str(path), "is empty.", "A file has a line of column names and a row a record.")
    try:
        return readers[path.suffix.lower()](path)
    except duckdb.Error as error:
        raise DataError.one(str(path), f"cannot be read: {without_values(error)}.") from None


def _many_files(pattern: str) -> RowSource:
    """Return the rows of all Parquet files, or CSV files, of a pattern, with the codes that stand in their folders."""
    extension = EXTENSIONS.get(scheme_of(pattern))
    try:
        connection = _memory()
        if extension is not None:
            _load(connection, extension, pattern)
        if pattern.lower().endswith((".csv", ".csv.gz", ".txt")):
            relation = connection.read_csv(pattern, all_varchar=True, header=True, hive_partitioning=True)
        else:
            relation = connection.read_parquet(pattern, hive_partitioning=True, union_by_name=True)
    except duckdb.Error as error:
        raise DataError.one(pattern, f"cannot be read: {without_values(error)}.") from None
    return RowSource(relation, pattern)


def _load(connection: duckdb.DuckDBPyConnection, extension: str, address: str) -> None:
    """Load an extension of DuckDB that is installed; none is fetched from anywhere."""
    asked = f"SELECT installed FROM duckdb_extensions() WHERE extension_name = {literal(extension)}"
    if not any(installed for (installed,) in connection.execute(asked).fetchall()):
        message = f"needs DuckDB's extension {extension}, which is not installed on this machine."
        raise DataError.one(address, message, f"Let somebody with a network run INSTALL {extension} in DuckDB.")
    connection.execute(f"LOAD {extension}")


def _parquet(path: Path) -> RowSource:
    return RowSource(_memory().read_parquet(str(path)), path.name, counted=True)


def _csv(path: Path) -> RowSource:
    # Every column as text: codes such as 01 stay what they are, and bad numbers are ours to report.
    options: dict[str, Any] = {"all_varchar": True, "header": True, "skiprows": 0}
    relation = _memory().read_csv(str(path), **options)
    separators = [sign for sign in _SEPARATORS if sign in relation.columns[0]] if len(relation.columns) == 1 else []
    if separators:
        raise _ragged_error(path, separators[0])
    return RowSource(relation, path.name)


def _ragged_error(path: Path, separator: str) -> DataError:
    """Return what to say of a file whose lines have different numbers of fields: DuckDB finds no separator there."""
    with path.open(encoding="utf-8", errors="replace", newline="") as file:
        reader = csv.reader(file, delimiter=separator)
        wanted = len(next(reader))
        odd = next((reader.line_num for fields in reader if len(fields) != wanted), None)
    where = f"line {odd} does not have {wanted} fields, as the first has" if odd else "its lines cannot be split"
    return DataError.one(path.name, f"{where}.", "Quote fields that hold the separator.")


def without_values(error: duckdb.Error) -> str:
    """Return what DuckDB says, as far as it cannot quote a record: of the file, the query, the columns."""
    structural = (duckdb.BinderException, duckdb.CatalogException, duckdb.IOException, duckdb.ParserException)
    if isinstance(error, structural):
        return str(error).splitlines()[0].rstrip(".")
    return f"DuckDB reports a {type(error).__name__}, whose text may quote a record and is not shown"
