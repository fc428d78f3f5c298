"""Conclusions of attackers and verdicts on requirements, in arrays; single ones are made on access."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.questions import Answer, Answers
from celosia.risk.requirement import Requirement, Requirements
from celosia.table.fixed import Fixed
from celosia.tolerance import ENDLESS

MET, MISSED, OPEN = "met", "missed", "not shown safe"
_PRODUCT = 2.0**62  # products below this fit 64 bits, whatever doubles round
_HUGE = 10**100  # far beyond 64 bits, and products of some of them are still doubles
_FLOAT_WHOLE = 2**53  # whole numbers below this are doubles
_FLOAT_DECIMALS = 22  # powers of ten up to this are doubles


@dataclass(frozen=True, slots=True, eq=False)
class Conclusion:
    """What an attacker can conclude about a cell.

    Parameters
    ----------
    cell, attacker
        Places in the table and in the list of attackers.
    lower, upper
        The ends of his interval, None where there is none; not further than it was computed.
    exact
        Both ends are proved: no attacker with this knowledge gets closer.
    down, up
        The tables that reach them; kept for requirements and published ranges only.
    """

    cell: int
    attacker: int
    lower: Fraction | None
    upper: Fraction | None
    exact: bool
    down: Answer
    up: Answer


@dataclass(frozen=True, slots=True, eq=False)
class Conclusions(Sequence[Conclusion]):
    """Many conclusions, in arrays.

    Parameters
    ----------
    cells, attackers
        As in `Conclusion`, ``(k,)`` each.
    truth
        The true values, ``(k,)``.
    decimals
        In which decimal every answer is counted, ``(k,)``.
    down, up
        How far the cells move, ``(k,)`` each.
    """

    cells: NDArray[np.int64]
    attackers: NDArray[np.int32]
    truth: Fixed
    decimals: NDArray[np.int64]
    down: Answers
    up: Answers

    @classmethod
    def join(cls, parts: Sequence[Conclusions]) -> Conclusions:
        """Return the conclusions of several attackers of one table, one after the other."""
        if len(parts) == 1:
            return parts[0]
        return cls(
            np.concatenate([part.cells for part in parts]),
            np.concatenate([part.attackers for part in parts]),
            Fixed(np.concatenate([part.truth.counts for part in parts]), parts[0].truth.decimals),
            np.concatenate([part.decimals for part in parts]),
            Answers.join([part.down for part in parts]),
            Answers.join([part.up for part in parts]),
        )

    def __len__(self) -> int:
        return len(self.cells)

    @overload
    def __getitem__(self, place: int) -> Conclusion: ...
    @overload
    def __getitem__(self, place: slice) -> Conclusions: ...
    def __getitem__(self, place: int | slice) -> Conclusion | Conclusions:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        down, up, truth, unit = self.down[place], self.up[place], self.truth.fraction(place), self._unit(place)
        lower = None if down.endless else truth - Fraction(down.reach, down.denominator * unit)
        upper = None if up.endless else truth + Fraction(up.reach, up.denominator * unit)
        exact = down.furthest and up.furthest
        return Conclusion(int(self.cells[place]), int(self.attackers[place]), lower, upper, exact, down, up)

    def __iter__(self) -> Iterator[Conclusion]:
        return (self[place] for place in range(len(self)))

    def take(self, places: NDArray[np.int64]) -> Conclusions:
        """Return some of the conclusions."""
        return Conclusions(
            self.cells[places],
            self.attackers[places],
            self.truth[places],
            self.decimals[places],
            self.down.take(places),
            self.up.take(places),
        )

    def keys(self) -> list[tuple[int, int]]:
        """Return cell and attacker of every conclusion."""
        return list(zip(self.cells.tolist(), self.attackers.tolist(), strict=True))

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Which intervals are proved to end where they end, ``(k,)``."""
        return self.down.furthest & self.up.furthest

    def lower(self) -> list[float | None]:
        """Return the lower ends as the nearest doubles, None where there is none."""
        return self._ends(self.down, -1)

    def upper(self) -> list[float | None]:
        """Return the upper ends as the nearest doubles, None where there is none."""
        return self._ends(self.up, 1)

    def _ends(self, answers: Answers, sign: int) -> list[float | None]:
        ends: list[float | None] = [None] * len(self)
        fine = self.truth.to(max([self.truth.decimals, *np.unique(self.decimals).tolist()]))
        scale = 10 ** (fine.decimals - self.decimals.astype(object))
        finite = np.flatnonzero(~answers.endless)
        whole = finite[answers.denominator[finite] == 1]
        counts = fine.counts[whole].astype(object) + sign * answers.reach[whole].astype(object) * scale[whole]
        for place, count in zip(whole.tolist(), counts.tolist(), strict=True):
            plain = abs(count) < _FLOAT_WHOLE and fine.decimals <= _FLOAT_DECIMALS
            ends[place] = count / 10.0**fine.decimals if plain else float(Fraction(count, 10**fine.decimals))
        for place in np.setdiff1d(finite, whole).tolist():
            reach = Fraction(int(answers.reach[place]), int(answers.denominator[place]) * self._unit(place))
            ends[place] = float(self.truth.fraction(place) + sign * reach)
        return ends

    def _unit(self, place: int) -> int:
        return int(10 ** int(self.decimals[place]))


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """Whether a requirement is met.

    Parameters
    ----------
    requirement
        What is required.
    finding
        What the attacker can conclude, followed only as far as the requirement goes.
    result
        ``met``, ``missed`` or ``not shown safe``.
    """

    requirement: Requirement
    finding: Conclusion
    result: str


