"""The audit: what every attacker can conclude from a release, and whether that is too much.

Guarantee: a requirement is called met only with two tables in whole numbers that satisfy every relation, agree with
everything published and with what the attacker knows, and reach the required ends. Where such tables are not found the
verdict is *not shown safe*, whatever a solver says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.attack.answering import answers_of
from celosia.attack.questions import Answer, Questions
from celosia.attack.system import ENDLESS, System, system_of
from celosia.errors import DataError, Problems, SpecError
from celosia.pattern.pattern import Pattern
from celosia.pattern.release import Release, publish
from celosia.progress import SILENT, Progress
from celosia.risk.attacker import Attacker
from celosia.risk.requirement import Requirement
from celosia.risk.risk import Risk
from celosia.solve.backend import Backend
from celosia.solve.registry import backend as backend_named
from celosia.solve.registry import backends
from celosia.table.frames import frame_of

MET, MISSED, OPEN = "met", "missed", "not shown safe"


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """What an attacker can conclude about a cell.

    Parameters
    ----------
    cell, attacker
        Places in the table and in the list of attackers.
    lower, upper
        The ends of his interval, None where there is none; as far as it was asked for.
    exact
        Nobody gets closer: both ends are proved to be ends.
    down, up
        The tables that reach them.
    """

    cell: int
    attacker: int
    lower: Fraction | None
    upper: Fraction | None
    exact: bool
    down: Answer
    up: Answer


@dataclass(frozen=True, slots=True, eq=False)
class Verdict:
    """Whether a requirement is met.

    Parameters
    ----------
    requirement
        What is required.
    finding
        What the attacker can conclude, followed only as far as the requirement goes.
    result
        ``met``, ``missed`` or ``not shown safe``.
    """

    requirement: Requirement
    finding: Finding
    result: str


@dataclass(frozen=True, eq=False)
class Audit:
    """The result of an audit. Confidential: it holds tables that lead to true values.

    Parameters
    ----------
    risk, release
        What was audited.
    verdicts
        One per requirement.
    intervals
        What every attacker can conclude about every cell that is not shown, where that was asked for.
    systems
        What each attacker had to solve.
    integer
        Attackers knew that values are whole numbers.
    """

    risk: Risk
    release: Release
    verdicts: tuple[Verdict, ...]
    intervals: tuple[Finding, ...]
    systems: tuple[System, ...]
    integer: bool

    @property
    def safe(self) -> bool:
        """Every requirement is met."""
        return all(verdict.result == MET for verdict in self.verdicts)

    def of_result(self, result: str) -> tuple[Verdict, ...]:
        """Return the verdicts of one kind."""
        return tuple(verdict for verdict in self.verdicts if verdict.result == result)

    def columns(self) -> dict[str, Any]:
        """Return one line per cell and attacker: his interval, what is required, and whether the cell is protected."""
        required = {(verdict.finding.cell, verdict.finding.attacker): verdict for verdict in self.verdicts}
        findings = self.intervals or tuple(verdict.finding for verdict in self.verdicts)
        lines = [self._line(finding, required.get((finding.cell, finding.attacker))) for finding in findings]
        return {name: [line[name] for line in lines] for name in _COLUMNS}

    def to_frame(self, library: str | None = None) -> Any:  # noqa: ANN401
        """Return the same as a data frame."""
        return frame_of(self.columns(), library or self.risk.table.library)

    def _line(self, finding: Finding, verdict: Verdict | None) -> dict[str, Any]:
        truth = self.risk.table.amounts.fraction(finding.cell)
        wanted = None if verdict is None else verdict.requirement
        return {
            "cell": finding.cell,
            "label": self.risk.table.label(finding.cell),
            "attacker": self.risk.attackers[finding.attacker].name,
            "lower": _number(finding.lower),
            "upper": _number(finding.upper),
            "required_lower": _number(None if not wanted or not wanted.lower else truth - wanted.lower),
            "required_upper": _number(None if not wanted or not wanted.upper else truth + wanted.upper),
            "required_width": _number(None if not wanted or not wanted.sliding else wanted.sliding),
            "protected": None if verdict is None else verdict.result,
        }

    def __repr__(self) -> str:
        said = "safe" if self.safe else "not safe"
        return (
            f"Audit({said}: {len(self.of_result(MET)):,} of {len(self.verdicts):,} requirements met, "
            f"{len(self.of_result(MISSED)):,} missed, {len(self.of_result(OPEN)):,} not shown safe)"
        )


_COLUMNS = (
    "cell",
    "label",
    "attacker",
    "lower",
    "upper",
    "required_lower",
    "required_upper",
    "required_width",
    "protected",
)


def audit(
    release: Release | Pattern,
    risk: Risk,
    *,
    attackers: Sequence[Attacker] | None = None,
    intervals: bool = False,
    integer: bool | None = None,
    solver: str | None = None,
    time_limit: float | None = None,
    progress: Progress = SILENT,
) -> Audit:
    """Return what attackers can conclude from a release, and whether every requirement is met.

    Parameters
    ----------
    release
        What is published.
    risk
        The table with its sensitive cells and their requirements.
    attackers
        Who attacks; by default those of `risk`.
    intervals
        Also compute the interval of every cell that is not shown.
    integer
        Attackers know that values are whole numbers; by default where all variables are counts.
    solver
        The name of a solver; by default the best that is installed.
    time_limit
        Seconds for integer programs.
    progress
        Hears about long steps.

    Raises
    ------
    DataError
        The release does not belong to the table, or an attacker believes what is not true.
    """
    if isinstance(release, Pattern):
        release = publish(release)
    release.check(risk.table)
    who = tuple(attackers) if attackers is not None else risk.attackers
    if not who:
        raise SpecError.one("attackers", "are missing.")
    risk = replace(risk, attackers=who)
    whole = integer if integer is not None else set(risk.table.variables) <= risk.table.counts
    _check(risk, whole=whole)
    backend = backend_named(solver) if solver else backends()[0]
    verdicts: list[Verdict] = []
    findings: list[Finding] = []
    systems = []
    for number, attacker in enumerate(who):
        known = [release.bounds(), (attacker.lower, attacker.upper)]
        system = system_of(risk.table, known, names=["release", f"attacker {attacker.name!r}"], integer=whole)
        systems.append(system)
        asked = [wanted for wanted in risk.requirements if wanted.attacker == number]

        room = _Room(system, risk, number, backend, progress, whole, time_limit)
        cells = np.array([wanted.cell for wanted in asked], dtype=np.int64)
        far_down = [max(wanted.lower, wanted.sliding) for wanted in asked]
        far_up = [max(wanted.upper, wanted.sliding) for wanted in asked]
        for wanted, finding in zip(asked, room.findings(cells, far_down, far_up), strict=True):
            verdicts.append(Verdict(wanted, finding, _result(wanted, finding, risk, release)))
        if intervals:
            hidden = np.flatnonzero(release.status != "shown")
            findings += room.findings(hidden, None, None)
    return Audit(risk, release, tuple(verdicts), tuple(findings), tuple(systems), whole)


def _check(risk: Risk, *, whole: bool) -> None:
    """Refuse attackers of another table, and whole numbers that are none."""
    found = Problems()
    for attacker in risk.attackers:
        if len(attacker) != len(risk.table):
            message = f"has bounds for {len(attacker)} cells, the table has {len(risk.table)}."
            found.add(f"attacker {attacker.name!r}", message)
    if whole and bool((risk.table.amounts.counts % 10**risk.table.decimals).any()):
        found.add("integer", "the values are not all whole numbers.", "Say integer=False.")
    found.raise_as(DataError)


@dataclass(frozen=True, slots=True, eq=False)
class _Room:
    """One attacker at work."""

    system: System
    risk: Risk
    attacker: int
    backend: Backend
    progress: Progress
    integer: bool
    time_limit: float | None

    def findings(
        self, cells: NDArray[np.int64], far_down: list[Fraction] | None, far_up: list[Fraction] | None
    ) -> list[Finding]:
        """Return what the attacker can conclude about some cells, followed only so far where that is given."""
        system = self.system
        column_of = np.full(system.n_cells, -1, dtype=np.int64)
        column_of[system.cells] = np.arange(len(system))
        unknown = np.flatnonzero(column_of[cells] >= 0)
        columns = np.repeat(column_of[cells[unknown]], 2)
        limits = np.empty(len(columns), dtype=np.int64)
        limits[0::2] = _limits(far_down, unknown, system.decimals)
        limits[1::2] = _limits(far_up, unknown, system.decimals)
        questions = Questions(columns, np.tile([False, True], len(unknown)), limits)
        answers = answers_of(
            system, questions, self.backend, self.progress, integer=self.integer, time_limit=self.time_limit
        )
        known = Answer(0, 1, furthest=True, columns=columns[:0], moves=columns[:0])
        pairs = {place: (answers[2 * k], answers[2 * k + 1]) for k, place in enumerate(unknown.tolist())}
        return [self._finding(cell, *pairs.get(place, (known, known))) for place, cell in enumerate(cells.tolist())]

    def _finding(self, cell: int, down: Answer, up: Answer) -> Finding:
        truth = self.risk.table.amounts.fraction(cell)
        unit = 10**self.system.decimals
        lower = None if down.reach >= ENDLESS else truth - Fraction(down.reach, down.denominator * unit)
        upper = None if up.reach >= ENDLESS else truth + Fraction(up.reach, up.denominator * unit)
        return Finding(cell, self.attacker, lower, upper, down.furthest and up.furthest, down, up)


def _limits(far: list[Fraction] | None, places: NDArray[np.int64], decimals: int) -> NDArray[np.int64]:
    """Return how far to follow, in counts, rounded up."""
    if far is None:
        return np.full(len(places), ENDLESS, dtype=np.int64)
    return np.array([min(-(-far[place] * 10**decimals // 1), ENDLESS) for place in places.tolist()], dtype=np.int64)


def _result(wanted: Requirement, finding: Finding, risk: Risk, release: Release) -> str:
    """Return whether a requirement is met, in fractions.

    Adjusted values are protected by their distance from the truth, which no interval shows; and a requirement without
    any level would call a disclosed cell safe: neither is called met.
    """
    if release.criterion == "distance" or not (wanted.lower or wanted.upper or wanted.sliding):
        return OPEN
    truth = risk.table.amounts.fraction(wanted.cell)
    up = None if finding.upper is None else finding.upper - truth
    down = None if finding.lower is None else truth - finding.lower
    wide = up is None or down is None or up + down >= wanted.sliding
    if (up is None or up >= wanted.upper) and (down is None or down >= wanted.lower) and wide:
        return MET
    return MISSED if finding.exact else OPEN


def _number(value: Fraction | None) -> float | None:
    return None if value is None else float(value)
