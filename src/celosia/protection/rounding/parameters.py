"""Sizes and seconds that steer controlled rounding. They change messages and how soon it ends, never what is safe."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class RoundingParameters:
    """How hard rounding searches for explanations.

    Parameters
    ----------
    tried_bases
        So many larger bases are tried one by one for the remedy of a message; beyond them a base that is surely large
        enough is named. 0 or more.
    least_seconds, most_seconds
        Seconds for the question whether any rounding adds up: as many as are left, within these. 0 or more.
    """

    tried_bases: int = 20_000
    least_seconds: float = 1.0
    most_seconds: float = 10.0

    def __post_init__(self) -> None:
        check_ranges(self)


ROUNDING = RoundingParameters()
