"""What holds for all tests: they run in the background, and beside whatever else the machine is doing."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

from celosia.presses import ignores_presses

# Two workers have a processor each: threads of linear algebra would wait for work on each other's, and for long.
# Set before anything loads numpy.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Shells have background jobs ignore Ctrl-C, and children inherit that; tests press it, in this process and in children.
if ignores_presses():
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says how busy the machine is. CI judges a change, so it draws the same examples each time;
# everywhere else new ones go on looking for trouble.
for name, derandomize in (("celosia", False), ("ci", True)):
    settings.register_profile(
        name, deadline=None, derandomize=derandomize, suppress_health_check=[HealthCheck.too_slow]
    )
settings.load_profile("ci" if os.environ.get("CI") else "celosia")
