"""What a command writes: the result on standard output, columns in files."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console, RenderableType

from celosia import files
from celosia.cli.interrupt import tidy_when_terminated
from celosia.errors import Problem, Problems, SpecError
from celosia.files import problems_with
from celosia.library import OnFirstUse
from celosia.risk.risk import Risk

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import csv, parquet

    from celosia.job.source import JobSource
else:
    pa = OnFirstUse("pyarrow")
    csv = OnFirstUse("pyarrow.csv")
    parquet = OnFirstUse("pyarrow.parquet")

_WIDTH = 110  # of what goes into a file or a pipe, where no terminal has a width


@contextmanager
def all_or_nothing(paths: Sequence[Path]) -> Iterator[dict[Path, Path]]:
    """Give every file a stand-in until all are complete, see `celosia.files`; nothing stays when the process ends."""
    with tidy_when_terminated(), files.all_or_nothing(paths) as stand_ins:
        yield stand_ins


def refuse_problems(
    source: JobSource, files: Iterable[tuple[Path | None, Sequence[str]]], *inputs: Path, more: Iterable[Problem] = ()
) -> None:
    """Refuse what is wrong with a job and with the files to write, all problems at once, before any work begins.

    Parameters
    ----------
    source
        The job.
    files
        The files to write, each with the endings that its name may have; None for one that is not asked for.
    inputs
        Further files that are read.
    more
        Further problems.
    """
    found = Problems()
    found.extend((*source.problems, *more))
    for path, endings in files:
        if path is not None:
            found.extend(problems_with(path, endings, (*source.inputs, *inputs)))
    found.raise_as(SpecError)


def write_columns(columns: Mapping[str, Any], path: Path) -> None:
    """Write columns to a ``.csv`` or ``.parquet`` file."""
    table = pa.table(dict(columns))
    if path.suffix.lower() == ".parquet":
        parquet.write_table(table, path)
    else:
        csv.write_csv(table, path)


def show(result: RenderableType) -> None:
    """Print a result for people; without colours in files and pipes.

    Names of cells are printed as they are, whatever brackets and colons mean to rich.
    """
    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDTH
    console = Console(width=width, highlight=False, markup=False, emoji=False)
    with console.capture() as said:
        console.print(result)
    click.echo(said.get(), nl=False)  # rich itself would end the process when a pipe is closed


def say(line: str, *, quiet: bool) -> None:
    """Tell people something beside the result, on standard error."""
    if not quiet:
        click.echo(line, err=True)


def say_how_to_verify(proof: Path, problem: Path, releases: Sequence[Path], *, quiet: bool) -> None:
    """Tell people the command that verifies a proof beside the problem and the release, if one that it can read."""
    readable = [path for path in releases if path.suffix.lower() != ".xlsx"]
    if readable:
        command = ["celosia", "verify", str(proof), "--problem", str(problem), "--release", str(readable[0])]
        say(f"Verify it with: {shlex.join(command)}", quiet=quiet)


def print_json(result: Mapping[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(json.dumps(result, ensure_ascii=False, indent=2))


def describe_respondents(risk: Risk) -> dict[str, Any]:
    """Return by which rules contributors attack each other, or why they were not asked, for machines."""
    rules = [rule.words for rule in risk.respondents]
    return {"asked": bool(rules), **({"rules": rules} if rules else {"reason": risk.unasked_note})}
