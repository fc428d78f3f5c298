"""Every option of a method is an option of the command: made from the sections of the job file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeVar, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from celosia.job.methods.choice import owners
from celosia.job.methods.section import KeepPart
from celosia.job.methods.sections import SECTIONS
from celosia.job.sections.part import describe_options
from celosia.job.sections.selection import Selection

Command = TypeVar("Command", bound=Callable[..., Any])

NAMES: tuple[str, ...] = tuple(dict.fromkeys(name for part in SECTIONS.values() for name in part.model_fields))
"""The options of all methods, each once; the method's own name first."""


def method_options(command: Command) -> Command:
    """Give a command the options of all methods."""
    for option in reversed(list(_options())):
        command = option(command)
    return command


def _options() -> Iterator[Callable[[Command], Command]]:
    for name in NAMES[1:]:
        yield _option(name, SECTIONS[owners(name)[0]].model_fields[name], describe_option(name))


def describe_option(name: str) -> str:
    """Return what an option means for which methods, all its meanings where it has several, and its defaults."""
    meanings: dict[str, list[str]] = {}
    for owner in owners(name):
        meanings.setdefault(describe_options(SECTIONS[owner])[name], []).append(owner)
    said = [f"{meaning}  [{', '.join(methods)}]" for meaning, methods in meanings.items()]
    values = {owner: SECTIONS[owner].model_fields[name].default for owner in owners(name)}
    given = {owner: value for owner, value in values.items() if value not in (None, False)}
    common = len(given) == len(values) and len(set(given.values())) == 1
    words = [str(next(iter(given.values())))] if common else [f"{value} for {owner}" for owner, value in given.items()]
    return "  ".join([*said, *([f"[default: {', '.join(words)}]"] if words else [])])


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
