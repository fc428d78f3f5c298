from __future__ import annotations

import pickle
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from tests.oracles.examples import few_and_many

from celosia import DataError, Pattern, Release, Table, publish, read_release, write_release
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.shown import Shown
from celosia.pattern.modes.suppressed import Suppressed
from celosia.table.dimension import Axis
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.relations import Relations

NAMES = ["region", "status", "cell", "sensitive", "variable", 'q"t', "a,b", "lower_", " lower", "é\n"]
LABELS = ["Total", "", "x", "a,b", 'q"t', "line\nend", "\r", " 7", "é", "shown"]


@dataclass(frozen=True)
class Cell:
    """A cell as it is published, and two values that it may have: counts of the last decimal."""

    status: str
    truth: int
    other: int
    published: int = 0
    below: int = 0
    above: int = 0
    extra: int = 0


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    """Draw a cell: what is published first, then two truths that do not contradict it."""
    size = draw(st.sampled_from([20, 10**6, 10**18, 10**25]))
    number = st.integers(-size, size).filter(lambda count: abs(count) != INFINITE)
    status = draw(st.sampled_from(["shown", "hidden", "interval", "rounded", "perturbed", "adjusted"]))
    value = draw(number)
    if status == "shown":
        return Cell(status, value, value, value)
    if status in {"hidden", "adjusted"}:
        return Cell(status, draw(number), draw(number), value)
    if status == "interval":
        width = draw(st.integers(0, size))
        truth = st.integers(value, value + width)
        return Cell(status, draw(truth), draw(truth), 0, value, value + width)
    if status == "perturbed":
        reach = draw(st.integers(0, size))
        truth = st.integers(value - reach, value + reach)
        return Cell(status, draw(truth), draw(truth), value, reach)
    base, extra = draw(st.integers(1, size)), draw(st.integers(0, 3))
    reach = (extra + 1) * base - 1
    truth = st.integers(value * base - reach, value * base + reach)
    return Cell(status, draw(truth), draw(truth), value * base, base, extra=extra)


@dataclass(frozen=True)
class Case:
    """Some cells, their labels and decimals."""

    cells: list[Cell]
    decimals: int
    axes: tuple[Axis, ...]
    codes: np.ndarray[Any, np.dtype[np.int32]]
    variables: tuple[str, ...]

    def fixed(self, counts: Sequence[int]) -> Fixed:
        return Fixed.of_counts(np.array(counts, dtype=object), self.decimals)

    def table(self, values: Sequence[int]) -> Table:
        n = len(self.cells)
        variable = (np.arange(n) % len(self.variables)).astype(np.int32)
        return Table(self.axes, self.codes, self.variables, variable, self.fixed(values), Relations.none(n))

    @property
    def truth(self) -> Table:
        return self.table([cell.truth for cell in self.cells])

    @property
    def other(self) -> Table:
        return self.table([cell.other for cell in self.cells])

    def modes(self) -> list[Mode]:
        """Return one mode per cell that is not shown."""
        made: list[Mode] = []
        for place, cell in enumerate(self.cells):
            at, value, below = np.array([place]), self.fixed([cell.published]), self.fixed([cell.below])
            if cell.status == "hidden":
                made.append(Suppressed(at))
            elif cell.status == "interval":
                made.append(Interval(at, below, self.fixed([cell.above])))
            elif cell.status == "rounded":
                made.append(Rounded(at, value, below, self.decimals, cell.extra))
            elif cell.status == "perturbed":
                made.append(Perturbed(at, value, below))
            elif cell.status == "adjusted":
                made.append(Adjusted(at, value))
        return made

    def pattern(self) -> Pattern:
        return Pattern.of(self.truth, *self.modes())


