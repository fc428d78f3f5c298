"""Whether a certificate is about this problem and this release: both are put into canonical parts once more."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from celosia.certificate.canonical import release_part, requirements_part, respondents_part, table_part
from celosia.certificate.claim import Claim
from celosia.certificate.whole import times
from celosia.errors import Problem, pluralise
from celosia.pattern.entries import STATUSES, problems_of
from celosia.pattern.labels import Labels
from celosia.pattern.release import Release
from celosia.risk.risk import Risk
from celosia.table.dimension import Axis
from celosia.table.fixed import Fixed

_OTHER = "Is it the certificate of another problem, or of an earlier one?"
_SLIDING = 'Were levels made sliding by an option? Then write levels = "sliding" into the method of the job.'
_WORDS = {
    "cells": "cells",
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
    rules = [rule for rule in respondents_part(problem)["rules"] if rule not in claim.content["respondents"]["rules"]]
    if rules:
        seen = f"the certificate does not protect respondents by {pluralise(len(rules), 'rule')}: {'; '.join(rules)}."
        yield Problem("problem", seen, _OTHER)
    said, own = claim.content["requirements"], requirements_part(problem)
    # Respondents who came too close on the way to a pattern are attackers beside those of the problem.
    attackers = said["attackers"][: _count_own_attackers(claim, problem)], own["attackers"]
    names = [[attacker["name"] for attacker in part] for part in attackers]
    if names[0] != names[1]:
        yield Problem("problem", "the certificate has other attackers.", _OTHER)
    elif attackers[0] != attackers[1]:
        yield Problem("problem", "the certificate has attackers with other bounds.", _OTHER)
    if any(said[name] != own[name] for name in ("cells", "attacker", "lower", "upper", "sliding")):
        yield from _compare_requirements(claim, problem)


def _slides(levels: tuple[str, ...]) -> bool:
    """Return whether only a width is required."""
    lower, upper, sliding = (bool(level.strip("0.")) for level in levels)
    return sliding and not lower and not upper


def _compare_requirements(claim: Claim, problem: Risk) -> Iterator[Problem]:
    """Yield which requirements of the problem the certificate leaves out, changes, or adds."""
    said, own = claim.required, problem.requirements
    theirs = dict(zip(zip(said.cells.tolist(), said.attackers.tolist(), strict=True), _levels(claim), strict=True))
    levels = zip(*(level.texts() for level in (own.lower, own.upper, own.sliding)), strict=True)
    ours = dict(zip(zip(own.cells.tolist(), own.attackers.tolist(), strict=True), levels, strict=True))
    known = _count_own_attackers(claim, problem)
    theirs = {key: level for key, level in theirs.items() if key[1] < known or key in ours}
    if theirs == ours and problem.respondents:
        return
    missing = [key for key in ours if key not in theirs]
    changed = [key for key, level in ours.items() if theirs.get(key, level) != level]
    for keys, words in ((missing, "leaves out"), (changed, "has other levels for")):
        if keys:
            first = problem.table.label(keys[0][0])
            seen = f"the certificate {words} {pluralise(len(keys), 'requirement')}, the first about {first}."
            slid = keys is changed and all(_slides(theirs[key]) for key in keys)
            yield Problem("problem", seen, _SLIDING if slid else _OTHER)
    if any(key not in ours for key in theirs) or not (missing or changed):
        yield Problem("problem", "the certificate has requirements that the problem does not have.", _OTHER)


def _count_own_attackers(claim: Claim, problem: Risk) -> int:
    """Return how many of the certificate's attackers must be those of the problem: the first ones."""
    return len(claim.content["requirements"]["attackers"] if not problem.respondents else problem.attackers)


def _levels(claim: Claim) -> Iterator[tuple[str, ...]]:
    """Yield the levels of every requirement as texts."""
    levels = (claim.required.lower, claim.required.upper, claim.required.sliding)
    texts = [Fixed.of_counts(counts, len(str(unit)) - 1).texts() for counts, unit in levels]
    return zip(*texts, strict=True)


def release_differences(claim: Claim, release: Release, problem: Risk | None) -> Iterator[Problem]:
    """Yield in what the certificate speaks of another release."""
    n = len(claim.values)
    if n != len(release):
        seen = f"it has {pluralise(len(release), 'cell')}, and the certificate speaks of {n:,}."
        yield Problem("release", seen, "Is it the release of another table?")
        return
    said, own = claim.content["release"], release_part(release)
    other = np.zeros(n, dtype=bool)
    if said != own:
        other = _other_entries(claim, release)
        if not other.any():
            yield Problem("release", "the certificate writes it in another way.", "Make the certificate again.")
    findings = [(other, "the certificate speaks of another entry.", "Was the release edited after the proof?")]
    known = _labels(claim) if problem is None else Labels.of_table(problem.table)
    columns = release.labels.columns()
    if columns and len(known) == len(release):  # a bare problem has no columns: any that is there says too much
        for name, hint in known.unknown(list(columns)):
            yield Problem("release", f"column {name!r} is unknown.", hint)
        findings += known.find_differences(columns)
    yield from problems_of(findings, lambda cell: f"release, {claim.label(cell)}")


def _other_entries(claim: Claim, release: Release) -> NDArray[np.bool_]:
    """Return the cells about which the certificate speaks of another entry."""
    numbers = (release.published, release.lower, release.upper)
    given = (release.has_value, ~release.lower.infinite, ~release.upper.infinite)
    other = np.array(STATUSES)[claim.status] != release.status
    for ends, own, has in zip((claim.published, *claim.bounds), numbers, given, strict=True):
        differs = times(ends.counts, 10**own.decimals) != times(own.counts, claim.unit)
        other |= (ends.given != has) | (ends.given & has & np.asarray(differs, dtype=bool))
    return np.asarray(other)


def _labels(claim: Claim) -> Labels:
    """Return what the cells are called, by the certificate's own account."""
    table = claim.content["table"]
    axes = tuple(Axis(name, tuple(labels), (0,) * len(labels)) for name, labels in table["axes"])
    codes = np.array(claim.codes, dtype=np.int32).reshape(len(axes), len(claim.values)).T
    return Labels(axes, codes, tuple(table["variables"]), claim.variable.astype(np.int32))
