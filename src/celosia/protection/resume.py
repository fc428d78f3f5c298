"""To go on where another run has stopped: its pattern, audited anew, its cuts and its bound."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from celosia.attack.audit import audit
from celosia.errors import DataError, InfeasibleError, SpecError
from celosia.files import problems_with
from celosia.pattern.entries import SHOWN
from celosia.pattern.midpoint import warn_of_midpoints
from celosia.protection.method import Method
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.protection.state.file import SearchState, read_state
from celosia.protection.state.fingerprint import METHOD, REQUIREMENTS, SETTLED, TABLE, fingerprints_of
from celosia.protection.state.keeper import StateKeeper
from celosia.protection.state.warm_start import WarmStart
from celosia.risk.risk import Risk
from celosia.tolerance import BOUND_LOWERED

_OTHERS = {
    TABLE: "is the state of a search in another table.",
    REQUIREMENTS: "is the state of a search with other rules, levels, costs or attackers.",
    METHOD: "is the state of a search by another method, or with other options of it.",
}
_FROM_STATE = "The bound rests on the state that was resumed: it is as good as that file."
_LEFT_OUT = "The pattern of the state that was resumed is not safe, and was left out."
_CONTRADICTS = "The state that was resumed contradicts what the audit says: its bound was left out."
_NOT_WRITTEN = "The state of the search"

Work = Callable[[Run], Protection]


@dataclass(eq=False)
class Session:
    """Where a run begins, and where its state is kept.

    Parameters
    ----------
    start
        What is resumed, None for nothing.
    keeper
        Writes the state, None where none is kept.
    method
        The method, with what the run that is resumed has settled.
    """

    start: SearchState | None
    keeper: StateKeeper | None
    method: Method
    _known: Protection | None = None
    _contradicted: bool = False

    @classmethod
    def open(
        cls,
        risk: Risk,
        method: Method,
        integer: bool | None,  # noqa: FBT001  (as a run says it)
        state: str | Path | None,
        resume: str | Path | None,
    ) -> Session:
        """Return the session of a run; what cannot be read, written or resumed is said before any search.

        Raises
        ------
        SpecError
            A file cannot be written or read, is broken, or belongs to another problem; the method keeps no state.
        """
        if state is None and resume is None:
            return cls(None, None, method)
        if not method.keeps_state:
            option = "state" if state is not None else "resume"
            said = f"is kept by methods whose search can go on later, not by {method.name!r}."
            raise SpecError.one(option, said, "Leave it out, and give one run the time that it needs.")
        keeper, fingerprints = None, fingerprints_of(risk, method, integer)
        if state is not None:
            _refuse_place(Path(state), None if resume is None else Path(resume))
            keeper = StateKeeper(Path(state), fingerprints)
        if resume is None:
            return cls(None, keeper, method)
        start = read_state(Path(resume))
        for part, said in _OTHERS.items():
            if start.fingerprints.get(part) != fingerprints[part]:
                raise SpecError.one(str(resume), said, "Resume it with the job that it was made for, or begin anew.")
        if keeper is not None:
            keeper.begin(start)
        return cls(start, keeper, _settle(method, start, str(resume)))

    def run(self, work: Work, risk: Risk, run: Run) -> Protection:
        """Return what a run finds that begins with what is known.

        Parameters
        ----------
        work
            The run of the method.
        risk
            With the wishes of the method.
        run
            When to stop.

        Raises
        ------
        InfeasibleError, OutOfTimeError
            As the run does, where the state has no safe pattern.
        """
        if self.start is None:
            return work(run)
        known = self._known = _audit_start(self.start, risk, self.method, run)
        safe = known is not None and known.safe
        if known is not None and not safe and self.keeper is not None:
            self.keeper.withdraw_pattern()
        if known is not None and safe:
            if run.fallback is not None:
                run.fallback.offer(known)
            if known.optimal or known.gap <= run.gap:
                warn_of_midpoints(known.pattern)
                return known
        try:
            return work(replace(run, warm_start=_warm_start(self.start, known)))
        except InfeasibleError:  # the audit says otherwise: cuts of the file are wrong
            if known is None or not safe:
                raise
            self._contradicted = True
            return known

    def close(self, found: Protection) -> Protection:
        """Return what was found, or what was known where that is cheaper, with the higher bound; it is kept."""
        if self.start is not None:
            found = self._join(found, self.start)
        if self.keeper is None:
            return found
        self.keeper.keep_result(found)
        self.leave()
        if not self.keeper.failure:
            return found
        return replace(found, notes=(*found.notes, f"{_NOT_WRITTEN} {self.keeper.failure}"))

    def begin_anew(self) -> None:
        """Forget what is known of the problem: it becomes another one."""
        self.start, self._known, self._contradicted = None, None, False
        if self.keeper is not None:
            self.keeper.forget_everything()

    def leave(self) -> None:
        """Write what is known, whether there is a result or not."""
        if self.keeper is not None:
            self.keeper.touch()
            self.keeper.write()

    def _join(self, found: Protection, start: SearchState) -> Protection:
        """Return the cheaper of two results, with the higher bound, and what it rests on.

        A bound that the audit of a cheaper pattern refutes is none, nor is what a search made of the same file.
        """
        known = self._known
        safe = known is not None and known.safe
        best = known if known is not None and safe and known.cost < found.cost else found
        left = () if safe or known is None else (_LEFT_OUT,)
        best = replace(best, seconds=found.seconds, trace=found.trace)
        if self._contradicted or start.bound * (1 - BOUND_LOWERED) > best.cost:
            if self.keeper is not None:
                self.keeper.forget_bound()
            return replace(best, bound=0.0, notes=(*best.notes, *left, _CONTRADICTS))
        bound = min(max(found.bound, start.bound), best.cost)
        return replace(best, bound=bound, notes=(*best.notes, *left, _FROM_STATE))


def _refuse_place(path: Path, resumed: Path | None) -> None:
    """Refuse to keep a state where that cannot be written, or where something else would be lost.

    Raises
    ------
    SpecError
        Saying which.
    """
    if problems := list(problems_with(path, [path.suffix.lower()], ())):
        raise SpecError(problems)
    if path.exists() and not (resumed is not None and resumed.exists() and path.samefile(resumed)):
        said = "exists, and is not what is resumed: a state would take its place."
        raise SpecError.one(str(path), said, "Resume it if it is one, or name another file.")


def _settle(method: Method, start: SearchState, place: str) -> Method:
    """Return the method with the options that an earlier run has settled, such as a secret that it drew."""
    options = {name: value for name, value in start.settled.items() if name in SETTLED and hasattr(method, name)}
    for name, value in options.items():
        if getattr(method, name) not in (None, value):
            said = f"is the state of a search with another {name}."
            raise SpecError.one(place, said, "Leave the option out, or begin anew.")
    asked: Any = method
    settled: Method = replace(asked, **options)
    return settled


def _audit_start(start: SearchState, risk: Risk, method: Method, run: Run) -> Protection | None:
    """Return the pattern of a state as a result, safe or not; None where there is none.

    Guarantee: nothing that the file says of the pattern is believed but how it publishes which cell.
    """
    try:
        pattern = start.pattern(risk.table)
    except (DataError, SpecError):
        said = "has a pattern that does not fit the table."
        raise SpecError.one("resume", said, "The file is broken: begin anew.") from None
    if pattern is None:
        return None
    required = method.require_widths(risk, np.asarray(pattern.status != SHOWN))
    checked = audit(pattern, required, integer=run.integer)
    cost = method.loss(pattern, risk)
    bound = min(start.bound, cost)
    return Protection(
        risk=risk,
        method=method,
        pattern=pattern,
        cost=cost,
        bound=bound,
        found=checked,
        seconds=run.clock.seconds,
        solver=run.solver_name,
        trace=((run.clock.seconds, cost, bound, start.n_cuts),),
        seed=run.seed,
        notes=start.notes,
    )


def _warm_start(start: SearchState, known: Protection | None) -> WarmStart:
    """Return the pattern of a state, where it is safe, and its cuts, for a search that begins with them."""
    hidden = None if known is None or not known.safe else np.asarray(known.pattern.status != SHOWN)
    return WarmStart(hidden, by_search=dict(start.cuts))
