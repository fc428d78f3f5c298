r"""Sensitivity rules on contributors: which cells are sensitive, and how far an attacker must be kept away.

Notation: a cell of value `a` has contributions :math:`c_1 \ge c_2 \ge \dots`, absolute values where they can be
negative (Daalmans and de Waal 2010, section 5). :math:`S_m` is what the `m` largest units contribute, `T` what all do.
With sampling weights a unit of weight `w` counts as `w` equal units. A tie is safe. Levels are distances from the
value: the smallest at which the cell, seen from the end of the attacker's interval, would be safe by the same rule
(Karlsson and Olsson 2015, section 3.1).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
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

Ties = Literal["safe", "sensitive"]
"""What it is called to come within exactly p percent of another: safe enough, or too close as in (2.1) and (5.4)."""

_TIE = 10_000  # by this part of its last decimal p grows where a tie is too close


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
    ties
        ``safe``: a contribution that can be found to within exactly `p` percent is protected enough; ``sensitive``: it
        is not, as in Daalmans and de Waal (2010). Cells of zeros are sensitive then, too.
    """

    p: float
    q: float
    coalition: int = 1
    by: By = "auto"
    ties: Ties = "safe"

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
        _check_ties(found, self.ties)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        more = _coalition_words(self.coalition) + _by_words(self.by) + _tie_words(self.ties)
        return f"({self.p:g}, {self.q:g}) prior-posterior{more}"

    def find(self, table: Table) -> Finding:
        """Return the cells in which the largest contribution is not protected (thesis (2.1), level (3.3))."""
        return _find_prior_posterior(table, self)


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
    ties
        ``safe``: a contribution that can be found to within exactly `p` percent is protected enough; ``sensitive``: it
        is not, as in Daalmans and de Waal (2010). Cells of zeros are sensitive then, too.
    """

    p: float
    coalition: int = 1
    by: By = "auto"
    ties: Ties = "safe"

    def __post_init__(self) -> None:
        found = Problems()
        if not 0 < self.p < 100:  # noqa: PLR2004  (percent)
            found.add("p", f"must be a percentage above 0 and below 100, not {self.p}.")
        _check_coalition(found, self.coalition)
        _check_by(found, self.by)
        _check_ties(found, self.ties)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        more = _coalition_words(self.coalition) + _by_words(self.by) + _tie_words(self.ties)
        return f"p% rule (p = {self.p:g}){more}"

    def find(self, table: Table) -> Finding:
        """Return the cells in which the largest contribution is not protected (thesis (2.1) and (3.3) with q = 100)."""
        return _find_prior_posterior(table, self)


RespondentRule = PPercent | PriorPosterior | MinFrequency | Dominance
"""A rule that says how close contributors may come to each other; see `risk.respondents.knowledge.Knowledge`."""


def parameters_of(rule: PPercent | PriorPosterior) -> tuple[int, int, int]:
    """Return p and q in whole numbers, and what one percent stands for: the p% rule has q = 100.

    >>> parameters_of(PriorPosterior(12.5, 50))
    (125, 500, 10)
    """
    p, q, scale = whole(rule.p, rule.q if isinstance(rule, PriorPosterior) else 100)
    return p, q, scale


def enlarge(p: int, q: int, scale: int) -> tuple[int, int, int]:
    """Return the same parameters with a p that is a little larger: who is kept away exactly p is then too close."""
    return p * _TIE + 1, q * _TIE, scale * _TIE


def _find_prior_posterior(table: Table, rule: PPercent | PriorPosterior) -> Finding:
    r"""Return the cells with :math:`q\,R < p\,c_1` and the levels :math:`(p\,c_1 - q\,R)/100`.

    R is what remains of the cell without the target and the coalition: thesis (2.1) with the lower summation limit of
    its last paragraph. The target is the largest contributor who did not waive his protection, the coalition the
    largest others.

    Where ties are sensitive these are the cells with :math:`q\,R \le p\,c_1`, those of zeros among them (Daalmans and
    de Waal 2010, section 2), and levels are those of a p that is a little larger, because they must be exceeded.
    """
    contributors = _contributors(table, rule.by, rule.words)
    cells = cells_of(table, contributors, rule.words)
    target, rest = cells.target_and_rest(rule.coalition)
    parameters = parameters_of(rule)
    larger = enlarge(*parameters) if rule.ties == "sensitive" else parameters
    c1, remaining = roomy(max(larger), target, rest)
    excess = parameters[0] * c1 - parameters[1] * remaining
    if rule.ties == "sensitive":
        sensitive = np.asarray((excess >= 0) & (contributors.unwaived > 0))
    else:
        sensitive = np.asarray((excess > 0) & (target > 0))
    asked = np.where(sensitive, larger[0] * c1 - larger[1] * remaining, 0)
    evidence = {
        f"{rule.words}: largest contribution": cells.decimal(target),
        f"{rule.words}: left without the coalition": cells.decimal(rest),
    }
    return Finding(sensitive, cells.level(asked, 100 * larger[2]), evidence, Fraction(larger[0], 100 * larger[2]))


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


def _tie_words(ties: Ties) -> str:
    return ", ties sensitive" if ties == "sensitive" else ""


def _check_ties(found: Problems, ties: str) -> None:
    if ties not in {"safe", "sensitive"}:
        found.add("ties", f"must be 'safe' or 'sensitive', not {ties!r}.")


def _check_coalition(found: Problems, coalition: int) -> None:
    if not isinstance(coalition, int) or coalition < 1:
        found.add("coalition", f"must be a whole number of at least 1, not {coalition!r}.")


def _check_by(found: Problems, by: str) -> None:
    if by not in {"auto", "respondent", "holding"}:
        found.add("by", f"must be 'auto', 'respondent' or 'holding', not {by!r}.")
