"""Tabulation against the oracle: every cell, every figure."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path
from random import Random

import duckdb
import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from tests.oracles import brute_force
from tests.oracles.brute_force import Cell, Contributor, Record
from tests.oracles.drawn import Dimension, Draw, draws
from tests.oracles.examples import few_and_many

from celosia import Digits, Hierarchy, Table
from celosia.source.tabulation.enter import Rows, enter
from celosia.source.tabulation.groups import Groups
from celosia.table.dimension import Dimension as NodeDimension
from celosia.table.lattice import Lattice
from celosia.table.statistics import Contributors, Statistics


def cell_of(table: Table, place: int, dimensions: Sequence[brute_force.Classification]) -> Cell:
    """Return the oracle's name of a cell, and see that all labels of a node mean the same."""
    found = []
    for axis, (labels, dimension) in enumerate(zip(table.axes, dimensions, strict=True)):
        meanings = {dimension.named[name] for name in labels.names(int(table.codes[place, axis]))}
        assert len(meanings) == 1
        found.append(meanings.pop())
    return tuple(found)


def places(table: Table, dimensions: Sequence[brute_force.Classification]) -> dict[Cell, int]:
    """Return where each of the oracle's cells stands in the table; no cell stands there twice."""
    found = {cell_of(table, place, dimensions): place for place in range(len(table))}
    assert len(found) == len(table)
    return found


def statistics_of(table: Table) -> Statistics:
    assert table.statistics is not None
    return table.statistics


def check_contributors(kind: Contributors, place: int, found: Sequence[Contributor], decimals: int) -> None:
    """Compare what the table knows about one cell's contributors with the oracle."""

    def amounts(counts: object) -> list[Fraction]:
        return [Fraction(count, 10**decimals) for count in counts[place].tolist()]  # type: ignore[index]

    k = kind.largest.shape[1]
    unwaived = [each for each in found if not each.waives]
    padding = [Fraction(0)] * k
    assert kind.count[place] == len(found)
    assert Fraction(int(kind.total[place]), 10**decimals) == sum((each.mass for each in found), Fraction(0))
    assert amounts(kind.largest) == [*(each.size for each in found), *padding][:k]
    assert amounts(kind.weighted) == [*(each.mass for each in found), *padding][:k]
    assert kind.unwaived[place] == len(unwaived)
    assert amounts(kind.targets) == [*(each.size for each in unwaived), *padding][:k]
    assert amounts(kind.weighted_targets) == [*(each.mass for each in unwaived), *padding][:k]


def looked_at(record: Record) -> Fraction:
    return record.shadow


@few_and_many(12, 250, draws(most_dimensions=3))
def test_every_figure_of_every_cell_equals_brute_force(draw: Draw) -> None:
    dimensions = draw.classifications
    expected = brute_force.cells(draw.records, dimensions)
    table = draw.table()
    known = statistics_of(table)
    place_of = places(table, dimensions)
    assert place_of.keys() == expected.keys()
    for cell, records in expected.items():
        place = place_of[cell]
        assert table.amounts.fraction(place) == sum(record.value * record.weight for record in records)
        assert known.records[place] == len(records)
        assert Fraction(known.weighted_records[place]).limit_denominator(1000) == sum(each.weight for each in records)
        respondents = brute_force.contributors(records, "respondent", looked_at)
        check_contributors(known.respondents, place, respondents, known.decimals)
        if known.holdings is not None:
            check_contributors(
                known.holdings, place, brute_force.contributors(records, "holding", looked_at), known.decimals
            )
        if known.requested is not None:
            asking = max((each.mass for each in respondents if each.asks), default=None)
            count = int(known.requested[place])
            assert (None if count < 0 else Fraction(count, 10**known.decimals)) == asking
        if known.shadow is not None:
            assert Fraction(int(known.shadow[place]), 10**known.decimals) == sum(
                record.shadow * record.weight for record in records
            )
    assert (known.holdings is not None) == ("holding" in draw.roles)
    assert (known.requested is not None) == ("request" in draw.roles)
    assert (known.shadow is not None) == ("shadow" in draw.roles)


