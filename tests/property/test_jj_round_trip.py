from __future__ import annotations

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many

from celosia import DataError, Risk, read_jj, write_jj
from celosia.risk.risk import Levels
from celosia.table.fixed import Fixed


@dataclass(frozen=True)
class Cell:
    """One cell as texts of a file."""

    value: str
    cost: str
    status: str
    lower: str
    upper: str
    levels: tuple[str, str, str]

    def line(self, number: int) -> str:
        return " ".join([str(number), self.value, self.cost, self.status, self.lower, self.upper, *self.levels])


@dataclass(frozen=True)
class Equation:
    """One equation as texts of a file, and its terms."""

    right: str
    terms: dict[int, int]
    spacing: str

    def line(self) -> str:
        said = " ".join(self.spacing.format(cell, factor) for cell, factor in self.terms.items())
        return f"{self.right} {len(self.terms)} : {said}"


def decimal(count: int, decimals: int) -> str:
    """Return a count of the last decimal as text."""
    return Fixed.of_counts(np.array([count], dtype=object), decimals).texts()[0]


levels = st.one_of(
    st.floats(1e-30, 1e12).map(repr),
    st.integers(0, 10**6).map(str),
    st.builds("{}e{}".format, st.integers(1, 99), st.integers(-15, 15)),
)
costs = st.one_of(st.floats(0, allow_infinity=False).map(repr), st.sampled_from(["1", "1e3", "0.1E-2", "20000"]))


@st.composite
def cells(draw: st.DrawFn, decimals: int) -> Cell:
    count = draw(st.integers(-(10**9), 10**9))
    value = f"{count}e-{decimals}" if draw(st.booleans()) else decimal(count, decimals)
    below, above = (draw(st.one_of(st.none(), st.integers(0, 10**12))) for _ in range(2))
    lower = "-inf" if below is None else decimal(count * 1000 - below, decimals + 3)
    upper = "inf" if above is None else decimal(count * 1000 + above, decimals + 3)
    status = draw(st.sampled_from("suzmSUZM"))
    known = draw(st.tuples(levels, levels, levels).filter(lambda three: any(float(level) > 0 for level in three)))
    return Cell(value, draw(costs), status, lower, upper, known if status in "uU" else ("0", "0.0", "0e5"))


@st.composite
def equations(draw: st.DrawFn, table: list[Cell], decimals: int) -> Equation:
    chosen = draw(st.lists(st.integers(0, len(table) - 1), unique=True, max_size=6))
    factors = st.integers(-9, 9).filter(bool)
    terms = {cell: draw(factors) for cell in chosen}
    total = sum((factor * Fraction(table[cell].value) for cell, factor in terms.items()), Fraction(0))
    right = decimal(int(total * 10**decimals), decimals)
    return Equation(right, terms, draw(st.sampled_from(["{} ({})", "{}({})", "{} ( {} )"])))


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Cell], list[Equation]]:
    decimals = draw(st.integers(0, 4))
    table = draw(st.lists(cells(decimals), min_size=1, max_size=8))
    return table, draw(st.lists(equations(table, decimals), max_size=5))


def text_of(table: list[Cell], relations: list[Equation]) -> str:
    lines = ["0", str(len(table)), *(cell.line(number) for number, cell in enumerate(table)), str(len(relations))]
    return "\n".join([*lines, *(equation.line() for equation in relations), ""])


def read_text(text: str) -> Risk:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jj")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return read_jj(path)


def rewritten(risk: Risk) -> Risk:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jj")
        write_jj(risk, path)
        return read_jj(path)


def exact(numbers: Fixed) -> list[Fraction | float]:
    doubles = numbers.floats
    return [float(doubles[k]) if numbers.infinite[k] else numbers.fraction(k) for k in range(len(numbers))]


