r"""The formulation of a master over modes of publication, as data: variables, costs, and slacks linear in them.

A mode of publication gives variables v, and the slacks that they open are linear in them:

.. math:: \text{upper slack of column } i = u_i + \sum_j U_{ij} v_j + \mathrm{UB}_i^k\, x_i, \qquad
          \text{lower slack} = l_i + \sum_j L_{ij} v_j + \mathrm{LB}_i^k\, x_i,

where :math:`x_i` is the variable that hides the column, if there is one, and :math:`\mathrm{UB}^k, \mathrm{LB}^k` are
the bounds of attacker k (Salazar 2002, sections 3 to 6; (1), (9) and Figures 10 and 13). A column may be offered in
several modes, whose slacks add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.engine.problem import ProtectionProblem
from celosia.risk.cost_step import CostStep
from celosia.solve.problem import LinearProgram
from celosia.tolerance import USUAL_ENTRIES

Entries = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]
"""Rows, columns and values of a sparse matrix."""


@dataclass(frozen=True, slots=True, eq=False)
class Offer:
    """One mode of publication for some columns of a problem: its variables, and the slacks that they open.

    Parameters
    ----------
    columns
        The columns of the problem, ``(m,)``.
    lower, upper, cost
        Of the variables, ``(v,)`` each.
    integer
        Which variables are whole numbers, ``(v,)``.
    up, down
        Slacks by unit of each variable: places in `columns`, variables, values.
    up_constant, down_constant
        Slacks in any case, ``(m,)``.
    hiding
        The variable that hides each column, ``(m,)``; None where none does.
    opening
        The variable without which the slack of each column is zero, ``(m,)``; None where there is none.
    taking
        The variable without which the offer is not taken, and opens no slack of a column, ``(m,)``; None where it is
        taken in any case, or `opening` or `hiding` says so.
    published
        How far the published number lies above the truth, by unit of each variable, where one is published; None where
        none is.
    published_constant
        The same in any case, ``(m,)``.
    rows, row_lower, row_upper
        What else holds among the variables.
    paid
        What it costs in any case, by variable, ``(v,)``; None for nothing.
    """

    columns: NDArray[np.int64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    cost: NDArray[np.float64]
    integer: NDArray[np.bool_]
    up: Entries
    down: Entries
    up_constant: NDArray[np.float64] | None = None
    down_constant: NDArray[np.float64] | None = None
    hiding: NDArray[np.int64] | None = None
    opening: NDArray[np.int64] | None = None
    taking: NDArray[np.int64] | None = None
    published: Entries | None = None
    published_constant: NDArray[np.float64] | None = None
    rows: sp.csr_array | None = None
    row_lower: NDArray[np.float64] | None = None
    row_upper: NDArray[np.float64] | None = None
    paid: NDArray[np.float64] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Modes:
    """All modes in which the columns of a problem may be published, together.

    Parameters
    ----------
    program
        The variables: their bounds and costs, which are whole numbers, and what holds among them.
    starts
        Where the variables of each offer begin, and where the last end.
    up, down
        Slacks by unit of each variable, ``(n, v)``.
    up_constant, down_constant
        Slacks in any case, ``(n,)``.
    hiding, opening
        The variable that hides each column, and the one without which its slacks are zero; -1 where none, ``(n,)``.
    gates
        The binary variables that open columns in any of their modes, each by itself, ``(n, v)``.
    paid
        What it costs in any case, by variable, ``(v,)``.
    unit
        How many counts of the problem are one unit of all slacks here.
    """

    program: LinearProgram
    starts: NDArray[np.int64]
    up: sp.csr_array
    down: sp.csr_array
    up_constant: NDArray[np.float64]
    down_constant: NDArray[np.float64]
    hiding: NDArray[np.int64]
    opening: NDArray[np.int64]
    gates: sp.csr_array
    paid: NDArray[np.float64]
    unit: float

    @classmethod
    def of(cls, problem: ProtectionProblem, offers: Sequence[Offer], unit: float) -> Modes:
        """Return the modes in which the columns of a problem may be published."""
        n = len(problem)
        starts = np.cumsum([0, *(len(offer.cost) for offer in offers)])
        v = int(starts[-1])
        constants = [np.zeros(n), np.zeros(n)]
        variables = [np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)]
        for offer, start in zip(offers, starts[:-1].tolist(), strict=True):
            for total, own in zip(constants, (offer.up_constant, offer.down_constant), strict=True):
                if own is not None:
                    total[offer.columns] += own
            for place, which in zip(variables, (offer.hiding, offer.opening), strict=True):
                if which is not None:
                    place[offer.columns] = which + start
        program = LinearProgram(
            *_collect_rows(problem, offers, starts),
            lower=np.concatenate([np.zeros(0), *(offer.lower for offer in offers)]),
            upper=np.concatenate([np.zeros(0), *(offer.upper for offer in offers)]),
            cost=np.concatenate([np.zeros(0), *(offer.cost for offer in offers)]),
            integer=np.concatenate([np.zeros(0, dtype=bool), *(offer.integer for offer in offers)]),
        )
        slacks = [
            _assemble([(offer.columns, entries) for offer, entries in zip(offers, side, strict=True)], starts, (n, v))
            for side in ([offer.up for offer in offers], [offer.down for offer in offers])
        ]
        paid = (np.zeros(len(offer.cost)) if offer.paid is None else offer.paid for offer in offers)
        return cls(
            program=program,
            starts=starts,
            up=slacks[0],
            down=slacks[1],
            up_constant=constants[0],
            down_constant=constants[1],
            hiding=variables[0],
            opening=variables[1],
            gates=_assemble([(offer.columns, _gates_of(offer)) for offer in offers], starts, (n, v)),
            paid=np.concatenate([np.zeros(0), *paid]),
            unit=unit,
        )

    def select(self, columns: NDArray[np.int64]) -> Modes:
        """Return the same variables with the slacks of some columns only."""
        return replace(
            self,
            up=sp.csr_array(self.up[columns]),
            down=sp.csr_array(self.down[columns]),
            up_constant=self.up_constant[columns],
            down_constant=self.down_constant[columns],
            hiding=self.hiding[columns],
            opening=self.opening[columns],
            gates=sp.csr_array(self.gates[columns]),
        )

    def restrict(self, columns: NDArray[np.int64], variables: NDArray[np.int64]) -> Modes:
        """Return some of the variables, increasing, with the slacks of some columns, which no others open."""
        program, place = self.program, np.full(len(self.program.cost) + 1, -1, dtype=np.int64)
        place[variables] = np.arange(len(variables))
        rows = sp.csr_array(program.rows[:, variables])
        kept = np.flatnonzero(np.diff(rows.indptr) > 0)
        own = replace(
            program,
            rows=sp.csr_array(rows[kept]),
            row_lower=program.row_lower[kept],
            row_upper=program.row_upper[kept],
            lower=program.lower[variables],
            upper=program.upper[variables],
            cost=program.cost[variables],
            integer=None if program.integer is None else program.integer[variables],
        )
        chosen = self.select(columns)
        return replace(
            chosen,
            program=own,
            starts=np.searchsorted(variables, self.starts),
            up=sp.csr_array(chosen.up[:, variables]),
            down=sp.csr_array(chosen.down[:, variables]),
            hiding=place[chosen.hiding],
            opening=place[chosen.opening],
            gates=sp.csr_array(chosen.gates[:, variables]),
            paid=self.paid[variables],
        )

    @property
    def constant(self) -> float:
        """What it costs in any case."""
        return float(self.paid.sum())

    @property
    def integers(self) -> NDArray[np.int64]:
        """The variables that are whole numbers."""
        whole = self.program.integer
        return np.zeros(0, dtype=np.int64) if whole is None else np.flatnonzero(whole)

    @property
    def cost_step(self) -> CostStep:
        """Of which all costs of safe points, what is paid in any case left out, are multiples; 0 where none is known.

        Where every variable that costs something is a whole number, costs have the step of its prices.
        """
        priced = self.program.cost != 0
        if self.program.integer is None or not bool(self.program.integer[priced].all()):
            return CostStep(0.0)
        return CostStep.of(np.abs(self.program.cost))

    @property
    def least_cost(self) -> float:
        """What every point costs at least, without any requirement."""
        program = self.program
        ends = np.where(program.cost < 0, program.upper, program.lower)
        priced = program.cost != 0
        return self.constant + float(program.cost[priced] @ ends[priced])

    @property
    def only_widen(self) -> bool:
        """Whether no variable makes a slack smaller, as it is with ranges."""
        return bool((self.up.data >= 0).all() and (self.down.data >= 0).all())

    def widen_to(
        self, v: NDArray[np.float64], up: NDArray[np.float64], down: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return a point, no smaller, whose variables, each by itself, open at least these slacks, ``(n,)`` each."""
        out = v.copy()
        for matrix, needed in ((self.up, up), (self.down, down)):
            entries = sp.coo_array(matrix)
            opens = entries.data > 0
            np.maximum.at(out, entries.col[opens], needed[entries.row[opens]] / entries.data[opens])
        return out

    def slacks(self, v: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the slacks of every column at a point, hiding left out: up and down, ``(n,)`` each."""
        up, down = self.up_constant + self.up @ v, self.down_constant + self.down @ v
        return np.maximum(up, 0.0), np.maximum(down, 0.0)

    def tidy(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return a point whose whole numbers are whole, and whose slacks are zero where no variable opens them."""
        whole = self.program.integer
        tidy = v.copy() if whole is None else np.where(whole, np.rint(v), v)
        closed = np.flatnonzero((self.opening >= 0) & (tidy[np.maximum(self.opening, 0)] == 0))
        for side in (self.up, self.down):
            tidy[side[closed].indices] = 0.0
        return tidy

    def hidden_shares(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much every column is hidden at a point, ``(n,)``."""
        return np.where(self.hiding >= 0, v[np.maximum(self.hiding, 0)], 0.0)

    def open_shares(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much every column is opened by binary variables at a point, ``(n,)``: 1 where it is."""
        return np.asarray(np.clip(self.gates @ v, 0.0, 1.0))

    def hides(self, v: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which columns are hidden at an integer point, ``(n,)``."""
        return np.asarray(np.rint(self.hidden_shares(v)) > 0)

    def cost(self, v: NDArray[np.float64]) -> float:
        """Return what a point costs."""
        return self.constant + float(self.program.cost @ v)


def _gates_of(offer: Offer) -> Entries:
    """Return the variables that open the columns of an offer, as entries."""
    given = [which for which in (offer.hiding, offer.opening, offer.taking) if which is not None]
    places = np.tile(np.arange(len(offer.columns)), len(given))
    return places, np.concatenate([np.zeros(0, dtype=np.int64), *given]), np.ones(len(places))


def _assemble(
    parts: Sequence[tuple[NDArray[np.int64], Entries]], starts: NDArray[np.int64], shape: tuple[int, int]
) -> sp.csr_array:
    """Return the entries of all offers in one matrix of columns of the problem and variables."""
    rows = [columns[entries[0]] for columns, entries in parts]
    places = [entries[1] + start for (_, entries), start in zip(parts, starts[:-1].tolist(), strict=True)]
    values = [entries[2] for _, entries in parts]
    empty = np.zeros(0, dtype=np.int64)
    return sp.csr_array(
        sp.coo_array(
            (
                np.concatenate([np.zeros(0), *values]),
                (np.concatenate([empty, *rows]), np.concatenate([empty, *places])),
            ),
            shape=shape,
        )
    )


def _collect_rows(
    problem: ProtectionProblem, offers: Sequence[Offer], starts: NDArray[np.int64]
) -> tuple[sp.csr_array, NDArray[np.float64], NDArray[np.float64]]:
    """Return the offers' own rows, and the relations of which all cells have published numbers."""
    v = int(starts[-1])
    rows, lower, upper = [sp.csr_array((0, v))], [np.zeros(0)], [np.zeros(0)]
    for offer, start in zip(offers, starts[:-1].tolist(), strict=True):
        if offer.rows is not None and offer.row_lower is not None and offer.row_upper is not None:
            wide = sp.csr_array(offer.rows)
            rows.append(sp.csr_array((wide.data, wide.indices + start, wide.indptr), shape=(wide.shape[0], v)))
            lower.append(offer.row_lower)
            upper.append(offer.row_upper)
    additive = _additivity_rows(problem, offers, starts)
    rows.append(additive[0])
    lower.append(additive[1])
    upper.append(additive[1])
    return balance_rows(sp.csr_array(sp.vstack(rows)), np.concatenate(lower), np.concatenate(upper))


def balance_rows(
    rows: sp.csr_array, lower: NDArray[np.float64], upper: NDArray[np.float64]
) -> tuple[sp.csr_array, NDArray[np.float64], NDArray[np.float64]]:
    """Return rows and their sides, those with entries of unusual size times a power of two that centres them on one.

    Slacks of cells of one unit beside those of 10^15 link to their binary variables by such entries.
    """
    size = np.abs(rows.data)
    owner = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    unusual = np.zeros(rows.shape[0], dtype=bool)
    unusual[owner[(size > 0) & ((size < USUAL_ENTRIES[0]) | (size > USUAL_ENTRIES[1]))]] = True
    if not bool(unusual.any()):
        return rows, lower, upper
    bits = np.log2(np.where(size > 0, size, 1.0))
    least, most = np.zeros(rows.shape[0]), np.zeros(rows.shape[0])
    np.minimum.at(least, owner, bits)
    np.maximum.at(most, owner, bits)
    scale = np.where(unusual, 2.0 ** -np.rint((least + most) / 2), 1.0)
    return sp.csr_array(sp.diags_array(scale) @ rows), lower * scale, upper * scale


def _additivity_rows(
    problem: ProtectionProblem, offers: Sequence[Offer], starts: NDArray[np.int64]
) -> tuple[sp.csr_array, NDArray[np.float64]]:
    """Return the relations of published numbers, as rows over the variables, and their right sides."""
    n, v = len(problem), int(starts[-1])
    silent = np.zeros(n, dtype=bool)
    constant = np.zeros(n)
    moved: list[tuple[NDArray[np.int64], Entries]] = []
    none = np.zeros(0, dtype=np.int64)
    for offer in offers:
        silent[offer.columns] |= offer.published is None
        moved.append((offer.columns, offer.published or (none, none, np.zeros(0))))
        if offer.published_constant is not None:
            constant[offer.columns] += offer.published_constant
    if bool(silent.all()) or all(offer.published is None for offer in offers):
        return sp.csr_array((0, v)), np.zeros(0)
    matrix = sp.csr_array(problem.matrix, dtype=np.float64)
    whole = np.flatnonzero((abs(matrix) @ silent.astype(np.float64)) == 0)
    rows = sp.csr_array(matrix[whole] @ _assemble(moved, starts, (n, v)))
    return rows, -(matrix[whole] @ constant)