@few_and_many(5, 100, draws())
def test_totals_equal_sums_on_every_level_and_relations_hold_exactly(draw: Draw) -> None:
    dimensions = draw.classifications
    table = draw.table()
    place_of = places(table, dimensions)
    cell_at = {place: cell for cell, place in place_of.items()}
    found = set()
    for number in range(len(table.relations)):
        terms = table.relations.terms(number)
        assert sum(coefficient * table.amounts.fraction(place) for place, coefficient in terms) == 0
        assert {coefficient for _, coefficient in terms} == {-1, 1}
        totals = [cell_at[place] for place, coefficient in terms if coefficient < 0]
        assert len(totals) == 1
        found.add((totals[0], frozenset(cell_at[place] for place, coefficient in terms if coefficient > 0)))
    assert found == brute_force.relations(place_of, dimensions)
    assert not table.relations.right.any()
    assert not table.relations.residuals(table.amounts.counts).any()


def figures(table: Table, dimensions: Sequence[brute_force.Classification]) -> dict[Cell, list[object]]:
    """Return everything that a table says about every cell, in the oracle's names."""
    known = statistics_of(table)
    columns: list[list[object]] = [known.records.tolist(), known.weighted_records.tolist()]
    for kind in (known.respondents, known.holdings):
        if kind is not None:
            columns += [getattr(kind, column.name).tolist() for column in fields(kind)]
    columns += [part.tolist() for part in (known.requested, known.shadow) if part is not None]
    return {
        cell: [table.amounts.fraction(place), known.decimals, *(column[place] for column in columns)]
        for cell, place in places(table, dimensions).items()
    }


@few_and_many(5, 100, draws(), st.randoms(use_true_random=False))
def test_permuting_records_changes_nothing(draw: Draw, random: Random) -> None:
    shuffled = list(draw.records)
    random.shuffle(shuffled)
    if "respondent" not in draw.roles:
        shuffled = [replace(record, respondent=f"record {number}") for number, record in enumerate(shuffled)]
    table, again = draw.table(), replace(draw, records=tuple(shuffled)).table()
    assert table.codes.tolist() == again.codes.tolist()
    assert table.axes == again.axes
    assert figures(table, draw.classifications) == figures(again, draw.classifications)


@few_and_many(5, 100, draws())
def test_renaming_codes_and_names_changes_nothing(draw: Draw) -> None:
    """Every code is turned round and gets a prefix, every name another: the figures stay where they were."""

    def renamed(code: str) -> str:
        return "ß|" + code[::-1]

    def tree(old: brute_force.Tree) -> brute_force.Tree:
        return {renamed(code): tree(below) for code, below in old.items()}

    def hierarchy(old: Hierarchy) -> Hierarchy:
        return Hierarchy((old.total, *(renamed(code) for code in old.labels[1:])), old.parents)

    def dimension(old: Dimension) -> Dimension:
        given = old.given
        if isinstance(given, Hierarchy):
            given = hierarchy(given)
        elif isinstance(given, Sequence):
            given = [hierarchy(each) for each in given]
        return replace(old, trees=tuple(tree(each) for each in old.trees), given=given)

    assume(not any(isinstance(each.given, Digits) for each in draw.dimensions))
    other = replace(
        draw,
        dimensions=tuple(dimension(each) for each in draw.dimensions),
        records=tuple(
            replace(
                record,
                leaf=tuple(tuple(renamed(code) for code in path) for path in record.leaf),
                respondent=f"{record.respondent} & Co",
                holding=None if record.holding is None else f"{record.holding} Holding",
            )
            for record in draw.records
        ),
    )
    old = figures(draw.table(), draw.classifications)
    new = figures(other.table(), other.classifications)
    back = {
        tuple(frozenset(tuple(renamed(code) for code in path) for path in node) for node in cell): said
        for cell, said in old.items()
    }
    assert back == new


@few_and_many(5, 100, draws(most_dimensions=1), st.integers(1, 20), st.booleans())
def test_more_records_of_one_holding_never_change_the_number_of_holdings(draw: Draw, value: int, same: bool) -> None:  # noqa: FBT001
    """One more record of somebody who is there already, in the same leaf cell, under the same respondent or another."""
    draw = replace(draw, roles={**draw.roles, "respondent": "respondent", "holding": "holding"})
    first = draw.records[0]
    more = replace(first, value=Fraction(value), respondent=first.respondent if same or not first.holding else "new")
    known, again = (
        statistics_of(each.table()).holdings for each in (draw, replace(draw, records=(*draw.records, more)))
    )
    assert known is not None
    assert again is not None
    assert known.count.tolist() == again.count.tolist()


