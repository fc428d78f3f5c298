"""Ctrl-C at a moment that is chosen beforehand, in seconds of the processor."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def press_after(seconds: float) -> Iterator[list[float]]:
    """Press Ctrl-C once when this process has worked so long, if the work is not done before.

    Yields
    ------
    list
        The seconds of the processor at which it was pressed; empty as long as it was not.
    """
    pressed: list[float] = []
    until, done = time.process_time() + seconds, threading.Event()

    def wait() -> None:
        while not done.wait(0.005):
            if time.process_time() >= until:
                pressed.append(time.process_time())
                os.kill(os.getpid(), signal.SIGINT)
                return

    thread = threading.Thread(target=wait, daemon=True)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread.start()
    try:
        yield pressed
    finally:
        done.set()
        thread.join()
        signal.signal(signal.SIGINT, before)
