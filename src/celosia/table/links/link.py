"""Linked tables: several tables become one, in which equal cells are one cell.

Two cells are the same when they are of the same variable and bear the same codes, totals left out: turnover of (C,
Total) in a table by industry and region is turnover of C in a table by industry and size. The total of a dimension may
be left out only if it is the whole population; a table about a part of it says so (``Hierarchy(partial=True)``), and
its total counts as a code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.arguments import expect
from celosia.errors import DataError, Problems, SpecError
from celosia.table.dimension import Axis
from celosia.table.fixed import Fixed
from celosia.table.lattice import Lattice
from celosia.table.links.additivity import settle
from celosia.table.links.equations import variable_relations
from celosia.table.links.join import join_contributions, join_extras, join_statistics
from celosia.table.relations import Relations
from celosia.table.table import Links, Table

_SHOWN = 8


def link(tables: Sequence[Table], *, names: Sequence[str] | None = None, relations: Sequence[str] = ()) -> Table:
    """Return one table that holds every cell of all the given ones once; its `links` say which cells were identified.

    Parameters
    ----------
    tables
        The tables.
    names
        How messages call them; by default after their dimensions.
    relations
        Relations between variables, such as ``"turnover = domestic + export"``, for every combination of codes in which
        all of them exist.

    Raises
    ------
    SpecError
        The totals of a dimension have different names and none is declared partial, or a relation names an unknown
        variable.
    DataError
        Cells that should be equal differ, or a stated relation does not hold.
    """
    expect(tables, (list, tuple), "tables")
    for number, table in enumerate(tables):
        expect(table, Table, f"tables[{number}]")
    names = _distinguish_names(names or [_name(table) for table in tables])
    axes, codes = _common_codes(tables, names)
    variables = tuple(dict.fromkeys(variable for table in tables for variable in table.variables))
    numbered = [_with_variable(table, code, variables) for table, code in zip(tables, codes, strict=True)]
    sizes = [len(variables), *(len(axis.labels) for axis in axes)]
    lattice = Lattice.of_codes(np.concatenate(numbered), sizes)
    places = tuple(lattice.find(code) for code in numbered)
    decimals = max(table.decimals for table in tables)
    stated = variable_relations(relations, variables, lattice)
    table = Table(
        axes=axes,
        codes=np.ascontiguousarray(lattice.codes[:, 1:]),
        variables=variables,
        variable=np.ascontiguousarray(lattice.codes[:, 0]),
        amounts=Fixed(np.zeros(len(lattice), dtype=np.int64), decimals),
        relations=Relations.none(len(lattice)),
        counts=frozenset().union(*(table.counts for table in tables)),
        notes=tuple(dict.fromkeys(note for table in tables for note in table.notes)),
        library=next((table.library for table in tables if table.library), None),
        partial=(False,) * len(axes),
        links=Links(names, places),
    )
    table = replace(table, amounts=_common_amounts(tables, names, places, table))
    table = replace(table, extras=join_extras(tables, names, places, table))
    table = replace(table, statistics=join_statistics(tables, names, places, table))
    table, notes = join_contributions(tables, places, table)
    common, units = _common_relations(tables, places, stated, len(lattice), decimals)
    return settle(replace(table, relations=common), units).with_notes(*notes)


def _distinguish_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which no two are the same."""
    seen: dict[str, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return tuple(out)


def _name(table: Table) -> str:
    return f"{'+'.join(table.variables)} by {' x '.join(axis.name for axis in table.axes)}"


def _with_variable(table: Table, codes: NDArray[np.int32], variables: tuple[str, ...]) -> NDArray[np.int32]:
    number = np.array([variables.index(variable) for variable in table.variables], dtype=np.int32)
    return np.column_stack([number[table.variable], codes]).astype(np.int32)


def _common_codes(tables: Sequence[Table], names: Sequence[str]) -> tuple[tuple[Axis, ...], list[NDArray[np.int32]]]:
    """Return the axes of all tables together, and every table's codes along them: 0 for what it has no code of."""
    dimensions = tuple(dict.fromkeys(axis.name for table in tables for axis in table.axes))
    found = Problems()
    axes = []
    codes = [np.zeros((len(table), len(dimensions)), dtype=np.int32) for table in tables]
    for column, dimension in enumerate(dimensions):
        having = [
            (number, k)
            for number, table in enumerate(tables)
            for k, axis in enumerate(table.axes)
            if axis.name == dimension
        ]
        totals = {
            tables[number].axes[k].labels[0]: names[number] for number, k in having if not _partial(tables[number], k)
        }
        if len(totals) > 1:
            said = " and ".join(f"{total!r} in {name}" for total, name in totals.items())
            remedy = "Give them one name, or declare the hierarchy of a part of the population partial."
            found.add(f"dimension {dimension!r}", f"has totals of different names: {said}.", remedy)
            continue
        total = next(iter(totals), "Total")
        axis, node_maps = _common_axis(
            dimension, total, [(tables[number].axes[k], _partial(tables[number], k)) for number, k in having]
        )
        axes.append(axis)
        for (number, k), node_map in zip(having, node_maps, strict=True):
            codes[number][:, column] = node_map[tables[number].codes[:, k]]
    found.raise_as(SpecError)
    return tuple(axes), codes


def _partial(table: Table, axis: int) -> bool:
    return bool(table.partial) and table.partial[axis]


def _common_axis(name: str, total: str, parts: Sequence[tuple[Axis, bool]]) -> tuple[Axis, list[NDArray[np.int32]]]:
    """Return the union of several axes by label, and where each node of each part went.

    A node that goes by several labels makes them one. The total is the node 0; its label in a partial axis is a code
    like any other.
    """
    leader: dict[str, str] = {}

    def find(label: str) -> str:
        while leader.setdefault(label, label) != label:
            label = leader[label]
        return label

    several = _ambiguous([axis for axis, _ in parts])
    names = [
        [_identities(axis, node, several, total=None if partial else total) for node in range(len(axis.labels))]
        for axis, partial in parts
    ]
    for part in names:
        for first, *others in part:
            for other in others:
                leader[find(other)] = find(first)
    number: dict[str, int] = {find(total): 0}
    labels, depths = [total], [0]
    aliases: list[dict[str, None]] = [{}]
    paths: list[dict[tuple[str, ...], None]] = [{(): None}]
    maps = []
    for (axis, partial), part in zip(parts, names, strict=True):
        node_map = np.zeros(len(axis.labels), dtype=np.int32)
        for node, (first, *_rest) in enumerate(part):
            place = number.setdefault(find(first), len(labels))
            if place == len(labels):
                labels.append(axis.labels[node])
                depths.append(max(1, axis.depths[node]))
                aliases.append({})
                paths.append({})
            elif place and axis.depths[node] < depths[place]:
                labels[place], depths[place] = axis.labels[node], max(1, axis.depths[node])
            node_map[node] = place
            aliases[place] |= dict.fromkeys(axis.names(node))
            known = axis.paths[node] if axis.paths else [(name,) for name in axis.names(node)]
            paths[place] |= dict.fromkeys(path or ((axis.labels[0],) if partial else ()) for path in known)
        maps.append(node_map)
    further = (tuple(said for said in known if said != label) for known, label in zip(aliases, labels, strict=True))
    return Axis(name, tuple(labels), tuple(depths), tuple(further), tuple(tuple(known) for known in paths)), maps


def _ambiguous(axes: Sequence[Axis]) -> set[str]:
    """Return the codes that stand for several nodes of one axis."""
    several = set()
    for axis in axes:
        nodes_of: dict[str, set[int]] = {}
        for node, paths in enumerate(axis.paths):
            for path in paths:
                nodes_of.setdefault(path[-1] if path else axis.labels[0], set()).add(node)
        several |= {code for code, nodes in nodes_of.items() if len(nodes) > 1}
    return several


def _identities(axis: Axis, node: int, several: set[str], *, total: str | None) -> list[str]:
    """Return all by which a node is known in other tables: its codes, or its paths where a code is ambiguous.

    The total of the whole population is known as such, whatever its axis calls it.
    """
    if node == 0 and total is not None:
        return [total, *(name for name in axis.names(0)[1:] if name not in several)]
    if not axis.paths:
        return list(axis.names(node))
    paths = [path or (axis.labels[0],) for path in axis.paths[node]]
    return ["\x1f".join(("", *path)) if path[-1] in several else path[-1] for path in paths]


def _common_amounts(
    tables: Sequence[Table], names: Sequence[str], places: Sequence[NDArray[np.int64]], linked: Table
) -> Fixed:
    """Return the value of every cell, refusing cells that are equal by their codes and differ by their values.

    Values of different precision may differ by half a unit of the coarser last decimal; then the finer one is taken.
    """
    decimals = linked.decimals
    counts = np.zeros(len(linked), dtype=np.int64)
    source = np.full(len(linked), -1, dtype=np.int64)
    different: dict[int, tuple[int, int]] = {}
    for number in sorted(range(len(tables)), key=lambda k: -tables[k].decimals):
        amounts = tables[number].amounts.to(decimals).counts
        place = places[number]
        new = source[place] < 0
        counts[place[new]] = amounts[new]
        source[place[new]] = number
        allowed = 10 ** (decimals - tables[number].decimals) / 2 if tables[number].decimals < decimals else 0
        for cell in np.flatnonzero(np.abs(counts[place] - amounts) > allowed).tolist():
            different.setdefault(int(place[cell]), (int(source[place[cell]]), number))
    if different:
        raise DataError.one("link", *_differences(different, names, linked))
    return Fixed(counts, decimals)


def _differences(different: dict[int, tuple[int, int]], names: Sequence[str], linked: Table) -> tuple[str, str]:
    shown = [
        f"{linked.label(cell)} ({names[first]} and {names[second]})"
        for cell, (first, second) in list(different.items())[:_SHOWN]
    ]
    more = f" and {len(different) - _SHOWN} more" if len(different) > _SHOWN else ""
    return (
        f"{len(different)} cells bear the same codes and have different values: {'; '.join(shown)}{more}.",
        "Are they about the same population? A table about a part of it has a total of another name, declared partial.",
    )


def _common_relations(
    tables: Sequence[Table],
    places: Sequence[NDArray[np.int64]],
    stated: Sequence[Relations],
    n_cells: int,
    decimals: int,
) -> tuple[Relations, NDArray[np.int64]]:
    """Return the relations of all tables, each once, on the cells of the linked table.

    With them, in how many units of the last decimal their figures were rounded: more than one in a coarser table.
    """
    matrices = [relations.matrix for relations in stated]
    units = [np.ones(len(relations), dtype=np.int64) for relations in stated]
    for table, place in zip(tables, places, strict=True):
        moved = sp.csr_array(
            (np.ones(len(place), dtype=np.int64), (np.arange(len(place)), place)), shape=(len(place), n_cells)
        )
        matrices.append(table.relations.matrix @ moved)
        units.append(np.full(len(table.relations), 10 ** (decimals - table.decimals), dtype=np.int64))
    matrix = sp.csr_array(sp.vstack(matrices, format="csr"))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    unit = np.concatenate(units)
    seen: dict[tuple[bytes, bytes], int] = {}
    for row in np.argsort(unit, kind="stable").tolist():
        start, end = matrix.indptr[row], matrix.indptr[row + 1]
        if end > start:
            seen.setdefault((matrix.indices[start:end].tobytes(), matrix.data[start:end].tobytes()), row)
    rows = np.array(sorted(seen.values()), dtype=np.int64)
    return Relations(sp.csr_array(matrix[rows]), np.zeros(len(rows), dtype=np.int64)), unit[rows]
