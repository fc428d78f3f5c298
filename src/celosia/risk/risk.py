"""Risk: a table whose cells know whether they are sensitive, by which rule, and how much protection they need."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import pluralise
from celosia.risk.requirement import Requirements
from celosia.table.frames import frame_of

if TYPE_CHECKING:  # the judge of certificates knows risks, and nothing of how they are found
    from celosia.risk.attacker import Attacker
    from celosia.risk.corner import Corner
    from celosia.risk.rules.contributor_rules import RespondentRule
    from celosia.table.fixed import Fixed
    from celosia.table.table import Table

SAFE, SENSITIVE, HIDE, SHOW = "s", "u", "m", "z"
"""What a cell is: safe, sensitive, safe but to be hidden, to be shown. The letters are those of JJ files."""


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """Protection levels of every cell, zero where it is not sensitive.

    Parameters
    ----------
    lower, upper, sliding
        LPL, UPL and SPL, ``(n_cells,)`` each.
    """

    lower: Fixed
    upper: Fixed
    sliding: Fixed

    @property
    def required(self) -> NDArray[np.bool_]:
        """For which cells some level is above zero, ``(n_cells,)``."""
        return np.asarray((self.lower.counts > 0) | (self.upper.counts > 0) | (self.sliding.counts > 0))

    def largest(self, other: Levels) -> Levels:
        """Return the larger of the two levels of every cell, each kind for itself."""
        return Levels(*(_larger(getattr(self, name), getattr(other, name)) for name in LEVELS))

    def of(self, cells: NDArray[np.int64], attacker: int) -> Requirements:
        """Return what an attacker must not come closer to than these levels, in some cells."""
        who = np.full(len(cells), attacker, dtype=np.int32)
        return Requirements(cells, who, self.lower[cells], self.upper[cells], self.sliding[cells])


@dataclass(frozen=True, slots=True, eq=False)
class LevelShares:
    """Which parts of the value the levels of every cell can be at most, by the rules that call it sensitive.

    They are public where rules and parameters are. Zero where a cell is not sensitive, or levels are no such parts.

    Parameters
    ----------
    lower, upper, sliding
        ``(n_cells,)`` each.
    """

    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    sliding: NDArray[np.float64]

    @property
    def width(self) -> NDArray[np.float64]:
        """Which part of the value the width is that levels ask for, ``(n_cells,)``."""
        return np.asarray(np.maximum(self.sliding, self.lower + self.upper))

    def slide(self) -> LevelShares:
        """Return the shares of sliding levels that ask for the same widths."""
        return LevelShares(np.zeros_like(self.lower), np.zeros_like(self.upper), self.width)


LEVELS = ("lower", "upper", "sliding")
"""The kinds of levels."""


def _larger(one: Fixed, other: Fixed) -> Fixed:
    decimals = max(one.decimals, other.decimals)
    first, second = one.to(decimals), other.to(decimals)
    return replace(first, counts=np.maximum(first.counts, second.counts))


@dataclass(frozen=True, eq=False)
class Risk:
    """A table with its sensitive cells. Confidential.

    Parameters
    ----------
    table
        The table.
    status
        `SAFE`, `SENSITIVE`, `HIDE` or `SHOW`, ``(n_cells,)``.
    levels
        The protection levels.
    cost
        What hiding each cell costs, ``(n_cells,)``.
    attackers
        Against whom the sensitive cells are protected.
    rules
        The rules in words.
    reasons
        Which rules call each cell sensitive, ``(n_rules, n_cells)``.
    evidence
        The numbers behind the decisions, a column each. For the office only: it never goes into a public file.
    further
        Requirements with levels of their own. An attacker who is named in one of them has these and no others.
    respondents
        By which rules contributors are kept from each other, too; all of them hold. None where they do not attack.
    unasked
        Why contributors do not attack, a clause; empty where they do.
    corners
        Cells that must be able to move together, which searches ask for. Attacks of contributors
        (`celosia.audit_respondents`) judge what they are for, and no other audit does.
    shares
        Which parts of the value levels can be, as far as rules say; None where levels were given.
    """

    table: Table
    status: NDArray[np.str_]
    levels: Levels
    cost: NDArray[np.float64]
    attackers: tuple[Attacker, ...]
    rules: tuple[str, ...] = ()
    reasons: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    evidence: Mapping[str, NDArray[Any]] = field(default_factory=lambda: MappingProxyType({}))
    further: Requirements | None = None
    respondents: tuple[RespondentRule, ...] = ()
    unasked: str = ""
    corners: tuple[Corner, ...] = ()
    shares: LevelShares | None = None

    def __len__(self) -> int:
        return len(self.table)

    @property
    def sensitive(self) -> NDArray[np.bool_]:
        """Which cells are sensitive, ``(n_cells,)``."""
        return np.asarray(self.status == SENSITIVE)

    @property
    def requirements(self) -> Requirements:  # attacker by attacker, as an audit goes through them
        """One requirement for every sensitive cell and every attacker, and those with levels of their own.

        Nobody is kept from what he has contributed alone (`Attacker.own`), and an attacker with levels of his own has
        these (`Attacker.levels`).
        """
        cells = np.flatnonzero(self.sensitive)
        own = np.zeros(0, dtype=np.int32) if self.further is None else self.further.attackers
        who = np.setdiff1d(np.arange(len(self.attackers), dtype=np.int32), own)
        if any(attacker.levels is not None or attacker.own is not None for attacker in self.attackers):
            return self._requirements_of_each(who)
        place = np.tile(cells, len(who))
        attacker = np.repeat(who, len(cells))
        levels = self.levels
        common = Requirements(place, attacker, levels.lower[place], levels.upper[place], levels.sliding[place])
        if self.further is None:
            return common
        return _sort_by_attacker(common.join(self.further))

    def _requirements_of_each(self, who: NDArray[np.int32]) -> Requirements:
        """Return the requirements of some attackers, each with his levels, and those of the others after them."""
        parts = [self.levels.of(np.zeros(0, dtype=np.int64), 0)] if self.further is None else [self.further]
        common = self.sensitive & (self.levels.required | ~self.required_of_single)
        for place in who.tolist():
            attacker = self.attackers[place]
            levels = self.levels if attacker.levels is None else attacker.levels
            asked = common if attacker.levels is None else self.sensitive & levels.required
            parts.append(levels.of(np.flatnonzero(asked if attacker.own is None else asked & ~attacker.own), place))
        return _sort_by_attacker(reduce(Requirements.join, parts))

    @property
    def required_of_single(self) -> NDArray[np.bool_]:
        """For which cells single attackers have levels of their own, ``(n_cells,)``."""
        asked = np.zeros(len(self), dtype=bool)
        for attacker in self.attackers:
            if attacker.levels is not None:
                asked |= attacker.levels.required
        return asked

    @property
    def largest_levels(self) -> Levels:
        """The largest levels of every cell over all attackers: for methods that move values, whoever reads them."""
        own = (attacker.levels for attacker in self.attackers if attacker.levels is not None)
        return reduce(Levels.largest, own, self.levels)

    def with_attackers(self, attackers: Sequence[Attacker]) -> Risk:
        """Return the risk with other attackers; cells for which they have levels of their own are sensitive."""
        found = replace(self, attackers=tuple(attackers))
        return replace(found, status=np.where(found.required_of_single, SENSITIVE, self.status))

    def change_levels(self, change: Callable[[Levels], Levels]) -> Risk:
        """Return the risk with other levels, those of single attackers among them."""
        attackers = (
            attacker if attacker.levels is None else replace(attacker, levels=change(attacker.levels))
            for attacker in self.attackers
        )
        return replace(self, levels=change(self.levels), attackers=tuple(attackers))

    @property
    def without_corners(self) -> Risk:
        """The same without what is asked of several cells together."""
        return replace(self, corners=()) if self.corners else self

    @property
    def unasked_note(self) -> str | None:
        """A sentence that says that contributors do not attack, and why; None where they do."""
        if self.respondents:
            return None
        return f"Respondents were not asked: {self.unasked or 'nobody said how close they may come'}."

    def respondent_notes(self, integer: bool | None) -> tuple[str, ...]:  # noqa: FBT001  (as an audit says it)
        """Return which attacks of contributors are left out, in plain sentences.

        Parameters
        ----------
        integer
            Attackers were said to know that all values are whole numbers.
        """
        if self.unasked_note is not None:
            return (self.unasked_note, *self.own_notes)
        whole = "Respondents were judged as if they did not know that values are whole numbers."
        return (*((whole,) * (integer is True)), *self.own_notes)

    @property
    def own_notes(self) -> tuple[str, ...]:
        """A sentence for every attacker who is not kept from sensitive cells, because they are his own."""
        own = ((one.name, 0 if one.own is None else int((one.own & self.sensitive).sum())) for one in self.attackers)
        return tuple(
            f"Attacker {name!r} is not kept from {pluralise(many, 'sensitive cell')} of his own."
            for name, many in own
            if many
        )

    def reason(self, cell: int) -> tuple[str, ...]:
        """Return the rules by which a cell is sensitive."""
        return tuple(rule for rule, says in zip(self.rules, self.reasons, strict=True) if says[cell])

    def columns(self, *, evidence: bool = False) -> dict[str, Any]:
        """Return the cells as columns: the table's, then status, reasons, levels and cost; on request the evidence."""
        columns = self.table.columns()
        columns["sensitive"] = self.sensitive
        columns["status"] = [_WORDS[letter] for letter in self.status.tolist()]
        columns["reason"] = [
            "; ".join(self.reason(cell)) if says else "" for cell, says in enumerate(self.sensitive.tolist())
        ]
        columns["lower_level"] = self.levels.lower.floats
        columns["upper_level"] = self.levels.upper.floats
        columns["sliding_level"] = self.levels.sliding.floats
        columns["cost"] = self.cost
        return columns | dict(self.evidence) if evidence else columns

    def to_frame(self, library: str | None = None, *, evidence: bool = False) -> Any:  # noqa: ANN401
        """Return the cells as a data frame of the given library, by default the one that the data came in."""
        return frame_of(self.columns(evidence=evidence), library or self.table.library)

    def __repr__(self) -> str:
        return f"Risk({self.table!r}, {int(self.sensitive.sum()):,} sensitive)"

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"


def _sort_by_attacker(requirements: Requirements) -> Requirements:
    return requirements.take(np.argsort(requirements.attackers, kind="stable"))


_WORDS = {SAFE: "safe", SENSITIVE: "sensitive", HIDE: "hide", SHOW: "show"}
