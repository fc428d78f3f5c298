"""Linked tables against the oracle: which cells are one, which relations hold, what hangs together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import polars as pl
from hypothesis import strategies as st
from tests.oracles import brute_force
from tests.oracles.brute_force import Classification, Node, Record
from tests.oracles.drawn import Dimension, dimensions, records
from tests.oracles.examples import few_and_many

from celosia import Table, link, tabulate

NAMES = ("dim", "region", "size")
Name = tuple[str, tuple[Node, ...]]
"""A cell of linked tables: its variable and a node of every dimension, the total where a table has none."""
Sum = frozenset[tuple[Name, int]]
"""A relation: cells with their coefficients."""


@dataclass(frozen=True)
class Drawn:
    """Records in three dimensions, and the tables to be made of them: variable and dimensions."""

    places: tuple[Dimension, ...]
    records: tuple[Record, ...]
    tables: tuple[tuple[str, tuple[int, ...]], ...]

    @property
    def classifications(self) -> list[Classification]:
        return [each.classification(self.records, place) for place, each in enumerate(self.places)]

    def frame(self) -> pl.DataFrame:
        columns: dict[str, pl.Series] = {
            column: pl.Series([dimension.entries(record.leaf[place])[k] for record in self.records], dtype=pl.String)
            for place, dimension in enumerate(self.places)
            for k, column in enumerate(dimension.columns)
        }
        columns["home"] = pl.Series([int(record.value) for record in self.records])
        columns["away"] = pl.Series([int(record.shadow) for record in self.records])
        columns["all"] = columns["home"] + columns["away"]
        columns["firm"] = pl.Series([record.respondent for record in self.records])
        return pl.DataFrame(columns)

    def tabulated(self, by: Sequence[Sequence[str]], value: Sequence[str], *relations: str) -> Table:
        return tabulate(
            self.frame(),
            by=by,
            value=value,
            respondent="firm",
            columns={each.name: each.columns for each in self.places},
            hierarchies={
                each.name: each.given
                for each in self.places
                if each.given is not None and any(each.name in names for names in by)
            },
            relations=relations,
            total_codes="keep",
        )

    def expected(self, variable: str, axes: Sequence[int]) -> tuple[dict[Name, list[Record]], set[Sum]]:
        """Return the cells of one table and its relations, cells under the names of the linked table."""
        all_of_them = self.classifications
        used = [all_of_them[axis] for axis in axes]
        seen = [
            Record(
                tuple(record.leaf[axis] for axis in axes),
                record.value,
                shadow=record.shadow,
                respondent=record.respondent,
            )
            for record in self.records
        ]

        def name(cell: Sequence[Node]) -> Name:
            nodes = [dimension.total for dimension in all_of_them]
            for axis, node in zip(axes, cell, strict=True):
                nodes[axis] = node
            return variable, tuple(nodes)

        cells = brute_force.cells(seen, used)
        sums: set[Sum] = {
            frozenset([(name(total), -1), *((name(part), 1) for part in parts)])
            for total, parts in brute_force.relations(cells, used)
        }
        return {name(cell): held for cell, held in cells.items()}, sums


AMOUNTS = {
    "home": lambda record: record.value,
    "away": lambda record: record.shadow,
    "all": lambda record: record.value + record.shadow,
}


@st.composite
def drawn(draw: st.DrawFn) -> Drawn:
    places = tuple(draw(dimensions(name)) for name in NAMES)
    some = st.lists(records(places, 0, signed=True, weighted=False), min_size=1, max_size=6)
    axes = st.lists(st.sampled_from(range(3)), min_size=1, max_size=2, unique=True).map(tuple)
    tables = draw(st.lists(st.tuples(st.sampled_from(["home", "away"]), axes), min_size=2, max_size=4))
    return Drawn(places, tuple(draw(some)), tuple(tables))


def named(table: Table, classifications: Sequence[Classification]) -> dict[int, Name]:
    """Return the oracle's name of every cell of a linked table; dimensions that no table has are at their total."""
    axis_of = {axis.name: (number, axis) for number, axis in enumerate(table.axes)}
    found: dict[int, Name] = {}
    for cell in range(len(table)):
        nodes = []
        for name, dimension in zip(NAMES, classifications, strict=True):
            node = dimension.total
            if name in axis_of:
                number, axis = axis_of[name]
                meanings = {dimension.named[label] for label in axis.names(int(table.codes[cell, number]))}
                assert len(meanings) == 1
                node = meanings.pop()
            nodes.append(node)
        found[cell] = (table.variables[int(table.variable[cell])], tuple(nodes))
    assert len(set(found.values())) == len(table)
    return found


