"""What an audit finds: the verdict on every requirement, and the intervals of cells that are not shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.attack.findings import MET, MISSED, OPEN, Conclusions, Verdict, Verdicts
from celosia.errors import pluralise
from celosia.table.frames import frame_of
from celosia.table.table import whole_cells

if TYPE_CHECKING:
    from celosia.attack.system.system import System
    from celosia.pattern.release import Release
    from celosia.risk.risk import Risk

_REQUIRED = ("required_lower", "required_upper", "required_width", "protected")


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of an audit. Confidential: it holds tables that lead to true values.

    Parameters
    ----------
    risk, release
        What was audited.
    verdicts
        One per requirement.
    intervals
        What every attacker can conclude about every cell that is not shown, where that was computed; with the tables
        that show it for published ranges only.
    systems
        What each attacker had to solve.
    integer
        Which values attackers knew to be whole numbers: True for all, False for none, None for those of variables
        that count (`whole`).
    solver
        What solved, by name and version.
    unjudged
        How many contributors there was no time to attack: then the release is not shown to be safe.
    exposed
        How many contributors to linked tables others come too close to, rule by rule: then the release is not safe.
        Elsewhere they are attackers with a requirement each.
    """

    risk: Risk
    release: Release
    verdicts: Sequence[Verdict]
    intervals: Conclusions
    systems: tuple[System, ...]
    integer: bool | None
    solver: str
    unjudged: int = 0
    exposed: int = 0

    @property
    def whole(self) -> NDArray[np.bool_]:
        """Which cells attackers knew to be whole numbers, ``(n_cells,)``."""
        return whole_cells(self.risk.table, self.integer)

    @property
    def safe(self) -> bool:
        """Every requirement is met, and all contributors were attacked that had to be, without success."""
        return self.count(MET) == len(self.verdicts) and not self.unjudged and not self.exposed

    @property
    def notes(self) -> tuple[str, ...]:
        """What the audit leaves out, in plain sentences."""
        return self.risk.respondent_notes(self.integer)

    def of_result(self, result: str) -> Sequence[Verdict]:
        """Return the verdicts of one kind."""
        if isinstance(self.verdicts, Verdicts):
            return self.verdicts.of_result(result)
        return [verdict for verdict in self.verdicts if verdict.result == result]

    def count(self, result: str) -> int:
        """Return how many verdicts of one kind there are."""
        return len(self.of_result(result))

    def columns(self) -> dict[str, Any]:
        """Return one line per cell and attacker: his interval, what is required, and whether the cell is protected."""
        found = self.intervals
        if not len(found) and isinstance(self.verdicts, Verdicts):
            found = self.verdicts.findings
        truth, label = self.risk.table.amounts, self.risk.table.label
        lines: dict[str, list[Any]] = {
            "cell": found.cells.tolist(),
            "label": [label(cell) for cell in found.cells.tolist()],
            "attacker": [self.risk.attackers[number].name for number in found.attackers.tolist()],
            "lower": found.lower(),
            "upper": found.upper(),
        }
        lines |= {name: [None] * len(found) for name in _REQUIRED}
        place_of = {key: place for place, key in enumerate(found.keys())}
        for verdict in self.verdicts:
            wanted = verdict.requirement
            place, value = place_of.get((wanted.cell, wanted.attacker)), truth.fraction(wanted.cell)
            if place is not None:
                ends = (value - wanted.lower, value + wanted.upper, wanted.sliding)
                for name, level, end in zip(
                    _REQUIRED, (wanted.lower, wanted.upper, wanted.sliding), ends, strict=False
                ):
                    lines[name][place] = float(end) if level else None
                lines["protected"][place] = verdict.result
        return dict(lines)

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the same as a data frame."""
        return frame_of(self.columns(), library or self.risk.table.library)

    def __repr__(self) -> str:
        said = "safe" if self.safe else "not safe"
        left = f", {pluralise(self.exposed, 'contributor')} exposed" if self.exposed else ""
        left += f", {pluralise(self.unjudged, 'contributor')} not attacked in time" if self.unjudged else ""
        return (
            f"Audit({said}: {self.count(MET):,} of {len(self.verdicts):,} requirements met, "
            f"{self.count(MISSED):,} missed, {self.count(OPEN):,} not shown safe{left})"
        )
