"""Searches that are ended at some moment and resumed find the optimum of an oracle that shares nothing with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.oracles import suppression_oracle as oracle
from tests.oracles.bare_tables import seeded
from tests.oracles.examples import first_few
from tests.oracles.suppression_cases import KINDS, drawn, put

from celosia import InfeasibleError, OutOfTimeError, protect
from celosia.progress import Silent
from celosia.protection.state.file import read_state


class Interrupting(Silent):
    """Presses Ctrl-C when it has heard of so many steps."""

    def __init__(self, after: int) -> None:
        self.left = after

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:  # noqa: ARG002
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


CASES = [(kind, seed) for seed in range(8) for kind in (KINDS[::2], KINDS[1::2])[seed % 2]]
OTHERS = [(kind, seed) for seed in range(8) for kind in (KINDS[1::2], KINDS[::2])[seed % 2]]
"""Every kind with half of the seeds, and with the other half."""


@pytest.mark.parametrize("case", first_few(len(CASES), [*CASES, *OTHERS]), ids=lambda case: f"{case[0]}-{case[1]}")
def test_a_resumed_search_finds_the_optimum(tmp_path: Path, case: tuple[str, int]) -> None:
    kind, seed = case
    wishes = drawn(seeded(f"resumed {kind} {seed}"), kind)
    cheapest = oracle.cheapest(wishes)
    risk, method = put(wishes)
    path = tmp_path / "s"
    try:
        first = protect(risk, method, progress=Interrupting(1 + seed), state=path)
    except (InfeasibleError, OutOfTimeError):
        return
    assert cheapest is not None
    best = float(wishes.price(cheapest))  # the oracle may lose an optimum, and says so: what is cheaper is right
    assert first.bound <= best * (1 + 1e-9)
    known = read_state(path)
    assert known.bound <= best * (1 + 1e-9)
    again = protect(risk, method, resume=path)
    hidden = frozenset(np.flatnonzero(again.pattern.status != "shown").tolist())
    assert oracle.is_safe(wishes, hidden)
    assert again.optimal
    assert float(wishes.price(hidden)) <= best * (1 + 1e-9)
