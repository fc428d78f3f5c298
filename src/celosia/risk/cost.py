"""What hiding a cell costs: sums of powers of simple measures.

A cost is written as people write it: ``value``, ``unity``, ``frequency``, ``log``, a column of the cells,
``value^0.5``, ``0.5*value + 2*unity``; ``value^-1`` is what a unit costs in proportion to the value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.errors import DataError, SpecError, nearest, pluralise
from celosia.table.table import Table

_TERM = re.compile(r"\s*(?:(\d+(?:\.\d+)?)\s*\*\s*)?([^\s*^+]+)\s*(?:\^\s*(-?\d+(?:\.\d+)?))?\s*")
_MEASURES = ("unity", "value", "frequency", "log")


@dataclass(frozen=True, slots=True)
class Cost:
    r"""A cost :math:`\sum_k f_k\, m_k^{\lambda_k}` of hiding a cell.

    Parameters
    ----------
    terms
        (factor, measure, power): a measure is ``unity``, ``value`` (absolute, at least one unit of the last decimal),
        ``frequency`` (the number of respondents), ``log`` (of one plus the absolute value), or a column that came with
        the cells. A power may be negative: Baena, Castro and González weigh by ``value^-1`` and ``value^-0.5``.

    >>> Cost.parse("0.5*value^0.5 + unity").terms
    ((0.5, 'value', 0.5), (1.0, 'unity', 1.0))
    """

    terms: tuple[tuple[float, str, float], ...]

    @classmethod
    def parse(cls, text: str) -> Cost:
        """Return the cost that a text describes.

        Raises
        ------
        SpecError
            The text is no sum of terms.
        """
        terms = []
        for part in text.split("+"):
            match = _TERM.fullmatch(part)
            if match is None:
                remedy = "Write it like 'value', 'value^0.5' or '0.5*value + 2*unity'."
                raise SpecError.one("cost", f"cannot be read at {part.strip()!r}.", remedy)
            terms.append((float(match[1] or 1), match[2], float(match[3] or 1)))
        return cls(tuple(terms))

    def of(self, table: Table) -> NDArray[np.float64]:
        """Return the cost of every cell, ``(n_cells,)``.

        Raises
        ------
        SpecError
            A measure is unknown, or the table does not know it.
        DataError
            A column is negative or has gaps, or a negative power of zero is asked for.
        """
        total = np.zeros(len(table))
        for factor, measure, power in self.terms:
            numbers = _measure(measure, table)
            zero = np.flatnonzero(numbers == 0)
            if power < 0 and len(zero):
                first, many = table.label(int(zero[0])), pluralise(len(zero), "cell")
                message = f"{measure!r} is zero in {many}, the first being {first}, and has no negative power there."
                raise DataError.one("cost", message, "Use 'value', which counts zeros as one unit of the last decimal.")
            total += factor * numbers**power
        return total


def _measure(name: str, table: Table) -> NDArray[np.float64]:
    values = np.abs(table.values)
    if name == "unity":
        return np.ones(len(table))
    if name == "value":
        return np.maximum(values, 10.0**-table.decimals)
    if name == "log":
        return np.log1p(values)
    if name == "frequency":
        if table.statistics is None or bool((table.statistics.respondents.count < 0).any()):
            raise SpecError.one(
                "cost", "'frequency' needs the number of contributors of every cell.", "Use 'value' or 'unity'."
            )
        return np.maximum(table.statistics.respondents.count.astype(np.float64), 1.0)
    if name not in table.extras or table.extras[name].dtype.kind not in "fiu":
        raise SpecError.one("cost", f"{name!r} is not a measure.", nearest(name, [*_MEASURES, *table.extras]))
    column = table.extras[name].astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(column) & (column >= 0)))
    if len(wrong):
        first = table.label(int(wrong[0]))
        message = f"column {name!r} is negative or has gaps in {len(wrong)} cells, the first being {first}."
        raise DataError.one("cost", message, "Costs are numbers from zero up.")
    return column
