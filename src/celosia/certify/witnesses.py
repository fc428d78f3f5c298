"""The tables that a certificate holds: moves away from the true table, each different one stored once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from celosia.attack.questions import Answer
from celosia.attack.system import System


@dataclass(slots=True)
class Witnesses:
    """Collects tables.

    Parameters
    ----------
    entries
        The tables so far, as the file holds them: moves away from the true values, and what they are divided by.
    """

    entries: list[dict[str, Any]] = field(default_factory=list)
    _places: dict[tuple[int, bytes, bytes], int] = field(default_factory=dict)

    def add(self, answer: Answer, system: System) -> int:
        """Return the place of the table that an answer holds."""
        moved = np.flatnonzero(answer.moves)
        cells, moves = system.cells[answer.columns[moved]], answer.moves[moved]
        order = np.argsort(cells)
        cells, moves = cells[order], moves[order]
        denominator = int(answer.denominator) * 10**system.decimals
        shared = math.gcd(denominator, int(np.gcd.reduce(moves))) if len(moves) else denominator
        # The common factor of the moves and the denominator fits into 64 bits, because it divides a move.
        denominator, moves = denominator // shared, moves // shared if len(moves) else moves
        place = self._places.setdefault((denominator, cells.tobytes(), moves.tobytes()), len(self.entries))
        if place == len(self.entries):
            pairs = zip(cells.tolist(), moves.tolist(), strict=True)
            self.entries.append({"denominator": str(denominator), "moves": [[cell, str(move)] for cell, move in pairs]})
        return place


def moved(answer: Answer, system: System, cell: int, *, whole: bool) -> Fraction | None:
    """Return how far up a cell moves in the table of an answer, None where that table will not do.

    An answer without a table leaves everything where it is.

    Parameters
    ----------
    answer, system
        The answer, and the system whose columns it speaks of.
    cell
        The cell.
    whole
        Only moves by whole numbers will do.
    """
    denominator = int(answer.denominator) * 10**system.decimals
    if whole and bool((answer.moves % denominator).any()):
        return None
    own = np.flatnonzero(system.cells[answer.columns] == cell)
    return Fraction(sum(answer.moves[own].tolist()), denominator)
