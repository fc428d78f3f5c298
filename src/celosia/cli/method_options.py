"""Every option of a method is an option of the command: made from the sections of the job file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from celosia.job.methods.choice import PARTS, owners
from celosia.job.methods.section import KeepPart
from celosia.job.sections.part import documented
from celosia.job.sections.selection import Selection

Command = TypeVar("Command", bound=Callable[..., Any])

NAMES: tuple[str, ...] = tuple(dict.fromkeys(name for part in PARTS.values() for name in part.model_fields))
"""The options of all methods, each once; the method's own name first."""


def method_options(command: Command) -> Command:
    """Give a command the options of all methods."""
    for option in reversed(list(_options())):
        command = option(command)
    return command


def _options() -> Iterator[Callable[[Command], Command]]:
    for name in NAMES[1:]:
        first = PARTS[owners(name)[0]]
        whose = "" if len(owners(name)) == len(PARTS) else f"  [{', '.join(owners(name))}]"
        yield _option(name, first.model_fields[name], documented(first)[name] + whose)


def _option(name: str, field: FieldInfo, said: str) -> Callable[[Command], Command]:
    """Return an option whose values are those of the job file; what is not given is None."""
    kinds = _kinds(field.annotation)
    flag, said = f"--{name.replace('_', '-')}", said.replace("`", "")
    if bool in kinds:
        names = f"{flag}/--no-{flag[2:]}" if field.default else flag
        return click.option(names, is_flag=True, default=None, help=said)
    if Selection in kinds:
        return click.option(flag, metavar="CELLS.csv", help=said)
    if KeepPart in kinds:
        return click.option(flag, metavar="LAST.csv", help=said)
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    if words:
        number = all(isinstance(word, int) for word in words)
        return click.option(flag, metavar="|".join(map(str, words)), type=int if number else str, help=said)
    if float in kinds or int in kinds:
        return click.option(flag, metavar="N", type=float if float in kinds else int, help=said)
    return click.option(flag, metavar=name.rpartition("_")[2].upper(), help=said)


def _kinds(annotation: Any) -> list[Any]:  # noqa: ANN401
    """Return the types of which an option can be."""
    if get_origin(annotation) is Literal:
        return [annotation]
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return [kind for part in parts for kind in _kinds(part)] if parts else [annotation]
