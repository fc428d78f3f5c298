"""Verification: whether a certificate proves that a release is safe.

Nothing is shared with what made the pattern, the audit or the certificate: no solver, no tolerance, no floating point.
What a certificate says is recomputed from its numbers. Anybody can write one whose numbers fit each other, about a
table, a release and requirements of his own choosing: it proves something only beside the problem and the release that
it must be about. Where contributors attack each other, it holds tables that protect each from all others; that nobody
is left out follows from the contributions, which are the problem's (`celosia.certificate.respondents`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.certificate.canonical import respondents_part
from celosia.certificate.claim import Claim, cells_of
from celosia.certificate.differences import problem_differences, release_differences
from celosia.certificate.judge import WitnessJudge, broken_relations, cell_findings, hash_problems, verdict_problems
from celosia.certificate.read import claim_in, read_claim
from celosia.errors import Problem
from celosia.pattern.csv.file import read_release
from celosia.pattern.entries import INTERVAL, Fault, problems_of
from celosia.pattern.release import Release
from celosia.risk.risk import Risk
from celosia.table.table import whole_cells


@runtime_checkable
class Written(Protocol):
    """A certificate that is not in a file yet: `celosia.certificate.certificate.Certificate`."""

    def text(self) -> str:
        """Return the file."""
        ...


@dataclass(frozen=True, eq=False)
class Verification:
    """What became of a certificate: whether it proves that a release is safe, and what it was compared with.

    Parameters
    ----------
    problems
        Why the certificate does not hold, or is about something else; nothing where it holds.
    counts
        How many cells, relations, attackers, requirements, requirements proved, tables, ranges and ranges reached
        there are.
    compared
        What it was compared with: ``problem``, ``release``, and ``respondents`` where its tables were judged beside the
        contributions of the problem. Of what is not named here only the certificate's own account is known.
    ranges
        What the certificate says about published ranges.
    whole_numbers
        Its tables are whole numbers throughout.
    whole_variables
        The variables of which its tables have whole numbers only.
    respondents
        The rules by which contributors attack each other, in words: those of the problem, where it is given.
    unasked
        That contributors did not attack, and why; None where they were.
    seconds
        How long it took.
    """

    problems: tuple[Problem, ...]
    counts: Mapping[str, int]
    compared: tuple[str, ...]
    ranges: str
    whole_numbers: bool
    whole_variables: tuple[str, ...]
    respondents: tuple[str, ...]
    unasked: str | None
    seconds: Decimal

    @property
    def missing(self) -> tuple[str, ...]:
        """What must be given before anything is proved, and was not: ``problem``, ``release``."""
        return tuple(name for name in _TWO if name not in self.compared)

    @property
    def consistent(self) -> bool:
        """The certificate holds in itself, and beside what was given. That is a proof if nothing is `missing`."""
        return not self.problems

    @property
    def proved(self) -> bool:
        """The certificate proves that the release is safe: problem and release were given, and it holds for both."""
        return self.consistent and not self.missing

    @property
    def verdict(self) -> str:
        """What was verified, in a line."""
        if self.proved:
            return "PROVED: the release is safe"
        if self.missing == _TWO:
            return f"NOT PROVED: checked in itself only{'' if self.consistent else ', and it does not hold'}"
        if self.consistent:
            (given,), (missing,) = set(_TWO) - set(self.missing), self.missing
            return f"NOT PROVED: compared with the {given} only, not with the {missing}"
        return "NOT PROVED: the certificate does not prove that the release is safe"

    def __repr__(self) -> str:
        proved, required = self.counts["requirements_proved"], self.counts["requirements"]
        return f"Verification({self.verdict}; tables for {proved:,} of {required:,} requirements)"


_TWO = ("problem", "release")
"""What a certificate must be compared with before it proves anything."""


@takes(certificate=(Written, str, Path), problem=Risk, release=(Release, str, Path))
def verify(
    certificate: str | Path | Written,
    problem: Risk | None = None,
    release: Release | str | Path | None = None,
    *,
    integer: bool | None = None,
) -> Verification:
    """Return whether a certificate proves that a release is safe.

    Guarantee: `proved` only if problem and release are given and are those of the certificate, every requirement of the
    problem among it; if the true table satisfies its relations, and every requirement has two tables that satisfy all
    relations, agree with everything published and with what the attacker knows, and reach the required ends, all of it
    in exact arithmetic; and if the hashes are right and the verdict is ``safe``. It proves safety, not that little is
    hidden. Where the problem protects respondents, `proved` only if its tables protect each of them from every
    coalition of others, whoever came close on the way to the pattern or did not.

    Parameters
    ----------
    certificate
        The certificate, or its file.
    problem
        The problem that it must be about: every requirement of it must be there, and no other. Without it nothing is
        proved: a certificate may leave out what it cannot show.
    release
        The release that it must be about, or its file. Without it nothing is proved about what is published.
    integer
        Attackers know that values are whole numbers, so that only tables prove anything that are whole there: True for
        all cells, False for none; by default for the cells of variables that count.

    Raises
    ------
    DataError
        The file is no certificate, or cannot be read.
    SpecError
        What was given is no certificate, no problem or no release.
    """
    began = time.monotonic_ns()
    claim = _claim(certificate)
    release = read_release(release) if isinstance(release, str | Path) else release
    tables = WitnessJudge(claim)
    unproved = list(tables.requirement_findings())
    proved = len(claim.required) - sum(int(wrong.sum()) for wrong, _, _ in unproved)
    cell_of = claim.required.cells
    unreached: Fault = (tables.unreached_ranges(), "the end of the published range is not reached.", "")
    found = [
        *verdict_problems(claim, proved, _find_whole(claim, problem, integer)),
        *hash_problems(claim),
        *(() if problem is None else problem_differences(claim, problem)),
        *(() if release is None else release_differences(claim, release, problem)),
        *problems_of([(broken_relations(claim), "the values do not satisfy it.", "")], "relation {}".format),
        *problems_of(cell_findings(claim), claim.label),
        *problems_of(unproved, lambda place: claim.label(int(cell_of[place]))),
        *tables.range_problems(),
        *problems_of([unreached], lambda place: claim.label(int(claim.range_cells[place]))),
    ]
    compared = [name for name, given in zip(_TWO, (problem, release), strict=True) if given is not None]
    if problem is not None and problem.respondents and not found:
        found = list(_find_unproved(claim, tables, problem))
        compared.append("respondents")
    asked = claim.content["respondents"] if problem is None else respondents_part(problem)
    return Verification(
        problems=tuple(found),
        counts=MappingProxyType(_counts(claim, proved)),
        compared=tuple(compared),
        ranges=claim.content["ranges"]["claim"],
        whole_numbers=bool(claim.whole.all()),
        whole_variables=tuple(claim.content["whole_numbers"]),
        respondents=tuple(asked["rules"]),
        unasked=asked["unasked"] or None,
        seconds=Decimal(time.monotonic_ns() - began).scaleb(-9),
    )


def _claim(certificate: str | Path | Written) -> Claim:
    """Return what a certificate says: of one in memory what its file would say."""
    if isinstance(certificate, str | Path):
        return read_claim(certificate)
    return claim_in(certificate.text(), "certificate")


def _find_whole(claim: Claim, problem: Risk | None, integer: bool | None) -> NDArray[np.bool_]:  # noqa: FBT001
    """Return which cells attackers know to be whole numbers, by the certificate's account or that of the problem."""
    if integer is not None:
        return np.full(len(claim.values), integer)
    table = claim.content["table"]
    whole = cells_of(table["counts"], table["variables"], claim.variable)
    if problem is not None and len(problem) == len(whole):
        whole = whole | whole_cells(problem.table)
    return whole


def _find_unproved(claim: Claim, tables: WitnessJudge, problem: Risk) -> Iterator[Problem]:
    # Rules and contributions are loaded where they are needed; nothing of it is a solver or what made the certificate.
    from celosia.certificate.respondents.judge import unproved_respondents  # noqa: PLC0415

    return unproved_respondents(claim, tables, problem)


def _counts(claim: Claim, proved: int) -> dict[str, int]:
    return {
        "cells": len(claim.values),
        "relations": len(claim.relations),
        "attackers": len(claim.attackers),
        "requirements": len(claim.required),
        "requirements_proved": proved,
        "tables": len(claim.moves) + (0 if claim.joint is None else len(claim.joint.moves)),
        "ranges": int(claim.of_status(INTERVAL).sum()),
        "ranges_reached": len(claim.range_cells),
    }
