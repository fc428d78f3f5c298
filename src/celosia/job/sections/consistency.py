"""What must hold between the sections of a job file, whatever their inner faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from celosia.errors import nearest
from celosia.job.sections.part import Fault, Where, place_of

_NO_DIMENSIONS = frozenset(
    ("cell", "variable", "factor", "width", "distance", "rounded", "percent", "lower", "upper", "base")
)


def find_contradictions(written: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the contradictions between the sections of a job file as it was written, types unchecked."""
    if "data" in written and "cells" in written:
        yield Fault(("cells",), "stands beside [data].", "A job has microdata or ready-made cells: drop one of them.")
    elif "data" in written or "cells" in written:
        yield from _rules_without_column(written)
    else:
        yield Fault(("data",), "is missing.", "Add [data] for microdata, or [cells] for ready-made cells.")
    if "cells" in written and "data" not in written:
        yield from _idle_with_cells(written)
    if "cost" in _section(written, "method") and "cost" in _section(written, "assess"):
        yield Fault(("method", "cost"), "stands beside assess.cost.", "Give one of the two.")
    yield from _unknown_dimensions(written)
    yield from _repeated_tables(written)


def _unknown_dimensions(written: Mapping[str, Any]) -> Iterator[Fault]:
    if "dimensions" not in written:
        return
    known = _section(written, "dimensions")
    used: list[tuple[Where, str]] = []
    for k, table in _sections(written, "tables"):
        used += [(("tables", k, "by"), name) for name in _names(table.get("by"))]
    used += [(("assess", "exempt", name), name) for name in _section(_section(written, "assess"), "exempt")]
    used += _dimensions_of_selections(written)
    for way, name in used:
        if name not in known:
            remedy = f"{nearest(name, known)} Or add [{place_of(('dimensions', name))}]."
            yield Fault(way, f"{name!r} is no dimension.", remedy.strip())


def _dimensions_of_selections(written: Mapping[str, Any]) -> Iterator[tuple[Where, str]]:
    """Yield the dimensions by which methods and attackers name cells, with the ways to them."""
    methods: list[tuple[Where, Mapping[str, Any]]] = [(("method",), _section(written, "method"))]
    others = _section(written, "methods")
    methods += [(("methods", name), _section(others, name)) for name in others]
    named: list[tuple[Where, Mapping[str, Any], str]] = []
    for way, method in methods:
        named += [((*way, option), method, option) for option in method]
    named += [(("attackers", k, "knows"), attacker, "knows") for k, attacker in _sections(written, "attackers")]
    for way, section, option in named:
        for k, entry in _sections(section, option):
            for name in entry:
                if name not in _NO_DIMENSIONS:
                    yield (*way, k, name), name


def _repeated_tables(written: Mapping[str, Any]) -> Iterator[Fault]:
    first: dict[tuple[frozenset[str], frozenset[str]], int] = {}
    for k, table in _sections(written, "tables"):
        key = (frozenset(_names(table.get("by"))), frozenset(_names(table.get("value"))))
        if key[0] and first.setdefault(key, k) != k:
            yield Fault(("tables", k), f"is the same table as tables[{first[key]}].", "Drop one of them.")


def _rules_without_column(written: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the rules that look at something which the data do not have."""
    microdata, given = "data" in written, _section(written, "data" if "data" in written else "cells")
    for k, rule in _sections(written, "rules"):
        way = ("rules", k)
        match rule.get("rule"):
            case "requests" if not microdata:
                yield Fault(way, "looks at requests of respondents, which only microdata have.", "Drop the rule.")
            case "requests" if "request" not in given:
                yield Fault(way, "looks at requests, but [data] has no column of them.", "Name it in data.request.")
            case "given-status" if microdata:
                yield Fault(way, "looks at the status of ready-made cells, and these are microdata.", "Drop the rule.")
            case "given-status" if "status" not in given:
                yield Fault(way, "looks at the status, but [cells] has no column of it.", "Name it in cells.status.")
        if microdata and rule.get("by") == "holding" and "holding" not in given:
            remedy = "Name the column in data.holding, or leave 'by' out."
            yield Fault((*way, "by"), "is 'holding', but [data] has no column of holdings.", remedy)


def _idle_with_cells(written: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield what ready-made cells leave without effect: nothing in a job file is passed over in silence."""
    for k, table in _sections(written, "tables"):
        if k > 0:
            yield Fault(("tables", k), "is a second table.", "Ready-made cells make one table: write a job for each.")
        if "value" in table:
            yield Fault(("tables", k, "value"), "belongs to microdata.", "Ready-made cells have theirs in cells.value.")
    for option in ("largest", "contributions"):
        if option in _section(written, "assess"):
            yield Fault(("assess", option), "belongs to microdata.", "Drop it.")
    for name, dimension in _section(written, "dimensions").items():
        if isinstance(dimension, Mapping) and "columns" in dimension:
            yield Fault(("dimensions", name, "columns"), "belong to microdata.", "Give a column and a hierarchy.")
    yield from _unused_columns(_section(written, "cells"), written)


def _unused_columns(cells: Mapping[str, Any], written: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield the columns of ready-made cells that nothing looks at."""
    if "links" in written and "variable" not in cells:
        yield Fault(("links",), "needs several variables, and these cells have one.", "Name them in cells.variable.")
    if "cost" in cells and "cost" not in str(_section(written, "assess").get("cost", "cost")):
        yield Fault(("cells", "cost"), "goes unused, for assess.cost does not name it.", "Write 'cost' there.")
    if "status" in cells and not any(rule.get("rule") == "given-status" for _, rule in _sections(written, "rules")):
        message = "is looked at by no rule: cells given as sensitive would pass for safe."
        yield Fault(("cells", "status"), message, 'Add [[rules]] with rule = "given-status".')


def _sections(written: Mapping[str, Any], name: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Return the entries of a list of sections that are sections, with their numbers."""
    entries = written.get(name)
    return (
        [(k, entry) for k, entry in enumerate(entries) if isinstance(entry, Mapping)]
        if isinstance(entries, list)
        else []
    )


def _section(written: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = written.get(name)
    return section if isinstance(section, Mapping) else {}


def _names(written: object) -> list[str]:
    entries = written if isinstance(written, list) else [written]
    return [name for name in entries if isinstance(name, str)]
