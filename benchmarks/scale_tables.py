"""Records of large tables of three to five dimensions, shaped like Eurostat's: the same draws on every machine.

Codes differ in size, some pairs of codes never occur together, and contributions are lognormal: so there are empty
cells, and sensitive ones on every level. Records have no identifiers: everyone is a respondent of his own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import celosia as cz


@dataclass(frozen=True, slots=True)
class Shape:
    """How the dimensions of a table branch, and how many records a leaf cell has.

    Parameters
    ----------
    branching
        How many codes lie below each code, level by level, for every dimension.
    mean
        Records of a leaf cell on average, those without any included.
    spread
        The standard deviation of the logarithm of the size of codes.
    never
        How many pairs of leaf codes of two dimensions never occur together, as a part of all.
    """

    branching: tuple[tuple[int, ...], ...]
    mean: float
    spread: float = 0.4
    never: float = 0.02

    @property
    def n_cells(self) -> int:
        """How many cells there would be if none were empty."""
        return int(np.prod([sum(np.cumprod(widths).tolist()) + 1 for widths in self.branching]))


SHAPES = {
    "three39": Shape(((8, 8), (6, 6), (12,)), 14.0, never=0.01),
    "four44": Shape(((4, 9), (13,), (9,), (7,)), 14.0, never=0.01),
    "f200": Shape(((7, 10), (2, 10), (9,), (10,)), 40.0, spread=0.8, never=0.08),
    "f792": Shape(((26, 10), (2, 10), (9,), (11,)), 40.0, spread=0.8, never=0.08),
    "five1m": Shape(((8, 8), (15,), (9,), (8,), (9,)), 26.0, spread=0.6, never=0.02),
}
"""f792: 287 x 23 x 10 x 12 codes, the shape of Eurostat's largest table of 2025, with two hierarchies."""


def draw_records(shape: Shape, seed: int = 0) -> pa.Table:
    """Return the records of a table, one column a dimension, and ``value``."""
    rng = np.random.default_rng(seed)
    sizes = [int(np.prod(widths)) for widths in shape.branching]
    intensity = np.full(sizes, 1.0)
    for axis, size in enumerate(sizes):
        weight = rng.lognormal(0.0, shape.spread, size)
        intensity *= (weight / weight.mean()).reshape([-1 if k == axis else 1 for k in range(len(sizes))])
    for first, second in combinations(range(len(sizes)), 2):
        occurs = rng.random((sizes[first], sizes[second])) >= shape.never
        intensity *= occurs.reshape([sizes[k] if k in {first, second} else 1 for k in range(len(sizes))])
    counts = rng.poisson(shape.mean * rng.gamma(2.0, 0.5, intensity.size) * intensity.ravel())
    leaf = np.repeat(np.arange(intensity.size, dtype=np.int64), counts)
    value = np.ceil(rng.lognormal(3.0, 1.4, len(leaf))).astype(np.int64)
    codes = np.unravel_index(leaf, sizes)
    columns = {
        _dimension(axis): pa.DictionaryArray.from_arrays(
            pa.array(codes[axis].astype(np.int32)), pa.array(_codes(widths))
        )
        for axis, widths in enumerate(shape.branching)
    }
    return pa.table({**columns, "value": value})


def tabulate_shape(shape: Shape, seed: int = 0, *, contributions: bool = False) -> cz.Table:
    """Return the table of drawn records."""
    hierarchies = {
        _dimension(axis): cz.Hierarchy.from_digits(_codes(widths), _digits(widths))
        for axis, widths in enumerate(shape.branching)
        if len(widths) > 1
    }
    by = [_dimension(axis) for axis in range(len(shape.branching))]
    return cz.tabulate(
        draw_records(shape, seed), by=by, value="value", hierarchies=hierarchies, contributions=contributions
    )


def assess_shape(shape: Shape, seed: int = 0) -> cz.Risk:
    """Return the sensitive cells of a table by the p% rule, with outsiders as attackers."""
    table = tabulate_shape(shape, seed)
    return cz.assess(table, cz.PPercent(10), cost="value", attackers=[cz.Attacker.external(table)])


def _dimension(axis: int) -> str:
    return "abcde"[axis]


def _digits(widths: Sequence[int]) -> list[int]:
    return [len(str(width - 1)) for width in widths]


def _codes(widths: Sequence[int]) -> list[str]:
    """Return the leaf codes: one number a level, with leading zeros."""
    numbers: NDArray[np.int64] = np.arange(int(np.prod(widths)))
    digits = [len(str(width - 1)) for width in widths]
    return [
        "".join(str(part).zfill(n) for part, n in zip(parts, digits, strict=True))
        for parts in zip(*np.unravel_index(numbers, widths), strict=True)
    ]
