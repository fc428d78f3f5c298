"""What a benchmark is: a function that measures and returns rows of the table of results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar


@dataclass(frozen=True)
class Row:
    """One figure beside its target.

    Parameters
    ----------
    what
        What was measured.
    target
        What the project promises, in words.
    measured
        The figure with its unit.
    met
        Whether the target is met; None for a figure without one.
    """

    what: str
    target: str
    measured: str
    met: bool | None = None


class Benchmark(Protocol):
    """Measures, and returns rows."""

    def __call__(self, *, smoke: bool) -> list[Row]:
        """Return the rows; of a smoke run small ones."""


Measures = TypeVar("Measures", bound=Benchmark)
BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(name: str) -> Callable[[Measures], Measures]:
    """Register a benchmark under a name."""

    def register(function: Measures) -> Measures:
        BENCHMARKS[name] = function
        return function

    return register
