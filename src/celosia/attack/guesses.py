"""What readers may take for the truth: the middle of a range, its ends, and what its width says of levels.

An audit says what can be concluded. A guess is more than a conclusion and may be wrong; who guesses is right too often
where what is published was computed from the truth. With equal levels the middle of an optimal range is the truth
(Baena, Castro and Gonzalez, Table 4), with others an end is, and ranges that are as narrow as levels allow tell the
largest contribution by their width. The same is asked of intervals that an audit gives of hidden cells, which is the
work that these authors announce.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from celosia.arguments import takes
from celosia.attack.audit import audit
from celosia.attack.known_classes import Ends, OpenEnds, conclude_from_classes, learn_classes, read_classes
from celosia.attack.protected import Protected
from celosia.errors import SpecError, pluralise
from celosia.pattern.entries import ADJUSTED, HIDDEN, INTERVAL, PERTURBED, SHOWN
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import Release, publish
from celosia.risk.classes import classes_of
from celosia.risk.risk import Risk
from celosia.table.frames import frame_of
from celosia.table.table import Table

MIDDLE, LOWER, UPPER, WIDTH, UP, DOWN, TOGETHER = KINDS = (
    "middle",
    "lower end",
    "upper end",
    "width",
    "moved up",
    "moved down",
    "together",
)
"""What readers go by: the middle or the number that is published, an end, what the width would be levels of, what moved
by its level, and all that follows from rule, parameters and mechanism."""

COLUMNS = ("cell", "kind", "guess", "truth_hit", "left_lower", "left_upper", "promised_width", "kept")


@dataclass(frozen=True, slots=True)
class Guess:
    """What a reader takes for the truth of a cell. Confidential: it says whether he is right.

    Parameters
    ----------
    cell
        Its place.
    kind
        What he goes by, one of `KINDS`.
    guess
        The number.
    truth_hit
        Whether the truth lies in what he is left with: the value, for a width also the largest contribution.
    left_lower, left_upper
        What he is left with if he is right: published ends are rounded.
    promised_width
        How wide levels promise it to be; zero where a cell is not sensitive.
    kept
        He is wrong, or left with what is promised.
    """

    cell: int
    kind: str
    guess: float
    truth_hit: bool
    left_lower: float
    left_upper: float
    promised_width: float
    kept: bool


@dataclass(frozen=True, eq=False)
class Guesses:
    """All guesses about the cells of a release that are not shown. Confidential.

    Parameters
    ----------
    table
        The table.
    guesses
        One for each cell and kind, in the order of cells.
    """

    table: Table
    guesses: tuple[Guess, ...]

    def __len__(self) -> int:
        return len(self.guesses)

    def __iter__(self) -> Iterator[Guess]:
        return iter(self.guesses)

    @property
    def broken(self) -> tuple[Guess, ...]:
        """The guesses that are right and come closer than promised."""
        return tuple(guess for guess in self.guesses if not guess.kept)

    def of_kind(self, kind: str, *, sensitive: bool = False) -> tuple[Guess, ...]:
        """Return the guesses of one kind, on request about sensitive cells alone."""
        return tuple(one for one in self.guesses if one.kind == kind and (one.promised_width > 0 or not sensitive))

    def share(self, kind: str) -> float:
        """Return the share of cells in which the guesses of one kind are right."""
        own = self.of_kind(kind)
        return sum(guess.truth_hit for guess in own) / len(own) if own else 0.0

    def columns(self) -> dict[str, Any]:
        """Return the guesses as columns."""
        return {name: [getattr(guess, name) for guess in self.guesses] for name in COLUMNS}

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the same as a data frame."""
        return frame_of(self.columns(), library or self.table.library)

    @property
    def sentence(self) -> str:
        """In how many sensitive cells which guesses come closer than promised, in words; no cell, no value."""
        cells = {guess.cell for guess in self.guesses if guess.promised_width > 0}
        broken = self.broken
        if not broken:
            return f"No guess about {pluralise(len(cells), 'sensitive cell')} comes closer to the truth than promised."
        kinds = ", ".join(f"{kind} {many:,}" for kind in KINDS if (many := sum(guess.kind == kind for guess in broken)))
        disclosed = len({guess.cell for guess in broken})
        return (
            f"Of {pluralise(len(cells), 'sensitive cell')} {disclosed:,} can be guessed closer than promised: {kinds}."
        )

    def __repr__(self) -> str:
        return f"Guesses({self.sentence})"


