"""Protection of respondents: patterns that leave nobody too close to anybody.

Requirements are made lazily: a pattern is found, respondents attack it, those who come too close become attackers with
a requirement each (`celosia.attack.respondent_requirements`), and the engine finds another. Few of the pairs ever do,
so that a handful of rounds is enough; and because every round asks for a part of what is needed, its bound is one for
the whole. A round does not start anew: it has the cuts of those before it, and searches below the best safe pattern
(`celosia.protect.memory`). First rounds are short of optimal, which costs little and finds a safe pattern soon; the
last ones are as exact as was asked for. When time runs out before a safe pattern is known, what is hidden stays so, and
more is added; where attacks themselves take too long, everything is hidden, and shown to be safe or not published.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.respondent_requirements import Corner, corners, requiring
from celosia.attack.respondents import RespondentAudit, audit_respondents
from celosia.errors import InfeasibleError, OutOfTimeError, SpecError
from celosia.pattern.entries import SHOWN
from celosia.pattern.pattern import Pattern
from celosia.presses import shielded
from celosia.protect.call import Call, Told, Watch
from celosia.protect.closing import GRACE, closes, hiding, more_hidden
from celosia.protect.corners import Cornered, takes_corners
from celosia.protect.memory import Memory
from celosia.protect.mixed import Mixed
from celosia.protect.protection import Closing, Method, Protection
from celosia.protect.relaxed import TimeUpError
from celosia.protect.suppress import Suppress
from celosia.risk.respondents import Knowledge, respondents_of
from celosia.risk.risk import HIDE, SAFE, Risk
from celosia.risk.rules import PPercent, PriorPosterior
from celosia.solve.clock import Clock

_LOOSE = 0.02  # the gap of rounds that only look for open pairs
# Shares of the time: for the first pattern; for one that is safe as it is; after which patterns are completed rather
# than improved; and what every pattern has.
_FIRST, _LONG, _EXACT, _LEAST = 0.3, 0.9, 0.75, 0.1
_LAST_GRACE = (10.0, 1.0)  # seconds, and a share of the limit, by which attacks on what hides everything may be late
_ENOUGH = 4  # coalitions that come too close to a target: what keeps them away mostly keeps the others away
_MOST_ROUNDS = 60  # without an end of time; patterns of equal cost may take turns for long

Engine = Callable[[Risk, Method, Call], Protection]


def protect_respondents(
    risk: Risk, method: Method, call: Call, engine: Engine, rule: PPercent | PriorPosterior
) -> Protection:
    """Return a pattern in which no coalition of contributors comes too close to another contributor.

    Guarantee: the pattern has passed `celosia.audit` with all its requirements, those of respondents among them, and
    `celosia.audit_respondents`.

    Parameters
    ----------
    risk
        The table with single contributions, and against whom its cells are protected.
    method, call
        How to protect, and for how long.
    engine
        Does what the method says.
    rule
        What respondents know, and how close they may come.

    Raises
    ------
    SpecError, DataError
        The table knows no contributions, or they do not add up.
    InfeasibleError
        Somebody stays exposed whatever is hidden.
    OutOfTimeError
        Time was up, or Ctrl-C pressed, before a pattern was shown to be safe.
    """
    respondents_of(risk.table, Knowledge.of(rule).by)  # what is wrong with them is said before the search
    # Rounds know who came too close so far; an audit of their patterns is not to ask again.
    found = _Rounds(replace(risk, respondents=None), method, call, engine, rule).protection()
    return replace(found, risk=replace(found.risk, respondents=rule))


class _StoppedError(Exception):
    """Somebody pressed Ctrl-C during an attack."""


class _Part(Clock):
    """Some of the time of another clock, and none when that is stopped before its end."""

    def __init__(self, whole: Clock, limit: float | None) -> None:
        super().__init__(limit)
        self._whole, self._before = whole, whole.stopped

    @property
    def left(self) -> float:
        """Seconds that remain, never negative."""
        if self._whole.stopped and not self._before:
            self.stop()
        return super().left


@dataclass
class _Rounds:
    """The rounds of one protection."""

    risk: Risk
    method: Method
    call: Call
    engine: Engine
    rule: PPercent | PriorPosterior
    best: Protection | None = None
    bound: float = 0.0
    rounds: int = 0
    stricter: bool = False
    hurried: bool = False
    every: Risk | None = None
    told: Risk | None = None
    last: tuple[NDArray[np.bool_], RespondentAudit] | None = None
    safe: set[bytes] = field(default_factory=set)
    corners: dict[str, Corner] = field(default_factory=dict)
    closing: Closing | None = None
    memory: Memory = field(default_factory=Memory)
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)

    def protection(self) -> Protection:
        """Return the best pattern that nobody attacks with success."""
        try:
            self._search()
        except (KeyboardInterrupt, OutOfTimeError):
            if self.best is None:
                raise
        except _StoppedError:
            pass
        if self.best is None:
            raise self._late()
        self.bound = min(self.bound, self.best.cost)
        closing = None if self.closing is None else replace(self.closing, rounds=self.rounds)
        self._note()
        seconds, trace = self.call.clock.seconds, tuple(self.trace)
        return replace(self.best, bound=self.bound, seconds=seconds, trace=trace, closing=closing)

    def _search(self) -> None:
        first = self._found(self.risk, self._gap(loose=True), _FIRST, self.memory)
        self.bound = first.bound
        audit = self._attacked(first)
        if not audit.unjudged:  # otherwise nobody knows how many pairs the pattern for cells alone leaves open
            self.closing = Closing(len(audit.open), first.cost, 0, self.rule)
        if audit.safe:
            self.best = first
            if first.gap <= self.call.gap:
                return
            first = self._found(self.risk, self.call.gap, _LONG, self.memory)
            self.bound, audit = max(self.bound, first.bound), self._attacked(first)
            if audit.safe:
                self._keep(first)
        if not audit.safe:
            if isinstance(self.method, Suppress):
                self._grow(first, audit)
            else:
                self._close(first, audit)

    def _grow(self, first: Protection, audit: RespondentAudit) -> None:
        """Search in one tree, with whoever comes too close to anybody in a pattern that would be kept."""
        if not audit.unjudged:
            self.told = self._required(self.risk, audit) or self.risk
            self.memory.pattern = first.pattern.status != SHOWN
            self.last = self.memory.pattern, audit
            strict = self.stricter
            try:
                found = self._found(self.told, self.call.gap, _LONG, self.memory, self._watch)
            except OutOfTimeError:
                found = None
            except (InfeasibleError, SpecError):
                if not self.stricter:
                    raise
                found = None
            if found is not None:
                if not strict:
                    self.bound = max(self.bound, found.bound)
                self._keep(found)
        if self.best is None:
            self._complete(self.told or self.risk, first, audit)

    def _exposed_in(self, hidden: NDArray[np.bool_]) -> list[int] | None:
        """Return who may be exposed in a pattern, None where nobody knows.

        Whoever is protected stays so when more is hidden, by the same tables: only the others are attacked again.
        """
        if self.last is None or bool((self.last[0] & ~hidden).any()) or self.last[1].unjudged:
            return None
        audit = self.last[1]
        return audit.respondents.numbers[[one.target for one in audit.open]].tolist()

    def _watch(self, hidden: NDArray[np.bool_]) -> Told | None:
        """Return what would have kept respondents from each other in a pattern, None where they are."""
        hidden = hidden[: len(self.risk)]
        if hidden.tobytes() in self.safe:
            return None
        try:
            audit = self._attacked(Pattern.suppressing(self.risk.table, hidden), self._exposed_in(hidden))
        except _StoppedError:
            raise TimeUpError from None
        self.rounds += 1
        self.last = hidden, audit
        if audit.safe:
            self.safe.add(hidden.tobytes())
            return None
        if not audit.open:
            raise TimeUpError
        assert self.told is not None and isinstance(self.method, Suppress)
        self.told = self._required(self.told, audit) or self.told
        risk, method = self.told, self.method
        if self.corners:
            wider = Cornered(risk, method, tuple(self.corners.values()))
            risk, method = wider.risk, wider.wider(self.call)
        return Told(risk, method, not self.stricter)

    def _close(self, first: Protection, audit: RespondentAudit) -> None:
        """Make patterns until one is safe and good enough, or there is no more time."""
        risk, last, loose = self.risk, first, True
        while self.rounds < _MOST_ROUNDS and not audit.unjudged:
            if not audit.safe:
                self._mend(last, audit)
                if self.best is not None and (self._good_enough() or self._used() > _EXACT):
                    return
                told = None if self.call.clock.left == 0 else self._required(risk, audit)
                if told is None:
                    break
                risk = told
            found = self._tried(risk, self._gap(loose=loose))
            if found is None:
                break
            last, audit = found, self._attacked(found)
            if audit.safe:
                self._keep(last)
                if self._good_enough() or not loose:
                    return
                loose = False
            if self._used() > _EXACT:
                self._mend(last, audit)
                break
        if self.best is None:
            self._complete(risk, last, audit)

    def _tried(self, risk: Risk, gap: float) -> Protection | None:
        """Return the next pattern, None where there is no time for it, or where it asks for more than there is."""
        try:
            found = self._found(risk, gap, _EXACT, self.memory)
        except OutOfTimeError:
            return None
        except (InfeasibleError, SpecError):
            if not self.stricter:
                raise
            if self.best is None:
                self._open_everything()
            return None
        if not self.stricter:
            self.bound = max(self.bound, found.bound)
        return found

    def _mend(self, last: Protection, audit: RespondentAudit) -> None:
        """Keep the last pattern with more hidden, so that nobody comes too close, where that is the best so far.

        Whoever is protected stays so when more is hidden, by the same tables: only the others are attacked again.
        """
        method = self.method
        if audit.safe or not isinstance(method, Suppress) or not closes(method):
            return
        hidden = last.pattern.status != SHOWN
        while not audit.safe:
            every = self.every or self.risk
            self.every = requiring(every, audit)
            found = more_hidden(hidden, self.every, method, self.call)
            if found is None or self.every is every or (self.best is not None and found[1] >= self.best.cost):
                return
            hidden = found[0]
            exposed = audit.respondents.numbers[[one.target for one in audit.open]].tolist()
            audit = self._attacked(Pattern.suppressing(self.risk.table, hidden), exposed)
        mended = hiding(last, self.every or self.risk, method, hidden, self.call)
        if mended.safe:
            self._keep(mended)

    def _complete(self, risk: Risk, last: Protection, audit: RespondentAudit) -> None:
        """Hide more than the last pattern does until nobody comes too close.

        There is no time for corners: cells that must move together are asked for more than that, each alone.
        """
        self.corners, self.hurried = {}, True
        asked = False
        while not audit.safe:
            # Where time is up and the last pattern with more hidden was no help, another one would come too late.
            late = audit.unjudged > 0 or (self.call.clock.left == 0 and closes(self.method))
            told = None if late else self._required(risk, audit)
            if told is None and (asked or late):
                self._open_everything()
                return
            asked = True  # what the last pattern missed may have been told, and there was no time for it
            risk = told or risk
            status = risk.status.copy()
            if isinstance(self.method, Suppress):
                status[(last.pattern.status != SHOWN) & (status == SAFE)] = HIDE
            try:
                last = self._found(replace(risk, status=status), 1.0, 1.0)
            except OutOfTimeError:
                return
            except (InfeasibleError, SpecError):
                if not self.stricter:
                    raise
                self._open_everything()
                return
            audit = self._attacked(last)
        self._keep(last)

    def _open_everything(self) -> None:
        """Hide all that may be hidden: what asked for more than is needed cannot be met, or time is up.

        Raises
        ------
        InfeasibleError
            Somebody stays exposed, or the method publishes ranges.
        OutOfTimeError
            There is no time for that.
        """
        late = self.call.clock.left == 0
        if self.call.clock.stopped or (late and not isinstance(self.method, Suppress | Mixed)):
            raise self._late()
        if not isinstance(self.method, Suppress | Mixed):
            message = "could not be protected by ranges: holdings have several cells that hang together."
            raise InfeasibleError.one("respondents", message, "Use 'suppress' or 'mixed'.")
        self.corners, status = {}, np.where(self.risk.status == SAFE, HIDE, self.risk.status)
        last = self._found(replace(self.risk, status=status), 1.0, 1.0)
        audit = self._attacked(last, grace=_LAST_GRACE)
        if audit.open:
            raise self._exposed(audit)
        if audit.unjudged:
            raise self._late()
        self._keep(replace(last, risk=replace(last.risk, status=self.risk.status)))

    def _required(self, risk: Risk, audit: RespondentAudit) -> Risk | None:
        """Return the risk with what the last pattern missed, None where all of that was asked for already.

        Corners come after what is about single cells: they make the problem larger. Where a method cannot take them,
        or there is no time, it is asked for more than is needed, and that last: a bound that does not know of it holds.
        """
        hide = isinstance(self.method, Suppress)
        told = requiring(risk, audit, hide=hide, enough=False)
        new, exact = {}, takes_corners(self.method, self.call) and not self.hurried
        if exact and (self.corners or told.further is risk.further):
            new = {one.name: one for one in corners(audit) if one.name not in self.corners}
            self.corners |= new
        if new or told.further is not risk.further:
            return told
        if exact:
            return None
        told = requiring(risk, audit, hide=hide)
        self.stricter |= told.further is not risk.further
        return told if told.further is not risk.further else None

    def _late(self) -> OutOfTimeError:
        if self.call.clock.stopped:
            message = "were still attacking when the search was ended: no pattern is shown to be safe against them."
            return OutOfTimeError.one("respondents", message, "Let it run longer.")
        message = "was reached before a pattern was shown to be safe against respondents."
        return OutOfTimeError.one("time_limit", message, "Allow more time.")

    def _exposed(self, audit: RespondentAudit) -> InfeasibleError:
        cells = sorted({cell for one in audit.open for cell in one.cells})
        labels = ", ".join(audit.table.label(cell) for cell in cells[:3])
        return InfeasibleError.one("respondents", f"stay exposed whatever is hidden, for instance in {labels}.")

    def _found(self, risk: Risk, gap: float, share: float, memory: Memory | None = None, watch: Watch | None = None) -> Protection:
        """Return a pattern within a gap, in at most so much of what is left of a share of the time."""
        left, began = self._left(share), self.call.clock.seconds
        clock = _Part(self.call.clock, left if np.isfinite(left) else None)
        self.rounds += 1
        call = replace(self.call, gap=gap, clock=clock, memory=memory, watch=watch)
        try:
            if not self.corners:
                found = self.engine(risk, self.method, call)
            else:
                wider = Cornered(risk, self.method, tuple(self.corners.values()))
                found = self.engine(wider.risk, wider.wider(call), call)
            if self.corners:
                found = Cornered(self.told if watch else risk, self.method, tuple(self.corners.values())).without(found, call)
        finally:
            if clock.stopped:  # somebody pressed Ctrl-C
                self.call.clock.stop()
        for seconds, _, bound, cuts in found.trace:  # its costs are of patterns that nobody has attacked yet
            known = self.bound if self.stricter else max(self.bound, bound)
            self.trace.append((began + seconds, None if self.best is None else self.best.cost, known, cuts))
        return found

    def _note(self) -> None:
        """Note how far the search has come: the best pattern that nobody attacks with success, and the bound."""
        cuts = self.trace[-1][3] if self.trace else 0
        self.trace.append((self.call.clock.seconds, None if self.best is None else self.best.cost, self.bound, cuts))

    def _left(self, share: float) -> float:
        clock = self.call.clock
        if not np.isfinite(clock.left):
            return float("inf")
        whole = clock.seconds + clock.left
        return max(share * whole - clock.seconds, _LEAST * whole)

    def _used(self) -> float:
        clock = self.call.clock
        return clock.seconds / (clock.seconds + clock.left) if np.isfinite(clock.left) else 0.0

    def _attacked(
        self,
        found: Protection | Pattern,
        targets: Collection[int] | None = None,
        grace: tuple[float, float] = GRACE,
    ) -> RespondentAudit:
        """Return who comes too close; after the first pattern a few for every target are enough to go on.

        Attacks may be late, because what was found is of no use without them. Ctrl-C ends them.
        """
        most = _ENOUGH if self.rounds > 1 or isinstance(found, Pattern) else None
        pattern = found if isinstance(found, Pattern) else found.pattern
        clock = self.call.clock.extended(*grace)
        with shielded():
            audit = audit_respondents(
                pattern,
                self.risk.table,
                rule=self.rule,
                targets=targets,
                most=most,
                clock=clock,
                progress=self.call.progress,
            )
        self.call.progress.start("protecting")
        if clock.stopped:
            raise _StoppedError
        return audit

    def _keep(self, found: Protection) -> None:
        if self.best is None or found.cost < self.best.cost:
            self.best, self.memory.pattern = found, found.pattern.status != SHOWN
            self._note()

    def _gap(self, *, loose: bool) -> float:
        return max(self.call.gap, _LOOSE) if loose else self.call.gap

    def _good_enough(self) -> bool:
        assert self.best is not None  # noqa: S101  (something was kept)
        return self.best.cost - self.bound <= self.call.gap * self.best.cost
