"""The generator of the benchmarks: the draws of its instances never change."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from benchmarks.instances import FAMILIES, OPTIMA, drawn, instance

import celosia as cz
from celosia import Risk

# SHA-256 of the JJ files that the generator wrote with which the known optima were found.
_DRAWS = {
    "t20x10": (instance("t20x10"), "c53559a881542a51"),
    "h1, seed 1, sliding levels": (instance("h1", 1, sliding=True), "e2cdf6b29bc52036"),
    "hh1, seed 2, unit costs": (instance("hh1", 2, unity=True), "d0b6788fa3aa789f"),
    "hh2, sparse": (instance("hh2", sparse=True), "9e0981320a57b9a4"),
    "d3h, seed 3, sparse, sliding levels": (instance("d3h", 3, sparse=True, sliding=True), "f5215baa59242dcd"),
}


@pytest.mark.parametrize("name", _DRAWS)
def test_the_draws_are_those_of_the_stored_hashes(name: str, tmp_path: Path) -> None:
    risk, wanted = _DRAWS[name]
    cz.write_jj(risk, tmp_path / "problem.jj")
    assert hashlib.sha256((tmp_path / "problem.jj").read_bytes()).hexdigest().startswith(wanted)


@pytest.mark.parametrize("name", _DRAWS)
def test_an_instance_is_what_its_jj_file_reads_as(name: str, tmp_path: Path) -> None:
    risk, _ = _DRAWS[name]
    cz.write_jj(risk, tmp_path / "problem.jj")
    read = cz.read_jj(tmp_path / "problem.jj")
    for ours, theirs in zip(_arrays(risk), _arrays(read), strict=True):
        assert ours.dtype == theirs.dtype
        assert np.array_equal(ours, theirs)
    assert read.table.notes == risk.table.notes


def test_relations_hold_in_every_small_instance() -> None:
    for name, branching in FAMILIES.items():
        if np.prod([np.cumprod(widths).sum() for widths in branching]) < 5_000:
            table = instance(name).table
            assert not table.relations.residuals(table.amounts.counts).any(), name


def test_known_optima_are_above_what_the_sensitive_cells_cost() -> None:
    for name, optimum in OPTIMA.items():
        if optimum.value is not None:
            risk = instance(name)
            assert risk.cost[risk.sensitive].sum() <= optimum.value


def test_a_table_may_branch_in_a_way_of_its_own() -> None:
    risk = drawn(((3, 2), (4,)), 5)
    assert len(risk) == (1 + 3 + 6) * (1 + 4)
    assert not risk.table.relations.residuals(risk.table.amounts.counts).any()


def _arrays(risk: Risk) -> list[np.ndarray]:
    matrix, (attacker,) = risk.table.relations.matrix, risk.attackers
    levels = risk.levels
    exact = [risk.table.amounts, attacker.lower, attacker.upper, levels.lower, levels.upper, levels.sliding]
    bare = [matrix.data, matrix.indices, matrix.indptr, risk.table.relations.right, risk.status, risk.cost]
    return [*bare, *(numbers.counts for numbers in exact), np.array([numbers.decimals for numbers in exact])]
