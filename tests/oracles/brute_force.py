"""What a table and its rules should be, worked out the slow way: fractions, dicts and loops.

It shares nothing with the package, not even an import. A node of a classification is its set of leaves, a cell a set of
leaves per dimension, a contributor the records of one name in one cell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil

Tree = Mapping[str, "Tree"]
Path = tuple[str, ...]
Node = frozenset[Path]
Cell = tuple[Node, ...]

TOTAL = "Total"


@dataclass(frozen=True)
class Classification:
    """The nodes of a dimension by every name they may go by, and which nodes sum to which."""

    named: Mapping[str, Node]
    sums: frozenset[tuple[Node, frozenset[Node]]]

    @property
    def nodes(self) -> frozenset[Node]:
        return frozenset(self.named.values())

    @property
    def total(self) -> Node:
        return max(self.nodes, key=len)


def paths(tree: Tree, above: Path = ()) -> Iterator[tuple[Path, Tree]]:
    """Return every node below the root with what hangs under it."""
    for code, below in tree.items():
        yield (*above, code), below
        yield from paths(below, (*above, code))


def leaves(tree: Tree) -> list[Path]:
    """Return the paths that lead to leaves."""
    return [path for path, below in paths(tree) if not below]


def classification(trees: Sequence[Tree], only: Iterable[Path] | None = None) -> Classification:
    """Return the dimension of one tree, or of several over leaves of the same codes.

    Parameters
    ----------
    trees
        Nested dicts without the total.
    only
        The leaves that occur, where the hierarchy is made from the data.
    """
    kept = None if only is None else set(only)
    ends: list[tuple[Path, Node]] = []
    sums = set()
    for tree in trees:

        def held(path: Path, below: Tree, *, shared: bool = len(trees) > 1) -> Node:
            ending = [(*path, *end) for end in leaves(below)] or [path]
            named = {(end[-1],) if shared else end for end in ending}
            return frozenset(named if kept is None else named & kept)

        for path, below in [((), tree), *paths(tree)]:
            node = held(path, below)
            parts = frozenset(held((*path, code), deeper) for code, deeper in below.items()) - {frozenset()}
            if node:
                ends.append((path, node))
            if len(parts) > 1:
                sums.add((node, parts))
    meanings: dict[str, set[Node]] = {}
    for path, node in ends:
        meanings.setdefault(path[-1] if path else TOTAL, set()).add(node)
    named = {" / ".join(path if len(path) > 1 else (TOTAL, *path)): node for path, node in ends}
    named |= {code: next(iter(nodes)) for code, nodes in meanings.items() if len(nodes) == 1}
    named[TOTAL] = next(node for path, node in ends if not path)
    return Classification(named, frozenset(sums))


@dataclass(frozen=True)
class Record:
    """One record: where it lies, what it says, whose it is."""

    leaf: tuple[Path, ...]
    value: Fraction
    weight: Fraction = Fraction(1)
    respondent: str = ""
    holding: str | None = None
    asks: bool = False
    waives: bool = False
    shadow: Fraction = Fraction(0)


def cells(records: Sequence[Record], dimensions: Sequence[Classification]) -> dict[Cell, list[Record]]:
    """Return every cell that holds a record, with its records."""
    found: dict[Cell, list[Record]] = {}
    for record in records:
        holders = [
            [node for node in dimension.nodes if leaf in node]
            for dimension, leaf in zip(dimensions, record.leaf, strict=True)
        ]
        for cell in product(*holders):
            found.setdefault(cell, []).append(record)
    return found


def relations(existing: Iterable[Cell], dimensions: Sequence[Classification]) -> set[tuple[Cell, frozenset[Cell]]]:
    """Return (total, parts) for every sum along every dimension, as far as the parts exist."""
    there = set(existing)
    found = set()
    for axis, dimension in enumerate(dimensions):
        for cell in there:
            for parent, children in dimension.sums:
                parts = {(*cell[:axis], child, *cell[axis + 1 :]) for child in children} & there
                if cell[axis] == parent and parts:
                    found.add((cell, frozenset(parts)))
    return found


@dataclass(frozen=True)
class Contributor:
    """What one respondent or holding contributes to a cell."""

    size: Fraction
    mass: Fraction
    asks: bool
    waives: bool

    @property
    def units(self) -> Fraction:
        """How many equal units it stands for."""
        return self.mass / self.size if self.size else Fraction(0)


def owner(record: Record, kind: str) -> tuple[str, str]:
    """Return whose record it is; a respondent without a holding is one of its own."""
    if kind == "holding" and record.holding is not None:
        return ("holding", record.holding)
    return ("respondent", record.respondent)


def contributors(
    records: Sequence[Record], kind: str, amount: Callable[[Record], Fraction] = lambda record: record.value
) -> list[Contributor]:
    """Return the contributors to a cell, largest first; absolute values of what each contributes in all."""
    owned: dict[tuple[str, str], list[Record]] = {}
    for record in records:
        owned.setdefault(owner(record, kind), []).append(record)
    found = []
    for mine in owned.values():
        size = abs(sum((amount(record) for record in mine), Fraction(0)))
        mass = abs(sum((amount(record) * record.weight for record in mine), Fraction(0)))
        # Records that cancel but for their weights are one unit of what is left of them.
        found.append(
            Contributor(size or mass, mass, any(each.asks for each in mine), all(each.waives for each in mine))
        )
    return sorted(found, key=lambda each: (each.size, each.mass), reverse=True)


def mass_of_largest(units: Iterable[tuple[Fraction, Fraction]], wanted: Fraction) -> Fraction:
    """Return what the largest units contribute; (size, how many of it) pairs, the last taken in part if need be."""
    mass = Fraction(0)
    for size, many in sorted(units, reverse=True):
        part = min(many, wanted)
        mass += part * size
        wanted -= part
    return mass


def min_frequency(found: Sequence[Contributor], n: int, percent: Fraction, value: Fraction) -> Fraction | None:
    """Return the level by the minimum frequency rule, None where the cell is safe."""
    if not 0 < len(found) < n or all(each.waives for each in found):
        return None
    return abs(value) * percent / 100


def with_largest_others(found: Sequence[Contributor], others: int) -> Iterator[tuple[Contributor, Fraction]]:
    """Return every contributor without waiver, and what a unit of it and the largest other units contribute."""
    for number, target in enumerate(found):
        if target.waives or not target.size:
            continue
        taken = min(Fraction(1), target.units)
        left = [
            (each.size, each.units - (taken if place == number else 0)) for place, each in enumerate(found) if each.size
        ]
        yield target, taken * target.size + mass_of_largest(left, Fraction(others))


def dominance(found: Sequence[Contributor], n: int, k: Fraction) -> Fraction | None:
    """Return the level by the (n, k) rule: a unit without waiver and the n - 1 largest others against the whole."""
    total = sum((each.mass for each in found), Fraction(0))
    top = max((mass for _, mass in with_largest_others(found, n - 1)), default=Fraction(0))
    return top * 100 / k - total if top * 100 > k * total else None


def prior_posterior(found: Sequence[Contributor], p: Fraction, q: Fraction, coalition: int = 1) -> Fraction | None:
    """Return the level by the (p, q) rule: every unit without waiver is tried as target of the largest others.

    The coalition knows its own contributions and everybody else's within q percent; the target must not come out within
    p percent.
    """
    total = sum((each.mass for each in found), Fraction(0))
    worst = max(
        (p * target.size - q * (total - mass) for target, mass in with_largest_others(found, coalition)),
        default=Fraction(0),
    )
    return worst / 100 if worst > 0 else None


def request(found: Sequence[Contributor], share: Fraction, percent: Fraction, value: Fraction) -> Fraction | None:
    """Return the level by request: a respondent who asked has more than a share of the cell."""
    total = sum((each.mass for each in found), Fraction(0))
    asking = [each.mass for each in found if each.asks]
    if asking and (not share or max(asking) * 100 > share * total):
        return abs(value) * percent / 100
    return None


def rounded_up(level: Fraction, decimals: int) -> Fraction:
    """Return the level on the grid of so many decimals, never less."""
    return Fraction(ceil(level * 10**decimals), 10**decimals)