def parts_of(cells: Sequence[Name], sums: set[Sum]) -> set[frozenset[Name]]:
    """Return the connected parts, by painting."""
    colour = {cell: number for number, cell in enumerate(cells)}
    changed = True
    while changed:
        changed = False
        for relation in sums:
            terms = [cell for cell, _ in relation]
            least = min(colour[cell] for cell in terms)
            changed |= any(colour[cell] != least for cell in terms)
            colour |= dict.fromkeys(terms, least)
    return {frozenset(cell for cell in cells if colour[cell] == shade) for shade in set(colour.values())}


@few_and_many(6, 60, drawn())
def test_tables_tabulated_apart_link_to_the_cells_of_brute_force(drawn: Drawn) -> None:
    apart = [drawn.tabulated([[NAMES[axis] for axis in axes]], [variable]) for variable, axes in drawn.tables]
    linked = link(apart, names=[f"table {number}" for number in range(len(apart))])
    name_of = named(linked, drawn.classifications)
    cells: dict[Name, list[Record]] = {}
    sums: set[Sum] = set()
    members = []
    for variable, axes in drawn.tables:
        mine, relations = drawn.expected(variable, axes)
        cells |= mine
        sums |= relations
        members.append(set(mine))
    assert set(name_of.values()) == set(cells)
    for cell, name in name_of.items():
        assert linked.amounts.fraction(cell) == sum(AMOUNTS[name[0]](record) for record in cells[name])
        assert linked.statistics is not None
        assert linked.statistics.respondents.count[cell] == len({record.respondent for record in cells[name]})
    found: set[Sum] = {
        frozenset((name_of[cell], coefficient) for cell, coefficient in linked.relations.terms(number))
        for number in range(len(linked.relations))
    }
    assert found == sums
    assert len(linked.relations) == len(sums)
    assert not linked.relations.residuals(linked.amounts.counts).any()
    count, part = linked.components
    pieces = {frozenset(name for cell, name in name_of.items() if part[cell] == k) for k in range(count)}
    assert pieces == parts_of(list(cells), sums)
    assert linked.links is not None
    shared = {name_of[int(cell)] for cell in linked.links.shared_cells()}
    assert shared == {name for name in cells if sum(name in mine for mine in members) > 1}
    assert list(linked.links.between().values()) == [len(one & other) for one, other in combinations(members, 2)]
    for table, place in zip(apart, linked.links.places, strict=True):
        assert [table.amounts.fraction(k) for k in range(len(table))] == [
            linked.amounts.fraction(int(cell)) for cell in place
        ]


@few_and_many(6, 60, drawn())
def test_linking_in_steps_is_linking_at_once(drawn: Drawn) -> None:
    apart = [drawn.tabulated([[NAMES[axis] for axis in axes]], [variable]) for variable, axes in drawn.tables]
    once, steps = link(apart), link([link(apart[:2]), *apart[2:]])
    assert set(named(once, drawn.classifications).values()) == set(named(steps, drawn.classifications).values())
    assert len(once.relations) == len(steps.relations)


@few_and_many(6, 60, drawn())
def test_several_tables_and_variables_at_once_hold_the_relations_between_variables(drawn: Drawn) -> None:
    by = list(dict.fromkeys(axes for _, axes in drawn.tables))
    variables = ["home", "away", "all"]
    table = drawn.tabulated([[NAMES[axis] for axis in axes] for axes in by], variables, "all = home + away")
    name_of = named(table, drawn.classifications)
    cells: dict[Name, list[Record]] = {}
    sums: set[Sum] = set()
    for axes in by:
        for variable in variables:
            mine, relations = drawn.expected(variable, axes)
            cells |= mine
            sums |= relations
    between: set[Sum] = {
        frozenset([(("all", nodes), -1), (("home", nodes), 1), (("away", nodes), 1)]) for _, nodes in cells
    }
    found: set[Sum] = {
        frozenset((name_of[cell], coefficient) for cell, coefficient in table.relations.terms(number))
        for number in range(len(table.relations))
    }
    assert set(name_of.values()) == set(cells)
    assert found == sums | between
    assert not table.relations.residuals(table.amounts.counts).any()
    for cell, (variable, nodes) in name_of.items():
        expected = sum((AMOUNTS[variable](record) for record in cells[variable, nodes]), Fraction(0))
        assert table.amounts.fraction(cell) == expected
    assert table.components[0] == 1
