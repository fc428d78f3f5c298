"""The tables that a certificate holds: moves away from the true table, each different one stored once."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.questions import Answers
from celosia.attack.system.system import System
from celosia.certificate.columns import column
from celosia.certificate.whole import Whole, compact, starts_of, times, within


@dataclass(slots=True)
class WitnessCollector:
    """Collects tables."""

    _places: dict[tuple[bytes, ...], int] = field(default_factory=dict)
    _denominators: list[int] = field(default_factory=list)
    _sizes: list[int] = field(default_factory=list)
    _cells: list[NDArray[np.int64]] = field(default_factory=list)
    _moves: list[Whole] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self._denominators)

    def add(self, answers: Answers, system: System, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the places of the tables that some answers hold, ``(q,)``; -1 where none is wanted.

        An answer without a table has the true one, in which nothing moves.

        Parameters
        ----------
        answers, system
            The answers, and the system whose columns they speak of.
        wanted
            Whose tables are added, ``(q,)``.
        """
        asked = np.flatnonzero(wanted & (answers.table >= 0))
        tables, first = np.unique(answers.table[asked], return_index=True)
        denominators = times(answers.denominator[asked[first]], 10**system.decimals)
        entry, number = within(answers.starts, tables)
        columns, step = answers.columns[entry], np.where(system.whole, 10**system.decimals, 1)
        cells, moves = system.cells[columns], times(answers.moves[entry], step[columns])
        order = np.lexsort((cells, number))
        cells, moves = cells[order], compact(moves[order])
        starts = starts_of(answers.starts[tables + 1] - answers.starts[tables])
        shared = _common_factors(moves, denominators, starts)
        moves, denominators = compact(moves // shared[number]), compact(denominators // shared)
        place_of = np.full(answers.n_tables, -1, dtype=np.int64)
        for k, (table, denominator) in enumerate(zip(tables.tolist(), denominators.tolist(), strict=True)):
            part = slice(starts[k], starts[k + 1])
            place_of[table] = self._place(denominator, cells[part], compact(moves[part]))
        places = np.full(len(answers), -1, dtype=np.int64)
        places[asked] = place_of[answers.table[asked]]
        still = np.flatnonzero(wanted & (answers.table < 0))
        if len(still):
            nothing = np.zeros(0, dtype=np.int64)
            places[still] = self._place(1, nothing, nothing)
        return places

    def add_moves(self, cells: NDArray[np.int64], moves: Whole, denominator: int) -> int:
        """Return the place of one table, in which cells move by so much, divided by a denominator."""
        order = np.argsort(cells)
        some = moves[order].astype(object)
        shared = gcd(denominator, *some.tolist())
        return self._place(denominator // shared, cells[order].astype(np.int64), compact(some // shared))

    def take(self, other: WitnessCollector, place: int) -> int:
        """Return the place of a table that another one has collected."""
        return self._place(other._denominators[place], other._cells[place], other._moves[place])

    def copy(self) -> WitnessCollector:
        """Return a collector of the same tables, to which others are added."""
        return WitnessCollector(
            dict(self._places), list(self._denominators), list(self._sizes), list(self._cells), list(self._moves)
        )

    def _place(self, denominator: int, cells: NDArray[np.int64], moves: Whole) -> int:
        text = moves.tobytes() if moves.dtype != object else repr(moves.tolist()).encode()
        place = self._places.setdefault((str(denominator).encode(), cells.tobytes(), text), len(self))
        if place == len(self):
            self._denominators.append(denominator)
            self._sizes.append(len(cells))
            self._cells.append(cells)
            self._moves.append(moves)
        return place

    def content(self) -> dict[str, Any]:
        """Return the tables so far, as the file holds them."""
        nothing = np.zeros(0, dtype=np.int64)
        return {
            "denominators": column(np.array(self._denominators, dtype=object)),
            "sizes": column(np.array(self._sizes, dtype=np.int64)),
            "cells": column(np.concatenate([nothing, *self._cells])),
            "moves": column(np.concatenate([nothing, *self._moves])),
        }


def _common_factors(moves: Whole, denominators: Whole, starts: NDArray[np.int64]) -> Whole:
    """Return the largest number that divides denominator and moves of each table."""
    shared, some = denominators.copy(), np.diff(starts) > 0
    if some.any():
        shared[some] = np.gcd(np.gcd.reduceat(moves, starts[:-1][some]), denominators[some])
    return shared
