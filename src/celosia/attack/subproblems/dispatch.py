"""The attackers' subproblems, each solved by what its component allows: a flow, a linear or an integer program."""

from __future__ import annotations

from concurrent.futures import Executor
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.flows.network import solve_by_flows
from celosia.attack.subproblems.integer.integer import solve_in_whole_numbers
from celosia.attack.subproblems.lp import solve_by_programs
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.attack.subproblems.verification import check_claims, verify_witnesses
from celosia.attack.system.decomposition import Parts, decompose, is_network
from celosia.attack.system.system import System
from celosia.kernels import compile_kernels
from celosia.progress import Progress
from celosia.solve.backend import Backend
from celosia.solve.deadline import DeadlineError
from celosia.table.table import Table

INTEGER_KERNELS = "celosia.attack.subproblems.integer"
"""Where the kernels are that only attackers need who know that some values are whole numbers."""

RESPONDENT_KERNELS = "celosia.attack.respondents"
PROGRAM_KERNELS = ("celosia.attack.system.redundancy", "celosia.attack.subproblems.propagation")
"""Where those are that only respondents need as attackers, and only tables that are no networks."""

_DECOMPOSITION_KERNELS = "celosia.attack.system.decomposition"


def list_unused_kernels(
    table: Table, whole: NDArray[np.bool_], *, respondents: bool, progress: Progress
) -> tuple[str, ...]:
    """Return the packages whose kernels attacks on a table have no use for: nobody waits until they are compiled.

    Parameters
    ----------
    table
        The table.
    whole
        Which cells attackers know to be whole numbers, ``(n_cells,)``.
    respondents
        Whether contributors are among the attackers.
    progress
        Hears of what is compiled to find out.
    """
    alike = bool(whole.all()) or not bool(whole.any())  # otherwise relations have other coefficients
    compile_kernels(progress, _DECOMPOSITION_KERNELS)
    unused = {
        INTEGER_KERNELS: not bool(whole.any()),
        RESPONDENT_KERNELS: not respondents,
        **dict.fromkeys(PROGRAM_KERNELS, alike and is_network(table.relations.matrix)),
    }
    return tuple(package for package, idle in unused.items() if idle)


def solve_questions(
    system: System,
    questions: Questions,
    backend: Backend,
    progress: Progress,
    *,
    time_limit: float | None,
    parts: Parts | None = None,
    keep: NDArray[np.bool_] | None = None,
    executor: Executor | None = None,
) -> Answers:
    """Return how far cells move, with witnesses: the answers to all questions.

    Guarantee: every witness has been verified in whole numbers outside of what found it, and moves its cell as far as
    the answer says (`celosia.attack.subproblems.verification`); one that fails is thrown away and its answer left
    open. That holds for witnesses that are not kept, too. When the last moment comes (`celosia.solve.deadline`), all
    questions that are not answered are left open.

    Parameters
    ----------
    system
        What the attacker has to solve.
    questions
        What he asks.
    backend
        A solver for components that are no networks.
    progress
        Hears about long steps.
    time_limit
        Seconds for integer programs, all together.
    parts
        The components of the system, where they are known.
    keep
        Whose witnesses come back, ``(q,)``; by default all.
    executor
        Takes flows and linear programs, where there is one; the answers are the same.
    """
    parts = decompose(system) if parts is None else parts
    kept = np.ones(len(questions), dtype=bool) if keep is None else keep
    component = parts.component[questions.columns]
    book = _BestAnswers(system, questions, kept)
    book.enter(np.flatnonzero(component < 0), Answers.of_nothing(int((component < 0).sum()), furthest=True))
    network = np.flatnonzero(_in_network(parts, component))
    with suppress(DeadlineError):
        progress.start("following flows", len(network))
        for places, found in solve_by_flows(system, parts, questions.take(network), executor):
            book.enter(network[places], found)
            progress.advance(len(places))
        progress.done()
        left = np.flatnonzero(~book.known)
        progress.start("solving programs", len(left))
        asked = questions.take(left)
        book.enter(left, solve_by_programs(system, parts, asked, backend, executor=executor))
        left = left[~book.settled[left] & _with_whole_cells(system, parts)[component[left]]]
        if len(left):
            book.enter(
                left, solve_in_whole_numbers(system, parts, questions.take(left), backend, time_limit=time_limit)
            )
    progress.done()
    return book.answers()


def _in_network(parts: Parts, component: NDArray[np.int32]) -> NDArray[np.bool_]:
    if not len(parts):
        return np.zeros(len(component), dtype=bool)
    return (component >= 0) & parts.network[np.maximum(component, 0)]


def _with_whole_cells(system: System, parts: Parts) -> NDArray[np.bool_]:
    """Return which components have cells that are known to be whole numbers."""
    own = parts.component[system.whole]
    return np.bincount(own[own >= 0], minlength=len(parts)) > 0


class _BestAnswers:
    """The best answer to every question so far: at first that nothing is known."""

    def __init__(self, system: System, questions: Questions, kept: NDArray[np.bool_]) -> None:
        self._system, self._questions, self._kept = system, questions, kept
        self._pages = [Answers.of_nothing(len(questions), furthest=False)]
        self._place = np.arange(len(questions))
        self._n = len(questions)
        self.known = np.zeros(len(questions), dtype=bool)
        self.settled = np.zeros(len(questions), dtype=bool)

    def enter(self, places: NDArray[np.int64], found: Answers) -> None:
        """Enter the answers to some questions, those that are verified and better than what is known."""
        if not len(places):
            return
        good = verify_witnesses(self._system, found) & check_claims(self._questions.take(places), found)
        again = np.flatnonzero(good & self.known[places])
        if len(again):
            good[again] = _reach_as_far(found.take(again), self.answers().take(places[again]))
        better = np.flatnonzero(good)
        self._pages.append(found.keep_witnesses(self._kept[places] & good))
        self._place[places[better]] = self._n + better
        self._n += len(found)
        self.known[places[better]] = True
        self.settled[places[better]] = found.furthest[better]

    def answers(self) -> Answers:
        """Return the answers."""
        return Answers.join(self._pages).take(self._place).keep_witnesses(self._kept)


def _reach_as_far(found: Answers, known: Answers) -> NDArray[np.bool_]:
    """Return which answers reach as far as others, ``(q,)``."""
    here, there = (found.reach, found.denominator), (known.reach, known.denominator)
    return np.asarray(here[0].astype(object) * there[1] >= there[0].astype(object) * here[1], dtype=bool)
