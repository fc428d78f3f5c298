"""What is wanted of the tables of CSPLIB, with costs = values and lower = upper levels, in seconds of a processor."""

from __future__ import annotations

from dataclasses import dataclass

MILLION = 1_000_000.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a search should have found after some time.

    Parameters
    ----------
    seconds
        After so many.
    cost
        At most this, None for any cost.
    gap
        At most this share of the cost is not proved to be needed; 0 for proved, None for any.
    share
        Cost at most this share of what hiding everything costs, None for any.
    """

    seconds: float
    cost: float | None = None
    gap: float | None = None
    share: float | None = None

    def __str__(self) -> str:
        said = [] if self.cost is None else [f"cost at most {self.cost:,.0f}"]
        said += [] if self.gap is None else ["proved" if self.gap == 0 else f"gap at most {100 * self.gap:g} %"]
        said += [] if self.share is None else [f"at most {100 * self.share:g} % of the sum of all costs"]
        return f"{', '.join(said) or 'safe, not everything hidden'} in {self.seconds:g} s"


@dataclass(frozen=True, slots=True)
class Target:
    """What is wanted of a table.

    Parameters
    ----------
    first, first_aim
        The first safe pattern.
    last, aim
        The pattern when time is up.
    seeds
        Of the search.
    process
        Seconds for a whole process that proves the optimum, None where that is not asked.
    proved
        A bound that a longer run has proved, where it is above a cost that is wanted: no search can meet that.
    """

    first: Wanted
    last: Wanted
    aim: Wanted | None = None
    first_aim: Wanted | None = None
    seeds: tuple[int, ...] = (0,)
    process: float | None = None
    proved: float | None = None

    @property
    def limit(self) -> float:
        """The seconds that the search gets."""
        return self.last.seconds

    def impossible(self, wanted: Wanted) -> str:
        """Return why no search can meet a wanted cost, as an end of a sentence; nothing where one may."""
        if self.proved is None or wanted.cost is None or wanted.cost >= self.proved:
            return ""
        return f"; cannot be met: a longer run has proved that every pattern costs {self.proved:,.0f} or more"


_HIER16 = Target(Wanted(6, 15 * MILLION), Wanted(60, 13 * MILLION, 0.64), aim=Wanted(60, 11.5 * MILLION, 0.55))


def _easy(process: float = 1.5) -> Target:
    return Target(Wanted(0.5), Wanted(60, gap=0), process=process)


TARGETS: dict[str, Target] = {
    "hier13x7x7d": Target(Wanted(0.3), Wanted(60, 565_000, 0.07), aim=Wanted(60, gap=0), proved=567_805),
    "hier13x13x7d": Target(Wanted(0.5), Wanted(60, 2.2 * MILLION, 0.33), aim=Wanted(60, gap=0.25)),
    "hier13": Target(
        Wanted(0.5, 10.1 * MILLION),
        Wanted(60, 7.3 * MILLION, 0.42),
        aim=Wanted(60, 6.8 * MILLION, 0.30),
        seeds=(0, 1, 2),
    ),
    "hier13x13x13a": Target(Wanted(0.5), Wanted(60, 7.7 * MILLION, 0.42), aim=Wanted(60, gap=0.30)),
    "hier16": _HIER16,
    "hier16x16x16a": _HIER16,
    "two5in6": Target(Wanted(10), Wanted(60, 10.8 * MILLION, 0.52), aim=Wanted(60, gap=0.40)),
    "ninenew": Target(
        Wanted(60), Wanted(120, 13.5 * MILLION), aim=Wanted(60, 12.5 * MILLION, 0.60), first_aim=Wanted(30)
    ),
    "nine12": Target(Wanted(120), Wanted(120), aim=Wanted(120, share=0.30), first_aim=Wanted(60)),
    "table3": Target(Wanted(25), Wanted(60, 10.6 * MILLION, 0.16), aim=Wanted(60, gap=0.10)),
    "jjtabeltest3": Target(Wanted(10), Wanted(60, 711_704_243, 0.06), aim=Wanted(60, gap=0.04)),
    "toy3dsarah": Target(Wanted(0.5), Wanted(60, gap=0.005), aim=Wanted(60, gap=0)),
    "table1": _easy(6.0),
    "table8": _easy(),
    "targus": _easy(),
    "osorio": _easy(),
    "cbs": _easy(),
}
"""Targets and aims by the name of the table."""
