"""How long a search may take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from celosia.job.sections.part import Fault, JobPart


class LimitsPart(JobPart):
    """``[limits]``: when the search ends, and how it is done, as in `celosia.protect`.

    Parameters
    ----------
    time_limit
        Seconds after which the best safe pattern so far is taken; of several methods for each.
    gap
        The search ends when the cost is within this share of the bound.
    solver
        The name of a solver, highs or scip; by default the best that is installed.
    seed
        The seed of the search: another one takes another path.
    """

    time_limit: float | None = None
    gap: Annotated[float, Field(ge=0, le=1)] | None = None
    solver: Annotated[str, Field(min_length=1)] | None = None
    seed: Annotated[int, Field(ge=0)] | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield limits that leave no time."""
        limit = written.get("time_limit")
        if isinstance(limit, int | float) and not isinstance(limit, bool) and limit <= 0:
            yield Fault(
                ("time_limit",), f"must be above zero, not {limit}.", "It is in seconds; leave it out for none."
            )
