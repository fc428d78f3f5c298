r"""Sensitivity rules on contributors: which cells are sensitive, and how far an attacker must be kept away.

Notation: a cell of value `a` has contributions :math:`c_1 \ge c_2 \ge \dots`, absolute values where they can be
negative (Daalmans and de Waal 2010, section 5). :math:`S_m` is what the `m` largest units contribute, `T` what all do.
With sampling weights a unit of weight `w` counts as `w` equal units. A tie is safe. Levels are distances from the
value: the smallest at which the cell, seen from the end of the attacker's interval, would be safe by the same rule
(Karlsson and Olsson 2015, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, Problems, SpecError
from celosia.risk.rules.contributors import cells_of
from celosia.risk.rules.exact import roomy, whole
from celosia.risk.rules.finding import Finding, check_percent, percent_of_value, to_share
from celosia.table.statistics import Contributors
from celosia.table.table import Table

By = Literal["auto", "respondent", "holding"]


@dataclass(frozen=True, slots=True)
class MinFrequency:
    """A cell is sensitive that has contributors, but fewer than `n`.

    Parameters
    ----------
    n
        The least number of contributors.
    percent
        The level, in percent of the value.
    by
        Whom to count: ``respondent``, ``holding``, or holdings where they are known.
    """

    n: int
    percent: float = 20
    by: By = "auto"

    def __post_init__(self) -> None:
        found = Problems()
        if not isinstance(self.n, int) or self.n < 1:
            found.add("n", f"must be a whole number of at least 1, not {self.n!r}.")
        check_percent(found, self.percent)
        _check_by(found, self.by)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return f"fewer than {self.n} contributors{_by_words(self.by)}"

    def find(self, table: Table) -> Finding:
        """Return the cells with too few contributors (thesis 2.1.1).

        A cell in which all waived their protection is safe.
        """
        contributors = _contributors(table, self.by, self.words)
        count = contributors.count
        if bool((count < 0).any()):
            raise _unknown(table, self.words, count < 0, "the number of contributors")
        sensitive = (count > 0) & (count < self.n) & (contributors.unwaived > 0)
        distance = percent_of_value(table, self.percent, sensitive)
        return Finding(sensitive, distance, {f"{self.words}: contributors": count}, to_share(self.percent))


@dataclass(frozen=True, slots=True)
class Dominance:
    """A cell is sensitive if its `n` largest contributors have more than `k` percent of it.

    Parameters
    ----------
    n
        How many contributors.
    k
        Their share in percent.
    by
        Whom to look at.
    """

    n: int
    k: float
    by: By = "auto"

    def __post_init__(self) -> None:
        found = Problems()
        if not isinstance(self.n, int) or self.n < 1:
            found.add("n", f"must be a whole number of at least 1, not {self.n!r}.")
        if not 0 < self.k <= 100:  # noqa: PLR2004  (percent)
            found.add("k", f"must be a percentage above 0 and up to 100, not {self.k}.")
        _check_by(found, self.by)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return f"({self.n}, {self.k:g}) dominance{_by_words(self.by)}"

    def find(self, table: Table) -> Finding:
        r"""Return the dominated cells: :math:`100\,S_n > k\,T` (thesis 2.1.2); the level is :math:`100/k\,S_n - T`.

        With waivers, :math:`S_n` is the largest contribution without one and the n - 1 largest others.
        """
        cells = cells_of(table, _contributors(table, self.by, self.words), self.words)
        target, rest = cells.target_and_rest(self.n - 1)
        top = cells.total - rest
        k, scale = whole(self.k)
        share, total = roomy(100 * scale, top, cells.total)
        excess = 100 * scale * share - k * total
        sensitive = np.asarray((excess > 0) & (target > 0))
        distance = cells.level(np.where(sensitive, excess, 0), k)
        evidence = {f"{self.words}: share of the largest": _share(top, cells.total)}
        return Finding(sensitive, distance, evidence, 1 / to_share(self.k) - 1)


@dataclass(frozen=True, slots=True)
class PriorPosterior:
    """A cell is sensitive if knowing every contribution within `q` percent leads to within `p` percent of one.

    Parameters
    ----------
    p
        How close no respondent may come, in percent of the contribution.
    q
        How well each respondent knows the others before, in percent.
    coalition
        How many contributors put their knowledge together.
    by
        Whom to look at.
    """

    p: float
    q: float
    coalition: int = 1
    by: By = "auto"

    def __post_init__(self) -> None:
        found = Problems()
        if not self.p > 0:
            found.add("p", f"must be a percentage above 0, not {self.p}.")
        if not 0 < self.q <= 100:  # noqa: PLR2004  (percent)
            found.add("q", f"must be a percentage above 0 and up to 100, not {self.q}.")
        if self.p >= self.q:
            remedy = "What is known before must be less exact than what may be known after."
            found.add("p", f"must be below q, not {self.p} against {self.q}.", remedy)
        _check_coalition(found, self.coalition)
        _check_by(found, self.by)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return f"({self.p:g}, {self.q:g}) prior-posterior{_coalition_words(self.coalition)}{_by_words(self.by)}"

    def find(self, table: Table) -> Finding:
        """Return the cells in which the largest contribution is not protected (thesis (2.1), level (3.3))."""
        return _find_prior_posterior(table, self.p, self.q, self.coalition, self.by, self.words)


@dataclass(frozen=True, slots=True)
class PPercent:
    """A cell is sensitive if a contributor can work out another's contribution to within `p` percent.

    It is the prior-posterior rule with q = 100: it is known that contributions are not negative.

    Parameters
    ----------
    p
        How close no respondent may come, in percent of the contribution.
    coalition
        How many contributors put their knowledge together.
    by
        Whom to look at.
    """

    p: float
    coalition: int = 1
    by: By = "auto"

    def __post_init__(self) -> None:
        found = Problems()
        if not 0 < self.p < 100:  # noqa: PLR2004  (percent)
            found.add("p", f"must be a percentage above 0 and below 100, not {self.p}.")
        _check_coalition(found, self.coalition)
        _check_by(found, self.by)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return f"p% rule (p = {self.p:g}){_coalition_words(self.coalition)}{_by_words(self.by)}"

    def find(self, table: Table) -> Finding:
        """Return the cells in which the largest contribution is not protected (thesis (2.1) and (3.3) with q = 100)."""
        return _find_prior_posterior(table, self.p, 100, self.coalition, self.by, self.words)


RespondentRule = PPercent | PriorPosterior | MinFrequency | Dominance
"""A rule that says how close contributors may come to each other; see `risk.respondents.knowledge.Knowledge`."""


def _find_prior_posterior(table: Table, p: float, q: float, coalition: int, by: By, words: str) -> Finding:
    r"""Return the cells with :math:`q\,R < p\,c_1` and the levels :math:`(p\,c_1 - q\,R)/100`.

    R is what remains of the cell without the target and the coalition: thesis (2.1) with the lower summation limit of
    its last paragraph. The target is the largest contributor who did not waive his protection, the coalition the
    largest others.
    """
    cells = cells_of(table, _contributors(table, by, words), words)
    target, rest = cells.target_and_rest(coalition)
    p_whole, q_whole, scale = whole(p, q)
    c1, remaining = roomy(max(p_whole, q_whole), target, rest)
    excess = p_whole * c1 - q_whole * remaining
    sensitive = np.asarray((excess > 0) & (target > 0))
    distance = cells.level(np.where(sensitive, excess, 0), 100 * scale)
    evidence = {
        f"{words}: largest contribution": cells.decimal(target),
        f"{words}: left without the coalition": cells.decimal(rest),
    }
    return Finding(sensitive, distance, evidence, to_share(p))


def _contributors(table: Table, by: By, words: str) -> Contributors:
    if table.statistics is None:
        raise SpecError.one(
            words,
            "needs contributors, which the table does not know.",
            "Tabulate from records, or give counts and contributions.",
        )
    statistics = table.statistics
    if by == "holding" and statistics.holdings is None:
        raise SpecError.one(
            words, "looks at holdings, which the table does not know.", "Name the holding column when you tabulate."
        )
    return statistics.respondents if by == "respondent" or statistics.holdings is None else statistics.holdings


def _unknown(table: Table, words: str, where: NDArray[np.bool_], what: str) -> DataError:
    cells = np.flatnonzero(where)
    message = f"{what} is not known for {len(cells)} cells, the first being {table.label(int(cells[0]))}."
    return DataError.one(words, message, "Give it, or leave the rule out.")


def _share(part: NDArray[np.int64], total: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.divide(100.0 * part, total, out=np.zeros(len(part)), where=np.asarray(total > 0)))


def _coalition_words(coalition: int) -> str:
    return f" against coalitions of {coalition}" if coalition > 1 else ""


def _by_words(by: By) -> str:
    return "" if by == "auto" else f" by {by}"


def _check_coalition(found: Problems, coalition: int) -> None:
    if not isinstance(coalition, int) or coalition < 1:
        found.add("coalition", f"must be a whole number of at least 1, not {coalition!r}.")


def _check_by(found: Problems, by: str) -> None:
    if by not in {"auto", "respondent", "holding"}:
        found.add("by", f"must be 'auto', 'respondent' or 'holding', not {by!r}.")
