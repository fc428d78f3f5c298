"""Witnesses in whole numbers, and which of them use which cells.

A witness is a move with small whole entries. Scaled so that its own cell reaches its level it keeps the attacker's
bounds; what is checked here is checked again, in exact arithmetic, by the audit.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import inner, kernel
from celosia.protection.engine.heuristics.moves.beam import Beam, Cells, Ground, Task, find_move

SHORT = Annotated[NDArray[np.int32], 2]
LARGEST_ROOM = 2**53
"""Rooms and levels are no larger in whole-number checks, so that products with entries fit 64 bits."""
LARGEST_ENTRY = 200
"""Entries of combined witnesses; larger ones leave no room."""


class Wanted(NamedTuple):
    """What witnesses are wanted for, ``(w,)`` each.

    Parameters
    ----------
    columns, attackers
        Whose cell, and before which attacker.
    up, down
        How far the cell must move up by the witness, and down by its negative; 0 where that is not asked.
    alike
        Another one about the same cell, whose witness may do; -1 where there is none before it.
    """

    columns: NDArray[np.int64]
    attackers: NDArray[np.int64]
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    alike: NDArray[np.int64]


class Witnesses(NamedTuple):
    """The witnesses, and what they use.

    Parameters
    ----------
    lengths
        How many cells every witness moves, 0 where there is none, ``(w,)``.
    cells, values
        Which, increasing, and by how much, ``(w, longest)`` each.
    uses
        By how many witnesses every cell is moved, ``(n,)``.
    price
        What hiding every cell costs now: next to nothing where it is hidden, ``(n,)``.
    fixed
        Cells that are hidden in any case, ``(n,)``.
    own_price
        The price of a cell that is not hidden, ``(n,)``.
    hidden_price
        That of a hidden one: moves of few cells are preferred.
    """

    lengths: NDArray[np.int64]
    cells: SHORT
    values: SHORT
    uses: NDArray[np.int64]
    price: NDArray[np.float64]
    fixed: NDArray[np.bool_]
    own_price: NDArray[np.float64]
    hidden_price: float


@inner()
def place_of(cell: int, cells: NDArray[np.int32], n: int) -> int:
    """Return where a cell stands among the first n, which increase; -1 where it does not."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if cells[middle] < cell:
            low = middle + 1
        else:
            high = middle
    return low if low < n and cells[low] == cell else -1


@inner()
def fits(
    number: int, moved: NDArray[np.int32], values: NDArray[np.int32], n: int, wanted: Wanted, cells: Cells
) -> bool:
    """Return whether a move, scaled to a level, keeps the attacker's bounds in every other cell."""
    own = place_of(wanted.columns[number], moved, n)
    if own < 0:
        return False
    scale, sign = np.int64(values[own]), np.int64(1)
    if scale < 0:
        scale, sign = -scale, -sign
    attacker, up, down = wanted.attackers[number], wanted.up[number], wanted.down[number]
    for k in range(n):
        if k == own:  # levels are no larger than its own bounds, where these count
            continue
        value = sign * values[k]
        above, below = cells.up[attacker, moved[k]], cells.down[attacker, moved[k]]
        if value < 0:
            above, below, value = below, above, -value
        if value * up > above * scale or value * down > below * scale:
            return False
        step = cells.step[moved[k]] * scale
        if step > 0 and (value * up % step != 0 or value * down % step != 0):
            return False
    return True


@inner()
def count_use(cell: int, change: int, witnesses: Witnesses) -> None:
    """Count a use more or less of a cell, and price it anew."""
    witnesses.uses[cell] += change
    hidden = witnesses.fixed[cell] or witnesses.uses[cell] > 0
    witnesses.price[cell] = witnesses.hidden_price if hidden else witnesses.own_price[cell]


@inner()
def put_witness(number: int, moved: NDArray[np.int32], values: NDArray[np.int32], n: int, witnesses: Witnesses) -> None:
    """Replace a witness by another move; n is 0 for none."""
    for k in range(witnesses.lengths[number]):
        count_use(witnesses.cells[number, k], -1, witnesses)
    witnesses.lengths[number] = n
    for k in range(n):
        witnesses.cells[number, k], witnesses.values[number, k] = moved[k], values[k]
        count_use(moved[k], 1, witnesses)