@takes(release=(Protected, Release, Pattern), risk=Risk)
def guesses(
    release: Release | Pattern | Protected,
    risk: Risk | None = None,
    *,
    concealed: bool | None = None,
    secret: int | None = None,
) -> Guesses:
    """Return what readers may take for the truth of the cells that are not shown, and how close that comes.

    Cells that are hidden have the intervals that an audit gives; where there are several attackers the narrowest.

    Parameters
    ----------
    release
        What is published.
    risk
        The table with its sensitive cells and levels; the result of a protection brings its own.
    concealed
        Readers know that levels are concealed (`celosia.Intervals`); by default as the method of a result says, and of
        anything else that they are not.
    secret
        The secret by which levels are concealed: readers are then told all classes, which is more than they can read
        off the ends of ranges. By default that of the method of a result.

    Raises
    ------
    DataError
        The release does not belong to the table.
    """
    method = getattr(release, "method", None)
    if concealed is None:
        concealed = bool(getattr(method, "conceals_levels", False))
    if secret is None and concealed:
        secret = getattr(method, "secret", None)
    if not isinstance(release, Release | Pattern):
        risk = risk if risk is not None else release.risk
    if risk is None:
        raise SpecError.one("risk", "is missing.", "Say which table the release is about, and what it must protect.")
    release = release if isinstance(release, Release) else publish(release)
    release.check(risk.table)
    ends = _find_ends(release, risk)
    reader = _Reader(release, risk, concealed=concealed)
    known: dict[int, Ends] = {}
    if concealed:
        known = read_classes(release, risk, ends) if secret is None else learn_classes(release, risk, secret)
    jointly = conclude_from_classes(release, risk, known) if known else {}
    found: list[Guess] = []
    for cell in np.flatnonzero(release.status != SHOWN).tolist():
        found += reader.guess(cell, ends.get(cell, (None, None)), jointly.get(cell))
    return Guesses(risk.table, tuple(found))


def _find_ends(release: Release, risk: Risk) -> dict[int, OpenEnds]:
    """Return what is published of every cell that is not shown, or follows of hidden ones; None for no end."""
    ends: dict[int, OpenEnds] = {}
    sides = release.bounds()
    for cell in np.flatnonzero((release.status != SHOWN) & (release.status != HIDDEN)).tolist():
        low, high = (None if side.infinite[cell] else side.fraction(cell) for side in sides)
        ends[cell] = low, high
    if bool((release.status == HIDDEN).any()):
        for finding in audit(release, risk, attackers=risk.attackers, intervals=True).intervals:
            if release.status[finding.cell] == HIDDEN:
                own = (finding.lower, finding.upper)
                ends[finding.cell] = _narrower(ends.get(finding.cell, (None, None)), own)
    return ends


