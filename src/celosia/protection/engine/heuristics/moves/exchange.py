"""Clean-up by combining witnesses: pivots and swaps, in whole numbers, without linear programs.

A cell is shown again when every witness that uses it has another one without it: that of another requirement; a
combination of two witnesses in which the cell cancels (a pivot); the witness minus a multiple of a move through the
cell, whose new cells cost less than it does (a swap); or a move of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import plain
from celosia.kernels import inner, kernel
from celosia.protection.engine.heuristics.moves.beam import Cells, Ground, Task, find_move
from celosia.protection.engine.heuristics.moves.witnesses import (
    LARGEST_ENTRY,
    SHORT,
    Wanted,
    Witnesses,
    fits,
    place_of,
    put_witness,
    take_move,
    task_of,
)


class Users(NamedTuple):
    """Lists of the witnesses that use each cell, some of them out of date.

    Parameters
    ----------
    first
        The first entry of every cell, -1 for none, ``(n,)``.
    witness, after
        The entries: a witness, and the next entry of the same cell; as many as fit.
    n_entries
        How many entries there are, and how often a list was read, ``(2,)``.
    seen
        When every witness was last read, ``(w,)``.
    """

    first: NDArray[np.int64]
    witness: NDArray[np.int64]
    after: NDArray[np.int64]
    n_entries: NDArray[np.int64]
    seen: NDArray[np.int64]


class Trial(NamedTuple):
    """New witnesses while a cell is tried.

    Parameters
    ----------
    users
        Whose they are, ``(t,)``.
    lengths, cells, values
        The witnesses, as in `Witnesses`.
    raised
        Cells that are hidden by them, ``(n,)``.
    detour, detour_values
        A move through the cell.
    """

    users: NDArray[np.int64]
    lengths: NDArray[np.int64]
    cells: SHORT
    values: SHORT
    raised: NDArray[np.int64]
    detour: NDArray[np.int32]
    detour_values: NDArray[np.int32]


class PivotEffort(NamedTuple):
    """How much a cell is worth.

    Parameters
    ----------
    partners
        Witnesses that one is combined with, or that are borrowed, each at most.
    tries
        Paths that are tried for a move.
    swaps
        Whether moves may hide other cells.
    """

    partners: int
    tries: int
    swaps: bool


def list_users(witnesses: Witnesses, wanted: Wanted, spare: int) -> Users:
    """Return the lists of all witnesses, with room for more."""
    n, total = len(witnesses.uses), int(witnesses.lengths.sum())
    users = Users(
        np.full(n, -1, dtype=np.int64),
        np.zeros(total + spare, dtype=np.int64),
        np.zeros(total + spare, dtype=np.int64),
        np.zeros(2, dtype=np.int64),
        np.full(len(wanted.columns), -1, dtype=np.int64),
    )
    enter_all(witnesses, users)
    return users


@kernel()
def enter_all(witnesses: Witnesses, users: Users) -> None:
    """Enter all witnesses into the lists."""
    for number in range(len(witnesses.lengths)):
        _enter(number, witnesses, users)


@inner()
def _enter(number: int, witnesses: Witnesses, users: Users) -> None:
    for k in range(witnesses.lengths[number]):
        cell, count = witnesses.cells[number, k], users.n_entries[0]
        users.witness[count], users.after[count] = number, users.first[cell]
        users.first[cell] = count
        users.n_entries[0] = count + 1


@inner()
def _divisor(a: int, b: int) -> int:
    a, b = abs(a), abs(b)
    while b:
        a, b = b, a % b
    return a


@inner()
def cancel(
    cell: int,
    moved: NDArray[np.int32],
    values: NDArray[np.int32],
    n: int,
    others: NDArray[np.int32],
    other_values: NDArray[np.int32],
    m: int,
    out: NDArray[np.int32],
    out_values: NDArray[np.int32],
) -> int:
    """Write the combination of two moves in which a cell cancels; return how many cells it moves, 0 if too many."""
    mine, theirs = place_of(cell, moved, n), place_of(cell, others, m)
    if mine < 0 or theirs < 0:
        return 0
    a, b = plain(other_values[theirs]), plain(values[mine])
    common = _divisor(a, b)
    a, b = a // common, b // common
    i, j, count, common = 0, 0, 0, 0
    while i < n or j < m:
        value = plain(0)
        here = moved[i] if i < n else np.int32(2147483647)
        there = others[j] if j < m else np.int32(2147483647)
        if here <= there:
            value += a * values[i]
            i += 1
        if there <= here:
            value -= b * other_values[j]
            j += 1
        if value != 0:
            if count == len(out) or abs(value) > 64 * LARGEST_ENTRY:
                return 0
            out[count], out_values[count] = min(here, there), value
            common = _divisor(common, value)
            count += 1
    for k in range(count):
        out_values[k] //= common
        if abs(out_values[k]) > LARGEST_ENTRY:
            return 0
    return count


@kernel()
def show_cells(
    order: NDArray[np.int64],
    effort: PivotEffort,
    wanted: Wanted,
    witnesses: Witnesses,
    users: Users,
    trial: Trial,
    ground: Ground,
) -> int:
    """Show cells again, in order, where every witness that uses them has another; return how many were tried.

    It ends early when the lists of users are full.
    """
    for place in range(len(order)):
        cell = order[place]
        if witnesses.uses[cell] == 0 or witnesses.fixed[cell]:
            continue
        if users.n_entries[0] + len(trial.users) * witnesses.cells.shape[1] > len(users.witness):
            return place
        n_users = _find_users(cell, witnesses, users, trial)
        if n_users < 0 or not _replace_witnesses(cell, n_users, effort, wanted, witnesses, users, trial, ground):
            continue
        for k in range(n_users):
            number = trial.users[k]
            put_witness(number, trial.cells[k], trial.values[k], trial.lengths[k], witnesses)
            _enter(number, witnesses, users)
    return len(order)


@inner()
def _find_users(cell: int, witnesses: Witnesses, users: Users, trial: Trial) -> int:
    """List the witnesses that use a cell; return how many there are, -1 where there are too many."""
    users.n_entries[1] += 1
    stamp, n, entry, before = users.n_entries[1], 0, users.first[cell], -1
    while entry >= 0:
        number, after = users.witness[entry], users.after[entry]
        held = place_of(cell, witnesses.cells[number], witnesses.lengths[number]) >= 0
        if held and users.seen[number] != stamp:
            users.seen[number] = stamp
            if n < len(trial.users):
                trial.users[n] = number
            n += 1
            before = entry
        elif before < 0:
            users.first[cell] = after
        else:
            users.after[before] = after
        entry = after
    return n if n <= len(trial.users) else -1


@inner()
def _replace_witnesses(
    cell: int,
    n_users: int,
    effort: PivotEffort,
    wanted: Wanted,
    witnesses: Witnesses,
    users: Users,
    trial: Trial,
    ground: Ground,
) -> bool:
    """Return whether all users of a cell have witnesses without it that hide nothing dearer; write these."""
    n_detour = _find_detour(cell, n_users, effort, wanted, witnesses, trial, ground)
    left, n_raised, done = witnesses.own_price[cell], 0, 0
    while done < n_users and left > 0:
        n = 0  # a cell that is shown has nothing to keep
        if wanted.columns[trial.users[done]] != cell:
            bound = left if effort.swaps else witnesses.hidden_price * 2 * len(trial.detour)
            n = _replace(cell, done, n_users, n_detour, bound, effort, wanted, witnesses, users, trial, ground)
            if n == 0:
                break
        trial.lengths[done] = n
        for k in range(n):
            raised = trial.cells[done, k]
            if witnesses.price[raised] > witnesses.hidden_price:
                left -= witnesses.price[raised]
                witnesses.price[raised] = witnesses.hidden_price
                trial.raised[n_raised] = raised
                n_raised += 1
        done += 1
    for k in range(n_raised):
        witnesses.price[trial.raised[k]] = witnesses.own_price[trial.raised[k]]
    return done == n_users and left > 0


@inner()
def _find_detour(
    cell: int, n_users: int, effort: PivotEffort, wanted: Wanted, witnesses: Witnesses, trial: Trial, ground: Ground
) -> int:
    """Write the cheapest move through a cell with room for what its users need; return its length, 0 for none."""
    need, attacker = plain(1), plain(-1)
    for k in range(n_users):
        number = trial.users[k]
        if wanted.columns[number] != cell:
            own, values = witnesses.cells[number], witnesses.values[number]
            length = witnesses.lengths[number]
            scale = abs(plain(values[place_of(wanted.columns[number], own, length)]))
            level = max(wanted.up[number], wanted.down[number])
            need = max(need, level * abs(plain(values[place_of(cell, own, length)])) // scale)
            attacker = wanted.attackers[number]
    if attacker < 0:
        return 0
    bound = witnesses.own_price[cell] if effort.swaps else witnesses.hidden_price * 2 * len(trial.detour)
    n = find_move(Task(cell, attacker, need, need, bound, -1, effort.tries), witnesses.price, ground)
    take_move(n, ground.beam, trial.detour, trial.detour_values)
    return n


@inner()
def _replace(
    cell: int,
    place: int,
    n_users: int,
    n_detour: int,
    bound: float,
    effort: PivotEffort,
    wanted: Wanted,
    witnesses: Witnesses,
    users: Users,
    trial: Trial,
    ground: Ground,
) -> int:
    """Write a witness of a user of a cell that does without it; return its length, 0 where none is found."""
    number, cells = trial.users[place], ground.cells
    n = _borrow(cell, place, effort, wanted, witnesses, users, trial, cells)
    if n > 0:
        return n
    out, out_values = trial.cells[place], trial.values[place]
    own, values, length = witnesses.cells[number], witnesses.values[number], witnesses.lengths[number]
    n = cancel(cell, own, values, length, trial.detour, trial.detour_values, n_detour, out, out_values)
    if n > 0 and fits(number, out, out_values, n, wanted, cells):
        return n
    for k in range(min(n_users - 1, effort.partners)):
        other = trial.users[(place + 1 + k) % n_users]
        theirs, length_there = witnesses.cells[other], witnesses.lengths[other]
        n = cancel(cell, own, values, length, theirs, witnesses.values[other], length_there, out, out_values)
        if n > 0 and fits(number, out, out_values, n, wanted, cells):
            return n
    n = find_move(task_of(number, bound, cell, effort.tries, wanted), witnesses.price, ground)
    take_move(n, ground.beam, out, out_values)
    return n


@inner()
def _borrow(
    cell: int,
    place: int,
    effort: PivotEffort,
    wanted: Wanted,
    witnesses: Witnesses,
    users: Users,
    trial: Trial,
    cells: Cells,
) -> int:
    """Write the witness of another requirement that does without a cell; return its length, 0 where there is none."""
    number = trial.users[place]
    for k in range(place):
        n = trial.lengths[k]
        if fits(number, trial.cells[k], trial.values[k], n, wanted, cells):
            for i in range(n):
                trial.cells[place, i], trial.values[place, i] = trial.cells[k, i], trial.values[k, i]
            return int(n)
    entry, tried = users.first[wanted.columns[number]], 0
    while entry >= 0 and tried < effort.partners:
        other = users.witness[entry]
        n = witnesses.lengths[other]
        if place_of(cell, witnesses.cells[other], n) < 0 and fits(
            number, witnesses.cells[other], witnesses.values[other], n, wanted, cells
        ):
            for i in range(n):
                trial.cells[place, i], trial.values[place, i] = witnesses.cells[other, i], witnesses.values[other, i]
            return int(n)
        entry = users.after[entry]
        tried += 1
    return 0
