r"""The model of controlled rounding (Salazar 2002, section 5).

With the base :math:`r_i` and the multiple :math:`\lfloor a_i \rfloor` below the true value a rounding publishes

.. math:: v_i = \lfloor a_i \rfloor + r_i (x_i + p_i - m_i), \qquad x_i \in \{0, 1\}, \quad 0 \le p_i, m_i \le K,

(12) for :math:`K = 0`, with :math:`x_i = 0` where :math:`a_i` is a multiple. Where no more than q cells may change,
those are, among others, all that are no multiples; each of the others has a binary :math:`y_i` with
:math:`p_i + m_i \le K y_i`, and these are no more than what is left of q (Salazar 2002, section 7). Wanted is

.. math:: \min \sum_i w_i |v_i - a_i| \quad\text{s.t.}\quad M v = b,

such that every attacker, who knows that the truth lies in :math:`v_i \pm ((K + 1) r_i - u_i)` with the grain
:math:`u_i` of the cell, is left the levels of the sensitive cells: the second model (Figure 10), whose capacity cuts
`celosia.protection.engine.modes` separates. K > 0 is for tables of which no rounding to neighbouring multiples adds up.

All numbers are counted in units: units of the table's last decimal, or ones where all values are whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import InfeasibleError, SpecError, pluralise
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.modes.offer_changes import limit_moves
from celosia.protection.engine.modes.offers import modes_of_all_cells, offer_rounding
from celosia.protection.engine.problem import ColumnRequirements, ProtectionProblem
from celosia.protection.rounding.method import Round
from celosia.risk.risk import Risk
from celosia.solve.problem import LinearProgram
from celosia.table.units import grains_of
from celosia.tolerance import ENDLESS


@dataclass(frozen=True, eq=False)
class RoundingModel:
    """Variables, costs and slacks of a rounding.

    Parameters
    ----------
    risk
        What to protect, with the wishes of the method.
    method
        Bases, and how many extra multiples.
    integer
        All values are whole numbers; None and False leave it to variables that count.
    problem
        What must be reached.
    cells
        The cells that are rounded, increasing, ``(m,)``.
    """

    risk: Risk
    method: Round
    integer: bool | None
    problem: ProtectionProblem
    cells: NDArray[np.int64]

    @property
    def unit(self) -> int:
        """One unit, in units of the table's last decimal."""
        return 10**self.risk.table.decimals if self.integer else 1

    @property
    def scale(self) -> int:
        """One unit, in counts of the problem."""
        return int(self.unit * 10**self.problem.decimals // 10**self.risk.table.decimals)

    @cached_property
    def all_bases(self) -> NDArray[np.int64]:
        """The base of every cell of the table, ``(n_cells,)``."""
        bases = self.method.bases(self.risk.table)
        if bool((bases % self.unit).any()):
            raise SpecError.one("base", "is no whole number.", "Counts are rounded to multiples of 3, 5 or 10.")
        return bases // self.unit

    @cached_property
    def bases(self) -> NDArray[np.int64]:
        """r, the bases of the cells that are rounded, ``(m,)``."""
        return self.all_bases[self.cells]

    @cached_property
    def grains(self) -> NDArray[np.int64]:
        """u, the smallest differences between values of the cells that are rounded, ``(m,)``: 1, or one count."""
        return np.maximum(grains_of(self.risk.table)[self.cells] // self.unit, 1)

    @cached_property
    def all_truth(self) -> NDArray[np.int64]:
        """The true values of the table, ``(n_cells,)``."""
        return np.asarray(self.risk.table.amounts.counts // self.unit, dtype=np.int64)

    @cached_property
    def truth(self) -> NDArray[np.int64]:
        """a, the true values of the cells that are rounded, ``(m,)``."""
        return self.all_truth[self.cells]

    @cached_property
    def _below(self) -> NDArray[np.int64]:
        """How many multiples below the next lower one may be published: no negative numbers where there are none."""
        far = np.full(len(self.cells), np.iinfo(np.int64).max)
        return self.truth // self.bases if self.risk.table.nonnegative else far

    @cached_property
    def most_extra(self) -> int:
        """A number of extra multiples that no rounding needs."""
        return int((np.abs(self.truth) // np.maximum(self.bases, 1)).max(initial=0)) + 1

    @cached_property
    def most_moved(self) -> int | None:
        """How many multiples of their base may be published with another value; None for any number."""
        at_most = self.method.at_most
        return None if at_most is None else at_most - self._n_off

    @property
    def _n_off(self) -> int:
        """How many cells are no multiples of their base: these change in any case."""
        return int(np.count_nonzero(self.truth % self.bases))

    def refuse_limit(self) -> None:
        """Refuse a limit to the number of cells that change which no rounding keeps.

        Raises
        ------
        InfeasibleError
            More cells are no multiples.
        """
        at_most, off = self.method.at_most, self._n_off
        if at_most is not None and at_most < off:
            cells = (
                f"{pluralise(off, 'cell')} {'is' if off == 1 else 'are'} no {'multiple' if off == 1 else 'multiples'}"
            )
            raise InfeasibleError.one(
                "at_most",
                f"is {at_most}, but {cells} of the base: each is published with another value.",
                "Allow more, or show some cells as they are: 'mixed' with round_base.",
            )

    def modes(self, problem: ProtectionProblem, extra: int) -> Modes:
        """Return variables, costs and slacks with so many extra multiples, for the requirements of a problem."""
        unit = float(self.scale) * int(np.gcd.reduce(self.bases)) if len(self.bases) else 1.0
        remainder = self.truth % self.bases
        offer = offer_rounding(
            self.cells,
            self.risk.cost[self.cells] * unit / 10.0**problem.decimals,
            remainder * self.scale / unit,
            self.bases * self.scale / unit,
            self.grains * self.scale / unit,
            self._below,
            extra,
        )
        if self.most_moved is not None and extra:
            offer = limit_moves(offer, remainder == 0, extra, self.most_moved)
        return modes_of_all_cells(problem, self.risk.table, [offer], unit)

    def values(self, point: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return v at an integer point of the master, in units of the table's last decimal, ``(m,)``."""
        signs = np.array([1, 1, -1], dtype=np.int64)
        parts = np.rint(point).astype(np.int64).reshape(-1, len(self.cells))[: len(signs)]
        signs = signs[: len(parts)]
        return np.asarray((self.truth // self.bases + signs @ parts) * self.bases * self.unit)

    def program(self, cells: NDArray[np.int64], extra: int, *, limited: bool = False) -> LinearProgram | None:
        """Return the program whose solutions are roundings of some cells that add up, None where there is none.

        Limited, no more of them change than may.
        """
        table, base, truth = self.risk.table, self.all_bases[cells], self.all_truth[cells]
        remainder = truth % base
        lowest = -np.minimum(truth // base, extra) if table.nonnegative else np.full(len(cells), -extra)
        highest = (remainder > 0).astype(np.int64) + extra
        matrix = sp.csr_array(table.relations.matrix[:, cells], dtype=np.int64)
        right = np.asarray(matrix @ remainder)
        common = int(np.gcd.reduce(base)) if len(base) else 1
        if bool((right % common).any()):
            return None
        rows = sp.csr_array(matrix @ sp.diags_array((base // common).astype(np.float64)))
        side = (right // common).astype(np.float64)
        if limited and self.most_moved is not None:
            return _limit_moved(rows, side, lowest, highest, remainder == 0, self.most_moved)
        return LinearProgram(
            rows,
            side,
            side,
            lowest.astype(np.float64),
            highest.astype(np.float64),
            np.zeros(len(cells)),
            integer=np.ones(len(cells), dtype=bool),
        )

    def _places(self, requirements: ColumnRequirements) -> NDArray[np.int64]:
        """Return the places of the cells of requirements among those that are rounded, ``(q,)``."""
        return np.searchsorted(self.cells, self.problem.cells[requirements.columns])

    def find_goals_within_reach(self, extra: int) -> NDArray[np.bool_]:
        """Return which requirements some multiple next to the truth meets, as far as the cell itself goes, ``(q,)``."""
        place = self._places(self.problem.requirements)
        return self._within_reach(
            self.problem.requirements, self.bases[place], extra, signed=not self.risk.table.nonnegative
        )

    def _within_reach(
        self, requirements: ColumnRequirements, base: NDArray[np.int64], extra: int, *, signed: bool = False
    ) -> NDArray[np.bool_]:
        """Return the same for some requirements and other bases; negative numbers may be published where signed."""
        place = self._places(requirements)
        truth, grain = self.truth[place], self.grains[place]
        most_up, most_down = (
            most[requirements.attackers, requirements.columns] for most in (self.problem.up, self.problem.down)
        )
        remainder = truth % base
        reach = base * (extra + 1) - grain
        met = np.zeros(len(requirements), dtype=bool)
        for steps in range(-extra, extra + 2):
            moved = steps * base - remainder  # how far the published value lies above the truth
            allowed = (moved + truth >= 0) | signed
            if steps == extra + 1:
                allowed &= remainder > 0
            up, down = (
                np.minimum(np.minimum(slack * self.scale, ENDLESS), most)
                for slack, most in ((reach + moved, most_up), (reach - moved, most_down))
            )
            met |= allowed & (up >= requirements.up) & (down >= requirements.down) & (up + down >= requirements.sliding)
        return met

    def find_larger_base(self, requirements: ColumnRequirements, extra: int, tried: int) -> int:
        """Return a base that meets some requirements, the smallest if it is among the next `tried`.

        With a base of at least UPL + LPL + 2 grains, and half of SPL and a grain, one of the two multiples next to any
        truth meets all levels.
        """
        place = self._places(requirements)
        base, grain, scale = self.bases[place], self.grains[place], self.scale
        coarse = int(grain.max(initial=1))
        wanted = np.maximum(
            requirements.up + requirements.down + 2 * scale * grain, -(-requirements.sliding // 2) + scale * grain
        )
        enough = max(int(-(-wanted.max(initial=0) // scale)), int(base.max(initial=1)))
        enough = -(-enough // coarse) * coarse
        first = (int(base.min(initial=enough)) // coarse + 1) * coarse
        for larger in range(first, min(enough, first + tried * coarse), coarse):
            if bool(self._within_reach(requirements, np.full(len(requirements), larger), extra).all()):
                return larger
        return enough

    def lower_levels(self, requirements: ColumnRequirements) -> ColumnRequirements:
        """Return requirements with levels lowered to what the nearest multiples of each base can give."""
        place = self._places(requirements)
        grain = self.grains[place] * self.scale
        either = self.bases[place] * self.scale - grain
        remainder = (self.truth[place] % self.bases[place]) * self.scale
        up = np.maximum(either - remainder, 0)
        down = np.maximum(np.where(remainder > 0, remainder - grain, either), 0)
        return replace(
            requirements,
            up=np.minimum(requirements.up, up),
            down=np.minimum(requirements.down, down),
            sliding=np.minimum(requirements.sliding, up + down),
        )


def _limit_moved(
    rows: sp.csr_array,
    side: NDArray[np.float64],
    lowest: NDArray[np.int64],
    highest: NDArray[np.int64],
    whole: NDArray[np.bool_],
    most: int,
) -> LinearProgram:
    """Return the program of roundings that add up, of whose multiples no more than so many move, by a binary each."""
    m, at = len(lowest), np.flatnonzero(whole)
    many, far = len(at), np.maximum(-lowest, highest)[at].astype(np.float64)
    picked = sp.csr_array((np.ones(many), (np.arange(many), at)), shape=(many, m))
    blocks = [
        [rows, None],
        [picked, sp.diags_array(far)],
        [-picked, sp.diags_array(far)],
        [None, sp.csr_array(np.ones((1, many)))],
    ]
    none, open_ = np.zeros(2 * many), np.full(2 * many, np.inf)
    return LinearProgram(
        sp.csr_array(sp.block_array(blocks, format="csr")),
        np.concatenate([side, none, [-np.inf]]),
        np.concatenate([side, open_, [float(most)]]),
        np.concatenate([lowest, np.zeros(many)]).astype(np.float64),
        np.concatenate([highest, np.ones(many)]).astype(np.float64),
        np.zeros(m + many),
        integer=np.ones(m + many, dtype=bool),
    )
