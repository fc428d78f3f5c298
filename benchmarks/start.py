"""What it takes to begin: a process that has everything compiled, and the first one of an installation."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.instances import instance
from benchmarks.registry import Row, benchmark
from celosia.formats.jj import write_jj

_WARM, _COLD = 1.3, 20.0
_RUN = "from celosia.cli.main import run; run()"
_MICRODATA = "import celosia as cz, benchmarks.fingerprints as f; cz.protect(f.firms_of_groups(), cz.{})"
"""From records to a safe release; the difference between two runs is what the first compiles."""


@benchmark("start")
def start(*, smoke: bool) -> list[Row]:
    """Measure the start of commands on a small problem, beside that of the compiler alone."""
    runs = 1 if smoke else 5
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problem = folder / "small.jj"
        write_jj(instance("t20x10"), problem)
        protecting = ["-c", _RUN, "protect", str(problem), "--output", str(folder / "out.csv")]
        warm = _seconds(protecting, runs=runs + 1)  # the first may have something to compile
        numba = _seconds(["-c", "import numba"], runs=runs)
        rows = [
            Row('`python -c "import numba"`', "", f"{numba:.2f} s"),
            Row(
                "`celosia protect` of 231 cells, all compiled",
                f"at most {_WARM} s in all",
                f"{warm:.2f} s, {warm / numba:.1f} times `import numba`",
                warm <= _WARM,
            ),
        ]
        if smoke:
            return rows
        first = _seconds(protecting, caches=folder / "protect") - warm
        microdata = {
            method: _seconds(["-c", _MICRODATA.format(call)], caches=folder / method)
            - _seconds(["-c", _MICRODATA.format(call)], caches=folder / method)
            for method, call in (("Suppress", "Suppress()"), ("Intervals", "Intervals(conceal=False)"))
        }
        everything = _seconds(["-c", _RUN, "compile"], caches=folder / "compile")
    target = f"compiles for at most {_COLD:.0f} s"
    return [
        *rows,
        Row("the same, nothing compiled", target, f"{first:.1f} s", first <= _COLD),
        *(
            Row(f"records protected by `{method}`, nothing compiled", target, f"{took:.1f} s", took <= _COLD)
            for method, took in microdata.items()
        ),
        Row(
            "`celosia compile`: everything, all methods and microdata",
            target,
            f"{everything:.1f} s",
            everything <= _COLD,
        ),
    ]


def _seconds(arguments: list[str], *, runs: int = 1, caches: Path | None = None) -> float:
    """Return the fewest seconds of a processor that Python took, in several runs, children and all."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {} if caches is None else {"NUMBA_CACHE_DIR": str(caches)}
    best = float("inf")
    for _ in range(runs):
        before = os.times()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
        after = os.times()
        took = after.children_user + after.children_system - before.children_user - before.children_system
        best = min(best, took)
    return best
