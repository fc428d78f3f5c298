"""Synthetic business tables of known difficulty: the same draws on every machine.

Contributions are lognormal; a cell is sensitive by the p% rule (p = 10) and must be protected by p% of its largest
contribution minus what the others hide: UPL = LPL = 0.1 * x1 - (a - x1 - x2). The attacker knows 0 <= y <= 11 a, as in
the tests of Karlsson and Olsson (2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.risk.attacker import Attacker
from celosia.risk.risk import SAFE, SENSITIVE, SHOW, Levels, Risk
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table

FAMILIES: dict[str, tuple[tuple[int, ...], ...]] = {
    "t20x10": ((20,), (10,)),
    "t50x20": ((50,), (20,)),
    "t100x100": ((100,), (100,)),
    "h1": ((6, 5), (18,)),
    "h2": ((4, 9), (18,)),
    "h3": ((5, 3, 2), (27,)),
    "hh1": ((5, 4), (5, 6)),
    "hh2": ((5, 8), (6, 6)),
    "d3a": ((8,), (8,), (8,)),
    "d3b": ((13,), (13,), (13,)),
    "d3h": ((4, 3), (4, 3), (5,)),
    "big1": ((10, 5), (10, 8), (6,)),
    "big2": ((10, 10, 5), (20, 5)),
    "huge": ((10, 10, 10), (20, 10)),
    "mega": ((10, 10, 10), (10, 10, 9)),
    "net6": ((100, 100), (98,)),
}
"""How every level of each dimension branches. t: flat, h: one hierarchy, hh: two, d3: three dimensions."""


@dataclass(frozen=True, slots=True)
class Optimum:
    """The cheapest complete suppression of an instance, sensitive cells included, with seed 0.

    Parameters
    ----------
    value, unity
        With costs = values and with unit costs; None where it is not proved.
    """

    value: int | None
    unity: int | None


OPTIMA: dict[str, Optimum] = {
    "t20x10": Optimum(7104, 34),
    "t50x20": Optimum(25441, 149),
    "t100x100": Optimum(271504, 1455),
    "h1": Optimum(36140, 117),
    "h2": Optimum(27159, 123),
    "h3": Optimum(188715, 212),
    "hh1": Optimum(59530, 151),
    "hh2": Optimum(106471, None),
    "d3h": Optimum(197782, None),
}
"""Known optima: each proved by at least two solvers, d3h by one."""

_FACTOR = 11.0  # the attacker knows values within zero and so many times the truth
_MEAN, _LEAST = 25.0, 2  # contributors of a leaf cell
_SPARSE_MEAN, _SPARSE_LEAST = 4.0, 0
_MEAN_COUNT, _SMALL_COUNT = 4.0, 2


def instance(name: str, seed: int = 0, *, unity: bool = False, sparse: bool = False, sliding: bool = False) -> Risk:
    """Return a problem as `celosia.read_jj` would read it.

    Parameters
    ----------
    name
        One of `FAMILIES`.
    seed
        Another draw.
    unity
        Every cell costs 1 instead of its value.
    sparse
        Few contributors: zeros, and sensitive cells on every level.
    sliding
        SPL = twice the level instead of LPL = UPL = level.
    """
    return drawn(FAMILIES[name], seed, unity=unity, sparse=sparse, sliding=sliding)


def drawn(
    branching: Sequence[Sequence[int]],
    seed: int = 0,
    *,
    unity: bool = False,
    sparse: bool = False,
    sliding: bool = False,
) -> Risk:
    """Return a problem whose dimensions branch in a way of one's own; otherwise as `instance`."""
    value, largest, second = _cells(branching, seed, sparse=sparse)
    tenths = largest - 10 * (value - largest - second)  # ten times the level: whole, as contributions are
    sensitive = (tenths > 0) & (value > 0)
    level = np.where(sensitive, tenths, 0.0) / 10
    upper = np.where(value > 0, _FACTOR * value, 0.0 if sparse else _FACTOR)
    n, zero = len(value), Fixed(np.zeros(len(value), dtype=np.int64))
    either = Fixed.of_floats(level)
    return Risk(
        table=Table(
            (), np.zeros((n, 0), np.int32), ("value",), np.zeros(n, np.int32), Fixed.of_floats(value), _sums(branching)
        ),
        status=np.where(sensitive, SENSITIVE, np.where(upper > 0, SAFE, SHOW)),
        levels=Levels(zero, zero, Fixed.of_floats(2 * level)) if sliding else Levels(either, either, zero),
        cost=np.ones(n) if unity else np.maximum(value, 1.0),
        attackers=(Attacker("file", zero, Fixed.of_floats(upper)),),
    )


