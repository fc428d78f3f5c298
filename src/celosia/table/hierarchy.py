"""A classification as a tree of codes.

A node is identified by its path from the total, so the same code may stand in two branches. Codes are opaque labels of
any length; depths may be ragged; there is no limit on levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from celosia.errors import DataError, Problem, Problems, SpecError, list_items
from celosia.files import read_text

Nested: TypeAlias = "Mapping[str, Nested] | Iterable[str] | None"

_REMEDY_PATHS = "Give the levels in columns, a nested dict or a .hrc file, where a node is known by its path."


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """A tree of codes under a total.

    Parameters
    ----------
    labels
        The codes; the first is the total, and parents come before their children.
    parents
        For every node the place of its parent; -1 for the total.
    partial
        The total covers only a part of the population (the east of a country): when tables are linked it is a code like
        any other, not the total that may be left out.
    """

    labels: tuple[str, ...]
    parents: tuple[int, ...]
    partial: bool = False

    @classmethod
    def flat(cls, codes: Iterable[str], *, total: str = "Total", partial: bool = False) -> Hierarchy:
        """Return the hierarchy of a total and its codes, nothing between."""
        return cls.from_paths(((code,) for code in codes), total=total, partial=partial)

    @classmethod
    def from_paths(cls, paths: Iterable[Sequence[str]], *, total: str = "Total", partial: bool = False) -> Hierarchy:
        """Return the hierarchy in which each sequence of codes leads from below the total to a node."""
        places: dict[tuple[str, ...], int] = {(): 0}
        labels, parents = [total], [-1]
        for path in paths:
            for depth in range(len(path)):
                node = tuple(path[: depth + 1])
                if node not in places:
                    places[node] = len(labels)
                    labels.append(path[depth])
                    parents.append(places[node[:-1]])
        if len(labels) == 1:
            raise DataError.one("hierarchy", f"has no code below its total {total!r}.", "Give at least one code.")
        return _in_order(labels, parents, partial=partial)

    @classmethod
    def from_levels(
        cls,
        levels: Mapping[str, Sequence[object]] | Iterable[Sequence[object]],
        *,
        total: str = "Total",
        partial: bool = False,
    ) -> Hierarchy:
        """Return the hierarchy of a correspondence table.

        Parameters
        ----------
        levels
            A frame or columns by name, coarsest first, or rows; empty or missing entries at the end of a row make a
            shorter branch.
        total
            The code of the total, which the table leaves out.
        partial
            As in `Hierarchy`.

        >>> Hierarchy.from_levels({"section": ["C", "C", "G"], "division": ["10", "11", "45"]}).labels
        ('Total', 'C', '10', '11', 'G', '45')
        """
        if not isinstance(levels, Mapping) and hasattr(levels, "columns"):
            levels = _columns(levels)
        rows = zip(*levels.values(), strict=True) if isinstance(levels, Mapping) else levels
        found = Problems()
        paths = []
        for number, row in enumerate(rows, start=1):
            codes = ["" if _is_missing(code) else str(code) for code in row]
            while codes and not codes[-1]:
                codes.pop()
            if "" in codes:
                found.add(
                    f"levels, row {number}",
                    "a level is empty above one that is not.",
                    "Fill it, or leave the deeper ones empty.",
                )
            paths.append(codes)
        found.raise_as(DataError)
        return cls.from_paths(paths, total=total, partial=partial)

    @classmethod
    def from_digits(
        cls, codes: Iterable[str], widths: Sequence[int], *, total: str = "Total", partial: bool = False
    ) -> Hierarchy:
        """Return the hierarchy in the digits of codes: with widths 3, 1, 1 the code 34120 lies under 3412 under 341.

        Shorter codes end where their digits end, at the end of a level.
        """
        if not widths or any(width <= 0 for width in widths):
            raise SpecError.one("digits", f"must be positive widths such as [3, 1, 1], not {list(widths)}.")
        ends = [sum(widths[: k + 1]) for k in range(len(widths))]
        codes = list(codes)
        wrong = [code for code in codes if len(code) not in ends]
        if wrong:
            lengths = ", ".join(str(end) for end in ends)
            raise DataError.one(
                "digits",
                f"codes must have {lengths} characters; not so: {list_items(wrong)}.",
                "Mend the codes or the widths.",
            )
        return cls.from_paths(
            ([code[:end] for end in ends if end <= len(code)] for code in codes), total=total, partial=partial
        )

    @classmethod
    def from_pairs(cls, pairs: Iterable[tuple[str, str]], *, total: str = "Total", partial: bool = False) -> Hierarchy:
        """Return the hierarchy of (parent, child) pairs; codes that are nobody's child lie under the total."""
        parent_of: dict[str, str] = {}
        found = Problems()
        parents: dict[str, None] = {}
        for parent, child in pairs:
            parents.setdefault(parent)
            if child == total:
                found.add(
                    "pairs",
                    f"the total {total!r} stands as a child of {parent!r}.",
                    "Drop the pair, or name another total.",
                )
            elif parent_of.setdefault(child, parent) != parent:
                found.add("pairs", f"{child!r} has two parents, {parent_of[child]!r} and {parent!r}.", _REMEDY_PATHS)
        tops = [code for code in parents if code not in parent_of and code != total]
        if total in parents:
            found.extend(_orphans(tops, total))
        else:
            parent_of |= dict.fromkeys(tops, total)
        circular = _circular(parent_of, total)
        if circular:
            found.add(
                "pairs", f"the parents of these codes run in a circle: {list_items(circular)}.", "Break the circle."
            )
        found.raise_as(DataError)
        return cls.from_paths((_path(code, parent_of, total) for code in parent_of), total=total, partial=partial)

    @classmethod
    def from_dict(cls, nested: Nested, *, total: str = "Total", partial: bool = False) -> Hierarchy:
        """Return the hierarchy of a nested dict, whose leaves are lists, empty dicts or None.

        >>> Hierarchy.from_dict({"North": ["N1", "N2"], "South": None}).labels
        ('Total', 'North', 'N1', 'N2', 'South')
        """
        paths: list[tuple[str, ...]] = []
        waiting: list[tuple[tuple[str, ...], Nested]] = [((), nested)]
        while waiting:
            path, below = waiting.pop()
            if path:
                paths.append(path)
            branches = below.items() if isinstance(below, Mapping) else ((code, None) for code in below or ())
            waiting.extend(reversed([((*path, code), deeper) for code, deeper in branches]))
        return cls.from_paths(paths, total=total, partial=partial)

    @classmethod
    def from_hrc(cls, path: str | Path, *, total: str = "Total", lead: str = "@", partial: bool = False) -> Hierarchy:
        """Return the hierarchy of a tau-ARGUS ``.hrc`` file: a code a line, its depth shown by repeating `lead`.

        Blanks between the lead and the code belong to the code (fixed-width files), blanks after it do not. A code that
        the file repeats under the same parent is refused; under another parent it is another node.
        """
        found = Problems()
        branch: list[str] = []
        paths: dict[tuple[str, ...], int] = {}
        for number, line in enumerate(read_text(Path(path)).splitlines(), start=1):
            code = line.rstrip()
            depth = 0
            while lead and code.startswith(lead):
                code, depth = code[len(lead) :], depth + 1
            place = f"{path}, line {number}"
            if not code.strip():
                if depth:
                    found.add(place, "has a depth but no code.")
                continue
            if depth > len(branch):
                found.add(
                    place, f"{code!r} is more than one level below the line above.", "A level is missing before it."
                )
                continue
            branch = [*branch[:depth], code]
            first = paths.setdefault(tuple(branch), number)
            if first != number:
                found.add(place, f"{code!r} stands under the same parent already in line {first}.", "Drop one of them.")
        if not paths and not found.found:
            found.add(str(path), "is empty.", "A .hrc file has one code a line.")
        found.raise_as(DataError)
        return cls.from_paths(paths, total=total, partial=partial)

    def with_code(self, code: str) -> Hierarchy:
        """Return the hierarchy with a code under the total, which may be there already."""
        if (code,) in self.paths():
            return self
        return Hierarchy((*self.labels, code), (*self.parents, 0), self.partial)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def total(self) -> str:
        """The code of the total."""
        return self.labels[0]

    def children(self) -> list[list[int]]:
        """Return the places of every node's children."""
        below: list[list[int]] = [[] for _ in self.labels]
        for node, parent in enumerate(self.parents):
            if parent >= 0:
                below[parent].append(node)
        return below

    def paths(self) -> list[tuple[str, ...]]:
        """Return every node's path, without the total."""
        paths: list[tuple[str, ...]] = [()]
        for label, parent in zip(self.labels[1:], self.parents[1:], strict=True):
            paths.append((*paths[parent], label))
        return paths


