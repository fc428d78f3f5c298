"""Whether a certified release leaves contributors exposed: the one question that the judge does not answer alone.

A certificate holds the contributors who came too close on the way to a pattern. That no other does cannot be read
off it, nor that none of them was left out or required less; so where the contributors are known, they attack again.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from celosia.attack.respondents.audit import audit_respondents
from celosia.certificate.claim import Claim, RangeEnds
from celosia.errors import Problem, pluralise
from celosia.pattern.entries import STATUSES
from celosia.pattern.labels import Labels
from celosia.pattern.release import Release
from celosia.risk.risk import Risk
from celosia.table.fixed import INFINITE, Fixed


def exposed_contributors(claim: Claim, problem: Risk) -> Iterator[Problem]:
    """Yield that contributors come too close to others in the release of a certificate, where they do.

    Parameters
    ----------
    claim
        What the certificate says, about the table of the problem.
    problem
        The problem, whose contributors and rule count.
    """
    found = audit_respondents(_release(claim, problem), problem)
    if not found.safe:
        seen = f"{pluralise(len(found.open), 'pair')} of them are open"
        where = sorted({problem.table.label(cell) for one in found.open for cell in one.cells})
        said = f"{seen}, the first in {where[0]}" if where else "there was no time to ask them all"
        yield Problem("respondents", f"{said}.", "Requirements were left out or weakened: make the certificate again.")


def _release(claim: Claim, problem: Risk) -> Release:
    """Return the release that a certificate speaks of."""
    decimals = len(str(claim.unit)) - 1
    return Release(
        Labels.of_table(problem.table),
        np.array(STATUSES)[claim.status],
        _as_fixed(claim.published, 0, decimals),
        _as_fixed(claim.bounds[0], -INFINITE, decimals),
        _as_fixed(claim.bounds[1], INFINITE, decimals),
    )


def _as_fixed(ends: RangeEnds, nothing: int, decimals: int) -> Fixed:
    return Fixed.of_counts(np.where(ends.given, ends.counts.astype(object), nothing), decimals)
