"""To which side sensitive cells are moved: drawn at random, and turned where nothing adds up otherwise.

Independent coins soon clash in a table: two cells that both go up must be made up for by others, and those cannot go
below zero. So, of what was drawn, as few sides as possible are turned, which ones being a matter of chance again.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import InfeasibleError, OutOfTimeError, list_items
from celosia.protection.infeasibility import find_smallest
from celosia.protection.perturbation.formulation import PerturbationModel
from celosia.risk.risk import SAFE, SHOW
from celosia.solve.clock import Clock
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Solution, Status
from celosia.tolerance import HALF

_FAIR = 0.5
"""The probability of a fair coin."""


def draw_sides(model: PerturbationModel, random: np.random.Generator) -> NDArray[np.bool_]:
    """Return which sensitive cells go up, ``(k,)``: as is asked for, else by a fair coin, where both ways are open.

    None goes below zero, or out of its window.
    """
    coin = (random.random(len(model.sensitive)) < _FAIR) & _may_rise(model)
    coin |= ~_may_sink(model)
    return np.asarray((model.sides == "up") | ((model.sides == "random") & coin), dtype=bool)


def _may_sink(model: PerturbationModel) -> NDArray[np.bool_]:
    """Return which sensitive cells may move down, ``(k,)``."""
    return np.asarray(model.most()[1][model.sensitive] > 0)


def _may_rise(model: PerturbationModel) -> NDArray[np.bool_]:
    """Return which sensitive cells may move up, ``(k,)``."""
    return np.asarray(model.most()[0][model.sensitive] > 0)


def repair_sides(
    model: PerturbationModel, upward: NDArray[np.bool_], random: np.random.Generator, clock: Clock
) -> NDArray[np.bool_] | None:
    """Return sides with which values within reach add up, the fewest being turned, ``(k,)``; None where none are.

    Raises
    ------
    OutOfTimeError
        Time is up.
    """
    solution = _solve_turns(model, upward, 1.0 + random.random(len(upward)), clock)
    if solution.status is Status.INFEASIBLE:
        return None
    if solution.x is None:
        raise OutOfTimeError.one("time_limit", "was reached before sides were known.", "Allow more time.")
    return np.asarray(solution.x[len(model.risk) :] > HALF)


def _solve_turns(
    model: PerturbationModel, upward: NDArray[np.bool_], price: NDArray[np.float64], clock: Clock
) -> Solution:
    """Return the answer of the program in which turning a side has a price; random sides only may be turned.

    With y = 1 for up: ``d >= up y - D (1 - y)`` and ``d <= U y - down (1 - y)``, where U and D are the farthest moves.
    """
    n, k, cells = len(model.risk), len(model.sensitive), model.sensitive
    most_up, most_down = (far.astype(np.float64) for far in model.most())
    up, down = (model.moves(up=way).astype(np.float64) for way in (True, False))
    relations = sp.csr_array(model.risk.table.relations.matrix, dtype=np.float64)
    pick = sp.csr_array((np.ones(k), (np.arange(k), cells)), shape=(k, n))
    rows = sp.block_array(
        [
            [relations, sp.csr_array((relations.shape[0], k))],
            [pick, -sp.diags_array(up + most_down[cells])],
            [pick, -sp.diags_array(most_up[cells] + down)],
        ],
        format="csr",
    )
    zero, endless = np.zeros(relations.shape[0]), np.full(k, np.inf)
    turns = model.sides == "random"
    program = LinearProgram(
        sp.csr_array(rows),
        np.concatenate([zero, -most_down[cells], -endless]),
        np.concatenate([zero, endless, -down]),
        np.concatenate([-most_down, (upward & ~(turns & _may_sink(model))).astype(np.float64)]),
        np.concatenate([most_up, (upward | (turns & _may_rise(model))).astype(np.float64)]),
        np.concatenate([np.zeros(n), np.where(upward, -price, price)]),
        integer=np.arange(n + k) >= n,
    )
    return backends()[0].open(program).solve(time_limit=clock.left)


def refuse_frozen(model: PerturbationModel, upward: NDArray[np.bool_], clock: Clock) -> None:
    """Refuse frozen cells with which no values within reach add up, whatever the sides.

    Raises
    ------
    InfeasibleError
        With a smallest set of them.
    """
    frozen = np.flatnonzero(model.risk.status == SHOW)

    def clashes(cells: NDArray[np.int64]) -> bool:
        status = model.risk.status.copy()
        status[np.setdiff1d(frozen, cells)] = SAFE
        freed = replace(model, risk=replace(model.risk, status=status))
        return _solve_turns(freed, upward, np.ones(len(upward)), clock).status is Status.INFEASIBLE

    if not len(frozen) or clashes(np.zeros(0, dtype=np.int64)):
        return
    clash = find_smallest(frozen, clashes)
    labels = list_items([model.risk.table.label(int(cell)) for cell in clash])
    word = "is" if len(clash) == 1 else "are together"
    raise InfeasibleError.one(
        "frozen",
        f"cells leave no values within reach that add up: {labels} {word} enough for that.",
        "Free it." if len(clash) == 1 else "Free one of them.",
    )
