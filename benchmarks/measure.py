"""Time and memory of a step, in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Cost:
    """What a step cost.

    Parameters
    ----------
    wall, cpu
        Seconds.
    peak
        The largest memory of its process, in megabytes.
    """

    wall: float
    cpu: float
    peak: float


def timed(step: Callable[[], object], repeats: int = 1) -> Cost:
    """Return the cheapest of several runs of a step."""
    runs = []
    for _ in range(repeats):
        wall, cpu = time.perf_counter(), time.process_time()
        step()
        runs.append((time.perf_counter() - wall, time.process_time() - cpu))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Cost(min(wall for wall, _ in runs), min(cpu for _, cpu in runs), peak)


def apart(module: str, *arguments: str) -> Cost:
    """Return what ``python -m module arguments`` reports with `report`, so that its memory is its own."""
    done = subprocess.run([sys.executable, "-m", module, *arguments], check=True, capture_output=True, text=True)
    return Cost(**json.loads(done.stdout.splitlines()[-1]))


def report(cost: Cost) -> None:
    """Print a cost for `apart`."""
    print(json.dumps(asdict(cost)))
