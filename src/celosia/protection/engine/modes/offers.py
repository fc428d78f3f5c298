"""The ways in which columns of a task may be published: the rows of the design's table of modes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.modes.modes import Entries, Offer


def _diagonal(values: NDArray[np.float64], start: int = 0) -> Entries:
    places = np.arange(len(values))
    return places, places + start, values


_NOTHING: Entries = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))


def hidden(columns: NDArray[np.int64], cost: NDArray[np.float64], forced: NDArray[np.bool_]) -> Offer:
    """Return the offer to hide columns: x in {0, 1}, cost w x (Salazar 2002, section 3).

    Parameters
    ----------
    columns
        Columns of a task, ``(m,)``.
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


def ranged(
    columns: NDArray[np.int64],
    cost: tuple[NDArray[np.float64], NDArray[np.float64]],
    most: tuple[NDArray[np.float64], NDArray[np.float64]],
) -> Offer:
    """Return the offer to publish ranges: z-, z+ >= 0, cost w- z- + w+ z+ (Salazar 2002, section 4).

    Parameters
    ----------
    columns
        Columns of a task, ``(m,)``.
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


def widened(columns: NDArray[np.int64], cost: NDArray[np.float64], most: NDArray[np.float64]) -> Offer:
    """Return the offer of the width model: W >= 0 is the slack on both sides, cost w W.

    Parameters
    ----------
    columns
        Columns of a task, ``(m,)``.
    cost
        By unit of width, ``(m,)``.
    most
        The greatest widths, ``(m,)``.
    """
    m = len(columns)
    both = _diagonal(np.ones(m))
    return Offer(columns, lower=np.zeros(m), upper=most, cost=cost, integer=np.zeros(m, dtype=bool), up=both, down=both)


def placed(offer: Offer, relations: sp.csr_array, down: NDArray[np.float64], up: NDArray[np.float64]) -> Offer:
    """Return widths of ranges that can be placed: with a shift c of their centres that adds up.

    M c = 0, |c| <= W / 2, W / 2 - L <= c <= U - W / 2: see `celosia.protection.intervals.publish.shift`.

    Parameters
    ----------
    offer
        Widths of all columns.
    relations
        M.
    down, up
        The attacker's rooms L and U, infinite where there is no end, ``(n,)`` each.
    """
    n = len(offer.columns)
    half, one, still = sp.eye_array(n) / 2, sp.eye_array(n), np.zeros(relations.shape[0])
    rows = sp.csr_array(sp.block_array([[None, relations], [half, one], [half, -one]], format="csr"))
    none = np.zeros(n)
    wide = replace(
        _wider(offer, n),
        lower=np.concatenate([offer.lower, -down]),
        upper=np.concatenate([offer.upper, up]),
        cost=np.concatenate([offer.cost, none]),
        integer=np.zeros(2 * n, dtype=bool),
    )
    return _with_rows(wide, rows, np.concatenate([still, none, none]), np.concatenate([still, up, down]))


def narrowed(offer: Offer, most: NDArray[np.float64]) -> Offer:
    """Return ranges of which both slacks together are no more than so much, ``(m,)``, infinite where they may be."""
    m = len(offer.columns)
    finite = np.flatnonzero(np.isfinite(most))
    both = sp.csr_array(sp.hstack([sp.eye_array(m)] * 2, format="csr"))
    return _with_rows(offer, sp.csr_array(both[finite]), np.full(len(finite), -np.inf), most[finite])


def opened(offer: Offer, fixed: NDArray[np.float64], forced: NDArray[np.bool_], at_most: int | None = None) -> Offer:
    """Return ranges that cost something each: z <= room x on top (thesis 3.28).

    Parameters
    ----------
    offer
        Ranges of one or two variables per column, whose upper bounds are finite.
    fixed
        What a range costs whatever its width, ``(m,)``.
    forced
        Which columns are ranges in any case, ``(m,)``.
    at_most
        So many columns are ranges at most.
    """
    m, v = len(offer.columns), len(offer.cost)
    place = np.arange(v) % m
    gates = sp.csr_array((offer.upper, (np.arange(v), place)), shape=(v, m))
    kept = np.flatnonzero(offer.upper > 0)
    rows = sp.csr_array(sp.hstack([-sp.eye_array(v), gates], format="csr")[kept])
    wide = replace(
        _wider(offer, m),
        lower=np.concatenate([offer.lower, forced.astype(np.float64)]),
        upper=np.concatenate([offer.upper, np.ones(m)]),
        cost=np.concatenate([offer.cost, fixed]),
        integer=np.concatenate([offer.integer, np.ones(m, dtype=bool)]),
        opening=v + np.arange(m),
    )
    wide = _with_rows(wide, rows, np.zeros(len(kept)), np.full(len(kept), np.inf))
    if at_most is None:
        return wide
    number = sp.csr_array(np.concatenate([np.zeros(v), np.ones(m)])[None, :])
    return _with_rows(wide, number, np.array([-np.inf]), np.array([float(at_most)]))


def _wider(offer: Offer, more: int) -> Offer:
    """Return an offer whose rows have some columns more."""
    if offer.rows is None:
        return offer
    return replace(offer, rows=sp.csr_array(sp.hstack([offer.rows, sp.csr_array((offer.rows.shape[0], more))])))


def _with_rows(offer: Offer, rows: sp.csr_array, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Offer:
    """Return an offer with further rows."""
    if offer.rows is None or offer.row_lower is None or offer.row_upper is None:
        return replace(offer, rows=rows, row_lower=lower, row_upper=upper)
    return replace(
        offer,
        rows=sp.csr_array(sp.vstack([offer.rows, rows])),
        row_lower=np.concatenate([offer.row_lower, lower]),
        row_upper=np.concatenate([offer.row_upper, upper]),
    )


def rounded(
    columns: NDArray[np.int64],
    cost: NDArray[np.float64],
    remainder: NDArray[np.float64],
    base: NDArray[np.float64],
    unit: float | NDArray[np.float64],
    below: NDArray[np.int64] | None = None,
    extra: int = 0,
) -> Offer:
    """Return the offer to round: v = floor + r (x + p - m), and the truth within v - R + u .. v + R - u.

    Zero-restricted rounding has R = r and no p and m; with K extra multiples R = (K + 1) r (Salazar 2002, section 5).

    Parameters
    ----------
    columns
        Columns of a task, ``(m,)``.
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
        constant=float(cost @ remainder),
    )


