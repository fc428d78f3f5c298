"""Limits in seconds of a processor, so that a measurement depends less on what else the machine does.

HiGHS knows the time on the wall only. A long program that is given what is left of the limit then ends early on a busy
machine, and the search with it: figures are too bad there, never too good.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from importlib.util import find_spec
from unittest.mock import patch

_CPU = 1
"""SCIP's number for clocks that count what the process works."""


@contextmanager
def processor_seconds() -> Iterator[None]:
    """Let the clocks of searches, and of SCIP, count what this process works, all of its threads together."""
    with ExitStack() as stack:
        stack.enter_context(patch("time.perf_counter", time.process_time))
        if find_spec("pyscipopt") is not None:
            parameters = import_module("celosia.solve.scip.tree")._PARAMETERS  # noqa: SLF001  (nobody else needs it)
            stack.enter_context(patch.dict(parameters, {"timing/clocktype": _CPU}))
        yield
