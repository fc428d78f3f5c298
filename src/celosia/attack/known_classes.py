"""Readers who know in which classes values lie by which levels are concealed, and what follows from all of them.

Classes are read off the ends of ranges, or learnt by who has the secret, which is more than anybody can read.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

from celosia.attack.audit import audit
from celosia.pattern.entries import INTERVAL, PERTURBED
from celosia.pattern.release import Release
from celosia.risk.attacker import Attacker
from celosia.risk.class_boxes import find_leaves
from celosia.risk.classes import Classes, classes_of
from celosia.risk.concealment import conceal_levels
from celosia.risk.risk import Risk
from celosia.table.fixed import Fixed

Ends = tuple[Fraction, Fraction]
OpenEnds = tuple[Fraction | None, Fraction | None]


def read_classes(release: Release, risk: Risk, ends: dict[int, OpenEnds]) -> dict[int, Ends]:
    """Return in which classes published ranges of sensitive cells put their values, in units of the table.

    A range that is wider than a class has one end of it at most where it belongs: a reader who takes both for
    boundaries is left with what two classes have in common.

    Parameters
    ----------
    release
        What is published.
    risk
        Which cells are sensitive, and which parts of the value their levels are: readers know that.
    ends
        The ends of ranges.
    """
    table, shares, found = risk.table, risk.shares, dict[int, Ends]()
    if shares is None:
        return found
    own = {cell: classes_of(shares, cell) for cell in np.flatnonzero(risk.sensitive).tolist()}
    concealed = np.zeros(len(table), dtype=bool)
    concealed[[cell for cell, classes in own.items() if classes is not None]] = True
    leaves = find_leaves(table.relations, table.amounts.counts, concealed, shares)
    for cell in np.flatnonzero(concealed & (release.status == INTERVAL)).tolist():
        low, high, classes = *ends[cell], own[cell]
        if classes is not None and low is not None and high is not None:
            drawn = replace(classes, width=float(leaves.width[cell])) if leaves.is_leaf[cell] else None
            found[cell] = _read_class(classes, drawn, low * 10**table.decimals, high * 10**table.decimals)
    return found


def learn_classes(release: Release, risk: Risk, secret: int) -> dict[int, Ends]:
    """Return in which classes the values of sensitive cells lie, and what follows of others, as who has the secret.

    Cells that are hidden tell nothing of their classes.

    Parameters
    ----------
    release
        What is published.
    risk
        The table with its sensitive cells. Attackers with requirements of their own conceal nothing.
    secret
        By which classes were drawn.
    """
    own = set() if risk.further is None else set(risk.further.attackers.tolist())
    common = tuple(attacker for place, attacker in enumerate(risk.attackers) if place not in own)
    drawn = conceal_levels(replace(risk, attackers=common, further=None), secret)
    told = drawn.classes.known & (~drawn.concealed | np.isin(release.status, (INTERVAL, PERTURBED)))
    if bool((drawn.concealed & ~told).any()):
        told &= drawn.concealed
    ends = zip(drawn.classes.least.tolist(), drawn.classes.most.tolist(), strict=True)
    return {cell: (Fraction(low), Fraction(high)) for cell, (low, high) in enumerate(ends) if told[cell]}


def conclude_from_classes(release: Release, risk: Risk, known: dict[int, Ends]) -> dict[int, Ends]:
    """Return what follows from a release and the classes of all cells together, for every cell with a class.

    Parameters
    ----------
    release, risk
        What is published, and of what.
    known
        The classes, in units of the table. One that does not hold the truth is taken as it is, and tells nothing else.
    """
    decimals = risk.table.decimals
    told = {
        cell: ends
        for cell, ends in known.items()
        if ends[0] <= risk.table.amounts.fraction(cell) * 10**decimals <= ends[1]
    }
    attackers = [_who_knows(attacker, told, decimals) for attacker in risk.attackers]
    left: dict[int, Ends] = {}
    for finding in audit(release, risk, attackers=attackers, intervals=True).intervals:
        if finding.cell in told and finding.lower is not None and finding.upper is not None:
            own = finding.lower, finding.upper
            left[finding.cell] = min(own, left.get(finding.cell, own), key=lambda ends: ends[1] - ends[0])
    wrong = {cell: ends for cell, ends in known.items() if cell not in told}
    return left | {cell: (low / 10**decimals, high / 10**decimals) for cell, (low, high) in wrong.items()}


def _read_class(own: Classes, drawn: Classes | None, low: Fraction, high: Fraction) -> Ends:
    """Return the class that a reader makes of the ends of a range, in units: a total has no classes of its own."""
    low, high = own.strip(low, high)
    if drawn is None:
        return low, high
    below, above = drawn.below(high) - 2, drawn.above(low) + 2
    both = max(low, below), min(high, above)
    return both if both[0] < both[1] else (low, high)


def _who_knows(attacker: Attacker, told: dict[int, Ends], decimals: int) -> Attacker:
    """Return an attacker who also knows in which classes some values lie."""
    sides = []
    for side, place in ((attacker.lower, 0), (attacker.upper, 1)):
        aligned = side.to(max(side.decimals, decimals))
        counts, factor = aligned.counts.astype(object), 10 ** (aligned.decimals - decimals)
        for cell, ends in told.items():
            bound = -((-ends[0]) // 1) if place == 0 else ends[1] // 1
            bound = int(bound) * factor
            infinite = bool(aligned.infinite[cell])
            counts[cell] = bound if infinite else (max if place == 0 else min)(int(counts[cell]), bound)
        sides.append(Fixed.of_counts(counts, aligned.decimals))
    return replace(attacker, lower=sides[0], upper=sides[1])
