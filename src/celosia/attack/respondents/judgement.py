"""What the attack of a coalition on a target comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Coalition = frozenset[int]


class Proof(Protocol):
    """Shows that a coalition does not come too close."""

    @property
    def columns(self) -> NDArray[np.int64]:
        """Which columns of the system it moves; it fails nowhere else but in the target's leaves."""

    def fails(self, leaf: int, taken: int, level: int | None) -> bool:
        """Return whether it shows nothing against coalitions that contribute `taken` to a leaf."""


@dataclass(frozen=True, slots=True, eq=False)
class Judgement:
    """Whether a coalition comes too close to a target.

    Parameters
    ----------
    proof
        Shows that it does not; None where nothing shows it.
    reach, level
        How far the target's cell moves, and how far it must.
    signs
        Where the target contributes to several cells: what the coalition can exclude, more (1) or less (-1) by leaf.
        Leaves that are not named may have any sign.
    late
        Time was up before anything was known.
    """

    proof: Proof | None
    reach: int = 0
    level: int = 1
    signs: tuple[tuple[int, int], ...] = ()
    late: bool = False
