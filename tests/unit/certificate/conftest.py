"""A small table from the papers, its release and certificate, and a way to alter certificates."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pandas as pd
import pytest

import celosia as cz
from celosia import Pattern, Release, audit, publish, verify
from celosia.certificate.canonical import digests
from celosia.certificate.certificate import Certificate
from celosia.certificate.columns import column, read_column
from celosia.certificate.verify import Verification
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.table.fixed import Fixed

FIGURE_2 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
"""Salazar (2002), Figure 1: investment of enterprises by activity (I, II, III) and region (A, B, C)."""

HIDDEN = [("II", "A"), ("II", "C"), ("III", "A"), ("III", "C")]


@dataclass
class Case:
    """A problem and its release, with a file for certificates."""

    risk: cz.Risk
    release: Release
    path: Path
    options: dict[str, Any] = field(default_factory=dict)

    def certificate(self) -> Certificate:
        """Return the certificate of the release."""
        return cz.certify(audit(self.release, self.risk, **self.options))

    def content(self) -> dict[str, Any]:
        """Return what the certificate says, free to be altered."""
        content: dict[str, Any] = json.loads(self.certificate().text())
        return content

    def write(self, content: object, *, rehash: bool = False) -> Path:
        """Write an altered certificate, on request with the hashes that belong to it."""
        if rehash and isinstance(content, dict):
            content["sha256"] = digests(content)
        self.path.write_text(json.dumps(content))
        return self.path

    def judged(self, content: object, *, rehash: bool = True, alone: bool = False) -> Verification:
        """Return what becomes of an altered certificate, beside the problem and the release or alone."""
        path = self.write(content, rehash=rehash)
        return verify(path) if alone else verify(path, self.risk, self.release)


class Columns:
    """Reads and alters the columns of a certificate."""

    @staticmethod
    def read(part: dict[str, Any]) -> list[int]:
        """Return the numbers of a column."""
        numbers: list[int] = read_column({"numbers": part["numbers"], "times": part["times"]}, "").tolist()
        return numbers

    @staticmethod
    def write(part: dict[str, Any], numbers: list[int]) -> None:
        """Give a column other numbers."""
        part |= column(np.array(numbers, dtype=object))

    def alter(self, part: dict[str, Any], place: int, number: int) -> None:
        """Give a column another number at one place."""
        numbers = self.read(part)
        numbers[place] = number
        self.write(part, numbers)


@pytest.fixture
def columns() -> Columns:
    """Return what reads and alters columns."""
    return Columns()


class MakeCase(Protocol):
    def __call__(
        self, *modes: Mode, body: list[list[int]] = ..., hidden: list[tuple[str, str]] = ..., **options: object
    ) -> Case: ...


def two_attackers(table: cz.Table) -> list[cz.Attacker]:
    return [cz.Attacker.external(table), cz.Attacker.factor(table, 11)]


def intervals(case: MakeCase) -> Case:
    """Return a case whose four cells are published as ranges."""
    made = case()
    cells = np.array([9, 11, 13, 15])
    truth = made.risk.table.amounts.counts[cells]
    return case(Interval(cells, Fixed(truth - 5), Fixed(truth + 5)), intervals=True)


def table_of(body: list[list[int]], *, counts: bool = False) -> cz.Table:
    """Return a table of rows I, II, III and columns A, B, C."""
    cells = [
        (r, c, v) for r, line in zip(["I", "II", "III"], body, strict=True) for c, v in zip("ABC", line, strict=True)
    ]
    if counts:
        records = [(r, c) for r, c, v in cells for _ in range(v)]
        return cz.tabulate(pd.DataFrame(records, columns=["r", "c"]), by=["r", "c"])
    return cz.tabulate(pd.DataFrame(cells, columns=["r", "c", "v"]), by=["r", "c"], value="v")


@pytest.fixture
def table() -> Callable[..., cz.Table]:
    """Return a maker of tables."""
    return table_of


@pytest.fixture
def case(tmp_path: Path) -> MakeCase:
    """Return a maker of cases: the cell II x C is sensitive, and the four of Figure 2 are hidden or as modes say."""

    def make(
        *modes: Mode, body: list[list[int]] = FIGURE_2, hidden: list[tuple[str, str]] = HIDDEN, **options: object
    ) -> Case:
        counts = bool(options.pop("counts", False))
        attackers: Any = options.pop("attackers", None)
        made = table_of(body, counts=counts)
        sensitive = made.find(r="II", c="C")
        who = None if attackers is None else attackers(made)
        risk = cz.assess(made, lambda rows: np.arange(len(rows)) == sensitive, attackers=who)
        cells = [made.find(r=r, c=c) for r, c in hidden]
        pattern = Pattern.of(made, *modes) if modes else Pattern.hide(made, cells)
        return Case(risk, publish(pattern), tmp_path / "proof.json", options)

    return make
