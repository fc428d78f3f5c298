"""Changes of offers, and of modes: further costs, variables and rows on top of a mode of publication."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.modes.modes import Entries, Modes, Offer, balance_rows


def place_widths(offer: Offer, relations: sp.csr_array, down: NDArray[np.float64], up: NDArray[np.float64]) -> Offer:
    """Return widths of ranges that can be placed, with a shift c of their centres that adds up.

    M c = 0, |c| <= W / 2, W / 2 - L <= c <= U - W / 2: see `celosia.protection.intervals.publish.shift`.

    Parameters
    ----------
    offer
        Widths of all columns.
    relations
        M.
    down, up
        The attacker's bounds L and U, infinite where there is none, ``(n,)`` each.
    """
    n = len(offer.columns)
    half, one, still = sp.eye_array(n) / 2, sp.eye_array(n), np.zeros(relations.shape[0])
    rows = sp.csr_array(sp.block_array([[None, relations], [half, one], [half, -one]], format="csr"))
    none = np.zeros(n)
    wide = replace(
        _add_columns(offer, n),
        lower=np.concatenate([offer.lower, -down]),
        upper=np.concatenate([offer.upper, up]),
        cost=np.concatenate([offer.cost, none]),
        integer=np.zeros(2 * n, dtype=bool),
    )
    return _add_rows(wide, rows, np.concatenate([still, none, none]), np.concatenate([still, up, down]))


def limit_widths(offer: Offer, most: NDArray[np.float64]) -> Offer:
    """Return ranges no wider than some widths, ``(m,)``, infinite for no limit: z+ + z- <= W."""
    m = len(offer.columns)
    finite = np.flatnonzero(np.isfinite(most))
    both = sp.csr_array(sp.hstack([sp.eye_array(m)] * 2, format="csr"))
    return _add_rows(offer, sp.csr_array(both[finite]), np.full(len(finite), -np.inf), most[finite])


def price_ranges(
    offer: Offer, fixed: NDArray[np.float64], forced: NDArray[np.bool_], at_most: int | None = None
) -> Offer:
    """Return ranges with a fixed cost each: z+, z- <= R x with x in {0, 1}, cost w x (thesis 3.28a to 3.28e).

    Parameters
    ----------
    offer
        Ranges of one or two variables per column, whose upper bounds are finite.
    fixed
        What a range costs whatever its width, ``(m,)``.
    forced
        Which columns are ranges in any case, ``(m,)``.
    at_most
        The largest number of ranges; None for any.
    """
    m, v = len(offer.columns), len(offer.cost)
    place = np.arange(v) % m
    gates = sp.csr_array((offer.upper, (np.arange(v), place)), shape=(v, m))
    kept = np.flatnonzero(offer.upper > 0)
    rows = sp.csr_array(sp.hstack([-sp.eye_array(v), gates], format="csr")[kept])
    wide = replace(
        _add_columns(offer, m),
        lower=np.concatenate([offer.lower, forced.astype(np.float64)]),
        upper=np.concatenate([offer.upper, np.ones(m)]),
        cost=np.concatenate([offer.cost, fixed]),
        integer=np.concatenate([offer.integer, np.ones(m, dtype=bool)]),
        opening=v + np.arange(m),
    )
    wide = _add_rows(wide, rows, np.zeros(len(kept)), np.full(len(kept), np.inf))
    if at_most is None:
        return wide
    number = sp.csr_array(np.concatenate([np.zeros(v), np.ones(m)])[None, :])
    return _add_rows(wide, number, np.array([-np.inf]), np.array([float(at_most)]))


def limit_moves(offer: Offer, whole: NDArray[np.bool_], extra: int, most: int) -> Offer:
    """Return a rounding in which no more than so many multiples of their base move: p + m <= K y with y in {0, 1}.

    Parameters
    ----------
    offer
        A rounding with extra multiples (`celosia.protection.engine.modes.offers.offer_rounding`).
    whole
        Which columns are multiples, ``(m,)``.
    extra
        K.
    most
        How many may move.
    """
    m, v = len(offer.columns), len(offer.cost)
    at = np.flatnonzero(whole)
    one, gate = sp.eye_array(m), float(extra) * sp.eye_array(m)
    linked = sp.csr_array(sp.hstack([sp.csr_array((m, m)), -one, -one, gate]))[at]
    counted = sp.csr_array(np.concatenate([np.zeros(v), whole])[None, :])
    wide = replace(
        _add_columns(offer, m),
        lower=np.concatenate([offer.lower, np.zeros(m)]),
        upper=np.concatenate([offer.upper, whole.astype(np.float64)]),
        cost=np.concatenate([offer.cost, np.zeros(m)]),
        integer=np.concatenate([offer.integer, np.ones(m, dtype=bool)]),
        paid=None if offer.paid is None else np.concatenate([offer.paid, np.zeros(m)]),
    )
    wide = _add_rows(wide, linked, np.zeros(len(at)), np.full(len(at), np.inf))
    return _add_rows(wide, counted, np.array([-np.inf]), np.array([float(most)]))


def rescale(offer: Offer, factor: NDArray[np.float64]) -> Offer:
    """Return an offer in other units of slacks, one factor a column: slacks are multiplied, costs are not."""

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


def make_optional(offer: Offer, fixed: NDArray[np.float64]) -> Offer:
    """Return an offer that need not be taken: its constant slacks are opened by y in {0, 1}, the last variables.

    Parameters
    ----------
    offer
        An offer of which every variable opens one column.
    fixed
        What taking it costs, ``(m,)``, in place of its constant cost.
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

    def gate(entries: Entries | None, constant: NDArray[np.float64] | None) -> Entries:
        own = (places[:0], places[:0], np.zeros(0)) if entries is None else entries
        more = np.zeros(m) if constant is None else constant
        return np.append(own[0], places), np.append(own[1], gates), np.append(own[2], more)

    wide = replace(
        _add_columns(offer, m),
        lower=np.zeros(v + m),
        upper=np.concatenate([offer.upper, np.ones(m)]),
        cost=np.concatenate([offer.cost, fixed]),
        integer=np.concatenate([offer.integer, np.ones(m, dtype=bool)]),
        up=gate(offer.up, offer.up_constant),
        down=gate(offer.down, offer.down_constant),
        published=gate(offer.published, offer.published_constant),
        up_constant=None,
        down_constant=None,
        published_constant=None,
        paid=None,
        taking=gates,
    )
    wide = _add_rows(wide, sp.csr_array(below), np.full(v, -np.inf), np.zeros(v))
    return _add_rows(wide, sp.csr_array(above), np.zeros(len(least)), np.full(len(least), np.inf))


