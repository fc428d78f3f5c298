"""A mode: one way of publishing, for some cells of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from celosia.errors import DataError, Problems, SpecError, list_items
from celosia.pattern.arithmetic import minus
from celosia.pattern.entries import Fault, problems_of

if TYPE_CHECKING:
    from celosia.table.fixed import Fixed
    from celosia.table.table import Table


class Mode(Protocol):
    """How some cells are published, what that gives away, and what it costs.

    The modes of this package are frozen dataclasses that check themselves at birth. Each takes the `table` as a last
    argument, which it does not keep: with it the cells' true values are checked too, and messages call cells by their
    labels.
    """

    @property
    def cells(self) -> NDArray[np.int64]:
        """The cells, ``(m,)``."""

    @property
    def status(self) -> str:
        """The word of the release: see `celosia.pattern.entries`."""

    def published(self) -> Fixed | None:
        """Return the numbers shown, ``(m,)``, or None where none are."""

    def bounds(self) -> tuple[Fixed, Fixed]:
        """Return what the entries themselves give away, ``(m,)`` each: the truth is not below and not above."""

    def loss(self, table: Table, cost: NDArray[np.float64]) -> float:
        """Return what readers lose; `cost` is that of every cell of the table, ``(n_cells,)``."""

    def faults(self, table: Table) -> Iterable[Fault]:
        """Return which of these cells the table refutes, ``(m,)`` each. No message tells a true value."""


def check_cells(
    cells: ArrayLike,
    table: Table | None,
    numbers: Mapping[str, Fixed] | None = None,
    costs: Mapping[str, NDArray[np.float64] | None] | None = None,
    *,
    single: Iterable[str] = (),
) -> NDArray[np.int64]:
    """Return cell numbers as an array, once they and what is said about them fit together.

    Parameters
    ----------
    cells
        Places in the table, each once.
    table
        The table, where it is at hand.
    numbers
        What is said about the cells, by the name of the argument.
    costs
        Costs of the mode's own, by the name of the argument.
    single
        Which of the `numbers` may be one for all.

    Raises
    ------
    SpecError
        Cells are no numbers, negative, beyond the table or repeated; numbers or costs are not as many as cells; costs
        are negative or not finite.
    """
    found = Problems()
    array = np.asarray(cells)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise SpecError.one("cells", "must be a list of cell numbers.", "Of a mask take numpy.flatnonzero(mask).")
    array = array.astype(np.int64)
    beyond = array[(array < 0) | (array >= (np.iinfo(np.int64).max if table is None else len(table)))]
    if len(beyond):
        known = "" if table is None else f" up to {len(table) - 1}"
        found.add("cells", f"are not in the table: {list_items(beyond.tolist())}.", f"Cells count from 0{known}.")
    unique, repeats = np.unique(array, return_counts=True)
    if len(unique) < len(array):
        found.add("cells", f"stand twice: {list_items(unique[repeats > 1].tolist())}.", "Name each cell once.")
    several = frozenset(single)
    for name, said in (numbers or {}).items():
        if len(said) != len(array) and not (name in several and len(said) == 1):
            remedy = "Give one for all or one for each." if name in several else "Give one for each."
            found.add(name, f"has {len(said)} numbers for {len(array)} cells.", remedy)
    for name, own in (costs or {}).items():
        if own is not None:
            _check_costs(name, own, len(array), found)
    found.raise_as(SpecError)
    return array


def _check_costs(name: str, costs: NDArray[np.float64], n: int, found: Problems) -> None:
    if np.shape(costs) != (n,):
        found.add(name, f"has the shape {np.shape(costs)} for {n} cells.", "Give one for each.")
        return
    wrong = np.flatnonzero(~(np.isfinite(costs) & (np.asarray(costs) >= 0)))
    if len(wrong):
        found.add(name, f"is negative or not finite at {list_items(wrong.tolist())}.", "Costs are zero or more.")


def check_costs(cost: ArrayLike, n: int) -> NDArray[np.float64]:
    """Return the costs of `n` cells, once each of them is zero or more.

    Raises
    ------
    SpecError
        They are not as many as cells, or negative, or not finite.
    """
    costs = np.asarray(cost, dtype=np.float64)
    found = Problems()
    _check_costs("cost", costs, n, found)
    found.raise_as(SpecError)
    return costs


def refuse_faults(mode: Mode, impossible: Iterable[Fault], table: Table | None) -> None:
    """Refuse a mode that contradicts itself or, where the table is at hand, the table.

    Raises
    ------
    DataError
        The cells in question by their labels, the first 20 in words.
    """
    found = list(impossible)
    wrong = np.logical_or.reduce([np.zeros(len(mode.cells), dtype=bool), *(says for says, _, _ in found)])
    refuted: Iterable[Fault] = () if table is None else mode.faults(table)
    beyond = [(says & ~wrong, message, remedy) for says, message, remedy in refuted]

    def name(place: int) -> str:
        cell = int(mode.cells[place])
        return f"cell {cell}" if table is None else table.label(cell)

    problems = problems_of(chain(found, beyond), name)
    if problems:
        raise DataError(problems)


def truths(table: Table, cells: NDArray[np.int64]) -> Fixed:
    """Return the true values of some cells."""
    return table.amounts[cells]


def distance(table: Table, cells: NDArray[np.int64], values: Fixed) -> NDArray[np.float64]:
    """Return how far some values lie above the true ones; negative where they lie below."""
    return minus(values, truths(table, cells)).floats


def weighted_sum(*terms: tuple[NDArray[Any], NDArray[Any]]) -> float:
    """Return the sum of costs times amounts, rounded once, so that the order of the cells does not matter.

    What costs nothing counts nothing, even where the amount is infinite.
    """
    products = (np.where(costs > 0, amounts, 0.0) * costs for costs, amounts in terms)
    return math.fsum(chain.from_iterable(product.tolist() for product in products))
