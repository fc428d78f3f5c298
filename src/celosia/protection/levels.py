"""Levels that no pattern can meet."""

from __future__ import annotations

from celosia.errors import InfeasibleError, SpecError, listed
from celosia.risk.risk import Risk


def refuse_levels_that_nobody_meets(risk: Risk) -> None:
    """Refuse sensitive cells without a level, and levels beyond what an attacker knows anyway.

    Raises
    ------
    SpecError
        All levels of a sensitive cell are zero.
    InfeasibleError
        Attackers know more than the levels allow, whatever is published.
    """
    required = risk.requirements
    bare = [wanted.cell for wanted in required if not (wanted.lower or wanted.upper or wanted.sliding)]
    if bare:
        labels = listed([risk.table.label(cell) for cell in sorted(set(bare))])
        raise SpecError.one("levels", f"are all zero for sensitive cells: {labels}.", "Give each a level above zero.")
    beyond: dict[int, str] = {}
    for wanted in required:
        truth = risk.table.amounts.fraction(wanted.cell)
        lower, upper = risk.attackers[wanted.attacker].bounds(wanted.cell)
        up = None if upper is None else upper - truth
        down = None if lower is None else truth - lower
        narrow = up is not None and down is not None and up + down < wanted.sliding
        if narrow or (up is not None and up < wanted.upper) or (down is not None and down < wanted.lower):
            beyond.setdefault(wanted.cell, risk.attackers[wanted.attacker].name)
    if beyond:
        labels = listed([f"{risk.table.label(cell)} (attacker {name!r})" for cell, name in beyond.items()])
        raise InfeasibleError.one(
            "levels",
            f"lie beyond what attackers know already: {labels}.",
            "Lower the levels, or widen the attackers' bounds.",
        )
