"""How a search begins with moves of few cells where a table is a product and no network."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.construction import Construction
from celosia.protection.engine.heuristics.moves.joint_parameters import JOINT_MOVES, JointMoveParameters
from celosia.protection.engine.heuristics.moves.joint_search import (
    JointMovePattern,
    JointMoveSearch,
    is_worth_joint_moves,
)
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
from celosia.protection.engine.heuristics.neighbourhood import split_sliding_levels
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.engine.subproblems.requirements import split_sides
from celosia.solve.deadline import DeadlineError

if TYPE_CHECKING:
    from celosia.attack.subproblems.proposals import ProposedWitnesses
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.stop import Stop

Accept = Callable[[NDArray[np.bool_]], object]
"""Takes a safe pattern where it is the best so far."""


def begin_with_moves(
    separator: Separator, stop: Stop, accept: Accept, parameters: EngineParameters = PARAMETERS
) -> MoveSearch | None:
    """Find a first pattern by moves, improve it by pivots and swaps, and have both accepted.

    Requirements that no move serves are left to least-cost programs.

    Parameters
    ----------
    separator
        The requirements.
    stop
        When to end.
    accept
        Takes the patterns.
    parameters
        How much effort moves are worth.

    Returns
    -------
    MoveSearch or None
        The search with the witnesses of the last pattern; None where no pattern was found.
    """
    until, best = np.inf, None

    def late() -> bool:
        return stop.left <= 0 or stop.clock.seconds > until

    for price in parameters.moves.cell_prices:
        search = MoveSearch(separator.problem, late, parameters.moves, cell_price=price)
        search.find_first()
        search.drop_unsound()
        if not _complete(search, separator, late, parameters):
            break
        if best is None:
            accept(search.pattern)
            until = stop.clock.seconds + parameters.moves.share * stop.left
        search.clean_up()
        best = search if best is None or search.cost < best.cost else best
    if best is not None:
        accept(best.pattern)
    return best


def improve_by_joint_moves(
    first: MoveSearch,
    separator: Separator,
    stop: Stop,
    accept: Accept,
    random: np.random.Generator,
    parameters: EngineParameters = PARAMETERS,
    joint_moves: JointMoveParameters = JOINT_MOVES,
) -> ProposedWitnesses | None:
    """Improve a first pattern by joint moves, and have better ones accepted.

    Parameters
    ----------
    first
        What found the first pattern.
    separator, stop, accept, parameters
        As in `begin_with_moves`.
    random
        The random numbers.
    joint_moves
        How much effort joint moves are worth.

    Returns
    -------
    ProposedWitnesses or None
        The witnesses of the last pattern, by columns; None where none is better than the first.
    """
    if not is_worth_joint_moves(separator.problem, joint_moves):
        return None
    end = stop.clock.seconds + joint_moves.share * stop.left

    def left() -> float:
        return min(stop.left, end - stop.clock.seconds)

    def restart(price: float) -> MoveSearch:
        return MoveSearch(separator.problem, lambda: left() <= 0, parameters.moves, cell_price=price)

    jointly = JointMoveSearch(separator.problem, first, restart, separator.backend, random, left, joint_moves)
    found = _accept_last(jointly, stop, accept)
    return None if found is None else found.propose(separator.problem.decimals)


def _accept_last(search: JointMoveSearch, stop: Stop, accept: Accept) -> JointMovePattern | None:
    """Have all patterns of joint moves accepted while there is time; return the last and best, None for none."""
    best = None
    with contextlib.suppress(DeadlineError, TimeUpError):
        for best in search.patterns():
            accept(best.hidden)
            stop.check()
    return best


def _complete(search: MoveSearch, separator: Separator, late: Callable[[], bool], parameters: EngineParameters) -> bool:
    """Hide more for requirements that no move serves, by least-cost programs; return whether all are met then."""
    missed = search.missed
    if not len(missed):
        return True
    problem, builder = separator.problem, separator.builder
    sides = split_sides(problem.requirements)
    asked = split_sliding_levels(sides.take(np.isin(sides.requirements, missed)), builder)
    everything = np.arange(len(problem))
    construction = Construction.of(builder, asked, everything, separator.backend, parameters.heuristics)
    order = np.argsort(-asked.levels, kind="stable")
    built = construction.construct(search.pattern, problem.cost, order, late)
    if built is None:
        return False
    search.keep_hidden(built.pattern)
    return True
