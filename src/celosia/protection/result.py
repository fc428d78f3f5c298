"""The result of a protection."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.attack.findings import MET
from celosia.errors import SpecError, describe_figure, pluralise
from celosia.late import late
from celosia.pattern.entries import SHOWN, STATUSES
from celosia.pattern.midpoint import midpoints
from celosia.pattern.pattern import Pattern
from celosia.pattern.shares import Shares
from celosia.pattern.told_levels import describe_told_levels
from celosia.protection.distances import Distances
from celosia.protection.method import Method
from celosia.risk.risk import Risk
from celosia.risk.rules.contributor_rules import RespondentRule
from celosia.tolerance import BOUND_LOWERED, GAP_IN_PRINT

if TYPE_CHECKING:
    from celosia.attack.result import Audit

_SAME = 5e-4  # what tenths of a percent do not show


@dataclass(frozen=True, slots=True)
class Closing:
    """What it took to protect respondents on top of cells.

    Parameters
    ----------
    pairs
        How many pairs of respondents the pattern for cells alone left open.
    cost
        What that pattern costs.
    rounds
        How many patterns were made.
    rules
        What respondents know, and how close they may come; all of these hold.
    """

    pairs: int
    cost: float
    rounds: int
    rules: tuple[RespondentRule, ...]

    def sentence(self, cost: float) -> str:
        """Return what a pattern of some cost did about respondents, in words."""
        promise = f"No respondent comes too close to another ({'; '.join(rule.words for rule in self.rules)})"
        if not self.pairs:
            return f"{promise}; the pattern for cells alone was enough."
        said = f"the pattern for cells alone leaves {pluralise(self.pairs, 'pair')} open"
        share = cost / self.cost - 1 if self.cost > 0 else 0.0
        more = f"closing them costs {share:.1%} more" if share > 0 else "closing them costs nothing"
        return f"{promise}: {said}, {more}."


@dataclass(frozen=True, eq=False)
class ModularPattern:
    """A pattern that was made sub-table by sub-table, for comparison; see `celosia.modular`. Confidential.

    Parameters
    ----------
    risk
        What was to be protected, with the wishes of the method.
    pattern
        Which cells it hides.
    cost
        What that costs, the sensitive cells included.
    audit
        What attackers can conclude from it. It may well not be safe.
    sub_tables
        How many sub-tables the table has.
    solves
        How many patterns of sub-tables were made: some are made again.
    proved
        All of them are of least cost.
    seconds
        How long that took.
    """

    risk: Risk
    pattern: Pattern
    cost: float
    audit: Audit
    sub_tables: int
    solves: int
    proved: bool
    seconds: float

    @property
    def hidden(self) -> int:
        """How many cells it hides."""
        return int((self.pattern.status != SHOWN).sum())

    @property
    def open(self) -> int:
        """How many requirements are not met."""
        return len(self.audit.verdicts) - self.audit.count(MET)

    @property
    def safe(self) -> bool:
        """Whether all requirements are met."""
        return self.audit.safe

    def sentence(self, cost: float) -> str:
        """Return how a result of some cost compares with it, in words; that it is not safe where it is not."""
        asked = pluralise(len(self.audit.verdicts), "requirement")
        verdict = "is safe" if self.safe else f"is not safe, {self.open:,} of {asked} being open"
        share = cost / self.cost - 1 if self.cost > 0 else 0.0
        dearer = f"{abs(share):.1%} {'more' if share > 0 else 'less'}" if abs(share) >= _SAME else "the same"
        figures = f"{describe_figure(self.cost)} for {pluralise(self.hidden, 'hidden cell')}"
        named = f"The modular pattern, of {self.sub_tables:,} sub-tables,"
        return f"{named} costs {figures} and {verdict}: this costs {dearer}."

    def __repr__(self) -> str:
        verdict = "safe" if self.safe else f"{self.open:,} of {len(self.audit.verdicts):,} requirements open"
        figures = f"{self.hidden:,} cells hidden, cost {self.cost:,.10g}"
        return f"ModularPattern({self.sub_tables:,} sub-tables: {figures}, {verdict})"


@dataclass(frozen=True, eq=False)
class Protection:
    """A safe pattern, what it costs, and what any safe pattern costs at least. Confidential.

    Parameters
    ----------
    risk
        What was to be protected, with the wishes of the method.
    method
        How it was protected.
    pattern
        How every cell is published.
    cost
        What that costs, the sensitive cells included.
    bound
        No safe pattern costs less.
    found
        What attackers can conclude from it; for methods that move values, how far the sensitive ones moved.
    seconds
        How long the search took.
    solver
        What solved, with its version.
    trace
        How the search went: seconds, cost of the best pattern so far or None, bound, cuts.
    seed
        From which the search drew. Secret where values were drawn by it: no release carries it.
    notes
        What else the office should know: first of all that next to nothing is shown, where that is so; the bias of
        values that are rounded at random; why respondents were not asked.
    closing
        Where respondents are protected: what that took.
    modular
        The modular pattern, where it was asked for; see `beside`.
    secret_place
        Where the secret of the method is kept; empty where only the method knows it.
    """

    risk: Risk
    method: Method
    pattern: Pattern
    cost: float
    bound: float
    found: Audit | Distances
    seconds: float
    solver: str
    trace: tuple[tuple[float, float | None, float, int], ...]
    seed: int
    notes: tuple[str, ...] = ()
    closing: Closing | None = None
    modular: ModularPattern | None = None
    secret_place: str = ""

    def beside(self, modular: ModularPattern) -> Protection:
        """Return the same result with the modular pattern of its table, so that summaries and pages compare the two."""
        return replace(self, modular=modular)

    @property
    def shares(self) -> Shares:
        """How many cells are shown, and how many are hidden."""
        return Shares.of(self.pattern)

    @property
    def shown_share(self) -> float:
        """The share of cells that are shown exactly, of those that are not zero."""
        return self.shares.shown_share

    @property
    def hidden_share(self) -> float:
        """The share of cells of which nothing is published, of those that are not zero."""
        return self.shares.hidden_share

    @property
    def warnings(self) -> tuple[str, ...]:
        """What readers could make of what is published: where the true value lies in too many ranges, and levels."""
        said = midpoints(self.pattern).warnings
        if self.method.conceals_levels:
            return said
        remedy = getattr(self.method, "conceal", None) is False
        return (*said, *describe_told_levels(self.pattern, self.risk, remedy=remedy))

    @property
    def gap(self) -> float:
        """The share of the cost by which it exceeds the bound."""
        return (self.cost - self.bound) / self.cost if self.cost > 0 else 0.0

    @property
    def cost_of_hiding_everything(self) -> float | None:
        """What the worst of all answers costs: to hide every cell that may be hidden. None where none is hidden.

        It is safe more often than anything else, and tells readers nothing; see `cost_share`.
        """
        return self.method.cost_of_hiding_everything(self.risk)

    @property
    def cost_share(self) -> float | None:
        """The cost as a share of that of hiding everything; None where no cell may be hidden, or all are free."""
        everything = self.cost_of_hiding_everything
        return self.cost / everything if everything else None

    @property
    def first_cost(self) -> float | None:
        """The cost of the first pattern that the search knew; None where there was no search."""
        return next((cost for _, cost, _, _ in self.trace if cost is not None), None)

    @property
    def saved_share(self) -> float:
        """The share of the first cost that the search has saved since: what it was good for."""
        return max(0.0, 1.0 - self.cost / self.first_cost) if self.first_cost else 0.0

    @property
    def optimal(self) -> bool:
        """Whether no safe pattern is cheaper, but for what doubles cannot tell."""
        return self.bound >= self.cost * (1 - BOUND_LOWERED)

    @property
    def nearly(self) -> bool:
        """Whether the gap is none in hundredths of a percent: the rounding of ranges leaves so much."""
        return self.gap < GAP_IN_PRINT

    @property
    def safe(self) -> bool:
        """Whether the criterion of the method is met; see `criterion`."""
        return self.found.safe

    @property
    def criterion(self) -> str:
        """What protects: ``intervals`` that attackers cannot narrow, or ``distance`` of the values that moved."""
        return self.pattern.criterion

    @property
    def audit(self) -> Audit:
        """What attackers can conclude.

        Raises
        ------
        SpecError
            The method publishes one plausible table and protects by distance: there are no intervals to audit.
        """
        if isinstance(self.found, Distances):
            said = f"{self.method.name!r} protects by distance: there are no intervals."
            raise SpecError.one("method", said, "See `Protection.found`.")
        return self.found

    @property
    def requirements(self) -> int:
        """The number of requirements; of ``distance`` the number of sensitive cells."""
        return len(self.found.moved) if isinstance(self.found, Distances) else len(self.found.verdicts)

    @property
    def met(self) -> int:
        """The number of requirements that are met; of ``distance`` the number of cells that moved far enough."""
        if isinstance(self.found, Distances):
            return int(self.found.moved.sum())
        return self.found.count(MET)

    @property
    def secondary(self) -> NDArray[np.int64]:
        """The cells that are hidden to protect others, increasing."""
        return np.flatnonzero((self.pattern.status != "shown") & ~self.risk.sensitive)

    def report(self, path: str | Path, *, title: str | None = None) -> Path:
        """Write a page to look at, and return its path. Confidential: it is for the office only.

        Parameters
        ----------
        path
            Where the page goes, an ``.html`` file; one that is there is replaced.
        title
            The page's heading, by default what the table shows.

        Raises
        ------
        SpecError
            The file cannot be written.
        """
        written: Path = late("write_result_page")(self, path, title=title)
        return written

    def __repr__(self) -> str:
        close = "optimal to within 0.01%" if self.nearly else f"bound {self.bound:,.10g}, gap {self.gap:.2%}"
        said = "optimal" if self.optimal else close
        how = " or ".join(word for word in STATUSES[1:] if (self.pattern.status == word).any()) or "hidden"
        return (
            f"Protection({self.method.name}: {int(self.risk.sensitive.sum()):,} sensitive and "
            f"{len(self.secondary):,} other cells {how}, cost {self.cost:,.10g}, {said})"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{self!r}</pre>"
