"""Keeps the state of a search in a file while it goes on: after every improvement, but not all the time."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from celosia.errors import SpecError
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.shown import Shown
from celosia.protection.state.file import PackedCuts, SearchState, write_state
from celosia.protection.state.fingerprint import SETTLED

if TYPE_CHECKING:
    from celosia.pattern.pattern import Pattern
    from celosia.protection.result import Protection


@dataclass(frozen=True, slots=True)
class StateParameters:
    """How often a state is written, and how large it may grow.

    Parameters
    ----------
    pause
        Seconds between two writings; zero or more.
    pause_factor
        The pause is at least so many times what the last writing took, so that a search has most of its time; 1 or
        more.
    most_entries
        Coefficients of cuts that are kept, the newest first: twelve bytes each.
    """

    pause: float = 1.0
    pause_factor: float = 20.0
    most_entries: int = 4_000_000

    def __post_init__(self) -> None:
        if self.pause < 0 or self.pause_factor < 1 or self.most_entries < 0:
            message = "pause and most_entries must be zero or more, pause_factor 1 or more"
            raise ValueError(message)


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """A pattern that may be written, with what it costs."""

    modes: tuple[Mode, ...]
    cost: float
    settled: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(eq=False)
class StateKeeper:
    """Writes the best pattern, the bound and the cuts of a search.

    What cannot be written does not end a search: `failure` says why.

    Parameters
    ----------
    path
        The file; one that is there is replaced.
    fingerprints
        Of the problem.
    parameters
        How often it is written.

    Attributes
    ----------
    failure
        Why the state could not be written, empty where it could.
    """

    path: Path
    fingerprints: Mapping[str, str]
    parameters: StateParameters = StateParameters()
    failure: str = field(init=False, default="")
    _audited: _Kept | None = field(init=False, default=None)
    _found: _Kept | None = field(init=False, default=None)
    _bound: float = field(init=False, default=-math.inf)
    _cuts: dict[str, Callable[[int], PackedCuts]] = field(init=False, default_factory=dict)
    _pending: bool = field(init=False, default=False)
    _next: float = field(init=False, default=0.0)

    def begin(self, start: SearchState) -> None:
        """Begin with what another run has found: nothing of it is lost before there is something better."""
        if start.modes is not None:
            self._found = _Kept(start.modes, math.inf, start.settled, start.notes)
        self._bound = start.bound
        self._cuts = {name: partial(_given, cuts) for name, cuts in start.cuts.items()}

    def keep_result(self, found: Protection) -> None:
        """Keep a result that was audited, where it is the cheapest of those, and its bound."""
        if found.safe and (self._audited is None or found.cost < self._audited.cost):
            settled = {name: value for name in SETTLED if (value := getattr(found.method, name, None)) is not None}
            self._audited = _Kept(_modes(found.pattern), found.cost, settled, found.notes)
            self._pending = True
        self.raise_bound(found.bound)

    def keep_pattern(self, pattern: Callable[[], Pattern], cost: float) -> None:
        """Keep a pattern of a search, which is not audited yet, where it is the cheapest."""
        known = [kept.cost for kept in (self._audited, self._found) if kept is not None]
        if cost < min(known, default=math.inf):
            self._found, self._pending = _Kept(_modes(pattern()), cost), True

    def withdraw_pattern(self) -> None:
        """Forget the pattern that was not audited: the audit has refuted it."""
        self._found, self._pending = None, True

    def forget_bound(self) -> None:
        """Forget the bound, and the cuts: what was audited contradicts them."""
        self._bound, self._cuts, self._pending = -math.inf, {}, True

    def forget_everything(self) -> None:
        """Forget all that is known: it is of a problem that asks for more."""
        self._audited = self._found = None
        self.forget_bound()

    def raise_bound(self, bound: float) -> None:
        """Keep a bound, where it is higher, and write what is due."""
        if math.isfinite(bound) and bound > self._bound:
            self._bound, self._pending = bound, True
        self.write_if_due()

    def keep_cuts(self, name: str, cuts: Callable[[int], PackedCuts]) -> None:
        """Keep what returns the cuts of a search, the newest ones with no more than so many coefficients in all."""
        self._cuts[name] = cuts

    def touch(self) -> None:
        """Take note of more cuts, and write what is due."""
        self._pending = True
        self.write_if_due()

    def write_if_due(self) -> None:
        """Write what is new, unless the last writing was just now."""
        if self._pending and time.monotonic() >= self._next:
            self.write()

    def write(self) -> None:
        """Write what is new."""
        if not self._pending or self.failure:
            return
        began = time.monotonic()
        kept = min(filter(None, (self._audited, self._found)), key=lambda one: one.cost, default=None)
        cuts = {name: pack(self.parameters.most_entries) for name, pack in self._cuts.items()}
        state = SearchState(
            self.fingerprints,
            None if kept is None else kept.modes,
            max(0.0, self._bound),
            {} if kept is None else kept.settled,
            () if kept is None else kept.notes,
            {name: packed for name, packed in cuts.items() if len(packed)},
        )
        try:
            write_state(state, self.path)
        except SpecError as error:
            self.failure = error.problems[0].message
        self._pending, ended = False, time.monotonic()
        self._next = ended + max(self.parameters.pause, self.parameters.pause_factor * (ended - began))


def _given(cuts: PackedCuts, _most: int) -> PackedCuts:
    return cuts


def _modes(pattern: Pattern) -> tuple[Mode, ...]:
    """Return the modes of a pattern but for cells that are shown."""
    return tuple(mode for mode in pattern.modes if not isinstance(mode, Shown))
