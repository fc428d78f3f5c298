"""A table of an engine that ibis speaks to: it answers questions, and its records stay where they are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import CelosiaError, DataError, nearest
from celosia.library import OnFirstUse

if TYPE_CHECKING:
    import ibis
    from ibis.expr import operations
else:
    ibis = OnFirstUse("ibis")
    operations = OnFirstUse("ibis.expr.operations")


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep to itself what libraries say to each other, such as that a function will go in their next version."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


class EngineRows:
    """Rows of an engine that answer queries.

    Parameters
    ----------
    table
        The rows, as ibis has them.
    place
        How messages call them.
    backend
        The connection, where it is ours to close.
    """

    def __init__(self, table: Any, place: str = "data", backend: Any = None) -> None:  # noqa: ANN401  (ibis)
        self.table = table
        self.backend = backend
        self.place = place
        self.types: dict[str, Any] = dict(table.schema().items())

    def fetch(self, query: Any) -> Any:  # noqa: ANN401  (ibis, pyarrow)
        """Return the answer to a query on these rows as an Arrow table.

        Raises
        ------
        DataError
            The engine does not answer, with the reason as far as it cannot quote a record.
        """
        try:
            with without_warnings():
                return query.to_pyarrow()
        except CelosiaError:
            raise
        except Exception as error:  # noqa: BLE001 - every engine has errors of its own
            raise self._explain(error) from None

    def fetch_one(self, query: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return the only row of an answer, with zeros for what is nothing."""
        row = self.fetch(query).to_pylist()[0]
        return {name: 0 if value is None else value for name, value in row.items()}

    def close(self) -> None:
        """Close the connection if it is ours."""
        if self.backend is not None:
            close_connection(self.backend)

    def explain_missing(self, column: str, role: str) -> str | None:
        """Return what is wrong when a column is not there."""
        if column in self.types:
            return None
        return f"has no column {column!r} ({role}). {nearest(column, self.types)}"

    def _explain(self, error: Exception) -> DataError:
        """Return what to say when a query fails: a table that has gone, or an engine that does not answer any more."""
        for known in self.table.op().find(operations.DatabaseTable):
            try:
                with without_warnings():
                    path = known.namespace
                    database = tuple(part for part in (path.catalog, path.database) if part) or None
                    known.source.table(known.name, database=database)
            except Exception:  # noqa: BLE001 - a table that is not there, or an engine that is not
                message = "was there when the reading began, and does not answer any more."
                return DataError.one(self.place, message, "Has the table been replaced meanwhile? Then start again.")
        said = f"the engine reports a {type(error).__name__}, whose text may quote a record and is not shown."
        return DataError.one(self.place, said, "Do all columns have the types that their names promise?")


def close_connection(backend: Any) -> None:  # noqa: ANN401  (ibis)
    """Close a connection that we opened; a session of Spark belongs to the whole process."""
    if backend.name != "pyspark":
        backend.disconnect()


def numbers_of(answer: Any, names: Sequence[str]) -> dict[str, NDArray[np.int64]]:  # noqa: ANN401  (pyarrow)
    """Return columns of an answer, none of which has gaps, as whole numbers."""
    return {name: answer.column(name).cast("int64").to_numpy().astype(np.int64) for name in names}


def small_table(columns: Mapping[str, list[Any] | NDArray[Any]]) -> Any:  # noqa: ANN401  (ibis)
    """Return a little table that a query may join, such as the codes of a classification."""
    import pyarrow as pa  # noqa: PLC0415 - only here

    with without_warnings():
        return ibis.memtable(pa.table(dict(columns)))