@dataclass(frozen=True, slots=True)
class Digits:
    """A hierarchy to be read off the digits of whatever codes the data hold (`Hierarchy.from_digits`).

    Parameters
    ----------
    widths
        Digits per level, coarsest first.
    total
        The code of the total.
    """

    widths: tuple[int, ...]
    total: str = "Total"

    def of(self, codes: Iterable[str]) -> Hierarchy:
        """Return the hierarchy of these codes."""
        return Hierarchy.from_digits(codes, self.widths, total=self.total)


Classification: TypeAlias = Hierarchy | Digits | Sequence[Hierarchy]
"""How a dimension is classified: one hierarchy, digits, or several hierarchies over the same leaves."""


def classify(classification: Classification | None, codes: Callable[[], Iterable[str]]) -> tuple[Hierarchy, ...]:
    """Return the hierarchies of a dimension; `codes` gives the codes of the data where they are needed."""
    match classification:
        case None:
            return (Hierarchy.flat(codes()),)
        case Hierarchy():
            return (classification,)
        case Digits():
            return (classification.of(codes()),)
        case _:
            return tuple(classification)


def _in_order(labels: Sequence[str], parents: Sequence[int], *, partial: bool) -> Hierarchy:
    """Return a tree depth first, as people read it."""
    below = Hierarchy(tuple(labels), tuple(parents)).children()
    order: list[int] = []
    waiting = [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(reversed(below[node]))
    place = {node: new for new, node in enumerate(order)}
    new_parents = tuple(-1 if parents[node] < 0 else place[parents[node]] for node in order)
    return Hierarchy(tuple(labels[node] for node in order), new_parents, partial)


def _columns(frame: Any) -> dict[str, list[Any]]:  # noqa: ANN401  (a frame of any library)
    """Return the columns of a pandas, polars or pyarrow frame, without importing any of them."""
    names = getattr(frame, "column_names", None) or list(frame.columns)
    columns = {str(name): frame[name] for name in names}
    return {
        name: column.to_pylist() if hasattr(column, "to_pylist") else list(column) for name, column in columns.items()
    }


def _is_missing(code: object) -> bool:
    """Return whether a code is None, not a number, or what a frame library puts in their place."""
    if code is None:
        return True
    try:
        return bool(code != code)  # noqa: PLR0124  (NaN)
    except TypeError:  # pandas.NA answers neither yes nor no
        return True


def _orphans(tops: list[str], total: str) -> list[Problem]:
    remedy = f"Put a pair in front of each that hangs it under {total!r} or another code."
    return [Problem("pairs", f"these codes hang under no other: {list_items(tops)}.", remedy)] if tops else []


def _circular(parent_of: Mapping[str, str], total: str) -> list[str]:
    safe = {total}
    circular = []
    for code in parent_of:
        walked: dict[str, None] = {}
        node = code
        while node not in safe and node not in walked and node in parent_of:
            walked.setdefault(node)
            node = parent_of[node]
        if node in walked:
            circular.append(code)
        else:
            safe.update(walked)
    return circular


def _path(code: str, parent_of: Mapping[str, str], total: str) -> list[str]:
    path = [code]
    while parent_of[path[-1]] != total:
        path.append(parent_of[path[-1]])
    return path[::-1]
