"""Components of a suppression problem, each searched by itself, in this process or in another."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.attack.system.decomposition import decompose
from celosia.protection.engine.branch_and_cut import BranchAndCut
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.incumbent import Outcome
from celosia.protection.engine.parameters import EngineParameters
from celosia.protection.engine.problem import ProtectionProblem
from celosia.solve import deadline
from celosia.solve.clock import Clock
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends


@dataclass(frozen=True, slots=True, eq=False)
class ComponentSearch:
    """The search of one component, to be sent to another thread or process.

    Parameters
    ----------
    problem
        The component.
    solver
        The name of the solver of integer masters.
    time_limit
        Seconds, infinite for no limit.
    gap, seed, parameters
        As in the call.
    rows
        Further rows of the master.
    known
        Cuts, and no-good cuts, that are known; see `BranchAndCut.known`.
    """

    problem: ProtectionProblem
    solver: str
    time_limit: float
    gap: float
    rows: Sequence[Cut]
    known: tuple[list[Cut], list[Cut]]
    seed: int
    parameters: EngineParameters

    def run(self) -> Outcome:
        """Return what the search finds."""
        clock = Clock(None if math.isinf(self.time_limit) else self.time_limit)
        tree = backend_named(self.solver)
        with deadline.before(clock):
            search = BranchAndCut(
                self.problem, backends()[0], tree, clock, rows=self.rows, seed=self.seed, parameters=self.parameters
            )
            search.learn(*self.known)
            with contextlib.suppress(deadline.DeadlineError):
                search.run(self.gap)
        return search.outcome()


def split_components(problem: ProtectionProblem) -> list[tuple[ProtectionProblem, NDArray[np.int64]]]:
    """Return the connected components of a problem that have requirements, with their columns."""
    parts = decompose(problem.system(np.arange(len(problem))))
    component = parts.component[problem.goals.columns]
    found = []
    for number in np.unique(component[component >= 0]).tolist():
        columns = np.sort(parts.members(number))
        found.append((problem.part(columns, np.flatnonzero(component == number)), columns))
    return found
