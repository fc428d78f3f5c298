"""Respondents as the protection of people sees them: who contributes how much to which leaf cell.

Daalmans and de Waal (2010) compare absolute contributions: what a respondent contributes to a leaf cell counts by its
size, whatever its sign. Totals need no contributions of their own, they follow from their leaf cells; to count a
contribution in a cell and again in its total would take two things for independent that are one.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import DataError, Problems, SpecError, pluralise
from celosia.risk.respondents.contributions import numbers_of, single_contributions
from celosia.risk.respondents.joint import add_joint_cells
from celosia.risk.respondents.leaf_sums import leaf_sums
from celosia.risk.respondents.opposite_signs import have_opposite_signs
from celosia.risk.respondents.sums import leave_out_sums, leaves_are_independent
from celosia.risk.rules.contributor_rules import (
    By,
    Dominance,
    MinFrequency,
    PPercent,
    PriorPosterior,
    RespondentRule,
    Ties,
    enlarge,
    parameters_of,
)
from celosia.table.statistics import Contributions
from celosia.table.table import Table

FEWEST = 2  # contributors, or none attacks another


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What respondents know before and may know after, in whole numbers.

    Parameters
    ----------
    p, q
        How close no respondent may come, and how well each knows the others, in units of 1 / `unit`.
    unit
        What 1 stands for: p = 10 and unit = 100 are ten percent. A power of ten.
    coalition
        How many put their knowledge together.
    by
        Whom to look at: ``respondent``, ``holding``, or holdings where they are known (``auto``).
    least
        How close no respondent may come in any case, in units of the table's last decimal, where p is zero.
    ties
        ``sensitive`` where p is a little larger than the rule's: who is kept away exactly as far is too close.
    """

    p: int
    q: int
    unit: int
    coalition: int = 1
    by: By = "auto"
    least: int = 0
    ties: Ties = "safe"

    @classmethod
    def of(cls, rule: RespondentRule) -> Knowledge:
        """Return what a rule says: the p% rule is the prior-posterior rule with q = 100 (section 5).

        Frequency and dominance rules name no p. They are about cells in which one contributor sees through another, so
        that no respondent may compute a contribution exactly: p = 0, q = 100, and one unit of the last decimal.

        Raises
        ------
        SpecError
            The rule is another one.
        """
        if isinstance(rule, MinFrequency | Dominance):
            return cls(0, 1, 1, 1, rule.by, least=1)
        if not isinstance(rule, PPercent | PriorPosterior):
            said = getattr(rule, "words", repr(rule))
            remedy = "Respondents attack by PPercent, PriorPosterior, MinFrequency or Dominance."
            raise SpecError.one("rule", f"{said} does not say what respondents know.", remedy)
        p, q, scale = parameters_of(rule)
        found = cls(p, q, 100 * scale, rule.coalition, rule.by)
        return found.with_larger_p() if rule.ties == "sensitive" else found

    def error(self, size: int) -> int:
        """Return how close no respondent may come to a contribution, given in counts, in counts times `unit`."""
        return self.p * size + self.least * self.unit

    def implies(self, other: Knowledge) -> bool:
        """Return whether these p, q and coalition protect at least as much as the other's."""
        return (
            self.coalition >= other.coalition
            and self.q * other.unit <= other.q * self.unit
            and self.p * other.unit >= other.p * self.unit
        )

    def with_larger_p(self) -> Knowledge:
        """Return the same with a p that is a little larger: who is kept away exactly p percent is then too close."""
        if self.ties == "sensitive":
            return self
        p, q, unit = enlarge(self.p, self.q, self.unit)
        return replace(self, p=p, q=q, unit=unit, ties="sensitive")

    @property
    def decimals(self) -> int:
        """How many more decimals than the table what they know has."""
        return len(str(self.unit)) - 1


