"""Tiwari's four examples: the printed tables, ours around the same rounded cells, and controlled rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

import celosia as cz
from celosia.protection.adjustment.method import find_kept_totals
from celosia.protection.random_rounding.nearest import find_nearest_table
from celosia.risk.risk import SAFE, SENSITIVE, Levels, Risk
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table


@dataclass(frozen=True, slots=True)
class Example:
    """One example.

    Parameters
    ----------
    inner
        The inner cells, row by row.
    levels
        Upper and lower levels of sensitive cells, by row and column from 0; totals are row or column -1.
    base
        To whose multiples cells are rounded.
    rounded
        What the paper rounds sensitive cells to.
    distortion, salazar
        The distortions that it prints for its own table and for controlled rounding.
    """

    inner: tuple[tuple[int, ...], ...]
    levels: dict[tuple[int, int], tuple[int, int]]
    base: int
    rounded: dict[tuple[int, int], int]
    distortion: float
    salazar: float


TIWARI = {
    1: Example(
        ((12, 23, 34, 3, 49, 23, 50, 17, 8, 13),),
        {(0, 3): (2, 1), (0, 8): (4, 2)},
        5,
        {(0, 3): 0, (0, 8): 10},
        3.74,
        6.63,
    ),
    2: Example(
        ((20, 10, 20, 10, 20), (10, 10, 20, 5, 15), (40, 10, 10, 20, 10), (5, 5, 15, 10, 5)),
        {(0, 0): (7, 5), (1, 2): (7, 5), (2, 3): (7, 5), (3, 3): (5, 2)},
        14,
        {(0, 0): 14, (1, 2): 28, (2, 3): 14, (3, 3): 14},
        16.43,
        28.53,
    ),
    3: Example(
        ((200, 40, 50, 200, 120), (20, 70, 60, 100, 120), (40, 90, 250, 100, 30), (100, 150, 30, 80, 150)),
        {(0, 3): (20, 10), (1, 3): (10, 5), (3, 0): (10, 5), (2, 2): (25, 20), (3, 1): (15, 7), (3, 4): (15, 7)},
        19,
        {(0, 3): 190, (1, 3): 114, (2, 2): 247, (3, 0): 95, (3, 1): 152, (3, 4): 152},
        21.45,
        34.99,
    ),
    4: Example(((20, 50, 10), (8, 19, 22), (17, 32, 12)), {(1, 2): (7, 5)}, 5, {(1, 2): 20}, 3.16, 11.40),
}
"""Tables, levels, sets of rounded cells and printed distortions of the paper."""


def round_all(numbers: tuple[int, ...]) -> dict[str, dict[str, Any]]:
    """Return for every example the distortions that are printed and those that we find, as roots of sums of squares."""
    return {str(number): _round(TIWARI[number]) for number in numbers}


def _round(example: Example) -> dict[str, Any]:
    """Return one example side by side."""
    risk, places = _risk_of(example)
    truth = risk.table.values
    cells = np.array([places[place] for place in example.rounded])
    values = np.array(list(example.rounded.values()))
    kept = find_kept_totals(risk.table, "all")
    near = find_nearest_table(risk, cells, values, kept, None, backends()[0], Clock(None))
    ours = _distort(near.values, truth) if near is not None else math.inf
    plain = cz.protect(_without_levels(risk), cz.Round(example.base), gap=0.0)
    bare = _distort(plain.pattern.published().floats, truth)
    try:
        asked = cz.protect(risk, cz.Round(example.base), gap=0.0)
        levels: float | None = _distort(asked.pattern.published().floats, truth)
    except cz.InfeasibleError:
        levels = None
    said = (
        f"printed {example.distortion}, ours {ours:.2f} around the same cells; controlled rounding to {example.base}: "
        f"printed {example.salazar}, ours {bare:.2f} without levels, "
        f"{'impossible' if levels is None else f'{levels:.2f}'} with them"
    )
    return {
        "base": example.base,
        "printed": example.distortion,
        "ours": ours,
        "printed_controlled": example.salazar,
        "controlled": bare,
        "controlled_with_levels": levels,
        "said": said,
    }


def _distort(values: NDArray[Any], truth: NDArray[np.float64]) -> float:
    return float(np.sqrt(((values - truth) ** 2).sum()))


def _without_levels(risk: Risk) -> Risk:
    none = Fixed(np.zeros(len(risk), dtype=np.int64))
    status = np.full(len(risk), SAFE)
    return Risk(risk.table, status, Levels(none, none, none), np.ones(len(risk)), risk.attackers)


def _risk_of(example: Example) -> tuple[Risk, dict[tuple[int, int], int]]:
    """Return the table of an example with its margins and levels, and where its inner cells are.

    The attacker knows every value between its half and its double, as the paper says of example 1.
    """
    inner = np.asarray(example.inner)
    rows, columns = inner.shape
    single = rows == 1
    codes = (
        [(0, column) for column in range(-1, columns)] if single else list(product(range(-1, rows), range(-1, columns)))
    )
    place = {code: k for k, code in enumerate(codes)}
    whole = np.array([inner[slice(None) if r < 0 else r, slice(None) if c < 0 else c].sum() for r, c in codes])
    relations = []
    for axis in (1,) if single else (0, 1):
        for code in codes:
            if code[axis] < 0:
                row = np.zeros(len(codes), dtype=np.int64)
                row[place[code]] = -1
                for part in range(columns if axis else rows):
                    row[place[(code[0], part) if axis else (part, code[1])]] = 1
                relations.append(row)
    matrix = sp.csr_array(np.array(relations))
    n, zero = len(codes), Fixed(np.zeros(len(codes), dtype=np.int64))
    table = Table(
        (),
        np.zeros((n, 0), np.int32),
        ("value",),
        np.zeros(n, np.int32),
        Fixed(whole),
        Relations(matrix, np.zeros(len(relations), dtype=np.int64)),
    )
    upper, lower = np.zeros((2, n), dtype=np.int64)
    for code, (up, down) in example.levels.items():
        upper[place[code]], lower[place[code]] = up, down
    risk = Risk(
        table,
        np.where(upper > 0, SENSITIVE, SAFE),
        Levels(Fixed(lower), Fixed(upper), zero),
        np.ones(n),
        (cz.Attacker.between(table, whole / 2, 2.0 * whole),),
    )
    return risk, place
