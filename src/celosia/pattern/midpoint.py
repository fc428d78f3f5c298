"""Where true values lie in published ranges: a reader who takes the middle must not be right too often.

With equal lower and upper levels and equal costs an optimal range can always have the true value in its middle (Baena,
Castro and Gonzalez, Table 4: 77 to 87 % of them). The classes are those of that table: ranges are
scaled to a width of 100 with the true value at 0, and a class says where their middle is.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from celosia.arguments import takes
from celosia.errors import MidpointWarning
from celosia.pattern.arithmetic import shortest
from celosia.pattern.entries import INTERVAL
from celosia.pattern.pattern import HasPattern, Pattern

HIGH = 0.2
"""More ranges than this share with the true value in the middle are too many."""

_FEWEST = 5
"""Shares of fewer ranges say nothing."""

_TIMES = 2.0
"""From this multiple of the share by chance on, the middle is reported."""

_CLASSES = ("-50", "(-50, 0)", "0", "(0, 50)", "50")


@dataclass(frozen=True, slots=True)
class Midpoints:
    """How many ranges have their middle where, relative to the true value.

    Parameters
    ----------
    counts
        Ranges whose upper end is the true value (-50), whose middle is below it, at it, above it, and whose lower end
        it is (50). Ranges with an infinite end are left out.
    chance
        The share of ranges whose middle would be the true value if it lay anywhere in them, on the published decimals.
    """

    counts: tuple[int, int, int, int, int]
    chance: float = 0.0

    def __len__(self) -> int:
        return sum(self.counts)

    @property
    def shares(self) -> dict[str, float]:
        """The share of ranges in each class, by its name."""
        total = max(len(self), 1)
        return {name: count / total for name, count in zip(_CLASSES, self.counts, strict=True)}

    @property
    def share(self) -> float:
        """The share of ranges whose middle is the true value."""
        return self.shares["0"]

    @property
    def high(self) -> bool:
        """Whether taking the middle is right too often: much more so than by chance."""
        return len(self) >= _FEWEST and self.share > max(HIGH, _TIMES * self.chance)

    @property
    def ends_share(self) -> float:
        """The share of ranges of which the true value is an end."""
        return self.shares["-50"] + self.shares["50"]

    @property
    def ends_high(self) -> bool:
        """Whether taking an end is right too often: much more so than by chance, which has two of them."""
        return len(self) >= _FEWEST and self.ends_share > max(HIGH, _TIMES * 2 * self.chance)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to say of the middle and of the ends, where it is needed."""
        ends = (
            f"{self.ends_share:.0%} of {len(self):,} ranges end at the true value: readers who take an end are right "
            "that often. Levels and costs on both sides of it help."
        )
        return tuple(said for said in (self.warning, ends if self.ends_high else None) if said)

    @property
    def warning(self) -> str | None:
        """What to say of the middle where it is, None where it is not."""
        if not self.high:
            return None
        return (
            f"{self.share:.0%} of {len(self):,} ranges have the true value in their middle: readers who take it are "
            "right that often. Where only sliding levels are asked for (levels='sliding', and no respondents among the "
            "attackers), ranges are placed at random; lower and upper levels that differ help, too."
        )


@takes(pattern=(HasPattern, Pattern))
def midpoints(pattern: Pattern | HasPattern) -> Midpoints:
    """Return where true values lie in the published ranges of a pattern, or of the result of a protection; exactly."""
    if not isinstance(pattern, Pattern):
        pattern = pattern.pattern
    cells = np.flatnonzero(pattern.status == INTERVAL)
    lower, upper = (side[cells] for side in pattern.bounds())
    finite = ~(lower.infinite | upper.infinite)
    lower, upper = shortest(lower, upper)
    decimals = max(lower.decimals, upper.decimals, pattern.table.decimals)
    truth = pattern.table.amounts[cells[finite]].to(decimals).counts.astype(object)
    below = truth - lower[finite].to(decimals).counts
    above = upper[finite].to(decimals).counts - truth
    wide = np.asarray(below + above > 0, dtype=bool)
    below, above = below[wide], above[wide]
    classes = (above == 0, (above > 0) & (above < below), above == below, (below > 0) & (above > below), below == 0)
    counts = [int(np.count_nonzero(np.asarray(own, dtype=bool))) for own in classes]
    chance = float(np.mean([1.0 / (1 + int(width)) for width in below + above])) if len(below) else 0.0
    return Midpoints((counts[0], counts[1], counts[2], counts[3], counts[4]), chance)


@takes(pattern=(HasPattern, Pattern))
def midpoint_share(pattern: Pattern | HasPattern) -> float:
    """Return the share of published ranges whose middle is the true value."""
    return midpoints(pattern).share


def warn_of_midpoints(pattern: Pattern) -> None:
    """Warn where too many published ranges have the true value in their middle."""
    said = midpoints(pattern).warning
    if said is not None:
        warnings.warn(said, MidpointWarning, stacklevel=3)
