"""Attacks on components that are no networks: linear programs.

Bounds that follow from single relations (`celosia.attack.subproblems.propagation`) say where to stop; then programs
that ask many questions at once (`celosia.attack.subproblems.random_objectives`); then one question per component and
run. All components stand in one model, which stays open: between two runs of the last kind only costs change, so the
primal simplex method goes on from its last vertex. Whatever a vertex was asked, every open question that it settles is
struck off.
"""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.blocks import Blocks, UnsolvedError, blocks_of, proved, rooms, solution, vertex_at
from celosia.attack.subproblems.propagation import propagated
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.subproblems.random_objectives import Sheet, harvest
from celosia.attack.subproblems.rays import endless_cells
from celosia.attack.system.decomposition import Parts
from celosia.attack.system.system import System
from celosia.solve import deadline
from celosia.solve.backend import Backend, Model
from celosia.tolerance import ENDLESS

_TOGETHER = 4_096  # columns of components that go into one model, unless one component has more


def program_answers(
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
        What is asked.
    backend
        Solves.
    executor
        Takes the components, where there is one.
    """
    if not len(questions):
        return Answers.of_nothing(0, furthest=True)
    component = parts.component[questions.columns]
    groups = _groups(parts, np.unique(component))
    places = [np.flatnonzero(np.isin(component, group)) for group in groups]
    blocks = [blocks_of(system, parts, group) for group in groups]
    asked = [questions.take(own) for own in places]
    run = map if executor is None else executor.map
    end = deadline.Moment.now_left()
    answers = Answers.joined(list(run(_answers, blocks, asked, [backend] * len(groups), [end] * len(groups))))
    return answers.take(np.argsort(np.concatenate(places), kind="stable"))


def _groups(parts: Parts, components: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Return components in groups of some size, in their order."""
    before = np.concatenate([[0], np.cumsum(np.diff(parts.starts)[components])])[:-1]
    ends = np.flatnonzero(np.diff(before // _TOGETHER)) + 1
    return np.split(components, ends)


def _answers(blocks: Blocks, questions: Questions, backend: Backend, end: deadline.Moment) -> Answers:
    """Return the answers to questions about the cells of some components, as far as there is time."""
    with deadline.before(end):
        sheet = _sheet(blocks, questions)
        with suppress(deadline.DeadlineError):
            _settle_without_tables(sheet, backend)
            if sheet.open.any():
                model = blocks.model(backend, rooms(blocks.down), rooms(blocks.up))
                harvest(sheet, model)
                while sheet.open.any():
                    _ask(sheet, model)
        return sheet.answers()


def _sheet(blocks: Blocks, questions: Questions) -> Sheet:
    """Return the questions, all of them open."""
    order = np.argsort(blocks.columns)
    place = order[np.searchsorted(blocks.columns, questions.columns, sorter=order)]
    sign = np.where(questions.upward, 1, -1)
    block = np.searchsorted(blocks.starts, place, side="right") - 1
    down, up = propagated(blocks.matrix, blocks.down, blocks.up, blocks.whole)
    outer = np.where(questions.upward, up[place], down[place])
    target = np.minimum(questions.limits, outer)
    return Sheet(blocks, place, block, sign, target, np.ones(len(place), dtype=bool))


def _settle_without_tables(sheet: Sheet, backend: Backend) -> None:
    """Answer what needs no table: what has no end, and what does not move at all."""
    place, sign, n = sheet.place, sheet.sign, len(sheet.blocks.columns)
    asked = sheet.target >= ENDLESS
    may_fall, may_rise = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    may_fall[place[asked & (sign < 0)]] = True
    may_rise[place[asked & (sign > 0)]] = True
    falls, rises = endless_cells(sheet.blocks, backend, may_fall, may_rise)
    sheet.settle(np.flatnonzero(asked & np.where(sign > 0, rises[place], falls[place])), ENDLESS)
    sheet.settle(np.flatnonzero(sheet.target <= 0), 0)


def _ask(sheet: Sheet, model: Model) -> None:
    """Answer the first open question of every block."""
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
        x, duals = solution(model)
    except UnsolvedError:  # they count as not answered
        sheet.open[first] = False
        return
    finally:
        model.change_costs(place, np.zeros(len(place)))
        _set_bounds(model, place[limited], blocks.down, blocks.up)
    vertex = vertex_at(x, blocks, down, up)
    sheet.strike_off(vertex)
    left = first[sheet.open[first]]
    sheet.enter(vertex, left)
    known = proved(duals, blocks, sheet.place[left], sheet.sign[left], sheet.reach[left], sheet.denominator[left])
    sheet.furthest[left] = known


def _set_bounds(model: Model, places: NDArray[np.int64], down: NDArray[np.int64], up: NDArray[np.int64]) -> None:
    if len(places):
        model.change_bounds(places, -rooms(down[places]), rooms(up[places]))
