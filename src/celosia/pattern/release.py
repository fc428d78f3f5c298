"""A release: what leaves the house. Public: nothing in it depends on a value that is not published."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.errors import DataError, Problem, SpecError
from celosia.pattern.arithmetic import outside, replace_places, shortest, zeros
from celosia.pattern.contradictions import contradictions
from celosia.pattern.entries import SHOWN, STATUS_TYPE, WITH_VALUE, Fault, criterion, of_status, problems_of, tally
from celosia.pattern.labels import CELL, LOWER, PUBLISHED, STATUS, UPPER, Labels
from celosia.pattern.pattern import HasPattern, Pattern
from celosia.table.dimension import Axis
from celosia.table.fixed import Fixed
from celosia.table.frames import frame_of
from celosia.table.table import Table


@dataclass(frozen=True, eq=False)
class Release:
    """What is published about every cell. Public.

    Guarantee
    ---------
    A release holds copies of what it publishes and nothing else: two tables that differ in cells that are hidden have
    the same release, field by field, decimals and integer types included.

    Parameters
    ----------
    labels
        What the cells are called.
    status
        How each is published: see `celosia.pattern.entries`, ``(n_cells,)``.
    published
        The numbers shown, ``(n_cells,)``; zero where `has_value` says that there is none.
    lower, upper
        What the entry itself gives away, ``(n_cells,)`` each; infinite where that is nothing.
    library
        The data frame library in which frames go back.

    Raises
    ------
    DataError
        An entry contradicts itself.
    """

    labels: Labels
    status: NDArray[np.str_]
    published: Fixed
    lower: Fixed
    upper: Fixed
    library: str | None = None

    def __post_init__(self) -> None:
        sizes = {len(self.labels), len(self.status), len(self.published), len(self.lower), len(self.upper)}
        if len(sizes) > 1:
            raise SpecError.one("release", "has columns of different lengths.")
        problems = problems_of(contradictions(self.status, self.published, self.lower, self.upper), "cell {}".format)
        if problems:
            raise DataError(problems)
        object.__setattr__(self, "status", np.array(self.status, dtype=STATUS_TYPE))
        shown = np.flatnonzero(self.has_value)
        published = replace_places(zeros(len(self)), [(shown, self.published[shown])])
        for name, numbers in zip((PUBLISHED, LOWER, UPPER), shortest(published, self.lower, self.upper), strict=True):
            object.__setattr__(self, name, Fixed(numbers.counts.copy(), numbers.decimals))

    def __len__(self) -> int:
        return len(self.status)

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The dimensions' labels."""
        return self.labels.axes

    @property
    def codes(self) -> NDArray[np.int32]:
        """The node of every cell along every axis, ``(n_cells, n_axes)``."""
        return self.labels.codes

    @property
    def has_value(self) -> NDArray[np.bool_]:
        """Which entries show a number, ``(n_cells,)``."""
        return of_status(self.status, WITH_VALUE)

    @property
    def decimals(self) -> int:
        """How many decimals the published numbers and bounds have: as few as hold them all."""
        return self.published.decimals

    @property
    def criterion(self) -> str:
        """What protects: ``intervals``, or ``distance`` as soon as one cell is adjusted."""
        return criterion(self.status)

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return what the entries give away, ``(n_cells,)`` each, at the same number of decimals."""
        return self.lower, self.upper

    def check(self, table: Table) -> None:
        """Refuse a table to which the release does not belong. No message tells a true value.

        Raises
        ------
        DataError
            The number of cells or their labels are others, a shown value differs from the truth, or a range does not
            contain it: the cells by their labels, the first 20 in words.
        """
        if len(self) != len(table):
            seen = f"has {len(self)} cells, and the table has {len(table)}."
            raise DataError.one("release", seen, "Is it the release of another table?")
        problems = problems_of(self._faults_against(table), table.label)
        own = Labels.of_table(table)
        if self.axes and table.axes:
            unknown = own.unknown(list(self.labels.columns()))
            problems = [
                Problem("release", f"has an unknown column {name!r}.", hint) for name, hint in unknown
            ] + problems
        if problems:
            raise DataError(problems)

    def _faults_against(self, table: Table) -> Iterator[Fault]:
        """Yield which cells the table calls by other names or refutes."""
        if self.axes and table.axes:
            yield from Labels.of_table(table).find_differences(self.labels.columns())
        wrong = outside(table.amounts, self.lower, self.upper)
        if not wrong.any():
            return
        yield wrong & (self.status == SHOWN), "the number shown is not the table's.", "Is it that of another table?"
        ranged = wrong & (self.status != SHOWN)
        yield ranged, "what is published excludes the true value.", "Is it the release of another table?"

    def columns(self) -> dict[str, Any]:
        """Return the cells as columns: number, labels, status, and doubles for the number shown and the bounds."""
        return {
            CELL: np.arange(len(self)),
            **self.labels.columns(),
            STATUS: self.status.tolist(),
            PUBLISHED: np.where(self.has_value, self.published.floats, np.nan),
            LOWER: self.lower.floats,
            UPPER: self.upper.floats,
        }

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the cells as a data frame of the given library, by default the one that the data came in.

        A number that is not shown is NaN; bounds are infinite where nothing is given away.
        """
        return frame_of(self.columns(), library or self.library)

    def __repr__(self) -> str:
        by = " x ".join(axis.name for axis in self.axes) or "bare problem"
        return f"Release({by}: {len(self):,} cells, {tally(self.status) or 'none'})"

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"


@takes(pattern=(HasPattern, Pattern))
def publish(pattern: Pattern | HasPattern) -> Release:
    """Return what the public gets to see of a pattern, or of the result of a protection.

    Guarantee
    ---------
    The release depends on the table through its labels and through what the modes publish, and keeps no reference to
    the table, the modes or their arrays.
    """
    if not isinstance(pattern, Pattern):
        pattern = pattern.pattern
    labels = Labels.of_table(pattern.table)
    return Release(labels, pattern.status, pattern.published(), *pattern.bounds(), pattern.table.library)
