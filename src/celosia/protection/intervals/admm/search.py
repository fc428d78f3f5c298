"""Ranges of a product of trees by splitting: zero nearly everywhere, and with a bound.

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
from celosia.protection.intervals.admm.product import Product, relations_of
from celosia.protection.intervals.admm.splitting import Projector, Split, SplitCuts, Splitting
from celosia.protection.intervals.formulation import Prices
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram
from celosia.tolerance import ENDLESS

FLOOR = 1e-3
"""Splitting comes within this share of the bound in reasonable time; for less there are cuts."""

_LARGEST = 20_000_000
"""Products with more cells times targets are solved by blocks: splitting keeps five numbers for each."""

_STEPS = 25
"""Ranges are looked at every so many steps, bounds every second time."""

_FEWEST_STEPS = 100
"""So many steps are taken even without time: by then it is clear which cells matter, and nothing else is as quick."""

_MOST_STEPS = 4000
"""Splitting ends after so many steps at the latest."""

_POLISH = 250
"""So many steps are taken to make ranges zero."""

_SHARE = 0.9
"""How much of the gap is left to the first run; the rest is for making ranges zero."""

_PROGRAM = 1.6
"""By so much a linear program over the cuts makes a gap smaller, mostly; it takes as long as a hundred steps."""

_STALL = 0.97
"""It is also tried where the gap is still more than this share of the last one."""

_AGAIN = 1.3
"""The next one is tried after so many times as many steps."""

_WIDE = 1e-6
"""Cells that are clipped at less than this, in mean levels, need no range."""

_REACHES = (np.inf, 0.1, 0.01, 0.0)
"""Where time is up and targets cannot move within the cells that matter, others join whose moves are as large."""

_ENTRY = 1e-7
"""Smaller coefficients are left out of the linear program; the bound is taken with them."""

Ends = tuple[NDArray[np.float64], NDArray[np.float64]]
"""How far ranges reach down and up."""


def splits(task: ProtectionProblem, prices: Prices) -> bool:
    """Return whether splitting can deal with this: one attacker, levels slide or are separate, ranges have no price."""
    goals = task.goals
    both = (goals.sliding > goals.up + goals.down) & (goals.up + goals.down > 0)
    return task.n_attackers == 1 and prices.fixed is None and prices.hide is None and not bool(both.any())


class SplitSearch:
    """Ranges of a product of trees, in one piece or by blocks, true at any moment.

    Blocks are the leaves below one parent in every dimension, with their margins. Their own relations alone demand
    less than all together, and blocks share no cell: so their bounds add up. Moves that leave margins alone leave all
    other relations alone: so their ranges add up, too.

    Parameters
    ----------
    task, prices
        What must be reached, and what ranges cost; see `splits`.
    product
        The product that the table is.
    backend, clock, listen
        The solver, when to stop, and who hears of better bounds and ranges.

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
        task: ProtectionProblem,
        prices: Prices,
        product: Product,
        backend: Backend,
        clock: Clock,
        listen: Callable[[SplitSearch], None] = lambda _: None,
    ) -> None:
        self.ends: Ends | None = None
        self.safe = False
        self.bound = 0.0
        self.steps = 0
        self._product, self._place = product, product.place[task.cells]
        self._model, self._unit = _model(task, prices, self._place, len(product))
        self._backend, self._clock, self._listen = backend, clock, listen

    @property
    def cost(self) -> float:
        """What the best ranges cost, infinite where there are none."""
        if self.ends is None:
            return np.inf
        costs = self._model.down_cost[self._place], self._model.up_cost[self._place]
        return float(sum(cost @ end for cost, end in zip(costs, self.ends, strict=True))) / self._unit

    def run(self, gap: float) -> None:
        """Search until the cost is within a share of the bound, or time is up."""
        wanted = max(gap, FLOOR)
        if len(self._product) * len(self._model.targets) > _LARGEST:
            self._by_blocks(wanted)
        else:
            run = SplitRun(self._model, self._product.parents, self._backend, self._clock, listen=self._hear)
            run.run(wanted)
            self._hear(run)

    def _hear(self, run: SplitRun) -> None:
        self.steps = run.steps
        self.bound = max(self.bound, run.bound)
        if run.ends is not None and run.cost < self.cost:
            self.ends, self.safe = self._counted(run.ends), True
        self._listen(self)

    def _counted(self, ends: Ends) -> Ends:
        """Return ends of places as those of columns, in counts."""
        return ends[0][self._place] * self._unit, ends[1][self._place] * self._unit

    def _by_blocks(self, gap: float) -> None:
        """Solve block by block."""
        down, up, bound = np.zeros(len(self._product)), np.zeros(len(self._product)), 0.0
        left = len(self._model.targets)
        for block in blocks_of(self._product, self._model.targets):
            own = self._model.among(block.places, block.members)
            run = SplitRun(own, block.parents, self._backend, self._clock, inner=block.inner)
            run.run(gap)
            self.steps += run.steps
            bound += run.bound
            if run.ends is not None:
                down[block.places], up[block.places] = run.ends
                left -= len(block.members)
            self.bound = max(self.bound, bound)
            self._listen(self)
        self.ends, self.safe = self._counted((down, up)), left == 0
        self._listen(self)