@st.composite
def cases(draw: st.DrawFn) -> Case:
    drawn = draw(st.lists(cells(), min_size=1, max_size=8))
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3))
    axes = []
    for name in names:
        labels = tuple(draw(st.lists(st.sampled_from(LABELS), unique=True, min_size=1, max_size=4)))
        axes.append(Axis(name, labels, (0,) * len(labels)))
    columns = [
        draw(st.lists(st.integers(0, len(axis.labels) - 1), min_size=len(drawn), max_size=len(drawn))) for axis in axes
    ]
    codes = np.array(columns, dtype=np.int32).reshape(len(axes), len(drawn)).T
    variables = draw(st.sampled_from([("turnover",), ("turnover", "staff, paid")])) if len(drawn) > 1 else ("turnover",)
    return Case(drawn, draw(st.integers(0, 4)), tuple(axes), codes, variables)


def exact(numbers: Fixed) -> list[Fraction | float]:
    doubles = numbers.floats
    return [float(doubles[k]) if numbers.infinite[k] else numbers.fraction(k) for k in range(len(numbers))]


def content(release: Release) -> dict[str, Any]:
    """Return all that a release says, types of the integers and decimals included."""
    numbers = {"published": release.published, "lower": release.lower, "upper": release.upper}
    return {
        "status": release.status.tolist(),
        "labels": release.labels.columns(),
        **{name: (part.decimals, part.counts.dtype, part.counts.tolist()) for name, part in numbers.items()},
    }


def text_of(release: Release, sensitive: Sequence[bool] | None = None) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.csv")
        write_release(release, path, sensitive)
        return path.read_bytes().decode()


def read_text(text: str, table: Table | None = None) -> Release:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.csv")
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        return read_release(path, table)


@few_and_many(20, 400, cases())
def test_bounds_contain_the_truth_and_are_those_of_the_design(case: Case) -> None:
    pattern = case.pattern()
    lower, upper = (exact(part) for part in pattern.bounds())
    unit = Fraction(1, 10**case.decimals)
    for place, cell in enumerate(case.cells):
        value, below, above = cell.published * unit, cell.below * unit, cell.above * unit
        reach = (cell.extra + 1) * below - unit
        expected: dict[str, tuple[Fraction | float, Fraction | float]] = {
            "shown": (value, value),
            "interval": (below, above),
            "rounded": (value - reach, value + reach),
            "perturbed": (value - below, value + below),
        }
        assert (lower[place], upper[place]) == expected.get(cell.status, (-np.inf, np.inf))
        assert lower[place] <= cell.truth * unit <= upper[place]


@few_and_many(20, 400, cases())
def test_a_release_does_not_depend_on_what_is_not_published(case: Case) -> None:
    one, other = (publish(Pattern.of(table, *case.modes())) for table in (case.truth, case.other))
    assert content(one) == content(other)
    assert pickle.dumps(one) == pickle.dumps(other)
    assert text_of(one) == text_of(other)
    one.check(case.other)


@few_and_many(20, 400, cases(), st.integers(1, 6))
def test_decimals_and_size_of_hidden_values_do_not_show(case: Case, finer: int) -> None:
    silent = [cell if cell.status == "shown" else Cell("hidden", cell.truth, cell.other) for cell in case.cells]
    plain = Case(silent, case.decimals, case.axes, case.codes, case.variables)
    scale = 10**finer
    fine = [Cell(cell.status, cell.truth * scale, cell.other * scale + 1, cell.published * scale) for cell in silent]
    values = [cell.truth if cell.status == "shown" else cell.other for cell in fine]
    finest = Case(fine, case.decimals + finer, case.axes, case.codes, case.variables)
    hidden = [place for place, cell in enumerate(silent) if cell.status == "hidden"]
    one = publish(Pattern.hide(plain.truth, np.array(hidden, dtype=np.int64)))
    other = publish(Pattern.hide(finest.table(values), np.array(hidden, dtype=np.int64)))
    assert content(one) == content(other)
    assert pickle.dumps(one) == pickle.dumps(other)


