"""Records drawn at random, as the oracle sees them and as a frame that celosia reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import polars as pl
from hypothesis import strategies as st
from tests.oracles import brute_force

from celosia import Digits, Hierarchy, Table, tabulate
from celosia.table.hierarchy import Classification

CODES = ["1", "2", "A", "B", "Total", "é x", "o'k", 'q"t', "a.b,c", " 7"]
"""Codes are opaque: blanks, quotes, commas, accents, even the word of the total."""

INNER_CODES = [code for code in CODES if code != "Total"]
"""Below a node of that word, paths would read the same as paths from the total: test_dimension has that case."""


@dataclass(frozen=True)
class Dimension:
    """A dimension: its trees, how celosia hears of them, and what stands in a record's columns.

    Parameters
    ----------
    name
        What it is called.
    trees
        One tree, or several over leaves of the same codes.
    given
        What is passed as its hierarchy, None where the data say it all.
    depth
        The number of level columns; 0 for one column of leaf codes.
    """

    name: str
    trees: tuple[brute_force.Tree, ...]
    given: Classification | None = None
    depth: int = 0

    @property
    def columns(self) -> list[str]:
        return [f"{self.name} {level}" for level in range(self.depth)] if self.depth else [self.name]

    @property
    def leaves(self) -> list[brute_force.Path]:
        found = brute_force.leaves(self.trees[0])
        return [leaf[-1:] for leaf in found] if len(self.trees) > 1 else found

    def entries(self, leaf: brute_force.Path) -> list[str | None]:
        """Return what stands in the columns of a record of this leaf."""
        return [*leaf, *[None] * (self.depth - len(leaf))] if self.depth else [leaf[-1]]

    def classification(self, records: Sequence[brute_force.Record], place: int) -> brute_force.Classification:
        """Return the dimension as the oracle sees it; hierarchies made from the data know only what occurs."""
        made = self.given is None or isinstance(self.given, Digits)
        return brute_force.classification(self.trees, {record.leaf[place] for record in records} if made else None)


def unambiguous(tree: brute_force.Tree) -> brute_force.Tree:
    """Return the tree with leaf codes of their own."""
    numbers = {path: number for number, path in enumerate(brute_force.leaves(tree))}

    def renamed(below: brute_force.Tree, above: brute_force.Path) -> brute_force.Tree:
        return {
            f"{code}_{numbers[*above, code]}" if not deeper else code: renamed(deeper, (*above, code))
            for code, deeper in below.items()
        }

    return renamed(tree, ())


trees: st.SearchStrategy[brute_force.Tree] = st.recursive(
    st.just({}),
    lambda below: st.dictionaries(st.sampled_from(INNER_CODES), below, min_size=1, max_size=3),
    max_leaves=7,
).filter(bool)


@st.composite
def groupings(draw: st.DrawFn, codes: Sequence[str]) -> brute_force.Tree:
    """Return another tree over the same leaves."""
    groups = draw(st.lists(st.sampled_from(["", "x", "y"]), min_size=len(codes), max_size=len(codes)))
    tree: dict[str, dict[str, brute_force.Tree]] = {}
    for code, group in zip(codes, groups, strict=True):
        if group:
            tree.setdefault(group, {})[code] = {}
        else:
            tree[code] = {}
    return tree


@st.composite
def dimensions(draw: st.DrawFn, name: str) -> Dimension:
    """Return a dimension of any kind."""
    kind = draw(st.sampled_from(["flat", "nested", "paths", "several", "levels", "digits"]))
    if kind == "flat":
        codes = draw(st.lists(st.sampled_from(CODES), min_size=1, max_size=4, unique=True))
        return Dimension(name, ({code: {} for code in codes},))
    if kind == "digits":
        codes = draw(st.lists(st.sampled_from(["11", "12", "21", "3", "31", "4"]), min_size=1, unique=True))
        codes = [code for code in codes if not any(other != code and other.startswith(code) for other in codes)]
        digits: dict[str, dict[str, brute_force.Tree]] = {}
        for code in codes:
            digits.setdefault(code[0], {}).update({code: {}} if len(code) > 1 else {})
        widths = Digits((1, 1))
        # A record carries its own code only, so the oracle's leaves are paths that end in it.
        return Dimension(name, (digits,), widths)
    tree = draw(trees)
    if kind == "levels":
        depth = max(len(path) for path in brute_force.leaves(tree))
        given = draw(st.sampled_from([None, Hierarchy.from_dict(_nested(tree))])) if depth > 1 else None
        return Dimension(name, (tree,), given, depth)
    tree = unambiguous(tree)
    if kind == "nested":
        return Dimension(name, (tree,), Hierarchy.from_dict(_nested(tree)))
    if kind == "paths":
        return Dimension(name, (tree,), Hierarchy.from_paths(brute_force.leaves(tree)))
    second = draw(groupings([leaf[-1] for leaf in brute_force.leaves(tree)]))
    return Dimension(name, (tree, second), [Hierarchy.from_dict(_nested(each)) for each in (tree, second)])


def _nested(tree: brute_force.Tree) -> dict[str, Any]:
    return {code: _nested(below) for code, below in tree.items()}


@dataclass(frozen=True)
class Draw:
    """Records with the dimensions they lie in and what celosia is told about them.

    Parameters
    ----------
    dimensions
        The dimensions.
    records
        The records.
    decimals
        How many decimals the values have.
    roles
        The columns in use besides the value.
    largest
        How many of the largest contributions to keep.
    """

    dimensions: tuple[Dimension, ...]
    records: tuple[brute_force.Record, ...]
    decimals: int = 0
    roles: Mapping[str, str] = field(default_factory=dict)
    largest: int = 3

    @property
    def classifications(self) -> list[brute_force.Classification]:
        return [each.classification(self.records, place) for place, each in enumerate(self.dimensions)]

    def columns(self) -> dict[str, list[Any]]:
        """Return the records in columns."""
        out: dict[str, list[Any]] = {}
        for place, dimension in enumerate(self.dimensions):
            entries = [dimension.entries(record.leaf[place]) for record in self.records]
            out |= {column: [entry[k] for entry in entries] for k, column in enumerate(dimension.columns)}
        out["value"] = [_number(record.value, self.decimals) for record in self.records]
        out["shadow"] = [_number(record.shadow, self.decimals) for record in self.records]
        out["weight"] = [float(record.weight) for record in self.records]
        out["respondent"] = [record.respondent for record in self.records]
        out["holding"] = [record.holding for record in self.records]
        out["request"] = [record.asks for record in self.records]
        out["waiver"] = [record.waives or None for record in self.records]
        return out

    def frame(self) -> pl.DataFrame:
        """Return the records as a frame."""
        number = pl.Float64 if self.decimals else pl.Int64
        types: dict[str, Any] = {column: pl.String for each in self.dimensions for column in each.columns}
        types |= {"value": number, "shadow": number, "weight": pl.Float64, "respondent": pl.String}
        types |= {"holding": pl.String, "request": pl.Boolean, "waiver": pl.Boolean}
        return pl.DataFrame(self.columns(), schema=types)

    def options(self) -> dict[str, Any]:
        """Return what `tabulate` is told."""
        return {
            "by": [dimension.name for dimension in self.dimensions],
            "columns": {dimension.name: dimension.columns for dimension in self.dimensions},
            "hierarchies": {each.name: each.given for each in self.dimensions if each.given is not None},
            "largest": self.largest,
            "value": "value",
            **self.roles,
        }

    def table(self, frame: object = None, **more: Any) -> Table:  # noqa: ANN401
        """Return the table of the records, or of a frame that says the same."""
        told = {"total_codes": "keep"} | self.options() | more
        return tabulate(self.frame() if frame is None else frame, **told)


def _number(value: Fraction, decimals: int) -> int | float:
    return float(value) if decimals else int(value)


@st.composite
def records(
    draw: st.DrawFn, places: Sequence[Dimension], decimals: int, *, signed: bool, weighted: bool, large: bool = False
) -> brute_force.Record:
    """Return one record."""
    count = draw(st.integers(-5 if signed else 0, 20) | st.sampled_from([1, 10, 100]))
    value = Fraction(count * (2**52 - 1) if large and not decimals else count, 10**decimals)
    name = draw(st.sampled_from(["f1", "f2", "f3", "f4", "Müller & Söhne", "h1"]))
    return brute_force.Record(
        leaf=tuple(draw(st.sampled_from(place.leaves)) for place in places),
        value=value,
        weight=Fraction(draw(st.integers(1, 40)), 10) if weighted else Fraction(1),
        respondent=name,
        holding=draw(st.sampled_from([None, "h1", "h2", "f1"])),
        asks=draw(st.booleans()) and draw(st.booleans()),
        waives=draw(st.booleans()),
        shadow=Fraction(draw(st.integers(-3 if signed else 0, 30)), 10**decimals),
    )


@st.composite
def draws(draw: st.DrawFn, *, most_dimensions: int = 2, signed: bool = True, large: bool = True) -> Draw:
    """Return records of every kind with the options that go with them; `large` values exceed what a double holds."""
    names = ["dim", "region", "size"][: draw(st.integers(1, most_dimensions))]
    places = tuple(draw(dimensions(name)) for name in names)
    decimals = draw(st.sampled_from([0, 0, 1, 2]))
    roles = draw(st.sets(st.sampled_from(["respondent", "holding", "weight", "request", "waiver", "shadow"])))
    if "holding" in roles:
        roles.add("respondent")
    large = large and not decimals and "weight" not in roles and draw(st.booleans())
    one = records(places, decimals, signed=signed, weighted="weight" in roles, large=large)
    drawn = draw(st.lists(one, min_size=1, max_size=12))
    named = [
        brute_force.Record(
            record.leaf,
            record.value,
            record.weight,
            record.respondent if "respondent" in roles else f"record {number}",
            record.holding if "holding" in roles else None,
            record.asks if "request" in roles else False,
            record.waives if "waiver" in roles else False,
            record.shadow if "shadow" in roles else record.value,
        )
        for number, record in enumerate(drawn)
    ]
    return Draw(places, tuple(named), decimals, {role: role for role in sorted(roles)}, draw(st.integers(1, 4)))
