"""Witnesses that miss a level by next to nothing, stretched in exact arithmetic until they reach it.

Levels of a search are reached in doubles: of an amount of 10^13 units a thousand may be missing. What the audit found
is exact, a table that takes the cell nearly as far as it must. Multiplied by what is missing it takes it there, so
ranges that hold it, and need be wider by no more than that share, are safe for certain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.attack.findings import Verdict
from celosia.attack.subproblems.questions import Answer
from celosia.attack.system.system import System
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.publish.ranges import EndCounts
from celosia.tolerance import ENDLESS, LARGEST_STRETCH


@dataclass(frozen=True, slots=True, eq=False)
class StretchedWitnesses:
    """Stretches what an audit found.

    Parameters
    ----------
    problem
        The columns that may be ranges, and the attackers' bounds.
    decimals
        In which ends are counted.
    fixed
        Columns whose published numbers cannot be widened, ``(n,)``.
    most
        The greatest widths in counts of the problem, ``(n,)``.
    """

    problem: ProtectionProblem
    decimals: int
    fixed: NDArray[np.bool_]
    most: NDArray[np.float64]

    def widen(self, verdict: Verdict, system: System, ends: EndCounts) -> EndCounts | None:
        """Return ranges that hold the stretched witnesses of a requirement, None where these cannot be stretched.

        Guarantee: the attacker of the requirement cannot rule out its levels in these ranges, or in any wider ones.

        Parameters
        ----------
        verdict
            What is required, and what the attacker could conclude.
        system
            His linear system, of whose columns the witnesses speak.
        ends
            How far ranges reach down and up, in counts, ``(n,)`` each.
        """
        factors = _stretch(verdict, system.decimals)
        if factors is None:
            return None
        down, up = (side.astype(object) for side in ends)
        for answer, factor in zip((verdict.finding.down, verdict.finding.up), factors, strict=True):
            moved = self._stretched_moves(answer, factor, system, verdict.requirement.attacker)
            if moved is None:
                return None
            for column, far in moved:
                down[column], up[column] = max(down[column], -math.floor(far)), max(up[column], math.ceil(far))
        widest = np.flatnonzero(np.isfinite(self.most))
        scale = 10.0 ** (self.decimals - self.problem.decimals)
        wide, before = down + up, ends[0].astype(object) + ends[1]
        if any(wide[k] > self.most[k] * scale and wide[k] > before[k] for k in widest.tolist()):
            return None
        return down.astype(np.int64), up.astype(np.int64)

    def _stretched_moves(
        self, answer: Answer, factor: Fraction, system: System, attacker: int
    ) -> list[tuple[int, Fraction]] | None:
        """Return columns and how far they are moved, in counts; None where bounds or whole numbers forbid it."""
        columns = answer.columns
        if bool(system.whole[columns].any()):
            return None
        places = np.searchsorted(self.problem.cells, system.cells[columns])
        unit = Fraction(10**self.decimals, 10**system.decimals * answer.denominator)
        own = Fraction(10**self.problem.decimals, 10**self.decimals)
        out = []
        for place, cell, move in zip(
            places.tolist(), system.cells[columns].tolist(), answer.moves.tolist(), strict=True
        ):
            known = place < len(self.problem) and int(self.problem.cells[place]) == cell
            if not known or self.fixed[place]:
                return None
            far = int(move) * factor * unit
            bound = int((self.problem.up if far > 0 else self.problem.down)[attacker, place])
            if bound < ENDLESS and abs(far) * own > bound:
                return None
            out.append((place, far))
        return out


def _stretch(verdict: Verdict, decimals: int) -> tuple[Fraction, Fraction] | None:
    """Return by what the witnesses down and up are multiplied to reach all levels; None where too much is missing."""
    wanted, answers = verdict.requirement, (verdict.finding.down, verdict.finding.up)
    reach = [Fraction(int(answer.reach), int(answer.denominator) * 10**decimals) for answer in answers]
    if any(answer.endless for answer in answers):
        return None
    factors = [_quotient(level, far) for level, far in zip((wanted.lower, wanted.upper), reach, strict=True)]
    both = _quotient(
        wanted.sliding, sum((factor * far for factor, far in zip(factors, reach, strict=True)), Fraction())
    )
    factors = [factor * both for factor in factors]
    return None if max(factors) > LARGEST_STRETCH else (factors[0], factors[1])


def _quotient(level: Fraction, far: Fraction) -> Fraction:
    """Return how many times a reach is missing to a level, at least one; far too many where there is no reach."""
    if far >= level:
        return Fraction(1)
    return level / far if far else Fraction(2 * LARGEST_STRETCH)
