"""The tables of a certificate that protect respondents from each other: how they are written, read and found.

For a target there are tables for the corners of his box, p percent more here and less there. Each holds against some
coalitions; that together they hold against all is for the judge to find out (`celosia.certificate.respondents.judge`).
Whoever is not named is protected by the others in his cells, or by what protects a larger one in the same cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.certificate.columns import MOST_ENTRIES, UnreadableError, check_keys, column, read_places
from celosia.certificate.whole import starts_of

if TYPE_CHECKING:
    from celosia.attack.respondents.boxes import Cover
    from celosia.attack.respondents.findings import RespondentAudit, RuleAudit
    from celosia.attack.respondents.witness import WitnessMoves
    from celosia.attack.system.system import System
    from celosia.certificate.witnesses import WitnessCollector

_NAMES = ("targets", "sizes", "cells", "covers", "signs", "tables", "steps")


@dataclass(frozen=True, slots=True)
class CoverTables:
    """Tables for all corners of a target's box that have some signs.

    Parameters
    ----------
    signs
        For each of his cells 1 (more), -1 (less) or 0 (either).
    table
        The place of the table, to which steps are added.
    steps
        For each of his cells the place of a table that is added where he contributes more in it, and subtracted where
        he contributes less; -1 for none.
    """

    signs: tuple[int, ...]
    table: int
    steps: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TargetTables:
    """The tables that protect one target in some of his cells. Confidential.

    Parameters
    ----------
    target
        His anonymous number.
    cells
        The leaf cells.
    covers
        The tables.
    """

    target: int
    cells: tuple[int, ...]
    covers: tuple[CoverTables, ...]


def collect_tables(found: RespondentAudit, witnesses: WitnessCollector) -> tuple[tuple[TargetTables, ...], ...]:
    """Return the tables of an audit of respondents that kept them, rule by rule, as places among the witnesses."""
    return tuple(_collect_of_rule(part, witnesses) for part in found.parts)


def _collect_of_rule(part: RuleAudit, witnesses: WitnessCollector) -> tuple[TargetTables, ...]:
    system, people = part.system, part.respondents
    if system is None:
        return ()
    return tuple(
        TargetTables(
            int(people.numbers[proof.target]),
            tuple(int(people.leaves[leaf]) for leaf in proof.leaves),
            tuple(_collect_cover(cover, proof.leaves, system, witnesses) for cover in proof.covers),
        )
        for proof in part.proofs
    )


def _collect_cover(cover: Cover, leaves: tuple[int, ...], system: System, witnesses: WitnessCollector) -> CoverTables:
    def place(table: WitnessMoves) -> int:
        return witnesses.add_moves(system.cells[table.columns], table.moves, table.denominator * 10**system.decimals)

    return CoverTables(
        tuple(cover.signs.get(leaf, 0) for leaf in leaves),
        place(cover.table),
        tuple(place(cover.steps[leaf]) if leaf in cover.steps else -1 for leaf in leaves),
    )


def write_tables(every: Sequence[Sequence[TargetTables]]) -> list[dict[str, Any]]:
    """Return the tables as a certificate holds them, rule by rule."""
    return [_write_rule(own) for own in every]


def _write_rule(own: Sequence[TargetTables]) -> dict[str, Any]:
    covers = [cover for one in own for cover in one.covers]
    numbers = (
        [one.target for one in own],
        [len(one.cells) for one in own],
        [cell for one in own for cell in one.cells],
        [len(one.covers) for one in own],
        [sign for cover in covers for sign in cover.signs],
        [cover.table for cover in covers],
        [step for cover in covers for step in cover.steps],
    )
    return {name: column(np.array(some, dtype=np.int64)) for name, some in zip(_NAMES, numbers, strict=True)}


def read_tables(part: object, n_cells: int, n_tables: int) -> tuple[tuple[TargetTables, ...], ...]:
    """Return the tables for respondents of a certificate, or refuse it for the first thing that cannot be read."""
    if not isinstance(part, list):
        raise UnreadableError("has no list contributors.")
    return tuple(_read_rule(entries, n_cells, n_tables) for entries in part)


def _read_rule(part: object, n_cells: int, n_tables: int) -> tuple[TargetTables, ...]:
    entries = check_keys(part, "contributors", _NAMES)

    def read(name: str, below: int, n: int | None = None, least: int = 0) -> list[int]:
        found: list[int] = read_places(entries[name], f"contributors.{name}", below=below, n=n, least=least).tolist()
        return found

    targets = read("targets", MOST_ENTRIES)
    sizes, covers = read("sizes", n_cells + 1, len(targets)), read("covers", MOST_ENTRIES, len(targets))
    cells = read("cells", n_cells, sum(sizes))
    entry = sum(size * many for size, many in zip(sizes, covers, strict=True))
    if entry > MOST_ENTRIES:
        raise UnreadableError("has too many contributors.covers.")
    signs, steps = read("signs", 2, entry, -1), read("steps", n_tables, entry, -1)
    tables = read("tables", n_tables, sum(covers))
    cell_at, cover_at = starts_of(np.array(sizes, dtype=np.int64)).tolist(), starts_of(np.array(covers)).tolist()
    found, at = [], 0
    for place, (target, size, many) in enumerate(zip(targets, sizes, covers, strict=True)):
        own = []
        for cover in range(cover_at[place], cover_at[place] + many):
            own.append(CoverTables(tuple(signs[at : at + size]), tables[cover], tuple(steps[at : at + size])))
            at += size
        found.append(TargetTables(target, tuple(cells[cell_at[place] : cell_at[place + 1]]), tuple(own)))
    return tuple(found)


def keep_used(
    every: Sequence[Sequence[TargetTables]], used: Callable[[int, int], frozenset[int]]
) -> tuple[tuple[TargetTables, ...], ...]:
    """Return the same with those covers alone that are used, by rule and target; targets without any are left out."""
    kept = []
    for rule, own in enumerate(every):
        parts = [
            TargetTables(one.target, one.cells, tuple(one.covers[k] for k in sorted(used(rule, place))))
            for place, one in enumerate(own)
        ]
        kept.append(tuple(one for one in parts if one.covers))
    return tuple(kept)