@inner()
def take_move(n: int, beam: Beam, moved: NDArray[np.int32], values: NDArray[np.int32]) -> None:
    """Write the move that a search has found, its cells increasing."""
    for k in range(n):
        cell, sign = beam.cells[0, k], beam.signs[0, k]
        place = k
        while place > 0 and moved[place - 1] > cell:
            moved[place], values[place] = moved[place - 1], values[place - 1]
            place -= 1
        moved[place], values[place] = cell, sign


@inner()
def task_of(number: int, bound: float, banned: int, tries: int, wanted: Wanted) -> Task:
    """Return the task to find a move for what is wanted."""
    return Task(
        wanted.columns[number],
        wanted.attackers[number],
        wanted.up[number],
        wanted.down[number],
        bound,
        banned,
        tries,
    )


@kernel()
def find_first_moves(
    order: NDArray[np.int64],
    tries: int,
    wanted: Wanted,
    witnesses: Witnesses,
    ground: Ground,
) -> int:
    """Find the cheapest move for everything that is wanted, in order, where there is none yet; return how many fail."""
    longest = witnesses.cells.shape[1]
    moved, values = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32)
    failed = 0
    for number in order:
        if witnesses.lengths[number] > 0:
            continue
        alike = wanted.alike[number]
        if alike >= 0 and witnesses.lengths[alike] > 0:
            n = witnesses.lengths[alike]
            if fits(number, witnesses.cells[alike], witnesses.values[alike], n, wanted, ground.cells):
                put_witness(number, witnesses.cells[alike].copy(), witnesses.values[alike].copy(), n, witnesses)
                continue
        n = find_move(task_of(number, np.inf, -1, tries, wanted), witnesses.price, ground)
        if n > 0:
            take_move(n, ground.beam, moved, values)
            put_witness(number, moved, values, n, witnesses)
        else:
            failed += 1
    return failed


@kernel()
def reroute_moves(
    order: NDArray[np.int64],
    tries: int,
    wanted: Wanted,
    witnesses: Witnesses,
    ground: Ground,
) -> int:
    """Find a cheaper move for everything that is wanted, in order, as if its witness were not there; return how many.

    What a witness alone keeps hidden is what another one may cost at most.
    """
    longest = witnesses.cells.shape[1]
    moved, values = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32)
    old_moved, old_values = np.empty(longest, dtype=np.int32), np.empty(longest, dtype=np.int32)
    better = 0
    for number in order:
        old = witnesses.lengths[number]
        if old == 0:
            continue
        for k in range(old):
            old_moved[k], old_values[k] = witnesses.cells[number, k], witnesses.values[number, k]
        put_witness(number, moved, values, 0, witnesses)
        bound = 0.0
        for k in range(old):
            bound += witnesses.price[old_moved[k]]
        bound -= witnesses.price[wanted.columns[number]]
        n = find_move(task_of(number, bound, -1, tries, wanted), witnesses.price, ground)
        if n > 0:
            take_move(n, ground.beam, moved, values)
            put_witness(number, moved, values, n, witnesses)
            better += 1
        else:
            put_witness(number, old_moved, old_values, old, witnesses)
    return better


def find_cover(witnesses: Witnesses, some: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which cells some of the witnesses move, ``(n,)``."""
    covered = np.zeros(len(witnesses.uses), dtype=bool)
    used = np.arange(witnesses.cells.shape[1]) < (witnesses.lengths * some)[:, None]
    covered[witnesses.cells[used]] = True
    return covered


def mix_witnesses(wanted: Wanted, witnesses: Witnesses, random: np.random.Generator) -> NDArray[np.float64]:
    """Return a random combination of all witnesses, ``(n,)``: directions in which many cells can move at once."""
    used = np.arange(witnesses.cells.shape[1]) < witnesses.lengths[:, None]
    own = np.where(used & (witnesses.cells == wanted.columns[:, None]), np.abs(witnesses.values), 0).sum(axis=1)
    factor = random.choice([-1.0, 1.0], len(own)) * random.uniform(0.5, 1.5, len(own))
    factor *= np.maximum(wanted.up, wanted.down) / np.maximum(own, 1)
    weights = (witnesses.values * factor[:, None])[used]
    return np.bincount(witnesses.cells[used], weights, minlength=len(witnesses.uses)).astype(np.float64)
