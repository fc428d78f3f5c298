"""Files that are read whole, files that are complete or absent, and places that are writable before work begins."""

from __future__ import annotations

import contextlib
import os
import platform
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from celosia.errors import DataError, Problem, Problems, SpecError


def read_bytes(path: Path) -> bytes:
    """Return the content of a file.

    Raises
    ------
    DataError
        It is not there, or cannot be read.
    """
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError.one(str(path), f"cannot be read: {reason}.", "Is the path right?") from error


def read_text(path: Path) -> str:
    """Return the text of a file in UTF-8, or in Latin-1 where it is no UTF-8; see `read_bytes`."""
    content = read_bytes(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def check_writable(paths: Mapping[str | Path, Sequence[str]], inputs: Iterable[str | Path] = ()) -> None:
    """Refuse files that cannot be written, all of them at once, before anything is computed.

    Parameters
    ----------
    paths
        The files to be, each with the endings that its name may have.
    inputs
        Files that are read, and must not be written over.

    Raises
    ------
    SpecError
        A name has another ending, a folder does not exist or takes no files, an input or another output is of the
        same name.
    """
    found = Problems()
    read = [Path(name) for name in inputs]
    taken: set[Path] = set()
    for name, endings in paths.items():
        path = Path(name)
        found.extend(problems_with(path, endings, read))
        if path.absolute() in taken:
            found.add(str(path), "is named for two outputs.", "Give each a name of its own.")
        taken.add(path.absolute())
    found.raise_as(SpecError)


def problems_with(path: Path, endings: Sequence[str], inputs: Sequence[Path]) -> Iterator[Problem]:
    """Yield why a file cannot be written.

    Parameters
    ----------
    path
        The file to be.
    endings
        What its name may end with.
    inputs
        Files that are read, and must not be written over.
    """
    if path.suffix.lower() not in endings:
        yield Problem(
            str(path),
            f"has the ending {path.suffix!r}, which is not written here.",
            f"Name a {' or '.join(endings)} file.",
        )
    if path.is_dir():
        yield Problem(str(path), "is a folder.", "Name a file in it.")
    elif not path.parent.is_dir():
        yield Problem(
            str(path),
            f"cannot be written: there is no folder {str(path.parent)!r}.",
            "Make it first, or mend the path.",
        )
    elif any(same.exists() and path.exists() and path.samefile(same) for same in inputs):
        yield Problem(str(path), "is an input of this job and would be overwritten.", "Give the output another name.")
    else:
        yield from _refusals(path)


def _refusals(path: Path) -> Iterator[Problem]:
    """Yield why a folder takes no file: only an attempt can tell, permissions are not all that stands in the way."""
    if path.exists() and not os.access(path, os.W_OK):
        yield Problem(str(path), "cannot be written: permission denied.", "Write to another place.")
        return
    try:
        with tempfile.TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        said = (error.strerror or "the folder takes no files").lower()
        yield Problem(str(path), f"cannot be written: {said}.", "Write to another place.")


@contextmanager
def all_or_nothing(paths: Sequence[Path]) -> Iterator[dict[Path, Path]]:
    """Give every file a temporary stand-in beside it, and put all of them in place when everything was written.

    Raises
    ------
    SpecError
        The disk says no. No file is half-written then.
    """
    stand_ins = {path: path.with_name(f"{_mark(os.getpid())}{path.name}") for path in paths}
    for path in paths:
        _sweep(path)
    try:
        yield stand_ins
        for path, stand_in in stand_ins.items():
            stand_in.replace(path)
    except OSError as error:
        place = str(
            next(
                (path for path, stand_in in stand_ins.items() if error.filename == str(stand_in)),
                paths[0] if paths else "",
            )
        )
        remedy = "Is there such a folder, and may you write to it?"
        raise SpecError.one(place, f"cannot be written: {error.strerror or error}.", remedy) from error
    finally:
        for stand_in in stand_ins.values():
            stand_in.unlink(missing_ok=True)


def write_lines(lines: Iterable[str], path: Path) -> Path:
    """Write a text file, wholly or not at all, and return its path; see `all_or_nothing`."""
    write_texts({path: lines})
    return path


def write_texts(texts: Mapping[Path, Iterable[str]]) -> None:
    """Write text files by their lines, all of them or none; see `all_or_nothing`."""
    with all_or_nothing(list(texts)) as stand_ins:
        for path, lines in texts.items():
            with stand_ins[path].open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines)


def _mark(process: int) -> str:
    """Return what marks the stand-ins of a process, on whatever machine it shares the folder with others."""
    return f".{process}-{platform.node().replace(os.sep, '')}-"


def _sweep(path: Path) -> None:
    """Remove what killed processes of this machine left of the same file: it may hold secrets, and nobody looks."""
    with contextlib.suppress(OSError):
        for left in path.parent.glob(f".*-{_literal(path.name)}"):
            number = left.name[1:].partition("-")[0]
            own = number.isdigit() and left.name == f"{_mark(int(number))}{path.name}"
            if own and not _alive(int(number)):
                left.unlink()


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
