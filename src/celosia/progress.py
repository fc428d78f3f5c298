"""Progress of long steps, without any idea of how it is shown.

Rooms report steps to a `Progress`; the command line shows them as bars, libraries and tests keep silent.
"""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Hears about steps that may take longer than two seconds."""

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step; `total` is the amount of work where it is known."""

    def advance(self, amount: int = 1) -> None:
        """Tell that `amount` more of the current step is done."""

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:
        """Tell how far the search of the current step has come.

        Parameters
        ----------
        cost
            What the best safe pattern so far costs, None where none is known.
        bound
            What every safe pattern costs at least, None where nothing is known.
        cuts
            How many cuts were found.
        """

    def done(self) -> None:
        """End the current step."""


class Silent:
    """A `Progress` that shows nothing."""

    def start(self, step: str, total: int | None = None) -> None:
        """Begin a step."""

    def advance(self, amount: int = 1) -> None:
        """Tell that more is done."""

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:
        """Tell how far a search has come."""

    def done(self) -> None:
        """End the current step."""


SILENT: Progress = Silent()
