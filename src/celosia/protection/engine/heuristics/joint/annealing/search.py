"""The search by simulated annealing: patterns around one, cooler and cooler."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.joint.annealing.exchange import ExchangeEffort, exchange_generators
from celosia.protection.engine.heuristics.joint.annealing.reach import RequiredLevels
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
    """Yield cheaper and cheaper patterns, None where some exchanges have found none; they are safe but for rounding.

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
    n, least, now = parameters.exchanges, float(cost[hidden].sum()), hidden
    for tableau in range(parameters.most_tableaux):
        passed = max(elapsed(), tableau / parameters.most_tableaux)
        if passed >= 1.0:
            return
        shown = np.flatnonzero(~now)
        spread = np.exp(parameters.order_spread * random.standard_normal(len(shown)))
        table = dense.copy()
        generators = choose_generators(table, shown[np.argsort(-cost[shown] * spread, kind="stable")])
        temperature = np.full(n, parameters.temperature * least * (1.0 - passed) ** 2)
        effort = ExchangeEffort(
            temperature,
            random.random((n, 2)),
            weights,
            parameters.most_added,
            parameters.moves,
            parameters.most_accepted,
        )
        best, last = np.zeros(len(cost), dtype=bool), np.zeros(len(cost), dtype=bool)
        found, _ = exchange_generators(table, generators, cost, levels, effort, refusals, best, last)
        now = last
        if found < least:
            least = found
            yield best
        else:
            yield None


def _in_one_piece(table: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.ascontiguousarray(table, dtype=np.float64)
