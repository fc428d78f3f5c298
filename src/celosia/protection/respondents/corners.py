"""Corners of boxes where ranges are published: cells that must move together get cells more, in a table of their own.

What a corner asks for is said in `celosia.risk.corner`. Searches over patterns have columns for it
(`celosia.protection.engine.local_columns`). Ranges are widened until an audit calls them safe, which knows cells only:
so here there is a cell for t and one for every s, in relations of their own. These cells are published nowhere and cost
nothing; every other attacker knows that t is zero.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.system.decomposition import decompose
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.suppressed import Suppressed
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.problem import problem_of
from celosia.protection.method import Method
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.attacker import Attacker
from celosia.risk.corner import Corner
from celosia.risk.requirement import Requirements
from celosia.risk.risk import HIDE, SAFE, Levels, Risk
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table


def can_take_corners(method: Method, run: Run) -> bool:
    """Return whether a method can protect corners: further cells must be free to move, and count for nothing."""
    return run.integer is False and method.takes_free_cells


@dataclass(frozen=True, eq=False)
class CornerProblem:
    """A problem with corners, as one that the engine solves.

    Parameters
    ----------
    plain
        The risk without corners, with the wishes of the method.
    method
        How to protect.
    corners
        What must be possible beside the requirements of the risk.
    """

    plain: Risk
    method: Method
    corners: tuple[Corner, ...]

    @cached_property
    def _owner(self) -> NDArray[np.int64]:
        """The cell that every further cell belongs to, -1 for those that raise corners, ``(m,)``."""
        places = [[-1, *one.cells.tolist()] for one in self.corners]
        return np.array([cell for own in places for cell in own], dtype=np.int64)

    @cached_property
    def _first(self) -> list[int]:
        """Where the cells of every corner begin: first the one that raises it, then one for each need."""
        sizes = [1 + len(one.needs) for one in self.corners]
        return [len(self.plain) + place for place in np.cumsum([0, *sizes[:-1]]).tolist()]

    @cached_property
    def risk(self) -> Risk:
        """The problem with further cells."""
        risk = self.plain
        more = len(self._owner)
        status = np.concatenate([risk.status, np.full(more, HIDE if self.method.hides else SAFE)])
        levels = (risk.levels.lower, risk.levels.upper, risk.levels.sliding)
        zeros = np.zeros(more, dtype=np.int64)
        return Risk(
            self._table,
            status,
            Levels(*(Fixed(np.concatenate([level.counts, zeros]), level.decimals) for level in levels)),
            np.concatenate([risk.cost, np.zeros(more)]),
            (*(self._extend_attacker(one) for one in risk.attackers), *self._corner_attackers()),
            further=self._requirements(risk),
        )

    @property
    def _table(self) -> Table:
        """The table with further cells, which are zero or as large as their owners; its labels are of no use."""
        table, owner = self.plain.table, self._owner
        old = table.relations
        rows: list[int] = []
        cells: list[int] = []
        numbers: list[int] = []
        for first, one in zip(self._first, self.corners, strict=True):
            for place, (_, need) in enumerate(one.needs):
                factor = math.gcd(need, one.largest)
                rows += [len(rows) // 3] * 3
                cells += [int(one.cells[place]), first, first + 1 + place]
                numbers += [one.largest // factor, -need // factor, -one.largest // factor]
        new = sp.csr_array(
            (np.array(numbers, dtype=np.int64), (rows, cells)), shape=(len(rows) // 3, len(table) + len(owner))
        )
        wide = sp.csr_array((old.matrix.data, old.matrix.indices, old.matrix.indptr), shape=(len(old), new.shape[1]))
        matrix = sp.csr_array(sp.vstack([wide, new]))
        matrix.sort_indices()
        right = np.concatenate([old.right, np.zeros(new.shape[0], dtype=np.int64)])
        counts = table.amounts.counts
        return replace(
            table,
            codes=np.concatenate([table.codes, table.codes[np.maximum(owner, 0)]]),
            variable=np.concatenate([table.variable, table.variable[np.maximum(owner, 0)]]),
            amounts=Fixed(np.concatenate([counts, np.where(owner < 0, 0, counts[owner])]), table.decimals),
            relations=Relations(matrix, right),
            statistics=None,
            contributions=None,
            extras={},
            links=None,
        )

    def _extend_attacker(self, attacker: Attacker) -> Attacker:
        """Return an attacker of the plain problem; his bounds on a further cell are those of the cell it stands for."""
        sides = ((side.counts, side.decimals) for side in (attacker.lower, attacker.upper))
        more = self._owner < 0
        ends = (Fixed(np.concatenate([own, np.where(more, 0, own[self._owner])]), places) for own, places in sides)
        return Attacker(attacker.name, *ends)

    def _corner_attackers(self) -> Iterator[Attacker]:
        """Yield one attacker for every corner."""
        amounts, more = self.plain.table.amounts, len(self._owner)
        for first, one in zip(self._first, self.corners, strict=True):
            truth = amounts.counts[one.cells].astype(object) * 10 ** (one.decimals - amounts.decimals)
            leaves, ends = [leaf for leaf, _ in one.needs], []
            sides = zip((-1, 1), (0, one.largest), (one.down, one.up), one.bounds(self.plain.table), strict=True)
            for sign, raised, beside, known in sides:
                counts = np.where(self._owner < 0, 0, sign * np.full(more, INFINITE, dtype=object))
                own = first - len(self.plain)
                counts[own] = raised
                counts[own + 1 : own + 1 + len(leaves)] = truth + sign * beside[leaves]
                ends.append(Fixed.of_counts(np.concatenate([known.counts.astype(object), counts]), one.decimals))
            yield Attacker(one.name, *ends)

    def _requirements(self, risk: Risk) -> Requirements:
        """Return the requirements with levels of their own, those of corners among them."""
        decimals = max(one.decimals for one in self.corners)
        levels = [one.largest * 10 ** (decimals - one.decimals) for one in self.corners]
        who = len(risk.attackers) + np.arange(len(self.corners), dtype=np.int32)
        none = Fixed(np.zeros(len(levels), dtype=np.int64), decimals)
        new = Requirements(
            np.array(self._first), who, none, Fixed.of_counts(np.array(levels, dtype=object), decimals), none
        )
        return new if risk.further is None else risk.further.join(new)

    def extend_method(self, run: Run) -> Method:
        """Return the method for the risk with further cells: they cost nothing."""
        method = self.method.add_free_cells(self.plain, len(self._owner))
        width = self._widest(run) if method.has_fixed_costs else None
        return method if width is None else method.limit_widths(width, len(self.plain))

    def _widest(self, run: Run) -> Fraction | None:
        """Return a width that no range of an optimal pattern exceeds; None where cells form no network.

        A move that is needed is a sum of cycles through needed cells, none of which goes further than needed; so no
        cell moves further than all of them together.
        """
        nothing = np.zeros(len(self.plain), dtype=bool)
        problem = problem_of(self.method.require_widths(self.plain, nothing), integer=run.integer)
        if not bool(decompose(problem.system(np.arange(len(problem)))).network.all()):
            return None
        requirements = problem.requirements
        levels = np.maximum(requirements.sliding, np.maximum(requirements.up, requirements.down))
        far = Fraction(int(levels.max(initial=0)), 10**problem.decimals)
        for one in self.corners:
            far = max(far, Fraction(sum(abs(need) for _, need in one.needs), 10**one.decimals))
        return 2 * far

    def drop_corners(self, found: Protection, run: Run) -> Protection:
        """Return a protection of the extended problem as one of the plain problem, audited."""
        pattern = drop_corner_cells(found.pattern, self.plain.table)
        checked = audit(pattern, self.plain, integer=run.integer)
        return replace(found, risk=self.plain, method=self.method, pattern=pattern, found=checked)


def drop_corner_cells(pattern: Pattern, table: Table) -> Pattern:
    """Return a pattern of the extended table, restricted to the cells of the table."""
    return Pattern.of(table, *_keep_cells_below(pattern.modes, len(table)))


def _keep_cells_below(modes: Sequence[Mode], n: int) -> Iterator[Mode]:
    """Yield what is published about the first cells; those that no mode names are shown."""
    for mode in modes:
        own = np.flatnonzero(mode.cells < n)
        if isinstance(mode, Suppressed):
            yield Suppressed(mode.cells[own])
        elif isinstance(mode, Interval):
            below, above, fixed = (
                None if cost is None else cost[own] for cost in (mode.lower_cost, mode.upper_cost, mode.fixed_cost)
            )
            yield Interval(mode.cells[own], mode.lower[own], mode.upper[own], below, above, fixed)
