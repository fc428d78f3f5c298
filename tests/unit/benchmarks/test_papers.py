"""The papers' experiments: tables have the printed dimensions, and the page says what the committed run found."""

from __future__ import annotations

import json

import numpy as np
import pytest
from benchmarks.paper_page import DATA, PARTS, describe
from benchmarks.paper_roundings import TIWARI, round_all
from benchmarks.paper_tables import ASYMMETRIC, SYMMETRIC, draw_hierarchical, draw_thesis
from benchmarks.papers import tasks

PRINTED = {
    "1": (1444, 135, 171, 2964),
    "2": (2544, 237, 303, 5216),
    "3": (2108, 196, 243, 4318),
    "4": (1444, 216, 152, 2945),
    "5": (1488, 220, 173, 3040),
    "6": (1411, 209, 168, 2890),
}
"""Baena, Castro and González, Table 1: cells, sensitive cells, relations and entries."""


@pytest.mark.parametrize("name", PRINTED)
def test_hierarchical_tables_have_the_printed_dimensions(name: str) -> None:
    """One hierarchy by columns has exactly the numbers of Table 1, and the table adds up."""
    risk = draw_hierarchical(name, SYMMETRIC)
    matrix = risk.table.relations.matrix
    assert (len(risk), int(risk.sensitive.sum()), matrix.shape[0], matrix.nnz) == PRINTED[name]
    assert not (matrix @ risk.table.amounts.counts).any()


def test_levels_are_percents_of_values() -> None:
    """Lower levels are 5 percent of sensitive values, upper ones 20."""
    risk = draw_hierarchical("toy", ASYMMETRIC)
    cells = risk.sensitive
    for level, share in ((risk.levels.lower, 0.05), (risk.levels.upper, 0.2)):
        assert np.allclose(level.floats[cells], share * risk.table.values[cells])
        assert not level.floats[~cells].any()


def test_linked_tables_share_their_margins() -> None:
    """Three tables by two dimensions each have every margin once."""
    risk = draw_thesis("toy linked", unity=True, sliding=True)
    assert risk.sensitive.any()
    assert risk.table.links is not None
    assert not risk.levels.lower.counts.any()


def test_keys_of_runs_are_distinct() -> None:
    """No run overwrites another in the file of results."""
    asked = tasks(smoke=False)
    assert len({task.key for task in asked}) == len(asked)


def test_tiwaris_examples_have_the_printed_distortions() -> None:
    """Of examples 2 and 4 our table is the printed one; controlled rounding is never worse than printed."""
    for number, said in round_all((2, 4)).items():
        assert said["ours"] == pytest.approx(TIWARI[int(number)].distortion, abs=0.005)
        assert said["controlled"] <= TIWARI[int(number)].salazar + 0.005


def test_the_page_says_what_was_found() -> None:
    """Every part is made from the committed file; claims that fail name the tables."""
    kept = json.loads(DATA.read_text("utf-8"))
    for part in PARTS:
        assert describe(part, kept)
    for key, run in kept["runs"].items():
        if key.startswith("thesis"):
            run["width"] = 2.0 if "Complete-Value" in key else 1.0
    row = next(line for line in describe("claims", kept) if "Complete-Value has smaller widths" in line)
    assert "0 of 7, not 1LINKED, 1B" in row
