"""What a command writes: the result on standard output, files that are complete or absent."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from rich.console import Console, RenderableType

from celosia.errors import Problem, SpecError

_WIDTH = 110  # of what goes into a file or a pipe, where no terminal has a width


def problems_with(path: Path, endings: Sequence[str], inputs: Sequence[Path]) -> Iterator[Problem]:
    """Yield why a file cannot be written, before any work begins.

    Parameters
    ----------
    path
        The file to be.
    endings
        What its name may end with.
    inputs
        Files that the command reads, and must not write over.
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
    elif not all(os.access(place, os.W_OK) for place in (path.parent, path) if place.exists()):
        yield Problem(str(path), "cannot be written: permission denied.", "Write to another place.")
    elif any(same.exists() and path.exists() and path.samefile(same) for same in inputs):
        yield Problem(str(path), "is an input of this job and would be overwritten.", "Give the output another name.")


@contextmanager
def all_or_nothing(paths: Sequence[Path]) -> Iterator[dict[Path, Path]]:
    """Give every file a temporary stand-in beside it, and put all of them in place when everything was written.

    Raises
    ------
    SpecError
        The disk says no. No file is half-written then.
    """
    stand_ins = {path: path.with_name(f".{os.getpid()}-{path.name}") for path in paths}
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
        raise SpecError.one(place, f"cannot be written: {error.strerror or error}.") from error
    finally:
        for stand_in in stand_ins.values():
            stand_in.unlink(missing_ok=True)


def write_columns(columns: Mapping[str, Any], path: Path) -> None:
    """Write columns to a ``.csv`` or ``.parquet`` file."""
    table = pa.table(dict(columns))
    if path.suffix.lower() == ".parquet":
        pyarrow.parquet.write_table(table, path)
    else:
        pyarrow.csv.write_csv(table, path)


def show(result: RenderableType) -> None:
    """Print a result for people; without colours where nobody sees them."""
    console = Console(width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH, highlight=False)
    with console.capture() as said:
        console.print(result)
    click.echo(said.get(), nl=False)  # rich itself would end the process when a pipe is closed


def say(line: str, *, quiet: bool) -> None:
    """Tell people something beside the result, on standard error."""
    if not quiet:
        click.echo(line, err=True)


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(result, ensure_ascii=False, indent=2))
