"""Components of a problem with its modes, which share neither relations, nor variables, nor rows among these.

Each is searched by itself: a safe point of every one of them together is safe, and costs and lower bounds add up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from celosia.attack.system.decomposition import decompose
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.incumbent import Outcome
from celosia.protection.engine.modes.modes import Modes
from celosia.protection.engine.problem import ProtectionProblem


@dataclass(frozen=True, slots=True, eq=False)
class ModeComponent:
    """A component of a problem with its modes.

    Parameters
    ----------
    problem, modes
        The component.
    variables
        Its variables of the whole, increasing.
    """

    problem: ProtectionProblem
    modes: Modes
    variables: NDArray[np.int64]

    def restrict_cuts(self, cuts: Iterable[Cut]) -> list[Cut]:
        """Return the cuts of the whole that are about its variables only, by these."""
        most = int(self.variables.max(initial=-1)) + 1
        place = np.full(most, -1, dtype=np.int64)
        place[self.variables] = np.arange(len(self.variables))
        inside = (cut for cut in cuts if len(cut.columns) and cut.columns[-1] < most)
        own = ((cut, place[cut.columns]) for cut in inside)
        return [replace(cut, columns=columns) for cut, columns in own if bool((columns >= 0).all())]

    def restrict_outcome(self, found: Outcome[np.float64]) -> Outcome[np.float64]:
        """Return what is known about it where this is known about the whole."""
        best = None if found.best is None else found.best[self.variables]
        return Outcome(
            best, self.modes.least_cost, impossible=False, exhausted=False, cuts=self.restrict_cuts(found.cuts)
        )

    def spread_cuts(self, cuts: Iterable[Cut]) -> list[Cut]:
        """Return its cuts by variables of the whole."""
        return [replace(cut, columns=self.variables[cut.columns]) for cut in cuts]


def split_components(problem: ProtectionProblem, modes: Modes) -> list[ModeComponent]:
    """Return the components of a problem with its modes; the whole where there is but one.

    Variables that no requirement depends on make one component together. A problem is left whole where a requirement is
    about a cell that cannot move, or a row without variables demands something: no component would know that.
    """
    n, many = len(problem), len(modes.program.cost)
    every = ModeComponent(problem, modes, np.arange(many))
    required = problem.requirements.columns
    component = decompose(problem.system(np.arange(n))).component.astype(np.int64)
    if bool((component[required] < 0).any()) or _has_broken_row(modes):
        return [every]
    label = _label(modes, np.where(np.isin(component, component[required]), component, -1))
    of_variables, of_columns = label[:many], label[many : many + n]
    searched = np.zeros(int(label.max(initial=-1)) + 1, dtype=bool)
    searched[of_columns[required]] = True
    groups = np.flatnonzero(searched)
    if len(groups) <= 1:
        return [every]
    parts = [
        _part(every, of_columns == group, of_variables == group, of_columns[required] == group) for group in groups
    ]
    rest = _part(every, ~searched[of_columns], ~searched[of_variables], np.zeros(len(required), dtype=bool))
    return [*parts, rest] if len(rest.variables) else parts


def _has_broken_row(modes: Modes) -> bool:
    """Return whether a row has no variables and does not hold."""
    program = modes.program
    broken = (program.row_lower > 0) | (program.row_upper < 0)
    return bool((broken & (np.diff(program.rows.indptr) == 0)).any())


def _label(modes: Modes, component: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return which variables, then columns, belong together, by the component of columns that move, -1 for others."""
    n, many = modes.up.shape
    rows = sp.coo_array(modes.program.rows)
    first_row = many + n + int(component.max(initial=-1)) + 1
    links = [
        *((sp.coo_array(slack).col, many + sp.coo_array(slack).row) for slack in (modes.up, modes.down)),
        *((which[which >= 0], many + np.flatnonzero(which >= 0)) for which in (modes.hiding, modes.opening)),
        (many + np.flatnonzero(component >= 0), many + n + component[component >= 0]),
        (rows.col, first_row + rows.row),
    ]
    ends = tuple(np.concatenate([link[side] for link in links]) for side in range(2))
    size = first_row + rows.shape[0]
    graph = sp.coo_array((np.ones(len(ends[0]), dtype=bool), ends), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][: many + n], dtype=np.int64)


def _part(
    whole: ModeComponent,
    columns: NDArray[np.bool_],
    variables: NDArray[np.bool_],
    requirements: NDArray[np.bool_],
) -> ModeComponent:
    """Return some columns, variables and requirements, by masks."""
    own, chosen = np.flatnonzero(columns), np.flatnonzero(variables)
    problem = whole.problem.part(own, np.flatnonzero(requirements))
    return ModeComponent(problem, whole.modes.restrict(own, chosen), chosen)
