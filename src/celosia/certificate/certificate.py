"""Certificates: what an audit found, with all that is needed to check it without audit or solver."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import takes
from celosia.attack.findings import MET, Conclusions, Verdicts
from celosia.attack.result import Audit
from celosia.attack.subproblems.questions import Answers
from celosia.certificate.canonical import (
    ALL_REACHED,
    CONFIDENTIAL,
    FORMAT,
    FORMAT_VERSION,
    NO_RANGES,
    NOT_SAFE,
    SAFE,
    SOME_REACHED,
    digests,
    release_part,
    requirements_part,
    respondents_part,
    table_part,
    whole_part,
)
from celosia.certificate.columns import column
from celosia.certificate.judge import WitnessJudge
from celosia.certificate.ranges import Ranges, ranges_of
from celosia.certificate.read import claim_of
from celosia.certificate.respondents.judge import judge_respondents
from celosia.certificate.respondents.tables import (
    CoverTables,
    TargetTables,
    collect_tables,
    keep_used,
    write_tables,
)
from celosia.certificate.witnesses import WitnessCollector
from celosia.errors import DataError, SpecError
from celosia.files import all_or_nothing
from celosia.pattern.entries import ADJUSTED
from celosia.progress import SILENT, Progress
from celosia.risk.respondents.joint import joint_cells_of
from celosia.table.table import find_broken_cells
from celosia.version import __version__


@runtime_checkable
class Audited(Protocol):
    """What was audited, such as the result of a protection."""

    @property
    def audit(self) -> Audit:
        """What was found."""
        ...


@dataclass(frozen=True, eq=False)
class Certificate:
    """A proof that a release is safe, or of as much of that as holds. Confidential: it holds true values.

    Parameters
    ----------
    content
        What the file says, in texts, whole numbers, lists and dictionaries.
    counts
        How many requirements, requirements proved and tables there are.
    """

    content: Mapping[str, Any]
    counts: Mapping[str, int]

    @property
    def verdict(self) -> str:
        """``safe``, or ``not safe`` where a requirement has no tables that prove it."""
        return str(self.content["verdict"])

    @property
    def safe(self) -> bool:
        """Tables prove every requirement."""
        return self.verdict == SAFE

    def text(self) -> str:
        """Return the file: JSON, a line for each part."""
        lines = (f"{json.dumps(name)}: {json.dumps(part, allow_nan=False)}" for name, part in self.content.items())
        return "{\n" + ",\n".join(lines) + "\n}\n"

    def write(self, path: str | Path) -> None:
        """Write the certificate; the file appears whole or not at all.

        Parameters
        ----------
        path
            The file to write; one that is there is replaced.

        Raises
        ------
        SpecError
            The file cannot be written.
        """
        with all_or_nothing([Path(path)]) as stand_ins:
            stand_ins[Path(path)].write_text(self.text(), encoding="ascii", newline="\n")

    def __repr__(self) -> str:
        counts = self.counts
        return (
            f"Certificate({self.verdict}: {counts['requirements_proved']:,} of {counts['requirements']:,} requirements "
            f"proved by {counts['tables']:,} tables)"
        )


@takes(audited=(Audited, Audit))
def certify(audited: Audit | Audited, *, time_limit: float | None = None, progress: Progress = SILENT) -> Certificate:
    """Return the certificate of an audit, or of a protection that was audited.

    Guarantee: the verdict is ``safe`` only if every requirement has two tables that satisfy the relations, agree with
    everything published and with what the attacker knows, and reach what it asks for, in exact arithmetic. That is
    the judge's word; `celosia.certificate.verify.verify` asks it again, and trusts nothing in here. Where contributors
    attack each other, there must be tables that protect each of them from every coalition of the others, too.

    Parameters
    ----------
    audited
        What was found. Of an audit that is not safe the certificate proves the requirements that are met.
    time_limit
        Seconds for integer programs that look for the ends of published ranges.
    progress
        Hears about long steps.

    Raises
    ------
    SpecError
        Cells are adjusted: distance from the truth protects them, and no interval.
    DataError
        Attackers knew that values are whole numbers, and they are not.
    """
    audit = audited if isinstance(audited, Audit) else audited.audit
    _check(audit)
    witnesses = WitnessCollector()
    proofs = _proofs(audit, witnesses)
    ranges = ranges_of(audit, witnesses, time_limit, progress)
    joint = joint_cells_of(audit.risk.table) if audit.risk.respondents else None
    proved = witnesses if joint is None else WitnessCollector()  # tables in which joint cells move are apart
    every = proved.copy()
    contributors = _contributors(audit, every, progress)
    content: dict[str, Any] = {
        "confidential": True,
        "note": CONFIDENTIAL,
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": {"celosia": __version__, "python": platform.python_version(), "solver": audit.solver},
        "verdict": NOT_SAFE,
        "whole_numbers": whole_part(audit.risk.table, audit.integer),
        "sha256": dict.fromkeys(("table", "requirements", "release", "certificate"), ""),
        "table": table_part(audit.risk.table),
        "requirements": requirements_part(audit.risk),
        "release": release_part(audit.release),
        "respondents": respondents_part(audit.risk),
        "proofs": _columns(*proofs),
        "ranges": _write_ranges(ranges),
        "contributors": write_tables(contributors),
        "witnesses": (every if joint is None else witnesses).content(),
        **({} if joint is None else {"joint": {"cells": joint.n_joint, "witnesses": every.content()}}),
    }
    # Nothing is claimed that the judge would not grant.
    claim = claim_of(content)
    tables = WitnessJudge(claim)
    unproved = np.logical_or.reduce([wrong for wrong, _, _ in tables.requirement_findings()])
    content["proofs"] = _columns(*(np.where(unproved, -1, side) for side in proofs))
    judged = judge_respondents(claim, tables, audit.risk) if audit.risk.respondents else []
    content["verdict"] = NOT_SAFE if unproved.any() or any(found.unproved for found in judged) else SAFE
    content["ranges"] = _write_ranges(ranges.without(tables.unreached_ranges()))
    used = [found.used for found in judged]
    kept = keep_used(contributors, lambda rule, target: used[rule].get(target, frozenset()))
    content["contributors"] = write_tables(_renumber(kept, every, proved))
    content["witnesses"] = witnesses.content()
    if joint is not None:
        content["joint"]["witnesses"] = proved.content()
    content["sha256"] = digests(content)
    many = len(witnesses) + (0 if joint is None else len(proved))
    counts = {"requirements": len(unproved), "requirements_proved": int((~unproved).sum()), "tables": many}
    return Certificate(MappingProxyType(content), MappingProxyType(counts))


def _contributors(
    audit: Audit, witnesses: WitnessCollector, progress: Progress
) -> tuple[tuple[TargetTables, ...], ...]:
    """Return tables that protect contributors from each other, where they attack: they are looked for once more."""
    if not audit.risk.respondents or not audit.safe:
        return ()
    from celosia.attack.respondents.audit import audit_respondents  # noqa: PLC0415 - most certificates need none of it

    found = audit_respondents(audit.release, audit.risk, prove=True, progress=progress)
    return collect_tables(found, witnesses) if found.safe else ()


def _renumber(
    kept: tuple[tuple[TargetTables, ...], ...], every: WitnessCollector, witnesses: WitnessCollector
) -> list[list[TargetTables]]:
    """Return the tables of contributors as places among the witnesses, to which those are added that are missing."""

    def place(table: int) -> int:
        return table if table < 0 else witnesses.take(every, table)

    return [
        [
            TargetTables(
                one.target,
                one.cells,
                tuple(CoverTables(own.signs, place(own.table), tuple(map(place, own.steps))) for own in one.covers),
            )
            for one in some
        ]
        for some in kept
    ]


def _check(audit: Audit) -> None:
    """Refuse what has no proof by intervals."""
    adjusted = int((audit.release.status == ADJUSTED).sum())
    if adjusted:
        seen = f"has {adjusted} adjusted cells: their protection is distance from the truth, and no interval."
        raise SpecError.one("release", seen, "Only releases that are protected by intervals have a certificate.")
    if len(find_broken_cells(audit.risk.table, audit.whole)):
        known = "all" if audit.integer else "counts"
        seen = f"has values that are no whole numbers, and attackers are said to know that {known} are."
        raise DataError.one("table", seen, "Audit it with integer=False.")


def _proofs(audit: Audit, witnesses: WitnessCollector) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of the two tables of every requirement, -1 where it is not met.

    A reach without end comes without a table. The audit follows requirements only as far as they go, so that their
    answers have one; where a level is beyond what it can count, the requirement stays unproved.
    """
    wanted, found, met = audit.risk.requirements, *_collect_verdicts(audit)
    place_of = {key: place for place, key in enumerate(found.keys())}
    keys = zip(wanted.cells.tolist(), wanted.attackers.tolist(), strict=True)
    order = np.array([place_of.get(key, -1) for key in keys], dtype=np.int64)
    down, up = np.full(len(wanted), -1, dtype=np.int64), np.full(len(wanted), -1, dtype=np.int64)
    for number, system in enumerate(audit.systems):
        own = np.flatnonzero((wanted.attackers == number) & (order >= 0))
        asked = met[order[own]]
        down[own] = witnesses.add(found.down.take(order[own]), system, asked)
        up[own] = witnesses.add(found.up.take(order[own]), system, asked)
    return down, up


