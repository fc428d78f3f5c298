"""The modular pattern against fractions: safe in every sub-table, and the audit of the whole says what that leaves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from tests.oracles.bare_tables import DEEP, FLAT_2, FLAT_3, Tree, seeded
from tests.oracles.suppression_cases import drawn, put
from tests.oracles.suppression_oracle import Wishes, cheapest, is_safe, unsafe_cells

import celosia as cz
from celosia.attack.findings import MET

CASES = 10


def sub_tables(wishes: Wishes, trees: Sequence[Tree]) -> Iterator[Wishes]:
    """Yield the problem of every pair of parents; a cell outside is known to everybody, and in no relation."""
    nodes = [sorted({0, *(child for children in tree.values() for child in children)}) for tree in trees]
    place = {codes: cell for cell, codes in enumerate(product(*nodes))}
    for parents in product(*trees):
        groups = [{parent, *tree[parent]} for parent, tree in zip(parents, trees, strict=True)]
        inside = {cell for codes, cell in place.items() if all(map(set.__contains__, groups, codes))}
        rows = [row for row in wishes.rows if {cell for cell, factor in enumerate(row) if factor} <= inside]
        levels = {cell: asked for cell, asked in wishes.levels.items() if cell in inside}
        widths = {cell: width for cell, width in wishes.widths.items() if cell in inside}
        yield replace(wishes, rows=rows, levels=levels, widths=widths)


def trees_of(wishes: Wishes) -> list[Tree]:
    """Return the trees of which `drawn_rows` made a table."""
    return [DEEP, DEEP] if len(wishes) == 25 else [FLAT_2 if len(wishes) == 15 else FLAT_3, DEEP]


@pytest.mark.parametrize("kind", ["tree", "trees"])
def test_a_modular_pattern_is_safe_in_every_sub_table_and_the_audit_says_what_is_open(kind: str) -> None:
    chance, seen = seeded(f"modular {kind}"), {True: 0, False: 0}
    while sum(seen.values()) < CASES:
        wishes = replace(drawn(chance, kind), at_most=None)
        risk, method = put(wishes)
        try:
            found = cz.modular(risk, method)
        except cz.InfeasibleError:
            assert cheapest(wishes) is None
            continue
        pattern = frozenset(np.flatnonzero(found.pattern.status != "shown").tolist())
        assert wishes.forced <= pattern
        assert not wishes.shown & pattern
        assert found.hidden == len(pattern)
        assert found.cost == pytest.approx(float(wishes.price(pattern)))
        for part in sub_tables(wishes, trees_of(wishes)):
            assert not unsafe_cells(part, pattern)
        unsafe = {v.requirement.cell for v in found.audit.verdicts if v.result != MET}
        assert unsafe == unsafe_cells(wishes, pattern)
        assert found.safe is is_safe(wishes, pattern)
        assert (found.open == 0) is found.safe
        seen[found.safe] += 1
        if found.safe:
            best = cheapest(wishes)
            assert best is not None
            assert wishes.price(best) <= wishes.price(pattern)
    assert all(seen.values())