@few_and_many(20, 400, cases(), st.data())
def test_writing_and_reading_again_changes_nothing(case: Case, data: st.DataObject) -> None:
    release = publish(case.pattern())
    sensitive = data.draw(st.none() | st.lists(st.booleans(), min_size=len(release), max_size=len(release)))
    text = text_of(release, sensitive)
    for table in (None, case.truth):
        again = read_text(text, table)
        assert content(again) == content(release)
        assert text_of(again, sensitive) == text
        again.check(case.truth)


@few_and_many(20, 400, cases(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case: Case, random: Any) -> None:  # noqa: ANN401
    bare = Case(case.cells, case.decimals, (), np.zeros((len(case.cells), 0), np.int32), ("value",))
    release = publish(bare.pattern())
    header, *rows = text_of(release).splitlines(keepends=True)
    random.shuffle(rows)
    assert content(read_text(header + "".join(rows))) == content(release)


@few_and_many(20, 400, cases(), st.data())
def test_a_truth_that_is_excluded_is_noticed_and_not_told(case: Case, data: st.DataObject) -> None:
    release = publish(case.pattern())
    lower, upper = release.bounds()
    bounded = np.flatnonzero(~lower.infinite).tolist()
    if not bounded:
        return
    place = data.draw(st.sampled_from(bounded))
    beyond = data.draw(st.integers(1, 10**30))
    end, sign = data.draw(st.sampled_from([(lower, -1), (upper, 1)]))
    values = [cell.truth for cell in case.cells]
    values[place] = int(end.fraction(place) * 10**case.decimals) + sign * beyond
    table = case.table(values)
    with pytest.raises(DataError) as caught:
        release.check(table)
    assert [problem.place for problem in caught.value.problems] == [table.label(place)]
    with pytest.raises(DataError) as refused:
        Pattern.of(
            table,
            *case.modes(),
            *([Shown(np.array([place]), release.published[place])] * (case.cells[place].status == "shown")),
        )
    assert {problem.place for problem in refused.value.problems} == {table.label(place)}


@few_and_many(20, 400, cases(), st.data())
def test_the_loss_is_the_sum_over_cells_in_any_order(case: Case, data: st.DataObject) -> None:
    cost = data.draw(st.lists(st.integers(0, 1000), min_size=len(case.cells), max_size=len(case.cells)))
    unit = Fraction(1, 10**case.decimals)
    expected = Fraction(0)
    for cell, w in zip(case.cells, cost, strict=True):
        loss = {
            "hidden": Fraction(1),
            "interval": (cell.above - cell.below) * unit,
            "rounded": abs(cell.published - cell.truth) * unit,
            "perturbed": abs(cell.published - cell.truth) * unit,
            "adjusted": abs(cell.published - cell.truth) * unit,
        }.get(cell.status, Fraction(0))
        expected += w * loss
    assert case.pattern().loss(cost) == pytest.approx(float(expected), rel=1e-12)


RUBBISH = ["", "x", "-1", "nan", "inf", "1e400", "1_0", ",", '"', "\n", "\r", "\0", "é", "shown", "hidden", "9" * 30]


@few_and_many(20, 400, cases(), st.data())
def test_a_damaged_file_is_read_or_refused_and_never_breaks_the_reader(case: Case, data: st.DataObject) -> None:
    text = text_of(publish(case.pattern()))
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(start, min(len(text), start + 12)))
        text = text[:start] + data.draw(st.sampled_from(RUBBISH)) + text[end:]
    for table in (None, case.truth):
        try:
            release = read_text(text, table)
        except DataError as error:
            assert len(error.problems) <= 21  # noqa: PT017
            continue
        assert content(read_text(text_of(release), table))["status"] == content(release)["status"]


@few_and_many(20, 400, st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "r.csv")
        path.write_bytes(b"cell,status,published,lower,upper\n" + content)
        try:
            read_release(path)
        except DataError:
            return
