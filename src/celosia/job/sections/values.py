"""Values that several sections of a job file have: names, decimals, costs."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field

from celosia.errors import SpecError
from celosia.job.sections.part import Fault, complaint
from celosia.risk.cost import Cost

Name: TypeAlias = Annotated[str, Field(min_length=1)]
Decimals: TypeAlias = Annotated[int, Field(ge=0, le=9)]


def _wrap_name(written: object) -> object:
    return [written] if isinstance(written, str) else written


Names: TypeAlias = Annotated[
    list[Name], Field(min_length=1), BeforeValidator(_wrap_name, json_schema_input_type=str | list[str])
]
"""One name, or a list of them."""


def _cost(written: str) -> str:
    try:
        Cost.parse(written)
    except SpecError as error:
        raise complaint(*(Fault((), problem.message, problem.remedy) for problem in error.problems)) from None
    return written


CostText: TypeAlias = Annotated[Name, AfterValidator(_cost)]
"""A cost as people write it: see `celosia.risk.cost`."""
