"""The JSON schema of job files, for editors that complete and check while one types."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from typing import Any

from celosia.job.attackers import AttackerPart
from celosia.job.hierarchies import HierarchyPart
from celosia.job.method import KeepPart, LimitsPart, MethodPart, OutputPart
from celosia.job.part import Part
from celosia.job.sections import AssessPart, CellsPart, DataPart, DimensionPart, LinksPart, TablePart
from celosia.job.spec import Job

_PARTS: tuple[type[Part], ...] = (
    Job,
    DataPart,
    CellsPart,
    DimensionPart,
    HierarchyPart,
    TablePart,
    LinksPart,
    AssessPart,
    AttackerPart,
    MethodPart,
    KeepPart,
    LimitsPart,
    OutputPart,
)


def job_schema() -> dict[str, Any]:
    """Return the JSON schema of job files, every option with what the documentation of its section says about it."""
    schema = Job.model_json_schema()
    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "celosia job file"}
    known = {part.__name__: part for part in _PARTS}
    for name, section in {"Job": schema, **schema.get("$defs", {})}.items():
        if name in known:
            _describe(section, known[name])
    return schema


def _describe(section: dict[str, Any], part: type[Part]) -> None:
    """Put the first lines of a section's docstring, and those of its options, where editors show them."""
    text = inspect.getdoc(part) or ""
    section["description"] = _plain(text.partition("\n\n")[0])
    said = dict(_options(text))
    properties: Mapping[str, Any] = section.get("properties", {})
    for name, option in properties.items():
        option.pop("title", None)
        if name in said:
            option["description"] = said[name]


def _options(text: str) -> Iterator[tuple[str, str]]:
    """Yield the names and descriptions under *Parameters* of a numpydoc docstring."""
    _, _, below = text.partition("Parameters\n----------\n")
    for names, said in re.findall(r"^(\S[^\n]*)\n((?: {4}[^\n]*\n?)+)", below, flags=re.MULTILINE):
        for name in names.split(", "):
            yield name, _plain(said)


def _plain(text: str) -> str:
    return " ".join(text.replace("``", "`").split())
