"""Explanations on the command line: in short and without numbers for what is disclosed, in full on request."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from celosia.attack.explain import SIDES, Explanation, explain
from celosia.attack.findings import Verdict
from celosia.attack.result import Audit
from celosia.errors import SolverError

MOST_HIDDEN = 20_000
"""With more cells than this not shown, explanations come on request only: each may take a large linear program."""

_MOST_EQUATIONS = 4


def explain_cells(found: Audit, cells: Sequence[int]) -> list[Explanation]:
    """Return why the intervals of some cells end where they do, for every attacker and both sides."""
    return [
        said
        for cell in cells
        for attacker in range(len(found.risk.attackers))
        for side in SIDES
        if (said := explain(found, cell, side, attacker=attacker)) is not None
    ]


def explain_briefly(found: Audit, verdict: Verdict) -> Iterator[str]:
    """Yield by which relations a cell is disclosed; never a value or an end."""
    wanted, finding = verdict.requirement, verdict.finding
    truth = found.risk.table.amounts.fraction(wanted.cell)
    down = None if finding.lower is None else truth - finding.lower
    up = None if finding.upper is None else finding.upper - truth
    wide = down is not None and up is not None and down + up < wanted.sliding
    sides = [
        side
        for side, reach, level in zip(SIDES, (down, up), (wanted.lower, wanted.upper), strict=True)
        if wide or (reach is not None and reach < level)
    ]
    try:
        said = [explain(found, wanted.cell, side, attacker=wanted.attacker) for side in sides]
    except SolverError:  # the verdict stands without it
        return
    equations = dict.fromkeys(equation for known in said if known is not None for equation in known.equations())
    yield from (f"by {equation}" for equation in list(equations)[:_MOST_EQUATIONS])
    if len(equations) > _MOST_EQUATIONS:
        yield f"... and {len(equations) - _MOST_EQUATIONS:,} more relations"
    if not equations:
        yield "by what is published or known about the cell itself"


def explain_fully(found: Audit, said: Sequence[Explanation]) -> Iterator[str]:
    """Yield explanations with all their numbers."""
    several = len(found.risk.attackers) > 1
    for known in said:
        if several:
            yield f"For {known.attacker}:"
        yield from known.words()


def write_explanation(said: Explanation) -> dict[str, object]:
    """Return an explanation for machines, numbers as texts of fractions."""
    return {
        "cell": said.cell,
        "attacker": said.attacker,
        "side": said.side,
        "end": str(said.end),
        "exact": said.exact,
        "relations": [
            {"relation": row, "words": said.table.equation(row), "multiplier": str(factor)}
            for row, factor in said.relations
        ],
        "cells": [
            {
                "cell": used.cell,
                "label": said.table.label(used.cell),
                "multiplier": str(used.multiplier),
                "side": used.side,
                "bound": str(used.bound),
                "source": used.source,
            }
            for used in said.cells
        ],
    }
