"""A pattern: how every cell of a table is published. Confidential, because it knows the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.arguments import takes
from celosia.errors import DataError, SpecError, list_items
from celosia.pattern.arithmetic import align_decimals, endless, replace_places, zeros
from celosia.pattern.entries import HIDDEN, STATUS_TYPE, Fault, criterion, problems_of, tally
from celosia.pattern.modes.mode import Mode, check_costs
from celosia.pattern.modes.shown import Shown
from celosia.pattern.modes.suppressed import Suppressed
from celosia.table.fixed import Fixed
from celosia.table.table import Table


@dataclass(frozen=True, eq=False)
class Pattern:
    """A table and the modes in which its cells are published, each cell in exactly one. Confidential.

    Parameters
    ----------
    table
        The table, with its true values.
    modes
        How its cells are published. `Pattern.of` shows what no mode names.

    Raises
    ------
    SpecError
        A cell is in no mode, in two, or not in the table.
    DataError
        The table refutes what a mode says: a value to be shown that is another, a range without the truth.
    """

    table: Table
    modes: tuple[Mode, ...]

    def __post_init__(self) -> None:
        named = np.concatenate([np.zeros(0, dtype=np.int64), *(mode.cells for mode in self.modes)])
        beyond = named[(named < 0) | (named >= len(self.table))]
        if len(beyond):
            remedy = f"Cells count from 0 up to {len(self.table) - 1}."
            raise SpecError.one(
                "modes", f"name cells that are not in the table: {list_items(beyond.tolist())}.", remedy
            )
        structure = list(self._coverage_faults(named))
        problems = problems_of([*structure, *self._faults_against()], self.table.label)
        if problems:
            raise (SpecError if any(wrong.any() for wrong, _, _ in structure) else DataError)(problems)

    def _coverage_faults(self, named: NDArray[np.int64]) -> Iterator[Fault]:
        times = np.bincount(named, minlength=len(self.table))
        yield times > 1, "the cell is in more than one mode.", "Publish it in one way."
        yield times == 0, "no mode names the cell.", "Pattern.of shows what no mode names."

    def _faults_against(self) -> Iterator[Fault]:
        for mode in self.modes:
            for wrong, message, remedy in mode.faults(self.table):
                cells = np.zeros(len(self.table), dtype=bool)
                cells[mode.cells[wrong]] = True
                yield cells, message, remedy

    @classmethod
    @takes(table=Table)
    def of(cls, table: Table, *modes: Mode) -> Pattern:
        """Return the pattern in which some cells are published in these modes, and all others are shown."""
        rest = np.ones(len(table), dtype=bool)
        for mode in modes:
            rest[mode.cells[mode.cells < len(table)]] = False
        others = np.flatnonzero(rest)
        return cls(table, (*modes, Shown.of(table, others)) if len(others) else modes)

    @classmethod
    @takes(table=Table)
    def hide(cls, table: Table, cells: ArrayLike) -> Pattern:
        """Return the pattern that hides some cells and shows all others.

        Parameters
        ----------
        table
            The table.
        cells
            The cells to hide: their places, or a mask over all cells.
        """
        array: NDArray[Any] = np.asarray(cells)
        if array.dtype == bool:
            if array.shape != (len(table),):
                raise SpecError.one("cells", f"is a mask of the shape {array.shape} for {len(table)} cells.")
            array = np.flatnonzero(array)
        return cls.of(table, Suppressed(array, table))

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def status(self) -> NDArray[np.str_]:
        """How every cell is published, in the words of the release, ``(n_cells,)``."""
        words = np.full(len(self), HIDDEN, dtype=STATUS_TYPE)
        for mode in self.modes:
            words[mode.cells] = mode.status
        return words

    @property
    def criterion(self) -> str:
        """What protects: ``intervals``, or ``distance`` as soon as one cell is adjusted."""
        return criterion(self.status)

    def published(self) -> Fixed:
        """Return the numbers shown, ``(n_cells,)``, zero where none is."""
        shown = ((mode.cells, mode.published()) for mode in self.modes)
        return replace_places(zeros(len(self)), [(cells, numbers) for cells, numbers in shown if numbers is not None])

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return what the entries give away, ``(n_cells,)`` each, at the same number of decimals.

        Guarantee
        ---------
        Every true value lies between its bounds: modes that say otherwise make no pattern.
        """
        lowest, highest = endless(len(self))
        ends = [(mode.cells, *mode.bounds()) for mode in self.modes]
        lower = replace_places(lowest, [(cells, low) for cells, low, _ in ends])
        upper = replace_places(highest, [(cells, high) for cells, _, high in ends])
        lower, upper = align_decimals(lower, upper)
        return lower, upper

    def loss(self, cost: ArrayLike) -> float:
        """Return what readers lose: the sum over all modes.

        Parameters
        ----------
        cost
            The cost of every cell, ``(n_cells,)``: for hiding it, or per unit by which it is widened or moved.
        """
        costs = check_costs(cost, len(self))
        return float(sum(mode.loss(self.table, costs) for mode in self.modes))

    def __repr__(self) -> str:
        return f"Pattern({self.table!r}: {tally(self.status)})"

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"


@runtime_checkable
class HasPattern(Protocol):
    """Anything that was made for the sake of a pattern, such as a `celosia.Protection`."""

    @property
    def pattern(self) -> Pattern:
        """How every cell is published."""
