"""The width model by splitting: from products of trees to widths that are zero nearly everywhere, with a bound.

Splitting finds widths that are tiny, not zero, in every cell. So it is run again on the cells that matter, which makes
the others exactly zero; and its multipliers, taken together as cuts in one linear program, raise the bound.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protect.extending import extended
from celosia.protect.product import Product, relations_of
from celosia.protect.splitting import Projector, Rooms, Split, Splitting
from celosia.protect.widths import WidthTask
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram

FLOOR = 1e-3
"""Splitting comes within this share of the bound in reasonable time; for less there are cuts."""

LARGEST = 30_000_000
"""Products with more cells times targets are solved by blocks: splitting keeps four numbers for each."""

_STEPS = 25
"""Widths are looked at every so many steps, bounds every second time."""

_MOST_STEPS = 4000
"""Splitting ends after so many steps at the latest."""

_POLISH = 500
"""So many steps are taken to make widths zero."""

_REFIT = 3000
_STALL = 2e-4
"""Within narrower limits the search ends after so many steps, or when a hundred of them gain less than this share."""

_SHARE = 0.7
"""How much of the gap is left to the first run; the rest is for making widths zero."""

_PROGRAM = 4.0
"""A linear program over the cuts is worth its time when the gap is so many times what is asked for."""

_AGAIN = 1.3
"""The next one is tried after so many times as many steps."""

_WIDE = 1e-6
"""Cells that are clipped at less than this, in mean levels, need no width."""

_ENTRY = 1e-8
"""Smaller coefficients of cuts are raised to this: solvers drop such entries."""

_STIFF, _SOFT = 1.6, 0.4
"""The penalty for costs that differ much from cell to cell, and for those that do not."""

_SPREAD = 10.0
"""Costs that differ by more than this factor differ much."""


class SplitSearch:
    """The width model of a product of trees, in one piece or by blocks, true at any moment.

    Blocks are the leaves below one parent in every dimension, with their margins. Their own relations alone demand
    less than all together, and blocks share no cell: so their bounds add up. Moves that leave margins alone leave all
    other relations alone: so their widths add up, too.

    Parameters
    ----------
    task, product
        The width model, and the product that its table is.
    backend, clock, listen
        The solver, when to stop, and who hears of better bounds and widths.

    Attributes
    ----------
    widths, bound, impossible
        The cheapest safe widths so far, None where there are none; no safe widths cost less; targets that none protect.
    steps
        How many steps were taken.
    """

    def __init__(
        self,
        task: WidthTask,
        product: Product,
        backend: Backend,
        clock: Clock,
        listen: Callable[[SplitSearch], None] = lambda _: None,
    ) -> None:
        self.task = task
        self.widths: NDArray[np.float64] | None = None
        self.bound = float(task.cost @ task.least)
        self.impossible: list[int] = []
        self.steps = 0
        self._backend, self._clock, self._listen = backend, clock, listen
        self._product = product
        self._place = product.place[task.task.cells]
        self._runs: list[tuple[SplitRun, NDArray[np.int64]]] = []

    @property
    def cost(self) -> float:
        """What the best widths cost, infinite where there are none."""
        return np.inf if self.widths is None else self.task.price(self.widths)

    def run(self, gap: float) -> None:
        """Search until the cost is within a share of the bound, or time is up."""
        wanted = max(gap, FLOOR)
        if len(self._product) * len(self.task.targets) > LARGEST:
            self._by_blocks(wanted)
        else:
            run = SplitRun(self._model(), self._product.parents, self._backend, self._clock, listen=self._hear)
            self._runs = [(run, np.arange(len(self._product)))]
            run.run(wanted)
            self._hear(run)

    def placed(self) -> NDArray[np.float64] | None:
        """Return safe widths that can be placed, from where the search has come to; None where it finds none."""
        if self.widths is None:
            return None
        n = len(self._product)
        found, down, up = np.zeros(n), np.zeros(n), np.zeros(n)
        found[self._place], (down[self._place], up[self._place]) = self.widths, self.task.rooms
        for run, places in self._runs:
            if bool((found[places] / 2 > np.minimum(down, up)[places]).any()):
                own = run.placed((down[places], up[places]))
                if own is None:
                    return None
                found[places] = own
        return found[self._place]

    def _model(self) -> Split:
        """Return the width model in the places of the product."""
        n, task = len(self._product), self.task
        cost, most, floor = np.ones(n), np.zeros(n), np.zeros(n)
        cost[self._place], most[self._place], floor[self._place] = task.cost, task.most, task.least
        return Split(cost, most, self._place[task.targets], task.levels, floor)

    def _hear(self, run: SplitRun) -> None:
        self.steps = run.steps
        self.bound = max(self.bound, run.bound)
        if run.widths is not None and run.cost < self.cost:
            self.widths = run.widths[self._place]
        self._listen(self)

    def _by_blocks(self, gap: float) -> None:
        """Solve block by block; targets that are in none are protected one by one at the end."""
        model = self._model()
        widths, bound, rest = np.zeros(len(self._product)), 0.0, np.ones(len(self.task.targets), dtype=bool)
        for block in blocks_of(self._product, model.targets):
            own = Split(
                model.cost[block.places],
                model.most[block.places],
                block.targets,
                model.levels[block.members],
                model.floor[block.places],
            )
            run = SplitRun(own, block.parents, self._backend, self._clock, inner=block.inner)
            self._runs.append((run, block.places))
            run.run(gap)
            self.steps += run.steps
            bound += max(run.bound, float(own.cost @ own.least))
            if run.widths is not None:
                widths[block.places] = run.widths
                rest[block.members] = False
            self.bound = max(self.bound, bound)
            self._listen(self)
        found = np.maximum(widths[self._place], np.where(rest.any(), 0.0, self.task.least))
        if bool(rest.any()):
            found, self.impossible = extended(self.task, found, np.flatnonzero(rest), self._backend)
        if not self.impossible:
            self.widths = found
        self._listen(self)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Leaves below one parent in every dimension, with their margins.

    Parameters
    ----------
    places
        The cells in the product, ``(k,)``.
    parents
        The block's own trees: a total and its parts in every dimension.
    inner
        Which cells are no margins, ``(k,)``.
    members, targets
        Which targets lie in it, and where.
    """

    places: NDArray[np.int64]
    parents: tuple[NDArray[np.int64], ...]
    inner: NDArray[np.bool_]
    members: NDArray[np.int64]
    targets: NDArray[np.int64]


