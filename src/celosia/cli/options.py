"""Options that several commands have, each described once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from celosia.job.sections.limits import LimitsPart
from celosia.job.sections.part import describe_options

Command = TypeVar("Command", bound=Callable[..., Any])

PATH = click.Path(path_type=Path)

source_argument = click.argument("source", metavar="JOB.toml|PROBLEM.jj", type=PATH)

LIMITS: dict[str, tuple[str, type]] = {
    "time_limit": ("SECONDS", float),
    "gap": ("SHARE", float),
    "solver": ("NAME", str),
    "seed": ("N", int),
}
"""The options of ``[limits]``, with what stands for their value in the help, and its type."""


def limit_options(command: Command) -> Command:
    """Give a command the options of ``[limits]``, in the words of that section."""
    said = describe_options(LimitsPart)
    for name, (metavar, kind) in reversed(LIMITS.items()):
        command = click.option(f"--{name.replace('_', '-')}", metavar=metavar, type=kind, help=said[name])(command)
    return command


def print_options(command: Command) -> Command:
    """Give a command the options ``--quiet`` and ``--json``."""
    as_json = click.option("--json", "as_json", is_flag=True, help="Print the result as one JSON object.")
    quiet = click.option("--quiet", "-q", is_flag=True, help="Print nothing but the result.")
    return quiet(as_json(command))


def by_section(given: Mapping[str, Any], sections: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Any]]:
    """Return the options that were given, by section, as a job file would write them.

    Parameters
    ----------
    given
        All options, None for those that were not given.
    sections
        The options of some sections; all others are the method's.
    """
    section_of = {name: section for section, names in sections.items() for name in names}
    said: dict[str, dict[str, Any]] = {section: {} for section in (*sections, "method")}
    for name, value in given.items():
        if value is not None:
            said[section_of.get(name, "method")][name] = str(value) if isinstance(value, Path) else value
    return said