@dataclass(frozen=True, slots=True, eq=False)
class Verdicts(Sequence[Verdict]):
    """Many verdicts, in arrays.

    Parameters
    ----------
    requirements, findings, results
        As in `Verdict`, ``(k,)`` each.
    """

    requirements: Requirements
    findings: Conclusions
    results: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.results)

    @overload
    def __getitem__(self, place: int) -> Verdict: ...
    @overload
    def __getitem__(self, place: slice) -> Verdicts: ...
    def __getitem__(self, place: int | slice) -> Verdict | Verdicts:
        if isinstance(place, slice):
            return self.take(np.arange(len(self))[place])
        return Verdict(self.requirements[place], self.findings[place], str(self.results[place]))

    def __iter__(self) -> Iterator[Verdict]:
        return (self[place] for place in range(len(self)))

    def take(self, places: NDArray[np.int64]) -> Verdicts:
        """Return some of the verdicts."""
        requirements = self.requirements
        levels = (requirements.lower[places], requirements.upper[places], requirements.sliding[places])
        some = Requirements(requirements.cells[places], requirements.attackers[places], *levels)
        return Verdicts(some, self.findings.take(places), self.results[places])

    def of_result(self, result: str) -> Verdicts:
        """Return the verdicts of one kind."""
        return self.take(np.flatnonzero(self.results == result))


def judge_requirements(requirements: Requirements, found: Conclusions, *, by_distance: bool) -> NDArray[np.str_]:
    """Return which requirements are met, exactly, ``(k,)``.

    Values that are protected by their distance from the truth (`by_distance`), which no interval shows, are never
    called met; nor is a requirement without any level, which would call a disclosed cell safe.
    """
    out = np.full(len(requirements), OPEN)
    levels = (requirements.lower, requirements.upper, requirements.sliding)
    required = np.logical_or.reduce([np.asarray(level.counts != 0, dtype=bool) for level in levels])
    if by_distance:
        return out
    met, plain = _compare_in_counts(levels, found)
    for place in np.flatnonzero(~plain).tolist():
        met[place] = _meets_in_fractions(requirements[place], found[place], found.truth.fraction(place))
    out[required & found.exact] = MISSED
    out[required & met] = MET
    return out


def _compare_in_counts(levels: tuple[Fixed, ...], found: Conclusions) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which requirements are met, and for which of them products of 62 bits can say so."""
    down, up = found.down, found.up
    ends = [(down.reach, down.denominator, down.endless), (up.reach, up.denominator, up.endless)]
    both = down.endless | up.endless
    parts = [np.where(both, 0, down.reach), np.where(both, 0, up.reach), up.denominator, down.denominator]
    sizes = [_round_sizes(part) for part in parts]
    plain = np.asarray((sizes[0] * sizes[2] + sizes[1] * sizes[3] < _PRODUCT) & (sizes[2] * sizes[3] < _PRODUCT))
    down_reach, up_reach, up_unit, down_unit = (np.where(plain, part, 1).astype(np.int64) for part in parts)
    ends.append((down_reach * up_unit + up_reach * down_unit, down_unit * up_unit, both))
    met = np.ones(len(found), dtype=bool)
    for level, (reach, unit, endless) in zip(levels, ends, strict=True):
        enough, small = _compare(level, np.where(endless, 0, reach), unit, found.decimals)
        met &= endless | enough
        plain &= endless | small
    return met, plain


def _round_sizes(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """Return whole numbers as doubles, at most `_HUGE`: no double is as large as some of Python's integers."""
    if numbers.dtype == object:
        numbers = np.minimum(numbers, _HUGE)
    return numbers.astype(np.float64)


def _compare(
    level: Fixed, reach: NDArray[Any], unit: NDArray[Any], decimals: NDArray[np.int64]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether reach / unit, counted in some decimals, is at least a level, and where the products are small."""
    finer = level.decimals - decimals
    left, right = 10.0 ** np.maximum(finer, 0), 10.0 ** np.maximum(-finer, 0)
    counts = level.counts
    large = np.maximum(_round_sizes(reach) * left, _round_sizes(counts) * _round_sizes(unit) * right)
    small = np.asarray((large < _PRODUCT) & (np.maximum(left, right) < _FLOAT_WHOLE), dtype=bool)
    factors = (reach, left, counts, unit, right)
    reach, more, counts, unit, less = (np.where(small, factor, 1).astype(np.int64) for factor in factors)
    return np.asarray(reach * more >= counts * unit * less, dtype=bool), small


def levels_in_counts(level: Fixed, decimals: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return levels in counts of some decimals, rounded up, at most `ENDLESS`, ``(k,)``."""
    out = np.empty(len(level), dtype=np.int64)
    for own in range(int(decimals.min(initial=0)), int(decimals.max(initial=-1)) + 1):
        places = decimals == own
        counts = (level if places.all() else level[places]).round_up(own).counts
        out[places] = np.minimum(counts, ENDLESS).astype(np.int64)
    return out


def _meets_in_fractions(wanted: Requirement, finding: Conclusion, truth: Fraction) -> bool:
    up = None if finding.upper is None else finding.upper - truth
    down = None if finding.lower is None else truth - finding.lower
    wide = up is None or down is None or up + down >= wanted.sliding
    return (up is None or up >= wanted.upper) and (down is None or down >= wanted.lower) and wide
