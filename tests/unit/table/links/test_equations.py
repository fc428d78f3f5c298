from __future__ import annotations

import numpy as np
import pytest

from celosia import SpecError
from celosia.table.lattice import Lattice
from celosia.table.links.equations import parse_equation, variable_relations


@pytest.mark.parametrize(
    ("text", "coefficients"),
    [
        ("turnover = domestic + export", {"turnover": -1, "domestic": 1, "export": 1}),
        ("profit=income-cost", {"profit": -1, "income": 1, "cost": -1}),
        ("a + b = c", {"a": -1, "b": -1, "c": 1}),
        ("total = 2*half", {"total": -1, "half": 2}),
        ("net sales = gross sales - 3 * returned goods", {"net sales": -1, "gross sales": 1, "returned goods": -3}),
        ("x = - y", {"x": -1, "y": -1}),
        ("a = b + b", {"a": -1, "b": 2}),
        ("a = a + b", {"b": 1}),
    ],
)
def test_equations_are_read_as_people_write_them(text: str, coefficients: dict[str, int]) -> None:
    assert parse_equation(text) == coefficients


@pytest.mark.parametrize("text", ["a + b", "a = b = c", "= b", "a =", "a = b c * d", "a = * b"])
def test_what_is_no_equation_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"needs one equals sign|cannot be read|has nothing on one side"):
        parse_equation(text)


def test_an_equation_that_says_nothing_is_refused_or_ignored() -> None:
    lattice = Lattice.of_codes(np.array([[0, 0]], dtype=np.int32), [1, 1])
    try:
        found = variable_relations(["v = v"], ["v"], lattice)
    except SpecError as error:
        assert error.problems[0].place == "relations[0]"  # noqa: PT017
    else:
        assert sum(len(relations) for relations in found) == 0


def test_relations_hold_wherever_all_their_variables_exist() -> None:
    codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], dtype=np.int32)
    lattice = Lattice.of_codes(codes, [3, 2])
    (relations,) = variable_relations(["all = home + away"], ["all", "home", "away"], lattice)
    assert [relations.terms(number) for number in range(len(relations))] == [[(0, -1), (2, 1), (4, 1)]]


def test_every_problem_of_every_text_is_reported() -> None:
    lattice = Lattice.of_codes(np.array([[0, 0]], dtype=np.int32), [2, 1])
    with pytest.raises(SpecError) as caught:
        variable_relations(
            ["turnover = domestc", "no equation", "domestic = export"], ["turnover", "domestic"], lattice
        )
    assert [problem.place for problem in caught.value.problems] == ["relations[0]", "relations[1]", "relations[2]"]
    assert "'domestc' is not a variable of the tables. Did you mean 'domestic'?" in str(caught.value)
    assert "'no equation' needs one equals sign. Write it like" in str(caught.value)
