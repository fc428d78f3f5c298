"""How a perturbation is found: the nearest moved values that add up and are safe, audited, with a bound."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET
from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError, SolverError
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.modes.number_search import NumberSearch
from celosia.protection.engine.modes.search import ModeSearch
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.fallback import Fallback
from celosia.protection.infeasibility import refuse_unreachable_levels
from celosia.protection.perturbation.formulation import MoveBounds, PerturbationModel
from celosia.protection.perturbation.method import Perturb
from celosia.protection.perturbation.parameters import PERTURBATION, PerturbationParameters
from celosia.protection.perturbation.sides import draw_sides, refuse_frozen, repair_sides
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import Risk
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Status
from celosia.table.fixed import Fixed
from celosia.table.units import refuse_fractions
from celosia.tolerance import HALF, INTEGRAL

_SECRET_BITS = 64


def solve(risk: Risk, method: Perturb, run: Run, parameters: PerturbationParameters = PERTURBATION) -> Protection:
    """Return moved values that add up, as near to the truth as time allows.

    Guarantee: published values satisfy every relation exactly, on the grid of their decimals, and lie within their
    reach of the truth; sensitive cells have moved as far as was asked for; everything has passed `celosia.audit`. The
    bound holds for the sides that were taken.
    """
    if run.integer:
        refuse_fractions(risk.table, np.ones(len(risk), dtype=bool))
    refuse_unreachable_levels(risk)
    if method.secret is None:
        method = replace(method, secret=secrets.randbits(_SECRET_BITS))
    return _PerturbationSearch(risk, run, method, parameters).protection()


@dataclass(eq=False)
class _PerturbationSearch(NumberSearch):
    """The search for moved values. All numbers are steps: units of the last decimal that is published."""

    method: Perturb
    parameters: PerturbationParameters
    _notes: tuple[str, ...] = field(init=False, default=())
    _drawn: tuple[MoveBounds, float, tuple[str, ...]] | None = field(init=False, default=None)

    @cached_property
    def model(self) -> PerturbationModel:
        """How far values must and may move."""
        return PerturbationModel(self.risk, self.method, self.run.integer)

    def protection(self) -> Protection:
        """Return moved values that are safe."""
        model = self.model
        model.refuse_reach()
        if bool(self.determined.any()):
            self.refuse_disclosing_cells()
        random = np.random.default_rng(self.method.secret)
        fixed = not bool((model.sides == "random").any())
        for attempt in range(1 if fixed else self.parameters.most_draws):
            wanted = draw_sides(model, random)
            upward = repair_sides(model, wanted, random, self.run.clock)
            if upward is None:
                self.refuse_disclosing_cells()
                refuse_frozen(model, wanted, self.run.clock)
                raise self._impossible("add up")
            bounds = model.bound_moves(upward).take(self.cells)
            self._notes = _note(int((upward != wanted).sum()), len(upward))
            point = self._find_moves(self.problem, bounds)
            if point is not None:
                return self._publish_safely(point, bounds, self._notes)
            if not attempt:
                self.refuse_disclosing_cells()
        raise self._impossible("add up and meet all levels")

    def _find_moves(self, problem: ProtectionProblem, bounds: MoveBounds) -> _FoundMoves | None:
        """Return the cheapest point that the search knows, None where there is none.

        Raises
        ------
        OutOfTimeError
            Time was up before one was known.
        """
        if bool(((bounds.least_up > bounds.most_up) | (bounds.least_down > bounds.most_down)).any()):
            return None
        modes, unit = self.model.modes(problem, self.cells, bounds)
        search = ModeSearch(problem, modes, backends()[0], self.run, self.record)
        self._drawn = bounds, unit, self._notes
        best = self.run_search(search, "safe values were", "Allow more time, or a larger reach.")
        if best is None:
            return None
        return self._point(best, unit, search.bound)

    def _point(self, best: NDArray[np.float64], unit: float, bound: float) -> _FoundMoves:
        """Return a point of a search whose unit is so many steps."""
        m = len(self.cells)
        moved = (best[:m] - best[m : 2 * m]) * unit
        still = best[2 * m : 3 * m] < HALF if self.method.at_most is not None else np.zeros(m, dtype=bool)
        return _FoundMoves(moved, still, bound)

    def insure(self, search: ModeSearch, fallback: Fallback) -> None:
        """Have the best moves so far audited."""
        if search.best is not None and self._drawn is not None:
            bounds, unit, notes = self._drawn
            pattern = self._publish(self._round_to_grid(self._point(search.best, unit, search.bound), bounds))
            checked = audit(pattern, self.risk, integer=self.run.integer)
            if checked.safe:
                cost = pattern.loss(self.risk.cost)
                fallback.offer(self.result(self.method, pattern, checked, cost, search.bound, notes))

    def _publish_safely(self, point: _FoundMoves, bounds: MoveBounds, notes: tuple[str, ...]) -> Protection:
        """Return the published values of a point; levels that the audit finds missed are raised and searched again."""
        problem, bound = self.problem, point.bound
        found: _FoundMoves | None = point
        for attempt in range(self.parameters.most_raises):
            if found is None:
                break
            pattern = self._publish(self._round_to_grid(found, bounds))
            checked = audit(pattern, self.risk, integer=self.run.integer)
            if checked.safe:
                return self.result(self.method, pattern, checked, pattern.loss(self.risk.cost), bound, notes)
            missed = np.array([verdict.result != MET for verdict in checked.verdicts])
            requirements = problem.requirements
            more = np.where(missed, max(1, round(10.0 ** (problem.decimals - self.model.decimals))) * 2**attempt, 0)
            problem = replace(
                problem,
                requirements=replace(
                    requirements,
                    up=requirements.up + np.where(requirements.up > 0, more, 0),
                    down=requirements.down + np.where(requirements.down > 0, more, 0),
                    sliding=requirements.sliding + np.where(requirements.sliding > 0, more, 0),
                ),
            )
            found = self._find_moves(problem, bounds)
        raise self._impossible("add up and meet all levels")

    def _round_to_grid(self, point: _FoundMoves, bounds: MoveBounds) -> NDArray[np.int64]:
        """Return moves in whole steps that add up, next to those of a point."""
        if self.run.integer:
            return np.rint(point.moved).astype(np.int64)
        grain = self.model.grain[self.cells]
        wanted = point.moved / grain
        near = np.rint(wanted)
        on_it = np.abs(wanted - near) <= INTEGRAL * np.maximum(1.0, np.abs(near))
        low = np.where(on_it, near, np.floor(wanted)).astype(np.int64)
        high = np.where(on_it, near, np.ceil(wanted)).astype(np.int64)
        relations = sp.csr_array(self.risk.table.relations.matrix[:, self.cells], dtype=np.float64)
        matrix = sp.csr_array(relations @ sp.diags_array(grain.astype(np.float64)))
        least, most = -(-bounds.range[0] // grain), bounds.range[1] // grain
        coarse = grain.max(initial=1) // grain  # where a count is rounded, amounts that are tied to it move as far
        for wider in (*self.parameters.windows, None):
            lower = least if wider is None else np.maximum(low - wider * coarse, least)
            upper = most if wider is None else np.minimum(high + wider * coarse, most)
            lower, upper = (np.where(point.still, 0, end).astype(np.float64) for end in (lower, upper))
            if bool((lower > upper).any()):
                continue
            problem = _nearest_moves(matrix, lower, upper, self.risk.cost[self.cells] * grain)
            limit = max(self.parameters.least_seconds, self.run.clock.left)
            solution = backends()[0].open(problem).solve(time_limit=limit)
            if solution.x is not None:
                return np.rint(solution.x[: len(grain)]).astype(np.int64) * grain
            if solution.status is Status.STOPPED:
                said = "was reached before values that add up were known."
                raise OutOfTimeError.one("time_limit", said, "Allow more time.")
        raise SolverError.one("decimals", "leave no room for values that add up.", "Publish more decimals.")

    def _publish(self, moves: NDArray[np.int64]) -> Pattern:
        table, decimals = self.risk.table, max(self.model.decimals, self.risk.table.decimals)
        fine = 10 ** (decimals - self.model.decimals)
        counts = table.amounts.to(decimals).counts.copy()
        counts[self.cells] += moves * fine
        if bool(
            (table.relations.residuals(counts) - table.relations.right * (10 ** (decimals - table.decimals) - 1)).any()
        ):
            raise SolverError.one("perturbation", "does not add up.", "Try another solver, or report this.")
        reach = Fixed(self.method.reaches(table)[self.cells], table.decimals)
        return Pattern.of(table, Perturbed(self.cells, Fixed(counts[self.cells], decimals), reach, table=table))

    def _impossible(self, what: str) -> CelosiaError:
        remedies = ["a larger reach", "smaller moves"]
        remedies += ["more cells in at_most"] if self.method.at_most is not None else []
        remedies += ["fewer frozen cells"] if len(self.cells) < len(self.risk) else []
        return InfeasibleError.one(
            "protection",
            f"is impossible: no values within reach {what}.",
            f"Try {' or '.join(remedies)}.",
        )


def _note(turned: int, sides: int) -> tuple[str, ...]:
    """Return how many sides were not as they were drawn."""
    if not turned:
        return ()
    return (f"Of {sides:,} sides that were drawn {turned:,} had to be turned: nothing adds up otherwise.",)


@dataclass(frozen=True, slots=True, eq=False)
class _FoundMoves:
    """Moves in doubles, which cells do not move, and what any moves cost at least."""

    moved: NDArray[np.float64]
    still: NDArray[np.bool_]
    bound: float


def _nearest_moves(
    matrix: sp.csr_array, lower: NDArray[np.float64], upper: NDArray[np.float64], cost: NDArray[np.float64]
) -> LinearProgram:
    """Return the program of the cheapest whole moves that add up; after them, how far moves either way go."""
    n, both = len(cost), np.flatnonzero((lower < 0) & (upper > 0))
    m, k = matrix.shape[0], len(both)
    picks = sp.csr_array((np.ones(k), (np.arange(k), both)), shape=(k, n))
    far = sp.eye_array(k)
    rows = sp.csr_array(sp.block_array([[matrix, sp.csr_array((m, k))], [-picks, far], [picks, far]]))
    slope = np.concatenate([np.where(lower >= 0, cost, np.where(upper <= 0, -cost, 0.0)), cost[both]])
    nothing = np.zeros(rows.shape[0])
    return LinearProgram(
        rows,
        nothing,
        np.concatenate([np.zeros(m), np.full(2 * k, np.inf)]),
        np.concatenate([lower, np.zeros(k)]),
        np.concatenate([upper, np.maximum(-lower, upper)[both]]),
        slope,
        integer=np.arange(n + k) < n,
    )