@few_and_many(
    20,
    200,
    st.lists(
        st.tuples(
            st.integers(0, 3), st.integers(0, 2), st.integers(-9, 9), st.integers(1, 3), st.booleans(), st.booleans()
        ),
        min_size=1,
        max_size=40,
    ),
    st.lists(st.integers(0, 6), min_size=40, max_size=40),
    st.booleans(),
)
def test_any_number_of_threads_enters_the_same(
    drawn: list[tuple[int, int, int, int, bool, bool]],
    owners: list[int],
    weighted: bool,  # noqa: FBT001
) -> None:
    dimensions = [
        NodeDimension.of("a", [Hierarchy.from_dict({"x": ["1", "2"], "y": ["3"], "4": None})]),
        NodeDimension.of("b", [Hierarchy.flat(["1", "2", "3"])]),
    ]
    pairs = sorted({(a, b) for a, b, *_ in drawn})
    _, steps = Lattice.above(np.array(pairs, dtype=np.int32), dimensions)
    value = np.array([each[2] for each in drawn])
    rows = Rows(
        leaf=np.array([pairs.index((a, b)) for a, b, *_ in drawn], dtype=np.int32),
        value=value,
        weighted=value * np.array([each[3] for each in drawn]) if weighted else None,
        asked=np.array([each[4] for each in drawn]),
        waived=np.array([each[5] for each in drawn]),
    )
    groups = Groups.of_whole_numbers(np.array(owners[: len(drawn)]))
    ledgers = [enter(groups, rows, steps, largest=2, threads=threads).lines.tolist() for threads in (1, 2, 3)]
    assert ledgers[0] == ledgers[1] == ledgers[2]


@few_and_many(2, 40, draws(large=False))
def test_every_kind_of_input_gives_the_same(draw: Draw) -> None:
    frame = draw.frame()
    with tempfile.TemporaryDirectory() as folder:
        parquet, csv = Path(folder, "records.parquet"), Path(folder, "records.csv")
        frame.write_parquet(parquet)
        frame.write_csv(csv, quote_style="non_numeric")
        relation = duckdb.connect().from_arrow(frame.to_arrow())
        inputs = [frame, frame.to_pandas(), frame.to_arrow(), parquet, str(csv), relation]
        tables = [draw.table(each) for each in inputs]
    first = figures(tables[0], draw.classifications)
    assert all(figures(table, draw.classifications) == first for table in tables[1:])
    assert all(table.codes.tolist() == tables[0].codes.tolist() for table in tables[1:])
    assert [table.library for table in tables] == ["polars", "pandas", "pyarrow", None, None, None]


@few_and_many(5, 100, draws())
def test_contributions_are_those_of_the_respondents_and_sum_to_the_leaf_cells(draw: Draw) -> None:
    """A contribution belongs to one respondent and one holding under numbers that tell as many apart as there are."""
    dimensions = draw.classifications
    table = draw.table(contributions=True)
    single = table.contributions
    assert single is not None
    cell_at = {place: cell for cell, place in places(table, dimensions).items()}
    found: dict[Cell, list[Fraction]] = {}
    owners: dict[int, list[tuple[Cell, Fraction]]] = {}
    for place, respondent, amount in zip(
        single.cell.tolist(), single.respondent.tolist(), single.amount.tolist(), strict=True
    ):
        exact = Fraction(amount, 10**table.decimals)
        found.setdefault(cell_at[place], []).append(exact)
        owners.setdefault(respondent, []).append((cell_at[place], exact))
    finest: dict[Cell, dict[str, Fraction]] = {}
    by_name: dict[str, dict[Cell, Fraction]] = {}
    for record in draw.records:
        cell = tuple(frozenset([leaf]) for leaf in record.leaf)
        here = finest.setdefault(cell, {})
        here[record.respondent] = here.get(record.respondent, Fraction(0)) + record.value * record.weight
        mine = by_name.setdefault(record.respondent, {})
        mine[cell] = mine.get(cell, Fraction(0)) + record.value * record.weight
    assert {cell: sorted(amounts) for cell, amounts in found.items()} == {
        cell: sorted(sums.values()) for cell, sums in finest.items()
    }
    assert Counter(frozenset(mine) for mine in owners.values()) == Counter(
        frozenset(mine.items()) for mine in by_name.values()
    )