@dataclass(frozen=True, eq=False)
class Respondents:
    """Absolute contributions to leaf cells by anonymous numbers. Confidential.

    Parameters
    ----------
    kind
        ``respondent`` or ``holding``.
    numbers
        The anonymous number of every one of them, increasing, ``(n,)``.
    leaves
        The leaf cells, increasing, ``(k,)``.
    sizes
        What each contributes to each leaf cell, by its size, in counts of the table's decimal, ``(k, n)``; no entry is
        zero.
    protected
        Those of them that are to be protected: all but what was waived, or lies in cells that are declared
        safe. A respondent who waived his protection still attacks.
    """

    kind: str
    numbers: NDArray[np.int64]
    leaves: NDArray[np.int64]
    sizes: sp.csr_array
    protected: sp.csr_array

    def __len__(self) -> int:
        return len(self.numbers)

    def protect_only(self, who: NDArray[np.bool_]) -> Respondents:
        """Return the same, of whom only some are to be protected, ``(n,)``."""
        protected = sp.csr_array(self.protected * who[None, :].astype(np.int64))
        protected.eliminate_zeros()
        protected.sort_indices()
        return replace(self, protected=protected)

    @cached_property
    def contributors(self) -> list[list[tuple[int, int]]]:
        """The contributors to every leaf cell, as (size, place), the largest first."""
        row = np.repeat(np.arange(len(self.leaves)), np.diff(self.sizes.indptr))
        order = np.lexsort((self.sizes.indices, -self.sizes.data, row))
        pairs = list(zip(self.sizes.data[order].tolist(), self.sizes.indices[order].tolist(), strict=True))
        return [pairs[start:end] for start, end in itertools.pairwise(self.sizes.indptr.tolist())]

    @cached_property
    def holdings(self) -> list[dict[int, int]]:
        """What each of them contributes, by leaf cell."""
        found: list[dict[int, int]] = [{} for _ in range(len(self))]
        for leaf, own in enumerate(self.contributors):
            for size, place in own:
                found[place][leaf] = size
        return found

    @cached_property
    def claims(self) -> list[set[int]]:
        """In which leaf cells each of them is to be protected."""
        protected = self.protected.tocsc()
        leaves = protected.indices.tolist()
        return [set(leaves[start:end]) for start, end in itertools.pairwise(protected.indptr.tolist())]

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The sum of absolute contributions to every leaf cell, ``(k,)``."""
        return np.asarray(self.sizes.sum(axis=1), dtype=np.int64)

    def name(self, place: int) -> str:
        """Return how reports call one of them."""
        return f"{self.kind} {int(self.numbers[place])}"


def respondents_of(table: Table, by: By = "auto") -> Respondents:
    """Return who contributes how much to which leaf cell.

    Parameters
    ----------
    table
        A table with single contributions, from `celosia.tabulate` or `celosia.with_contributions`.
    by
        Whom to look at.

    Notes
    -----
    Of variables that add up, cell by cell, the parts have leaf cells: errors in a sum are those of its parts. Of linked
    tables joint cells are the leaf cells, with numbers beyond those of the table (`celosia.risk.respondents.joint`).

    Raises
    ------
    SpecError
        The table knows no single contributions, or no holdings where they are needed.
    DataError
        Contributions do not add up to their cells, some are not known, the same contribution stands in several leaf
        cells, somebody's contributions to the parts of a sum have opposite signs, or there are fewer than two
        contributors.
    """
    found = listed_respondents(table, by)
    if have_opposite_signs(table, found.kind):
        message = f"to the parts of a sum have opposite signs for some {found.kind}: others who know the sum know more."
        remedy = "Protect respondents in the parts alone, without their sum, or name the attackers without them."
        raise DataError.one("contributions", message, remedy)
    return found


def listed_respondents(table: Table, by: By = "auto") -> Respondents:
    """Return respondents as `respondents_of` does, also where others may know more of them than these sizes say.

    They are not to be judged by: it is for checks of the contributions themselves.
    """
    said = single_contributions(table)
    if (
        by == "holding"
        and not _holdings_differ(said)
        and (table.statistics is None or table.statistics.holdings is None)
    ):
        remedy = "Name the holding column when you tabulate."
        raise SpecError.one("by", "asks for holdings, which the table does not know.", remedy)
    kind = kind_of(said, by)
    numbers = np.unique(numbers_of(said, kind))
    if len(numbers) < FEWEST:
        message = f"there is {pluralise(len(numbers), kind)}: nobody could attack anybody."
        raise DataError.one("contributions", message, "Outsiders are the matter of celosia.audit.")
    table = leave_out_sums(add_joint_cells(table))
    said = single_contributions(table)
    unit = np.searchsorted(numbers, numbers_of(said, kind))
    steps = leaf_sums(table, said)
    _check_sums(table, steps.signs, steps.matrices)
    if not leaves_are_independent(table, steps):
        message = "stand in several leaf cells each: of linked tables, or of variables that do not simply add up."
        raise DataError.one("contributions", message, "Protect respondents in one table, without such relations.")
    leaves = np.flatnonzero(steps.leaf)
    row = np.searchsorted(leaves, said.cell)
    amounts = sp.csr_array((said.amount, (row, unit)), shape=(len(leaves), len(numbers)))
    amounts.sum_duplicates()
    _check_values(table, leaves, np.asarray(amounts.sum(axis=1)))
    sizes = abs(amounts)
    protected = sizes
    if said.waived is not None:
        claims = sp.csr_array(((~said.waived).astype(np.int64), (row, unit)), shape=sizes.shape)
        claims.sum_duplicates()
        protected = sp.csr_array(sizes * (claims > 0))
    for part in (sizes, protected):
        part.eliminate_zeros()
        part.sort_indices()
    return Respondents(kind, numbers, leaves, sizes, protected)


def _holdings_differ(said: Contributions) -> bool:
    """Return whether holdings are others than respondents."""
    return not np.array_equal(said.respondent, said.holding)


def kind_of(said: Contributions, by: By) -> str:
    """Return whom a rule looks at: ``respondent`` or ``holding``."""
    return "respondent" if by == "respondent" or not _holdings_differ(said) else "holding"


def _check_sums(table: Table, signs: list[NDArray[np.int64]], matrices: list[sp.csr_array]) -> None:
    """Refuse contributions to cells that are not leaves: some cell then follows by subtraction."""
    for own, matrix in zip(signs, matrices, strict=True):
        row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
        subtracted = np.bincount(row, weights=own[row] * matrix.data > 0, minlength=len(own)) > 1
        if bool(subtracted.any()):
            place = int(np.flatnonzero(subtracted)[0])
            cell = int(matrix.indices[matrix.indptr[place]])
            message = f"some are to totals: in the relation of {table.label(cell)} a cell follows by subtraction."
            raise DataError.one("contributions", message, "List contributions to leaf cells only.")


def _check_values(table: Table, leaves: NDArray[np.int64], sums: NDArray[np.int64]) -> None:
    found = Problems()
    for cell in leaves[sums != table.amounts.counts[leaves]].tolist():
        found.add(table.label(cell), "its contributions do not add up to the cell.", "List all of them.")
    found.raise_as(DataError)
