"""The search for ranges by the splitting method, in a table that is a product of trees, with a lower bound.

Splitting finds ranges that are tiny, not zero, in every cell. So it is run again on the cells that matter, which makes
the others exactly zero; and its multipliers, taken together as cuts in one linear program, raise the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.admm.blocks import blocks_of
from celosia.protection.intervals.admm.model import SplittingCuts, SplittingModel, model_of
from celosia.protection.intervals.admm.parameters import SPLITTING, SplittingParameters
from celosia.protection.intervals.admm.product import Product, relations_of
from celosia.protection.intervals.admm.projection import ProductProjector
from celosia.protection.intervals.admm.splitting import AlternatingDirections
from celosia.protection.intervals.formulation import Prices
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram

RangeEnds = tuple[NDArray[np.float64], NDArray[np.float64]]
"""How far ranges reach down and up."""


def can_split(problem: ProtectionProblem) -> bool:
    """Return whether splitting can solve a problem: one attacker, and every level slides or is separate."""
    requirements = problem.requirements
    both = (requirements.sliding > requirements.up + requirements.down) & (requirements.up + requirements.down > 0)
    return problem.n_attackers == 1 and not bool(both.any())


class SplittingSearch:
    """A search for ranges of a product of trees, in one piece or by blocks; its bound is valid at any moment.

    Blocks are the leaves below one parent in every dimension, with their margins. Their own relations alone demand
    less than all together, and blocks share no cell: so their bounds add up. Moves that leave margins alone leave all
    other relations alone: so their ranges add up, too.

    Parameters
    ----------
    problem, prices
        The requirements, and what ranges cost; see `can_split`.
    product
        The product that the table is.
    backend, clock, listen
        The solver, when to stop, and who hears of better bounds and ranges.
    parameters
        How the method goes.

    Attributes
    ----------
    ends
        The cheapest ranges so far, down and up in counts, None where there are none.
    safe
        Whether they protect all targets; those that are in no block are left.
    bound
        No safe ranges cost less.
    steps
        How many steps were taken.
    """

    def __init__(
        self,
        problem: ProtectionProblem,
        prices: Prices,
        product: Product,
        backend: Backend,
        clock: Clock,
        listen: Callable[[SplittingSearch], None] = lambda _: None,
        parameters: SplittingParameters = SPLITTING,
    ) -> None:
        self.ends: RangeEnds | None = None
        self.safe = False
        self.bound = 0.0
        self.steps = 0
        self._product, self._place = product, product.place[problem.cells]
        self._model, self._unit = model_of(problem, prices, self._place, len(product))
        self._backend, self._clock, self._listen, self._parameters = backend, clock, listen, parameters

    @property
    def cost(self) -> float:
        """What the best ranges cost, infinite where there are none."""
        if self.ends is None:
            return np.inf
        costs = self._model.down_cost[self._place], self._model.up_cost[self._place]
        return float(sum(cost @ end for cost, end in zip(costs, self.ends, strict=True))) / self._unit

    def run(self, gap: float) -> None:
        """Search until the cost is within a share of the bound, or time is up."""
        wanted = max(gap, self._parameters.best_gap)
        if len(self._product) * len(self._model.targets) > self._parameters.largest:
            self._run_by_blocks(wanted)
        else:
            run = self._run_on(self._model, self._product.parents, listen=self._hear)
            run.run(wanted)
            self._hear(run)

    def _run_on(
        self,
        model: SplittingModel,
        parents: tuple[NDArray[np.int64], ...],
        inner: NDArray[np.bool_] | None = None,
        listen: Callable[[SplittingRun], None] = lambda _: None,
    ) -> SplittingRun:
        """Return a run on a product of trees or on a block of it."""
        return SplittingRun(model, parents, self._backend, self._clock, inner, listen, self._parameters)

    def _hear(self, run: SplittingRun) -> None:
        """Take over the bound of a run, and its ranges where they are cheaper."""
        self.steps = run.steps
        self.bound = max(self.bound, run.bound)
        if run.ends is not None and run.cost < self.cost:
            self.ends, self.safe = self._to_counts(run.ends), True
        self._listen(self)

    def _to_counts(self, ends: RangeEnds) -> RangeEnds:
        """Return ends of places as those of columns, in counts."""
        return ends[0][self._place] * self._unit, ends[1][self._place] * self._unit

    def _run_by_blocks(self, gap: float) -> None:
        """Solve block by block."""
        down, up, bound = np.zeros(len(self._product)), np.zeros(len(self._product)), 0.0
        left = len(self._model.targets)
        for block in blocks_of(self._product, self._model.targets):
            own = self._model.restrict(block.places, block.members)
            run = self._run_on(own, block.parents, inner=block.inner)
            run.run(gap)
            self.steps += run.steps
            bound += run.bound
            if run.ends is not None:
                down[block.places], up[block.places] = run.ends
                left -= len(block.members)
            self.bound = max(self.bound, bound)
            self._listen(self)
        self.ends, self.safe = self._to_counts((down, up)), left == 0
        self._listen(self)


@dataclass(eq=False)
class SplittingRun:
    """A run of the splitting method on one product of trees.

    Parameters
    ----------
    model, parents
        Costs, bounds and levels in the places of the product, and the product's trees.
    backend, clock
        The solver, and when to stop.
    inner
        Which places may be ranges in the end, None for all; the bound holds whatever they are.
    listen
        Hears of better bounds and ranges.
    parameters
        How the method goes.

    Attributes
    ----------
    ends
        Safe ranges, down and up, None where there are none yet.
    bound
        No safe ranges cost less.
    steps
        How many steps were taken.
    """

    model: SplittingModel
    parents: tuple[NDArray[np.int64], ...]
    backend: Backend
    clock: Clock
    inner: NDArray[np.bool_] | None = None
    listen: Callable[[SplittingRun], None] = lambda _: None
    parameters: SplittingParameters = SPLITTING
    ends: RangeEnds | None = None
    steps: int = 0
    bound: float = field(init=False)

    def __post_init__(self) -> None:
        nothing = np.zeros(len(self.model.up))
        self.bound = self.model.weak_bound(nothing, nothing, 0.0)
        projector = ProductProjector(Product(self.parents, np.zeros(0, dtype=np.int64)))
        self.main = AlternatingDirections(self.model, projector, self.parameters)
        self.matrix = relations_of(self.parents)

    @property
    def cost(self) -> float:
        """What the ranges cost."""
        return np.inf if self.ends is None else self.model.cost(*self.ends)

    def run(self, gap: float) -> None:
        """Search until the cost is within a share of the bound, or time is up."""
        wanted, most = gap * self.parameters.approach_share, self.parameters.most_steps
        while not len(self.main.stuck) and (self.clock.left > 0 or not self.steps) and self.steps < most:
            self._approach(wanted)
            self._polish(gap)
            self.listen(self)
            if self.bound >= (1 - gap) * self.cost:
                return
            wanted /= 2

    def _approach(self, gap: float) -> None:
        """Go on until the bound is within a share of what the cheapest ranges cost, as far as one can see.

        The ends to which cells are clipped are no safe ranges yet, but soon cost nearly as much as the cheapest ones.
        """
        tried, last, parameters = 0, 1.0, self.parameters
        while (self.clock.left > 0 or self.steps < parameters.fewest_steps) and self.steps < parameters.most_steps:
            self.main.advance(2 * parameters.steps_per_look)
            self.steps += 2 * parameters.steps_per_look
            cuts, near = self.main.cuts(), self.model.cost(*self.main.clipped)
            self.bound = max(self.bound, scaled_bound(self.model, cuts))
            missing = 1 - self.bound / near
            useful = missing <= parameters.program_factor * gap or missing > parameters.stall * last
            if gap < missing and useful and self.steps >= parameters.program_again * tried:
                tried = self.steps
                least = parameters.least_coefficient
                self.bound = max(self.bound, cut_bound(self.model, cuts, self.backend, self.clock, least))
            last = missing
            self.listen(self)
            if self.bound >= (1 - gap) * near:
                return

    def _polish(self, gap: float) -> None:
        """Go on with the cells that matter only, which makes ranges of the others zero."""
        parameters = self.parameters
        may = (self.model.down > 0) | (self.model.up > 0)
        may &= True if self.inner is None else self.inner
        wide = np.maximum(*self.main.clipped) > parameters.matters
        wide[self.model.targets] = True
        for least in parameters.reaches:
            places = np.flatnonzero(may & (wide | (np.maximum(*self.main.reach) > least)))
            final = self.main.restrict(places, self.matrix)
            if not len(final.stuck):
                break
            if self.clock.left > 0 and self.steps < parameters.most_steps:  # soon more cells may matter
                return
        else:
            return
        while final.steps < parameters.polishing_steps and (
            self.clock.left > 0 or (final.ends is None and parameters.polishes_late)
        ):
            final.advance(parameters.steps_per_look)
            if final.ends is None:
                final.tighten()
            if self.bound >= (1 - gap) * final.cost:
                break
        if final.ends is not None and final.cost < self.cost:
            down, up = np.zeros(len(self.model.up)), np.zeros(len(self.model.up))
            down[places], up[places] = final.ends
            self.ends = down, up


def scaled_bound(model: SplittingModel, cuts: SplittingCuts) -> float:
    """Return a lower bound from the sum of all cuts, scaled in several ways."""
    down, up, worth = cuts.down.sum(axis=1), cuts.up.sum(axis=1), float(cuts.right.sum())
    ratios = [
        cost[bound > 0] / np.maximum(total[bound > 0], np.finfo(float).tiny)
        for cost, total, bound in ((model.down_cost, down, model.down), (model.up_cost, up, model.up))
    ]
    tightest = min(float(ratio.min(initial=1.0)) for ratio in ratios)
    return max(model.weak_bound(down * f, up * f, worth * f) for f in (tightest, *np.linspace(0.9, 1.01, 12)))


def cut_bound(
    model: SplittingModel,
    cuts: SplittingCuts,
    backend: Backend,
    clock: Clock,
    least: float = SPLITTING.least_coefficient,
) -> float:
    """Return a lower bound from one linear program over cuts, by weak duality from its duals, however inexact.

    Coefficients below `least` are left out of the program.
    """
    useful, slides = np.flatnonzero(cuts.right > 0), np.flatnonzero(model.sliding > 0)
    down, up = np.flatnonzero(model.down > 0), np.flatnonzero(model.up > 0)
    rows = np.hstack([cuts.down[np.ix_(down, useful)].T, cuts.up[np.ix_(up, useful)].T]) / cuts.right[useful, None]
    own = sp.hstack([sp.eye_array(len(model.up)).tocsr()[model.targets[slides]][:, side] for side in (down, up)])
    cost = np.concatenate([model.down_cost[down], model.up_cost[up]])
    scale = float(np.median(cost[cost > 0]))
    separate = np.where(model.sliding > 0, 0.0, 1.0)
    ends = np.zeros((2, len(model.up)))
    ends[0, model.targets], ends[1, model.targets] = model.lower * separate, model.upper * separate
    program = LinearProgram(
        sp.csr_array(sp.vstack([sp.csr_array(np.where(rows > least, rows, 0.0)), own])),
        np.concatenate([np.ones(len(useful)), model.sliding[slides]]),
        np.full(len(useful) + len(slides), np.inf),
        np.concatenate([ends[0, down], ends[1, up]]),
        np.concatenate([model.down[down], model.up[up]]),
        cost / scale,
    )
    solution = backend.open(program).solve(method="dual", time_limit=clock.left)
    if solution.duals is None:
        return -np.inf
    weight = np.maximum(solution.duals[: len(useful)], 0.0) * scale / cuts.right[useful]
    return model.weak_bound(
        cuts.down[:, useful] @ weight, cuts.up[:, useful] @ weight, float(cuts.right[useful] @ weight)
    )
