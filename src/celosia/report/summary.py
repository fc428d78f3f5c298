"""What a risk assessment found, in figures: how many cells, why, where, and how much of the table they hold.

The terminal, the page and ``--json`` all show this one object. It counts cells; it holds no value of a cell and
nothing about a single contributor.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from celosia.risk.risk import HIDE, SHOW, Risk
from celosia.table.grid import views

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celosia.risk.attacker import Attacker
    from celosia.table.statistics import Contributors
    from celosia.table.table import Table

GIVEN = "given as sensitive"
"""The reason of a cell that came sensitive and that no rule names."""

_SAID = 3  # linked tables that a description names


@dataclass(frozen=True, slots=True)
class RuleCount:
    """How many cells one rule calls sensitive.

    Parameters
    ----------
    rule
        The rule in words.
    cells
        The cells that it calls sensitive.
    alone
        Those among them that no other rule calls sensitive: what would be safe without it.
    """

    rule: str
    cells: int
    alone: int


@dataclass(frozen=True, slots=True)
class LevelCount:
    """How many cells of one level of a dimension are sensitive.

    Parameters
    ----------
    dimension
        The dimension's name.
    level
        Levels below the total, which is level 0.
    cells, sensitive
        The cells on that level, and the sensitive ones among them.
    """

    dimension: str
    level: int
    cells: int
    sensitive: int


@dataclass(frozen=True, slots=True)
class VariableCount:
    """How much of one variable is sensitive.

    Parameters
    ----------
    variable
        Its name.
    cells, sensitive
        Its cells, and the sensitive ones among them.
    value_share
        The part of the variable's absolute value in cells of the finest detail that lies in sensitive ones; None
        where that value is zero. Totals are left out, for they would count every value several times.
    """

    variable: str
    cells: int
    sensitive: int
    value_share: float | None


@dataclass(frozen=True, slots=True)
class AttackerWords:
    """An attacker, and in words what he knows beforehand."""

    name: str
    knows: str


@dataclass(frozen=True, slots=True)
class Summary:
    """The findings of a risk assessment.

    Parameters
    ----------
    table
        What the table shows: its variables and its dimensions.
    cells, relations, components
        The size of the table, and into how many parts without a common relation it falls.
    zeros
        Cells whose value is zero.
    sensitive, must_hide, must_show
        Cells by status; all others are safe.
    records, respondents, holdings
        How many stand behind the table: those in its largest cell; None where they are not known.
    by_rule, by_level, variables
        The sensitive cells by rule, by level of each dimension, and by variable.
    attackers
        Against whom the sensitive cells are to be protected.
    notes
        What a reader should know about how the table was made.
    """

    table: str
    cells: int
    relations: int
    components: int
    zeros: int
    sensitive: int
    must_hide: int
    must_show: int
    records: int | None
    respondents: int | None
    holdings: int | None
    by_rule: tuple[RuleCount, ...]
    by_level: tuple[LevelCount, ...]
    variables: tuple[VariableCount, ...]
    attackers: tuple[AttackerWords, ...]
    notes: tuple[str, ...]

    @property
    def sensitive_share(self) -> float:
        """The part of the cells that is sensitive."""
        return self.sensitive / self.cells if self.cells else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain dicts, lists and numbers, ready for JSON."""
        return asdict(self) | {"sensitive_share": self.sensitive_share}


def summary(risk: Risk) -> Summary:
    """Return the findings of a risk assessment in figures."""
    table, sensitive = risk.table, risk.sensitive
    statistics = table.statistics
    return Summary(
        table=describe_table(table),
        cells=len(table),
        relations=len(table.relations),
        components=table.components[0],
        zeros=int((table.amounts.counts == 0).sum()),
        sensitive=int(sensitive.sum()),
        must_hide=int((risk.status == HIDE).sum()),
        must_show=int((risk.status == SHOW).sum()),
        records=_most(statistics.records) if statistics else None,
        respondents=_contributors(statistics.respondents) if statistics else None,
        holdings=_contributors(statistics.holdings) if statistics else None,
        by_rule=_by_rule(risk),
        by_level=_by_level(table, sensitive),
        variables=_by_variable(table, sensitive),
        attackers=tuple(AttackerWords(attacker.name, _knowledge(attacker)) for attacker in risk.attackers),
        notes=table.notes,
    )


