from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from celosia import Attacker, PPercent, Requirement, Table, assess
from celosia.risk.requirement import Requirements
from celosia.table.fixed import Fixed

Make = Callable[..., Table]


def test_requirements_are_exact_one_by_one() -> None:
    many = Requirements(
        np.array([4, 7]), np.array([0, 1], dtype=np.int32), Fixed(np.array([5, 0]), 1), Fixed(np.array([15, 25]), 1),
        Fixed(np.array([0, 1])),
    )  # fmt: skip
    assert len(many) == 2
    assert list(many) == [
        Requirement(4, 0, Fraction(1, 2), Fraction(3, 2), Fraction(0)),
        Requirement(7, 1, Fraction(0), Fraction(5, 2), Fraction(1)),
    ]


def test_every_sensitive_cell_is_protected_against_every_attacker(contributed: Make) -> None:
    """Ten percent of 30, and of 9, which is less than a unit."""
    table = contributed({"a": [30, 20], "b": [50, 40, 30], "c": [9]})
    attackers = [Attacker.external(table), Attacker.factor(table, 11)]
    risk = assess(table, PPercent(10), attackers=attackers)
    found = {
        (table.label(each.cell), each.attacker, each.lower, each.upper, each.sliding) for each in risk.requirements
    }
    assert found == {
        (label, attacker, level, level, Fraction(0))
        for label, level in (("a", Fraction(3)), ("c", Fraction(1)))
        for attacker in (0, 1)
    }


def test_a_table_without_sensitive_cells_requires_nothing(contributed: Make) -> None:
    assert list(assess(contributed({"a": [30, 20, 10]}), PPercent(10)).requirements) == []
