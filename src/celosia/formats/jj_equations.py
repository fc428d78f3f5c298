"""The equations of a JJ file, and whether the values satisfy them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain

import numpy as np
import scipy.sparse as sp

from celosia.errors import roughly
from celosia.formats.jj_entries import Entries, Flags, counts_in
from celosia.formats.jj_lines import CUT, FileLines, quote_stripped, whole
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table
from celosia.tolerance import LARGEST_COUNT, additivity_units


@dataclass(frozen=True, slots=True)
class Equation:
    """One equation as it is written."""

    right: str
    announced: int
    cells: list[int]
    factors: list[int]

    @classmethod
    def of_text(cls, text: str) -> Equation:
        """Return the equation of a line; ValueError with the part that is none."""
        head, _, tail = text.partition(":")
        *pieces, piece = tail.split(")")
        if piece and not piece.isspace():
            raise ValueError(piece)
        try:
            cells, factors = _plain_terms(pieces)
        except ValueError:
            cells, factors = [], []
        try:
            for piece in pieces[len(cells) :]:
                cell, _, factor = piece.partition("(")
                cells.append(whole(cell))
                factors.append(whole(factor))
            piece = head
            right, announced = head.split()
            return cls(right, whole(announced), cells, factors)
        except ValueError:
            raise ValueError(piece) from None

    def flaws(self, n_cells: int) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the terms, and what to do."""
        cells = self.cells
        if len(cells) != self.announced:
            yield f"the equation announces {self.announced} terms and has {len(cells)}.", CUT
        if cells and not 0 <= min(cells) <= max(cells) < n_cells:
            beyond = next(cell for cell in cells if not 0 <= cell < n_cells)
            yield f"there is no cell {beyond}.", f"Cells count from 0 to {n_cells - 1}."
        if len(set(cells)) < len(cells):
            twice = Counter(cells).most_common(1)[0][0]
            yield f"cell {twice} stands more than once in the equation.", "Add up its coefficients."
        if cells and max(map(abs, self.factors)) >= LARGEST_COUNT:
            yield "a coefficient does not fit into 64 bits.", "Divide the equation by a common factor."


def _plain_terms(pieces: list[str]) -> tuple[list[int], list[int]]:
    """Return the cells and factors of terms such as `` 3 (-1``, as nearly all are written; ValueError for others."""
    if "_" in "".join(pieces):
        raise ValueError(pieces)
    pairs = [piece.split("(") for piece in pieces]
    return [int(cell) for cell, _ in pairs], [int(factor) for _, factor in pairs]


def equations_of(lines: FileLines, n_cells: int) -> tuple[FileLines, list[Equation]]:
    """Return the equations without flaws, and their lines."""
    wanted = "Wanted: 0 3 : 0 (-1) 1 (1) 2 (1), with whole coefficients."
    good, read = FileLines([], [], lines.found), []
    for place, text in enumerate(lines.texts):
        try:
            equation = Equation.of_text(text)
        except ValueError as error:
            lines.complain(place, f"{quote_stripped(str(error))} is no part of an equation.", wanted)
            continue
        flaws = list(equation.flaws(n_cells))
        for flaw in flaws:
            lines.complain(place, *flaw)
        if not flaws:
            good.numbers.append(lines.numbers[place])
            good.texts.append(text)
            read.append(equation)
    return good, read


def fits(amounts: Fixed, lines: FileLines) -> bool:
    """Return whether the values are short enough for sums in 64-bit integers."""
    if amounts.counts.dtype != object and np.abs(amounts.counts).max(initial=0) < LARGEST_COUNT:
        return True
    largest = int(np.argmax(np.abs(amounts.counts)))
    seen = f"cell {largest}: the value has too many digits where values have {amounts.decimals} decimals."
    lines.complain(largest, seen, "Values have up to 18 digits with their decimals: round them.")
    return False


def add_relations(table: Table, sound: Flags, lines: FileLines, equations: list[Equation]) -> Table:
    """Return the table with relations that hold exactly; complain about equations that its values do not satisfy.

    Coefficients are whole, so ``M a`` has the decimals of the values, whatever those of the right side: the values'
    last decimal is the unit in which an equation may miss.
    """
    counts, matrix = table.amounts.counts, _matrix(equations, len(table))
    entries = Entries(lines, np.ones(len(lines), dtype=bool))
    right = entries.exact("right side", [equation.right for equation in equations])
    size = abs(matrix)
    endless = size.astype(np.float64) @ np.abs(counts).astype(np.float64) >= LARGEST_COUNT
    for place in np.flatnonzero(endless).tolist():
        lines.complain(place, "the sum of the equation does not fit into 64 bits.", "Round the values.")
    doubtful = (size @ (~sound).astype(np.int64) > 0) | endless | ~entries.sound
    sums = np.where(doubtful, 0, matrix @ counts)
    decimals = max(table.decimals, right.decimals)
    misses = np.abs(counts_in(Fixed(sums, table.decimals), decimals) - counts_in(right, decimals))
    rounded = 0
    for place in np.flatnonzero((misses != 0) & ~doubtful).tolist():
        units = Fraction(int(misses[place]), 10 ** (decimals - table.decimals))
        allowed = additivity_units(int(matrix.indptr[place + 1] - matrix.indptr[place]))
        if units > allowed:
            seen = f"the values miss the right side by about {roughly(float(units))} units of their last decimal"
            lines.complain(
                place, f"{seen}, and rounding explains {allowed:g}.", "Correct the values or the right side."
            )
        rounded += units <= allowed
    note = f"{rounded} of {len(lines)} equations miss by rounding: their right sides take the difference."
    return replace(table, relations=Relations(matrix, sums)).with_notes(*([note] if rounded else []))


def _matrix(equations: list[Equation], n_cells: int) -> sp.csr_array:
    """Return the coefficients, ``(n_equations, n_cells)``."""
    starts = np.cumsum([0, *(len(equation.cells) for equation in equations)])
    cells = np.fromiter(chain.from_iterable(equation.cells for equation in equations), dtype=np.int64)
    factors = np.fromiter(chain.from_iterable(equation.factors for equation in equations), dtype=np.int64)
    matrix = sp.csr_array((factors, cells, starts), shape=(len(equations), n_cells))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
