"""How far sensitive cells were moved from the truth, for methods that publish one plausible table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.pattern.arithmetic import differ, greater, minus, outside, plus
from celosia.pattern.pattern import Pattern
from celosia.risk.attacker import Attacker
from celosia.risk.risk import SHOW, Risk
from celosia.table.fixed import Fixed
from celosia.table.frames import frame_of


@dataclass(frozen=True, slots=True, eq=False)
class Distances:
    """What became of the sensitive cells of a table whose values were moved. Confidential.

    This is no statement about what attackers can conclude: it says how far published values are from the truth.

    Parameters
    ----------
    risk
        What was to be protected.
    published
        The published table, ``(n_cells,)``.
    cells
        The sensitive cells, ``(k,)``.
    moved
        Whether each left its safety interval, ``(k,)``.
    additive
        Every relation of the true table holds for the published one.
    plausible
        Every published value lies within what every attacker knows of the true one.
    kept
        Every cell that was to be published as it is was.
    """

    risk: Risk
    published: Fixed
    cells: NDArray[np.int64]
    moved: NDArray[np.bool_]
    additive: bool
    plausible: bool
    kept: bool

    @property
    def safe(self) -> bool:
        """Whether every sensitive cell left its safety interval, in a table that adds up and might be true."""
        return bool(self.moved.all()) and self.additive and self.plausible and self.kept

    def columns(self) -> dict[str, Any]:
        """Return one line per sensitive cell: truth, published value, levels, and whether it moved far enough."""
        table, levels = self.risk.table, self.risk.largest_levels
        return {
            "cell": self.cells,
            "label": [table.label(int(cell)) for cell in self.cells],
            "value": table.amounts[self.cells].floats,
            "published": self.published[self.cells].floats,
            "lower_level": levels.lower[self.cells].floats,
            "upper_level": levels.upper[self.cells].floats,
            "moved": self.moved,
        }

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the same as a data frame of the given library, by default the one that the data came in."""
        return frame_of(self.columns(), library or self.risk.table.library)

    def __repr__(self) -> str:
        said = [f"{int(self.moved.sum()):,} of {len(self.moved):,} sensitive cells left their safety interval"]
        said += [word for word, holds in self._flaws.items() if not holds]
        return f"Distances({', '.join(said)})"

    @property
    def _flaws(self) -> dict[str, bool]:
        return {
            "does not add up": self.additive,
            "lies outside known bounds": self.plausible,
            "changes cells to be kept": self.kept,
        }


def distances_of(pattern: Pattern, risk: Risk) -> Distances:
    """Return how far a pattern that shows a number for every cell takes the sensitive ones from the truth.

    Guarantee: everything is decided in exact arithmetic, from the published numbers and the risk alone. A cell
    whose level on one side is zero is not protected by moving to that side.
    """
    table, levels = risk.table, risk.largest_levels
    published = pattern.published()
    cells = np.flatnonzero(risk.sensitive)
    truth, shown = table.amounts[cells], published[cells]
    lower, upper = levels.lower[cells], levels.upper[cells]
    below = ~greater(shown, minus(truth, lower)) & np.asarray(lower.counts > 0, dtype=bool)
    above = ~greater(plus(truth, upper), shown) & np.asarray(upper.counts > 0, dtype=bool)
    known = Attacker.together(risk.attackers) if risk.attackers else Attacker.external(table)
    kept = risk.status == SHOW
    return Distances(
        risk=risk,
        published=published,
        cells=cells,
        moved=below | above,
        additive=adds_up(published, risk),
        plausible=not outside(published, known.lower, known.upper).any(),
        kept=not (differ(published, table.amounts) & kept).any(),
    )


def adds_up(published: Fixed, risk: Risk) -> bool:
    """Return whether every relation of a table holds for other values, exactly."""
    relations, decimals = risk.table.relations, max(published.decimals, risk.table.decimals)
    counts = published.to(decimals).counts.astype(object)
    right = relations.right.astype(object) * 10 ** (decimals - risk.table.decimals)
    matrix, terms = relations.matrix, np.zeros(len(relations), dtype=object)
    np.add.at(terms, np.repeat(np.arange(len(relations)), np.diff(matrix.indptr)), matrix.data * counts[matrix.indices])
    return bool((terms == right).all())
