"""The modular approach: every sub-table at its least cost, from the top, as HiTaS does (de Wolf 2002).

It is what most offices publish by today, and the pattern that a better one has to be compared with. It protects every
sub-table by itself, so it may leave open what several of them give away together; the audit of the whole says how much.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.attack.audit import audit
from celosia.errors import InfeasibleError, OutOfTimeError, SpecError
from celosia.pattern.entries import SHOWN
from celosia.pattern.pattern import Pattern
from celosia.presses import answer_presses
from celosia.progress import SILENT, Progress
from celosia.protection.engine.decomposition.sub_tables import Decomposition, split_into_sub_tables
from celosia.protection.modular.part import restrict
from celosia.protection.named_cells import resolve_names
from celosia.protection.protect import prepare_run
from celosia.protection.result import ModularPattern, Protection
from celosia.protection.run import Run
from celosia.protection.suppression.method import Suppress
from celosia.protection.suppression.solve import protect_part
from celosia.risk.cell_levels import CellLevels
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, Risk
from celosia.solve import deadline


@takes(risk=Risk)
def modular(
    risk: Risk,
    method: Suppress | None = None,
    *,
    time_limit: float | None = None,
    solver: str | None = None,
    seed: int = 0,
    integer: bool | None = None,
    progress: Progress = SILENT,
) -> ModularPattern:
    """Return the pattern that hides cells sub-table by sub-table, and what an audit of the whole table says about it.

    Every sub-table is protected at its least cost, those at the top first (de Wolf 2002, HiTaS). What one of them hides
    is hidden in all that hold it, where nobody may compute it, either; so sub-tables are protected again when others
    have hidden one of their cells, those above among them. The pattern is for comparison: it may not be safe, and
    cannot be published by mistake.

    Parameters
    ----------
    risk
        The table with its sensitive cells. The pattern protects cells alone: respondents attack it in the audit only.
    method
        What hiding costs, and what must be shown or hidden.
    time_limit
        Seconds for all of it, the audit included.
    solver, seed, integer, progress
        As in `celosia.protect`.

    Raises
    ------
    SpecError
        The table has no hierarchies: it is its own only sub-table. Or the method limits how many cells are hidden.
    InfeasibleError
        No pattern is safe, of a sub-table or of the whole.
    OutOfTimeError
        Time was up before all sub-tables were protected and the whole was audited.
    """
    how = resolve_names(method or Suppress(), risk.table)
    if how.at_most is not None:
        raise SpecError.one("at_most", "cannot be kept sub-table by sub-table.", "Leave it out.")
    parts = split_into_sub_tables(risk.table)
    if len(parts) <= 1:
        message = "has no hierarchies: its only sub-table is the table itself."
        raise SpecError.one("table", message, "Compare with what hiding everything costs.")
    risk = how.apply_to(risk)
    run = prepare_run(risk, how, time_limit=time_limit, solver=solver, seed=seed, integer=integer, progress=progress)
    with answer_presses(run.clock.stop):
        progress.start("protecting sub-tables", len(parts))
        try:
            with deadline.before(run.clock):
                return _ModularSearch(risk, how, run, parts).solve()
        except deadline.DeadlineError:
            message = "was reached before all sub-tables were protected."
            raise OutOfTimeError.one("time_limit", message, "Allow more time.") from None
        finally:
            progress.done()


@dataclass(eq=False)
class _ModularSearch:
    """Sub-tables that wait for their pattern, and what is hidden so far.

    Parameters
    ----------
    risk
        With the wishes of the method.
    method, run
        How to protect, and for how long.
    parts
        The sub-tables.
    """

    risk: Risk
    method: Suppress
    run: Run
    parts: Decomposition
    hidden: NDArray[np.bool_] = field(init=False)
    secondary: NDArray[np.bool_] = field(init=False)
    _conditional: dict[int, CellLevels] = field(init=False)
    _waiting: list[int] = field(default_factory=list)
    _solves: int = 0
    _proved: bool = True

    def __post_init__(self) -> None:
        self.hidden = np.isin(self.risk.status, (SENSITIVE, HIDE))
        self.secondary = np.zeros(len(self.risk), dtype=bool)
        self._conditional = self.method.conditional

    def solve(self) -> ModularPattern:
        """Return the pattern in which no sub-table has anything left to hide."""
        self._add(self.parts.find_holders(np.flatnonzero(self.risk.sensitive)))
        while self._waiting:
            deadline.check()
            number = heapq.heappop(self._waiting)
            new = self._protect(number)
            self.hidden[new] = self.secondary[new] = True
            self._add(np.setdiff1d(self.parts.find_holders(new), [number]))
            self.run.progress.advance()
        return self._result()

    def _add(self, numbers: NDArray[np.int64]) -> None:
        for number in np.setdiff1d(numbers, np.array(self._waiting, dtype=np.int64)).tolist():
            heapq.heappush(self._waiting, number)

    def _protect(self, number: int) -> NDArray[np.int64]:
        """Return the cells that a sub-table has to hide besides those that are hidden already."""
        part = self.parts.sub_tables[number]
        risk = restrict(self.risk, part)
        forced = self.hidden[part.cells]
        risk = replace(risk, status=np.where(forced & (risk.status == SAFE), HIDE, risk.status))
        own = enumerate(part.cells.tolist())
        asked = {place: self._conditional[cell] for place, cell in own if cell in self._conditional}
        least = CellLevels(sliding=Fraction(1, 10**self.risk.table.decimals))
        kept = dict.fromkeys(np.flatnonzero(self.secondary[part.cells]).tolist(), least)
        found = self._search(risk, kept | asked)
        if found is None and kept:  # what others hide cannot be kept from anybody here
            found = self._search(risk, asked)
        if found is None:
            raise InfeasibleError.one("modular", "is impossible: a sub-table has no safe pattern.", "Call protect.")
        self._solves += 1
        self._proved &= found.optimal
        return np.asarray(part.cells[(found.pattern.status != SHOWN) & ~forced])

    def _search(self, risk: Risk, conditional: dict[int, CellLevels]) -> Protection | None:
        lower, upper, sliding = (
            {cell: getattr(levels, name) for cell, levels in conditional.items() if getattr(levels, name)}
            for name in ("lower", "upper", "sliding")
        )
        how = Suppress(width_if_hidden=sliding, lower_if_hidden=lower, upper_if_hidden=upper)
        return protect_part(risk, how, self.run)

    def _result(self) -> ModularPattern:
        pattern = Pattern.hide(self.risk.table, self.hidden)
        asked = self.method.require_widths(self.risk, self.hidden)
        return ModularPattern(
            risk=self.risk,
            pattern=pattern,
            cost=math.fsum(self.risk.cost[self.hidden].tolist()),
            audit=audit(pattern, asked, integer=self.run.integer),
            sub_tables=len(self.parts),
            solves=self._solves,
            proved=self._proved,
            seconds=self.run.clock.seconds,
        )
