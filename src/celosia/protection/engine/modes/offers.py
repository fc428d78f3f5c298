"""The modes of publication as offers: the rows of the design's table of modes, each with its model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.modes.modes import Entries, Modes, Offer
from celosia.protection.engine.problem import ColumnRequirements, ProtectionProblem
from celosia.table.table import Table

_NOTHING: Entries = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


def _diagonal(values: NDArray[np.float64], start: int = 0) -> Entries:
    places = np.arange(len(values))
    return places, places + start, values


def offer_hiding(columns: NDArray[np.int64], cost: NDArray[np.float64], forced: NDArray[np.bool_]) -> Offer:
    """Return the offer to hide columns: x in {0, 1}, cost w x (Salazar 2002, (1), (2) and (6)).

    Parameters
    ----------
    columns
        Columns of a problem, ``(m,)``.
    cost
        What hiding each costs, ``(m,)``.
    forced
        Which are hidden in any case, ``(m,)``.
    """
    m = len(columns)
    return Offer(
        columns,
        lower=forced.astype(np.float64),
        upper=np.ones(m),
        cost=cost,
        integer=np.ones(m, dtype=bool),
        up=_NOTHING,
        down=_NOTHING,
        hiding=np.arange(m),
    )


def offer_ranges(
    columns: NDArray[np.int64],
    cost: tuple[NDArray[np.float64], NDArray[np.float64]],
    most: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Offer:
    """Return the offer to publish ranges: z-, z+ >= 0, cost w- z- + w+ z+ (Salazar 2002, (9) and Figure 7).

    Parameters
    ----------
    columns
        Columns of a problem, ``(m,)``.
    cost
        By unit up and by unit down, ``(m,)`` each.
    most
        How far ranges may go up and down, ``(m,)`` each.
    """
    m = len(columns)
    return Offer(
        columns,
        lower=np.zeros(2 * m),
        upper=np.concatenate(most),
        cost=np.concatenate(cost),
        integer=np.zeros(2 * m, dtype=bool),
        up=_diagonal(np.ones(m)),
        down=_diagonal(np.ones(m), m),
    )


def offer_widths(columns: NDArray[np.int64], cost: NDArray[np.float64], most: NDArray[np.float64]) -> Offer:
    """Return the offer of the width model: W >= 0 is the slack on both sides, cost w W.

    Parameters
    ----------
    columns
        Columns of a problem, ``(m,)``.
    cost
        By unit of width, ``(m,)``.
    most
        The greatest widths, ``(m,)``.
    """
    m = len(columns)
    both = _diagonal(np.ones(m))
    return Offer(columns, lower=np.zeros(m), upper=most, cost=cost, integer=np.zeros(m, dtype=bool), up=both, down=both)


def offer_rounding(
    columns: NDArray[np.int64],
    cost: NDArray[np.float64],
    remainder: NDArray[np.float64],
    base: NDArray[np.float64],
    unit: float | NDArray[np.float64],
    below: NDArray[np.int64] | None = None,
    extra: int = 0,
) -> Offer:
    """Return the offer to round: v = floor + r (x + p - m), and the truth within v - R + u .. v + R - u.

    Zero-restricted rounding has R = r and no p and m; with K extra multiples R = (K + 1) r (Salazar 2002, (12)
    and Figure 10).

    Parameters
    ----------
    columns
        Columns of a problem, ``(m,)``.
    cost
        By unit of distance, ``(m,)``.
    remainder
        How far each truth lies above the multiple of the base below it, ``(m,)``.
    base
        The bases, ``(m,)``.
    unit
        One unit of the last decimal, for all or for each, ``(m,)``.
    below
        How many multiples below that one may be published at most, ``(m,)``; None for any number.
    extra
        K.
    """
    m = len(columns)
    times = 3 if extra else 1
    places = np.arange(m)
    step = np.tile(base, times) * np.repeat([1.0, 1.0, -1.0][:times], m)
    moves: Entries = (np.tile(places, times), np.arange(times * m), step)
    reach = base * (extra + 1) - unit
    whole = remainder == 0
    first = np.where(whole, 0.0, 1.0)
    more = np.full(m, float(extra))
    fewer = more if below is None else np.minimum(more, below)
    first_cost = cost * np.where(whole, base, base - 2 * remainder)
    return Offer(
        columns,
        lower=np.zeros(times * m),
        upper=np.concatenate([first, more, fewer][:times]),
        cost=np.concatenate([first_cost, cost * base, cost * base][:times]),
        integer=np.ones(times * m, dtype=bool),
        up=moves,
        down=(moves[0], moves[1], -step),
        up_constant=reach - remainder,
        down_constant=reach + remainder,
        published=moves,
        published_constant=-remainder,
        paid=np.concatenate([cost * remainder, np.zeros((times - 1) * m)]),
    )


def offer_perturbation(
    columns: NDArray[np.int64],
    cost: tuple[NDArray[np.float64], NDArray[np.float64]],
    reach: NDArray[np.float64],
    most: tuple[NDArray[np.float64], NDArray[np.float64]],
    least: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    integer: bool,
    at_most: int | None = None,
) -> Offer:
    """Return the offer to move values within a reach: v = a + z+ - z-, the truth within v +- r.

    See Salazar (2002), (13) and Figure 13.

    Parameters
    ----------
    columns
        Columns of a problem, ``(m,)``.
    cost
        By unit up and by unit down, ``(m,)`` each.
    reach
        r, published with the table, ``(m,)``.
    most, least
        How far up and down values may and must move, ``(m,)`` each.
    integer
        They move by whole numbers.
    at_most
        No more than so many move at all, by x in {0, 1} each; None for any number.
    """
    m = len(columns)
    places = np.arange(m)
    step = np.repeat([1.0, -1.0], m)
    moves: Entries = (np.tile(places, 2), np.arange(2 * m), step)
    none = np.zeros(0)
    extra, rows = (none, none), None
    if at_most is not None:
        far = sp.diags_array(np.maximum(*most))
        linked = sp.hstack([-sp.eye_array(m), -sp.eye_array(m), far])
        counted = sp.csr_array(np.concatenate([np.zeros(2 * m), np.full(m, -1.0)])[None, :])
        rows = sp.csr_array(sp.vstack([linked, counted]))
        extra = (np.zeros(m), np.ones(m))
    return Offer(
        columns,
        lower=np.concatenate([*least, extra[0]]),
        upper=np.concatenate([*most, extra[1]]),
        cost=np.concatenate([*cost, extra[0]]),
        integer=np.concatenate([np.full(2 * m, integer), extra[1] > 0]),
        up=moves,
        down=(moves[0], moves[1], -step),
        up_constant=reach,
        down_constant=reach,
        published=moves,
        rows=rows,
        row_lower=None if at_most is None else np.append(np.zeros(m), -float(at_most)),
        row_upper=None if at_most is None else np.full(m + 1, np.inf),
    )


def modes_of_all_cells(problem: ProtectionProblem, table: Table, offers: Sequence[Offer], unit: float) -> Modes:
    """Return modes whose offers name cells of the table, and whose slacks are those of the columns of a problem.

    A problem leaves out what every attacker knows. Published numbers must add up with such cells too.

    Parameters
    ----------
    problem
        The requirements.
    table
        The table.
    offers
        What may be published about which cells.
    unit
        Counts of the problem in one unit of slacks.
    """
    n = len(table)
    none = np.zeros(0, dtype=np.int64)
    nothing = np.zeros((problem.n_attackers, n), dtype=np.int64)
    every = ProtectionProblem(
        cells=np.arange(n),
        matrix=sp.csr_array(table.relations.matrix),
        implied=np.zeros(len(table.relations), dtype=bool),
        up=nothing,
        down=nothing,
        cost=np.zeros(n),
        forced=np.zeros(n, dtype=bool),
        requirements=ColumnRequirements(none, none, none, none, none),
        decimals=problem.decimals,
        whole=np.zeros(n, dtype=bool),
    )
    return Modes.of(every, offers, unit).select(problem.cells)
