"""What a search that is attacked meanwhile keeps, and how long it lasts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from celosia.pattern.pattern import Pattern
from celosia.protection.fallback import Fallback
from celosia.protection.result import Protection
from celosia.protection.run import Ask, RequirementOracle, ViolatedRequirements
from celosia.solve.clock import PartOfClock


@dataclass(eq=False)
class AttackedFallback(Fallback):
    """Takes patterns that have been attacked, and audited since."""

    keep: Callable[[Protection], None] = lambda _: None

    def offer(self, found: Protection) -> None:
        """Keep a pattern for the case that time is up before a better one is audited."""
        if found.safe:
            self.keep(found)


@dataclass(frozen=True, slots=True, eq=False)
class LastingOracle:
    """An oracle that leaves a search all of the time once no attack on a pattern succeeds: nothing needs to follow."""

    oracle: RequirementOracle
    clock: PartOfClock

    def violated(self, pattern: Pattern, ask: Ask = "exactly") -> ViolatedRequirements | None:
        """Return requirements that a pattern violates, None where it is safe."""
        found = self.oracle.violated(pattern, ask)
        if found is None:
            self.clock.take_everything()
        return found
