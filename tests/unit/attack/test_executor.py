"""The audit shared out among workers is the same audit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from itertools import product
from multiprocessing import get_context

import numpy as np
import pytest
import scipy.sparse as sp

from celosia import Pattern, Risk, audit
from celosia.attack.findings import Conclusions, Verdicts
from celosia.attack.result import Audit
from celosia.attack.subproblems import lp as programs
from celosia.attack.subproblems.flows import network as networks
from celosia.attack.subproblems.questions import Answers

from .conftest import MakeRisk, MakeTable


def lattice(shape: tuple[int, ...]) -> tuple[sp.csr_array, list[int]]:
    """Return the relations of a table with totals, and values."""
    place = {codes: k for k, codes in enumerate(product(*(range(size + 1) for size in shape)))}
    rows = []
    for axis, size in enumerate(shape):
        for codes, total in place.items():
            if codes[axis] == 0:
                row = np.zeros(len(place), dtype=np.int64)
                row[total] = -1
                row[[place[*codes[:axis], k, *codes[axis + 1 :]] for k in range(1, size + 1)]] = 1
                rows.append(row)
    inner = np.random.default_rng(len(place)).integers(1, 30, shape)
    values = np.zeros([size + 1 for size in shape], dtype=np.int64)
    values[tuple(slice(1, None) for _ in shape)] = inner
    for axis in range(len(shape)):
        head = [slice(None)] * len(shape)
        head[axis] = slice(0, 1)
        values[tuple(head)] = values.sum(axis=axis, keepdims=True)
    return sp.csr_array(np.array(rows)), values.ravel().tolist()


@pytest.fixture(name="problem", params=[False, True], ids=["decimals", "whole"])
def _problem(bare: MakeTable, risky: MakeRisk, request: pytest.FixtureRequest) -> tuple[Pattern, Risk]:
    shapes = [(3, 3), (2, 3, 3), (4, 2), (3, 3, 2), (3, 3, 3), (2, 5)]
    made = [lattice(shape) for shape in shapes]
    matrix = sp.block_diag([rows for rows, _ in made], format="csr").toarray()
    values = [value for _, own in made for value in own]
    table = bare(matrix.tolist(), values, counts=request.param)
    hidden = np.flatnonzero(np.random.default_rng(0).random(len(values)) < 0.7)
    levels = {int(cell): (2, 3, 4) for cell in hidden[::3]}
    return Pattern.hide(table, hidden), risky(table, levels)


@pytest.fixture(autouse=True)
def _small_shares(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_TOGETHER", 20)
    monkeypatch.setattr(networks, "_PIECE", 8)
    monkeypatch.setattr(networks, "_SHARED", 1)


@pytest.fixture(name="executors", scope="module")
def _executors() -> Iterator[list[Executor]]:
    """Give one process per worker to all tests: it starts slowly, and answers quickly."""
    with (
        ThreadPoolExecutor(1) as one,
        ThreadPoolExecutor(3) as three,
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes,
    ):
        yield [one, three, processes]


def arrays(found: Conclusions) -> list[object]:
    sides = [getattr(side, name) for side in (found.down, found.up) for name in Answers.__slots__]
    return [part.tolist() for part in (found.cells, found.attackers, found.truth.counts, found.decimals, *sides)]


def everything(said: Audit) -> list[object]:
    assert isinstance(said.verdicts, Verdicts)
    return [said.verdicts.results.tolist(), arrays(said.verdicts.findings), arrays(said.intervals)]


def test_the_audit_is_the_same_with_any_executor(problem: tuple[Pattern, Risk], executors: list[Executor]) -> None:
    alone = audit(*problem, intervals=True)
    assert len(alone.intervals) > 50
    for executor in executors:
        assert everything(audit(*problem, intervals=True, executor=executor)) == everything(alone)


def test_shares_of_any_size_have_the_same_ends(problem: tuple[Pattern, Risk], monkeypatch: pytest.MonkeyPatch) -> None:
    small = audit(*problem, intervals=True)
    monkeypatch.setattr(programs, "_TOGETHER", 10_000)
    monkeypatch.setattr(networks, "_PIECE", 10_000)
    large = audit(*problem, intervals=True)
    ends = [[(f.cell, f.lower, f.upper, f.exact) for f in said.intervals] for said in (small, large)]
    assert ends[0] == ends[1]
