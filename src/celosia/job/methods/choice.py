"""All methods by name, and how one of them is chosen: by the job file, or instead of it by the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, TypeAlias

from pydantic import PlainValidator, ValidationError, ValidationInfo, WithJsonSchema

from celosia.errors import SpecError, list_items, nearest
from celosia.job.methods.section import MethodPart
from celosia.job.methods.sections import SECTIONS
from celosia.job.sections.part import Fault, complaint, faults_of, format_value
from celosia.job.sections.selection import Selection

DEFAULT: MethodPart = SECTIONS["suppress"].without_options()
"""The method of a job that names none."""


def owners(option: str) -> list[str]:
    """Return the methods that have an option."""
    return [name for name, part in SECTIONS.items() if option in part.model_fields]


def make_method_part(written: object, context: Mapping[str, Any] | None = None) -> MethodPart:
    """Return the section of a method for what is written, or everything that is wrong with it.

    Parameters
    ----------
    written
        The options, with the method's name among them.
    context
        The context of the parts: the folder of the job file.
    """
    if not isinstance(written, Mapping):
        raise complaint(
            Fault((), f"must be a table of options, not {format_value(written)}.", "Write [method] above them.")
        )
    name = written.get("name", DEFAULT.name)
    if not isinstance(name, str) or name not in SECTIONS:
        raise complaint(Fault(("name",), f"{format_value(name)} is no method.", nearest(str(name), SECTIONS)))
    part = SECTIONS[name]
    foreign = [option for option in written if option not in part.model_fields and owners(option)]
    faults = [Fault((option,), f"is no option of the method {name!r}.", _whose(option)) for option in foreign]
    own = {option: value for option, value in written.items() if option not in foreign}
    made = None
    try:
        made = part.model_validate(own, context=dict(context or {}))
    except ValidationError as error:
        faults += faults_of(error)
    faulty = {fault.way[0] for fault in faults if fault.way}
    faults += _find_refusals(part, {option: value for option, value in own.items() if option not in faulty})
    if faults or made is None:
        raise complaint(*faults)
    return made


def _whose(option: str) -> str:
    return f"It belongs to {list_items(owners(option))}."


def _find_refusals(part: type[MethodPart], options: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what the method itself has against its plain options: ranges, and options that exclude each other."""
    plain = {
        name: value for name, value in options.items() if isinstance(value, int | float | str) and name in _plain(part)
    }
    try:
        part.kind(**plain)
    except SpecError as error:
        yield from (Fault((problem.place,), problem.message, problem.remedy) for problem in error.problems)
    except TypeError:  # without an option that cannot be left out, the ranges of the others stay unchecked
        return


def _plain(part: type[MethodPart]) -> list[str]:
    """Return the options of a method that mean the same to it as to the job: no name, no cells, no costs."""
    ours = ("name", "cost", "factors", "keep", "secret_file", *part.renamed)
    return [name for name, field in part.model_fields.items() if name not in ours and not _names_cells(field)]


def _names_cells(field: Any) -> bool:  # noqa: ANN401
    return Selection.__name__ in str(field.annotation)


def choose_method(
    own: MethodPart, others: Mapping[str, MethodPart], given: Mapping[str, Any], context: Mapping[str, Any]
) -> MethodPart:
    """Return the method that a job asks for, with what the caller says instead.

    Parameters
    ----------
    own
        The job's ``[method]``.
    others
        Its ``[methods.NAME]``.
    given
        The caller's options, perhaps with the name of another method: then its section counts, and where there is
        none, what ``[method]`` says, every option of it.
    context
        The context of the parts.

    Raises
    ------
    ValidationError
        An option makes no sense, or is none of the method's.
    """
    if not given:
        return own
    name = given.get("name", own.name)
    said = make_method_part({"name": name, **given}, context)
    base = own if name == own.name else others.get(name) or _carry_options(own, name)
    return base.model_copy(update={option: getattr(said, option) for option in given})


def _carry_options(own: MethodPart, name: str) -> MethodPart:
    """Return another method with the options of one; refuse where it lacks an option that has been given."""
    part = SECTIONS[name]
    written = {
        option: getattr(own, option)
        for option in own.given
        if option != "name" and getattr(own, option) != type(own).model_fields[option].default
    }
    lacking = [option for option in written if option not in part.model_fields]
    if lacking:
        remedy = f"Write what {name!r} is to do in a section [methods.{name}]."
        raise complaint(
            *(
                Fault(("method", option), f"stands in [method], and {name!r} has no such option.", remedy)
                for option in lacking
            )
        )
    return part.model_construct(**{**{k: f.default for k, f in part.model_fields.items()}, **written})


def _method(written: object, info: ValidationInfo) -> MethodPart:
    return written if isinstance(written, MethodPart) else make_method_part(written, info.context)


def _methods(written: object, info: ValidationInfo) -> dict[str, MethodPart]:
    if not isinstance(written, Mapping):
        message = f"must be a table of sections, not {format_value(written)}."
        raise complaint(Fault((), message, "Write [methods.NAME] above the options of a method."))
    faults: list[Fault] = []
    made: dict[str, MethodPart] = {}
    for name, section in written.items():
        if name not in SECTIONS:
            faults.append(Fault((name,), "is no method.", nearest(name, SECTIONS)))
            continue
        options = {**section, "name": name} if isinstance(section, Mapping) else section
        if isinstance(section, Mapping) and section.get("name", name) != name:
            faults.append(
                Fault((name, "name"), f"is {format_value(section['name'])} in the section of {name!r}.", "Drop it.")
            )
        try:
            made[name] = make_method_part(options, info.context)
        except ValidationError as error:
            faults += [Fault((name, *fault.way), fault.message, fault.remedy) for fault in faults_of(error)]
    if faults:
        raise complaint(*faults)
    return made


AnyMethod: TypeAlias = Annotated[MethodPart, PlainValidator(_method), WithJsonSchema({"type": "object"})]
"""One of the methods, by its name."""

Methods: TypeAlias = Annotated[dict[str, MethodPart], PlainValidator(_methods), WithJsonSchema({"type": "object"})]
"""Sections of several methods."""
