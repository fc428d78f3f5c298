"""From a solver's floating-point answer to whole numbers that can be checked.

Vertices of tables often have small denominators, mostly one: multiplied by the right one, a vertex is whole, and
rounding finds it. Elsewhere the cells at their bounds are fixed there and the others follow in fractions from the
relations (`celosia.attack.system.fractions`). Duals likewise: cells without a reduced cost are the equations, relations
without a multiplier are left out. Whether numbers were found is decided by exact arithmetic, not by the size of the
rounding.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.fractions import Whole, find_common_denominator, multiply_exactly, solve_exactly
from celosia.tolerance import BOUND_ROUNDING, BOUND_ROUNDING_SHARE, ENDLESS, REDUCED_COST_ZEROS

_GUESS_BITS = 30  # correct bits behind the point of a solver's numbers


def find_exact_moves(
    x: NDArray[np.float64],
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    whole: NDArray[np.bool_] | None = None,
    *,
    denominators: tuple[int, ...] | None = None,
    near: NDArray[np.int64] | None = None,
) -> tuple[Whole, int] | None:
    """Return moves and their denominator near a floating-point solution, or None where none are found.

    They are found at vertices, whatever their denominator; where `denominators` are given, or all are to be whole, by
    rounding. Where doubles do not hold all digits of a solution, `x` is what it adds to moves that are `near`.

    Guarantee: the moves satisfy ``matrix @ moves == 0`` and ``-down <= moves / denominator <= up`` exactly, and those
    of columns that are to be `whole` are whole numbers.
    """
    if not np.abs(x).max(initial=0) < ENDLESS:
        return None
    if whole is not None and bool(whole.all()):
        denominators = (1,)
    origin = np.zeros(len(x), dtype=np.int64) if near is None else near
    for moves, denominator in _candidate_moves(x, origin, matrix, up, down, denominators):
        inside = _keeps_bounds(moves, up, denominator) and _keeps_bounds(-moves, down, denominator)
        if inside and not multiply_exactly(matrix, moves).any() and _keeps_whole(moves, denominator, whole):
            return moves, denominator
    return None


def _keeps_whole(moves: Whole, denominator: int, whole: NDArray[np.bool_] | None) -> bool:
    return whole is None or denominator == 1 or not bool((moves[whole] % denominator != 0).any())


def _candidate_moves(
    x: NDArray[np.float64],
    origin: NDArray[np.int64],
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    denominators: tuple[int, ...] | None,
) -> Iterator[tuple[Whole, int]]:
    """Yield moves near a solution, which is x from an origin away, the cheapest first."""
    whole = np.rint(x).astype(np.int64)
    start, fractions = origin + whole, x - whole
    for denominator in denominators or ():
        if np.abs(start).max(initial=0) < ENDLESS // denominator:
            yield start * denominator + np.rint(fractions * denominator).astype(np.int64), denominator
    if denominators is not None:
        return
    off = np.abs(fractions) > BOUND_ROUNDING
    if not off.any():
        yield start, 1
    yield from _guess_fractions(fractions, start)
    nothing = np.zeros(matrix.shape[0], dtype=np.int64)
    if (found := solve_exactly(matrix, nothing, start, off)) is not None:
        yield found
    above, below = up - origin, down + origin
    at_up = (up < ENDLESS) & (x >= above - BOUND_ROUNDING - BOUND_ROUNDING_SHARE * above)
    at_down = (down < ENDLESS) & (x <= -below + BOUND_ROUNDING + BOUND_ROUNDING_SHARE * below)
    start = np.where(at_up, up, np.where(at_down, -down, start))
    if (found := solve_exactly(matrix, nothing, start, ~at_up & ~at_down)) is not None:
        yield found


def _guess_fractions(
    fractions: NDArray[np.float64], start: NDArray[np.int64]
) -> Iterator[tuple[NDArray[np.int64], int]]:
    """Yield whole numbers with what they lack as fractions, if the common denominator of these is small."""
    denominator = find_common_denominator(np.rint(fractions * (1 << _GUESS_BITS)).astype(np.int64), _GUESS_BITS)
    if denominator is not None and np.abs(start).max(initial=0) < ENDLESS // denominator:
        yield start * denominator + np.rint(fractions * denominator).astype(np.int64), denominator


def _keeps_bounds(moves: Whole, bound: NDArray[np.int64], denominator: int) -> bool:
    rounded_up = -(-moves // denominator)
    return bool(((bound >= ENDLESS) | (rounded_up <= bound)).all())


def prove_reach(
    duals: NDArray[np.float64],
    column: int,
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
    *,
    upward: bool,
) -> tuple[Fraction, Whole, int] | None:
    r"""Return a bound on how far a cell can move, exact, with the multipliers that prove it.

    For any multipliers :math:`\gamma` of the relations, :math:`\pm x_p = \sum_i r_i x_i` with
    :math:`r = \pm e_p - M'\gamma` wherever :math:`M x = 0`, so :math:`\sum_i \max(r_i\,up_i, -r_i\,down_i)` is a bound:
    weak duality, valid whatever the accuracy of the solver. Where the duals of a vertex are found in fractions, the
    bound is the reach. None where no multipliers near the duals give a finite bound.

    Returns
    -------
    bound
        In counts.
    multipliers, denominator
        The multipliers of the rows are ``multipliers / denominator``.
    """
    goal = np.zeros(len(up), dtype=np.int64)
    goal[column] = 1 if upward else -1
    return prove_bound(duals, goal, matrix, up, down)


def prove_bound(
    duals: NDArray[np.float64],
    goal: NDArray[np.int64],
    matrix: sp.csr_array,
    up: NDArray[np.int64],
    down: NDArray[np.int64],
) -> tuple[Fraction, Whole, int] | None:
    """Return a bound on ``goal @ x``, exact, with multipliers that prove it, as `prove_reach` does for one cell.

    `up` and `down` may be negative, so that x = 0 need not be feasible, and nothing may be: a goal of zeros whose bound
    is negative proves that no x is (Farkas).
    """
    flipped = sp.csr_array(matrix.T)
    costs = np.abs(goal - flipped @ duals)
    best: tuple[Fraction, Whole, int] | None = None
    if not np.abs(duals).max(initial=0) < ENDLESS:
        return None
    for multipliers, denominator in _candidate_multipliers(duals, costs, flipped, goal):
        rest = goal.astype(object) * denominator - multiply_exactly(flipped, multipliers)
        bound = _weak_bound(rest, up, down, denominator)
        if bound is None:
            continue
        if best is None or bound < best[0]:
            best = (bound, multipliers, denominator)
        if not rest[costs < REDUCED_COST_ZEROS[0]].any():
            break
    return best


def _candidate_multipliers(
    duals: NDArray[np.float64], costs: NDArray[np.float64], flipped: sp.csr_array, goal: NDArray[np.int64]
) -> Iterator[tuple[Whole, int]]:
    """Yield exact multipliers near the duals of a solver, those first that take the least work."""
    start = np.rint(duals).astype(np.int64)
    yield start, 1
    yield from _guess_fractions(duals - start, start)
    for no_cost in REDUCED_COST_ZEROS:
        basic = np.flatnonzero(costs < no_cost)
        equations = sp.csr_array(flipped[basic])
        for free in (np.abs(duals - start) > no_cost, np.abs(duals) > no_cost):
            if (found := solve_exactly(equations, goal[basic], start, free)) is not None:
                yield found


def _weak_bound(
    rest: NDArray[np.object_], up: NDArray[np.int64], down: NDArray[np.int64], denominator: int
) -> Fraction | None:
    """Return the largest value of ``rest @ x / denominator`` between the bounds, None where it has no end."""
    used = np.flatnonzero(rest)
    bounds = np.where(rest[used] > 0, up[used], down[used])
    if (bounds >= ENDLESS).any():
        return None
    return Fraction(sum(abs(int(r)) * int(bound) for r, bound in zip(rest[used], bounds, strict=True)), denominator)
