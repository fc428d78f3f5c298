"""Patterns of product tables that clear all respondents at once, by moves of few cells.

Whoever attacks a target in one leaf cell knows at most what the largest of the others contribute to every leaf. A move
of the target's cell that leaves that much untouched everywhere clears him of all coalitions at once
(`celosia.attack.respondents.targets.CellTarget.clears`). Where respondents attack alone, leaves are given colours, all
leaves of a respondent the same, and a target has one move a colour that leaves that much untouched in leaves of this
colour: whoever attacks, one of the moves clears the target of him (`CellTarget.is_cleared_by_proposals`). That is more
than is needed, so bounds do not use it; but such moves are found without a linear program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.respondents.problem import RespondentProblem, respondent_problem
from celosia.attack.respondents.targets import CellTarget, find_targets
from celosia.attack.system.decomposition import decompose
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import publish
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch, Wishes, is_worth_moves
from celosia.protection.engine.parameters import PARAMETERS, MoveParameters
from celosia.protection.engine.problem import problem_of
from celosia.protection.respondents.parameters import RESPONDENTS, RespondentParameters
from celosia.risk.respondents.rules import criteria_of
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
    from celosia.risk.risk import Risk
    from celosia.risk.rules.contributor_rules import RespondentRule


def find_clear_pattern(
    risk: Risk,
    rules: tuple[RespondentRule, ...],
    run: Run,
    parameters: MoveParameters = PARAMETERS.moves,
    clearance: RespondentParameters = RESPONDENTS,
) -> tuple[NDArray[np.bool_], ProposedWitnesses] | None:
    """Return cells to hide so that moves clear all respondents, and these moves; None where that is not to be had.

    Tables that are no products, small, or networks have quicker ways.
    """
    problem = problem_of(risk, integer=run.integer)
    if not is_worth_moves(problem, parameters):
        return None
    if bool(decompose(problem.system(np.arange(len(problem)))).network.all()):
        return None
    end, best = np.inf, None

    def late() -> bool:
        return run.clock.left <= 0 or run.clock.seconds > end

    for number in range(clearance.restarts):
        wishes = list(wish_for_clearance(risk, rules, problem, run, clearance.colours, run.seed + number))
        price = clearance.cell_prices[number % len(clearance.cell_prices)]
        search = MoveSearch(problem, late, parameters, wishes, price)
        search.find_first()
        search.drop_unsound()
        if len(search.missed) or search.unserved:
            break
        end = run.clock.seconds + clearance.clearance_share * run.clock.left if best is None else end
        search.clean_up()
        best = search if best is None or _is_better(search, best, clearance.nearly) else best
    if best is None:
        return None
    hidden = np.isin(risk.status, (SENSITIVE, HIDE))
    hidden[problem.cells[np.flatnonzero(best.pattern)]] = True
    return hidden, best.propose().of_cells(problem.cells)


def _is_better(one: MoveSearch, other: MoveSearch, nearly: float) -> bool:
    """Return whether a pattern is much cheaper than another, or hides fewer cells where costs are nearly the same."""
    if abs(one.cost - other.cost) > nearly * max(one.cost, other.cost):
        return one.cost < other.cost
    return (int(one.pattern.sum()), one.cost) < (int(other.pattern.sum()), other.cost)


def wish_for_clearance(
    risk: Risk, rules: tuple[RespondentRule, ...], problem: ProtectionProblem, run: Run, colours: int, seed: int
) -> Iterator[Wishes]:
    """Yield the moves that clear the worst target of every leaf of all coalitions, by rules and colours."""
    everything = publish(Pattern.hide(risk.table, risk.status != SHOW))
    place_of = np.full(len(risk), -1, dtype=np.int64)
    place_of[problem.cells] = np.arange(len(problem))
    for one in criteria_of(risk.table, rules):
        attacked = respondent_problem(risk.table, everything, one.respondents, one.knowledge, backends()[0], run.clock)
        coalition = min(one.knowledge.coalition, len(one.respondents) - 1)
        colour = _colour_leaves(one.respondents, colours if coalition == 1 else 1, seed)
        for own in np.unique(colour).tolist():
            yield _wish(attacked, coalition, colour == own, problem, place_of)


def _colour_leaves(respondents: Respondents, colours: int, seed: int) -> NDArray[np.int64]:
    """Return a colour for every leaf, drawn at random, the same for all leaves of a respondent, ``(k,)``."""
    part, _ = label_components(sp.csr_array(respondents.sizes))
    return np.random.default_rng(seed).integers(0, colours, int(part.max(initial=0)) + 1)[part]


def _wish(
    attacked: RespondentProblem,
    coalition: int,
    spared: NDArray[np.bool_],
    problem: ProtectionProblem,
    place_of: NDArray[np.int64],
) -> Wishes:
    """Return the moves of all targets that leave untouched what the largest contribute to some leaves, ``(k,)``."""
    system = attacked.system
    levels: dict[int, int] = {}
    for group in find_targets(attacked, coalition):
        target = group[0]
        if isinstance(target, CellTarget):
            others = [size for size, place in attacked.contributors[target.leaf] if place != target.place]
            level = target.level_of(sum(others[:coalition]))
            cell = int(attacked.respondents.leaves[target.leaf])
            if level > 0 and place_of[cell] >= 0:
                levels[cell] = max(level, levels.get(cell, 0))
    largest = attacked.largest_sums(coalition)
    taken = {leaf: int(largest[leaf]) for leaf in np.flatnonzero(spared).tolist()}
    bounds = []
    for own in attacked.bounds(taken):
        bound = np.zeros(len(problem), dtype=np.int64)
        known = place_of[system.cells] >= 0
        bound[place_of[system.cells[known]]] = _in_counts(own[known], system.decimals, problem.decimals)
        bounds.append(bound)
    cells = np.array(list(levels), dtype=np.int64)
    wanted = -_in_counts(-np.array(list(levels.values()), dtype=np.int64), system.decimals, problem.decimals)
    return Wishes(place_of[cells], wanted, *bounds)


def _in_counts(numbers: NDArray[np.int64], decimals: int, wanted: int) -> NDArray[np.int64]:
    """Return counts in another decimal, rounded down; what has no end has none."""
    if decimals > wanted:
        return np.where(numbers >= ENDLESS, ENDLESS, numbers // 10 ** (decimals - wanted))
    return np.where(numbers >= ENDLESS // 10 ** (wanted - decimals), ENDLESS, numbers * 10 ** (wanted - decimals))
