"""The last resort against respondents: all cells that may be hidden are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from celosia.attack.audit import audit
from celosia.attack.respondents.audit import RespondentAudit
from celosia.errors import InfeasibleError, OutOfTimeError, pluralise
from celosia.pattern.pattern import Pattern
from celosia.protection.method import Method
from celosia.protection.respondents.oracle import RespondentOracle
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import HIDE, SAFE, SHOW, Risk
from celosia.solve.clock import Clock


@dataclass(frozen=True, slots=True, eq=False)
class LastResort:
    """The pattern that hides as much as a method allows, attacked once.

    Parameters
    ----------
    risk, method, run
        What is protected, how, and for how long.
    oracle
        Attacks the pattern.
    """

    risk: Risk
    method: Method
    run: Run
    oracle: RespondentOracle

    def find(self, search: Callable[[Risk], Protection]) -> Protection:
        """Return the pattern where no attack on it succeeds.

        Whoever is exposed where everything is hidden is exposed whatever is published; where some cells may be ranges
        only, or not all may be hidden at a time, nobody knows.

        Parameters
        ----------
        search
            Finds a pattern in which some cells must be hidden.

        Raises
        ------
        InfeasibleError
            A respondent stays exposed, or the method does not hide everything.
        OutOfTimeError
            There is no time for that.
        """
        everything, clock = self._hides_everything, self.run.clock
        if clock.stopped or (clock.left == 0 and not everything):
            raise out_of_time(clock)
        if not self.method.hides:
            message = "could not be protected by ranges: holdings have several cells that hang together."
            raise InfeasibleError.one("respondents", message, "Use 'suppress' or 'mixed'.")
        found = self._hide_everything() if everything else self._hide_most(search)
        if not found.safe:
            found = self._hide_most(search)  # in which cells are exposed already: it says so
        attacked = self.oracle.attack(found.pattern, grace=self.oracle.parameters.last_grace)
        if attacked.open:
            raise _exposed(attacked) if everything else _not_protected()
        if attacked.unjudged:
            raise out_of_time(clock)
        return found

    @property
    def _hides_everything(self) -> bool:
        """Whether all cells but those that must be shown may be hidden at a time."""
        hidden = self.method.may_be_hidden(self.risk)
        return self.method.hides_everything and np.array_equal(hidden, self.risk.status != SHOW)

    def _hide_everything(self) -> Protection:
        """Return the pattern that shows only what must be shown, audited; its bound says nothing."""
        risk, method, run = self.risk, self.method, self.run
        hidden = method.may_be_hidden(risk)
        pattern = Pattern.hide(risk.table, hidden)
        checked = audit(pattern, method.require_widths(risk, hidden), integer=run.integer)
        cost, seconds = method.loss(pattern, risk), run.clock.seconds
        return Protection(risk, method, pattern, cost, 0.0, checked, seconds, run.solver_name, (), run.seed)

    def _hide_most(self, search: Callable[[Risk], Protection]) -> Protection:
        """Return a pattern that hides what may be hidden where that is not everything.

        Raises
        ------
        InfeasibleError
            The method does not allow for so much.
        """
        hidden, most = self.method.may_be_hidden(self.risk), self.method.most_hidden
        if most is not None and int(hidden.sum()) > most:
            message = f"could not be protected with at most {pluralise(most, 'cell')} hidden."
            raise InfeasibleError.one("respondents", message, "Allow more in at_most.")
        status = np.where(hidden & (self.risk.status == SAFE), HIDE, self.risk.status)
        try:
            found = search(replace(self.risk, status=status))
        except InfeasibleError:
            raise _not_protected() from None
        return replace(found, risk=replace(found.risk, status=self.risk.status))


def out_of_time(clock: Clock) -> OutOfTimeError:
    """Return what is said where no pattern is shown to be safe against respondents in time."""
    if clock.stopped:
        message = "were still attacking when the search was ended: no pattern is shown to be safe against them."
        return OutOfTimeError.one("respondents", message, "Let it run longer.")
    message = "was reached before a pattern was shown to be safe against respondents."
    return OutOfTimeError.one("time_limit", message, "Allow more time.")


def _exposed(attacked: RespondentAudit) -> InfeasibleError:
    cells = sorted({cell for one in attacked.open for cell in one.cells})
    labels = ", ".join(attacked.table.label(cell) for cell in cells[:3])
    return InfeasibleError.one("respondents", f"stay exposed whatever is hidden, for instance in {labels}.")


def _not_protected() -> InfeasibleError:
    message = "could not be protected by what the method allows: not every cell may be hidden."
    return InfeasibleError.one("respondents", message, "Let more cells be hidden, or ask for fewer widths.")
