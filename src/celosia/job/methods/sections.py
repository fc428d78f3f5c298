"""The sections of all methods, each made from the dataclass of its method.

Names, types, defaults and descriptions of options are those of the dataclass: an option is described there and nowhere
else, its first sentence for job file, command line and reference, the rest for Python. Job files name cells by their
codes, and costs by words: that is all that the types here change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from fractions import Fraction
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import pydantic
from numpy.typing import NDArray

from celosia.errors import SpecError
from celosia.job.methods.section import Keep, MethodPart
from celosia.job.sections.output import SECRET_ENDING, OutputFile
from celosia.job.sections.part import Fault, describe_options
from celosia.job.sections.selection import Bases, Bounds, Cells, Distances, Factors, RoundedValues, Widths
from celosia.job.sections.values import CostText, Decimals
from celosia.library import EachOnFirstUse
from celosia.protection.methods import METHODS
from celosia.risk.cost import Cost
from celosia.risk.risk import Risk


class _CostedPart(MethodPart):
    """A method that hides cells or publishes ranges, whose costs a job can change cell by cell.

    Parameters
    ----------
    factors
        Multiples of the cost for some cells.
    keep
        A release of last period: what it does not show had better not be shown again.
    """

    factors: Factors | None = None
    keep: Keep | None = None


class _SecretPart(MethodPart):
    """A method that draws by a secret, which a job keeps for every period and revision.

    Parameters
    ----------
    secret_file
        The file that keeps the secret: drawn and written on first use, never written over, and never to be published.
    """

    secret_file: OutputFile | None = None

    @classmethod
    def contradictions(cls, written: Mapping[str, Any]) -> Iterator[Fault]:
        """Yield what is wrong with the file, as far as that can be seen without it."""
        yield from super().contradictions(written)
        file = written.get("secret_file")
        if isinstance(file, str) and Path(file).suffix != SECRET_ENDING:
            remedy = f"Name a {SECRET_ENDING} file, so that nothing else takes its place."
            yield Fault(("secret_file",), f"has the ending {Path(file).suffix!r}.", remedy)
        if file is not None and written.get("secret") is not None:
            yield Fault(("secret_file",), "and secret are both given.", "Leave one of them out.")


class _RangePart(_CostedPart, _SecretPart):
    """A method that publishes ranges."""


class _FrozenPart(MethodPart):
    """A method that calls ``must_show`` otherwise in Python."""

    renamed = {"must_show": "frozen"}  # noqa: RUF012  (a constant of the class)


class _RoundPart(_FrozenPart):
    """Rounding, with bases of single cells.

    Parameters
    ----------
    bases
        Bases of their own for some cells.
    """

    bases: Bases | None = None

    def adapt(self, options: dict[str, Any], risk: Risk) -> dict[str, Any]:
        """Return one base per cell where some have their own."""
        own = options.pop("bases", None)
        if own is None:
            return options
        return options | {"base": [own.get(cell, Fraction(repr(options["base"]))) for cell in range(len(risk))]}


class _PerturbPart(_FrozenPart, _SecretPart):
    """Perturbation, with the sides of single cells.

    Parameters
    ----------
    windows
        The lowest and the highest value that may be published of some cells, as their lower and upper ends.
    up, down
        Sensitive cells that are moved to this side.
    """

    replaced = frozenset(("sides", "windows"))
    windows: Bounds | None = None
    up: Cells | None = None
    down: Cells | None = None

    def adapt(self, options: dict[str, Any], risk: Risk) -> dict[str, Any]:
        """Return the sides of single cells as the method takes them."""
        up, down = (options.pop(side, np.zeros(0, dtype=np.int64)) for side in ("up", "down"))
        both = np.intersect1d(up, down)
        if len(both):
            label = risk.table.label(int(both[0]))
            raise SpecError.one("method.up", f"{label} is in up and in down.", "Take it out of one of them.")
        return options | {"sides": dict.fromkeys(up.tolist(), "up") | dict.fromkeys(down.tolist(), "down")}


class _AdjustPart(MethodPart):
    """A method that calls ``must_show`` otherwise in Python."""

    renamed = {"must_show": "keep"}  # noqa: RUF012  (a constant of the class)


class _RandomRoundPart(MethodPart):
    """Random rounding, with values that are given in place of a draw.

    Parameters
    ----------
    cells
        The rounded values of the sensitive cells, in place of a draw.
    """

    replaced = frozenset(("cells",))
    cells: RoundedValues | None = None


_BASES: Mapping[str, type[MethodPart]] = {
    "suppress": _CostedPart,
    **dict.fromkeys(("interval", "combined", "mixed"), _RangePart),
    "round": _RoundPart,
    "perturb": _PerturbPart,
    "adjust": _AdjustPart,
    "random-round": _RandomRoundPart,
}
"""What the sections of some methods have besides the options of the method."""


def make_section(kind: type[Any], base: type[MethodPart] = MethodPart) -> type[MethodPart]:
    """Return the section of a method.

    Parameters
    ----------
    kind
        The dataclass of the method.
    base
        What the section has besides.
    """
    said = describe_options(kind)
    hints = get_type_hints(kind)
    called = {theirs: ours for ours, theirs in base.renamed.items()}
    options: dict[str, Any] = {"name": (Literal[kind.name], kind.name)}
    lines = [
        f'``name = "{kind.name}"``: {_first_sentence(said[""])}',
        "",
        "Parameters",
        "----------",
        "name",
        "    The method.",
    ]
    for own in fields(kind):
        if own.name not in base.replaced:
            option, default = called.get(own.name, own.name), _default(own)
            known = _type_in_job(own.name, hints[own.name])
            options[option] = (known if default is not None else known | None, default)
            lines += [option, f"    {_first_sentence(said[own.name])}"]
    part = pydantic.create_model(f"{kind.__name__}Part", __base__=base, __doc__="\n".join(lines), **options)
    part.kind = kind
    return part


def _default(own: Field[Any]) -> Any:  # noqa: ANN401
    """Return the default of an option: None where it must be given, and where by default no cells are named."""
    return own.default if own.default is not MISSING and isinstance(own.default, bool | int | float | str) else None


def _type_in_job(name: str, hint: Any) -> Any:  # noqa: ANN401
    """Return the type that an option has in a job file: words for costs, selections for cells, one number for many."""
    kinds = list(_members(hint))
    words = [kind for kind in kinds if get_origin(kind) is Literal]
    types = {
        "cost": CostText if Cost in kinds else None,
        "words": words[0] if words else None,
        "widths": _numbers_by_cell(name) if any(get_origin(kind) is Mapping for kind in kinds) else None,
        "cells": Cells if NDArray[np.bool_] in kinds else None,
        "switch": bool if kinds == [bool] else None,
        "number": float if float in kinds else None,
        "whole number": Decimals if name == "decimals" else Annotated[int, pydantic.Field(ge=0)],
    }
    return next(known for known in types.values() if known is not None)


def _numbers_by_cell(name: str) -> Any:  # noqa: ANN401
    """Return the type of an option that gives numbers for cells: distances to a side, or widths."""
    return Distances if name.startswith(("lower_", "upper_")) else Widths


def _members(hint: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield the types of which a value may be, other than None."""
    if get_origin(hint) in (Union, UnionType):
        for member in get_args(hint):
            yield from _members(member)
    elif hint is not type(None):
        yield hint


def _first_sentence(text: str) -> str:
    """Return the first sentence of a description, without references to Python."""
    return re.sub(r" \(`celosia\.\w+`\)", "", re.split(r"(?<=\.)\s", text, maxsplit=1)[0])


SECTIONS: Mapping[str, type[MethodPart]] = EachOnFirstUse(
    tuple(METHODS), lambda name: make_section(METHODS[name], _BASES.get(name, MethodPart))
)
"""The section of every method, by the method's name."""
