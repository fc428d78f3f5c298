"""Sensitivity rules: small objects that say which cells are sensitive, and how far an attacker must be kept away.

Notation: a cell of value `a` has contributions :math:`c_1 \\ge c_2 \\ge \\dots`, absolute values where they can be negative (Daalmans and de Waal
2010, section 5). :math:`S_m` is what the `m` largest units contribute. With sampling weights a unit of weight `w` counts as `w` equal units.
A tie is safe. Levels are distances from the value; what stands here is the smallest distance at which the cell, seen from the end of the
attacker's interval, would be safe by the same rule (Karlsson and Olsson 2015, section 3.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, Problems, SpecError
from celosia.risk.contributors import cells_of
from celosia.risk.exact import divided_up, roomy, whole
from celosia.table.fixed import Fixed
from celosia.table.statistics import Contributors
from celosia.table.table import Table
from celosia.tolerance import LEVEL_DECIMALS

By = Literal["auto", "respondent", "holding"]


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What a rule finds.

    Parameters
    ----------
    sensitive
        Which cells are sensitive, ``(n_cells,)``.
    distance
        How far an attacker must be kept away, ``(n_cells,)``; zero where the cell is safe.
    evidence
        The numbers behind it, a column each, for the office only.
    """

    sensitive: NDArray[np.bool_]
    distance: Fixed
    evidence: Mapping[str, NDArray[Any]] = field(default_factory=dict)


class Rule(Protocol):
    """Anything that looks at a table and finds sensitive cells."""

    @property
    def words(self) -> str:
        """The rule as people call it."""

    def find(self, table: Table) -> Finding:
        """Return the sensitive cells of a table."""


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
        _check_percent(found, "percent", self.percent, most=None)
        _check_by(found, self.by)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return f"fewer than {self.n} contributors"

    def find(self, table: Table) -> Finding:
        """Return the cells with too few contributors (thesis 2.1.1). A cell in which everybody waived his protection is safe."""
        contributors = _contributors(table, self.by, self.words)
        count = contributors.count
        if bool((count < 0).any()):
            raise _unknown(table, self.words, count < 0, "the number of contributors")
        sensitive = (count > 0) & (count < self.n) & (contributors.unwaived > 0)
        return Finding(sensitive, percent_of_value(table, self.percent), {f"contributors ({self.words})": count})


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
        return f"({self.n}, {self.k:g}) dominance"

    def find(self, table: Table) -> Finding:
        r"""Return the dominated cells: :math:`100\,S_n > k\,T` (thesis 2.1.2); the level is :math:`100/k\,S_n - T`."""
        cells = cells_of(table, _contributors(table, self.by, self.words), self.words)
        top = cells.mass_of_targets(self.n)
        k, scale = whole(self.k)
        share, total = roomy(100 * scale, top, cells.total)
        excess = 100 * scale * share - k * total
        sensitive = np.asarray((excess > 0) & (top > 0))
        distance = cells.level(np.where(sensitive, excess, 0), k)
        return Finding(sensitive, distance, {f"share of the {self.n} largest": _share(top, cells.total)})


@dataclass(frozen=True, slots=True)
class PriorPosterior:
    """A cell is sensitive if somebody who knows everybody's contribution within `q` percent gets within `p` percent of one.

    Parameters
    ----------
    p
        How close nobody may come, in percent of the contribution.
    q
        How well everybody knows the others before, in percent.
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
        return f"({self.p:g}, {self.q:g}) prior-posterior{_coalition_words(self.coalition)}"

    def find(self, table: Table) -> Finding:
        """Return the cells in which the largest contribution is not protected (thesis (2.1), level (3.3))."""
        return _find_prior_posterior(table, self.p, self.q, self.coalition, self.by, self.words)


@dataclass(frozen=True, slots=True)
class PPercent:
    """A cell is sensitive if a contributor can work out another's contribution to within `p` percent.

    It is the prior-posterior rule with q = 100: everybody knows that contributions are not negative.

    Parameters
    ----------
    p
        How close nobody may come, in percent of the contribution.
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
        return f"p% rule (p = {self.p:g}){_coalition_words(self.coalition)}"

    def find(self, table: Table) -> Finding:
        """Return the cells in which the largest contribution is not protected (thesis (2.1) and (3.3) with q = 100)."""
        return _find_prior_posterior(table, self.p, 100, self.coalition, self.by, self.words)


