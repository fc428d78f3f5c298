"""Respondents as the protection of people sees them: who contributes how much to which leaf cell.

Daalmans and de Waal (2010) compare absolute contributions: what somebody contributes to a leaf cell counts by its size,
whatever its sign. Totals need no contributions of their own, they follow from their leaf cells; to count a contribution
in a cell and again in its total would take two things for independent that are one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import DataError, Problems, SpecError, counted
from celosia.risk.attacker_contributions import Steps, numbers_of, single_contributions, steps_of
from celosia.risk.exact import whole
from celosia.risk.rules import By, PPercent, PriorPosterior
from celosia.table.statistics import Contributions, Statistics
from celosia.table.table import Table

_TIE = 10_000  # by this part of its last decimal p grows where a tie is too close
_FEWEST = 2  # contributors, or nobody attacks anybody
_DRAWN = 1 << 40  # amounts below this: that they satisfy a relation by accident does not happen


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What respondents know before and may know after, in whole numbers.

    Parameters
    ----------
    p, q
        How close nobody may come, and how well everybody knows the others, in units of 1 / `unit`.
    unit
        What 1 stands for: p = 10 and unit = 100 are ten percent. A power of ten.
    coalition
        How many put their knowledge together.
    by
        Whom to look at: ``respondent``, ``holding``, or holdings where they are known (``auto``).
    """

    p: int
    q: int
    unit: int
    coalition: int = 1
    by: By = "auto"

    @classmethod
    def of(cls, rule: PPercent | PriorPosterior) -> Knowledge:
        """Return what a rule says: the p% rule is the prior-posterior rule with q = 100 (section 5).

        Raises
        ------
        SpecError
            The rule is another one.
        """
        if not isinstance(rule, PPercent | PriorPosterior):
            said = getattr(rule, "words", repr(rule))
            remedy = "Respondents attack by PPercent or PriorPosterior."
            raise SpecError.one("rule", f"{said} does not say what respondents know.", remedy)
        p, q, scale = whole(rule.p, rule.q if isinstance(rule, PriorPosterior) else 100)
        return cls(p, q, 100 * scale, rule.coalition, rule.by)

    def beyond(self) -> Knowledge:
        """Return the same with a p that is a little larger: who is kept away exactly p percent is then too close."""
        return replace(self, p=self.p * _TIE + 1, q=self.q * _TIE, unit=self.unit * _TIE)

    @property
    def decimals(self) -> int:
        """How many more decimals than the table what they know has."""
        return len(str(self.unit)) - 1


@dataclass(frozen=True, slots=True, eq=False)
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
        Those of them that nobody may come too close to: all but what was waived, or lies in cells that are declared
        safe. Whoever waived his protection attacks like everybody else.
    """

    kind: str
    numbers: NDArray[np.int64]
    leaves: NDArray[np.int64]
    sizes: sp.csr_array
    protected: sp.csr_array

    def __len__(self) -> int:
        return len(self.numbers)

    @property
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
        A table with single contributions: ``tabulate(..., contributions=True)`` or `celosia.with_contributions`.
    by
        Whom to look at.

    Raises
    ------
    SpecError
        The table knows no single contributions, or no holdings where they are asked for.
    DataError
        Contributions do not add up to their cells, some are not known, the same contribution stands in several leaf
        cells, or there are fewer than two contributors.
    """
    said = single_contributions(table)
    if by == "holding" and not _apart(said) and (table.statistics is None or table.statistics.holdings is None):
        remedy = "Name the holding column when you tabulate."
        raise SpecError.one("by", "asks for holdings, which the table does not know.", remedy)
    kind = _kind(said, by)
    numbers, unit = np.unique(numbers_of(said, kind), return_inverse=True)
    if len(numbers) < _FEWEST:
        message = f"there is {counted(len(numbers), kind)}: nobody could attack anybody."
        raise DataError.one("contributions", message, "Outsiders are the matter of celosia.audit.")
    steps = steps_of(table, said)
    _check_sums(table, steps.signs, steps.matrices)
    if not _apart_from_each_other(table, steps):
        message = "stand in several leaf cells each: of linked tables, or of variables that add up."
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


def default_rule(table: Table, rules: Iterable[object]) -> PPercent | PriorPosterior | None:
    """Return the rule by which contributors are kept from each other unless somebody says otherwise.

    It is the strictest p% or prior-posterior rule, where single contributions are known and are what that rule looks
    at. None where they are not: with sampling weights or a shadow variable, for counts, for a single contributor, and
    where a contribution stands in several leaf cells (linked tables, variables that add up).
    """
    rule, said, found = strictest(rules), table.contributions, table.statistics
    if rule is None or said is None or len(np.unique(numbers_of(said, _kind(said, rule.by)))) < _FEWEST:
        return None
    if table.counts or (found is not None and (found.shadow is not None or _is_weighted(found))):
        return None
    try:
        return rule if _apart_from_each_other(table, steps_of(table, said)) else None
    except DataError:  # some cells' contributions are not known
        return None


def strictest(rules: Iterable[object]) -> PPercent | PriorPosterior | None:
    """Return the rule with the largest p for its q among those that say what respondents know; None without one."""
    known = [rule for rule in rules if isinstance(rule, PPercent | PriorPosterior)]
    return max(known, key=_strictness, default=None)


def _strictness(rule: PPercent | PriorPosterior) -> tuple[Fraction, int, int]:
    knowledge = Knowledge.of(rule)
    return Fraction(knowledge.p, knowledge.q), knowledge.coalition, int(rule.by != "respondent")


def _is_weighted(found: Statistics) -> bool:
    own = found.respondents
    return not (np.array_equal(own.weighted, own.largest) and np.array_equal(found.weighted_records, found.records))


def _apart(said: Contributions) -> bool:
    """Return whether holdings are others than respondents."""
    return not np.array_equal(said.respondent, said.holding)


def _kind(said: Contributions, by: By) -> str:
    return "respondent" if by == "respondent" or not _apart(said) else "holding"


def _apart_from_each_other(table: Table, steps: Steps) -> bool:
    """Return whether leaf cells can move independently: no relation ties them but through totals of their own.

    Any amounts in leaf cells then make a table. Random ones do, or some relation is about leaf cells alone.
    """
    drawn = np.zeros(len(table), dtype=np.int64)
    leaves = np.flatnonzero(steps.leaf)
    drawn[leaves] = np.random.default_rng(0).integers(1, _DRAWN, len(leaves))
    return not bool((table.relations.matrix @ steps.summed(drawn)).any())


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
