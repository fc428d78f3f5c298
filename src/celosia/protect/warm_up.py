"""Compiled parts made ready before the clock starts: on a new machine that takes its time, once."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from celosia.errors import CelosiaError
from celosia.protect.call import Call
from celosia.protect.combined import Combined
from celosia.protect.intervals import Intervals
from celosia.protect.mixed import Mixed
from celosia.protect.perturb import Perturb
from celosia.protect.protection import Method
from celosia.protect.round import Round
from celosia.protect.suppress import Suppress
from celosia.risk.attacker import Attacker
from celosia.risk.risk import SAFE, SENSITIVE, Levels, Risk
from celosia.solve.clock import Clock
from celosia.solve.registry import backends
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table

_LEVEL, _WIDTH = 5, 2
_RANGES: tuple[Method, ...] = (Intervals(secret=0), Combined(secret=0))
_METHODS: Mapping[type[Any], tuple[Method, ...]] = {
    Suppress: (Suppress(),),
    Intervals: _RANGES,
    Combined: _RANGES,
    Mixed: (*_RANGES, Mixed(secret=0)),
    Round: (Round(2 * _LEVEL),),
    Perturb: (Perturb(2 * _LEVEL, secret=0),),
}
"""With what methods practise."""

_ready: set[tuple[type[Any], DTypeLike]] = set()

Engines = Mapping[type[Any], Callable[[Risk, Any, Call], object]]
"""What each method does."""


def warm_up(risk: Risk, method: Method, engines: Engines) -> None:
    """Have a method protect small tables first, so that everything that is compiled has been.

    Parameters
    ----------
    risk
        What is to be protected: compiled code depends on the kind of its integers.
    method
        How it is to be protected.
    engines
        What each method does.
    """
    integers = risk.table.relations.matrix.indices.dtype
    if (type(method), integers) not in _ready:
        for practice in _METHODS.get(type(method), ()):
            _practise(practice, engines[type(practice)], integers)
        _ready.add((type(method), integers))


def _practise(method: Method, done: Callable[[Risk, Any, Call], object], integers: DTypeLike) -> None:
    for table in ((2, 3), (3,)) if method in _RANGES else ((2, 3),):
        call = Call(Clock(None), 0.0, backends()[0], 0, integer=False)
        with contextlib.suppress(CelosiaError), warnings.catch_warnings():  # what comes out does not matter
            warnings.simplefilter("ignore")
            done(_small(table, integers), method, call)


def _small(dimensions: tuple[int, ...], integers: DTypeLike) -> Risk:
    """Return tables side by side, of so many dimensions each: one of two is a network, one of three is not."""
    blocks = [_sums(many) for many in dimensions]
    matrix = sp.csr_array(sp.block_diag([rows for rows, _ in blocks], format="csr"))
    values = np.concatenate([cells for _, cells in blocks])
    parts = matrix.data.astype(np.int64), matrix.indices.astype(integers), matrix.indptr.astype(integers)
    n = len(values)
    inner = values == values.min()
    sensitive = inner & (np.cumsum(inner) % 4 == 1)  # one of four
    zero, level = (Fixed(np.where(sensitive, number, 0)) for number in (0, _LEVEL))
    table = Table(
        axes=(),
        codes=np.zeros((n, 0), dtype=np.int32),
        variables=("value",),
        variable=np.zeros(n, dtype=np.int32),
        amounts=Fixed(values),
        relations=Relations(sp.csr_array(parts, shape=matrix.shape), np.zeros(matrix.shape[0], dtype=np.int64)),
    )
    status = np.where(sensitive, SENSITIVE, SAFE)
    cost = values.astype(np.float64)
    return Risk(table, status, Levels(level, level, zero), cost, (Attacker("practice", zero, Fixed(9 * values)),))


def _sums(dimensions: int) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return the relations and values of a table of equal cells; totals come first in every dimension."""
    line, one = np.array([[-1] + [1] * _WIDTH], dtype=np.int64), np.eye(_WIDTH + 1, dtype=np.int64)
    values = np.ones(1, dtype=np.int64)
    rows = []
    for place in range(dimensions):
        block = np.ones((1, 1), dtype=np.int64)
        for axis in range(dimensions):
            block = np.kron(block, line if axis == place else one)
        rows.append(block)
        values = np.kron(values, np.array([_WIDTH] + [1] * _WIDTH, dtype=np.int64))
    return sp.csr_array(np.concatenate(rows)), values * 4 * _LEVEL
