"""From rounded values of sensitive cells to a safe table around them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.result import Audit
from celosia.errors import DataError, SpecError
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.pattern import Pattern
from celosia.protection.random_rounding.formulation import Sets
from celosia.protection.random_rounding.nearest import NearestTable, find_nearest_table
from celosia.protection.run import Run
from celosia.risk.respondents.rules import criteria_of
from celosia.risk.risk import Risk
from celosia.solve import deadline
from celosia.solve.clock import Clock
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations


@dataclass(frozen=True, slots=True, eq=False)
class CompletedTable:
    """A table around rounded values.

    Parameters
    ----------
    pattern
        What is published: values within a reach, and cells that are kept as they are.
    checked
        What attackers conclude from it.
    nearest
        The values, and how far they are from the true ones.
    """

    pattern: Pattern
    checked: Audit
    nearest: NearestTable


@dataclass(frozen=True, slots=True, eq=False)
class TableCompleter:
    """Completes rounded values of the sensitive cells to the nearest table that adds up, and has it audited.

    Parameters
    ----------
    risk, run
        The table, and how it is protected.
    sets
        The sensitive cells.
    kept
        Cells that keep their true value, ``(n_cells,)``.
    reach
        How far values may move, in counts, ``(n_cells,)``.
    """

    risk: Risk
    run: Run
    sets: Sets
    kept: NDArray[np.bool_]
    reach: NDArray[np.int64]

    def complete(self, values: NDArray[np.int64], clock: Clock) -> CompletedTable | None:
        """Return the nearest table, audited; None where there is none, or the values are not allowed.

        Where the sum of the sensitive cells is kept, readers may know that, and it is attacked with this sum, too: if
        they come too close then, that is the audit.

        Raises
        ------
        TimeoutError
            The time is up.
        """
        if self.sets.keeps_sum and not self.sets.allows(values):
            return None
        nearest = find_nearest_table(self.risk, self.sets.cells, values, self.kept, self.reach, self.run.solver, clock)
        if nearest is None and clock.left <= 0:
            raise TimeoutError
        if nearest is None:
            return None
        table, cells = self.risk.table, np.flatnonzero(~self.kept)
        far = Fixed(self.reach[cells], table.decimals)
        pattern = Pattern.of(table, Perturbed(cells, Fixed(nearest.values[cells], table.decimals), far, table=table))
        checked = audit(pattern, self.risk, integer=self.run.integer)
        if checked.safe and self.sets.keeps_sum:
            known = self._audit_with_sum(nearest.values)
            checked = checked if known.safe else known
        return CompletedTable(pattern, checked, nearest)

    def _audit_with_sum(self, values: NDArray[np.int64]) -> Audit:
        """Return what attackers conclude who know the sum of the sensitive cells beside all relations."""
        knowing = add_kept_sum(self.risk)
        cells, decimals = np.flatnonzero(~self.kept), knowing.table.decimals
        moved = Perturbed(cells, Fixed(values[cells], decimals), Fixed(self.reach[cells], decimals))
        return audit(Pattern.of(knowing.table, moved), knowing, integer=self.run.integer)

    def complete_safely(self, values: NDArray[np.int64], clock: Clock) -> NDArray[np.int64] | None:
        """Return the values of the nearest table, if it is safe, ``(n_cells,)``.

        Raises
        ------
        TimeoutError
            The time is up, or the run was stopped.
        """
        if self.run.clock.stopped:
            raise TimeoutError
        try:
            with deadline.before(deadline.Until(lambda: clock.left)):
                made = self.complete(values, clock)
        except deadline.DeadlineError:
            raise TimeoutError from None
        return made.nearest.values if made is not None and made.checked.safe else None


def add_kept_sum(risk: Risk) -> Risk:
    """Return a risk whose table has the sum of the sensitive cells as a relation more."""
    table, relations = risk.table, risk.table.relations
    row = sp.csr_array(risk.sensitive.astype(np.int64)[None, :])
    total = int(table.amounts.counts[risk.sensitive].sum())
    known = Relations(sp.csr_array(sp.vstack([relations.matrix, row], format="csr")), np.append(relations.right, total))
    return replace(risk, table=replace(table, relations=known))


def refuse_sum_beside_respondents(risk: Risk) -> None:
    """Refuse to keep the sum of the sensitive cells where respondents attack who cannot be asked with that sum known.

    Raises
    ------
    SpecError
        The sum ties leaf cells together.
    """
    try:
        criteria_of(add_kept_sum(risk).table, risk.respondents)
    except DataError:
        said = "ties cells of different contributors together, so that respondents who know the sum cannot be asked."
        remedy = 'Leave it out, or name the attackers: attackers=[Attacker.external(table)], in a job ["external"].'
        raise SpecError.one("keep_sum", said, remedy) from None
