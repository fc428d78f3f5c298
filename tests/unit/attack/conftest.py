"""Bare tables of a few cells, and attackers on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
import pytest
from tests.oracles.bare_tables import make_table

from celosia import Attacker, Risk, Table
from celosia.attack.system.system import System, attacker_system
from celosia.risk.risk import Levels
from celosia.table.fixed import INFINITE, Fixed

Ends = Sequence[int | None]


class MakeTable(Protocol):
    def __call__(
        self, rows: Sequence[Sequence[int]], values: Sequence[int], *, decimals: int = 0, counts: bool = False
    ) -> Table: ...


class MakeAttacker(Protocol):
    def __call__(self, lower: Ends, upper: Ends, *, decimals: int = 0) -> Attacker: ...


class MakeRisk(Protocol):
    def __call__(
        self, table: Table, levels: Mapping[int, tuple[int, int, int]], *attackers: Attacker, decimals: int = 0
    ) -> Risk: ...


class MakeSystem(Protocol):
    def __call__(
        self, rows: Sequence[Sequence[int]], down: Sequence[int | None], up: Sequence[int | None]
    ) -> System: ...


def make_attacker(lower: Ends, upper: Ends, *, decimals: int = 0) -> Attacker:
    lowest = np.array([-INFINITE if end is None else end for end in lower], dtype=np.int64)
    highest = np.array([INFINITE if end is None else end for end in upper], dtype=np.int64)
    return Attacker("somebody", Fixed(lowest, decimals), Fixed(highest, decimals))


@pytest.fixture
def bare() -> MakeTable:
    """Return a maker of tables from coefficients and counts; what relations sum to is what the values sum to."""
    return make_table


@pytest.fixture
def attacker() -> MakeAttacker:
    """Return a maker of attackers from bounds, None where there is none."""
    return make_attacker


@pytest.fixture
def risky() -> MakeRisk:
    """Return a maker of risks from lower, upper and sliding levels by cell."""

    def make(table: Table, levels: Mapping[int, tuple[int, int, int]], *attackers: Attacker, decimals: int = 0) -> Risk:
        numbers = np.zeros((3, len(table)), dtype=np.int64)
        for cell, own in levels.items():
            numbers[:, cell] = own
        status = np.array(["u" if cell in levels else "s" for cell in range(len(table))])
        parts = Levels(*(Fixed(part, decimals) for part in numbers))
        return Risk(table, status, parts, np.ones(len(table)), attackers or (Attacker.external(table),))

    return make


@pytest.fixture
def system() -> MakeSystem:
    """Return a maker of systems from coefficients and rooms, None for one without an end."""

    def make(rows: Sequence[Sequence[int]], down: Sequence[int | None], up: Sequence[int | None]) -> System:
        table = make_table(rows, [0] * len(down))
        knows = make_attacker([None if room is None else -room for room in down], list(up))
        return attacker_system(table, [(knows.lower, knows.upper)], names=["somebody"])

    return make