def blocks_of(product: Product, targets: NDArray[np.int64]) -> list[Block]:
    """Return the blocks in which targets lie that are leaves among leaves in every dimension.

    Guarantee: no cell is in two blocks, and inner cells are leaves, so a move among them that leaves the block's
    margins alone satisfies every relation of the product.
    """
    coordinates = np.unravel_index(targets, product.sizes)
    keys = np.stack([own[node] for own, node in zip(product.parents, coordinates, strict=True)], axis=1)
    good = np.all(keys >= 0, axis=1)
    for axis, parent in enumerate(product.parents):
        inside = np.zeros(len(parent) + 1, dtype=bool)  # the last for -1
        inside[parent[parent >= 0]] = True
        mixed = np.zeros(len(parent) + 1, dtype=bool)
        np.logical_or.at(mixed, parent[1:], inside[np.arange(1, len(parent))])
        good &= ~mixed[keys[:, axis]]
    blocks = []
    for key in np.unique(keys[good], axis=0):
        members = np.flatnonzero(good & np.all(keys == key, axis=1))
        nodes = [
            np.concatenate([[own], np.flatnonzero(parent == own)])
            for own, parent in zip(key.tolist(), product.parents, strict=True)
        ]
        places = np.ravel_multi_index(np.ix_(*nodes), product.sizes).ravel()
        inner = np.ones(1, dtype=bool)
        for own in nodes:
            inner = np.logical_and.outer(inner, np.arange(len(own)) > 0).ravel()
        order = np.argsort(places)
        blocks.append(
            Block(
                places,
                tuple(np.concatenate([[-1], np.zeros(len(own) - 1)]).astype(np.int64) for own in nodes),
                inner,
                members,
                order[np.searchsorted(places[order], targets[members])],
            )
        )
    return blocks


