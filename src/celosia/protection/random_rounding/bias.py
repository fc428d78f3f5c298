r"""The bias of rounding sensitive cells at random, of the scheme and not of one run of it.

A set of rounded values is drawn cell by cell, without bias where both multiples protect the cell, and drawn again until
it can be completed to a safe table. So what is published has the distribution of the scheme *given that the set is
usable*, whether or not a particular run had to draw again; and the other cells move as the nearest table moves them.
With few sets all are tried, which gives the expected value of every cell exactly. With many, some are drawn: if a share
:math:`s` of all sets is usable, the mean of a cell over all sets is that over usable ones times s and that over the
others times 1 - s. Both lie between its neighbouring multiples, so that no rounded cell is off by more than
:math:`(1 - s) / s` bases, and never by a whole one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.errors import counted, rounded_up
from celosia.protection.random_rounding.formulation import Sets
from celosia.solve.clock import Clock
from celosia.table.table import Table

Complete = Callable[[NDArray[np.int64], Clock], NDArray[np.int64] | None]
"""Returns the safe table that completes a set of rounded values, None where there is none; TimeoutError out of time."""

_MOST_SETS = 64
"""So many sets are tried one by one to state a bias exactly; of more, so many are drawn to say how large it may be."""

_MOST_NAMED = 8
_TENTH = 10
_AT_LEAST, _TIMES = 5.0, 20.0  # seconds for the bias where there is no limit, and times what the table took


def bias_notes(table: Table, sets: Sets, complete: Complete, seed: int, failed: int, clock: Clock) -> tuple[str, ...]:
    """Return what the office must know about the bias of the scheme on a table.

    Parameters
    ----------
    table
        The table.
    sets
        The sets of rounded values.
    complete
        Completes one.
    seed
        From which sets are drawn where there are many.
    failed
        How many sets this run had to draw again.
    clock
        Of the whole protection.
    """
    patience = Clock(min(clock.left, _AT_LEAST + _TIMES * clock.seconds))
    said = _exact(table, sets, complete, patience) or _at_most(table, sets, complete, patience, seed, failed)
    times = "once" if failed == 1 else f"{failed} times"
    return (said, f"Drawn again {times}, because no safe table had the values drawn.") if failed else (said,)


def _exact(table: Table, sets: Sets, complete: Complete, clock: Clock) -> str | None:
    """Return the bias of every cell by trying all sets; None where there are too many, or time is up."""
    if sets.number > _MOST_SETS:
        return None
    mass = Fraction(0)
    mean: NDArray[np.object_] = np.array([Fraction(0)] * len(table), dtype=object)
    low, high = np.full(len(table), np.iinfo(np.int64).max), np.full(len(table), np.iinfo(np.int64).min)
    for values, probability in sets.all():
        try:
            found = complete(values, clock)
        except TimeoutError:
            return None
        if found is not None:
            mass += probability
            mean += probability * found.astype(object)
            low, high = np.minimum(low, found), np.maximum(high, found)
    off = (mean / mass - table.amounts.counts.astype(object)) / sets.base
    rounded = _listed(table, sets.cells, off, low == high) or "none in rounded cells"
    others = np.setdiff1d(np.flatnonzero(off != 0), sets.cells)
    worst = sorted(others.tolist(), key=lambda cell: (-abs(off[cell]), cell))[:1]
    more = "".join(
        f"; of the others most {_shift(table, cell, off[cell], always=low[cell] == high[cell])}" for cell in worst
    )
    tried = f"all {sets.number} sets" if sets.number > 1 else "the only set"
    return f"Bias of the scheme, over {tried} of rounded values: {rounded}{more}."


def _listed(table: Table, cells: NDArray[np.int64], off: NDArray[np.object_], always: NDArray[np.bool_]) -> str:
    """Return by how much of the base cells are off, the worst first."""
    biased = sorted((cell for cell in cells.tolist() if off[cell]), key=lambda cell: (-abs(off[cell]), cell))
    said = [_shift(table, cell, off[cell], always=bool(always[cell])) for cell in biased[:_MOST_NAMED]]
    more = len(biased) - _MOST_NAMED
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _shift(table: Table, cell: int, off: Fraction, *, always: bool) -> str:
    """Return by how much of the base a cell is off, rounded up: the exact shift would tell its last digits."""
    percent = -(-abs(off) * 100 // 1)
    percent = rounded_up(int(percent)) if percent < _TENTH else -(-percent // _TENTH) * _TENTH
    when, where = "always" if always else "on average", "above" if off > 0 else "below"
    return f"{table.label(cell)}, {when} {where} the truth by up to {percent}% of the base"


def _at_most(table: Table, sets: Sets, complete: Complete, clock: Clock, seed: int, failed: int) -> str:
    """Return how large the bias of a rounded cell is at most, from the share of usable sets among some that are drawn.

    To the failures among them twice their standard error and three are added: with 95 percent, there are no more.
    """
    random = np.random.default_rng([seed, 1])
    usable, tried = 1, failed + 1
    try:
        for _ in range(_MOST_SETS):
            usable += complete(sets.drawn(random), clock) is not None
            tried += 1
    except TimeoutError:
        pass
    lost = tried - usable
    unlikely = min(tried - 1.0, lost + 2 * math.sqrt(lost) + 3)
    most = min(1.0, unlikely / (tried - unlikely))
    off = np.array([Fraction(0)] * len(table), dtype=object)
    off[sets.cells] = [bias / sets.base for bias in sets.bias]
    forced = _listed(table, sets.cells, off, np.ones(len(table), dtype=bool))
    forced = f"{forced}, because no other multiple protects them; " if forced else ""
    return (
        f"Bias of the scheme: {forced}about {most:.0%} of the base at most in any other rounded cell "
        f"({usable:,} of {counted(tried, 'set')} could be completed)."
    )