def _model(task: ProtectionProblem, prices: Prices, place: NDArray[np.int64], n: int) -> tuple[Split, float]:
    """Return the model in the places of a product, and the mean level in counts."""
    goals = task.goals
    levels = np.zeros((3, len(task)))
    slides = goals.sliding > goals.up + goals.down
    for level, own in zip(levels, (goals.down, goals.up, np.where(slides, goals.sliding, 0)), strict=True):
        np.maximum.at(level, goals.columns, own)
    targets = np.flatnonzero(levels.any(axis=0))
    unit = float(np.maximum(levels[0] + levels[1], levels[2])[targets].mean())

    def spread(side: NDArray[np.float64], elsewhere: float) -> NDArray[np.float64]:
        out = np.full(n, elsewhere)
        out[place] = side
        return out

    price = unit / 10**task.decimals
    down, up = (np.where(room[0] >= ENDLESS, np.inf, room[0] / unit) for room in (task.down, task.up))
    return Split(
        spread(prices.down * price, 1.0),
        spread(prices.up * price, 1.0),
        spread(down, 0.0),
        spread(up, 0.0),
        place[targets],
        levels[0, targets] / unit,
        levels[1, targets] / unit,
        levels[2, targets] / unit,
    ), unit


@dataclass(eq=False)
class SplitRun:
    """One product of trees at work.

    Parameters
    ----------
    model, parents
        What is searched for in the places of the product, and the product's trees.
    backend, clock
        The solver, and when to stop.
    inner
        Which places may be ranges in the end, None for all; the bound does not rest on it.

    Attributes
    ----------
    ends
        Safe ranges, down and up, None where there are none yet.
    bound
        What any cost at least.
    steps
        How many steps were taken.
    """

    model: Split
    parents: tuple[NDArray[np.int64], ...]
    backend: Backend
    clock: Clock
    inner: NDArray[np.bool_] | None = None
    listen: Callable[[SplitRun], None] = lambda _: None
    ends: Ends | None = None
    steps: int = 0
    bound: float = field(init=False)

    def __post_init__(self) -> None:
        nothing = np.zeros(len(self.model.up))
        self.bound = self.model.weak(nothing, nothing, 0.0)
        self.main = Splitting(self.model, Projector(Product(self.parents, np.zeros(0, dtype=np.int64))))
        self.matrix = relations_of(self.parents)

    @property
    def cost(self) -> float:
        """What the ranges cost."""
        return np.inf if self.ends is None else self.model.cost(*self.ends)

    def run(self, gap: float) -> None:
        """Search until the cost is within a share of the bound, or time is up."""
        wanted = gap * _SHARE
        while not len(self.main.stuck) and (self.clock.left > 0 or not self.steps) and self.steps < _MOST_STEPS:
            self._approach(wanted)
            self._polish(gap)
            self.listen(self)
            if self.bound >= (1 - gap) * self.cost:
                return
            wanted /= 2

    def _approach(self, gap: float) -> None:
        """Go on until the bound is within a share of what the cheapest ranges cost, as far as one can see.

        Where cells are clipped is no safe range yet, but soon costs nearly as much as the cheapest ones.
        """
        tried, last = 0, 1.0
        while (self.clock.left > 0 or self.steps < _FEWEST_STEPS) and self.steps < _MOST_STEPS:
            self.main.advance(2 * _STEPS)
            self.steps += 2 * _STEPS
            cuts, near = self.main.cuts(), self.model.cost(*self.main.clipped)
            self.bound = max(self.bound, scaled_bound(self.model, cuts))
            short = 1 - self.bound / near
            if gap < short and (short <= _PROGRAM * gap or short > _STALL * last) and self.steps >= _AGAIN * tried:
                tried = self.steps
                self.bound = max(self.bound, cut_bound(self.model, cuts, self.backend, self.clock))
            last = short
            self.listen(self)
            if self.bound >= (1 - gap) * near:
                return

    def _polish(self, gap: float) -> None:
        """Go on with the cells that matter only."""
        may = (self.model.down > 0) | (self.model.up > 0)
        may &= True if self.inner is None else self.inner
        wide = np.maximum(*self.main.clipped) > _WIDE
        wide[self.model.targets] = True
        for least in _REACHES:
            places = np.flatnonzero(may & (wide | (np.maximum(*self.main.reach) > least)))
            final = self.main.restricted(places, self.matrix)
            if not len(final.stuck):
                break
            if self.clock.left > 0 and self.steps < _MOST_STEPS:  # soon more cells may matter
                return
        else:
            return
        while final.steps < _POLISH and (self.clock.left > 0 or final.ends is None):
            final.advance(_STEPS)
            if final.ends is None:
                final.tighten()
            if self.bound >= (1 - gap) * final.cost:
                break
        if final.ends is not None and final.cost < self.cost:
            down, up = np.zeros(len(self.model.up)), np.zeros(len(self.model.up))
            down[places], up[places] = final.ends
            self.ends = down, up


