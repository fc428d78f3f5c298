"""Requirements as lazy as cuts: an oracle attacks every pattern that would be accepted.

Requirements that are too many to be written down are found that way, few at a time: the oracle returns those that a
pattern violates, and the problem is extended by them. Cuts and bounds remain valid, because patterns that satisfy more
are fewer; so one tree is enough.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut, unit_cuts
from celosia.protection.engine.cuts.initial import initial_cuts
from celosia.protection.engine.cuts.separation import Separator
from celosia.protection.engine.incumbent import PatternIncumbent, no_good_cuts
from celosia.protection.engine.patterns.cutting_planes import separate_pattern
from celosia.protection.run import NewColumnsError

if TYPE_CHECKING:
    from celosia.protection.engine.patterns.waiting import WaitingRequirements
    from celosia.protection.engine.problem import Extend, Extension, ProtectionProblem
    from celosia.protection.engine.relaxation import Relaxation
    from celosia.protection.engine.subproblems.requirements import SideRequirements


class LazyRequirements:
    """Accepts patterns that an oracle does not object to, and adds the requirements that others violate.

    Parameters
    ----------
    extend
        The oracle; None where the requirements of the problem are all.
    incumbent
        Gets the patterns.
    relaxation
        Is extended.
    waiting
        Requirements that are separated once a pattern misses them: they are looked at before the oracle is asked.

    Attributes
    ----------
    newest
        Separates patterns by the newest requirements alone.
    """

    def __init__(
        self,
        extend: Extend | None,
        incumbent: PatternIncumbent,
        relaxation: Relaxation[Separator],
        waiting: WaitingRequirements,
    ) -> None:
        self._extend, self._incumbent, self._relaxation, self.waiting = extend, incumbent, relaxation, waiting
        self.newest = relaxation.separator

    @property
    def complete(self) -> bool:
        """Whether the requirements of the problem are all, because there is no oracle."""
        return self._extend is None

    def treat_as_new(self, requirements: NDArray[np.int64]) -> None:
        """Take some requirements of the problem for the newest ones."""
        separator = self._relaxation.separator
        self.newest = replace(
            separator, sides=separator.sides.take(np.isin(separator.sides.requirements, requirements))
        )

    def accept(self, pattern: NDArray[np.bool_]) -> bool:
        """Make a pattern the incumbent where it is the cheapest and the oracle agrees; return whether it is allowed.

        The oracle attacks it with all that is forced since it was made, so it must hide and cost that as well.
        """
        pattern, found = pattern | self._incumbent.problem.forced, self._incumbent
        if not found.allows(pattern):
            return False
        if found.cost_of(pattern) < found.cost and self.cuts_from_oracle(pattern):
            return False
        if found.improve(pattern):
            self._relaxation.fix_by_reduced_costs()
        return True

    def cuts_from_oracle(self, pattern: NDArray[np.bool_]) -> list[Cut]:
        """Ask the oracle about a pattern; add violated requirements and return cuts that separate it.

        Requirements that wait come first (`celosia.protection.engine.patterns.waiting`).
        Where the pattern satisfies what was added, the oracle is asked again: requirements in which several cells move
        together come last. Where doubles find nothing against the pattern even so, it gets a no-good cut that bounds
        must not use.
        """
        found, x = self._incumbent, pattern.astype(np.float64)
        while (called := self.waiting.call_missed(x)) is not None:
            self.newest = called
            cuts = separate_pattern(called, x, lambda: None)
            if cuts:
                self._relaxation.master.add(cuts)
                return cuts
        while self._extend is not None and (extension := self._extend(pattern)) is not None:
            found.freeze(unless=extension.necessary)
            self._add(extension)
            shown = np.flatnonzero(found.problem.forced & ~pattern)
            cuts = unit_cuts(shown) or separate_pattern(self.newest, x, lambda: None)
            if not cuts and not bool((extension.before < 0).any()):
                cuts = no_good_cuts(found.problem, pattern, np.zeros(0, dtype=np.int64))
                found.refuted += cuts
                found.freeze()
            if cuts:
                self._relaxation.master.add(cuts)
                return cuts
        return []

    def _add(self, extension: Extension) -> None:
        """Add requirements to the problem.

        Raises
        ------
        NewColumnsError
            The problem has other columns that may be hidden or shown.
        """
        known, problem = self._incumbent.problem, extension.problem
        n = len(known)
        if not np.array_equal(problem.cells[:n], known.cells) or not bool(problem.forced[n:].all()):
            raise NewColumnsError
        forced = np.flatnonzero(problem.forced[:n] & ~known.forced)
        self._incumbent.force(problem.forced[:n])
        self._extend_separator(problem, extension.before)
        self._relaxation.master.add([*unit_cuts(forced), *initial_cuts(self.newest)])

    def _extend_separator(self, problem: ProtectionProblem, before: NDArray[np.int64]) -> None:
        """Separate by the requirements of a problem from now on.

        Those that the forced cells meet stay left out; new ones, -1 in `before`, are all kept, since forced cells miss
        most of them.
        """
        known = self._relaxation.separator
        everything = Separator.of(problem, known.backend, known.parameters)
        was = before[everything.sides.requirements]
        keys, waiting = _keys(everything.sides, was), self.waiting.sides
        kept = np.isin(keys, _keys(known.sides, known.sides.requirements))
        self.waiting.sides = everything.sides.take(np.isin(keys, _keys(waiting, waiting.requirements)))
        everything = replace(everything, sparing=known.sparing)
        self.newest = replace(everything, sides=everything.sides.take(was < 0))
        self._relaxation.separator = replace(everything, sides=everything.sides.take(kept | (was < 0)))


def _keys(sides: SideRequirements, requirements: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return numbers that tell the subproblems of some requirements from each other."""
    return np.asarray(requirements * 4 + sides.upward * 2 + sides.sliding)
