from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from celosia.errors import SpecError
from celosia.risk.attacker import Attacker
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.link import link
from celosia.table.table import Table

Make = Callable[..., Table]


def test_the_usual_attacker_knows_that_values_are_not_negative(contributed: Make) -> None:
    attacker = Attacker.external(contributed({"a": [1], "b": [0]}))
    assert [attacker.bounds(cell) for cell in range(3)] == [(Fraction(0), None)] * 3
    assert len(attacker) == 3


def test_of_a_variable_that_is_negative_somewhere_he_knows_nothing(contributed: Make) -> None:
    attacker = Attacker.external(contributed({"a": [1], "b": [-1]}))
    assert [attacker.bounds(cell) for cell in range(3)] == [(None, None)] * 3


def test_signs_are_known_variable_by_variable(contributed: Make) -> None:
    profit = contributed({"a": [1], "b": [-1]})
    turnover = contributed({"a": [5], "b": [6]})
    renamed = Table(
        turnover.axes, turnover.codes, ("turnover",), turnover.variable, turnover.amounts, turnover.relations
    )
    attacker = Attacker.external(link([profit, renamed]))
    assert [attacker.bounds(cell)[0] for cell in range(6)] == [None] * 3 + [0] * 3


def test_the_attacker_of_the_thesis_knows_a_factor(contributed: Make) -> None:
    attacker = Attacker.factor(contributed({"a": [1.5], "b": [0.0]}), 11)
    assert attacker.bounds(0) == (Fraction(0), Fraction("16.5"))
    assert attacker.bounds(2) == (Fraction(0), Fraction("1.1"))


def test_a_factor_beyond_64_bits_is_exact_or_refused(contributed: Make) -> None:
    table = contributed({"a": [2**60], "b": [2**60]})
    try:
        attacker = Attacker.factor(table, 11)
    except SpecError:
        return
    assert attacker.bounds(0)[1] in {11 * 2**61, None}


def test_factors_that_make_no_sense_are_refused(contributed: Make) -> None:
    with pytest.raises(SpecError, match="factor: must be at least 1, not 0"):
        Attacker.factor(contributed({"a": [1]}), 0)
    with pytest.raises(SpecError, match="factor: makes no sense for a table with negative values"):
        Attacker.factor(contributed({"a": [1], "b": [-1]}), 11)


def test_whose_bounds_the_table_refutes_is_found_out(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [2]})
    attacker = Attacker("neighbour", Fixed(np.array([0, 11, 19]), 1), Fixed(np.array([INFINITE, 20, 21]), 1))
    assert attacker.knows(table).tolist() == [True, False, True]
    nothing = Attacker("nobody", Fixed(np.full(3, -INFINITE)), Fixed(np.full(3, INFINITE)))
    assert nothing.knows(table).all()
