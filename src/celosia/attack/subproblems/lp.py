"""Attacks on components that are no networks: linear programs.

Bounds that follow from single relations (`celosia.attack.subproblems.propagation`) say where to stop; then programs
that ask many questions at once (`celosia.attack.subproblems.random_objectives`); then one question per component and
run. All components stand in one model, which stays open: between two runs of the last kind only costs change, so the
primal simplex method goes on from its last vertex. Every vertex settles all open questions that it
answers, whatever its objective was.
"""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.blocks import (
    Blocks,
    UnsolvedError,
    blocks_of,
    exact_vertex,
    prove_maxima,
    solve_model,
)
from celosia.attack.subproblems.propagation import propagate_bounds
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.subproblems.random_objectives import OpenQuestions, solve_random_objectives
from celosia.attack.subproblems.rays import find_unbounded_cells
from celosia.attack.system.decomposition import Parts
from celosia.attack.system.system import System
from celosia.solve import deadline
from celosia.solve.backend import Backend, Model
from celosia.solve.problem import float_bounds
from celosia.tolerance import ENDLESS

_TOGETHER = 4_096  # columns of components that go into one model, unless one component has more


def solve_by_programs(
    system: System,
    parts: Parts,
    questions: Questions,
    backend: Backend,
    *,
    executor: Executor | None = None,
) -> Answers:
    """Return the answers to questions about cells of components that are no networks.

    Guarantee: every witness is exact; `furthest` is set only where a table reaches the limit or a bound that follows
    from relations, or where multipliers prove in exact arithmetic that the reach is a maximum. Witnesses are whole
    where the attacker knows that values are; an answer whose vertex is not is left open, and so is what is not answered
    before the last moment. Which components go together does not depend on the executor.

    Parameters
    ----------
    system, parts, questions
        The attacker's system, its components, and the questions.
    backend
        Solves.
    executor
        Takes the components, where there is one.
    """
    if not len(questions):
        return Answers.of_nothing(0, furthest=True)
    component = parts.component[questions.columns]
    groups = _group_components(parts, np.unique(component))
    places = [np.flatnonzero(np.isin(component, group)) for group in groups]
    blocks = [blocks_of(system, parts, group) for group in groups]
    asked = [questions.take(own) for own in places]
    run = map if executor is None else executor.map
    end = deadline.Moment.now_left()
    answers = Answers.join(list(run(_solve_blocks, blocks, asked, [backend] * len(groups), [end] * len(groups))))
    return answers.take(np.argsort(np.concatenate(places), kind="stable"))


def _group_components(parts: Parts, components: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Return components in groups of about `_TOGETHER` columns, in their order."""
    before = np.concatenate([[0], np.cumsum(np.diff(parts.starts)[components])])[:-1]
    ends = np.flatnonzero(np.diff(before // _TOGETHER)) + 1
    return np.split(components, ends)


def _solve_blocks(blocks: Blocks, questions: Questions, backend: Backend, end: deadline.Moment) -> Answers:
    """Return the answers to questions about the cells of some components, as far as there is time."""
    with deadline.before(end):
        sheet = _open_questions(blocks, questions)
        with suppress(deadline.DeadlineError):
            _settle_without_tables(sheet, backend)
            if sheet.open.any():
                model = blocks.model(backend, float_bounds(blocks.down), float_bounds(blocks.up))
                solve_random_objectives(sheet, model)
                while sheet.open.any():
                    _ask_one_by_block(sheet, model)
        return sheet.answers()


def _open_questions(blocks: Blocks, questions: Questions) -> OpenQuestions:
    """Return the questions with bounds that follow from single relations, all of them open."""
    order = np.argsort(blocks.columns)
    place = order[np.searchsorted(blocks.columns, questions.columns, sorter=order)]
    sign = np.where(questions.upward, 1, -1)
    block = np.searchsorted(blocks.starts, place, side="right") - 1
    down, up = propagate_bounds(blocks.matrix, blocks.down, blocks.up, blocks.whole)
    outer = np.where(questions.upward, up[place], down[place])
    target = np.minimum(questions.limits, outer)
    return OpenQuestions(blocks, place, block, sign, target, np.ones(len(place), dtype=bool))


def _settle_without_tables(sheet: OpenQuestions, backend: Backend) -> None:
    """Settle questions that need no witness: cells that move without end, and cells that do not move."""
    place, sign, n = sheet.place, sheet.sign, len(sheet.blocks.columns)
    asked = sheet.target >= ENDLESS
    may_fall, may_rise = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    may_fall[place[asked & (sign < 0)]] = True
    may_rise[place[asked & (sign > 0)]] = True
    falls, rises = find_unbounded_cells(sheet.blocks, backend, may_fall, may_rise)
    sheet.settle(np.flatnonzero(asked & np.where(sign > 0, rises[place], falls[place])), ENDLESS)
    sheet.settle(np.flatnonzero(sheet.target <= 0), 0)


def _ask_one_by_block(sheet: OpenQuestions, model: Model) -> None:
    """Solve one program that maximises the first open question of every block."""
    blocks = sheet.blocks
    open_ = np.flatnonzero(sheet.open)
    first = open_[np.unique(sheet.block[open_], return_index=True)[1]]
    place, sign = sheet.place[first], sheet.sign[first]
    down, up = blocks.down.copy(), blocks.up.copy()
    for side, which in ((down, -1), (up, 1)):  # a program with an end, also where the cell alone has none
        cut = (sign == which) & (side[place] >= ENDLESS)
        side[place[cut]] = sheet.target[first[cut]]
    limited = (down[place] != blocks.down[place]) | (up[place] != blocks.up[place])
    _set_bounds(model, place[limited], down, up)
    model.change_costs(place, -sign.astype(np.float64))
    try:
        x, duals = solve_model(model)
    except UnsolvedError:  # they count as not answered
        sheet.open[first] = False
        return
    finally:
        model.change_costs(place, np.zeros(len(place)))
        _set_bounds(model, place[limited], blocks.down, blocks.up)
    vertex = exact_vertex(x, blocks, down, up)
    sheet.strike_off(vertex)
    left = first[sheet.open[first]]
    sheet.enter(vertex, left)
    known = prove_maxima(duals, blocks, sheet.place[left], sheet.sign[left], sheet.reach[left], sheet.denominator[left])
    sheet.furthest[left] = known


def _set_bounds(model: Model, places: NDArray[np.int64], down: NDArray[np.int64], up: NDArray[np.int64]) -> None:
    if len(places):
        model.change_bounds(places, -float_bounds(down[places]), float_bounds(up[places]))
