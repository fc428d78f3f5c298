"""Reverse delete of constructed patterns in the kernel of the pattern, where kernel coordinates are known.

A pattern of hundreds of cells leaves a kernel of some tens of coordinates. Witnesses are found and led round cells
there in a fraction of the time that attackers' programs in relations take (`heuristics.joint.reduction`), and cells
that can only be shown together are tried together.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.heuristics.construction import ConstructedPattern
from celosia.protection.engine.heuristics.joint.contraction import PatternKernel
from celosia.protection.engine.heuristics.joint.parameters import PARAMETERS, JointParameters
from celosia.protection.engine.heuristics.joint.reduction import PatternReduction
from celosia.protection.engine.heuristics.joint.targets import Targets

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.protection.engine.subproblems.requirements import SideRequirements


class KernelReduction:
    """Reduces patterns of one problem.

    Parameters
    ----------
    separator
        Has the bounds, and solves programs.
    sides
        The requirements, none of them sliding, all about forced columns.
    coordinates
        Kernel coordinates of the columns.
    parameters
        How much effort a group of cells is worth.
    """

    def __init__(
        self,
        separator: Separator,
        sides: SideRequirements,
        coordinates: KernelCoordinates,
        parameters: JointParameters = PARAMETERS,
    ) -> None:
        problem = separator.problem
        self._backend, self._parameters = separator.backend, parameters
        self._forced, self._cost = problem.forced, np.where(problem.forced, 0.0, problem.cost)
        self._combinations = sp.csr_array(coordinates.combinations, dtype=np.float64)
        self._sides, self._builder = sides, separator.builder
        self._targets = Targets.of(sides, separator.builder)
        self._unfinished: PatternReduction | None = None
        self._least = np.inf

    @property
    def is_unfinished(self) -> bool:
        """Whether the cheapest pattern so far was left before all of its cells were tried."""
        return self._unfinished is not None

    def reduce(self, built: ConstructedPattern, late: Callable[[], bool]) -> NDArray[np.bool_] | None:
        """Return a pattern without the cells that it does not need; None where that is to be done by relations.

        That is where its kernel is large, or a target has no witness in it as far as doubles can tell.

        Parameters
        ----------
        built
            The pattern, with its witnesses.
        late
            Tells when to stop: what has not been tried by then stays hidden.
        """
        reduction = self._find_witnesses(built)
        return None if reduction is None else self._go_on(reduction, late)

    def resume(self, best: NDArray[np.bool_], late: Callable[[], bool]) -> NDArray[np.bool_] | None:
        """Return the cheapest pattern that was left before its end reduced further, or else the best; None if it was.

        Parameters
        ----------
        best
            The best pattern, which may come from elsewhere.
        late
            Tells when to stop.
        """
        if self._unfinished is not None:
            return self._go_on(self._unfinished, late)
        if not float(self._cost[best].sum()) < self._least:
            return None
        kernel = PatternKernel.of(self._combinations, best)
        any_move = np.zeros((1, len(best)))
        any_move[0, kernel.columns] = kernel.basis.sum(axis=1)
        return self.reduce(ConstructedPattern(best, any_move), late)

    def _go_on(self, reduction: PatternReduction, late: Callable[[], bool]) -> NDArray[np.bool_]:
        """Return the pattern of a reduction that goes on, and keep it where there will be more to try."""
        finished = reduction.reduce(0.0, late)
        pattern = self._forced.copy()
        pattern[reduction.hidden] = True
        cost = float(self._cost[pattern].sum())
        if cost < self._least or reduction is self._unfinished:
            self._least, self._unfinished = cost, None if finished else reduction
        return pattern

    def _find_witnesses(self, built: ConstructedPattern) -> PatternReduction | None:
        """Return a pattern with a witness of every target; those without one for both sides have one for each."""
        kernel, targets = PatternKernel.of(self._combinations, built.pattern), self._targets
        if kernel.basis.shape[1] > self._parameters.most_reduced:
            return None
        for _ in range(2):
            reduction = PatternReduction(kernel, targets, self._cost, self._backend, self._parameters)
            failed = reduction.find_witnesses(built.witnesses, lambda: False)
            if not len(failed):
                return reduction
            if bool((targets.signs[failed] != 0).any()):
                return None
            targets = Targets.of(self._sides, self._builder, targets.columns[failed])
        return None
