"""Rules as a job file writes them.

Here are the options' names and types; ranges and defaults belong to the rules themselves (`celosia.risk`), which are
built while the job file is read, so that a parameter out of range is reported beside every other problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from pydantic import PlainValidator, ValidationError, WrapValidator

from celosia.errors import SpecError, listed, nearest
from celosia.job.sections.part import Fault, Part, complaint, faults_of, seen
from celosia.risk.rules.cell_rules import GivenStatus, Requests, ZeroCells
from celosia.risk.rules.contributor_rules import Dominance, MinFrequency, PPercent, PriorPosterior
from celosia.risk.rules.finding import Rule

Number: TypeAlias = Annotated[float, WrapValidator(lambda value, check: (check(value), value)[1])]
"""A number, kept as it was written: a rule of 10 percent is not called a rule of 10.0."""

By: TypeAlias = Literal["auto", "respondent", "holding"]


class RulePart(Part):
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
        return 1


class MinFrequencyPart(RulePart):
    """``rule = "min-frequency"``."""

    kind = MinFrequency
    n: int
    percent: Number | None = None
    by: By | None = None


class DominancePart(RulePart):
    """``rule = "dominance"``."""

    kind = Dominance
    n: int
    k: Number
    by: By | None = None

    @property
    def units(self) -> int:
        """How many of the largest contributions the rule looks at."""
        return self.n


class PPercentPart(RulePart):
    """``rule = "p-percent"``."""

    kind = PPercent
    p: Number
    coalition: int | None = None
    by: By | None = None

    @property
    def units(self) -> int:
        """How many of the largest contributions the rule looks at."""
        return 1 + (self.coalition or 1)


class PriorPosteriorPart(RulePart):
    """``rule = "prior-posterior"``."""

    kind = PriorPosterior
    p: Number
    q: Number
    coalition: int | None = None
    by: By | None = None

    @property
    def units(self) -> int:
        """How many of the largest contributions the rule looks at."""
        return 1 + (self.coalition or 1)


class ZeroCellsPart(RulePart):
    """``rule = "zero-cells"``."""

    kind = ZeroCells
    level: Number


class RequestsPart(RulePart):
    """``rule = "requests"``."""

    kind = Requests
    share: Number | None = None
    percent: Number | None = None


class GivenStatusPart(RulePart):
    """``rule = "given-status"``."""

    kind = GivenStatus
    percent: Number | None = None


PARTS: dict[str, type[RulePart]] = {
    "min-frequency": MinFrequencyPart,
    "dominance": DominancePart,
    "p-percent": PPercentPart,
    "prior-posterior": PriorPosteriorPart,
    "zero-cells": ZeroCellsPart,
    "requests": RequestsPart,
    "given-status": GivenStatusPart,
}


def _rule(written: object) -> RulePart:
    """Return the part for what is written, having built its rule once."""
    if not isinstance(written, Mapping):
        message = f"must be a table of options, not {seen(written)}."
        raise complaint(Fault((), message, "Write [[rules]] above them."))
    name = written.get("rule")
    if name is None:
        raise complaint(Fault(("rule",), "is missing.", f"Give one of {listed(list(PARTS))}."))
    if not isinstance(name, str) or name not in PARTS:
        raise complaint(Fault(("rule",), f"{seen(name)} is no rule.", nearest(str(name), PARTS)))
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
    """Has the JSON schema of a rule made when somebody asks for it: one of the parts, by its name."""

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, Any]:
        kinds = []
        for name, part in PARTS.items():
            kind = part.model_json_schema()
            kind["properties"]["rule"] = {"const": name}
            kinds.append(kind | {"title": name, "description": f"The rule {name!r}."})
        return {"anyOf": kinds}


AnyRule: TypeAlias = Annotated[RulePart, PlainValidator(_rule), _Schema()]
"""One of the rules above, by its name."""
