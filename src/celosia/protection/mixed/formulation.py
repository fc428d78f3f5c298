r"""The formulation of a mixed release: cells are shown, hidden, ranges, rounded or perturbed, each in one way.

With :math:`x_i, y_i, y'_i \in \{0, 1\}` for *cell i is hidden, rounded, perturbed* and the variables of the single
modes (`celosia.protection.engine.modes.offers`; Salazar 2002, section 7, has such combinations),

.. math:: \min \sum_i w_i^+ z_i^+ + w_i^- z_i^- + h_i x_i + n_i (y_i + y'_i) + m_i |v_i - a_i|, \qquad
          x_i + y_i + y'_i \le 1, \quad z_i^\pm \le B (1 - y_i - y'_i).

What is published adds up: some table has the published numbers, a value within every range, and any value where a cell
is hidden. With :math:`v_i - a_i` how far a number moves, and a completion d of the cells without a number,

.. math:: M (v - a + d) = 0, \qquad -z_i^- - B x_i \le d_i \le z_i^+ + B x_i,

so that numbers alone add up exactly wherever a relation has nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.system.decomposition import decompose
from celosia.protection.combined.formulation import widest_range
from celosia.protection.engine.modes.modes import Modes, Offer, balance_rows
from celosia.protection.engine.modes.offer_changes import count_openings, make_optional, price_ranges, rescale
from celosia.protection.engine.modes.offers import offer_hiding, offer_perturbation, offer_rounding
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.intervals.formulation import Prices, offer_range_ends, unit_of
from celosia.protection.mixed.numbers import Numbers
from celosia.protection.mixed.parameters import MIXED, MixedParameters
from celosia.solve.problem import LinearProgram

_NO_COLUMNS = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class HidingPrices(Prices):
    """What ranges of the columns of a problem cost, and what hiding them does.

    Parameters
    ----------
    hide
        What hiding costs, ``(n,)``, infinite where that is not allowed.
    forced
        Which columns are hidden in any case, ``(n,)``; None for none.
    counted
        Every range has a binary variable, because cells that are not shown are counted.
    at_most
        The largest number of cells that are not shown; None for any number.
    """

    hide: NDArray[np.float64]
    forced: NDArray[np.bool_] | None = None
    counted: bool = False
    at_most: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class NumberPrices:
    """What rounded and perturbed numbers of the columns of a problem cost.

    Parameters
    ----------
    move
        By unit of the table that they lie from the truth, ``(n,)``.
    fixed
        Whatever the distance, ``(n,)``.
    """

    move: NDArray[np.float64]
    fixed: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """What a point of mixed modes publishes about the columns of a problem.

    Parameters
    ----------
    hidden
        Which are hidden, ``(n,)``.
    down, up
        The slacks of all others, in counts of the problem, ``(n,)`` each.
    rounded, multiples
        Columns that are rounded, and to which multiple of their base.
    perturbed, moves
        Columns that are perturbed, and by how many steps.
    """

    hidden: NDArray[np.bool_]
    down: NDArray[np.float64]
    up: NDArray[np.float64]
    rounded: NDArray[np.int64]
    multiples: NDArray[np.int64]
    perturbed: NDArray[np.int64]
    moves: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class MixedModes:
    """Modes of a mixed release, and where their variables are.

    Parameters
    ----------
    modes
        The modes.
    numbers
        What may be rounded and perturbed.
    """

    modes: Modes
    numbers: Numbers

    @classmethod
    def of(
        cls,
        problem: ProtectionProblem,
        prices: HidingPrices,
        most: NDArray[np.float64],
        numbers: Numbers,
        number_prices: NumberPrices,
        parameters: MixedParameters = MIXED,
    ) -> MixedModes:
        """Return the modes; `most` are the greatest widths of ranges in counts, ``(n,)``."""
        unit, reach = unit_of(problem), _completion_reach(problem, numbers, parameters.completion_factor)
        made = [
            _offer_ranges(problem, prices, most, unit, max(widest_range(problem, parameters.widest_levels), reach)),
            _offer_hiding(prices),
            _offer_rounding(problem, numbers, number_prices, unit),
            _offer_perturbation(problem, numbers, number_prices, unit),
            _offer_completions(prices, most, reach / unit),
        ]
        modes = Modes.of(problem, [replace(offer, published=None) for offer in made], unit)
        modes.opening[numbers.columns] = -1  # a range is not all that opens these
        rows = _MixedRows(problem, modes, made)
        rows.add_choices(numbers.columns)
        rows.add_completions()
        modes = replace(modes, program=rows.add_to(modes.program))
        return cls(count_openings(modes, prices.at_most) if prices.counted else modes, numbers)

    @property
    def widest(self) -> NDArray[np.float64]:
        """The point that hides or widens everything that may be: dear, but mostly safe."""
        modes, n = self.modes, len(self.modes.hiding)
        point = np.zeros(len(modes.program.cost))
        point[: 2 * n] = np.where(np.tile(modes.hiding < 0, 2), modes.program.upper[: 2 * n], 0.0)
        point[modes.starts[1] : modes.starts[2]] = 1.0
        if modes.starts[1] > 2 * n:  # ranges are counted
            point[2 * n : 3 * n] = modes.hiding < 0
        return point

    def read(self, v: NDArray[np.float64]) -> Choice:
        """Return what a point publishes."""
        modes = self.modes
        starts = modes.starts.tolist()
        roundings, moves = self.numbers.roundings, self.numbers.moves
        up, down = modes.slacks(v)
        first, taken = np.split(np.rint(v[starts[2] : starts[3]]).astype(np.int64), 2)
        rounds = np.flatnonzero(taken)
        far_up, far_down, taken = np.split(np.rint(v[starts[3] : starts[4]]).astype(np.int64), 3)
        perturbs = np.flatnonzero(taken)
        return Choice(
            hidden=modes.hides(v),
            down=down * modes.unit,
            up=up * modes.unit,
            rounded=roundings.columns[rounds],
            multiples=(roundings.truth // roundings.base + first)[rounds],
            perturbed=moves.columns[perturbs],
            moves=((far_up - far_down) * moves.grain)[perturbs],
        )


def formulate_without_numbers(
    problem: ProtectionProblem, prices: HidingPrices, most: NDArray[np.float64], parameters: MixedParameters = MIXED
) -> Modes:
    """Return the modes in which cells are shown, hidden or ranges, whose ends are variables."""
    unit = unit_of(problem)
    furthest = widest_range(problem, parameters.widest_levels) if prices.counted else np.inf
    ranges = _offer_ranges(problem, prices, most, unit, furthest)
    modes = Modes.of(problem, [ranges, _offer_hiding(prices)], unit)
    return count_openings(modes, prices.at_most) if prices.counted else modes


def _offer_ranges(
    problem: ProtectionProblem, prices: HidingPrices, most: NDArray[np.float64], unit: float, furthest: float
) -> Offer:
    """Return the offer to publish ranges, each with a binary variable where they are counted."""
    offer = offer_range_ends(problem, prices, most, unit, furthest)
    none = np.zeros(len(problem))
    return price_ranges(offer, none, none > 0) if prices.counted else offer


def _offer_hiding(prices: HidingPrices) -> Offer:
    """Return the offer to hide columns, where that is allowed."""
    columns = np.flatnonzero(np.isfinite(prices.hide))
    forced = np.zeros(len(columns), dtype=bool) if prices.forced is None else prices.forced[columns]
    return offer_hiding(columns, prices.hide[columns], forced)


def _offer_rounding(problem: ProtectionProblem, numbers: Numbers, prices: NumberPrices, unit: float) -> Offer:
    """Return the offer to round columns, where that is allowed."""
    own = numbers.roundings
    scale = numbers.step / unit
    cost = prices.move[own.columns] * (unit / 10**problem.decimals)
    remainder = own.remainder.astype(np.float64) * scale
    offer = offer_rounding(own.columns, cost, remainder, own.base * np.float64(scale), own.grain * np.float64(scale))
    return make_optional(offer, prices.fixed[own.columns] + cost * remainder)


def _offer_perturbation(problem: ProtectionProblem, numbers: Numbers, prices: NumberPrices, unit: float) -> Offer:
    """Return the offer to perturb columns, where that is allowed."""
    own, ends = numbers.moves, numbers.moves.ends
    cost = prices.move[own.columns] * own.grain * (numbers.step / 10**problem.decimals)
    offer = offer_perturbation(
        own.columns,
        (cost, cost),
        own.reach.astype(np.float64),
        (ends.most_up.astype(np.float64), ends.most_down.astype(np.float64)),
        (ends.least_up.astype(np.float64), ends.least_down.astype(np.float64)),
        integer=True,
    )
    offer = rescale(offer, own.grain * np.float64(numbers.step / unit))
    return make_optional(offer, prices.fixed[own.columns])


def _completion_reach(problem: ProtectionProblem, numbers: Numbers, factor: float) -> float:
    """Return how far completions may lie from the truth, in counts: in networks no further than all moves together."""
    parts = decompose(problem.system(np.arange(len(problem))))
    return numbers.furthest * (1.0 if bool(parts.network.all()) else factor)


def _offer_completions(prices: HidingPrices, most: NDArray[np.float64], furthest: float) -> Offer:
    """Return the variables d of columns that may be ranges or hidden; they open no slack and cost nothing."""
    columns = np.flatnonzero((most > 0) | np.isfinite(prices.hide))
    far = np.full(len(columns), furthest)
    nothing = (_NO_COLUMNS, _NO_COLUMNS, np.zeros(0))
    return Offer(columns, -far, far, np.zeros(len(columns)), np.zeros(len(columns), dtype=bool), nothing, nothing)


class _MixedRows:
    """Rows among the variables of several offers: ranges, hidden, rounded, perturbed, completions."""

    def __init__(self, problem: ProtectionProblem, modes: Modes, made: list[Offer]) -> None:
        self.problem, self.program, self.starts, self.offers = problem, modes.program, modes.starts.tolist(), made
        self.rows: list[sp.csr_array] = []
        self.lower: list[NDArray[np.float64]] = []
        self.upper: list[NDArray[np.float64]] = []

    def _add(self, rows: sp.csr_array, lower: NDArray[np.float64], upper: NDArray[np.float64]) -> None:
        self.rows.append(sp.csr_array(rows))
        self.lower.append(lower)
        self.upper.append(upper)

    def _picks(self, columns: NDArray[np.int64], first: int) -> sp.csr_array:
        """Return the matrix of columns of the problem by variables, which begin at a place, one for each."""
        shape = (len(self.problem), self.starts[-1])
        return sp.csr_array((np.ones(len(columns)), (columns, first + np.arange(len(columns)))), shape=shape)

    @property
    def _slacks(self) -> tuple[sp.csr_array, sp.csr_array]:
        """By columns: how far ranges go up and down."""
        every = np.arange(len(self.problem))
        return self._picks(every, 0), self._picks(every, len(every))

    @property
    def _hides(self) -> sp.csr_array:
        return self._picks(self.offers[1].columns, self.starts[1])

    @property
    def _numbers(self) -> sp.csr_array:
        """By columns: the variables that round and perturb."""
        total = sp.csr_array((len(self.problem), self.starts[-1]))
        for which in (2, 3):
            columns = self.offers[which].columns
            total = sp.csr_array(total + self._picks(columns, self.starts[which + 1] - len(columns)))
        return total

    def add_choices(self, columns: NDArray[np.int64]) -> None:
        """Demand that a column with numbers is published in one way."""
        n, many = len(self.problem), len(columns)
        open_ = np.full(many, -np.inf)
        self._add((self._numbers + self._hides)[columns], open_, np.ones(many))
        for side, slack in enumerate(self._slacks):
            most = self.program.upper[side * n : (side + 1) * n]
            self._add((slack + sp.diags_array(most) @ self._numbers)[columns], open_, most[columns])

    def add_completions(self) -> None:
        """Demand that what is published adds up."""
        columns, shape = self.offers[4].columns, (len(self.problem), self.starts[-1])
        completed = self._picks(columns, self.starts[4])
        far = float(self.offers[4].upper.max(initial=0.0))
        up, down = self._slacks
        many, hides = len(columns), far * self._hides
        self._add((up + hides - completed)[columns], np.zeros(many), np.full(many, np.inf))
        self._add((down + hides + completed)[columns], np.zeros(many), np.full(many, np.inf))
        for which in (2, 3):
            offer = self.offers[which]
            if offer.published is not None:
                places, variables, values = offer.published
                at = (offer.columns[places], variables + self.starts[which])
                completed = sp.csr_array(completed + sp.csr_array((values, at), shape=shape))
        sums = sp.csr_array(self.problem.matrix, dtype=np.float64) @ completed
        none = np.zeros(self.problem.matrix.shape[0])
        self._add(sums, none, none)

    def add_to(self, program: LinearProgram) -> LinearProgram:
        """Return a program with all these rows as well."""
        rows, lower, upper = balance_rows(
            sp.csr_array(sp.vstack([program.rows, *self.rows])),
            np.concatenate([program.row_lower, *self.lower]),
            np.concatenate([program.row_upper, *self.upper]),
        )
        return replace(program, rows=rows, row_lower=lower, row_upper=upper)
