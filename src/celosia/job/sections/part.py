"""What every part of a job file has in common: no unknown option passes, and complaints use a statistician's words.

pydantic finds what is wrong; here its findings become faults: the way to the place, what was seen, and a remedy.
"""

from __future__ import annotations

import difflib
import inspect
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, ValidationInfo, model_validator
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from celosia.errors import nearest

Where: TypeAlias = tuple[str | int, ...]
"""The way from a part to what is wrong in it: ``("digits", 1)``."""


class Fault(NamedTuple):
    """Something that is wrong in a part: the way to it, what it is, and what to do."""

    way: Where
    message: str
    remedy: str = ""


_MOST = 60  # a longer value is cut: the place says where to look


class JobPart(BaseModel):
    """A part of a job file: strict types, no unknown options, frozen.

    A part that holds a contradiction says so in `contradictions`, which sees what was written even where some of it
    has the wrong type: so all problems come at once.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        arbitrary_types_allowed=True,
        defer_build=True,  # a command needs few of them
    )

    @classmethod
    def without_options(cls) -> Self:
        """Return the part where nothing is written: the defaults, which nobody has to check."""
        return cls.model_construct()

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:  # noqa: ARG003
        """Yield what is wrong between the options of this part, each with the way to it."""
        yield from ()

    @model_validator(mode="wrap")
    @classmethod
    def _in_our_words(cls, written: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        found = list(cls.contradictions(written)) if isinstance(written, Mapping) else []
        try:
            part = handler(written)
        except ValidationError as error:
            found = [_fault(detail, cls) for detail in error.errors(include_url=False)] + found
        if found:
            raise complaint(*found)
        return part


def describe_options(part: type) -> dict[str, str]:
    """Return what the docstrings of a class and its parents say about its options, and under "" about the class."""
    return {key: text for kind in reversed(part.__mro__) for key, text in _read_docstring(kind.__doc__ or "").items()}


@cache
def _read_docstring(docstring: str) -> Mapping[str, str]:
    text = inspect.cleandoc(docstring)
    said = {"": _plain(text.partition("\n\n")[0])}
    _, _, below = text.partition("Parameters\n----------\n")
    for names, meaning in re.findall(r"^(\S[^\n]*)\n((?: {4}[^\n]*\n?)+)", below, flags=re.MULTILINE):
        said |= dict.fromkeys(names.split(", "), _plain(meaning))
    return said


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def complaint(*found: Fault) -> ValidationError:
    """Return an error that pydantic carries outwards, adding the way to this part in front of each fault's."""
    lines = [
        InitErrorDetails(
            type=PydanticCustomError("problem", "{message}", {"message": fault.message, "remedy": fault.remedy}),
            loc=fault.way,
            input=None,
        )
        for fault in found
    ]
    return ValidationError.from_exception_data("job", lines)


def faults_of(error: ValidationError) -> list[Fault]:
    """Return the faults that an error of a part carries."""
    details = error.errors(include_url=False)
    return [Fault(detail["loc"], detail["ctx"]["message"], detail["ctx"]["remedy"]) for detail in details]


def place_of(way: Sequence[str | int]) -> str:
    """Return a place as people write it.

    >>> place_of(("dimensions", "size class", "hierarchy", 0, "digits"))
    'dimensions."size class".hierarchy[0].digits'
    """
    place = ""
    for step in way:
        if isinstance(step, int):
            place += f"[{step}]"
        else:
            name = step if re.fullmatch(r"[\w-]+", step) else f'"{step}"'
            place += f".{name}" if place else name
    return place


def context_of(info: ValidationInfo) -> Mapping[str, Any]:
    """Return the context of a job file that its parts need: the folder, the dimensions' names."""
    return info.context or {}


def suggest(value: object, choices: Sequence[str]) -> str:
    """Return the choice that was probably meant; unlike `nearest` without listing them, which the message does."""
    close = difflib.get_close_matches(str(value), choices, n=1)
    return f"Did you mean {close[0]!r}?" if close else ""


def format_value(value: object) -> str:
    """Return a value as the job file would write it, cut when it is long.

    >>> format_value(True), format_value("ten")
    ('true', "'ten'")
    """
    match value:
        case bool():
            return "true" if value else "false"
        case Mapping():
            return "a table of options"
        case str() | int() | float() | list():
            text = repr(value)
        case _:
            text = str(value)
    return text if len(text) <= _MOST else f"{text[:_MOST]} ..."


_KINDS = {
    "string_type": "text in quotes",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "list_type": "a list in brackets",
    "dict_type": "a table of options",
    "model_type": "a table of options",
    "model_attributes_type": "a table of options",
}


def _fault(detail: ErrorDetails, part: type[JobPart]) -> Fault:
    """Return what pydantic found in a part, in our words."""
    value, context = detail["input"], detail.get("ctx", {})
    name = str(detail["loc"][-1]) if detail["loc"] else ""
    match detail["type"]:
        case "problem":
            said = context["message"], context["remedy"]
        case "missing":
            field = part.model_fields.get(name)
            said = "is missing.", (field.description if field else None) or ""
        case "extra_forbidden":
            said = "is no option here.", nearest(name, part.model_fields)
        case "literal_error":
            said = (
                f"must be {context['expected']}, not {format_value(value)}.",
                suggest(value, re.findall(r"'([^']*)'", context["expected"])),
            )
        case "greater_than_equal":
            said = f"must be at least {context['ge']}, not {format_value(value)}.", ""
        case "less_than_equal":
            said = f"must be at most {context['le']}, not {format_value(value)}.", ""
        case "list_type" if isinstance(value, Mapping):
            said = "must be a list, and is a table of options.", f"Write [[{name}]] in double brackets above them."
        case "too_short" | "string_too_short":
            said = "is empty.", ""
        case kind if kind in _KINDS:
            said = f"must be {_KINDS[kind]}, not {format_value(value)}.", ""
        case _:
            said = f"{detail['msg']} (seen: {format_value(value)}).", ""
    return Fault(detail["loc"], *said)
