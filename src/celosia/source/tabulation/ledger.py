"""The ledger of a tabulation: for every cell how many contribute, how much, and the largest of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import plain
from celosia.kernels import inner, kernel
from celosia.table.lattice import LatticeStep
from celosia.table.statistics import Contributors

NOBODY = -1
"""The largest contribution of a requester where there is none."""

_COUNT, _TOTAL, _LISTS = range(3)


@dataclass(frozen=True, slots=True)
class Layout:
    """What stands in a line of a ledger, the busy part first: entering a contribution touches little memory.

    First the number of contributors and the sum of their absolute weighted contributions; then the list of the k
    largest values, and of their weighted values where there are weights. Where there are waivers: the number of
    contributors without waiver, and their lists. Where there are requests: the largest contribution of a requester.

    Parameters
    ----------
    k
        How many of the largest to keep.
    weighted, waivers, requests
        Whether there are any.
    """

    k: int
    weighted: bool
    waivers: bool
    requests: bool

    @property
    def list_width(self) -> int:
        """The number of figures in the lists of the largest."""
        return self.k * (1 + self.weighted)

    @property
    def width(self) -> int:
        """The number of figures in a line."""
        return _LISTS + self.list_width + self.waivers * (1 + self.list_width) + self.requests


@dataclass(frozen=True, slots=True, eq=False)
class Ledger:
    """What is entered for each of n cells.

    Parameters
    ----------
    lines
        ``(n, layout.width)``.
    layout
        What stands where.
    """

    lines: NDArray[np.int64]
    layout: Layout

    @classmethod
    def empty(cls, n: int, layout: Layout) -> Ledger:
        """Return a ledger without entries."""
        lines = np.zeros((n, layout.width), dtype=np.int64)
        if layout.requests:
            lines[:, -1] = NOBODY
        return cls(lines, layout)

    def add(self, other: Ledger) -> None:
        """Enter everything that another ledger of the same cells holds."""
        cells = np.arange(len(self.lines), dtype=np.int32)
        _merge(np.arange(len(cells) + 1), cells, other.lines, self.lines, **asdict(self.layout))

    def raise_to(self, step: LatticeStep) -> Ledger:
        """Return the ledger of the next stage of the lattice."""
        out = Ledger.empty(step.size, self.layout)
        _merge(step.starts, step.holders, self.lines, out.lines, **asdict(self.layout))
        return out

    def contributors(self) -> Contributors:
        """Return the entries as contributors' statistics."""
        count, total = (self.lines[:, place].copy() for place in (_COUNT, _TOTAL))
        largest, weighted = self._lists(_LISTS)
        if not self.layout.waivers:
            return Contributors.of_known(count, total, largest, weighted=weighted)
        after = _LISTS + self.layout.list_width
        return Contributors(count, total, largest, weighted, self.lines[:, after].copy(), *self._lists(after + 1))

    def largest_requests(self) -> NDArray[np.int64] | None:
        """Return the largest contribution of a requester, `NOBODY` where there is none; None where nobody could ask."""
        return self.lines[:, -1].copy() if self.layout.requests else None

    def _lists(self, start: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        k = self.layout.k
        largest = self.lines[:, start : start + k].copy()
        return largest, self.lines[:, start + k : start + 2 * k].copy() if self.layout.weighted else largest


# In what follows an argument that may be None is None at compile time: every combination of weights, waivers and
# requests has compiled code of its own, without the branches it does not need.


@inner()
def _insert(lines: NDArray[np.int64], cell: int, base: int, k: int, value: int, weighted: int | None) -> None:
    """Put a contribution into a list that is sorted by value, then by weighted value, largest first."""
    place = base + k - 1
    if not _exceeds(value, weighted, lines, cell, place, k):
        return
    while place > base and _exceeds(value, weighted, lines, cell, place - 1, k):
        lines[cell, place] = lines[cell, place - 1]
        if weighted is not None:
            lines[cell, place + k] = lines[cell, place - 1 + k]
        place -= 1
    lines[cell, place] = value
    if weighted is not None:
        lines[cell, place + k] = weighted


@inner()
def _exceeds(value: int, weighted: int | None, lines: NDArray[np.int64], cell: int, place: int, k: int) -> bool:
    """Return whether a contribution goes before the one at a place of a list."""
    if weighted is None:
        return bool(value > lines[cell, place])
    return bool(value > lines[cell, place] or (value == lines[cell, place] and weighted > lines[cell, place + k]))


@inner()
def book(
    lines: NDArray[np.int64],
    cell: int,
    k: int,
    value: int,
    weighted: int | None,
    asks: bool | None,
    waives: bool | None,
) -> None:
    """Enter one contributor's contribution to one cell."""
    value = abs(value)
    if weighted is None:
        amount, after = value, _LISTS + k
        _insert(lines, cell, plain(_LISTS), k, value, None)
    else:
        amount, after = abs(weighted), _LISTS + 2 * k
        if value == 0:  # records that cancel but for their weights: what is left of them is one unit
            value = amount
        _insert(lines, cell, plain(_LISTS), k, value, amount)
    lines[cell, _COUNT] += 1
    lines[cell, _TOTAL] += amount
    if waives is not None and not waives:
        lines[cell, after] += 1
        if weighted is None:
            _insert(lines, cell, after + 1, k, value, None)
        else:
            _insert(lines, cell, after + 1, k, value, amount)
    if asks is not None and asks and amount > lines[cell, -1]:
        lines[cell, -1] = amount


@kernel()
def _merge(
    starts: NDArray[np.int64],
    holders: NDArray[np.int32],
    lines: Annotated[NDArray[np.int64], 2],
    out: Annotated[NDArray[np.int64], 2],
    k: int,
    weighted: bool,
    waivers: bool,
    requests: bool,
) -> None:
    """Enter every line of one ledger into the lines of those that hold its cell."""
    after = _LISTS + (2 * k if weighted else k)
    for cell in range(len(starts) - 1):
        for place in range(starts[cell], starts[cell + 1]):
            holder = holders[place]
            out[holder, _COUNT] += lines[cell, _COUNT]
            out[holder, _TOTAL] += lines[cell, _TOTAL]
            _merge_lists(lines, cell, out, holder, plain(_LISTS), k, weighted)
            if waivers:
                out[holder, after] += lines[cell, after]
                _merge_lists(lines, cell, out, holder, after + 1, k, weighted)
            if requests:
                out[holder, -1] = max(out[holder, -1], lines[cell, -1])


@inner(inline=True)
def _merge_lists(
    lines: NDArray[np.int64], cell: int, out: NDArray[np.int64], holder: int, base: int, k: int, weighted: bool
) -> None:
    for entry in range(base, base + k):
        if weighted:
            _insert(out, holder, base, k, lines[cell, entry], lines[cell, entry + k])
        else:
            _insert(out, holder, base, k, lines[cell, entry], None)
