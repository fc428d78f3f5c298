"""What a certificate says about table, requirements and release, in one way only, to be hashed and compared.

Each part is made of texts, whole numbers that count places, and lists of them. Numbers that matter are texts, exact:
``12.5``, ``inf``. Two objects that say the same have the same part, whatever decimals or integers they count in.
"""

from __future__ import annotations

import hashlib
import json
from itertools import pairwise
from typing import Any

import scipy.sparse as sp

from celosia.pattern.release import Release
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed
from celosia.table.table import Table

FORMAT, FORMAT_VERSION = "celosia certificate", 1

CONFIDENTIAL = (
    "This file holds the true values of cells that are not published. "
    "It stays in the office, and goes no further than those who may see them."
)

SAFE, NOT_SAFE = "safe", "not safe"
"""The verdicts."""

ALL_REACHED, SOME_REACHED, NO_RANGES, NOT_CERTIFIED = (
    "all reached",
    "not all reached",
    "none published",
    "not certified",
)
"""What a certificate says about published ranges: whether tables reach both ends of each."""


def table_part(table: Table) -> dict[str, Any]:
    """Return a table: values, relations, right sides and labels."""
    return {
        "variables": list(table.variables),
        "counts": sorted(table.counts.intersection(table.variables)),
        "variable": table.variable.tolist(),
        "axes": [[axis.name, list(axis.labels)] for axis in table.axes],
        "codes": table.codes.tolist(),
        "values": table.amounts.texts(),
        "relations": _terms(table.relations.matrix),
        "right": Fixed(table.relations.right, table.decimals).texts(),
    }


def _terms(matrix: sp.csr_array) -> list[list[list[Any]]]:
    """Return the relations as lists of (cell, coefficient), by cell."""
    tidy = matrix.copy()
    tidy.sum_duplicates()
    tidy.eliminate_zeros()
    starts, cells, data = tidy.indptr.tolist(), tidy.indices.tolist(), tidy.data.tolist()
    terms = [[cell, str(coefficient)] for cell, coefficient in zip(cells, data, strict=True)]
    return [terms[start:end] for start, end in pairwise(starts)]


def requirements_part(risk: Risk) -> dict[str, Any]:
    """Return the attackers with their bounds, and what is required: cell, attacker, LPL, UPL and SPL."""
    wanted = risk.requirements
    levels = (wanted.lower.texts(), wanted.upper.texts(), wanted.sliding.texts())
    columns = (wanted.cells.tolist(), wanted.attackers.tolist(), *levels)
    return {
        "attackers": [
            {"name": attacker.name, "lower": attacker.lower.texts(), "upper": attacker.upper.texts()}
            for attacker in risk.attackers
        ],
        "required": [list(entries) for entries in zip(*columns, strict=True)],
    }


def release_part(release: Release) -> dict[str, Any]:
    """Return the entries of a release; a number that is not published is an empty text."""
    shown = zip(release.published.texts(), release.has_value.tolist(), strict=True)
    return {
        "status": release.status.tolist(),
        "published": [text if says else "" for text, says in shown],
        "lower": release.lower.texts(),
        "upper": release.upper.texts(),
    }


def digest(part: object) -> str:
    """Return the SHA-256 of a part, over its JSON text with sorted keys and without blanks."""
    text = json.dumps(part, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def digests(content: dict[str, Any]) -> dict[str, str]:
    """Return the hashes of a certificate: of its three parts, and of everything in it but the hashes."""
    parts = {name: digest(content[name]) for name in ("table", "requirements", "release")}
    return parts | {"certificate": digest({name: part for name, part in content.items() if name != "sha256"})}
