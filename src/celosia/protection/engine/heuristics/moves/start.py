"""How a search begins with moves of few cells where a table is a product and no network."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.protection.engine.decomposition.block_search import BlockSearch, BlockUnion
from celosia.protection.engine.heuristics.construction import Construction
from celosia.protection.engine.heuristics.moves.joint_parameters import JOINT_MOVES, JointMoveParameters
from celosia.protection.engine.heuristics.moves.joint_search import (
    JointMovePattern,
    JointMoveSearch,
    is_worth_blocks,
    is_worth_joint_moves,
)
from celosia.protection.engine.heuristics.moves.pattern import MoveSearch
from celosia.protection.engine.heuristics.neighbourhood import split_sliding_levels
from celosia.protection.engine.parameters import PARAMETERS, EngineParameters
from celosia.protection.engine.stop import TimeUpError
from celosia.protection.engine.subproblems.requirements import split_sides
from celosia.solve.deadline import DeadlineError

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.problem import ProtectionProblem
    from celosia.protection.engine.stop import Stop

Accept = Callable[[NDArray[np.bool_], Callable[[], ProposedWitnesses]], object]
"""Takes a safe pattern where it is the best so far, and what makes its witnesses, by columns, on demand."""


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

    def left() -> float:
        return min(stop.left, until - stop.clock.seconds)

    def late() -> bool:
        return left() <= 0

    small = len(separator.problem) <= parameters.moves.most_priced_twice
    for price in parameters.moves.cell_prices[: None if small else 1]:
        search = MoveSearch(separator.problem, late, parameters.moves, cell_price=price)
        search.find_first()
        search.drop_unsound()
        if not _complete(search, separator, left, parameters):
            break
        if best is None:
            accept(search.pattern, search.propose)
            until = stop.clock.seconds + parameters.moves.share * stop.left
        search.clean_up()
        best = search if best is None or search.cost < best.cost else best
    if best is not None:
        accept(best.pattern, best.propose)
    return best


def improve_by_joint_moves(
    first: MoveSearch,
    separator: Separator,
    stop: Stop,
    accept: Accept,
    seed: int,
    parameters: EngineParameters = PARAMETERS,
    joint_moves: JointMoveParameters = JOINT_MOVES,
    executor: Executor | None = None,
) -> None:
    """Improve a first pattern by joint moves, and have better ones accepted; a large one block by block.

    Parameters
    ----------
    first
        What found the first pattern.
    separator, stop, accept, parameters
        As in `begin_with_moves`.
    seed
        Of the random numbers.
    joint_moves
        How much effort joint moves are worth.
    executor
        Whose workers improve the blocks of a large pattern; None for one block after the other.
    """
    problem, backend = separator.problem, separator.backend
    end = stop.clock.seconds + joint_moves.share * stop.left

    def left() -> float:
        return min(stop.left, end - stop.clock.seconds)

    def restart(price: float) -> MoveSearch:
        return MoveSearch(problem, lambda: left() <= 0, parameters.moves, cell_price=price)

    if is_worth_blocks(problem, joint_moves):
        blocks = BlockSearch(problem, first, backend, seed, left, executor, parameters.moves, joint_moves)
        _accept_each(blocks.patterns(), problem, stop, accept)
    elif is_worth_joint_moves(problem, joint_moves):
        random = np.random.default_rng(seed)
        jointly = JointMoveSearch(problem, first, restart, backend, random, left, joint_moves)
        _accept_each(jointly.patterns(), problem, stop, accept)


def _accept_each(
    patterns: Iterable[JointMovePattern | BlockUnion], problem: ProtectionProblem, stop: Stop, accept: Accept
) -> None:
    """Have patterns accepted, each with its witnesses, while there is time."""
    with contextlib.suppress(DeadlineError, TimeUpError):
        for found in patterns:
            accept(found.hidden, partial(found.propose, problem.decimals))
            stop.check()


def _complete(
    search: MoveSearch, separator: Separator, left: Callable[[], float], parameters: EngineParameters
) -> bool:
    """Hide more for requirements that no move serves, by programs; return whether all are met then."""
    search.serve_by_windows(separator.backend, left)
    missed = search.missed
    problem, builder = separator.problem, separator.builder
    if not len(missed) or len(problem) > parameters.heuristics.most_built:
        return not len(missed)
    sides = split_sides(problem.requirements)
    asked = split_sliding_levels(sides.take(np.isin(sides.requirements, missed)), builder)
    everything = np.arange(len(problem))
    construction = Construction.of(builder, asked, everything, separator.backend, parameters.heuristics)
    order = np.argsort(-asked.levels, kind="stable")
    built = construction.construct(search.pattern, problem.cost, order, lambda: left() <= 0)
    if built is None:
        return False
    search.keep_hidden(built.pattern)
    return True