@dataclass(frozen=True, slots=True)
class ZeroCells:
    """Cells of value zero are sensitive: to know that nobody contributes anything can be to know something.

    Parameters
    ----------
    level
        How far from zero an attacker must be kept, in units of the table.
    """

    level: float

    def __post_init__(self) -> None:
        if not 0 < self.level < float("inf"):
            raise SpecError.one("level", f"must be a positive number, not {self.level}.")

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return "zero cells"

    def find(self, table: Table) -> Finding:
        """Return the cells of value zero that have contributors, or of which nobody said how many."""
        sensitive = table.amounts.counts == 0
        if table.statistics is not None:
            sensitive = sensitive & (table.statistics.respondents.count != 0)
        level, scale = whole(self.level)
        decimals = table.decimals + LEVEL_DECIMALS
        count = int(divided_up(np.array([level * 10**decimals], dtype=object), scale)[0])
        return Finding(sensitive, Fixed.of_counts(np.where(sensitive, count, 0), decimals))


@dataclass(frozen=True, slots=True)
class Requests:
    """A cell is sensitive if a respondent who asked for protection has more than `share` percent of it.

    Parameters
    ----------
    share
        In percent; 0: any contribution will do.
    percent
        The level, in percent of the value.
    """

    share: float = 0
    percent: float = 20

    def __post_init__(self) -> None:
        found = Problems()
        if not 0 <= self.share < 100:  # noqa: PLR2004  (percent)
            found.add("share", f"must be a percentage from 0 to below 100, not {self.share}.")
        _check_percent(found, "percent", self.percent, most=None)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return f"request (more than {self.share:g} %)" if self.share else "request"

    def find(self, table: Table) -> Finding:
        """Return the cells in which a requester has a large enough share."""
        if table.statistics is None or table.statistics.requested is None:
            raise SpecError.one(self.words, "nobody could ask for protection.", "Name the request column when you tabulate.")
        asked, total = roomy(10**6, table.statistics.requested, table.statistics.respondents.total)
        share, scale = whole(self.share)
        sensitive = np.asarray((asked >= 0) & ((100 * scale * asked > share * total) | ((share == 0) & (asked == 0))))
        return Finding(sensitive, percent_of_value(table, self.percent))


@dataclass(frozen=True, slots=True)
class GivenStatus:
    """Cells that came with the status ``sensitive`` are sensitive, with their own levels where they have some.

    Parameters
    ----------
    percent
        The level, in percent of the value, of cells without one of their own.
    """

    percent: float = 20

    def __post_init__(self) -> None:
        found = Problems()
        _check_percent(found, "percent", self.percent, most=None)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return "given status"

    def find(self, table: Table) -> Finding:
        """Return the cells whose status says so. Levels of their own are set when the table is assessed."""
        if "status" not in table.extras:
            raise SpecError.one(self.words, "the cells came without a status.", "Name the status column when you read them.")
        return Finding(np.asarray(table.extras["status"] == "sensitive"), percent_of_value(table, self.percent))


