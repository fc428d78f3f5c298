r"""The problem of protection in arrays: columns that may be hidden, attackers' bounds, and required levels.

With :math:`x_i \in \{0, 1\}` for *cell i is hidden*, attacker k can push cell p up to

.. math:: \max\ d_p \quad\text{s.t.}\quad M d = 0, \qquad -L_i^k x_i \le d_i \le U_i^k x_i,

(Salazar 2002, section 3), where :math:`L^k` and :math:`U^k` bound his moves. A pattern is safe when that reaches the
level of every requirement, up, down, or both together for a sliding level.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.filled_rows import take_filled_rows
from celosia.attack.system.redundancy import find_implied_rows
from celosia.attack.system.system import System, attacker_system
from celosia.pattern.pattern import Pattern
from celosia.protection.engine.levels import add_conditional_levels, find_decimals, round_up
from celosia.protection.engine.local_columns.corners import add_local_columns
from celosia.risk.attacker import Attacker
from celosia.risk.cell_levels import CellLevels
from celosia.risk.corner import Corner
from celosia.risk.risk import HIDE, SENSITIVE, SHOW, Risk
from celosia.table.product.structure import ProductStructure, find_product_structure
from celosia.table.table import whole_cells
from celosia.tolerance import ENDLESS

_N = TypeVar("_N", bound=np.generic)

_STEPS_TO_CELLS = 2  # rows from a column of a corner to cells: in linked tables joint cells lie between


@dataclass(frozen=True, slots=True, eq=False)
class ColumnRequirements:
    """The requirements of a problem: levels that attackers must be able to push cells to.

    Parameters
    ----------
    columns, attackers
        The sensitive cell, as a column of the problem, and the attacker, ``(q,)``.
    up, down, sliding
        The levels up, down and both together, in counts of the problem, rounded up, ``(q,)``. Where the cell is not
        forced, they count only if it is hidden (conditional protection; Salazar 2002, section 7).
    conditional
        Which count only if their cell is not shown, whatever the modes of publication, ``(q,)``; None for none.
    """

    columns: NDArray[np.int64]
    attackers: NDArray[np.int64]
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    sliding: NDArray[np.int64]
    conditional: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def certain(self) -> NDArray[np.bool_]:
        """Which count in any case, ``(q,)``, where cells have other modes of publication than being hidden."""
        return np.ones(len(self), dtype=bool) if self.conditional is None else ~self.conditional

    def take(self, places: NDArray[np.int64]) -> ColumnRequirements:
        """Return some of the requirements."""
        return ColumnRequirements(
            columns=self.columns[places],
            attackers=self.attackers[places],
            up=self.up[places],
            down=self.down[places],
            sliding=self.sliding[places],
            conditional=None if self.conditional is None else self.conditional[places],
        )

    def join(self, others: ColumnRequirements) -> ColumnRequirements:
        """Return these requirements, and others after them."""
        none = self.conditional is None and others.conditional is None
        return ColumnRequirements(
            columns=np.concatenate([self.columns, others.columns]),
            attackers=np.concatenate([self.attackers, others.attackers]),
            up=np.concatenate([self.up, others.up]),
            down=np.concatenate([self.down, others.down]),
            sliding=np.concatenate([self.sliding, others.sliding]),
            conditional=None if none else ~np.concatenate([self.certain, others.certain]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class ProtectionProblem:
    """Cells of which some attacker does not know the value, the relations among them, and the requirements.

    Parameters
    ----------
    cells
        The cells of the table, ``(n,)``: those that may be hidden and of which not every attacker knows the value. The
        last may be columns of requirements' own, which are no cells, and have numbers beyond the table.
    matrix
        The relations among them, ``(m, n)``, rows without a cell left out.
    implied
        Which rows the others may well imply, ``(m,)``; see `celosia.attack.system.system.System`.
    up, down
        How far every attacker believes that cells may differ from their value, ``(k, n)`` in counts,
        `celosia.tolerance.ENDLESS` where there is no end.
    cost
        What hiding a cell costs, ``(n,)``.
    forced
        Cells that are hidden in any case, ``(n,)``.
    requirements
        The requirements.
    decimals
        The decimal in which bounds and levels are counted.
    whole
        Which cells attackers know to be whole numbers, ``(n,)``: their bounds and levels are multiples of one.
    product
        The dimensions of the table, where its relations are their products; None where they are not, or not known.
    n_local
        How many columns are no cells, but of requirements' own; see `celosia.protection.engine.local_columns`.
    """

    cells: NDArray[np.int64]
    matrix: sp.csr_array
    implied: NDArray[np.bool_]
    up: NDArray[np.int64]
    down: NDArray[np.int64]
    cost: NDArray[np.float64]
    forced: NDArray[np.bool_]
    requirements: ColumnRequirements
    decimals: int
    whole: NDArray[np.bool_]
    product: ProductStructure | None = None
    n_local: int = 0

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def n_own(self) -> int:
        """How many columns are cells of the table: these come first."""
        return len(self) - self.n_local

    @property
    def own_cells(self) -> NDArray[np.int64]:
        """The cells of the table that columns stand for."""
        return self.cells[: self.n_own]

    def by_column(self, values: NDArray[_N], local: _N | float) -> NDArray[_N]:
        """Return what is given for every cell of the table by columns; those that are no cells have a number alike."""
        return np.concatenate([values[self.own_cells], np.full(self.n_local, local, dtype=values.dtype)])

    def cells_behind(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cells that some columns stand for, or are tied to where they are no cells."""
        reached = columns
        for _ in range(_STEPS_TO_CELLS):
            tied = np.diff(self.matrix[:, reached[reached >= self.n_own]].indptr) > 0
            reached = np.union1d(columns, self.matrix[np.flatnonzero(tied)].indices)
            if bool((reached < self.n_own).any()):
                break
        return np.unique(self.cells_among(reached))

    def cells_among(self, columns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cells of the table that some columns stand for; those that are no cells are left out."""
        return self.cells[columns[columns < self.n_own]]

    @property
    def n_attackers(self) -> int:
        """How many attackers there are."""
        return len(self.up)

    def system(self, columns: NDArray[np.int64], rows: NDArray[np.int64] | None = None, attacker: int = 0) -> System:
        """Return the linear system of an attacker when only some columns are hidden, and he knows only some rows.

        He does not know here that values are whole numbers, and concludes less: a requirement that he violates, an
        attacker who knows it violates as well.
        """
        known = self.matrix if rows is None else self.matrix[rows]
        matrix, used = take_filled_rows(known[:, columns])
        return System(
            cells=columns,
            matrix=matrix,
            relations=used if rows is None else rows[used],
            implied=self.implied[used] & (known.shape[0] == self.matrix.shape[0]),
            down=self.down[attacker][columns],
            up=self.up[attacker][columns],
            whole=np.zeros(len(columns), dtype=bool),
            decimals=self.decimals,
            n_cells=len(self),
        )

    @property
    def beyond(self) -> NDArray[np.bool_]:
        """Which requirements exceed their attacker's bounds, so that no pattern satisfies them, ``(q,)``."""
        requirements = self.requirements
        up, down = (bound[requirements.attackers, requirements.columns] for bound in (self.up, self.down))
        return np.asarray((requirements.up > up) | (requirements.down > down) | (requirements.sliding > up + down))

    def part(self, columns: NDArray[np.int64], requirements: NDArray[np.int64]) -> ProtectionProblem:
        """Return the problem of some columns, to which these requirements belong."""
        matrix, rows = take_filled_rows(self.matrix[:, columns])
        place = np.full(len(self), -1, dtype=np.int64)
        place[columns] = np.arange(len(columns))
        own = self.requirements.take(requirements)
        return ProtectionProblem(
            cells=self.cells[columns],
            matrix=matrix,
            implied=self.implied[rows],
            up=self.up.take(columns, axis=1),
            down=self.down.take(columns, axis=1),
            cost=self.cost[columns],
            forced=self.forced[columns],
            requirements=replace(own, columns=place[own.columns]),
            decimals=self.decimals,
            whole=self.whole[columns],
            product=None if self.product is None else self.product.take(columns),
            n_local=int((columns >= self.n_own).sum()),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Extension:
    """A problem with further requirements.

    Parameters
    ----------
    problem
        The problem. Columns more come last: they are requirements' own.
    necessary
        Every safe publication satisfies the new requirements. If false they are only sufficient, and lower bounds must
        not use them.
    before
        Which requirement each one was before, -1 for new ones, ``(q,)``; empty where a search does not ask for it.
    """

    problem: ProtectionProblem
    necessary: bool
    before: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


Extend = Callable[[NDArray[Any]], Extension | None]
"""The oracle of a search: attacks a point of its master, such as a pattern, that meets all requirements so far.

It returns the problem with requirements that would have stopped the attack, None where the point is safe, and raises
`celosia.protection.engine.stop.TimeUpError` where there is no time to find out.
"""


KnownSystems = dict[int, tuple[Attacker | Corner, System]]
"""Systems of attackers, and of corners, of a table of which the same cells may be hidden, by their identity."""


def problem_of(
    risk: Risk,
    *,
    conditional: Mapping[int, CellLevels] | None = None,
    integer: bool | None,
    known: KnownSystems | None = None,
) -> ProtectionProblem:
    """Return the problem of a risk.

    Cells that must be shown, and those that every attacker knows already, are constants.

    Parameters
    ----------
    risk
        The table, its sensitive cells, and who attacks.
    conditional
        What cells that are not sensitive must keep if they are not shown.
    integer
        Which values attackers know to be whole numbers; see `celosia.table.table.whole_cells`.
    known
        Systems of attackers that were made for the same table with fewer of them; those of others are added.

    Raises
    ------
    DataError
        An attacker believes what is not true.
    """
    table, whole = risk.table, whole_cells(risk.table, integer)
    redundant = find_implied_rows(table.relations.matrix)
    systems = _find_systems(risk, whole, redundant, {} if known is None else known)
    required = add_conditional_levels(risk, conditional or {})
    first = len(risk.requirements)
    cells = np.unique(np.concatenate([*(system.cells for system in systems), required.cells]))
    decimals = find_decimals(systems, required, whole)
    up, down = (np.zeros((len(systems), len(cells)), dtype=np.int64) for _ in range(2))
    for k, system in enumerate(systems):
        place = np.searchsorted(cells, system.cells)
        factor = 10 ** (decimals - system.digits)
        up[k, place] = np.where(system.up >= ENDLESS, ENDLESS, system.up * factor)
        down[k, place] = np.where(system.down >= ENDLESS, ENDLESS, system.down * factor)
    matrix, rows = take_filled_rows(table.relations.matrix[:, cells])
    product = find_product_structure(table)
    problem = ProtectionProblem(
        cells=cells,
        matrix=matrix,
        implied=redundant[rows],
        up=up,
        down=down,
        cost=risk.cost[cells],
        forced=np.isin(risk.status[cells], (SENSITIVE, HIDE)),
        requirements=ColumnRequirements(
            columns=np.searchsorted(cells, required.cells),
            attackers=required.attackers.astype(np.int64),
            up=round_up(required.upper, decimals, whole[required.cells]),
            down=round_up(required.lower, decimals, whole[required.cells]),
            sliding=round_up(required.sliding, decimals, whole[required.cells]),
            conditional=np.arange(len(required)) >= first if conditional else None,
        ),
        decimals=decimals,
        whole=whole[cells],
        product=None if product is None else product.take(cells),
    )
    return add_local_columns(problem, risk.corners, len(risk))


def _find_systems(
    risk: Risk, whole: NDArray[np.bool_], redundant: NDArray[np.bool_], known: KnownSystems
) -> list[System]:
    """Return the systems of all attackers, those of corners last; those that are not known are added."""
    hidden = Pattern.hide(risk.table, risk.status != SHOW).bounds()
    everyone: tuple[Attacker | Corner, ...] = (*risk.attackers, *risk.corners)
    for one in everyone:
        if id(one) not in known:
            bounds = (one.lower, one.upper) if isinstance(one, Attacker) else one.bounds(risk.table)
            names = ["release", f"attacker {one.name!r}"]
            own = attacker_system(risk.table, [hidden, bounds], names=names, whole=whole, redundant=redundant)
            known[id(one)] = one, own
    return [known[id(one)][1] for one in everyone]
