"""Hierarchies as a job file writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from pydantic import Field, PlainValidator, TypeAdapter, ValidationInfo

from celosia.errors import CelosiaError, DataError, Problems, list_items
from celosia.job.sections.files import File, rows_of
from celosia.job.sections.part import Fault, JobPart, Where
from celosia.table.hierarchy import Classification, Digits, Hierarchy

KINDS = ("hrc", "digits", "levels", "pairs", "tree", "flat")
"""How a hierarchy may be written; each hierarchy has exactly one of these options."""


class HierarchyPart(JobPart):
    """One hierarchy: ``{ hrc = "nace.hrc", total = "Total" }``.

    Parameters
    ----------
    hrc
        A tau-ARGUS ``.hrc`` file.
    digits
        Digits per level of the codes in the data, coarsest first.
    levels
        A CSV file with a column per level, coarsest first, and a row per code.
    pairs
        A CSV file with the columns ``parent`` and ``child``.
    tree
        Codes and what lies below them.
    flat
        The codes below the total, nothing between.
    total
        The code of the total.
    lead
        What shows the depth in a ``.hrc`` file.
    partial
        The total covers only a part of the population.
    """

    hrc: File | None = None
    digits: Annotated[list[int], Field(min_length=1)] | None = None
    levels: File | None = None
    pairs: File | None = None
    tree: dict[str, Any] | None = None
    flat: Annotated[list[str], Field(min_length=1)] | None = None
    total: Annotated[str, Field(min_length=1)] = "Total"
    lead: Annotated[str, Field(min_length=1)] = "@"
    partial: bool = False

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong between the options."""
        kinds = [kind for kind in KINDS if kind in written]
        if len(kinds) != 1:
            message = f"has both {' and '.join(map(repr, kinds))}." if kinds else "does not say where the codes are."
            yield Fault((), message, f"Give exactly one of {', '.join(KINDS)}.")
        if "lead" in written and "hrc" not in written:
            yield Fault(("lead",), "belongs to a .hrc file.", "Drop it.")
        if "partial" in written and "digits" in written:
            yield Fault(("partial",), "does not go with digits.", "Write the hierarchy as a .hrc or levels file.")
        digits = written.get("digits")
        if isinstance(digits, list):
            for place, width in enumerate(digits):
                if isinstance(width, int) and width <= 0:
                    remedy = "Say how many digits each level adds."
                    yield Fault(("digits", place), f"must be at least 1, not {width}.", remedy)
        if isinstance(written.get("tree"), dict):
            yield from _wrong_branches(written["tree"], ("tree",))
        total, flat = written.get("total", "Total"), written.get("flat")
        if isinstance(flat, list) and total in flat:
            yield Fault(("flat",), f"holds the total {total!r} among its codes.", "Drop it: the total is always there.")

    def read(self) -> Hierarchy | Digits:
        """Return the hierarchy, reading its file where it has one.

        Raises
        ------
        DataError
            The file holds no hierarchy.
        """
        if self.hrc is not None:
            return Hierarchy.from_hrc(self.hrc, total=self.total, lead=self.lead, partial=self.partial)
        if self.digits is not None:
            return Digits(tuple(self.digits), total=self.total)
        if self.levels is not None:
            return _of_levels(Path(self.levels), total=self.total, partial=self.partial)
        if self.pairs is not None:
            return _of_pairs(Path(self.pairs), total=self.total, partial=self.partial)
        if self.tree is not None:
            return Hierarchy.from_dict(self.tree, total=self.total, partial=self.partial)
        return Hierarchy.flat(self.flat or [], total=self.total, partial=self.partial)

    @property
    def files(self) -> tuple[Path, ...]:
        """The files that it is read from."""
        return tuple(Path(name) for name in (self.hrc, self.levels, self.pairs) if name is not None)


def _one_or_several(written: object, info: ValidationInfo) -> tuple[HierarchyPart, ...]:
    if isinstance(written, list):
        return tuple(TypeAdapter(list[HierarchyPart]).validate_python(written, context=info.context))
    return (HierarchyPart.model_validate(written, context=info.context),)


Hierarchies: TypeAlias = Annotated[
    tuple[HierarchyPart, ...],
    PlainValidator(_one_or_several, json_schema_input_type=HierarchyPart | list[HierarchyPart]),
]
"""One hierarchy, or a list of several over the same leaves."""


def classification_of(parts: tuple[HierarchyPart, ...], place: str) -> Classification:
    """Return the classification that these hierarchies make; `place` is where they stand in the job file.

    Raises
    ------
    CelosiaError
        Files that hold no hierarchy, with everything that is wrong in all of them.
    """
    found = Problems()
    read: list[Hierarchy | Digits] = []
    for number, part in enumerate(parts):
        try:
            read.append(part.read())
        except CelosiaError as error:
            found.extend(error.under(place if len(parts) == 1 else f"{place}[{number}]").problems)
    found.raise_as(DataError)
    if len(read) == 1:
        return read[0]
    return [hierarchy for hierarchy in read if isinstance(hierarchy, Hierarchy)]


def _wrong_branches(below: Mapping[str, Any], way: Where) -> Iterator[Fault]:
    """Yield the branches of a tree that are neither lists of codes nor trees."""
    for code, deeper in below.items():
        if isinstance(deeper, dict):
            yield from _wrong_branches(deeper, (*way, code))
        elif not isinstance(deeper, list) or not all(isinstance(leaf, str) for leaf in deeper):
            yield Fault((*way, code), "must be a list of codes in quotes, or a tree again.")


def _of_levels(path: Path, *, total: str, partial: bool) -> Hierarchy:
    rows = list(rows_of(path))
    if len(rows) <= 1:
        raise DataError.one(
            str(path),
            "has no codes.",
            "The first line names the levels, coarsest first; a code's levels follow, one row each.",
        )
    width = len(rows[0])
    long = [number for number, row in enumerate(rows[1:], start=1) if any(row[width:])]
    if long:
        raise DataError.one(
            str(path), f"rows with more columns than names: {list_items(long)}.", "Name every level in the first line."
        )
    try:
        return Hierarchy.from_levels([row[:width] for row in rows[1:]], total=total, partial=partial)
    except CelosiaError as error:
        raise error.under(str(path)) from None


def _of_pairs(path: Path, *, total: str, partial: bool) -> Hierarchy:
    rows = list(rows_of(path))
    names = [name.lower() for name in rows[0]] if rows else []
    if "parent" not in names or "child" not in names:
        raise DataError.one(
            str(path),
            f"has the columns {list_items(names)}.",
            "Name two columns 'parent' and 'child' in the first line.",
        )
    parent, child = names.index("parent"), names.index("child")
    last = max(parent, child)
    short = [
        number for number, row in enumerate(rows[1:], start=1) if len(row) <= last or not row[parent] or not row[child]
    ]
    if short:
        raise DataError.one(
            str(path), f"rows without a parent or a child: {list_items(short)}.", "Give both in every row."
        )
    if len(rows) == 1:
        raise DataError.one(str(path), "has no pairs.", "Give a row per code.")
    try:
        return Hierarchy.from_pairs([(row[parent], row[child]) for row in rows[1:]], total=total, partial=partial)
    except CelosiaError as error:
        raise error.under(str(path)) from None
