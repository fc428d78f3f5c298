"""Warm start: cuts and a pattern of earlier searches, for later ones of the problem with more requirements.

Cuts remain valid when requirements are added. They are kept by cells of the table, because problems may differ in their
columns and in what they force. Those that hold only for some patterns, or follow from others, are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.state.file import CutsByCells
from celosia.tolerance import COEFFICIENT_GRID, SUM_ROUNDING

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem

RequirementKey = tuple[int, str, int]
"""What tells a requirement from others: the cell, the attacker's name, and how many of both come before it."""


@dataclass(eq=False)
class WarmStart:
    """Cuts by cells of the table, and a pattern that satisfies some of the requirements.

    Parameters
    ----------
    pattern
        Which cells it hides, ``(n_cells,)``; None where none is known. Cells beyond are hidden.
    met
        The requirements that the pattern satisfies.
    """

    pattern: NDArray[np.bool_] | None = None
    met: frozenset[RequirementKey] = frozenset()
    _cuts: dict[bytes, Cut] = field(default_factory=dict)
    _same: dict[bytes, Cut] = field(default_factory=dict)

    def keep(self, problem: ProtectionProblem, cuts: Iterable[Cut]) -> None:
        """Keep the cuts of a problem that hold when requirements are added, and more cells are forced."""
        for cut in cuts:
            if cut.right == 1.0 and not cut.lean and not cut.rounded and bool((cut.values > 0).all()):
                known = Cut(problem.cells[cut.columns], cut.values)
                self._cuts[known.key] = known

    def learn(self, cuts: CutsByCells) -> None:
        """Take over all cuts of another run of the same problem, also those that hold for nothing else."""
        ends = pairwise(cuts.starts.tolist())
        flags = zip(cuts.right.tolist(), cuts.lean.tolist(), cuts.rounded.tolist(), strict=True)
        for (begin, end), (right, lean, rounded) in zip(ends, flags, strict=True):
            known = Cut(cuts.cells[begin:end], cuts.values[begin:end], right, lean=lean, rounded=rounded)
            self._same[known.key] = known

    def cuts(self, problem: ProtectionProblem) -> Iterator[Cut]:
        """Yield the cuts about cells of a problem, for its columns; what it forces makes them tighter."""
        place = np.full(int(problem.cells.max(initial=-1)) + 1, -1, dtype=np.int64)
        place[problem.cells] = np.arange(len(problem))
        for known in (*self._same.values(), *self._cuts.values()):
            if known.columns[-1] >= len(place):
                continue
            columns = place[known.columns]
            if bool((columns < 0).any()):
                continue
            if known.key in self._same:
                yield replace(known, columns=columns)
                continue
            forced = problem.forced[columns]
            right = 1.0 - float(known.values[forced].sum()) - SUM_ROUNDING
            if not forced.any():
                yield Cut(columns, known.values)
            elif right > 0:
                tighter = np.minimum(
                    np.ceil(known.values[~forced] / right * (1 + SUM_ROUNDING) / COEFFICIENT_GRID) * COEFFICIENT_GRID,
                    1.0,
                )
                yield Cut(columns[~forced], tighter)

    def mask(self, problem: ProtectionProblem) -> NDArray[np.bool_] | None:
        """Return which columns of a problem the pattern hides, ``(n,)``."""
        if self.pattern is None:
            return None
        hidden = np.ones(len(problem), dtype=bool)
        inside = problem.cells < len(self.pattern)
        hidden[inside] = self.pattern[problem.cells[inside]]
        return hidden | problem.forced


def pack_cuts(parts: Iterable[tuple[ProtectionProblem, Iterable[Cut]]], most: int) -> CutsByCells:
    """Return cuts of the parts of a problem by cells of the table: of each the newest, no more coefficients in all.

    Parameters
    ----------
    parts
        Components with their cuts, in the order in which they were found.
    most
        So many coefficients in all.
    """
    known = [replace(cut, columns=problem.cells[cut.columns]) for problem, cuts in parts for cut in cuts]
    known = [cut for cut in known if len(cut.columns)]
    sizes = np.array([len(cut.columns) for cut in known], dtype=np.int64)
    first = len(known) - int(np.searchsorted(np.cumsum(sizes[::-1]), most, side="right"))
    kept = known[first:]
    if not kept:
        return CutsByCells.none()
    return CutsByCells(
        np.concatenate([[0], np.cumsum(sizes[first:])]),
        np.concatenate([cut.columns for cut in kept]),
        np.concatenate([cut.values for cut in kept]),
        np.array([cut.right for cut in kept]),
        np.array([cut.lean for cut in kept]),
        np.array([cut.rounded for cut in kept]),
    )
