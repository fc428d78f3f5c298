"""The result of a protection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.attack.audit import Audit
from celosia.pattern.pattern import Pattern
from celosia.protect.suppress import Suppress
from celosia.risk.risk import Risk


@dataclass(frozen=True, eq=False)
class Protection:
    """A safe pattern, what it costs, and what any safe pattern costs at least. Confidential.

    Parameters
    ----------
    risk
        What was to be protected, with the wishes of the method.
    method
        How it was protected.
    pattern
        How every cell is published.
    cost
        What that costs, the sensitive cells included.
    bound
        No safe pattern costs less.
    audit
        What attackers can conclude from it.
    seconds
        How long the search took.
    solver
        What solved, with its version.
    trace
        How the search went: seconds, cost of the best pattern so far or None, bound, cuts.
    seed
        From which the search drew.
    """

    risk: Risk
    method: Suppress
    pattern: Pattern
    cost: float
    bound: float
    audit: Audit
    seconds: float
    solver: str
    trace: tuple[tuple[float, float | None, float, int], ...]
    seed: int

    @property
    def gap(self) -> float:
        """The share of the cost by which it exceeds the bound."""
        return (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0

    @property
    def optimal(self) -> bool:
        """Whether no safe pattern is cheaper."""
        return self.bound >= self.cost

    @property
    def safe(self) -> bool:
        """Whether the audit shows it safe; it always does."""
        return self.audit.safe

    @property
    def secondary(self) -> NDArray[np.int64]:
        """The cells that are hidden to protect others, increasing."""
        return np.flatnonzero((self.pattern.status != "shown") & ~self.risk.sensitive)

    def __repr__(self) -> str:
        said = "optimal" if self.optimal else f"at most {self.gap:.2%} above the optimum"
        return (
            f"Protection({self.method.name}: {int(self.risk.sensitive.sum()):,} sensitive and "
            f"{len(self.secondary):,} other cells hidden, cost {self.cost:,.10g}, {said})"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"
