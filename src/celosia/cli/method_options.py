"""Every option of a method is an option of the command: made from the sections of the job file, where one is given."""

from __future__ import annotations

from functools import cache
from typing import Any, Literal, get_args, get_origin

import click
from pydantic.fields import FieldInfo

from celosia.job.methods.choice import owners
from celosia.job.methods.section import KeepPart
from celosia.job.methods.sections import SECTIONS
from celosia.job.sections.part import describe_options
from celosia.job.sections.selection import Selection

_OWN_ONLY = f"{__name__}.own_only"
"""Under this name a context knows that a line has no option of a method."""


class MethodCommand(click.Command):
    """A command that has the options of all methods, too.

    Most lines have none of them, and wait for none: they are made for a line that has an option which is not the
    command's own, such as a misspelt one, and for help.
    """

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the command's own options, and with them those of all methods where this line may have one."""
        own = super().get_params(ctx)
        if ctx.meta.get(_OWN_ONLY):
            return own
        last = next(place for place, option in enumerate(own) if option.name == "quiet")  # what all commands end with
        return [*own[:last], *_method_options(), *own[last:]]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read a line."""
        own = {said for option in self.params for said in (*option.opts, *option.secondary_opts)}
        ctx.meta[_OWN_ONLY] = all(said.partition("=")[0] in own for said in args if said.startswith("-"))
        return super().parse_args(ctx, args)


@cache
def _method_options() -> tuple[click.Option, ...]:
    """Return the options of all methods, each once, but for the method's own name."""
    names = dict.fromkeys(name for part in SECTIONS.values() for name in part.model_fields if name != "name")
    return tuple(_option(name, SECTIONS[owners(name)[0]].model_fields[name], describe_option(name)) for name in names)


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


def _option(name: str, field: FieldInfo, said: str) -> click.Option:
    """Return an option whose values are those of the job file; what is not given is None."""
    kinds = _kinds(field.annotation)
    flag, said = f"--{name.replace('_', '-')}", said.replace("`", "")
    if bool in kinds:
        names = flag if field.default is False else f"{flag}/--no-{flag[2:]}"
        return click.Option([names], is_flag=True, default=None, help=said)
    if Selection in kinds:
        return click.Option([flag], metavar="CELLS.csv", help=said)
    if KeepPart in kinds:
        return click.Option([flag], metavar="LAST.csv", help=said)
    words = [word for kind in kinds if get_origin(kind) is Literal for word in get_args(kind)]
    if words:
        number = all(isinstance(word, int) for word in words)
        return click.Option([flag], metavar="|".join(map(str, words)), type=int if number else str, help=said)
    if float in kinds or int in kinds:
        return click.Option([flag], metavar="N", type=float if float in kinds else int, help=said)
    return click.Option([flag], metavar=name.rpartition("_")[2].upper(), help=said)


def _kinds(annotation: Any) -> list[Any]:  # noqa: ANN401
    """Return the types of which an option can be."""
    if get_origin(annotation) is Literal:
        return [annotation]
    parts = [part for part in get_args(annotation) if part is not type(None)]
    return [kind for part in parts for kind in _kinds(part)] if parts else [annotation]
