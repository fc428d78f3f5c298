"""Reverse delete in the kernel of a pattern: groups of classes are shown again, the dearest first.

A group can be shown when every target whose witness moves it has another one that does not: mostly the witness plus a
column of the kernel's basis, otherwise the solution of a tiny program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.joint.detours import Limits, lead_round
from celosia.protection.engine.heuristics.joint.groups import PatternGroups
from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS, JointParameters
from celosia.protection.engine.heuristics.joint.witness_program import WitnessProgram
from celosia.tolerance import KERNEL_ZERO, MOVE_ZERO, WITNESS_REACHED, WITNESS_ZERO

if TYPE_CHECKING:
    from celosia.protection.engine.heuristics.joint.contraction import PatternKernel
    from celosia.protection.engine.heuristics.joint.targets import Targets
    from celosia.solve.backend import Backend


class PatternReduction:
    """A pattern with a witness for every target, which is being reduced.

    Parameters
    ----------
    kernel
        The kernel of the pattern.
    targets
        What must move.
    cost
        What hiding every class costs, ``(n,)``.
    backend
        Solves programs.
    parameters
        How much effort a group is worth.
    """

    def __init__(
        self,
        kernel: PatternKernel,
        targets: Targets,
        cost: NDArray[np.float64],
        backend: Backend,
        parameters: JointParameters = PARAMETERS,
    ) -> None:
        self._signs, self._levels, self._boxes = targets.signs, targets.levels, targets.boxes
        self._backend, self._parameters = backend, parameters
        self._groups = PatternGroups.of(kernel, targets, cost)
        self._moves = np.zeros((len(targets), len(self._groups)))
        self._refusals = np.zeros(len(targets), dtype=np.int64)
        self._program: WitnessProgram | None = None

    @property
    def hidden(self) -> NDArray[np.int64]:
        """The classes that are hidden and move."""
        return self._groups.hidden

    def witnesses(self, n: int) -> NDArray[np.float64]:
        """Return the witness of every target as a move of all `n` classes, in parts of its level, ``(t, n)``."""
        return self._groups.spread(self._moves, n)

    def find_witnesses(self, known: NDArray[np.float64], late: Callable[[], bool]) -> NDArray[np.int64]:
        """Find a witness for every target; return the targets without one.

        Parameters
        ----------
        known
            Moves in the kernel that may be witnesses, ``(k, n)``.
        late
            Tells when to give up.
        """
        moving = self._groups.factor != 0
        failed, rest = np.flatnonzero(~moving).tolist(), np.flatnonzero(moving)
        tried = self._groups.gather(known)
        for move in tried:
            rest = self._take_where_it_fits(rest, move)
        share = 0.0
        while len(rest) >= self._parameters.least_common and share <= self._parameters.common_share and not late():
            common = self._find_common(rest, tried[0])
            left = rest if common is None else self._take_where_it_fits(rest, common)
            share, rest = len(left) / len(rest), left
        while len(rest):
            number, rest = int(rest[0]), rest[1:]
            found = None if late() else self._solve(number)
            if found is None:
                failed.append(number)
            else:
                self._moves[number] = found
                rest = self._take_where_it_fits(rest, found)
        return np.sort(np.array(failed, dtype=np.int64))

    def _take_where_it_fits(self, numbers: NDArray[np.int64], move: NDArray[np.float64]) -> NDArray[np.int64]:
        """Take a move as the witness of all targets that it serves; return the other targets."""
        groups = self._groups
        own = move[groups.place[numbers]] * groups.factor[numbers]
        reached, good = np.abs(own) / self._levels[numbers], np.zeros(len(numbers), dtype=bool)
        for box in np.unique(self._boxes[numbers]).tolist():
            here = self._boxes[numbers] == box
            one = int(numbers[here][0])
            for sign in (1.0, -1.0):
                room = np.where(sign * move > 0, groups.upper[one], groups.lower[one]) * self._levels[one]
                moved = np.abs(move) > WITNESS_ZERO
                used = float((np.abs(move[moved]) / np.maximum(room[moved], KERNEL_ZERO)).max(initial=0.0))
                good |= here & (sign * own > 0) & (reached >= used * (1.0 - MOVE_ZERO))
        taken = np.array([self._take(number, move) for number in numbers[good].tolist()], dtype=bool)
        good[good] = taken
        return numbers[~good]

    def _find_common(
        self, numbers: NDArray[np.int64], like: NDArray[np.float64], still: int | None = None
    ) -> NDArray[np.float64] | None:
        """Return one move within the bounds for several targets, in the directions of another; None for none.

        It need not take all of them to their levels.
        """
        groups = self._groups
        boxes = self._boxes[numbers]
        numbers = numbers[boxes == np.bincount(boxes).argmax()]
        one, level = int(numbers[0]), self._levels[numbers]
        unit = float(np.median(level))
        place, factor = groups.place[numbers], groups.factor[numbers]
        sign = np.where(self._signs[numbers] != 0, self._signs[numbers], np.sign(like[place] * factor))
        wanted = np.where(sign == 0, 1.0, sign) * level / unit / factor
        order = np.argsort(-np.abs(wanted), kind="stable")
        places, first = np.unique(place[order], return_index=True)
        share = float(self._levels[one]) / unit
        bounds = groups.lower[one] * share, groups.upper[one] * share
        while True:
            program = self._open_program(int(places[0]) if still is None else still)
            found = program.find_common(places, wanted[order][first], bounds, still)
            if found is None:
                return None
            move = np.asarray(groups.basis @ found)
            move[np.abs(move) <= WITNESS_ZERO] = 0.0
            if still is not None:
                move[still] = 0.0
            over = (move > bounds[1] + WITNESS_ZERO) | (-move > bounds[0] + WITNESS_ZERO)
            new = np.setdiff1d(np.flatnonzero(over), program.rows)
            if not len(new):
                return move
            self._program = WitnessProgram.of(groups.basis, np.union1d(program.rows, new), self._backend)

    def _take(self, number: int, move: NDArray[np.float64]) -> bool:
        """Take a move, scaled to the level, as the witness of a target where it is one."""
        groups, sign = self._groups, int(self._signs[number])
        own = move[groups.place[number]] * groups.factor[number]
        if own == 0.0 or (sign and own * sign < 0):
            return False
        scaled = move / abs(own)
        if bool(self._exceeds(scaled, number).any()):
            return False
        self._moves[number] = scaled
        return True

    def _exceeds(self, move: NDArray[np.float64], number: int) -> NDArray[np.bool_]:
        """Return which groups a move takes further than the bounds of a target allow."""
        lower, upper = self._groups.lower[number], self._groups.upper[number]
        return np.asarray((move > upper + WITNESS_ZERO) | (-move > lower + WITNESS_ZERO))

    def _solve(self, number: int, still: int | None = None) -> NDArray[np.float64] | None:
        """Return a witness of a target by a program, None where there is none; bounds enter as they are exceeded."""
        groups = self._groups
        place, factor = int(groups.place[number]), float(groups.factor[number])
        sign = (int(self._signs[number]) or 1) * float(np.sign(factor))
        while True:
            program = self._open_program(place if still is None else still)
            bounds = groups.lower[number], groups.upper[number]
            found = program.find(place, sign, 1.0 / abs(factor), bounds, still)
            if found is None:
                return None
            move = np.asarray(groups.basis @ found)
            move[np.abs(move) <= WITNESS_ZERO] = 0.0
            if still is not None:
                move[still] = 0.0
            over = self._exceeds(move, number)
            if not bool(over.any()):
                return move if abs(move[place] * factor) >= 1.0 - WITNESS_REACHED else None
            new = np.setdiff1d(np.flatnonzero(over), program.rows)
            if not len(new):
                return None
            self._program = WitnessProgram.of(groups.basis, np.union1d(program.rows, new), self._backend)

    def _open_program(self, place: int) -> WitnessProgram:
        """Return the program with the bounds of tight groups, of targets and of one more group."""
        groups, program = self._groups, self._program
        rows = self._tight_groups() if program is None else program.rows
        if program is None or place not in program.rows:
            program = WitnessProgram.of(groups.basis, np.union1d(rows, [place]), self._backend)
            self._program = program
        return program

    def _tight_groups(self) -> NDArray[np.int64]:
        """Return the groups of targets, and those whose bounds short moves in the kernel exceed first."""
        groups = self._groups
        room = np.minimum(groups.lower.min(axis=0), groups.upper.min(axis=0)) / np.abs(groups.basis).sum(axis=1)
        n = self._parameters.tight_groups * groups.basis.shape[1]
        return np.union1d(np.argsort(room, kind="stable")[:n], groups.place)

    def reduce(self, least_share: float, late: Callable[[], bool]) -> bool:
        """Show groups again, the dearest first; return whether all have been tried: if not, a later call goes on.

        Parameters
        ----------
        least_share
            Groups that cost less than this part of the pattern stay hidden untried.
        late
            Tells when to stop.
        """
        least = least_share * float(self._groups.cost.sum())
        while not late():
            cost = np.where(self._groups.locked, -1.0, self._groups.cost)
            group = int(np.argmax(cost)) if len(cost) else -1
            if group < 0 or cost[group] <= least:
                return True
            if self._lead_round(group):
                self._show(group)
            else:
                self._groups = self._groups.lock(group)
        return False

    def _lead_round(self, group: int) -> bool:
        """Find witnesses that do not move a group for all targets; return whether that is possible.

        Columns of the basis are tried as detours first. What a program finds for one target is tried for the others:
        its witness, and the way by which it leads round the group.
        """
        users = np.flatnonzero(np.abs(self._moves[:, group]) > WITNESS_ZERO)
        if not len(users):
            return True
        groups, least = self._groups, self._parameters.least_rerouted
        limits = Limits(groups.place, groups.factor, self._signs, groups.lower, groups.upper)
        found = self._moves.copy()
        columns = np.argsort(-np.abs(groups.basis[group]), kind="stable")[: self._parameters.detours]
        for column in columns[np.abs(groups.basis[group, columns]) > KERNEL_ZERO].tolist():
            way = np.ascontiguousarray(groups.basis[:, column])
            users = users[~lead_round(found, users, group, way, least, limits, False)]  # noqa: FBT003 - compiled
        users = users[np.argsort(-self._refusals[users], kind="stable")]
        common = True
        while len(users):
            if common and len(users) >= self._parameters.least_common and self._refusals[users[0]] == 0:
                before = len(users)
                move = self._find_common(users, found[users[len(users) // 2]], group)
                if move is not None:
                    users = users[~lead_round(found, users, group, move, least, limits, True)]  # noqa: FBT003
                common = len(users) <= self._parameters.common_share * before
                continue
            number = int(users[0])
            move = self._solve(number, group)
            if move is None:
                self._refusals[number] += 1
                return False
            way = found[number] - move
            found[number], users = move, users[1:]
            users = users[~lead_round(found, users, group, move, least, limits, True)]  # noqa: FBT003 - compiled
            users = users[~lead_round(found, users, group, way, least, limits, False)]  # noqa: FBT003 - compiled
        self._moves = found
        return True

    def _show(self, group: int) -> None:
        """Show a group that no witness moves any more."""
        self._groups, first = self._groups.show(group)
        self._moves, self._program = np.ascontiguousarray(self._moves[:, first]), None
