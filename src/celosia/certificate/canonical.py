"""What a certificate says about table, requirements and release, in one way only, to be hashed and compared.

Each part is made of texts, lists of them, and columns of exact numbers (`celosia.certificate.columns`). Two objects
that say the same have the same part, whatever decimals or integers they count in.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np

from celosia.certificate.columns import column, decimal_column, partial_column
from celosia.pattern.entries import STATUSES
from celosia.pattern.release import Release
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table

FORMAT, FORMAT_VERSION = "celosia certificate", 4

CONFIDENTIAL = (
    "This file holds the true values of cells that are not published. "
    "It stays in the office, and goes no further than those who may see them."
)

SAFE, NOT_SAFE = "safe", "not safe"
"""The verdicts."""

ALL_REACHED, SOME_REACHED, NO_RANGES = "all reached", "not all reached", "none published"
"""What a certificate says about published ranges: whether tables reach both ends of each."""


def table_part(table: Table) -> dict[str, Any]:
    """Return a table: values, relations, right sides and labels."""
    return {
        "cells": len(table),
        "variables": list(table.variables),
        "counts": sorted(table.counts.intersection(table.variables)),
        "variable": column(table.variable),
        "axes": [[axis.name, list(axis.labels)] for axis in table.axes],
        "codes": [column(codes) for codes in table.codes.T] if table.axes else [],
        "values": decimal_column(table.amounts),
        "relations": _relations(table.relations),
        "right": decimal_column(Fixed(table.relations.right, table.decimals)),
    }


def whole_part(table: Table, integer: bool | None) -> list[str]:  # noqa: FBT001  (as an audit says it)
    """Return the variables whose values attackers know to be whole numbers; see `celosia.table.table.whole_cells`."""
    known = table.counts if integer is None else table.variables if integer else ()
    return [name for name in table.variables if name in known]


def _relations(relations: Relations) -> dict[str, Any]:
    """Return the relations: how many terms each has, and cell after cell of each."""
    tidy = relations.matrix.copy()
    tidy.sum_duplicates()
    tidy.eliminate_zeros()
    sizes = np.diff(tidy.indptr)
    return {"sizes": column(sizes), "cells": column(tidy.indices), "coefficients": column(tidy.data)}


def requirements_part(risk: Risk) -> dict[str, Any]:
    """Return the attackers with their bounds, and what is required: cell, attacker, LPL, UPL and SPL."""
    wanted = risk.requirements
    return {
        "attackers": [{"name": attacker.name, **_ends(attacker.lower, attacker.upper)} for attacker in risk.attackers],
        "cells": column(wanted.cells),
        "attacker": column(wanted.attackers),
        "lower": decimal_column(wanted.lower),
        "upper": decimal_column(wanted.upper),
        "sliding": decimal_column(wanted.sliding),
    }


def respondents_part(risk: Risk) -> dict[str, Any]:
    """Return the rules by which contributors were kept from each other, and why they were not where they were not."""
    return {"rules": [rule.words for rule in risk.respondents], "unasked": risk.unasked_note or ""}


def release_part(release: Release) -> dict[str, Any]:
    """Return the entries of a release."""
    number = np.zeros(len(release), dtype=np.int64)
    for place, word in enumerate(STATUSES):
        number[release.status == word] = place
    return {
        "words": list(STATUSES),
        "status": column(number),
        "published": partial_column(release.published, release.has_value),
        **_ends(release.lower, release.upper),
    }


def _ends(lower: Fixed, upper: Fixed) -> dict[str, Any]:
    return {"lower": partial_column(lower, ~lower.infinite), "upper": partial_column(upper, ~upper.infinite)}


def digest(part: object) -> str:
    """Return the SHA-256 of a part, over its JSON text with sorted keys and without blanks."""
    text = json.dumps(part, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def digests(content: dict[str, Any]) -> dict[str, str]:
    """Return the hashes of a certificate: of its three parts, and of everything in it but the hashes."""
    parts = {name: digest(content[name]) for name in ("table", "requirements", "release")}
    # The parts go into the last hash by their own: the same is said, and said faster.
    rest = {name: part for name, part in content.items() if name != "sha256"} | parts
    return parts | {"certificate": digest(rest)}
