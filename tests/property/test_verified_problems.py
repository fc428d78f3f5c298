"""Whose problem a certificate is about: proved for the problem and the release it was made of, and for no other.

The oracle is arithmetic on one line: of a row of cells under a total that is shown, somebody who knows that values are
not negative concludes ``0 .. h`` about a hidden one, h being the sum of the hidden ones; and its value if it is alone.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many

import celosia as cz
from celosia.table.fixed import Fixed

LEVEL = Fraction(1, 5)
"""An own rule asks for a fifth of the value to both sides."""


TABLE = cz.tabulate(pd.DataFrame({"code": list("abcdef"), "value": range(1, 7)}), by=["code"], value="value")


def table_of(values: Sequence[int]) -> cz.Table:
    """Return a row of cells under its total; one that is not drawn is zero."""
    row = [*values, *[0] * (len(TABLE) - 1 - len(values))]
    return replace(TABLE, amounts=Fixed(np.array([sum(row), *row])), statistics=None, contributions=None)


def problem_of(table: cz.Table, sensitive: Collection[int]) -> cz.Risk:
    places = [k + 1 for k in sensitive]
    return cz.assess(table, lambda rows: np.isin(np.arange(len(rows)), places))


def is_safe(values: Sequence[int], sensitive: Collection[int], hidden: Collection[int]) -> bool:
    together = sum(values[k] for k in hidden)
    return all(k in hidden and len(hidden) > 1 and together - values[k] >= LEVEL * values[k] for k in sensitive)


@st.composite
def drawn(draw: st.DrawFn) -> tuple[list[int], set[int], set[int], set[int]]:
    """Draw values, the sensitive cells, those of which a forger speaks, and the hidden ones."""
    values = draw(st.lists(st.integers(1, 60), min_size=3, max_size=6))
    cells = st.sets(st.sampled_from(range(len(values))))
    sensitive = draw(cells.filter(bool))
    spoken = draw(st.one_of(st.just(sensitive), cells))
    return values, sensitive, spoken, draw(cells)


@few_and_many(25, 250, drawn())
def test_a_certificate_proves_its_own_problem_and_release_only(
    case: tuple[list[int], set[int], set[int], set[int]],
) -> None:
    values, sensitive, spoken, hidden = case
    table = table_of(values)
    problem, claimed = problem_of(table, sensitive), problem_of(table, spoken)
    places = [k + 1 for k in sorted(hidden)]
    release = cz.publish(cz.Pattern.hide(problem.table, places))
    certificate = cz.certify(cz.audit(release, claimed))
    assert certificate.safe == is_safe(values, spoken, hidden)
    found = cz.verify(certificate, problem, release)
    assert found.proved == (spoken == sensitive and is_safe(values, sensitive, hidden))
    assert not cz.verify(certificate).proved
    assert not cz.verify(certificate, problem).proved
    assert not cz.verify(certificate, release=release).proved
    other = cz.publish(cz.Pattern.hide(problem.table, sorted({*places} ^ {1})))
    assert not cz.verify(certificate, problem, other).proved
