"""Patterns of product tables that clear all respondents at once, by moves of few cells.

Whoever attacks a target in one leaf cell knows at most what the largest of the others contribute to every leaf. A move
of the target's cell that leaves that much untouched everywhere clears him of all coalitions at once
(`celosia.attack.respondents.targets.CellTarget.clears`). Where respondents attack alone, leaves are given colours, all
leaves of a respondent the same, and a target has one move a colour that leaves that much untouched in leaves of this
colour: whoever attacks, one of the moves clears the target of him (`CellTarget.is_cleared_by_proposals`). That is more
than is needed, so bounds do not use it; but such moves are found without a linear program.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.respondents.problem import RespondentProblem, respondent_problem
from celosia.attack.respondents.targets import CellTarget, find_targets
from celosia.attack.system.decomposition import decompose
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import publish
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch, MoveWishes
from celosia.protection.engine.heuristics.moves.suitability import is_worth_moves
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters, MoveParameters
from celosia.protection.engine.problem import problem_of
from celosia.protection.respondents.parameters import RESPONDENTS, RespondentParameters
from celosia.risk.risk import HIDE, SENSITIVE, SHOW
from celosia.solve.registry import backends
from celosia.table.relations import label_components
from celosia.tolerance import ENDLESS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celosia.attack.subproblems.proposals import ProposedWitnesses
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.protection.run import Run
    from celosia.risk.respondents.knowledge import Respondents
    from celosia.risk.respondents.rules import Criterion
    from celosia.risk.risk import Risk


def find_clear_patterns(
    risk: Risk,
    criteria: tuple[Criterion, ...],
    run: Run,
    parameters: EngineParameters = PARAMETERS,
    clearance: RespondentParameters = RESPONDENTS,
) -> Iterator[tuple[NDArray[np.bool_], ProposedWitnesses]]:
    """Yield cells to hide so that moves clear all respondents, and these moves; nothing where that is not to be had.

    Tables that are no products, small, or networks have quicker ways. Where a table is too large for cutting planes the
    best of several further patterns follows, and then a still better one: whoever takes the first for unsafe, or has
    other use for the time, need not wait for them.
    """
    if any(bool((one.respondents.leaves >= len(risk)).any()) for one in criteria):
        return  # linked tables are no products
    problem = problem_of(risk, integer=run.integer)
    if not is_worth_moves(problem, parameters.moves):
        return
    if bool(decompose(problem.system(np.arange(len(problem)))).network.all()):
        return
    asked = tuple(Clearance.of(one, risk, problem, run) for one in criteria)
    search = _ClearSearch(risk, asked, run, problem, parameters.moves, clearance)
    first = search.find(0, parameters.moves.share)
    if first is None:
        return
    yield search.describe(first)
    if 2 * len(problem) * len(problem.requirements) < parameters.many_subproblems:
        return
    best, cost = first, first.cost
    for share, restarts in ((clearance.clearance_share, clearance.restarts), (clearance.last_share, 1)):
        best = search.find_better(best, share, restarts)
        if best is not first or best.cost < cost:
            yield search.describe(best)
        cost = best.cost


@dataclass(frozen=True, slots=True, eq=False)
class _ClearSearch:
    """Finds patterns of one problem that clear all respondents."""

    risk: Risk
    asked: tuple[Clearance, ...]
    run: Run
    problem: ProtectionProblem
    moves: MoveParameters
    clearance: RespondentParameters

    def find(self, number: int, share: float) -> MoveSearch | None:
        """Return a pattern with other colours for every number, improved in a share of the time; None for none."""
        clock, prices, end = self.run.clock, self.clearance.cell_prices, np.inf
        seed, colours = self.run.seed + number, self.clearance.colours
        wishes = [wish for one in self.asked for wish in one.wish(len(self.problem), colours, seed)]
        search = MoveSearch(
            self.problem,
            lambda: clock.left <= 0 or clock.seconds > end,
            self.moves,
            wishes,
            prices[number % len(prices)],
        )
        search.find_first()
        search.drop_unsound()
        if len(search.missed) or search.unserved:
            return None
        end = clock.seconds + share * clock.left
        search.clean_up()
        return search

    def find_better(self, best: MoveSearch, share: float, restarts: int) -> MoveSearch:
        """Return the best of several patterns, a known one among them, shaken until a share of the time is up."""
        clock, began, p = self.run.clock, self.run.clock.seconds, self.clearance
        seconds = share * clock.left
        for number in range(1, restarts):
            if clock.seconds >= began + p.restart_share * seconds or clock.left <= 0:
                break
            found = self.find(number, min(1.0, (began + seconds - clock.seconds) / clock.left))
            if found is not None and _is_better(found, best, p.nearly):
                best = found
        self._shake(best, began + seconds)
        return best

    def _shake(self, best: MoveSearch, end: float) -> None:
        """Shake a pattern until the time is up, or nothing has come loose for long."""
        clock, random, idle = self.run.clock, np.random.default_rng(self.run.seed), 0
        known, cost = best.copied_witnesses, best.cost

        def late() -> bool:
            return clock.left <= 0 or clock.seconds > end

        while idle < self.clearance.most_idle and not late():
            best.shake(random, self.clearance.spread, late)
            idle += 1
            if best.cost < cost:
                known, cost, idle = best.copied_witnesses, best.cost, 0
        best.go_back(known)

    def describe(self, search: MoveSearch) -> tuple[NDArray[np.bool_], ProposedWitnesses]:
        """Return the cells of the table that a pattern hides, and its moves of them."""
        hidden, cells = np.isin(self.risk.status, (SENSITIVE, HIDE)), self.problem.cells
        hidden[cells[np.flatnonzero(search.pattern)]] = True
        return hidden, search.propose().of_cells(cells)


def _is_better(one: MoveSearch, other: MoveSearch, nearly: float) -> bool:
    """Return whether a pattern is much cheaper than another, or hides fewer cells where costs are nearly the same."""
    if abs(one.cost - other.cost) > nearly * max(one.cost, other.cost):
        return one.cost < other.cost
    return (int(one.pattern.sum()), one.cost) < (int(other.pattern.sum()), other.cost)


@dataclass(frozen=True, slots=True, eq=False)
class Clearance:
    """What clears the worst target of every leaf of all coalitions by one rule.

    Parameters
    ----------
    attacked
        The respondents, where everything is hidden that may be.
    coalition
        How many of them work together.
    columns, levels
        The targets' columns, and how far they must move, in counts of the problem, ``(w,)`` each.
    place_of
        The column of every cell of the table, -1 for those without, ``(n_cells,)``.
    decimals
        The decimal of the problem.
    """

    attacked: RespondentProblem
    coalition: int
    columns: NDArray[np.int64]
    levels: NDArray[np.int64]
    place_of: NDArray[np.int64]
    decimals: int

    @classmethod
    def of(cls, one: Criterion, risk: Risk, problem: ProtectionProblem, run: Run) -> Clearance:
        """Return what a criterion asks of a problem."""
        everything = publish(Pattern.hide(risk.table, risk.status != SHOW))
        place_of = np.full(len(risk), -1, dtype=np.int64)
        place_of[problem.cells] = np.arange(len(problem))
        attacked = respondent_problem(risk.table, everything, one.respondents, one.knowledge, backends()[0], run.clock)
        coalition = min(one.knowledge.coalition, len(one.respondents) - 1)
        levels = _levels_of_cells(attacked, coalition)
        cells = np.array([cell for cell in levels if place_of[cell] >= 0], dtype=np.int64)
        counts = np.array([levels[cell] for cell in cells.tolist()], dtype=np.int64)
        wanted = -_in_counts(-counts, attacked.system.decimals, problem.decimals)
        return cls(attacked, coalition, place_of[cells], wanted, place_of, problem.decimals)

    def wish(self, n: int, colours: int, seed: int) -> Iterator[MoveWishes]:
        """Yield the moves that clear all targets, one wish a colour, for a problem of n columns."""
        colour = _colour_leaves(self.attacked.respondents, colours if self.coalition == 1 else 1, seed)
        for own in np.unique(colour).tolist():
            yield MoveWishes(self.columns, self.levels, *self._bounds(colour == own, n))

    def _bounds(self, spared: NDArray[np.bool_], n: int) -> Iterator[NDArray[np.int64]]:
        """Yield how far columns go up, and down, without what the largest contribute to some leaves, ``(k,)``."""
        system, largest = self.attacked.system, self.attacked.largest_sums(self.coalition)
        taken = {leaf: int(largest[leaf]) for leaf in np.flatnonzero(spared).tolist()}
        known = self.place_of[system.cells] >= 0
        for own in self.attacked.bounds(taken):
            bound = np.zeros(n, dtype=np.int64)
            bound[self.place_of[system.cells[known]]] = _in_counts(own[known], system.decimals, self.decimals)
            yield bound


def _levels_of_cells(attacked: RespondentProblem, coalition: int) -> dict[int, int]:
    """Return how far cells must move to clear their worst targets of all coalitions, by cell of the table."""
    levels: dict[int, int] = {}
    for group in find_targets(attacked, coalition):
        target = group[0]
        if isinstance(target, CellTarget):
            others = [size for size, place in attacked.contributors[target.leaf] if place != target.place]
            level = target.level_of(sum(others[:coalition]))
            cell = int(attacked.respondents.leaves[target.leaf])
            if level > 0:
                levels[cell] = max(level, levels.get(cell, 0))
    return levels


def _colour_leaves(respondents: Respondents, colours: int, seed: int) -> NDArray[np.int64]:
    """Return a colour for every leaf, drawn at random, the same for all leaves of a respondent, ``(k,)``."""
    part, _ = label_components(sp.csr_array(respondents.sizes))
    return np.random.default_rng(seed).integers(0, colours, int(part.max(initial=0)) + 1)[part]


def _in_counts(numbers: NDArray[np.int64], decimals: int, wanted: int) -> NDArray[np.int64]:
    """Return counts in another decimal, rounded down; what has no end has none."""
    if decimals > wanted:
        return np.where(numbers >= ENDLESS, ENDLESS, numbers // 10 ** (decimals - wanted))
    return np.where(numbers >= ENDLESS // 10 ** (wanted - decimals), ENDLESS, numbers * 10 ** (wanted - decimals))
