"""Certificates: what an audit found, with everything that somebody needs who believes neither it nor the solver."""

from __future__ import annotations

import contextlib
import json
import platform
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from celosia.attack.audit import MET, Audit, Finding, Verdict
from celosia.certify.canonical import (
    ALL_REACHED,
    CONFIDENTIAL,
    FORMAT,
    FORMAT_VERSION,
    NO_RANGES,
    NOT_CERTIFIED,
    NOT_SAFE,
    SAFE,
    SOME_REACHED,
    digests,
    release_part,
    requirements_part,
    table_part,
)
from celosia.certify.witnesses import Witnesses, moved
from celosia.errors import DataError, SpecError
from celosia.pattern.entries import ADJUSTED, INTERVAL
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed
from celosia.version import __version__


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
    """

    content: Mapping[str, Any]

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
        target = Path(path)
        temporary = target.parent / f".{uuid.uuid4().hex}.tmp"
        try:
            with temporary.open("x", encoding="ascii", newline="\n") as file:
                file.write(self.text())
            temporary.replace(target)
        except OSError as error:
            raise SpecError.one(str(path), f"cannot be written: {error.strerror}.") from error
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()

    def __repr__(self) -> str:
        proofs = self.content["proofs"]
        proved = sum(proof is not None for proof in proofs)
        tables = len(self.content["witnesses"])
        return f"Certificate({self.verdict}: {proved:,} of {len(proofs):,} requirements proved by {tables:,} tables)"


def certify(audited: Audit | Audited, *, versions: Mapping[str, str] | None = None) -> Certificate:
    """Return the certificate of an audit, or of a protection that was audited.

    Guarantee: the verdict is ``safe`` only if every requirement has two tables that reach what it asks for, in exact
    arithmetic; whether they satisfy the relations and agree with everything published is for
    `celosia.certify.verify.verify` to say, which trusts nothing in here.

    Parameters
    ----------
    audited
        What was found. Of an audit that is not safe the certificate proves the requirements that are met.
    versions
        What solved, by name; by default the solvers that are installed.

    Raises
    ------
    SpecError
        Cells are adjusted: distance from the truth protects them, and no interval.
    DataError
        Attackers knew that values are whole numbers, and they are not.
    """
    audit = audited if isinstance(audited, Audit) else audited.audit
    _check(audit)
    witnesses = Witnesses()
    found = {(verdict.finding.cell, verdict.finding.attacker): verdict for verdict in audit.verdicts}
    wanted = audit.risk.requirements
    keys = zip(wanted.cells.tolist(), wanted.attackers.tolist(), strict=True)
    proofs = [_proof(audit, found.get(key), witnesses) for key in keys]
    used = {backend.name: backend.version for backend in backends()} if versions is None else dict(versions)
    content: dict[str, Any] = {
        "confidential": True,
        "note": CONFIDENTIAL,
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "versions": {"celosia": __version__, "python": platform.python_version(), **used},
        "verdict": NOT_SAFE if None in proofs else SAFE,
        "whole_numbers": audit.integer,
        "sha256": {},
        "table": table_part(audit.risk.table),
        "requirements": requirements_part(audit.risk),
        "release": release_part(audit.release),
        "proofs": proofs,
        "ranges": _ranges(audit, witnesses),
        "witnesses": witnesses.entries,
    }
    content["sha256"] = digests(content)
    return Certificate(MappingProxyType(content))


def _check(audit: Audit) -> None:
    """Refuse what has no proof by intervals."""
    adjusted = int((audit.release.status == ADJUSTED).sum())
    if adjusted:
        seen = f"has {adjusted} adjusted cells: their protection is distance from the truth, and no interval."
        raise SpecError.one("release", seen, "Only releases that are protected by intervals have a certificate.")
    amounts = audit.risk.table.amounts
    if audit.integer and bool((amounts.counts % 10**amounts.decimals).any()):
        seen = "has values that are no whole numbers, and attackers are said to know that all are."
        raise DataError.one("table", seen, "Audit it with integer=False.")


def _proof(audit: Audit, verdict: Verdict | None, witnesses: Witnesses) -> list[int] | None:
    """Return the tables that prove a requirement, None where they do not.

    A reach without end comes without a table. The audit follows requirements only as far as they go, so that their
    answers have one; where a level is beyond what it can count, the requirement stays unproved.
    """
    if verdict is None or verdict.result != MET:
        return None
    wanted, finding = verdict.requirement, verdict.finding
    system = audit.systems[finding.attacker]
    down = moved(finding.down, system, finding.cell, whole=audit.integer)
    up = moved(finding.up, system, finding.cell, whole=audit.integer)
    if down is None or up is None or -down < wanted.lower or up < wanted.upper or up - down < wanted.sliding:
        return None
    return [witnesses.add(finding.down, system), witnesses.add(finding.up, system)]


def _ranges(audit: Audit, witnesses: Witnesses) -> dict[str, Any]:
    """Return the tables that reach the ends of published ranges, and whether all ends are reached."""
    published = set(np.flatnonzero(audit.release.status == INTERVAL).tolist())
    if not published:
        return {"claim": NO_RANGES, "reached": []}
    findings = [finding for finding in audit.intervals if finding.cell in published]
    if not findings:
        return {"claim": NOT_CERTIFIED, "reached": []}
    entries = [_range(audit, finding, witnesses) for finding in findings]
    reached = [entry for entry in entries if entry is not None]
    complete = len(reached) == len(published) * len(audit.risk.attackers)
    return {"claim": ALL_REACHED if complete else SOME_REACHED, "reached": reached}


def _range(audit: Audit, finding: Finding, witnesses: Witnesses) -> list[int | None] | None:
    """Return a range's cell, attacker and two tables, None where they stop short of an end.

    An end that is infinite has no table and needs none.
    """
    system = audit.systems[finding.attacker]
    truth = audit.risk.table.amounts.fraction(finding.cell)
    places: list[int | None] = []
    for answer, bound in ((finding.down, audit.release.lower), (finding.up, audit.release.upper)):
        end = _finite(bound, finding.cell)
        if end is not None and moved(answer, system, finding.cell, whole=audit.integer) != end - truth:
            return None
        places.append(None if end is None else witnesses.add(answer, system))
    return [finding.cell, finding.attacker, *places]


def _finite(numbers: Fixed, cell: int) -> Fraction | None:
    return None if numbers.infinite[cell] else numbers.fraction(cell)
