"""Points of any modes that an oracle attacks: what it attacks with success brings requirements, as lazy as cuts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import unit_cuts
from celosia.protection.engine.modes.separation import CapacitySeparator
from celosia.protection.engine.stop import Stop, TimeUpError

if TYPE_CHECKING:
    from celosia.protection.engine.incumbent import Incumbent
    from celosia.protection.engine.modes.modes import Modes
    from celosia.protection.engine.problem import Extend, Extension
    from celosia.protection.engine.relaxation import Relaxation


@dataclass(eq=False)
class PointRequirements:
    """Accepts points that an oracle does not object to, and adds the requirements that others violate.

    Cuts stay valid: each follows from one level, from the bounds of an attacker, and from the bounds of variables, and
    none of these changes when there are more levels and attackers.

    Parameters
    ----------
    extend
        The oracle; None where the requirements of the problem are all.
    modes
        What may be published.
    incumbent
        Gets the points.
    relaxation
        Is extended.
    stop
        Says which point would be the last.
    """

    extend: Extend | None
    modes: Modes
    incumbent: Incumbent[np.float64]
    relaxation: Relaxation[CapacitySeparator]
    stop: Stop
    _asked: NDArray[np.float64] | None = None

    @property
    def confirmed(self) -> bool:
        """Whether there is an incumbent, and the oracle, if there is one, has nothing against it."""
        best = self.incumbent.best
        return best is not None and (self.extend is None or best is self._asked or self._is_asked(self.incumbent.cost))

    def accept(self, v: NDArray[np.float64]) -> None:
        """Make a safe point the incumbent if it is cheaper, unless the oracle refuses it.

        Without whole numbers such points are many, and the oracle is asked about the last only; none takes the place of
        one that was offered, and that the oracle has nothing against.
        """
        found = self.incumbent
        cost = found.cost_of(v)
        if cost >= found.cost or (not self._is_asked(cost) and found.best is self._asked is not None):
            return
        if self._is_asked(cost) and self._is_refused(v):
            if not len(self.modes.integers) and found.best is not self._asked:
                found.best = None  # nobody was asked about it
            return
        found.improve(v.copy())

    def confirm(self, v: NDArray[np.float64]) -> bool:
        """Make a safe point the incumbent if it is cheaper; return False where the oracle refuses it."""
        found = self.incumbent
        if found.cost_of(v) >= found.cost:
            return True
        if self._is_refused(v):
            return False
        found.improve(v.copy())
        self._asked = None if self.extend is None else found.best
        return True

    def _is_asked(self, cost: float) -> bool:
        """Return whether the oracle is asked about a point of some cost."""
        return len(self.modes.integers) > 0 or self.stop.is_reached_at(cost)

    def _is_refused(self, v: NDArray[np.float64]) -> bool:
        """Return whether the oracle attacks a point with success, or has no time; add what would have stopped it."""
        try:
            extension = None if self.extend is None else self.extend(v)
        except TimeUpError:
            return True
        if extension is not None:
            self.add(extension)
        return extension is not None

    def add(self, extension: Extension) -> None:
        """Add requirements from now on; their target cells are ranges where they may be nothing else."""
        modes, known = self.modes, self.relaxation.separator
        separator = CapacitySeparator(extension.problem, modes, known.backend, known.parameters)
        columns = np.unique(separator.sides.columns[separator.sides.certain])
        opening = modes.opening[columns[modes.hiding[columns] < 0]]
        self.relaxation.separator = separator
        self.relaxation.master.add(unit_cuts(opening[opening >= 0]))
        self.incumbent.freeze(unless=extension.necessary)
