"""What a page needs to know about a protection."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Protocol, TypeAlias

from celosia.attack.audit import Audit
from celosia.pattern.pattern import Pattern
from celosia.risk.risk import Risk

Trace: TypeAlias = Sequence[tuple[float, Fraction | float | None, Fraction | float | None, int]]
"""How a search went: seconds, the cost of the best pattern so far, the bound, and the cuts."""


class Protection(Protocol):
    """A safe pattern, with what it costs and what every pattern costs at least."""

    @property
    def risk(self) -> Risk:
        """What was to be protected."""

    @property
    def pattern(self) -> Pattern:
        """How every cell is published."""

    @property
    def cost(self) -> Fraction:
        """What the pattern costs, sensitive cells included."""

    @property
    def bound(self) -> Fraction:
        """What every safe pattern costs at least."""

    @property
    def gap(self) -> float:
        """The share of the cost by which it exceeds the bound."""

    @property
    def seconds(self) -> float:
        """How long the search took."""

    @property
    def solver(self) -> str:
        """What solved."""

    @property
    def method(self) -> str:
        """The method's name."""

    @property
    def trace(self) -> Trace:
        """How the search went."""

    @property
    def audit(self) -> Audit:
        """What attackers can conclude from the pattern."""
