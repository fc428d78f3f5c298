"""Arguments of the verbs: another object than the one that is wanted gets a message, and what to call first.

The way through the package::

    Table --assess--> Risk --protect--> Protection --publish--> Release, --certify--> Certificate
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

from celosia.errors import Problems, SpecError

_MADE_BY = {
    "Table": "celosia.tabulate(data, by=...) or celosia.cells(data, by=..., value=...)",
    "Risk": "celosia.assess(table, rules)",
    "Protection": "celosia.protect(risk)",
    "Release": "celosia.publish(result)",
    "Audit": "celosia.audit(result)",
    "Certificate": "celosia.certify(result)",
    "Pattern": "celosia.Pattern.hide(table, cells)",
}
"""What makes the objects that the verbs take."""

_NEXT = {"Table": "celosia.assess(table, rules)", "Risk": "celosia.protect(risk)"}
"""The next step from objects at the beginning of the way."""

_INSIDE = {
    ("Risk", "Table"): "risk.table",
    ("Protection", "Risk"): "result.risk",
    ("Protection", "Table"): "result.risk.table",
    ("Protection", "Audit"): "result.audit",
    ("Audit", "Risk"): "audit.risk",
    ("Audit", "Release"): "audit.release",
}
"""Where objects hold what is wanted instead of them."""

_CALLED = {
    **dict.fromkeys(("Protected", "HasPattern", "Audited"), "Protection"),
    "Written": "Certificate",
    **dict.fromkeys(("str", "Path"), "file name"),
}
"""What answers to a protocol, and what else is called otherwise than its class."""

P = ParamSpec("P")
R = TypeVar("R")


def takes(**kinds: type | tuple[type, ...]) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function refuse arguments of other kinds than these; None is refused where it is no default.

    Guarantee: the message tells the kind of what was given, and never what it holds.

    Parameters
    ----------
    kinds
        Class or classes of every argument that is looked at, the first being what is usually given.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        parameters = signature(function).parameters
        bind = signature(function).bind

        @wraps(function)
        def call(*args: P.args, **options: P.kwargs) -> R:
            given = bind(*args, **options).arguments
            found = Problems()
            for name, kind in kinds.items():
                if name in given and not (given[name] is None and parameters[name].default is None):
                    with found.gather():
                        expect(given[name], kind, name)
            found.raise_as(SpecError)
            return function(*args, **options)

        return call

    return decorate


def expect(given: object, kinds: type | tuple[type, ...], place: str) -> None:
    """Refuse an object that is of none of some kinds.

    Raises
    ------
    SpecError
        What was given, what is wanted, and what to do.
    """
    if not isinstance(given, kinds):
        wanted = kinds if isinstance(kinds, tuple) else (kinds,)
        raise kind_error(given, place, *dict.fromkeys(_CALLED.get(kind.__name__, kind.__name__) for kind in wanted))


def kind_error(given: object, place: str, *wanted: str) -> SpecError:
    """Return the error about an argument of another kind than those that are wanted.

    >>> str(kind_error(12, "risk", "Risk"))
    'risk: must be a Risk, not an int. First call celosia.assess(table, rules).'
    """
    if isinstance(given, type):
        seen, remedy = f"the class {given.__name__}", f"Write {given.__name__}(...)."
    else:
        seen, remedy = _with_article(type(given).__name__), ""
    kinds = [_with_article(name) for name in wanted]
    words = " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)
    return SpecError.one(place, f"must be {words}, not {seen}.", remedy or _remedy(type(given).__name__, wanted))


def _remedy(given: str, wanted: tuple[str, ...]) -> str:
    """Return how to come from what was given to what is wanted."""
    inside = [_INSIDE[given, name] for name in wanted if (given, name) in _INSIDE]
    if inside:
        return f"Give {inside[0]}."
    later = given in _NEXT and not {"Table", given}.intersection(wanted)
    call = _NEXT[given] if later else _MADE_BY.get(wanted[0], "")
    return f"First call {call}." if call else ""


def _with_article(name: str) -> str:
    if name == "NoneType":
        return "None"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def check_ranges(parameters: object, **ranges: tuple[float, float | None]) -> None:
    """Refuse parameters out of range: fields without a range of their own are zero or more.

    Parameters
    ----------
    parameters
        A dataclass whose fields are numbers, tuples of them, or parameters that check themselves.
    ranges
        Least and most by the name of a field, None for no end.

    Raises
    ------
    ValueError
        With the field and its range.
    """
    for name in (own.name for own in fields(parameters)):  # type: ignore[arg-type]
        value = getattr(parameters, name)
        if is_dataclass(value):
            continue
        least, most = ranges.get(name, (0, None))
        numbers = value if isinstance(value, tuple) else (value,)
        if not all(number >= least and (most is None or number <= most) for number in numbers):
            end = f"{least} or more" if most is None else f"between {least} and {most}"
            message = f"{name} must be {end}, not {value}"
            raise ValueError(message)
