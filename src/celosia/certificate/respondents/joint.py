"""Certificates of linked tables: what they claim with joint cells as cells, about which nothing is published.

Which joint cells there are, and which leaf cells they add up to, follows from the contributions, which are the
problem's; the certificate is not asked. Its tables move joint cells, and must satisfy these relations, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from celosia.certificate.claim import Claim, RangeEnds, Terms
from celosia.certificate.whole import starts_of
from celosia.risk.respondents.joint import JointCells


def open_joint_claim(claim: Claim, joint: JointCells) -> Claim | None:
    """Return a claim about cells and joint cells, whose tables are those for respondents; None where it has none.

    Parameters
    ----------
    claim
        What the certificate says.
    joint
        The joint cells of the problem.
    """
    said = claim.joint
    if said is None or said.n_joint != joint.n_joint or joint.n_cells != len(claim.values):
        return None
    nothing, open_ = np.zeros(joint.n_joint, dtype=np.int64), np.zeros(joint.n_joint, dtype=bool)
    lower, upper = (
        RangeEnds(np.append(ends.given, open_), np.concatenate([ends.counts, nothing])) for ends in claim.bounds
    )
    return replace(
        claim,
        values=np.concatenate([claim.values, nothing]),  # moves alone are judged
        relations=_add_relations(claim.relations, joint),
        right=np.concatenate([claim.right, np.zeros(len(joint.sums), dtype=np.int64)]),
        whole=np.append(claim.whole & False, open_),
        attackers=[],
        bounds=(lower, upper),
        denominators=said.denominators,
        moves=said.moves,
    )


def _add_relations(relations: Terms, joint: JointCells) -> Terms:
    """Return the relations with one for every leaf cell of linked tables: it is the sum of its joint cells."""
    rows = np.concatenate([np.arange(len(joint.sums)), joint.row])
    cells = np.concatenate([joint.sums, joint.parts])
    numbers = np.concatenate([np.full(len(joint.sums), -1), np.ones(len(joint.parts))]).astype(np.int64)
    order = np.lexsort((cells, rows))
    starts = starts_of(np.bincount(rows, minlength=len(joint.sums)))
    return Terms(
        np.concatenate([relations.starts, relations.starts[-1] + starts[1:]]),
        np.concatenate([relations.cells, cells[order]]),
        np.concatenate([relations.numbers, numbers[order]]),
    )
