"""The search by simulated annealing: patterns around one, cooler and cooler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.joint.annealing.reach import RequiredLevels
from celosia.protection.engine.heuristics.joint.annealing.ruin import RuinEffort, ruin_and_recreate
from celosia.protection.engine.heuristics.joint.annealing.tableau import choose_generators
from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS, JointParameters

if TYPE_CHECKING:
    import scipy.sparse as sp

    from celosia.protection.engine.heuristics.joint.targets import Targets


def anneal_pattern(
    hidden: NDArray[np.bool_],
    combinations: sp.csr_array,
    targets: Targets,
    cost: NDArray[np.float64],
    random: np.random.Generator,
    elapsed: Callable[[], float],
    parameters: JointParameters = PARAMETERS,
) -> Iterator[NDArray[np.bool_] | None]:
    """Yield cheaper and cheaper patterns, None where some steps have found none; they are safe but for rounding.

    Parameters
    ----------
    hidden
        Where to start, ``(n,)``.
    combinations
        Kernel coordinates of the classes, ``(n, d)``.
    targets, cost
        What must move, and what hiding every class costs, ``(n,)``.
    random
        The random numbers.
    elapsed
        Returns the share of the time that has passed, 0 to 1: the temperature falls with it.
    parameters
        How hot it is.
    """
    dense = combinations.toarray()
    levels = RequiredLevels(
        targets.columns,
        targets.signs,
        targets.levels,
        targets.boxes,
        *map(_in_one_piece, (targets.lower, targets.upper)),
    )
    weights = np.random.default_rng(0).random((dense.shape[1], 2)) + 0.5
    refusals = np.zeros(len(targets), dtype=np.int64)
    least, now = float(cost[hidden].sum()), hidden
    for tableau in range(parameters.most_tableaux):
        passed = max(elapsed(), tableau / parameters.most_tableaux)
        if passed >= 1.0:
            return
        shown = np.flatnonzero(~now)
        spread = np.exp(parameters.order_spread * random.standard_normal(len(shown)))
        table = dense.copy()
        generators = choose_generators(table, shown[np.argsort(-cost[shown] * spread, kind="stable")])
        effort = RuinEffort(
            np.full(parameters.steps_a_tableau, parameters.temperature * least * (1.0 - passed) ** 2),
            int(random.integers(np.iinfo(np.int32).max)),
            weights,
            parameters.most_left_out,
            parameters.another,
            parameters.contest,
            parameters.spread_of_groups,
            parameters.most_accepted,
        )
        best, last = np.zeros(len(cost), dtype=bool), np.zeros(len(cost), dtype=bool)
        found, steps = ruin_and_recreate(table, generators, cost, levels, effort, refusals, best, last)
        if not steps:  # rounding errors: the last pattern has no witnesses in this tableau
            return
        now = last
        if found < least:
            least = found
            yield best
        else:
            yield None


def _in_one_piece(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.ascontiguousarray(table, dtype=np.float64)
