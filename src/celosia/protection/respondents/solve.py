"""How respondents are protected: patterns in which no coalition of them comes too close to another.

A first pattern protects cells alone, and shows what respondents cost. What follows is one search, in which they attack
every pattern that would be kept, and requirements are as lazy as cuts (`celosia.protection.engine.patterns.oracle`, and
for ranges `celosia.protection.engine.modes.oracle`). Ranges are widened and rounded after a search, so they are
attacked once more as they are published, and where that finds anything, there is another search. At any time a part of
what is needed is asked for, so bounds hold for the whole. When time runs out before a safe pattern is known, what is
hidden stays so, and more is added; where attacks themselves take too long, everything is hidden, and shown to be safe
or not published.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

import numpy as np

from celosia.attack.respondents.audit import RespondentAudit
from celosia.errors import CelosiaError, InfeasibleError, OutOfTimeError, SpecError
from celosia.pattern.entries import SHOWN
from celosia.pattern.midpoint import warn_of_midpoints
from celosia.pattern.pattern import Pattern
from celosia.protection.method import Method
from celosia.protection.respondents.attacked import AttackedFallback, LastingOracle
from celosia.protection.respondents.clear_patterns import find_safe_patterns
from celosia.protection.respondents.clear_ranges import close_by_totals, find_clear_ranges
from celosia.protection.respondents.everything import LastResort, out_of_time
from celosia.protection.respondents.oracle import RespondentOracle, StoppedError
from celosia.protection.respondents.parameters import RESPONDENTS, RespondentParameters
from celosia.protection.result import Closing, Protection
from celosia.protection.run import RequirementOracle, Run
from celosia.protection.state.warm_start import WarmStart
from celosia.risk.respondents.rules import criteria_of
from celosia.risk.risk import HIDE, SAFE, Risk
from celosia.risk.rules.contributor_rules import RespondentRule
from celosia.solve import deadline
from celosia.solve.clock import PartOfClock
from celosia.solve.deadline import DeadlineError

Engine = Callable[[Risk, Method, Run], Protection]


def protect_respondents(
    risk: Risk,
    method: Method,
    run: Run,
    engine: Engine,
    rules: tuple[RespondentRule, ...],
    parameters: RespondentParameters = RESPONDENTS,
) -> Protection:
    """Return a pattern in which no coalition of contributors comes too close to another contributor.

    Guarantee: the pattern has passed `celosia.audit` with all its requirements, those of respondents among them, and
    `celosia.audit_respondents`.

    Parameters
    ----------
    risk
        The table with single contributions, and against whom its cells are protected.
    method, run
        How to protect, and for how long.
    engine
        Does what the method says.
    rules
        What respondents know, and how close they may come; all of these hold.
    parameters
        How time is shared out.

    Raises
    ------
    SpecError, DataError
        The table knows no contributions, or they do not add up.
    InfeasibleError
        A respondent stays exposed whatever is hidden.
    OutOfTimeError
        Time was up, or Ctrl-C pressed, before a pattern was shown to be safe.
    """
    criteria = criteria_of(risk.table, rules)  # what is wrong with them is said before the search
    # Rounds know who came too close so far; an audit of their patterns is not to ask again.
    cells = replace(risk, respondents=())
    oracle = RespondentOracle(cells, method, run, rules, criteria, parameters)
    found = _RespondentSearch(cells, method, run, engine, oracle, parameters).protection()
    judged = found.audit
    judged = replace(judged, risk=replace(judged.risk, respondents=rules))
    return replace(found, risk=replace(found.risk, respondents=rules), found=judged)


@dataclass
class _RespondentSearch:
    """The search for one pattern, with the oracle of respondents."""

    risk: Risk
    method: Method
    run: Run
    engine: Engine
    oracle: RespondentOracle
    parameters: RespondentParameters
    best: Protection | None = None
    clear: Protection | None = None
    bound: float = 0.0
    rounds: int = 0
    closing: Closing | None = None
    _last_steps: float = 0.0
    warm_start: WarmStart = field(default_factory=lambda: WarmStart(grows=True))
    trace: list[tuple[float, float | None, float, int]] = field(default_factory=list)

    def protection(self) -> Protection:
        """Return the best pattern in which no respondent comes too close to another."""
        try:
            self._search()
        except OutOfTimeError:
            self._open_everything()
            if self.best is None:
                raise
        except (KeyboardInterrupt, DeadlineError):
            if self.best is None:
                raise
        except StoppedError:
            pass
        self._open_everything()
        if self.best is None:
            raise out_of_time(self.run.clock)
        self.bound = min(self.bound, self.best.cost)
        closing = None if self.closing is None else replace(self.closing, rounds=self.oracle.judged)
        self._trace_progress()
        if self.best is self.clear:  # nobody has warned of these
            warn_of_midpoints(self.best.pattern)
        seconds, trace = self.run.clock.seconds, tuple(self.trace)
        return replace(self.best, bound=self.bound, seconds=seconds, trace=trace, closing=closing)

    def _search(self) -> None:
        clear = find_safe_patterns(self.risk, self.method, self.run, self.oracle)
        if not self.oracle.has_several_leaves:  # otherwise moves hardly ever clear everybody
            self._keep_all(itertools.islice(clear, 1))
        time_for_cells = self.parameters.first_share if self.best is None else self.parameters.least_share
        gap = max(self.run.gap, self.parameters.first_gap)
        first = self._find_pattern(self.risk, gap, time_for_cells, self.warm_start)
        hard = first.gap > max(gap, self.parameters.easy_gap)
        if hard:
            self._keep_all(itertools.islice(clear, 1 if self.best is not None else 2))
        self.bound = first.bound
        if first.gap > self.parameters.poor_gap and not self.method.hides:
            self._begin_with_ranges()
            if self.best is not None and self.run.clock.left == 0:
                return
        began = self.run.clock.seconds
        # Where all may be hidden in the end, time is left for that.
        share = self.parameters.judged_share if self.method.hides else None
        audit = self.oracle.attack(first.pattern, share=share)
        self._last_steps = self.parameters.last_steps * (self.run.clock.seconds - began)
        if not audit.unjudged:  # otherwise it is not known how many pairs the pattern for cells alone leaves open
            self.closing = Closing(len(audit.open), first.cost, 0, self.oracle.rules)
        if audit.safe:
            self._keep(first)
            if first.gap <= self.run.gap:
                return
        if self.method.only_hides:
            self._search_with_oracle(first, audit)
            if hard and audit.unjudged:
                self._keep_all(clear)
        else:
            self._repeat_with_oracle(first, audit)

    def _keep_all(self, patterns: Iterable[Protection]) -> None:
        for found in patterns:
            self._keep(found)

    def _begin_with_ranges(self) -> None:
        """Keep ranges of moves that clear all respondents, where there are some: time is short."""
        self.clear = find_clear_ranges(self.method, self.run, self.oracle)
        if self.clear is not None:
            self.bound = max(self.bound, self.clear.bound)
            self._keep(self.clear)

    def _search_with_oracle(self, first: Protection, audit: RespondentAudit) -> None:
        """Search where respondents attack every pattern that would be kept, beginning with the first."""
        if not audit.unjudged:
            self.oracle.require(audit)
            found = self._try_pattern(self.run.gap, self._oracle_share, self.oracle)
            if found is not None:
                self._keep(found)
        if self.best is None:
            self._hide_more(first, audit)

    def _repeat_with_oracle(self, first: Protection, audit: RespondentAudit) -> None:
        """Search with the oracle until what is published of the ranges is safe, too, or there is no more time."""
        last = first
        while self.rounds < self.parameters.most_rounds and not audit.unjudged:
            if not audit.safe and (self.run.clock.left == 0 or not self.oracle.require(audit)):
                break
            found = self._try_pattern(self.run.gap, self._oracle_share, self.oracle)
            if found is None:
                break
            last, audit = found, self._attack(found.pattern)
            if audit.safe:
                self._keep(last)
                return
            if self._share_used() > self._oracle_share:
                break
        if self.best is None or self.best is self.clear:
            closed = close_by_totals(last, audit, self.method, self.run, self.oracle)
            if closed is not None and (self.best is None or closed.cost < self.best.cost):
                self._keep(closed)
                self.clear = closed
            self._hide_more(last, audit)

    def _attack(self, pattern: Pattern, again: RespondentAudit | None = None) -> RespondentAudit:
        """Return who comes too close in a pattern; where nothing else is known, those who are left are judged later.

        That is for patterns in which nobody was found exposed when time was up: they are far better than what hides, or
        opens, everything.
        """
        audit = self.oracle.attack(pattern, again)
        if audit.open or not audit.unjudged or self.best not in {None, self.clear}:
            return audit
        return self.oracle.attack(pattern, audit, grace=self.parameters.rest_grace)

    def _open_everything(self) -> None:
        """Keep ranges as wide as the method allows where time is up, they are safe, and nothing else is known.

        They are nearly useless, and better than nothing. A search without time finds them.
        """
        if self.best is not None or self.method.hides or self.run.clock.stopped:
            return
        clock = PartOfClock(self.run.clock, self.parameters.opening_seconds)
        run = replace(self.run, gap=1.0, clock=clock, warm_start=None, oracle=None, fallback=None, keeper=None)
        with contextlib.suppress(CelosiaError):
            widest = self.engine(self.risk, self.method, run)
            if self.oracle.attack(widest.pattern, grace=self.parameters.last_grace).safe:
                self._keep(widest)

    def _try_pattern(self, gap: float, share: float, oracle: RequirementOracle | None = None) -> Protection | None:
        """Return the next pattern, None where there is no time for it, or where it asks for more than there is."""
        needed = not self.oracle.stricter
        try:
            found = self._find_pattern(self.oracle.required, gap, share, self.warm_start, oracle)
        except OutOfTimeError:
            return None
        except (InfeasibleError, SpecError):
            if not self.oracle.stricter:
                raise
            if self.best is None:
                self._hide_everything()
            return None
        if needed:
            self.bound = max(self.bound, found.bound)
        return found

    def _hide_more(self, last: Protection, audit: RespondentAudit) -> None:
        """Hide more than the last pattern does until no respondent comes too close to another.

        There is no time for corners: cells that must move together are asked for more than that, each alone.
        """
        self.oracle.leave_corners_out()
        asked = False
        while not audit.safe:
            if self.best is not None and self._share_used() > 1.0 - self.parameters.least_share:
                return
            # Where time is up and the last pattern with more hidden was no help, another one would come too late.
            late = self.run.clock.left == 0 and self.method.only_hides and self.method.hides_everything
            if late or audit.unjudged or (not self.oracle.require(audit) and asked):
                self._hide_everything()
                return
            asked = True  # what the last pattern missed may be required already: there was no time for it
            risk = self.oracle.required
            status = risk.status.copy()
            if self.method.only_hides:
                status[(last.pattern.status != SHOWN) & (status == SAFE)] = HIDE
            try:
                known = None if self.method.only_hides else self.warm_start
                last = self._find_pattern(replace(risk, status=status), 1.0, 1.0, known)
            except OutOfTimeError:
                return
            except (InfeasibleError, SpecError):
                if not self.oracle.stricter:
                    raise
                self._hide_everything()
                return
            audit = self._attack(last.pattern, self.oracle.find_exposed(last.pattern))
        self._keep(last)

    def _hide_everything(self) -> None:
        """Hide all that may be hidden, unless something safe is known: what is asked cannot be met, or time is up."""
        if self.best is None:
            self.oracle.leave_corners_out()
            last_resort = LastResort(self.risk, self.method, self.run, self.oracle)
            self._keep(last_resort.find(lambda risk: self._find_pattern(risk, 1.0, 1.0)))

    def _find_pattern(
        self,
        risk: Risk,
        gap: float,
        share: float,
        warm_start: WarmStart | None = None,
        oracle: RequirementOracle | None = None,
    ) -> Protection:
        """Return a pattern within a gap, in at most so much of what is left of a share of the time.

        Raises
        ------
        OutOfTimeError
            There is none by then. A search with the oracle is ended a little later where nothing safe is known: what
            follows needs time, too.
        """
        left, began = self._seconds_left(share), self.run.clock.seconds
        clock = PartOfClock(self.run.clock, left if np.isfinite(left) else None)
        self.rounds += 1
        needed = not self.oracle.stricter
        run = replace(self.run, gap=gap, clock=clock, warm_start=warm_start, oracle=oracle, fallback=None, keeper=None)
        if oracle is not None and self.method.only_hides:  # what is audited meanwhile was attacked before
            run = replace(run, fallback=AttackedFallback(clock, keep=self._keep), oracle=LastingOracle(oracle, clock))
        last = contextlib.nullcontext() if oracle is None or self.best is not None else deadline.before(clock)
        try:
            with last:
                found = self.engine(self.oracle.add_corners(risk), self.method, run)
        except DeadlineError:
            if deadline.left() == 0:
                raise
            raise out_of_time(self.run.clock) from None
        finally:
            if clock.stopped:  # Ctrl-C was pressed
                self.run.clock.stop()
        best = np.inf if self.best is None else self.best.cost
        for seconds, cost, bound, cuts in found.trace:
            # costs of patterns that were not attacked say nothing
            least = best if oracle is None or cost is None else min(best, cost)
            so_far = max(self.bound, bound) if needed else self.bound
            self.trace.append((began + seconds, least if np.isfinite(least) else None, so_far, cuts))
        return found

    @property
    def _oracle_share(self) -> float:
        """The share of the time for searches with the oracle: it leaves enough to hide more and have that attacked."""
        whole = self.run.clock.seconds + self.run.clock.left
        return (
            min(
                self.parameters.oracle_share,
                max(self.parameters.first_share + self.parameters.least_share, 1.0 - self._last_steps / whole),
            )
            if whole
            else self.parameters.oracle_share
        )

    def _trace_progress(self) -> None:
        """Note how far the search has come: the best pattern that no attack succeeds on, and the bound."""
        cuts = self.trace[-1][3] if self.trace else 0
        self.trace.append((self.run.clock.seconds, None if self.best is None else self.best.cost, self.bound, cuts))

    def _seconds_left(self, share: float) -> float:
        clock = self.run.clock
        if not np.isfinite(clock.left):
            return float("inf")
        whole = clock.seconds + clock.left
        return max(share * whole - clock.seconds, self.parameters.least_share * whole)

    def _share_used(self) -> float:
        clock = self.run.clock
        return clock.seconds / (clock.seconds + clock.left) if np.isfinite(clock.left) else 0.0

    def _keep(self, found: Protection) -> None:
        if self.best is None or found.cost < self.best.cost:
            self.best = found
            self._trace_progress()
            if self.run.keeper is not None:  # a bound of a search that asked for more than is needed is none
                self.run.keeper.keep_result(replace(found, bound=min(self.bound, found.cost)))
