"""Warm start: cuts and a pattern of earlier searches, for later ones of the problem with more requirements.

Cuts remain valid when requirements are added. They are kept by cells of the table, because problems may differ in their
columns and in what they force. Those that hold only for some patterns, or follow from others, are not kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.protection.engine.capacity import Cut
from celosia.protection.state.file import PackedCuts
from celosia.protection.state.warm_start import WarmStart
from celosia.tolerance import COEFFICIENT_GRID, SUM_ROUNDING

if TYPE_CHECKING:
    from celosia.protection.engine.problem import ProtectionProblem

CELLS = "cells"
"""The name of cuts whose columns are the cells of the table, of whatever components they are."""


def keep_cuts(start: WarmStart, problem: ProtectionProblem, cuts: Iterable[Cut]) -> None:
    """Keep the cuts of a problem that hold when requirements are added, and more cells are forced."""
    for cut in cuts:
        if cut.right == 1.0 and not cut.lean and not cut.rounded and bool((cut.values > 0).all()):
            known = Cut(problem.cells[cut.columns], cut.values)
            start.by_cells[known.key] = known.columns, known.values


def cuts_of_search(start: WarmStart, name: str, n_columns: int = np.iinfo(np.int32).max) -> list[Cut]:
    """Return the cuts of the search of this name in another run; none where they cannot be ones of it."""
    packed = start.by_search.get(name)
    return list(unpack_cuts(packed)) if packed is not None and packed.fits(n_columns) else []


def cuts_for_problem(start: WarmStart, problem: ProtectionProblem) -> Iterator[Cut]:
    """Yield the known cuts about cells of a problem, for its columns; what it forces makes them tighter."""
    place = np.full(int(problem.cells.max(initial=-1)) + 1, -1, dtype=np.int64)
    place[problem.cells] = np.arange(len(problem))
    for known in cuts_of_search(start, CELLS):
        columns = place[known.columns] if known.columns[-1] < len(place) else np.full(1, -1)
        if bool((columns >= 0).all()):  # of this component
            yield replace(known, columns=columns)
    for cells, values in start.by_cells.values():
        if cells[-1] >= len(place):
            continue
        columns = place[cells]
        if bool((columns < 0).any()):
            continue
        forced = problem.forced[columns]
        right = 1.0 - float(values[forced].sum()) - SUM_ROUNDING
        if not forced.any():
            yield Cut(columns, values)
        elif right > 0:
            tighter = np.ceil(values[~forced] / right * (1 + SUM_ROUNDING) / COEFFICIENT_GRID) * COEFFICIENT_GRID
            yield Cut(columns[~forced], np.minimum(tighter, 1.0))


def pattern_for_problem(start: WarmStart, problem: ProtectionProblem) -> NDArray[np.bool_] | None:
    """Return which columns of a problem the known pattern hides, ``(n,)``; None where none is known."""
    if start.pattern is None:
        return None
    hidden = problem.forced.copy()
    hidden[: problem.n_own] |= start.pattern[problem.cells[: problem.n_own]]
    return hidden


def pack_cuts(cuts: Iterable[Cut], most: int) -> PackedCuts:
    """Return the last of some cuts, with no more than so many coefficients in all."""
    known = [cut for cut in cuts if len(cut.columns)]
    sizes = np.array([len(cut.columns) for cut in known], dtype=np.int64)
    first = len(known) - int(np.searchsorted(np.cumsum(sizes[::-1]), most, side="right"))
    kept = known[first:]
    return PackedCuts(
        np.concatenate([[0], np.cumsum(sizes[first:])]),
        np.concatenate([np.zeros(0, np.int64), *(cut.columns for cut in kept)]),
        np.concatenate([np.zeros(0), *(cut.values for cut in kept)]),
        np.array([cut.right for cut in kept]),
        np.array([cut.lean for cut in kept], dtype=bool),
        np.array([cut.rounded for cut in kept], dtype=bool),
    )


def unpack_cuts(cuts: PackedCuts) -> Iterator[Cut]:
    """Yield packed cuts."""
    ends = pairwise(cuts.starts.tolist())
    flags = zip(cuts.right.tolist(), cuts.lean.tolist(), cuts.rounded.tolist(), strict=True)
    for (begin, end), (right, lean, rounded) in zip(ends, flags, strict=True):
        yield Cut(cuts.columns[begin:end], cuts.values[begin:end], right, lean=lean, rounded=rounded)