def count_openings(modes: Modes, at_most: int | None) -> Modes:
    """Return modes in which a column is opened in one way, and no more than so many columns are; None for any number.

    Parameters
    ----------
    modes
        Modes of which every column that is opened has a variable that says so (`Modes.gates`).
    at_most
        The largest number.
    """
    program, once = modes.program, modes.gates[np.flatnonzero(np.diff(modes.gates.indptr) > 1)]
    limit = [] if at_most is None else [float(at_most)]
    number = sp.csr_array(modes.gates.sum(axis=0)[None, :])
    upper = np.concatenate([np.ones(once.shape[0]), limit])
    rows, row_lower, row_upper = balance_rows(
        sp.csr_array(sp.vstack([program.rows, once, *[number][: len(limit)]])),
        np.concatenate([program.row_lower, np.full(len(upper), -np.inf)]),
        np.concatenate([program.row_upper, upper]),
    )
    return replace(modes, program=replace(program, rows=rows, row_lower=row_lower, row_upper=row_upper))


def _add_columns(offer: Offer, more: int) -> Offer:
    """Return an offer whose rows have some empty columns more, for further variables."""
    if offer.rows is None:
        return offer
    return replace(offer, rows=sp.csr_array(sp.hstack([offer.rows, sp.csr_array((offer.rows.shape[0], more))])))


def _add_rows(offer: Offer, rows: sp.csr_array, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> Offer:
    """Return an offer with further rows."""
    if offer.rows is None or offer.row_lower is None or offer.row_upper is None:
        return replace(offer, rows=rows, row_lower=lower, row_upper=upper)
    return replace(
        offer,
        rows=sp.csr_array(sp.vstack([offer.rows, rows])),
        row_lower=np.concatenate([offer.row_lower, lower]),
        row_upper=np.concatenate([offer.row_upper, upper]),
    )
