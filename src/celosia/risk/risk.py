"""Risk: a table whose cells know whether they are sensitive, by which rule, and how much protection they need."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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

    def __len__(self) -> int:
        return len(self.table)

    @property
    def sensitive(self) -> NDArray[np.bool_]:
        """Which cells are sensitive, ``(n_cells,)``."""
        return np.asarray(self.status == SENSITIVE)

    @property
    def requirements(self) -> Requirements:  # attacker by attacker, as an audit goes through them
        """One requirement for every sensitive cell and every attacker, and those with levels of their own."""
        cells = np.flatnonzero(self.sensitive)
        own = np.zeros(0, dtype=np.int32) if self.further is None else self.further.attackers
        who = np.setdiff1d(np.arange(len(self.attackers), dtype=np.int32), own)
        place = np.tile(cells, len(who))
        attacker = np.repeat(who, len(cells))
        levels = self.levels
        common = Requirements(place, attacker, levels.lower[place], levels.upper[place], levels.sliding[place])
        if self.further is None:
            return common
        every = common.join(self.further)
        return every.take(np.argsort(every.attackers, kind="stable"))

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
            return (self.unasked_note,)
        return ("Respondents were judged as if they did not know that values are whole numbers.",) * (integer is True)

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


_WORDS = {SAFE: "safe", SENSITIVE: "sensitive", HIDE: "hide", SHOW: "show"}