def content(risk: Risk) -> dict[str, object]:
    """Return everything that a file says, whatever the decimals in which it is kept."""
    table, (attacker,) = risk.table, risk.attackers
    return {
        "values": exact(table.amounts),
        "cost": [repr(cost) for cost in risk.cost.tolist()],
        "status": risk.status.tolist(),
        "bounds": (exact(attacker.lower), exact(attacker.upper)),
        "levels": (exact(risk.levels.lower), exact(risk.levels.upper), exact(risk.levels.sliding)),
        "terms": [table.relations.terms(k) for k in range(len(table.relations))],
        "right": [Fraction(count, 10**table.decimals) for count in table.relations.right.tolist()],
    }


@few_and_many(20, 400, problems())
def test_a_file_is_read_digit_by_digit(problem: tuple[list[Cell], list[Equation]]) -> None:
    table, relations = problem
    said = content(read_text(text_of(table, relations)))

    def numbers(texts: list[str]) -> list[Fraction | float]:
        return [float(text) if "inf" in text else Fraction(text) for text in texts]

    assert said == {
        "values": numbers([cell.value for cell in table]),
        "cost": [repr(float(cell.cost) + 0.0) for cell in table],
        "status": [cell.status.lower() for cell in table],
        "bounds": (numbers([cell.lower for cell in table]), numbers([cell.upper for cell in table])),
        "levels": tuple(numbers([cell.levels[k] for cell in table]) for k in range(3)),
        "terms": [sorted(equation.terms.items()) for equation in relations],
        "right": numbers([equation.right for equation in relations]),
    }


@few_and_many(20, 400, problems())
def test_writing_and_reading_again_changes_nothing(problem: tuple[list[Cell], list[Equation]]) -> None:
    risk = read_text(text_of(*problem))
    again = rewritten(risk)
    assert content(again) == content(risk)
    assert again.table.decimals == risk.table.decimals
    assert again.table.notes == ()


@few_and_many(20, 400, problems(), st.data())
def test_levels_of_any_fineness_survive(problem: tuple[list[Cell], list[Equation]], data: st.DataObject) -> None:
    risk = read_text(text_of(*problem))
    decimals = data.draw(st.integers(0, 15))
    counts = [data.draw(st.integers(1, 10**25)) if says else 0 for says in risk.sensitive.tolist()]
    fine = Fixed.of_counts(np.array(counts, dtype=object), decimals)
    sliding = Risk(risk.table, risk.status, Levels(fine, fine, fine), risk.cost, risk.attackers)
    assert content(rewritten(sliding)) == content(sliding)


@few_and_many(20, 400, problems(), st.integers(-3, 3))
def test_relations_hold_exactly_after_rounding(problem: tuple[list[Cell], list[Equation]], miss: int) -> None:
    table, relations = problem
    rounded = [
        Equation(str(int(Fraction(equation.right)) + miss), equation.terms, equation.spacing) for equation in relations
    ]
    try:
        risk = read_text(text_of(table, rounded))
    except DataError:
        return
    assert not risk.table.relations.residuals(risk.table.amounts.counts).any()
    assert content(rewritten(risk)) == content(risk)


RUBBISH = [
    "",
    "x",
    "-1",
    "nan",
    "inf",
    "1e400",
    "0e-999999999",
    "1_0",
    ":",
    "(",
    ")",
    "3 (1)",
    "u",
    "0.5",
    "9" * 30,
    "\0",
    "é",
    "\n",
]


@few_and_many(20, 400, problems(), st.data())
def test_a_damaged_file_is_read_or_refused_and_never_breaks_the_reader(
    problem: tuple[list[Cell], list[Equation]], data: st.DataObject
) -> None:
    text = text_of(*problem)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + data.draw(st.sampled_from(RUBBISH)) + text[end:]
    try:
        risk = read_text(text)
    except DataError as error:
        unplaced = [problem for problem in error.problems if not problem.place]
        refused = len(error.problems)
    else:
        assert content(rewritten(risk)) == content(risk)
        return
    assert refused <= 21
    assert len(unplaced) == (refused == 21)


@few_and_many(20, 400, st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.jj")
        path.write_bytes(content)
        try:
            read_jj(path)
        except DataError:
            return
