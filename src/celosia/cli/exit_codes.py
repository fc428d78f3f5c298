"""The exit codes of all commands; `docs/howto/messages.md` explains them."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """What the exit code of a command says; those from 64 on are the usual ones of Unix."""

    DONE = 0
    NOT_SAFE = 1
    """A requirement is missed or not shown to be met, a proof does not hold, or no safe pattern exists."""
    BAD_INPUT = 2
    OUT_OF_TIME = 3
    """No safe pattern was known in time."""
    BROKEN = 70
    """celosia itself is at fault."""
    INTERRUPTED = 130
    PIPE_CLOSED = 141
    TERMINATED = 143
