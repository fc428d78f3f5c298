"""What is to be tabulated, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from celosia.errors import Problems, SpecError, nearest
from celosia.table.hierarchy import Classification

MISSING_CHOICES = ("error", "category", "drop")
"""What becomes of records without a code."""


class HasColumns(Protocol):
    """Rows of which it is known which columns they have."""

    place: str

    def explain_missing(self, column: str, role: str) -> str | None:
        """Return what is wrong when a column is not there."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is to be tabulated, checked.

    Parameters
    ----------
    tables
        The dimensions of every table.
    values
        The columns to sum; none for counts.
    columns
        The columns of every dimension.
    """

    tables: tuple[tuple[str, ...], ...]
    values: tuple[str, ...]
    columns: Mapping[str, tuple[str, ...]]

    @classmethod
    def of(
        cls,
        by: Sequence[str] | Sequence[Sequence[str]],
        value: str | Sequence[str] | None,
        columns: Mapping[str, str | Sequence[str]],
        largest: int,
        missing: str,
        shadow: str | None,
        decimals: int | None,
    ) -> Request:
        """Return what the options of `celosia.tabulate` ask for, or everything that is wrong with them."""
        found = Problems()
        by = [by] if isinstance(by, str) else by
        single = [name for name in by if isinstance(name, str)]
        tables = [tuple(single)] if single else [tuple(names) for names in by]
        if not tables or not all(tables) or (single and len(single) != len(by)):
            found.add("by", "must name at least one dimension.", "For several tables give a list of lists.")
        for names in tables:
            if len(set(names)) < len(names):
                found.add("by", f"names a dimension twice: {', '.join(names)}.")
        if largest < 1:
            found.add("largest", f"must be at least 1, not {largest}.")
        if decimals is not None and decimals < 0:
            found.add("decimals", f"must be zero or more, not {decimals}.")
        if missing not in MISSING_CHOICES:
            found.add("missing", f"must be one of {', '.join(MISSING_CHOICES)}, not {missing!r}.")
        values = (value,) if isinstance(value, str) else tuple(value or ())
        if shadow is not None and not values:
            found.add("shadow", "needs a value: a table of counts has none.")
        found.raise_as(SpecError)
        used = dict.fromkeys(name for names in tables for name in names)
        given = {name: columns.get(name, name) for name in used}
        return cls(
            tuple(tables),
            values,
            {name: (said,) if isinstance(said, str) else tuple(said) for name, said in given.items()},
        )

    def amounts(self, shadow: str | None) -> list[str]:
        """Return the columns of amounts to read."""
        return list(dict.fromkeys([*self.values, *([shadow] if shadow is not None else [])]))

    def check_columns(self, source: HasColumns, roles: Mapping[str, str], shadow: str | None) -> None:
        """Refuse columns that are not there."""
        found = Problems()
        wanted = [(column, f"dimension {name}") for name, names in self.columns.items() for column in names]
        wanted += [(column, "value") for column in self.amounts(shadow)]
        wanted += [(column, role) for role, column in roles.items()]
        for column, role in wanted:
            said = source.explain_missing(column, role)
            if said:
                found.add(source.place, said)
        found.raise_as(SpecError)


def check_hierarchies(hierarchies: Mapping[str, Classification], request: Request) -> None:
    """Refuse hierarchies of dimensions that no table has."""
    found = Problems()
    for name in hierarchies:
        if name not in request.columns:
            found.add(f"hierarchies[{name!r}]", "is not a dimension of any table.", nearest(name, request.columns))
    found.raise_as(SpecError)