def _collect_verdicts(audit: Audit) -> tuple[Conclusions, NDArray[np.bool_]]:
    """Return what was found about the requirements, and which are met."""
    if isinstance(audit.verdicts, Verdicts):
        return audit.verdicts.findings, np.asarray(audit.verdicts.results == MET)
    findings = [verdict.finding for verdict in audit.verdicts]
    cells = np.array([finding.cell for finding in findings], dtype=np.int64)
    attackers = np.array([finding.attacker for finding in findings], dtype=np.int32)
    decimals = np.zeros(len(cells), dtype=np.int64)
    for number, system in enumerate(audit.systems):
        decimals[attackers == number] = system.digits_of(cells[attackers == number])
    down, up = (Answers.of_list([getattr(finding, side) for finding in findings]) for side in ("down", "up"))
    met = np.array([verdict.result == MET for verdict in audit.verdicts], dtype=bool)
    return Conclusions(cells, attackers, audit.risk.table.amounts[cells], decimals, down, up), met


def _columns(down: NDArray[np.int64], up: NDArray[np.int64]) -> dict[str, Any]:
    return {"down": column(down), "up": column(up)}


def _write_ranges(ranges: Ranges) -> dict[str, Any]:
    """Return the ranges that are reached, and whether all are."""
    complete = ALL_REACHED if len(ranges.cells) == ranges.published else SOME_REACHED
    claim = complete if ranges.published else NO_RANGES
    return {"claim": claim, "cells": column(ranges.cells), **_columns(ranges.down, ranges.up)}