def perturbed(
    columns: NDArray[np.int64],
    cost: tuple[NDArray[np.float64], NDArray[np.float64]],
    reach: NDArray[np.float64],
    most: tuple[NDArray[np.float64], NDArray[np.float64]],
    least: tuple[NDArray[np.float64], NDArray[np.float64]],
    *,
    integer: bool,
    at_most: int | None = None,
) -> Offer:
    """Return the offer to move values within a reach: v = a + z+ - z-, the truth within v +- r (section 6).

    Parameters
    ----------
    columns
        Columns of a task, ``(m,)``.
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


def rescaled(offer: Offer, factor: NDArray[np.float64]) -> Offer:
    """Return the same in other units of slacks, one for each column: what opens is multiplied, costs are not."""

    def by_variable(entries: Entries) -> Entries:
        return entries[0], entries[1], entries[2] * factor[entries[0]]

    def constant(values: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
        return None if values is None else values * factor

    return replace(
        offer,
        up=by_variable(offer.up),
        down=by_variable(offer.down),
        up_constant=constant(offer.up_constant),
        down_constant=constant(offer.down_constant),
        published=None if offer.published is None else by_variable(offer.published),
        published_constant=constant(offer.published_constant),
    )


def gated(offer: Offer, fixed: NDArray[np.float64]) -> Offer:
    """Return an offer that need not be taken: what it opens in any case, it opens by y in {0, 1}, the last variables.

    Parameters
    ----------
    offer
        An offer of which every variable opens one column.
    fixed
        What taking it costs, ``(m,)``, in place of what it costs in any case.
    """
    m, v = len(offer.columns), len(offer.cost)
    places, gates = np.arange(m), v + np.arange(m)
    owner = np.zeros(v, dtype=np.int64)
    owner[offer.up[1]] = offer.up[0]
    shape = (v, v + m)
    every = np.arange(v)
    below = sp.csr_array(
        (
            np.concatenate([np.ones(v), -offer.upper]),
            (np.tile(every, 2), np.concatenate([every, v + owner])),
        ),
        shape=shape,
    )
    least = np.flatnonzero(offer.lower > 0)
    above = sp.csr_array(
        (
            np.concatenate([np.ones(v), -offer.lower]),
            (np.tile(every, 2), np.concatenate([every, v + owner])),
        ),
        shape=shape,
    )[least]

    def opening(entries: Entries | None, constant: NDArray[np.float64] | None) -> Entries:
        own = (places[:0], places[:0], np.zeros(0)) if entries is None else entries
        more = np.zeros(m) if constant is None else constant
        return np.append(own[0], places), np.append(own[1], gates), np.append(own[2], more)

    wide = replace(
        _wider(offer, m),
        lower=np.zeros(v + m),
        upper=np.concatenate([offer.upper, np.ones(m)]),
        cost=np.concatenate([offer.cost, fixed]),
        integer=np.concatenate([offer.integer, np.ones(m, dtype=bool)]),
        up=opening(offer.up, offer.up_constant),
        down=opening(offer.down, offer.down_constant),
        published=opening(offer.published, offer.published_constant),
        up_constant=None,
        down_constant=None,
        published_constant=None,
        constant=0.0,
    )
    wide = _with_rows(wide, sp.csr_array(below), np.full(v, -np.inf), np.zeros(v))
    return _with_rows(wide, sp.csr_array(above), np.zeros(len(least)), np.full(len(least), np.inf))
