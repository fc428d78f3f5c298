"""Witnesses of a joint pattern in whole numbers, for the audit to check: it need not find them again.

Moves that leave the shown classes where they are have a basis in whole numbers. Every combination of it in fractions of
one denominator is exact; so witnesses are found with a little room to all bounds, and their coordinates rounded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.protection.engine.heuristics.joint.contraction import PatternKernel
from celosia.protection.engine.heuristics.joint.lattice import find_whole_moves
from celosia.protection.engine.heuristics.joint.reduction import PatternReduction
from celosia.tolerance import PROPOSAL_MARGIN

if TYPE_CHECKING:
    from celosia.protection.engine.heuristics.joint.search import JointPattern
    from celosia.protection.engine.heuristics.joint.targets import Targets
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates
    from celosia.solve.backend import Backend

_BITS, _BITS_OF_TERMS = 48, 61
"""Moves times their denominator stay below two to the first, so that compiled code can check them in 64 bits, and the
terms of which they are sums below two to the second."""


def propose_witnesses(
    pattern: JointPattern,
    targets: Targets,
    coordinates: KernelCoordinates,
    backend: Backend,
    decimals: int,
) -> ProposedWitnesses:
    """Return the witnesses of a pattern by classes, for both directions, in counts of a decimal.

    Parameters
    ----------
    pattern, targets
        The pattern, and what must move.
    coordinates, backend, decimals
        Kernel coordinates of the classes; what solves programs; the decimal of levels and bounds.
    """
    moves, denominator = make_whole(pattern, targets, coordinates, backend)
    own = moves[np.arange(len(targets)), targets.columns]
    found = np.flatnonzero(own)
    both = np.concatenate([found, found])
    turned = sp.csr_array(np.concatenate([moves[found], -moves[found]]))
    return ProposedWitnesses(
        targets.columns[both],
        targets.attackers[targets.boxes[both]],
        np.concatenate([own[found] > 0, own[found] < 0]),
        turned.indptr.astype(np.int64),
        turned.indices.astype(np.int64),
        turned.data,
        np.full(len(both), denominator, dtype=np.int64),
        decimals,
    )


def make_whole(
    pattern: JointPattern, targets: Targets, coordinates: KernelCoordinates, backend: Backend
) -> tuple[NDArray[np.int64], int]:
    """Return the witness of every target in whole numbers, ``(t, n)``, and by what they are to be divided.

    A witness that is not found is zero. All satisfy the relations and leave shown classes where they are, exactly.
    """
    basis = find_whole_moves(coordinates.combinations, pattern.hidden)
    if basis is None:
        return np.zeros((len(targets), len(pattern.hidden)), dtype=np.int64), 1
    moves = _find_roomy_witnesses(pattern, targets, coordinates, backend)
    hidden = np.flatnonzero(pattern.hidden)
    own = basis[hidden].astype(np.float64)
    places = np.linalg.solve(own.T @ own, own.T @ moves[:, hidden].T).T  # the basis is short, so that this is accurate
    terms = float((np.abs(places) @ np.abs(basis.T.astype(np.float64))).max(initial=1.0))
    bits = min(
        _BITS - np.log2(max(float(np.abs(moves).max(initial=1.0)), 1.0)), _BITS_OF_TERMS - np.log2(max(terms, 1.0))
    )
    denominator = 2 ** max(0, int(bits) - 1)
    whole = np.rint(places * denominator).astype(np.int64)
    return np.ascontiguousarray((sp.csr_array(basis) @ np.ascontiguousarray(whole.T)).T), denominator


def _find_roomy_witnesses(
    pattern: JointPattern, targets: Targets, coordinates: KernelCoordinates, backend: Backend
) -> NDArray[np.float64]:
    """Return witnesses that exceed their level, and keep from their bounds, by a little, ``(t, n)``; zero for none."""
    roomy = targets.with_margin(PROPOSAL_MARGIN)
    kernel = PatternKernel.of(sp.csr_array(coordinates.combinations, dtype=np.float64), pattern.hidden)
    reduction = PatternReduction(kernel, roomy, np.zeros(len(pattern.hidden)), backend)
    known = pattern.witnesses * roomy.levels[:, None]
    reduction.find_witnesses(known, lambda: False)
    return np.asarray(reduction.witnesses(len(pattern.hidden)) * roomy.levels[:, None])
