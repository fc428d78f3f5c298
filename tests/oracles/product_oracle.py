"""Product tables drawn at random, and a judge of moves that knows only their trees and values.

Relations are rebuilt from codes, numbers are fractions; nothing is shared with what finds or checks moves in celosia.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import polars as pl

from celosia import Attacker, Hierarchy, Risk, Table, tabulate
from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.risk.risk import SAFE, SENSITIVE, SHOW, Levels
from celosia.table.fixed import Fixed

Tree = dict[str, "Tree"]
Codes = tuple[str, ...]
TOTAL = "Total"


def drawn_tree(chance: random.Random, name: str, depth: int) -> Tree:
    """Return a ragged tree: branches of one dimension end at different depths, and none has a single child."""
    n = chance.randint(2, 4)
    return {
        f"{name}{k}": drawn_tree(chance, f"{name}{k}", depth - 1) if depth > 1 and chance.random() < 0.5 else {}
        for k in range(n)
    }


def leaf_paths(tree: Tree) -> Iterator[tuple[str, ...]]:
    """Yield the ways from the total to every leaf."""
    for code, below in tree.items():
        if below:
            yield from ((code, *path) for path in leaf_paths(below))
        else:
            yield (code,)


def children(tree: Tree, above: str = TOTAL) -> dict[str, list[str]]:
    """Return the children of every code that has some."""
    found = {above: list(tree)}
    for code, below in tree.items():
        if below:
            found |= children(below, code)
    return found


@dataclass(frozen=True)
class ProductCase:
    """A table with the children of every code in every dimension, sensitive cells, and what attackers know."""

    below: tuple[dict[str, list[str]], ...]
    risk: Risk

    @property
    def table(self) -> Table:
        return self.risk.table

    def codes(self, cell: int) -> Codes:
        return tuple(axis.labels[self.table.codes[cell, k]] for k, axis in enumerate(self.table.axes))

    def breaks_relation(self, moves: Mapping[Codes, Fraction]) -> bool:
        """Return whether moves break a sum of any dimension, empty cells being known zeros."""
        for axis, below in enumerate(self.below):
            parent_of = {code: parent for parent, parts in below.items() for code in parts}
            touched = {codes for codes in moves if codes[axis] in below}
            touched |= {
                (*codes[:axis], parent_of[codes[axis]], *codes[axis + 1 :])
                for codes in moves
                if codes[axis] in parent_of
            }
            for codes in touched:
                parts = sum(
                    (moves.get((*codes[:axis], part, *codes[axis + 1 :]), Fraction(0)) for part in below[codes[axis]]),
                    Fraction(0),
                )
                if parts != moves.get(codes, Fraction(0)):
                    return True
        return False


def fraction(numbers: Fixed, place: int) -> Fraction | None:
    """Return a number, None where it is infinite."""
    return None if bool(numbers.infinite[place]) else numbers.fraction(place)


def faults(
    case: ProductCase, hidden: frozenset[int], cell: int, attacker: int, moves: Mapping[int, Fraction], level: Fraction
) -> list[str]:
    """Return what is wrong with a witness: moves of cells that shall push one of them to a level, up or down."""
    found = []
    if not hidden >= moves.keys():
        found.append("moves a shown cell")
    if case.breaks_relation({case.codes(one): move for one, move in moves.items()}):
        found.append("breaks a relation")
    who, amounts = case.risk.attackers[attacker], case.table.amounts
    for one, move in moves.items():
        value, lower, upper = amounts.fraction(one) + move, fraction(who.lower, one), fraction(who.upper, one)
        if (lower is not None and value < lower) or (upper is not None and value > upper):
            found.append("leaves the attacker's bounds")
    own = moves.get(cell, Fraction(0))
    if (own < level) if level > 0 else (own > level):
        found.append("misses the level")
    return found


def drawn_case(seed: int) -> ProductCase:
    """Return a table of two to four dimensions with ragged trees, several attackers, all levels, and frozen cells."""
    chance = random.Random(f"product {seed}")  # noqa: S311
    n_dimensions = chance.choice([2, 3, 3, 3, 4])
    depth = {2: 3, 3: 2, 4: 1}[n_dimensions]
    trees = tuple(drawn_tree(chance, name, depth) for name in "abcd"[:n_dimensions])
    leaves = [list(leaf_paths(tree)) for tree in trees]
    filled = chance.choice([0.5, 0.8, 1.0])
    cells = [codes for codes in product(*leaves) if chance.random() < filled] or [tuple(own[0] for own in leaves)]
    columns: dict[str, list[Any]] = {f"d{k}": [codes[k][-1] for codes in cells] for k in range(n_dimensions)}
    columns["value"] = [
        chance.choice([0.0, 1.0, 3.0, 10.0, 40.0, 200.0, 3000.0]) + chance.choice([0.0, 0.5]) for _ in cells
    ]
    hierarchies = {f"d{k}": Hierarchy.from_paths(own) for k, own in enumerate(leaves)}
    table = tabulate(pl.DataFrame(columns), by=list(columns)[:-1], value="value", hierarchies=hierarchies)
    return ProductCase(tuple(children(tree) for tree in trees), _drawn_risk(chance, table))


def _drawn_risk(chance: random.Random, table: Table) -> Risk:
    n = len(table)
    status = np.full(n, SAFE)
    sensitive = [cell for cell in range(n) if table.values[cell] > 0 and chance.random() < 0.12]
    status[sensitive] = SENSITIVE
    for cell in range(n):
        if status[cell] == SAFE and chance.random() < 0.05:
            status[cell] = SHOW
    counts = table.amounts.counts
    styles = [chance.choice(["both", "up", "down", "sliding", "mixed"]) for _ in range(n)]
    levels = np.zeros((3, n), dtype=np.int64)
    for cell in sensitive:
        level = max(1, int(counts[cell]) * chance.choice([5, 10, 30, 90]) // 100)
        style = styles[cell]
        levels[0, cell] = level if style in ("both", "down", "mixed") else 0
        levels[1, cell] = chance.choice([level, 2 * level]) if style in ("both", "up") else 0
        levels[2, cell] = 2 * level if style in ("sliding", "mixed") else 0
    attackers = [Attacker.external(table)]
    if chance.random() < 0.5:
        attackers.append(Attacker.percentage(table, chance.choice([30, 95])))
    if chance.random() < 0.3:
        attackers.append(Attacker.factor(table, 3))
    fixed = [Fixed(one, table.decimals) for one in levels]
    return Risk(table, status, Levels(*fixed), table.values + 1.0, tuple(attackers))


def case_of(risk: Risk) -> ProductCase:
    """Return any table as a case: who is whose child is read off the paths of codes."""
    below = []
    for axis in risk.table.axes:
        at = {path: node for node, paths in enumerate(axis.paths) for path in paths}
        found: dict[str, list[str]] = {}
        for path, node in at.items():
            if path and at[path[:-1]] != node and axis.labels[node] not in found.get(axis.labels[at[path[:-1]]], []):
                found.setdefault(axis.labels[at[path[:-1]]], []).append(axis.labels[node])
        below.append(found)
    return ProductCase(tuple(below), risk)


def unpack(proposed: ProposedWitnesses, k: int) -> tuple[int, int, dict[int, Fraction]]:
    """Return the cell, the attacker and the moves of a proposed witness."""
    table = int(proposed.tables[k])
    part = slice(int(proposed.starts[table]), int(proposed.starts[table + 1]))
    unit = int(proposed.denominator[table]) * 10**proposed.decimals
    moves = {
        int(cell): Fraction(int(move), unit)
        for cell, move in zip(proposed.moved[part], proposed.moves[part], strict=True)
    }
    return int(proposed.cells[k]), int(proposed.attackers[k]), moves


def reach_of_witnesses(
    case: ProductCase, hidden: frozenset[int], proposed: ProposedWitnesses
) -> dict[tuple[int, int, bool], Fraction]:
    """Return how far cells are moved before every attacker, up (True) or down; a witness with a fault is an error."""
    reached: dict[tuple[int, int, bool], Fraction] = {}
    for k in range(len(proposed)):
        cell, attacker, moves = unpack(proposed, k)
        own = moves[cell]
        assert bool(proposed.upward[k]) == (own > 0)
        assert faults(case, hidden, cell, attacker, moves, own) == []
        key = (cell, attacker, own > 0)
        reached[key] = max(reached.get(key, Fraction(0)), abs(own))
    return reached


def find_unmet(case: ProductCase, reached: Mapping[tuple[int, int, bool], Fraction]) -> set[int]:
    """Return the requirements that moves so far do not meet."""
    asked, unmet = case.risk.requirements, set()
    for place in range(len(asked)):
        wanted = asked[place]
        up, down = (reached.get((wanted.cell, wanted.attacker, side), Fraction(0)) for side in (True, False))
        if up < wanted.upper or down < wanted.lower or up + down < wanted.sliding:
            unmet.add(place)
    return unmet


def loosened(case: ProductCase) -> ProductCase:
    """Return the same with levels that no attacker's bounds exclude."""
    risk = case.risk
    room = np.array([_room(risk, cell) for cell in range(len(risk))], dtype=object)
    levels = []
    for level in (risk.levels.lower, risk.levels.upper, risk.levels.sliding):
        scaled = room * 10**level.decimals
        levels.append(Fixed(np.minimum(level.counts, np.array([int(one) for one in scaled])), level.decimals))
    return replace(case, risk=replace(risk, levels=Levels(*levels)))


def _room(risk: Risk, cell: int) -> Fraction:
    value = risk.table.amounts.fraction(cell)
    ends = [(fraction(one.lower, cell), fraction(one.upper, cell)) for one in risk.attackers]
    rooms = [abs(value - end) for pair in ends for end in pair if end is not None]
    return min(rooms, default=value)
