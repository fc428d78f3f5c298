"""Numbers that steer what is said about the bias of random rounding. They change no published value."""

from __future__ import annotations

from dataclasses import dataclass

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class BiasParameters:
    """How much work goes into the bias that notes state.

    Parameters
    ----------
    most_sets
        So many sets of rounded values are tried one by one to state the bias exactly; where there are more, so many are
        drawn to bound it. 1 or more.
    most_named
        So many biased cells are named. 1 or more.
    seconds, factor
        All that takes no longer than this, and so many times what the table took. 0 or more.
    """

    most_sets: int = 64
    most_named: int = 8
    seconds: float = 5.0
    factor: float = 20.0

    def __post_init__(self) -> None:
        check_ranges(self, most_sets=(1, None), most_named=(1, None))


BIAS = BiasParameters()