@dataclass(eq=False)
class SplitRun:
    """One product of trees at work.

    Parameters
    ----------
    model, parents
        The width model in the places of the product, and the product's trees.
    backend, clock
        The solver, and when to stop.
    inner
        Which places may be wide in the end, None for all; the bound does not rest on it.

    Attributes
    ----------
    widths
        Safe widths, None where there are none yet.
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
    widths: NDArray[np.float64] | None = None
    bound: float = -np.inf
    steps: int = 0

    def __post_init__(self) -> None:
        product = Product(self.parents, np.zeros(0, dtype=np.int64))
        spread = self.model.cost[self.model.most > 0]
        low, high = np.quantile(spread, [0.1, 0.9]) if len(spread) else (1.0, 1.0)
        stiffness = _STIFF if high > _SPREAD * low else _SOFT
        self.main = Splitting(self.model, Projector(product, len(self.model.targets)), stiffness)
        self.matrix = relations_of(self.parents)

    @property
    def cost(self) -> float:
        """What the widths cost."""
        return np.inf if self.widths is None else float(self.model.cost @ self.widths)

    def run(self, gap: float) -> None:
        """Search until the cost is within a share of the bound, or time is up."""
        if len(self.main.stuck):
            return
        wanted = gap * _SHARE
        while self.clock.left > 0 and self.steps < _MOST_STEPS:
            self._approach(wanted)
            self._polish(gap)
            self.listen(self)
            if self.bound >= (1 - gap) * self.cost:
                return
            wanted /= 2

    def _approach(self, gap: float) -> None:
        """Go on until widths that are tiny in places are within a share of the bound."""
        tried = 0
        while self.clock.left > 0 and self.steps < _MOST_STEPS:
            self.main.advance(2 * _STEPS)
            self.steps += 2 * _STEPS
            size, theta = self.main.multipliers()
            self.bound = max(self.bound, self.main.bound(size, theta))
            near = self._approached
            if (
                self.bound < (1 - gap) * near
                and self.bound >= (1 - _PROGRAM * gap) * near
                and self.steps >= _AGAIN * tried
            ):
                tried = self.steps
                self.bound = max(self.bound, cut_bound(self.model, size, theta, self.backend))
            self.listen(self)
            if self.bound >= (1 - gap) * near:
                return

    @property
    def _approached(self) -> float:
        """What widths would cost that are a little beyond the greatest ones, at worst."""
        return float(self.model.cost @ np.minimum(np.maximum(self.main.reach, self.model.least), self.model.most))

    def placed(self, rooms: Rooms) -> NDArray[np.float64] | None:
        """Return widths of ranges that can be placed in an attacker's rooms, None where none are found soon."""
        keep = ((self.main.tau > _WIDE) & (self.model.most > 0)) | (self.model.least > 0)
        places = np.flatnonzero(keep & (True if self.inner is None else self.inner))
        final = self.main.restricted(places, self.matrix, rooms)
        if len(final.stuck):
            return None
        last = np.inf
        while final.steps < _REFIT and (self.clock.left > 0 or final.widths is None):
            final.advance(4 * _STEPS)
            if final.cost > (1 - _STALL) * last and final.cost < np.inf:
                break
            last = final.cost
        if final.widths is None:
            return None
        out = np.zeros(len(self.model.cost))
        out[places] = final.widths
        return out

    def _polish(self, gap: float) -> None:
        """Go on with the cells that matter only."""
        keep = ((self.main.tau > _WIDE) & (self.model.most > 0)) | (self.model.least > 0)
        if self.inner is not None:
            keep &= self.inner
        places = np.flatnonzero(keep)
        final = self.main.restricted(places, self.matrix)
        if len(final.stuck):
            places = np.flatnonzero((self.model.most > 0) & (True if self.inner is None else self.inner))
            final = self.main.restricted(places, self.matrix)
        if len(final.stuck):
            return
        while final.steps < _POLISH and (self.clock.left > 0 or final.widths is None):
            final.advance(_STEPS)
            if self.bound >= (1 - gap) * final.cost:
                break
        if final.widths is not None and final.cost < self.cost:
            self.widths = np.zeros(len(self.model.cost))
            self.widths[places] = final.widths


def cut_bound(model: Split, size: NDArray[np.float64], theta: NDArray[np.float64], backend: Backend) -> float:
    """Return a bound from one linear program over cuts, by weak duality from its duals, whatever their accuracy."""
    useful = np.flatnonzero(theta > 0)
    columns = np.flatnonzero(model.most > 0)
    rows = np.maximum(size[np.ix_(columns, useful)].T / theta[useful, None], _ENTRY)
    scale = float(np.median(model.cost[columns][model.cost[columns] > 0]))
    program = LinearProgram(
        sp.csr_array(rows),
        model.levels[useful],
        np.full(len(useful), np.inf),
        model.least[columns],
        model.most[columns],
        model.cost[columns] / scale,
    )
    solution = backend.open(program).solve(method="dual")
    if solution.duals is None:
        return -np.inf
    weight = np.maximum(solution.duals, 0.0) * scale
    reduced = model.cost[columns] - rows.T @ weight
    worth = float(weight @ model.levels[useful])
    short = reduced < 0
    if bool(np.isinf(model.most[columns][short]).any()):
        return -np.inf
    low = float(reduced[short] @ model.most[columns][short])
    high = float(np.maximum(reduced, 0.0) @ model.least[columns])
    return worth + low + high - 1e-9 * (worth - low + high)
