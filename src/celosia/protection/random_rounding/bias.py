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

from celosia.errors import pluralise, round_up
from celosia.protection.random_rounding.formulation import Sets
from celosia.protection.random_rounding.parameters import BIAS, BiasParameters
from celosia.solve.clock import Clock
from celosia.table.table import Table

Complete = Callable[[NDArray[np.int64], Clock], NDArray[np.int64] | None]
"""Returns the safe table that completes a set of rounded values, None where there is none; TimeoutError out of time."""

_TENTH = 10
"""Larger shares of a base are rounded up to tens of percent, so that they tell nothing of the last digits."""


def bias_notes(
    table: Table,
    sets: Sets,
    complete: Complete,
    seed: int,
    failed: int,
    clock: Clock,
    parameters: BiasParameters = BIAS,
) -> tuple[str, ...]:
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
    parameters
        How much work goes into it.
    """
    patience = Clock(min(clock.left, parameters.seconds + parameters.factor * clock.seconds))
    said = _state_exactly(table, sets, complete, patience, parameters)
    said = said or _state_at_most(table, sets, complete, patience, seed, failed, parameters)
    times = "once" if failed == 1 else f"{failed} times"
    return (said, f"Drawn again {times}, because no safe table had the values drawn.") if failed else (said,)


def _state_exactly(
    table: Table, sets: Sets, complete: Complete, clock: Clock, parameters: BiasParameters
) -> str | None:
    """Return the bias of every cell by trying all sets; None where there are too many, or time is up."""
    if sets.keeps_sum or sets.number > parameters.most_sets:  # cells that are drawn together have other probabilities
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
    rounded = _list_shifts(table, sets.cells, off, low == high, parameters.most_named) or "none in rounded cells"
    others = np.setdiff1d(np.flatnonzero(off != 0), sets.cells)
    worst = sorted(others.tolist(), key=lambda cell: (-abs(off[cell]), cell))[:1]
    more = "".join(
        f"; of the others most {_describe_shift(table, cell, off[cell], always=low[cell] == high[cell])}"
        for cell in worst
    )
    tried = f"all {sets.number} sets" if sets.number > 1 else "the only set"
    return f"Bias of the scheme, over {tried} of rounded values: {rounded}{more}."


def _list_shifts(
    table: Table, cells: NDArray[np.int64], off: NDArray[np.object_], always: NDArray[np.bool_], most: int
) -> str:
    """Return by how much of the base cells are off, the worst first."""
    biased = sorted((cell for cell in cells.tolist() if off[cell]), key=lambda cell: (-abs(off[cell]), cell))
    said = [_describe_shift(table, cell, off[cell], always=bool(always[cell])) for cell in biased[:most]]
    more = len(biased) - most
    return "; ".join(said) + (f"; and {more} more" if more > 0 else "")


def _describe_shift(table: Table, cell: int, off: Fraction, *, always: bool) -> str:
    """Return by how much of the base a cell is off, rounded up: the exact shift would tell its last digits."""
    percent = -(-abs(off) * 100 // 1)
    percent = round_up(int(percent)) if percent < _TENTH else -(-percent // _TENTH) * _TENTH
    when, where = "always" if always else "on average", "above" if off > 0 else "below"
    return f"{table.label(cell)}, {when} {where} the truth by up to {percent}% of the base"


def _state_at_most(
    table: Table, sets: Sets, complete: Complete, clock: Clock, seed: int, failed: int, parameters: BiasParameters
) -> str:
    """Return how large the bias of a rounded cell is at most, from the share of usable sets among some that are drawn.

    To the failures among them twice their standard error and three are added: with 95 percent, there are no more.
    """
    random = np.random.default_rng([seed, 1])
    usable, tried = 1, failed + 1
    try:
        for _ in range(parameters.most_sets):
            usable += complete(sets.draw(random), clock) is not None
            tried += 1
    except TimeoutError:
        pass
    lost = tried - usable
    unlikely = min(tried - 1.0, lost + 2 * math.sqrt(lost) + 3)
    most = min(1.0, unlikely / (tried - unlikely))
    off = np.array([Fraction(0)] * len(table), dtype=object)
    off[sets.cells] = [bias / sets.base for bias in sets.bias]
    forced = _list_shifts(table, sets.cells, off, np.ones(len(table), dtype=bool), parameters.most_named)
    forced = f"{forced}, because no other multiple protects them; " if forced else ""
    return (
        f"Bias of the scheme: {forced}about {most:.0%} of the base at most in any other rounded cell "
        f"({usable:,} of {pluralise(tried, 'set')} could be completed)."
    )
