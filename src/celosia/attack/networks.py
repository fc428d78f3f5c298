"""Attacks on networks: how far a cell can move is a maximum flow, and the flow is the proof.

A cell is an arc from one relation to another; a table that agrees with everything published is a circulation. To push
cell p up by f, f must flow back from its head to its tail through other cells (Cox 1980; Salazar 2003, section 2).
Everything is in whole numbers: the flow found is exact, and a flow that stops short comes with a cut that says why.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from celosia.attack.flow_search import Graph, answer, bounds, magnitude
from celosia.attack.parts import Parts
from celosia.attack.questions import Answers, Questions
from celosia.attack.system import System

_TOGETHER = (1 << 14, 1 << 17)  # at least and at most so many flows, whose witnesses are in memory at the same time


def flow_answers(system: System, parts: Parts, questions: Questions, executor: Executor | None = None) -> Answers:
    """Return the answers to questions about cells of networks.

    Guarantee: `reach` is the maximum over the kept rows of the component, so nobody gets further; its witness is a
    flow in whole numbers, which `verified` checks against all rows.
    """
    found = list(flows(system, parts, questions, executor))
    answers = Answers.joined([answers for _, answers in found])
    return answers.take(np.argsort(np.concatenate([places for places, _ in found]), kind="stable"))


def flows(
    system: System, parts: Parts, questions: Questions, executor: Executor | None = None
) -> Iterator[tuple[NDArray[np.int64], Answers]]:
    """Yield the places of some questions and their answers, until all are answered: as many as memory holds well.

    Questions about a component go together, those first that may need the largest flows: a large flow answers more of
    the others by the way.

    Parameters
    ----------
    system, parts, questions
        What is asked.
    executor
        Takes the questions, where there is one; which of them go together does not depend on it.
    """
    if not len(questions):
        return
    graph = Graph.of_arcs((parts.tail, parts.head), system.down, system.up, system.matrix.shape[0] + len(parts))
    wanted = bounds(questions.columns, questions.upward, questions.limits, graph)
    order = np.lexsort((255 - magnitude(wanted), parts.component[questions.columns]))
    size = int(np.clip(len(system) // 2, *_TOGETHER))
    shares = np.split(order, range(size, len(order), size))
    asked = [Questions(questions.columns[some], questions.upward[some], wanted[some]) for some in shares]
    run = map if executor is None else executor.map
    yield from zip(shares, run(_answers, asked, [graph] * len(shares)), strict=True)


def _answers(asked: Questions, graph: Graph) -> Answers:
    """Return the answers to questions that are limited by what nobody gets beyond."""
    reach, table, *tables = answer(asked.columns, asked.upward, asked.limits, graph.copy())
    return Answers(reach, np.ones(len(asked), dtype=np.int64), np.ones(len(asked), dtype=bool), table, *tables)
