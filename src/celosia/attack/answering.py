"""Questions of any kind answered by whatever answers them: at once, by a flow, by a linear or an integer program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from celosia.attack.networks import flow_answers
from celosia.attack.parts import Parts, parts_of
from celosia.attack.programs import program_answers
from celosia.attack.questions import Answer, Answers, Questions, verified
from celosia.attack.system import System
from celosia.attack.whole import whole_answers
from celosia.progress import Progress
from celosia.solve.backend import Backend


def answers_of(
    system: System,
    questions: Questions,
    backend: Backend,
    progress: Progress,
    *,
    integer: bool,
    time_limit: float | None,
) -> Answers:
    """Return the answers to all questions.

    Guarantee: every witness that comes back has been verified in whole numbers outside of what found it
    (`celosia.attack.questions.verified`); one that fails is thrown away and its answer left open.

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
    integer
        The attacker knows that all values are whole numbers.
    time_limit
        Seconds for integer programs, all together.
    """
    parts = parts_of(system)
    component = parts.component[questions.columns]
    at_once = np.flatnonzero(component < 0)
    network = np.flatnonzero((component >= 0) & _is_network(parts, component))
    others = np.setdiff1d(np.arange(len(questions)), np.concatenate([at_once, network]))
    answers: list[Answer | None] = [None] * len(questions)
    for place in at_once.tolist():
        answers[place] = _nothing()
    progress.start("following flows", len(network))
    flows = flow_answers(system, parts, questions.take(network))
    sound = verified(system, flows)
    for k, place in enumerate(network.tolist()):
        if sound[k]:
            answers[place] = flows[k]
    progress.done()
    left = np.concatenate([others, network[~sound]])
    progress.start("solving programs", len(left))
    programs = program_answers(system, parts, questions.take(left), backend, integer=integer)
    _enter(answers, left, programs, verified(system, programs))
    if integer:
        open_ = np.array([place for place in left.tolist() if not _done(answers[place])], dtype=np.int64)
        wholes = whole_answers(system, parts, questions.take(open_), backend, time_limit=time_limit)
        _enter(answers, open_, wholes, verified(system, wholes))
    progress.done()
    return Answers.of_list([answer if answer is not None else _nothing(furthest=False) for answer in answers])


def _is_network(parts: Parts, component: NDArray[np.int32]) -> NDArray[np.bool_]:
    if not len(parts):
        return np.zeros(len(component), dtype=bool)
    return np.asarray(parts.network[np.maximum(component, 0)])


def _enter(answers: list[Answer | None], places: NDArray[np.int64], found: Answers, sound: NDArray[np.bool_]) -> None:
    for k, place in enumerate(places.tolist()):
        known = answers[place]
        better = known is None or found[k].reach * known.denominator >= known.reach * found[k].denominator
        if sound[k] and better:
            answers[place] = found[k]


def _done(answer: Answer | None) -> bool:
    return answer is not None and answer.furthest


def _nothing(*, furthest: bool = True) -> Answer:
    nothing = np.zeros(0, dtype=np.int64)
    return Answer(0, 1, furthest, nothing, nothing)