@dataclass(frozen=True, slots=True)
class OwnRule:
    """A rule of the user's own: a function from a table to the sensitive cells.

    Parameters
    ----------
    function
        Returns a truth value for every cell, or a `Finding`.
    percent
        The level, in percent of the value, where the function does not say.
    name
        How reports call it.
    """

    function: Callable[[Table], NDArray[np.bool_] | Finding]
    percent: float = 20
    name: str = "own rule"

    def __post_init__(self) -> None:
        found = Problems()
        _check_percent(found, "percent", self.percent, most=None)
        found.raise_as(SpecError)

    @property
    def words(self) -> str:
        """The rule as people call it."""
        return self.name

    def find(self, table: Table) -> Finding:
        """Return what the function finds."""
        said = self.function(table)
        if isinstance(said, Finding):
            return said
        mask = np.asarray(said)
        if mask.shape != (len(table),) or mask.dtype != bool:
            seen = f"{mask.dtype} of shape {mask.shape}"
            raise SpecError.one(self.name, f"must return a truth value for each of {len(table)} cells, not {seen}.")
        return Finding(mask, percent_of_value(table, self.percent))


def percent_of_value(table: Table, percent: float) -> Fixed:
    """Return a percentage of every cell's absolute value, rounded up."""
    share, scale = whole(percent)
    decimals = table.decimals + LEVEL_DECIMALS
    (counts,) = roomy(10**LEVEL_DECIMALS * share, np.abs(table.amounts.counts))
    return Fixed.of_counts(divided_up(counts * (share * 10**LEVEL_DECIMALS), 100 * scale), decimals)


def _find_prior_posterior(table: Table, p: float, q: float, coalition: int, by: By, words: str) -> Finding:
    r"""Return the cells with :math:`q\,R < p\,c_1` and the levels :math:`(p\,c_1 - q\,R)/100`.

    R is what remains of the cell without the target and the coalition: thesis (2.1) with the lower summation limit of its last paragraph. The
    target is the largest contributor who did not waive his protection, the coalition the largest others.
    """
    cells = cells_of(table, _contributors(table, by, words), words)
    target, rest = cells.target_and_rest(coalition)
    p_whole, q_whole, scale = whole(p, q)
    c1, remaining = roomy(max(p_whole, q_whole), target, rest)
    excess = p_whole * c1 - q_whole * remaining
    sensitive = np.asarray((excess > 0) & (target > 0))
    distance = cells.level(np.where(sensitive, excess, 0), 100 * scale)
    evidence = {"largest contribution": cells.decimal(target), "remainder without the coalition": cells.decimal(rest)}
    return Finding(sensitive, distance, evidence)


def _contributors(table: Table, by: By, words: str) -> Contributors:
    if table.statistics is None:
        raise SpecError.one(words, "needs contributors, which the table does not know.", "Tabulate from records, or give counts and contributions.")
    statistics = table.statistics
    if by == "holding" and statistics.holdings is None:
        raise SpecError.one(words, "looks at holdings, which the table does not know.", "Name the holding column when you tabulate.")
    return statistics.respondents if by == "respondent" or statistics.holdings is None else statistics.holdings


def _unknown(table: Table, words: str, where: NDArray[np.bool_], what: str) -> DataError:
    cells = np.flatnonzero(where)
    message = f"{what} is not known for {len(cells)} cells, the first being {table.label(int(cells[0]))}."
    return DataError.one(words, message, "Give it, or leave the rule out.")


def _share(part: NDArray[np.int64], total: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.divide(100.0 * part, total, out=np.zeros(len(part)), where=np.asarray(total > 0))


def _coalition_words(coalition: int) -> str:
    return f" against coalitions of {coalition}" if coalition > 1 else ""


def _check_percent(found: Problems, place: str, percent: float, *, most: float | None) -> None:
    if not 0 < percent < float("inf") or (most is not None and percent > most):
        found.add(place, f"must be a positive percentage, not {percent}.")


def _check_coalition(found: Problems, coalition: int) -> None:
    if not isinstance(coalition, int) or coalition < 1:
        found.add("coalition", f"must be a whole number of at least 1, not {coalition!r}.")


def _check_by(found: Problems, by: str) -> None:
    if by not in {"auto", "respondent", "holding"}:
        found.add("by", f"must be 'auto', 'respondent' or 'holding', not {by!r}.")
