"""Attacks on networks: how far a cell can move is a maximum flow, and the flow is the proof.

A cell is an arc from one relation to another; a table that agrees with everything published is a circulation. To push
cell p up by f, f must flow back from its head to its tail through other cells (Cox 1995; Salazar 2002, section 2).
Everything is in whole numbers: the flow found is exact, and a flow that stops short comes with a cut that says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import Executor

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.flows.graph import Graph, bounds, magnitude
from celosia.attack.subproblems.flows.search import answer
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.system.decomposition import Parts
from celosia.attack.system.system import System
from celosia.solve import deadline

_PIECE = 1 << 14  # questions of a piece, which answer one another
_ENTRIES = 32  # of a witness for which memory is set aside; what is not used costs none
_ALONE, _SHARED = 32, 4  # pieces at a time, whose witnesses are in memory together; less with an executor
_HURRIED = 1  # and where there is a last moment, which is looked at between two times


def solve_by_flows(
    system: System, parts: Parts, questions: Questions, executor: Executor | None = None
) -> Iterator[tuple[NDArray[np.int64], Answers]]:
    """Yield the places of some questions and their answers, until all are answered: as many as memory holds well.

    Questions about a component go together, those first that may need the largest flows: a large flow answers more of
    the others by the way.

    Parameters
    ----------
    system, parts, questions
        The attacker's system, its components, and the questions.
    executor
        Takes the questions, where there is one; which of them go together does not depend on it.

    Raises
    ------
    DeadlineError
        The last moment has passed; what was yielded holds.
    """
    if not len(questions):
        return
    deadline.check()
    graph = Graph.of_arcs((parts.tail, parts.head), system.down, system.up, system.matrix.shape[0] + len(parts))
    wanted = bounds(questions.columns, questions.upward, questions.limits, graph)
    component = parts.component[questions.columns]
    order = np.lexsort((255 - magnitude(wanted), component))
    pieces = _split_by_component(component[order])
    step = _HURRIED if math.isfinite(deadline.left()) else _ALONE if executor is None else _SHARED
    shares = [pieces[first : first + step + 1] for first in range(0, len(pieces) - 1, step)]
    places = [order[share[0] : share[-1]] for share in shares]
    tasks = [Questions(questions.columns[some], questions.upward[some], wanted[some]) for some in places]
    arguments = tasks, [share - share[0] for share in shares], [graph] * len(shares)
    found = map(_follow_flows, *arguments) if executor is None else executor.map(_follow_flows_in_copy, *arguments)
    for some, answers in zip(places, found, strict=True):
        yield some, answers
        deadline.check()


def _split_by_component(component: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return where pieces of questions in the order of their components begin, and the end.

    They begin with a component, but for those of components that are larger than a piece.
    """
    n = len(component)
    borders = np.append(np.flatnonzero(np.diff(component)) + 1, n)
    even = np.arange(_PIECE, n, _PIECE)
    near = borders[np.searchsorted(borders, even)]
    return np.unique(np.concatenate([[0], np.where(near - even < _PIECE, near, even), [n]]))


def _follow_flows(questions: Questions, pieces: NDArray[np.int64], graph: Graph) -> Answers:
    """Return the answers to questions whose limits are bounds of the flows."""
    space = [np.empty(_ENTRIES * len(questions), dtype=np.int64) for _ in range(2)]
    reach, table, *tables = answer(questions.columns, questions.upward, questions.limits, pieces, graph, *space)
    return Answers(reach, np.ones(len(questions), dtype=np.int64), np.ones(len(questions), dtype=bool), table, *tables)


def _follow_flows_in_copy(questions: Questions, pieces: NDArray[np.int64], graph: Graph) -> Answers:
    """Return the same from a copy of the graph, for workers that share it."""
    return _follow_flows(questions, pieces, graph.copy())
