"""Who contributes how much to every cell, asked of an engine: counts, sums and the largest, and never a name.

Contributions do not rank from leaf cells to totals: a holding with units in several leaf cells counts once in their
common total, with all it contributes there. So the engine keeps contributors of one leaf cell apart from those that
span several. The former are ranked in their leaf cells, and what comes back is merged upwards here; the latter are
summed and ranked in every cell that holds one of their leaf cells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.library import OnFirstUse
from celosia.source.engines.rows import EngineRows, numbers_of, small_table, without_warnings
from celosia.source.tabulation.ledger import NOBODY, Layout, Ledger
from celosia.table.dimension import Dimension

if TYPE_CHECKING:
    import ibis
else:
    ibis = OnFirstUse("ibis")

Cells = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64]]
"""Codes of cells, ``(n, n_dimensions)``, the lines of their ledger, and the number and the sum of the records behind
them, ``(n, 2)``."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """Whose contributions of what are asked for.

    Parameters
    ----------
    rows
        The engine.
    table
        Its rows, with leaf numbers and whole counts.
    leaves
        The columns of leaf numbers.
    who
        The column of contributors; None where every record is one.
    size, mass
        The columns of contributions and weighted contributions.
    layout
        What is asked about every cell.
    """

    rows: EngineRows
    table: Any
    leaves: Sequence[str]
    who: str | None
    size: str
    mass: str
    layout: Layout

    def in_leaf_cells(self) -> Cells:
        """Return what contributors of one leaf cell contribute to it; of several, they are not counted here."""
        with without_warnings():
            entries = self._entries()
            if self.who is not None:
                entries = entries.filter(entries.cells == 1)
            return self._ranked(entries, self.leaves)

    def in_all_cells(self, dimensions: Sequence[Dimension]) -> Cells | None:
        """Return what contributors of several leaf cells contribute to every cell; None where nobody is one."""
        if self.who is None:
            return None
        with without_warnings():
            entries = self._entries()
            entries = entries.filter(entries.cells > 1)
            nodes = []
            for column, dimension in zip(self.leaves, dimensions, strict=True):
                starts, held = dimension.holders
                leaf = np.repeat(np.arange(len(starts) - 1, dtype=np.int64), np.diff(starts))
                holders = small_table({f"{column}_leaf": leaf, f"{column}_node": held.astype(np.int64)})
                kept = [name for name in entries.columns if name != column]
                joined = entries.inner_join(holders, entries[column] == holders[f"{column}_leaf"])
                entries = joined.select(*kept, f"{column}_node")
                nodes.append(f"{column}_node")
            return self._ranked(self._summed(entries, [*nodes, self.who], "size", "mass"), nodes)

    def _entries(self) -> Any:  # noqa: ANN401  (ibis)
        """Return one row for every leaf cell and contributor, with the number of his leaf cells."""
        table = self.table
        flags = [name for name in ("asked", "waived") if name in table.columns]
        if self.who is None:
            return table.select(
                *self.leaves, *flags, size=table[self.size], mass=table[self.mass], records=_whole(1), cells=_whole(1)
            )
        table = table.mutate(records=_whole(1))
        summed = self._summed(table, [*self.leaves, self.who], self.size, self.mass)
        return summed.mutate(cells=summed.count().over(ibis.window(group_by=self.who)))

    def _summed(self, table: Any, by: Sequence[str], size: str, mass: str) -> Any:  # noqa: ANN401  (ibis)
        figures = {"size": table[size].sum(), "mass": table[mass].sum(), "records": table.records.sum()}
        if self.layout.requests:
            figures["asked"] = table.asked.any()
        if self.layout.waivers:
            figures["waived"] = table.waived.all()
        return table.group_by(by).aggregate(**figures)

    def _ranked(self, entries: Any, cells: Sequence[str]) -> Cells:  # noqa: ANN401  (ibis)
        """Return for every cell how many contribute, how much, and the largest of them."""
        layout, k = self.layout, self.layout.k
        entries = entries.mutate(net=entries["mass"])
        amount = entries["mass"].abs()
        given = entries["size"].abs()
        # records that cancel but for their weights: what is left of them is one unit
        said = {"size": ibis.ifelse(given == 0, amount, given) if layout.weighted else amount, "mass": amount}
        entries = entries.mutate(**said)
        order = [ibis.desc("size"), ibis.desc("mass")]
        ranks = {"place": ibis.row_number().over(ibis.window(group_by=list(cells), order_by=order))}
        if layout.waivers:
            apart = ibis.window(group_by=[*cells, "waived"], order_by=order)
            ranks["free"] = ibis.row_number().over(apart)
        entries = entries.mutate(**ranks)
        figures = {"count": entries.count(), "total": entries["mass"].sum()}
        figures |= _lists(entries, k, "l", [entries["place"] == rank for rank in range(k)], weighted=layout.weighted)
        if layout.waivers:
            bound = ~entries["waived"]
            figures["bound"] = entries.count(where=bound)
            kept = [(entries["free"] == rank) & bound for rank in range(k)]
            figures |= _lists(entries, k, "t", kept, weighted=layout.weighted)
        if layout.requests:
            figures["request"] = entries["mass"].max(where=entries["asked"])
        # nothing is filled in the engine: where ibis goes by pandas, a column with gaps becomes one of doubles
        figures = {name: asked.fill_null(NOBODY if name == "request" else 0) for name, asked in figures.items()}
        seen = {name: entries[name].sum() for name in ("records", "net")}
        answer = self.rows.fetch(entries.group_by(list(cells)).aggregate(**figures, **seen))
        codes, lines, checks = (
            np.column_stack(list(numbers_of(answer, names).values())) for names in (cells, list(figures), list(seen))
        )
        return codes.astype(np.int32), np.ascontiguousarray(lines), checks


def ledger_of(codes: NDArray[np.int64], lines: NDArray[np.int64], n_cells: int, layout: Layout) -> Ledger:
    """Return the ledger of all cells with the lines of some of them."""
    ledger = Ledger.empty(n_cells, layout)
    ledger.lines[codes] = lines
    return ledger


def _lists(entries: Any, k: int, name: str, ranks: Sequence[Any], *, weighted: bool) -> Mapping[str, Any]:  # noqa: ANN401
    """Return the figures of a list of the k largest, and of their weighted values where there are weights."""
    lists = {f"{name}{rank}": entries["size"].max(where=ranks[rank]) for rank in range(k)}
    if weighted:
        lists |= {f"{name}w{rank}": entries["mass"].max(where=ranks[rank]) for rank in range(k)}
    return lists


def _whole(number: int) -> Any:  # noqa: ANN401  (ibis)
    return ibis.literal(number, type="int64")
