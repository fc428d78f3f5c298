"""Limits in seconds of a processor, so that a measurement is the same beside other programs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch


@contextmanager
def processor_seconds() -> Iterator[None]:
    """Let the clocks of searches count what this process works, all of its threads together, instead of time."""
    with patch("time.perf_counter", time.process_time):
        yield