def scaled_bound(model: Split, cuts: SplitCuts) -> float:
    """Return a bound from all cuts as they are, scaled in several ways."""
    down, up, worth = cuts.down.sum(axis=1), cuts.up.sum(axis=1), float(cuts.right.sum())
    ratios = [
        cost[room > 0] / np.maximum(total[room > 0], np.finfo(float).tiny)
        for cost, total, room in ((model.down_cost, down, model.down), (model.up_cost, up, model.up))
    ]
    tightest = min(float(ratio.min(initial=1.0)) for ratio in ratios)
    return max(model.weak(down * f, up * f, worth * f) for f in (tightest, *np.linspace(0.9, 1.01, 12)))


def cut_bound(model: Split, cuts: SplitCuts, backend: Backend, clock: Clock) -> float:
    """Return a bound from one linear program over cuts, by weak duality from its duals, whatever their accuracy."""
    useful, slides = np.flatnonzero(cuts.right > 0), np.flatnonzero(model.sliding > 0)
    down, up = np.flatnonzero(model.down > 0), np.flatnonzero(model.up > 0)
    rows = np.hstack([cuts.down[np.ix_(down, useful)].T, cuts.up[np.ix_(up, useful)].T]) / cuts.right[useful, None]
    own = sp.hstack([sp.eye_array(len(model.up)).tocsr()[model.targets[slides]][:, side] for side in (down, up)])
    cost = np.concatenate([model.down_cost[down], model.up_cost[up]])
    scale = float(np.median(cost[cost > 0]))
    separate = np.where(model.sliding > 0, 0.0, 1.0)
    least = np.zeros((2, len(model.up)))
    least[0, model.targets], least[1, model.targets] = model.lower * separate, model.upper * separate
    program = LinearProgram(
        sp.csr_array(sp.vstack([sp.csr_array(np.where(rows > _ENTRY, rows, 0.0)), own])),
        np.concatenate([np.ones(len(useful)), model.sliding[slides]]),
        np.full(len(useful) + len(slides), np.inf),
        np.concatenate([least[0, down], least[1, up]]),
        np.concatenate([model.down[down], model.up[up]]),
        cost / scale,
    )
    solution = backend.open(program).solve(method="dual", time_limit=clock.left)
    if solution.duals is None:
        return -np.inf
    weight = np.maximum(solution.duals[: len(useful)], 0.0) * scale / cuts.right[useful]
    return model.weak(cuts.down[:, useful] @ weight, cuts.up[:, useful] @ weight, float(cuts.right[useful] @ weight))
