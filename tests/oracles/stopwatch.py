"""How long a search takes, from its beginning."""

from __future__ import annotations

import time

from celosia.progress import Silent


class Stopwatch(Silent):
    """Measures the seconds since the search began: what is compiled before does not count.

    On a busy machine those of the processor count; where a solver of an earlier test was left to itself, those of the
    wall.
    """

    def __init__(self) -> None:
        self.began: tuple[float, float] | None = None

    def start(self, step: str, total: int | None = None) -> None:  # noqa: ARG002
        if step == "protecting" and self.began is None:
            self.began = time.process_time(), time.monotonic()

    @property
    def seconds(self) -> float:
        assert self.began is not None
        return min(time.process_time() - self.began[0], time.monotonic() - self.began[1])
