"""What an audit is about: a release, a pattern or the result of a protection, and the table behind it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from celosia.errors import SpecError
from celosia.pattern.pattern import HasPattern, Pattern
from celosia.pattern.release import Release, publish
from celosia.risk.risk import Risk
from celosia.table.table import Table


@runtime_checkable
class Protected(HasPattern, Protocol):
    """The result of a protection: a pattern, and what it protects."""

    @property
    def risk(self) -> Risk:
        """What was to be protected."""


def check_release(release: Release | Pattern | Protected, risk: Risk | Table | None) -> tuple[Table, Release]:
    """Return what an audit of respondents is about, checked."""
    if risk is None:
        if isinstance(release, Release):
            raise SpecError.one("risk", "is missing.", "Say which table the release is about.")
        risk = release.table if isinstance(release, Pattern) else release.risk
    table = risk if isinstance(risk, Table) else risk.table
    release = release if isinstance(release, Release) else publish(release)
    release.check(table)
    if release.criterion == "distance":
        message = "moves values: what respondents conclude from them has no bounds, so nobody can be shown safe."
        raise SpecError.one("release", message, "Respondents are protected by hiding or ranges.")
    return table, release
