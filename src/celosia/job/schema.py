"""The JSON schema of job files, for editors that complete and check while one types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celosia.job.methods.section import KeepPart
from celosia.job.methods.sections import SECTIONS
from celosia.job.sections.attackers import AttackerPart
from celosia.job.sections.hierarchies import HierarchyPart
from celosia.job.sections.limits import LimitsPart
from celosia.job.sections.output import OutputPart
from celosia.job.sections.part import JobPart, describe_options
from celosia.job.sections.tables import AssessPart, CellsPart, DataPart, DimensionPart, LinksPart, TablePart
from celosia.job.spec import Job

_PARTS: tuple[type[JobPart], ...] = (
    Job,
    DataPart,
    CellsPart,
    DimensionPart,
    HierarchyPart,
    TablePart,
    LinksPart,
    AssessPart,
    AttackerPart,
    *SECTIONS.values(),
    KeepPart,
    LimitsPart,
    OutputPart,
)


def job_schema() -> dict[str, Any]:
    """Return the JSON schema of job files, every option with what the documentation of its section says about it."""
    schema = Job.model_json_schema()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "celosia job file"}
    _put_methods(schema)
    known = {part.__name__: part for part in _PARTS}
    for name, section in {"Job": schema, **schema.get("$defs", {})}.items():
        if name in known:
            _describe(section, known[name])
    return schema


def _put_methods(schema: dict[str, Any]) -> None:
    """Put the sections of all methods into a schema: ``[method]`` is one of them, ``[methods]`` has one each."""
    references = {}
    for name, part in SECTIONS.items():
        section = part.model_json_schema()
        schema["$defs"] |= section.pop("$defs", {}) | {part.__name__: section}
        references[name] = {"$ref": f"#/$defs/{part.__name__}"}
    sections = schema["properties"]
    sections["method"] |= {"anyOf": list(references.values())}
    sections["methods"] |= {"properties": references, "additionalProperties": False}


def _describe(section: dict[str, Any], part: type[JobPart]) -> None:
    """Put the first lines of a section's docstring, and those of its options, where editors show them."""
    said = describe_options(part)
    section["description"] = said.pop("")
    properties: Mapping[str, Any] = section.get("properties", {})
    for name, option in properties.items():
        option.pop("title", None)
        if name in said:
            option["description"] = said[name]