def counts(name: str, seed: int = 0, *, levels: bool = False) -> Risk:
    """Return a table of counts: negative binomial leaf cells with mean 4, many of them zero.

    Parameters
    ----------
    name
        One of `FAMILIES`.
    seed
        Another draw.
    levels
        Leaf and other cells of 1 and 2 are sensitive: attackers must not rule out one less and two more.
    """
    branching = FAMILIES[name]
    shape = [int(np.prod(widths)) for widths in branching]
    part = np.random.default_rng(seed).negative_binomial(1.0, 1 / (1 + _MEAN_COUNT), size=shape).astype(np.float64)
    for axis, widths in enumerate(branching):
        moved = np.moveaxis(part, axis, 0)
        part = np.moveaxis(_rolled_up([moved, np.zeros_like(moved), np.zeros_like(moved)], widths)[0], 0, axis)
    value = np.ascontiguousarray(part).ravel()
    n, zero = len(value), Fixed(np.zeros(len(value), dtype=np.int64))
    sensitive = (value > 0) & (value <= _SMALL_COUNT) & levels
    table = Table(
        (),
        np.zeros((n, 0), np.int32),
        ("count",),
        np.zeros(n, np.int32),
        Fixed.of_floats(value),
        _sums(branching),
        counts=frozenset({"count"}),
    )
    return Risk(
        table=table,
        status=np.where(sensitive, SENSITIVE, SAFE),
        levels=Levels(Fixed(sensitive.astype(np.int64)), Fixed(2 * sensitive.astype(np.int64)), zero),
        cost=np.ones(n),
        attackers=(Attacker.external(table),),
    )


def _cells(branching: Sequence[Sequence[int]], seed: int, *, sparse: bool) -> list[NDArray[np.float64]]:
    """Return the total and the two largest contributions of every cell."""
    mean, least = (_SPARSE_MEAN, _SPARSE_LEAST) if sparse else (_MEAN, _LEAST)
    rng = np.random.default_rng(seed)
    shape = [int(np.prod(widths)) for widths in branching]
    n_leaf = int(np.prod(shape))
    counts = np.maximum(least, rng.negative_binomial(1.0, 1 / mean, size=n_leaf))
    leaf = np.repeat(np.arange(n_leaf), counts)
    contribution = np.ceil(rng.lognormal(3.0, 1.4, size=len(leaf)))
    total = np.bincount(leaf, weights=contribution, minlength=n_leaf).astype(np.float64)
    largest = _largest(contribution, counts)
    tops = np.flatnonzero(contribution == np.repeat(largest, counts))
    others = contribution.copy()
    others[tops[np.diff(leaf[tops], prepend=-1) > 0]] = 0.0
    second = _largest(others, counts)
    parts: list[NDArray[np.float64]] = [part.reshape(shape) for part in (total, largest, second)]
    for axis, widths in enumerate(branching):
        moved = [np.moveaxis(part, axis, 0) for part in parts]
        parts = [np.moveaxis(part, 0, axis) for part in _rolled_up(moved, widths)]
    return [np.ascontiguousarray(part).ravel() for part in parts]


def _largest(contribution: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the largest of each run of so many contributions, zero where the run is empty."""
    largest = np.zeros(len(counts))
    filled = counts > 0
    largest[filled] = np.maximum.reduceat(contribution, (np.cumsum(counts) - counts)[filled])
    return largest


def _rolled_up(parts: list[NDArray[np.float64]], widths: Sequence[int]) -> list[NDArray[np.float64]]:
    """Return totals and largest contributions with the nodes above the leaves in front, level by level."""
    levels = [parts]
    for width in reversed(widths):
        total, *tops = (part.reshape(-1, width, *part.shape[1:]) for part in levels[0])
        ranked = np.partition(np.concatenate(tops, axis=1), -2, axis=1)
        levels.insert(0, [total.sum(axis=1), ranked[:, -1], ranked[:, -2]])
    return [np.concatenate(rows) for rows in zip(*levels, strict=True)]


def _sums(branching: Sequence[Sequence[int]]) -> Relations:
    """Return that every parent is the sum of its children, dimension by dimension."""
    lines = [_parents(widths) for widths in branching]
    sizes = [line.shape[1] for line in lines]
    blocks = []
    for axis, line in enumerate(lines):
        before, after = int(np.prod(sizes[:axis])), int(np.prod(sizes[axis + 1 :]))
        inner = sp.kron(sp.eye_array(before, dtype=np.int64), line)
        blocks.append(sp.kron(inner, sp.eye_array(after, dtype=np.int64), format="csr"))
    stacked = sp.vstack(blocks, format="csr")
    stacked.sort_indices()
    return Relations(stacked, np.zeros(stacked.shape[0], dtype=np.int64))


def _parents(widths: Sequence[int]) -> sp.coo_array:
    """Return the relations of one dimension, ``(n_parents, n_nodes)``: nodes count level by level from the root."""
    sizes = np.cumprod([1, *widths])
    n_parents, n_nodes = int(sizes[:-1].sum()), int(sizes.sum())
    parent = np.repeat(np.arange(n_parents), np.repeat(widths, sizes[:-1]))
    row = np.concatenate([np.arange(n_parents), parent])
    node = np.concatenate([np.arange(n_parents), np.arange(1, n_nodes)])
    factor = np.concatenate([np.full(n_parents, -1), np.ones(len(parent), dtype=np.int64)])
    return sp.coo_array((factor, (row, node)), shape=(n_parents, n_nodes))
