"""Verification: whether a certificate proves that a release is safe.

Nothing is shared with what made the pattern, the audit or the certificate: no solver, no tolerance, no floating point.
What a certificate says is recomputed from its numbers; whether these are the numbers of *this* problem and *this*
release is checked where they are given. Where contributors attack each other, the certificate alone cannot tell whether
all that matter are in it: with the problem at hand they are asked again, by the audit of respondents and its solver.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

from celosia.certify.comparing import problem_differences, release_differences
from celosia.certify.judging import Tables, broken_relations, cell_findings, hash_problems, verdict_problems
from celosia.certify.reading import Claim, read_claim
from celosia.errors import Problem
from celosia.pattern.entries import INTERVAL, Finding, problems_of
from celosia.pattern.release import Release
from celosia.risk.risk import Risk


@dataclass(frozen=True, eq=False)
class Verification:
    """What became of a certificate.

    Parameters
    ----------
    proved
        The certificate proves that its release is safe.
    problems
        Why it does not; nothing where it does.
    counts
        How many cells, relations, attackers, requirements, requirements proved, tables, ranges and ranges reached
        there are.
    compared
        What it was compared with: ``problem``, ``release``, and ``respondents`` where those of the problem attacked
        its release again. Of what is not named here the certificate's own account was taken.
    ranges
        What the certificate says about published ranges.
    whole_numbers
        Its tables are whole numbers throughout.
    seconds
        How long it took.
    """

    proved: bool
    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    compared: tuple[str, ...]
    ranges: str
    whole_numbers: bool
    seconds: Decimal

    def __repr__(self) -> str:
        said = "proved" if self.proved else "not proved"
        proved, required = self.counts["requirements_proved"], self.counts["requirements"]
        return f"Verification({said}: {proved:,} of {required:,} requirements)"


def verify(
    path: str | Path, problem: Risk | None = None, release: Release | None = None, *, integer: bool | None = None
) -> Verification:
    """Return whether a certificate proves that its release is safe.

    Guarantee: `proved` only if the true table satisfies its relations, and every requirement has two tables that
    satisfy all relations, agree with everything published and with what the attacker knows, and reach the required
    ends, all of it in exact arithmetic; if the hashes are right and the verdict is ``safe``; and if problem and release
    are those of the certificate, as far as they are given. It proves safety, not that little is hidden. Where the
    problem protects respondents, `proved` only if the audit of respondents finds nothing in this release either.

    Parameters
    ----------
    path
        The certificate.
    problem
        The problem that it should be about: every requirement of it must be there, and no other.
    release
        The release that it should be about.
    integer
        Attackers know that values are whole numbers, so that only whole tables prove anything; by default where all
        variables are counts.

    Raises
    ------
    DataError
        The file is no certificate, or cannot be read.
    """
    began = time.monotonic_ns()
    claim = read_claim(path)
    table = claim.content["table"]
    whole = set(table["variables"]) <= set(table["counts"]) if integer is None else integer
    if problem is not None and integer is None:
        whole = whole or set(problem.table.variables) <= problem.table.counts
    tables = Tables(claim)
    unproved = list(tables.requirement_findings())
    proved = len(claim.required) - sum(int(wrong.sum()) for wrong, _, _ in unproved)
    cell_of = claim.required.cells
    unreached: Finding = (tables.unreached_ranges(), "the end of the published range is not reached.", "")
    found = [
        *verdict_problems(claim, proved, integer=whole),
        *hash_problems(claim),
        *(() if problem is None else problem_differences(claim, problem)),
        *(() if release is None else release_differences(claim, release, problem)),
        *problems_of([(broken_relations(claim), "the values do not satisfy it.", "")], "relation {}".format),
        *problems_of(cell_findings(claim), claim.label),
        *problems_of(unproved, lambda place: claim.label(int(cell_of[place]))),
        *tables.range_problems(),
        *problems_of([unreached], lambda place: claim.label(int(claim.range_cells[place]))),
    ]
    compared = [name for name, given in (("problem", problem), ("release", release)) if given is not None]
    if problem is not None and problem.respondents and not found:
        found = list(_exposed(claim, problem))
        compared.append("respondents")
    return Verification(
        proved=not found,
        problems=tuple(found),
        counts=MappingProxyType(_counts(claim, proved)),
        compared=tuple(compared),
        ranges=claim.content["ranges"]["claim"],
        whole_numbers=claim.content["whole_numbers"],
        seconds=Decimal(time.monotonic_ns() - began).scaleb(-9),
    )


def _exposed(claim: Claim, problem: Risk) -> Iterator[Problem]:
    # Nothing else in here may know of a solver.
    from celosia.certify.contributors import exposed_contributors  # noqa: PLC0415

    return exposed_contributors(claim, problem)


def _counts(claim: Claim, proved: int) -> dict[str, int]:
    return {
        "cells": len(claim.values),
        "relations": len(claim.relations),
        "attackers": len(claim.attackers),
        "requirements": len(claim.required),
        "requirements_proved": proved,
        "tables": len(claim.moves),
        "ranges": int(claim.of_status(INTERVAL).sum()),
        "ranges_reached": len(claim.range_cells),
    }
