"""Where a job keeps the secret by which levels are concealed: in a file beside it, or in the environment.

The same secret serves every period and revision of a table. It is drawn once, never written over, and goes into no
release, page, message or log.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from celosia.errors import SpecError
from celosia.files import read_bytes
from celosia.protection.method import Method
from celosia.protection.result import Protection
from celosia.risk.concealment import TWO_DRAWS

VARIABLE = "CELOSIA_SECRET"
"""The variable of the environment that holds the secret of jobs that name no file for it."""

_BITS = 128
_LEAST_DIGITS, _MOST_DIGITS = 16, 1000
_MODE = 0o600
_WHAT = f"a whole number of {_LEAST_DIGITS} digits or more"


@dataclass(frozen=True, slots=True)
class KeptSecret:
    """A secret, and where it is kept.

    Parameters
    ----------
    number
        The secret.
    place
        The name of the file, or of the variable.
    notes
        What to say of it.
    new
        The file where it is to be kept; None where it is.
    """

    number: int
    place: str
    notes: tuple[str, ...]
    new: Path | None = None

    def __repr__(self) -> str:
        return f"KeptSecret({self.place})"

    def serve(self, method: Method) -> Method:
        """Return a method that draws by it."""
        asked: Any = method
        served: Method = replace(asked, secret=self.number)
        return served

    def close(self, found: Protection) -> Protection:
        """Return a result that says where its secret is kept, having written a new one to its file.

        Raises
        ------
        SpecError
            It cannot be written, or another run of the job was faster.
        """
        if self.new is not None:
            _write(self.number, self.new)
        return replace(found, secret_place=self.place, notes=(*found.notes, *self.notes))


def find_secret(method: Method, file: str | None, published: Iterable[Path] = ()) -> KeptSecret | None:
    """Return the secret that a job keeps for a method; None where it keeps none, or the method has its own.

    Parameters
    ----------
    method
        What needs a secret.
    file
        Where the job keeps it; it is drawn if there is no such file.
    published
        Releases of the job: where some are there, and the secret is new, they were drawn by another one.

    Raises
    ------
    SpecError
        The file, or the variable, holds no secret.
    DataError
        The file cannot be read.
    """
    if getattr(method, "secret", 0) is not None:
        return None
    if file is None:
        text = os.environ.get(VARIABLE)
        if text is None:
            return None
        note = f"The secret is that of ${VARIABLE}: use it for every revision, and never publish it."
        return KeptSecret(_read_number(text, f"${VARIABLE}", "Give one, or unset it."), f"${VARIABLE}", (note,))
    path = Path(file)
    return _read(path) if path.exists() else _draw(path, [other for other in published if other.exists()])


def _read(path: Path) -> KeptSecret:
    text = read_bytes(path).decode("utf-8", errors="replace")
    number = _read_number(text, str(path), "Bring back what was there, or take it away: then one is drawn.")
    notes = [f"The secret is that of {path.name}: keep it with the job, and never publish it."]
    if os.name == "posix" and stat.S_IMODE(path.stat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO):
        notes.append(f"Others of this machine may read {path.name}: take that right from them (chmod 600).")
    return KeptSecret(number, path.name, tuple(notes))


def _draw(path: Path, published: list[Path]) -> KeptSecret:
    """Return a new secret, with what it leaves where another one was used before."""
    number = secrets.randbits(_BITS) | 1 << (_BITS - 1)
    said = f"A new secret was drawn, and is kept in {path.name}: keep it for every revision, and never publish it."
    before = f" {' and '.join(other.name for other in published)} was there before it. {TWO_DRAWS}" if published else ""
    return KeptSecret(number, path.name, (said + before,), path)


def _write(number: int, path: Path) -> None:
    """Write a secret to a file that only its owner may read; one that is there is never replaced."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, _MODE)
    except FileExistsError:
        said = "was written by another run of this job in the meantime."
        raise SpecError.one(str(path), said, "Run the job once more: it takes that secret.") from None
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{number}\n")
    except OSError as error:
        with suppress(OSError):
            path.unlink()
        raise _unwritable(path, error) from error


def _unwritable(path: Path, error: OSError) -> SpecError:
    remedy = "Is there such a folder, and may you write to it?"
    return SpecError.one(str(path), f"cannot be written: {error.strerror or error}.", remedy)


def _read_number(text: str, place: str, remedy: str) -> int:
    """Return a secret, which no message tells."""
    digits = text.strip()
    if not (digits.isascii() and digits.isdigit() and _LEAST_DIGITS <= len(digits) <= _MOST_DIGITS):
        raise SpecError.one(place, f"holds no secret, which is {_WHAT}.", remedy)
    return int(digits)
