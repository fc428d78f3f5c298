"""Published ranges: tables that reach their ends.

A reader takes a published range for what can be concluded (Salazar 2002, section 4: each of its values belongs to a
table that agrees with everything published). Between two tables that reach the ends lie tables for all that is between.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.attack.result import Audit
from celosia.attack.subproblems.dispatch import solve_questions
from celosia.attack.subproblems.questions import Answers, Questions
from celosia.certificate.whole import Whole, compact, minus
from celosia.certificate.witnesses import WitnessCollector
from celosia.pattern.entries import INTERVAL
from celosia.progress import Progress
from celosia.solve.registry import backend
from celosia.table.fixed import Fixed
from celosia.tolerance import ENDLESS


@dataclass(frozen=True, slots=True, eq=False)
class Ranges:
    """Published ranges both of whose ends are reached.

    Parameters
    ----------
    published
        How many ranges are published.
    cells
        Those that are reached.
    down, up
        The places of their tables, -1 where the end is infinite.
    """

    published: int
    cells: NDArray[np.int64]
    down: NDArray[np.int64]
    up: NDArray[np.int64]

    def without(self, wrong: NDArray[np.bool_]) -> Ranges:
        """Return the ranges but some."""
        return Ranges(self.published, self.cells[~wrong], self.down[~wrong], self.up[~wrong])


def ranges_of(audit: Audit, witnesses: WitnessCollector, time_limit: float | None, progress: Progress) -> Ranges:
    """Return the published ranges whose ends are reached in the eyes of an attacker, with the tables that do it.

    Parameters
    ----------
    audit
        What was audited. Intervals that it found are used; ends that it did not compute are computed here.
    witnesses
        Takes the tables.
    time_limit
        Seconds for integer programs.
    progress
        Hears about long steps.
    """
    cells = np.flatnonzero(audit.release.status == INTERVAL)
    sides = []
    reached = np.ones(len(cells), dtype=bool)
    for ends, upward in ((audit.release.lower, False), (audit.release.upper, True)):
        places = np.full(len(cells), -1, dtype=np.int64)
        open_ = ~ends.infinite[cells]
        for number, system in enumerate(audit.systems):
            far = _far(audit.risk.table.amounts[cells], ends[cells], system.digits_of(cells), upward=upward)
            asked = np.flatnonzero(open_ & (far >= 0))
            if len(asked):
                answers = _answers(audit, number, cells[asked], far[asked], time_limit, progress, upward=upward)
                there = np.asarray(answers.reach // answers.denominator >= far[asked], dtype=bool)
                places[asked] = witnesses.add(answers, system, there)
                open_[asked[there]] = False
        reached &= ~open_
        sides.append(places)
    return Ranges(len(cells), cells[reached], sides[0][reached], sides[1][reached])


def _far(truth: Fixed, ends: Fixed, digits: NDArray[np.int64], *, upward: bool) -> NDArray[np.int64]:
    """Return how far away ends are, counted in the decimal of each; -1 where it is not so fine."""
    decimals = max(truth.decimals, ends.decimals, int(digits.max(initial=0)))
    finite = Fixed(np.where(ends.infinite, 0, ends.counts), ends.decimals)
    distance: Whole = minus(finite.to(decimals).counts, truth.to(decimals).counts)
    distance = np.where(ends.infinite, 0, distance if upward else -distance)
    unit = 10 ** (decimals - digits)
    good = (distance % unit == 0) & (distance // unit < ENDLESS)
    return np.where(good, compact(distance // unit), -1).astype(np.int64)


def _answers(
    audit: Audit,
    number: int,
    cells: NDArray[np.int64],
    far: NDArray[np.int64],
    time_limit: float | None,
    progress: Progress,
    *,
    upward: bool,
) -> Answers:
    """Return how far cells move in the eyes of an attacker, followed only so far."""
    system, known = audit.systems[number], audit.intervals
    own = np.flatnonzero(known.attackers == number)
    place = np.full(system.n_cells, -1, dtype=np.int64)
    place[known.cells[own]] = own
    if (place[cells] >= 0).all():
        return (known.up if upward else known.down).take(place[cells])
    column_of = np.full(system.n_cells, -1, dtype=np.int64)
    column_of[system.cells] = np.arange(len(system))
    unknown = np.flatnonzero(column_of[cells] >= 0)
    questions = Questions(column_of[cells[unknown]], np.full(len(unknown), upward), far[unknown])
    solver = backend(audit.solver.split(" ")[0])
    found = solve_questions(system, questions, solver, progress, time_limit=time_limit)
    answers = Answers.join([Answers.of_nothing(1, furthest=True), found])  # a known cell does not move
    order = np.zeros(len(cells), dtype=np.int64)
    order[unknown] = 1 + np.arange(len(unknown))
    return answers.take(order)
