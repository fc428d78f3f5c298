"""Rules as a job file writes them, each made from the dataclass of the rule in `celosia.risk`.

A rule is built while the job file is read, so that a parameter out of range is reported beside every other problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Annotated, Any, ClassVar, TypeAlias, get_type_hints

from pydantic import PlainValidator, ValidationError, WrapValidator, create_model

from celosia.errors import SpecError, list_items, nearest
from celosia.job.sections.part import Fault, JobPart, complaint, faults_of, format_value
from celosia.risk.rules.cell_rules import GivenStatus, Requests, ZeroCells
from celosia.risk.rules.contributor_rules import Dominance, MinFrequency, PPercent, PriorPosterior
from celosia.risk.rules.finding import Rule

Number: TypeAlias = Annotated[float, WrapValidator(lambda value, check: (check(value), value)[1])]
"""A number, kept as it was written: a rule of 10 percent is not called a rule of 10.0."""


class RulePart(JobPart):
    """The options of one rule. What is left out has the default of the rule."""

    kind: ClassVar[type]
    rule: str

    def build(self) -> Rule:
        """Return the rule."""
        built: Rule = self.kind(**self.model_dump(exclude={"rule"}, exclude_unset=True))
        return built

    @property
    def units(self) -> int:
        """How many of the largest contributions the rule looks at."""
        options = self.model_dump()
        if self.kind is Dominance:
            return int(options["n"])
        return 1 + (options["coalition"] or 1) if "coalition" in options else 1


def _make_part(kind: type[Any]) -> type[RulePart]:
    """Return the part of a rule: the options of its dataclass, with their types."""
    types = {name: Number if hint is float else hint for name, hint in get_type_hints(kind).items()}
    options: dict[str, Any] = {
        own.name: (types[own.name], ...) if own.default is MISSING else (types[own.name] | None, None)
        for own in fields(kind)
    }
    part = create_model(f"{kind.__name__}Part", __base__=RulePart, __doc__=kind.__doc__, **options)
    part.kind = kind
    return part


PARTS: dict[str, type[RulePart]] = {
    "min-frequency": _make_part(MinFrequency),
    "dominance": _make_part(Dominance),
    "p-percent": _make_part(PPercent),
    "prior-posterior": _make_part(PriorPosterior),
    "zero-cells": _make_part(ZeroCells),
    "requests": _make_part(Requests),
    "given-status": _make_part(GivenStatus),
}


def _rule(written: object) -> RulePart:
    """Return the part for what is written, having built its rule once."""
    if not isinstance(written, Mapping):
        message = f"must be a table of options, not {format_value(written)}."
        raise complaint(Fault((), message, "Write [[rules]] above them."))
    name = written.get("rule")
    if name is None:
        raise complaint(Fault(("rule",), "is missing.", f"Give one of {list_items(list(PARTS))}."))
    if not isinstance(name, str) or name not in PARTS:
        raise complaint(Fault(("rule",), f"{format_value(name)} is no rule.", nearest(str(name), PARTS)))
    faults, sound = [], dict(written)
    try:
        part = PARTS[name].model_validate(written)
    except ValidationError as error:
        faults = faults_of(error)
        sound = {option: value for option, value in written.items() if all(fault.way[0] != option for fault in faults)}
    try:
        PARTS[name].kind(**{option: value for option, value in sound.items() if option != "rule"})
    except SpecError as error:
        faults += [Fault((problem.place,), problem.message, problem.remedy) for problem in error.problems]
    except TypeError:  # without an option that cannot be left out, the ranges of the others stay unchecked
        if not faults:
            raise
    if faults:
        raise complaint(*faults)
    return part


class _Schema:
    """Makes the JSON schema of a rule when it is asked for: one of the parts, by its name."""

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        kinds = []
        for name, part in PARTS.items():
            kind = part.model_json_schema()
            kind["properties"]["rule"] = {"const": name}
            kinds.append(kind | {"title": name, "description": f"The rule {name!r}."})
        return {"anyOf": kinds}


AnyRule: TypeAlias = Annotated[RulePart, PlainValidator(_rule), _Schema()]
"""One of the rules above, by its name."""
