from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from celosia import Attacker, CelosiaError, DataError, SpecError, Table, link
from celosia.table.fixed import INFINITE, Fixed

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


def bounds_of(attacker: Attacker) -> list[tuple[object, object]]:
    return [attacker.bounds(cell) for cell in range(len(attacker))]


def test_a_percentage_is_exact_and_knows_what_everybody_knows(contributed: Make) -> None:
    table = contributed({"a": [1.5], "b": [0.0]})
    half = (Fraction("1.3125"), Fraction("1.6875"))
    assert bounds_of(Attacker.percentage(table, 12.5)) == [half, half, (0, 0)]
    assert bounds_of(Attacker.percentage(table, "200")) == [(0, Fraction("4.5"))] * 2 + [(0, 0)]
    assert bounds_of(Attacker.percentage(table, 0))[0] == (Fraction("1.5"), Fraction("1.5"))
    assert Attacker.percentage(table, 10).name == "within 10%"


def test_a_percentage_of_a_negative_value_is_one_of_its_size(contributed: Make) -> None:
    attacker = Attacker.percentage(contributed({"a": [-40], "b": [10]}), 50)
    assert bounds_of(attacker) == [(-45, -15), (-60, -20), (5, 15)]


def test_percentages_that_make_no_sense_are_refused(contributed: Make) -> None:
    table = contributed({"a": [1]})
    for percent in (-1, float("inf")):
        with pytest.raises(SpecError, match="percent: must be zero or more"):
            Attacker.percentage(table, percent)
    with pytest.raises(SpecError, match="percent: is or holds no decimal number"):
        Attacker.percentage(table, "much")


def test_own_bounds_are_arrays_with_infinities(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [2]})
    attacker = Attacker.between(table, [0, 0.5, -np.inf], [np.inf, 1.25, 2])
    assert bounds_of(attacker) == [(0, None), (Fraction(1, 2), Fraction(5, 4)), (None, 2)]
    with pytest.raises(SpecError, match=r"lower: must hold a number for each of 3 cells(.|\n)*upper: must hold"):
        Attacker.between(table, [0, 0], [1, np.nan, 2])
    with pytest.raises(DataError, match=r"attacker 'own bounds': believes something .* 1 cell, the first being a"):
        Attacker.between(table, [0, 1.5, 0], [9, 9, 9])
    with pytest.raises(SpecError, match="has bounds that no number meets"):
        Attacker.between(table, [np.inf, 0, 0], [np.inf, 9, 9])


def test_there_is_a_lower_bound_for_every_upper_one() -> None:
    with pytest.raises(SpecError, match="attacker 'odd': has 2 lower bounds and 3 upper ones"):
        Attacker("odd", Fixed(np.zeros(2, dtype=np.int64)), Fixed(np.ones(3, dtype=np.int64)))


def test_somebody_may_know_other_cells_exactly_or_within_bounds(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [2], "c": [3]})
    knows = Attacker.external(table).with_knowledge(table, {1: 1, 2: ("1.5", None), 3: (-2, 3.25)}, name="neighbour")
    assert bounds_of(knows) == [(0, None), (1, 1), (Fraction(3, 2), None), (0, Fraction(13, 4))]
    assert knows.name == "neighbour"
    assert bounds_of(knows.with_knowledge(table, {})) == bounds_of(knows)


def test_knowledge_that_is_not_true_is_named(contributed: Make) -> None:
    table = contributed({"a": [1], "b": [2]})
    external = Attacker.external(table)
    with pytest.raises(DataError, match=r"attacker 'external': believes .* not true of 1 cell, the first being b"):
        external.with_knowledge(table, {2: 3})
    with pytest.raises(SpecError, match=r"there is no cell 7. Cells are 0 to 2") as error:
        external.with_knowledge(table, {7: 1, -1: 2, 0: "three"})
    assert len(error.value.problems) == 3


def test_several_together_have_the_narrower_bounds(contributed: Make) -> None:
    table = contributed({"a": [1.5], "b": [2.0]})
    one = Attacker.between(table, [-np.inf, 1, 0.25], [4, np.inf, 3], "one")
    other = Attacker.between(table, [-np.inf, 1.25, 0], [5, 1.5, np.inf], "other")
    both = Attacker.together([one, other])
    assert both.name == "one and other"
    assert bounds_of(both) == [(None, 4), (Fraction(5, 4), Fraction(3, 2)), (Fraction(1, 4), 3)]
    assert bounds_of(Attacker.together([other, one])) == bounds_of(both)
    with pytest.raises(SpecError, match="have bounds for different numbers of cells"):
        Attacker.together([one, Attacker.external(contributed({"a": [1]}))])
    with pytest.raises(SpecError, match="attackers: are missing"):
        Attacker.together([])


def test_bounds_beyond_64_bits_are_compared_as_they_are(contributed: Make) -> None:
    table = contributed({"a": [2**60], "b": [2**60]})
    together = Attacker.together([Attacker.factor(table, 11), Attacker.percentage(table, "0.5")])
    assert bounds_of(together)[1] == (Fraction(2**60 * 199, 200), Fraction(2**60 * 201, 200))
    assert together.knows(table).all()


def test_messages_carry_no_value(contributed: Make) -> None:
    table = contributed({"a": [1234], "b": [5678]})
    with pytest.raises(CelosiaError) as error:
        Attacker.external(table).with_knowledge(table, {1: 4321})
    assert not {"1234", "5678", "4321"} & set(str(error.value).split())
