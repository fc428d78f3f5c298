"""The contributors to cells, as rules count them: units of equal weight, largest first, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, SpecError
from celosia.risk.rules.exact import divide_rounding_up, roomy, spread
from celosia.table.fixed import Fixed
from celosia.table.statistics import NO_SHADOW, Contributors, Statistics
from celosia.tolerance import LEVEL_DECIMALS

if TYPE_CHECKING:
    from celosia.table.table import Table


@dataclass(frozen=True, slots=True, eq=False)
class CellContributors:
    """The contributors of one kind to the cells of a table, with the rule that asks about them.

    Parameters
    ----------
    table
        The table.
    statistics
        Its statistics.
    contributors
        The contributors of the kind that the rule looks at.
    words
        The rule, for messages.
    """

    table: Table
    statistics: Statistics
    contributors: Contributors
    words: str

    @property
    def total(self) -> NDArray[np.int64]:
        """The sum of absolute contributions, ``(n_cells,)``."""
        return self.contributors.total

    def target_and_rest(self, coalition: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the largest contribution without waiver, and what remains without it and the largest others.

        The largest one is the worst target: leaving out the target and the coalition removes most when it is among the
        largest.
        """
        found = self.contributors
        target = found.targets[:, 0]
        self._check_known(np.ones(len(target), dtype=bool), target)
        if not coalition:
            return target, np.maximum(found.total - target, 0)
        together, _ = self._take(found.largest, found.weighted, found.count, coalition + 1)
        others, least = self._take(found.largest, found.weighted, found.count, coalition)
        removed = np.where(target >= least, together, others + target)  # among the largest, or beside them
        return target, np.maximum(found.total - removed, 0)

    def level(self, numerator: NDArray[Any], denominator: int) -> Fixed:
        """Return levels ``numerator / denominator`` of the statistics as distances of the table's values, rounded up.

        Where the rules look at a shadow variable, a level keeps its proportion: it is the same share of the value as of
        the shadow.
        """
        decimals = self.table.decimals + LEVEL_DECIMALS
        where = np.flatnonzero(numerator > 0)
        factor = 10 ** max(0, decimals - self.statistics.decimals)
        divisor = denominator * 10 ** max(0, self.statistics.decimals - decimals)
        common = gcd(factor, divisor)
        (part,) = roomy(factor // common, numerator[where])
        counts = divide_rounding_up(part * (factor // common), divisor // common)
        if self.statistics.shadow is not None:
            counts = self._in_proportion(counts, numerator, denominator, where)
        return spread(counts, where, len(numerator), decimals)

    def _in_proportion(
        self, counts: NDArray[Any], numerator: NDArray[Any], denominator: int, where: NDArray[np.int64]
    ) -> NDArray[Any]:
        """Return the levels with those of shadowed cells as the same share of the value as of the shadow."""
        shadow = self.statistics.shadow
        shadowed = np.flatnonzero(np.asarray(shadow)[where] != NO_SHADOW)
        cells = where[shadowed]
        value = np.abs(self.table.amounts.counts[cells]).astype(object)
        total = np.maximum(self.total[cells], 1).astype(object) * denominator
        out = counts.astype(object)
        out[shadowed] = divide_rounding_up(numerator[cells].astype(object) * value * 10**LEVEL_DECIMALS, total)
        return out

    def decimal(self, amounts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return amounts of the statistics as doubles."""
        return Fixed(amounts, self.statistics.decimals).floats

    def _take(
        self, values: NDArray[np.int64], masses: NDArray[np.int64], count: NDArray[np.int64], units: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return what the largest units contribute, and the value of the last of them (0 where there are fewer).

        A contributor of weight w is w units, the last of them perhaps in part: as much of him is taken as is still
        wanted.
        """
        scale = 10**self.statistics.weight_decimals
        wanted = np.full(len(values), units * scale, dtype=np.int64)
        mass = np.zeros(len(values), dtype=np.int64)
        least = np.zeros(len(values), dtype=np.int64)
        for place in range(values.shape[1]):
            value, full = values[:, place], masses[:, place]
            takes = (wanted > 0) & (value > 0)
            self._check_known(wanted > 0, value)
            big_value, big_full = roomy(units * scale, value, full)
            weight = np.where(takes, big_full * scale // np.maximum(big_value, 1), 0)
            share = np.minimum(full, divide_rounding_up(big_value * np.minimum(weight, wanted), scale))
            share = np.where(weight <= wanted, full, share)
            mass += np.where(takes, share, 0).astype(np.int64)
            least = np.where(takes, value, least)
            wanted = np.maximum(wanted - weight.astype(np.int64), 0)
        short = (wanted > 0) & (count > values.shape[1]) & (values[:, -1] > 0)
        if bool(short.any()):
            need = "more" if self.statistics.weight_decimals else str(units)
            remedy = f"Give or keep more of them: largest={max(units, values.shape[1] + 1)}."
            raise SpecError.one(
                self.words, f"needs the {need} largest contributions, {values.shape[1]} are known.", remedy
            )
        return mass, np.where(wanted > 0, 0, least)

    def _check_known(self, needed: NDArray[np.bool_], value: NDArray[np.int64]) -> None:
        gaps = np.flatnonzero(needed & (value < 0))
        if len(gaps):
            label = self.table.label(int(gaps[0]))
            message = f"needs contributions that are not known in {len(gaps)} cells, the first being {label}."
            raise DataError.one(self.words, message, "Give more of the largest contributions, or use another rule.")


def cells_of(table: Table, contributors: Contributors, words: str) -> CellContributors:
    """Return the contributors of a table for a rule.

    Raises
    ------
    SpecError
        The table knows no contributors.
    DataError
        Some cells' contributors are not known.
    """
    if table.statistics is None:
        raise SpecError.one(words, "needs contributors, which the table does not know.")
    unknown = np.flatnonzero((contributors.count < 0) | (contributors.total < 0))
    if len(unknown):
        message = (
            f"the contributors of {len(unknown)} cells are not known, the first being {table.label(int(unknown[0]))}."
        )
        raise DataError.one(words, message, "Give them, or leave the rule out.")
    return CellContributors(table, table.statistics, contributors, words)