def _narrower(one: OpenEnds, other: OpenEnds) -> OpenEnds:
    """Return the narrower of two intervals; one without an end is as wide as can be."""

    def width(ends: OpenEnds) -> float:
        return float("inf") if ends[0] is None or ends[1] is None else float(ends[1] - ends[0])

    return min(other, one, key=width)


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """A reader who knows rules and parameters, and how the release was made; nothing secret."""

    release: Release
    risk: Risk
    concealed: bool

    @property
    def unit(self) -> Fraction:
        """By how much published ends may be rounded."""
        return Fraction(1, 10**self.release.decimals)

    def guess(self, cell: int, ends: OpenEnds, jointly: Ends | None) -> Iterator[Guess]:
        """Yield the guesses about a cell.

        Parameters
        ----------
        cell
            Its place.
        ends
            What is published, or follows.
        jointly
            What follows from concealed levels of all cells; None where they are not concealed.
        """
        (low, high), unit = ends, self.unit
        number = self.release.published.fraction(cell) if self.release.has_value[cell] else None
        middle = number if number is not None else (low + high) / 2 if low is not None and high is not None else None
        if middle is not None:
            yield self._judge(cell, MIDDLE, middle, (middle - unit / 2, middle + unit / 2))
        if low is not None and low != high:
            yield self._judge(cell, LOWER, low, (low, low + unit))
        if high is not None and low != high:
            yield self._judge(cell, UPPER, high, (high - unit, high))
        shares = self.risk.shares
        part = Fraction(str(float(shares.width[cell]))) if shares is not None else Fraction()
        if number is not None and part and self.release.status[cell] in (PERTURBED, ADJUSTED):
            yield from self._undo_moves(cell, number)
        if low is not None and high is not None and low < high:
            yield from self._invert_width(cell, (low, high), part, jointly)

    def _undo_moves(self, cell: int, number: Fraction) -> Iterator[Guess]:
        """Yield what a number was if it moved by its level, or to the end of the range of its class."""
        assert self.risk.shares is not None  # noqa: S101
        own = classes_of(self.risk.shares, cell) if self.concealed else None
        if own is not None:
            scale = 10**self.risk.table.decimals
            low, high = own.strip(number * scale, number * scale)
            for kind, left in ((UP, (own.below(high) - 2, high)), (DOWN, (low, own.above(low) + 2))):
                yield self._judge(cell, kind, (left[0] + left[1]) / 2 / scale, (left[0] / scale, left[1] / scale))
            return
        for kind, share in ((UP, self.risk.shares.upper[cell]), (DOWN, -self.risk.shares.lower[cell])):
            by = 1 + Fraction(str(float(share)))
            if share and by > 0:
                left = (number - self.unit) / by, (number + self.unit) / by
                yield self._judge(cell, kind, number / by, left)

    def _invert_width(self, cell: int, ends: Ends, part: Fraction, jointly: Ends | None) -> Iterator[Guess]:
        """Yield what the largest contribution is if the width of a range comes from levels, and what all says."""
        low, high = ends
        left, largest = (low, high), False
        if part:
            inverted = (high - low - 2 * self.unit) / part, (high - low) / part
            yield self._judge(cell, WIDTH, inverted[1], inverted, of_largest=True)
            if jointly is None and self.release.status[cell] == INTERVAL:
                left, largest = inverted, True
        if jointly is not None:
            left = jointly
        yield self._judge(cell, TOGETHER, (left[0] + left[1]) / 2, left, of_largest=largest)

    def _judge(self, cell: int, kind: str, guess: Fraction, left: Ends, *, of_largest: bool = False) -> Guess:
        low, high = left
        levels = self.risk.levels
        promised = max(levels.sliding.fraction(cell), levels.lower.fraction(cell) + levels.upper.fraction(cell))
        truths = [self.risk.table.amounts.fraction(cell)]
        if of_largest:
            truths += self._largest(cell)
        hit = any(low <= truth <= high for truth in truths)
        kept = not hit or high - low >= promised
        return Guess(cell, kind, float(guess), hit, float(low), float(high), float(promised), kept)

    def _largest(self, cell: int) -> list[Fraction]:
        """Return the largest contribution to a cell, of a respondent and of a holding, where they are known."""
        statistics = self.risk.table.statistics
        if statistics is None:
            return []
        kinds = [kind for kind in (statistics.respondents, statistics.holdings) if kind is not None]
        largest = (int(kind.largest[cell, 0]) for kind in kinds if kind.largest.shape[1])
        return [Fraction(count, 10**statistics.decimals) for count in largest if count > 0]
