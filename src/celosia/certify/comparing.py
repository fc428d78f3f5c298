"""Whether a certificate is about this problem and this release: both are put into canonical parts once more."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from celosia.certify.canonical import release_part, requirements_part, table_part
from celosia.certify.reading import Claim
from celosia.errors import Problem, counted
from celosia.pattern.entries import problems_of
from celosia.pattern.labels import Labels
from celosia.pattern.release import Release
from celosia.risk.risk import Risk
from celosia.table.dimension import Axis

_OTHER = "Is it the certificate of another problem, or of an earlier one?"
_WORDS = {
    "variables": "variables",
    "counts": "variables that count",
    "variable": "cells' variables",
    "axes": "dimensions",
    "codes": "cells' labels",
    "values": "values",
    "relations": "relations",
    "right": "right sides of relations",
}


def problem_differences(claim: Claim, problem: Risk) -> Iterator[Problem]:
    """Yield in what the certificate speaks of another problem, requirements that were dropped among it."""
    said, own = claim.content["table"], table_part(problem.table)
    for name, words in _WORDS.items():
        if said[name] != own[name]:
            yield Problem("problem", f"the certificate has other {words}.", _OTHER)
    said, own = claim.content["requirements"], requirements_part(problem)
    names = [[attacker["name"] for attacker in part["attackers"]] for part in (said, own)]
    if names[0] != names[1]:
        yield Problem("problem", "the certificate has other attackers.", _OTHER)
    elif said["attackers"] != own["attackers"]:
        yield Problem("problem", "the certificate has attackers with other bounds.", _OTHER)
    yield from _required_otherwise(said["required"], own["required"], problem)


def _required_otherwise(said: list[list[Any]], own: list[list[Any]], problem: Risk) -> Iterator[Problem]:
    """Yield which requirements of the problem the certificate leaves out, changes, or adds."""
    theirs = {(cell, attacker): levels for cell, attacker, *levels in said}
    ours = {(cell, attacker): levels for cell, attacker, *levels in own}
    missing = [key for key in ours if key not in theirs]
    changed = [key for key, levels in ours.items() if theirs.get(key, levels) != levels]
    added = [key for key in theirs if key not in ours]
    for keys, words in ((missing, "leaves out"), (changed, "has other levels for")):
        if keys:
            first = problem.table.label(keys[0][0])
            seen = f"the certificate {words} {counted(len(keys), 'requirement')}, the first about {first}."
            yield Problem("problem", seen, _OTHER)
    if added or (said != own and not missing and not changed):
        yield Problem("problem", "the certificate has requirements that the problem does not have.", _OTHER)


def release_differences(claim: Claim, release: Release, problem: Risk | None) -> Iterator[Problem]:
    """Yield in what the certificate speaks of another release."""
    said, own = claim.content["release"], release_part(release)
    if len(said["status"]) != len(release):
        seen = f"it has {counted(len(release), 'cell')}, and the certificate speaks of {len(said['status']):,}."
        yield Problem("release", seen, "Is it the release of another table?")
        return
    other = np.zeros(len(release), dtype=bool)
    for name, texts in own.items():
        other |= np.array([ours != theirs for ours, theirs in zip(texts, said[name], strict=True)], dtype=bool)
    findings = [(other, "the certificate speaks of another entry.", "Was the release edited after the proof?")]
    known = _labels(claim) if problem is None else Labels.of_table(problem.table)
    if release.axes and known.axes and len(known) == len(release):
        columns = release.labels.columns()
        for name, hint in known.unknown(list(columns)):
            yield Problem("release", f"column {name!r} is unknown.", hint)
        findings += known.differing(columns)
    yield from problems_of(findings, lambda cell: f"release, {claim.label(cell)}")


def _labels(claim: Claim) -> Labels:
    """Return what the cells are called, by the certificate's own account."""
    table = claim.content["table"]
    axes = tuple(Axis(name, tuple(labels), (0,) * len(labels)) for name, labels in table["axes"])
    codes = np.array(table["codes"], dtype=np.int32).reshape(len(table["codes"]), len(axes))
    return Labels(axes, codes, tuple(table["variables"]), np.array(table["variable"], dtype=np.int32))
