"""What an audit accepts beside releases and patterns."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from celosia.pattern.release import HasPattern
from celosia.risk.risk import Risk


@runtime_checkable
class Protected(HasPattern, Protocol):
    """The result of a protection: a pattern, and what it protects."""

    @property
    def risk(self) -> Risk:
        """What was to be protected."""
