"""From a risk to a table of moved values that adds up and is safe, as near to the truth as that allows."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.audit import MET, Audit, audit
from celosia.attack.parts import parts_of
from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError, SolverError, listed
from celosia.pattern.pattern import Pattern
from celosia.pattern.perturbed import Perturbed
from celosia.protect.all_cells import modes_of_all_cells
from celosia.protect.call import Call
from celosia.protect.conflict import conflict_of
from celosia.protect.levels import refuse_levels_that_nobody_meets
from celosia.protect.mode_search import ModeSearch
from celosia.protect.offers import perturbed
from celosia.protect.perturb import Perturb
from celosia.protect.protection import Protection
from celosia.protect.round import counted_in_units, refuse_broken
from celosia.protect.suppress import Suppress
from celosia.protect.task import Task, task_of
from celosia.risk.risk import SHOW, Risk
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed

_SECRET_BITS = 64

_DRAWS = 20
"""Random sides are drawn so many times before they count as impossible."""

_RAISED = 12
"""Levels that the audit finds missed are raised so many times, by 1, 2, 4 ... steps of the grid."""

_WIDER = (0, 1, 2, 4)
"""By how many steps of the grid values may leave the solution in doubles, one after the other."""

_NEAR = 1e-6
"""A move this close to a step of the grid is on it."""


def perturb(risk: Risk, method: Perturb, call: Call) -> Protection:
    """Return moved values that add up, as near to the truth as time allows.

    Guarantee: published values satisfy every relation exactly, on the grid of their decimals, and lie within their
    reach of the truth; sensitive cells have moved as far as was asked for; everything has passed `celosia.audit`. The
    bound holds for the sides that were drawn.
    """
    asked = method.applied(risk)
    if call.integer:
        refuse_broken(risk.table, np.ones(len(risk), dtype=bool))
    refuse_levels_that_nobody_meets(asked)
    if method.secret is None:
        method = replace(method, secret=secrets.randbits(_SECRET_BITS))
    return _Work(asked, method, call).protection()


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """How far values must and may move, in steps, ``(m,)`` each."""

    least_up: NDArray[np.int64]
    least_down: NDArray[np.int64]
    most_up: NDArray[np.int64]
    most_down: NDArray[np.int64]


@dataclass(eq=False)
class _Work:
    """One perturbation at work. All numbers are steps: units of the last decimal that is published."""

    risk: Risk
    method: Perturb
    call: Call
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)

    @cached_property
    def task(self) -> Task:
        """What must be reached."""
        return task_of(self.risk, integer=self.call.integer)

    @property
    def decimals(self) -> int:
        """How many decimals are published."""
        if self.call.integer:
            return 0
        return self.risk.table.decimals if self.method.decimals is None else self.method.decimals

    @cached_property
    def cells(self) -> NDArray[np.int64]:
        """The cells that may move: all that are not frozen."""
        return np.flatnonzero(self.risk.status != SHOW)

    def _steps(self, units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return numbers of the table's decimals in steps, rounded down."""
        table = self.risk.table.decimals
        if self.decimals >= table:
            return np.asarray(units * 10 ** (self.decimals - table))
        return np.asarray(units // 10 ** (table - self.decimals))

    @cached_property
    def truth(self) -> NDArray[np.int64]:
        """Of the cells that may move."""
        return self._steps(np.asarray(self.risk.table.amounts.counts, dtype=np.int64))[self.cells]

    @cached_property
    def reach(self) -> NDArray[np.int64]:
        """Of the cells that may move."""
        return self._steps(self.method.reaches(self.risk.table))[self.cells]

    @cached_property
    def sensitive(self) -> NDArray[np.int64]:
        """Which of them are sensitive: their places."""
        return np.flatnonzero(self.risk.sensitive[self.cells])

    def _level(self, name: str) -> NDArray[np.int64]:
        """Return a level of the sensitive cells, rounded up."""
        level: Fixed = getattr(self.risk.levels, name)
        exact = [level.fraction(int(cell)) * 10**self.decimals for cell in self.cells[self.sensitive]]
        return np.array([-(-number.numerator // number.denominator) for number in exact], dtype=np.int64)

    @cached_property
    def levels(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Lower, upper and sliding ones of the sensitive cells."""
        return self._level("lower"), self._level("upper"), self._level("sliding")

    def _moves(self, *, up: bool) -> NDArray[np.int64]:
        """Return how far sensitive cells are moved at least, to one side."""
        lower, upper, sliding = self.levels
        if self.method.move is not None:
            given = self._steps(counted_in_units("move", self.method.move, self.risk.table))
            return given[self.cells][self.sensitive]
        own, other = (upper, lower) if up else (lower, upper)
        wanted = np.where(own > 0, own, np.where(sliding > 0, -(-sliding // 2), 1))
        moves = np.minimum(wanted, self.reach[self.sensitive] - other)
        return np.asarray(
            moves if up or not self.risk.table.nonnegative else np.minimum(moves, self.truth[self.sensitive])
        )

    def _needed(self, *, up: bool) -> NDArray[np.int64]:
        """Return the smallest reach that lets a sensitive cell move to one side and keep its levels."""
        lower, upper, sliding = self.levels
        other = lower if up else upper
        move = np.ones(len(other), dtype=np.int64) if self.method.move is None else self._moves(up=up)
        return np.asarray(np.maximum(other + move, -(-np.maximum(lower + upper, sliding) // 2)))

    def _refuse_reach(self) -> None:
        """Refuse a reach that cannot protect, on a side that may be taken."""
        fixed = [self.method.sides.get(int(cell), self.method.side) for cell in self.cells[self.sensitive]]
        ups, downs = (np.array([side in (word, "random") for side in fixed], dtype=bool) for word in ("up", "down"))
        needed = np.maximum(np.where(ups, self._needed(up=True), 0), np.where(downs, self._needed(up=False), 0))
        small = np.flatnonzero(needed > self.reach[self.sensitive])
        if len(small):
            labels = listed([self.risk.table.label(int(cell)) for cell in self.cells[self.sensitive[small]]])
            text = Fixed(np.array([needed[small].max()]), self.decimals).texts()[0]
            raise InfeasibleError.one(
                "reach", f"cannot protect {labels}.", f"A reach of {text} could; or move them less."
            )

    def _ends(self, random: np.random.Generator) -> _Ends:
        """Return how far values must and may move, with sides drawn for sensitive cells."""
        m = len(self.cells)
        most_up = self.reach.copy()
        most_down = np.minimum(self.reach, self.truth) if self.risk.table.nonnegative else self.reach.copy()
        least_up, least_down = np.zeros(m, dtype=np.int64), np.zeros(m, dtype=np.int64)
        drawn = random.random(len(self.sensitive)) < 0.5  # noqa: PLR2004  (a fair coin)
        asked = [self.method.sides.get(int(cell), self.method.side) for cell in self.cells[self.sensitive]]
        up = np.array([side == "up" or (side == "random" and bool(d)) for side, d in zip(asked, drawn, strict=True)])
        moves_up, moves_down = self._moves(up=True), self._moves(up=False)
        random_side = np.array([side == "random" for side in asked], dtype=bool)
        up = up.astype(bool) | (random_side & (moves_down <= 0))  # nobody moves below zero
        place = self.sensitive
        least_up[place], most_up[place] = np.where(up, moves_up, 0), np.where(up, most_up[place], 0)
        least_down[place], most_down[place] = np.where(up, 0, moves_down), np.where(up, 0, most_down[place])
        return _Ends(least_up, least_down, most_up, most_down)

    def protection(self) -> Protection:
        """Return moved values that are safe."""
        self._refuse_reach()
        if len(self.task.goals):
            follows = parts_of(self.task.system(np.arange(len(self.task)))).component[self.task.goals.columns] < 0
            if bool(follows.any()):
                self._refuse_levels()
        random = np.random.default_rng(self.method.secret)
        fixed = self.method.side != "random" or not len(self.sensitive)
        for _ in range(1 if fixed else _DRAWS):
            ends = self._ends(random)
            search = self._searched(self.task, ends)
            if search is not None:
                return self._made(search, ends)
        self._refuse_levels()
        raise self._impossible()

    def _search(self, task: Task, ends: _Ends) -> tuple[ModeSearch, float]:
        """Return a search, and how many steps one of its units is."""
        step = 10.0 ** (task.decimals - self.decimals)
        unit = step
        if not self.call.integer:
            levels = np.maximum(task.goals.sliding, np.maximum(task.goals.up, task.goals.down))
            unit = (
                max(step, float(np.median(levels))) if len(levels) else max(step, float(np.median(self.reach)) * step)
            )
        ratio = np.float64(step / unit)
        cost = self.risk.cost[self.cells] / ratio / 10.0**self.decimals
        offer = perturbed(
            self.cells,
            (cost, cost),
            self.reach * ratio,
            (ends.most_up * ratio, ends.most_down * ratio),
            (ends.least_up * ratio, ends.least_down * ratio),
            integer=self.call.integer,
            at_most=self.method.at_most,
        )
        modes = modes_of_all_cells(task, self.risk.table, [offer], unit)
        return ModeSearch(task, modes, backends()[0], self.call, self._listen), 1 / ratio

    def _searched(self, task: Task, ends: _Ends) -> _Point | None:
        """Return the cheapest point that the search knows, None where there is none.

        Raises
        ------
        OutOfTimeError
            Time was up before one was known.
        """
        if bool(((ends.least_up > ends.most_up) | (ends.least_down > ends.most_down)).any()):
            return None
        search, unit = self._search(task, ends)
        try:
            search.run()
        except KeyboardInterrupt:
            self.call.clock.stop()
        if search.best is None:
            if search.impossible:
                return None
            raise OutOfTimeError.one(
                "time_limit", "was reached before safe values were known.", "Allow more time, or a larger reach."
            )
        m = len(self.cells)
        moved = (search.best[:m] - search.best[m : 2 * m]) * unit
        still = search.best[2 * m : 3 * m] < 0.5 if self.method.at_most is not None else np.zeros(m, dtype=bool)  # noqa: PLR2004
        return _Point(moved, still, search.bound)

    def _made(self, point: _Point, ends: _Ends) -> Protection:
        """Return the published values of a point; levels that the audit finds missed are raised and searched again."""
        task, bound = self.task, point.bound
        found: _Point | None = point
        for attempt in range(_RAISED):
            if found is None:
                break
            pattern = self._published(self._on_grid(found, ends))
            checked = audit(pattern, self.risk, integer=self.call.integer)
            if checked.safe:
                return self._result(pattern, checked, bound)
            missed = np.array([verdict.result != MET for verdict in checked.verdicts])
            goals = task.goals
            more = np.where(missed, max(1, round(10.0 ** (task.decimals - self.decimals))) * 2**attempt, 0)
            task = replace(
                task,
                goals=replace(
                    goals,
                    up=goals.up + np.where(goals.up > 0, more, 0),
                    down=goals.down + np.where(goals.down > 0, more, 0),
                    sliding=goals.sliding + np.where(goals.sliding > 0, more, 0),
                ),
            )
            found = self._searched(task, ends)
        raise self._impossible()

    def _on_grid(self, point: _Point, ends: _Ends) -> NDArray[np.int64]:
        """Return moves in whole steps that add up, next to those of a point."""
        if self.call.integer:
            return np.rint(point.moved).astype(np.int64)
        near = np.rint(point.moved)
        on_it = np.abs(point.moved - near) <= _NEAR * np.maximum(1.0, np.abs(near))
        low = np.where(on_it, near, np.floor(point.moved)).astype(np.int64)
        high = np.where(on_it, near, np.ceil(point.moved)).astype(np.int64)
        matrix = sp.csr_array(self.risk.table.relations.matrix[:, self.cells], dtype=np.float64)
        right = np.zeros(matrix.shape[0])
        least = np.where(ends.least_up > 0, ends.least_up, -ends.most_down)
        most = np.where(ends.least_down > 0, -ends.least_down, ends.most_up)
        for wider in _WIDER:
            lower = np.where(point.still, 0, np.maximum(low - wider, least)).astype(np.float64)
            upper = np.where(point.still, 0, np.minimum(high + wider, most)).astype(np.float64)
            if bool((lower > upper).any()):
                continue
            slope = np.where(lower >= 0, 1.0, np.where(upper <= 0, -1.0, 0.0)) * self.risk.cost[self.cells]
            problem = LinearProgram(
                matrix, right, right, lower, upper, slope, integer=np.ones(len(self.cells), dtype=bool)
            )
            limit = max(1.0, self.call.clock.left)
            solution = backends()[0].open(problem).solve(time_limit=limit)
            if solution.x is not None:
                return np.rint(solution.x).astype(np.int64)
        raise SolverError.one("decimals", "leave no room for values that add up.", "Publish more decimals.")

    def _published(self, moves: NDArray[np.int64]) -> Pattern:
        table, decimals = self.risk.table, max(self.decimals, self.risk.table.decimals)
        fine = 10 ** (decimals - self.decimals)
        counts = table.amounts.to(decimals).counts.copy()
        counts[self.cells] += moves * fine
        if bool(
            (table.relations.residuals(counts) - table.relations.right * (10 ** (decimals - table.decimals) - 1)).any()
        ):
            raise SolverError.one("perturbation", "does not add up.", "Try another solver, or report this.")
        reach = Fixed(self.method.reaches(table)[self.cells], table.decimals)
        return Pattern.of(table, Perturbed(self.cells, Fixed(counts[self.cells], decimals), reach, table=table))

    def _result(self, pattern: Pattern, checked: Audit, bound: float) -> Protection:
        cost = pattern.loss(self.risk.cost)
        return Protection(
            risk=self.risk,
            method=self.method,
            pattern=pattern,
            cost=cost,
            bound=min(bound, cost),
            found=checked,
            seconds=self.call.clock.seconds,
            solver=self.call.solver_name,
            trace=tuple(self.trace),
            seed=self.call.seed,
        )

    def _listen(self, search: ModeSearch) -> None:
        """Note how far the search has come."""
        cost = search.cost if np.isfinite(search.cost) else None
        self.trace.append((self.call.clock.seconds, cost, search.bound, len(search.cuts)))
        self.call.progress.search(cost, search.bound, len(search.cuts))

    def _refuse_levels(self) -> None:
        """Refuse frozen cells that give sensitive ones away, whatever moves."""
        if len(self.task.goals):
            clash = conflict_of(self.risk, Suppress(), lambda _: None, integer=self.call.integer)
            if len(clash.unmet):
                raise InfeasibleError.one("protection", clash.sentence(self.risk), clash.remedy)

    def _impossible(self) -> CelosiaError:
        remedies = ["a larger reach", "smaller moves"]
        remedies += ["more cells in at_most"] if self.method.at_most is not None else []
        remedies += ["fewer frozen cells"] if len(self.cells) < len(self.risk) else []
        return InfeasibleError.one(
            "protection",
            "is impossible: no values within reach add up and meet all levels.",
            f"Try {' or '.join(remedies)}.",
        )


@dataclass(frozen=True, slots=True, eq=False)
class _Point:
    """Moves in doubles, which cells do not move, and what any moves cost at least."""

    moved: NDArray[np.float64]
    still: NDArray[np.bool_]
    bound: float