def describe_table(table: Table) -> str:
    """Return what a table shows: its variables, and the dimensions of the tables of which it consists."""
    variables = ", ".join(table.variables)
    by = list(dict.fromkeys(view.by for view in views(table)))
    if not by:
        return variables or "cells"
    more = f" and {len(by) - _SAID} more" if len(by) > _SAID else ""
    return f"{variables} by {' and '.join(by[:_SAID])}{more}"


def reasons(risk: Risk) -> tuple[tuple[str, ...], NDArray[np.bool_]]:
    """Return the reasons why cells are sensitive, and which apply to which cell.

    Returns
    -------
    words
        The rules, and at the end `GIVEN` where there are sensitive cells that none of them names.
    apply
        ``(n_words, n_cells)``; false throughout for a cell that is not sensitive.
    """
    sensitive = risk.sensitive
    apply = risk.reasons.reshape(len(risk.rules), len(risk)) & sensitive
    given = sensitive & ~apply.any(axis=0)
    if not given.any():
        return risk.rules, apply
    return (*risk.rules, GIVEN), np.vstack([apply, given])


def _by_rule(risk: Risk) -> tuple[RuleCount, ...]:
    words, apply = reasons(risk)
    single = apply.sum(axis=0) == 1
    return tuple(
        RuleCount(word, int(cells.sum()), int((cells & single).sum())) for word, cells in zip(words, apply, strict=True)
    )


def _by_level(table: Table, sensitive: NDArray[np.bool_]) -> tuple[LevelCount, ...]:
    counts = []
    for axis, depth in zip(table.axes, table.levels.T, strict=True):
        cells, hits = np.bincount(depth), np.bincount(depth[sensitive], minlength=int(depth.max(initial=0)) + 1)
        counts += [
            LevelCount(axis.name, level, int(cells[level]), int(hits[level]))
            for level in np.flatnonzero(cells).tolist()
        ]
    return tuple(counts)


def _by_variable(table: Table, sensitive: NDArray[np.bool_]) -> tuple[VariableCount, ...]:
    finest, size = _finest(table), np.abs(table.values)
    counts = []
    for number, name in enumerate(table.variables):
        own = table.variable == number
        total = float(size[own & finest].sum())
        share = float(size[own & finest & sensitive].sum()) / total if total else None
        counts.append(VariableCount(name, int(own.sum()), int((own & sensitive).sum()), share))
    return tuple(counts)


def _finest(table: Table) -> NDArray[np.bool_]:
    """Return which cells are no sum of others of the same variable, ``(n_cells,)``.

    A relation between variables (turnover = domestic + export) makes no total, only one within a variable does.
    Relations name their total with a negative coefficient.
    """
    finest = np.ones(len(table), dtype=bool)
    matrix = table.relations.matrix.tocoo()
    variable, row = table.variable[matrix.col], matrix.row
    first, last = np.full(len(table.relations), len(table.variables)), np.full(len(table.relations), -1)
    np.minimum.at(first, row, variable)
    np.maximum.at(last, row, variable)
    finest[matrix.col[(matrix.data < 0) & (first == last)[row]]] = False
    return finest


def _most(counts: NDArray[np.int64]) -> int | None:
    """Return the largest count, None where all are unknown (negative)."""
    most = int(counts.max(initial=-1))
    return most if most >= 0 else None


def _contributors(contributors: Contributors | None) -> int | None:
    return None if contributors is None else _most(contributors.count)


def _knowledge(attacker: Attacker) -> str:
    """Return in words what an attacker knows before anything is published."""
    nothing_above = bool(attacker.upper.infinite.all())
    below = attacker.lower
    if nothing_above and bool(((below.counts == 0) | below.infinite).all()):
        nonnegative = int((~below.infinite).sum())
        if nonnegative == len(below):
            return "that no value is negative, and nothing more"
        return "nothing" if not nonnegative else f"that {nonnegative:,} of {len(below):,} values are not negative"
    bounded = int((~attacker.lower.infinite | ~attacker.upper.infinite).sum())
    return f"bounds of his own on {bounded:,} of {len(attacker):,} cells"
