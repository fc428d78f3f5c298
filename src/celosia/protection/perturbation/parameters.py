"""Numbers that steer cell perturbation. They change how long it tries, never what is safe."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class PerturbationParameters:
    """How hard perturbation searches.

    Parameters
    ----------
    most_draws
        Random sides are drawn so many times before they count as impossible. 1 or more.
    most_raises
        Levels that the audit finds missed are raised so many times, by 1, 2, 4 ... steps of the grid. 1 or more.
    windows
        By how many steps of the coarsest grid values may leave the solution in doubles, one after the other, and at
        last by any number: most find a table that adds up in the first. Each 0 or more.
    least_seconds
        Seconds for that even where time is up: without it all is lost. 0 or more.
    """

    most_draws: int = 20
    most_raises: int = 12
    windows: tuple[int, ...] = (0, 1, 2, 4)
    least_seconds: float = 1.0

    def __post_init__(self) -> None:
        check_ranges(self, most_draws=(1, None), most_raises=(1, None))


PERTURBATION = PerturbationParameters()
