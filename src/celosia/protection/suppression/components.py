"""Components of a suppression problem, each searched by itself, in this process or in another."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from celosia.attack.subproblems.proposals import ProposedWitnesses
from celosia.errors import SolverError
from celosia.protection.engine.capacity import Cut
from celosia.protection.engine.incumbent import Outcome
from celosia.protection.engine.parameters import EngineParameters
from celosia.protection.engine.patterns.search import PatternSearch
from celosia.protection.engine.problem import ProtectionProblem
from celosia.protection.engine.warm_start import pack_cuts
from celosia.protection.engine.workers import run_by_workers
from celosia.protection.run import Run
from celosia.protection.state.file import PackedCuts
from celosia.protection.suppression.presolve import Component
from celosia.solve import deadline
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.solve.registry import backends


def solve_component(
    component: Component,
    known: tuple[list[Cut], list[Cut]],
    rows: Sequence[Cut],
    gap: float,
    seed: int,
    parameters: EngineParameters,
    clock: Clock,
    tree: Backend,
) -> Outcome[np.bool_]:
    """Return what the search of a component finds, of which cuts and no-good cuts are known (`PatternSearch.known`)."""
    search = PatternSearch(
        *(component.problem, backends()[0], tree, clock),
        rows=rows,
        seed=seed,
        parameters=parameters,
        coordinates=component.coordinates,
    )
    search.learn(*known)
    with contextlib.suppress(deadline.DeadlineError):
        search.run(gap)
    return search.outcome()


@dataclass(frozen=True, eq=False)
class ComponentSearches:
    """The searches of all components, one after another or in other processes.

    Parameters
    ----------
    searches
        The searches, each with its component.
    rows
        Further rows of their masters.
    run, parameters
        How they are run.
    """

    searches: Sequence[tuple[PatternSearch, Component]]
    rows: Sequence[Cut]
    run: Run
    parameters: EngineParameters

    def __iter__(self) -> Iterator[PatternSearch]:
        return (search for search, _ in self.searches)

    def __len__(self) -> int:
        return len(self.searches)

    @property
    def valid_cuts(self) -> Iterator[tuple[ProtectionProblem, list[Cut]]]:
        """The cuts of every search; no-good cuts may not be proved, and are left out."""
        return ((search.problem, search.valid_cuts) for search in self)

    def pack_cuts(self, most: int) -> PackedCuts:
        """Return the cuts of all searches by cells of the table: the newest, with at most so many coefficients."""
        by_cells = (
            replace(cut, columns=problem.cells[cut.columns]) for problem, cuts in self.valid_cuts for cut in cuts
        )
        return pack_cuts(by_cells, most)

    def solve(self, begin: Callable[[], None]) -> None:
        """Begin, and run every search; one after another they leave the rest its share of the time."""
        todo = [one for one in self.searches if not (one[0].incumbent.done or one[0].incumbent.exhausted)]
        try:
            begin()
            if self.run.executor is not None and self.run.oracle is None and not any(one.is_in_blocks for one in self):
                searches = [
                    partial(
                        solve_component,
                        component,
                        search.known,
                        self.rows,
                        self.run.gap,
                        self.run.seed,
                        self.parameters,
                    )
                    for search, component in todo
                ]
                for (search, _), outcome in zip(todo, run_by_workers(self.run, searches), strict=True):
                    search.adopt(outcome)
                return
            for search, _ in todo:
                search.begin_with_moves()
            for k, (search, _) in enumerate(todo):
                left = sum(len(other.problem) for other, _ in todo[k:])
                last = k == len(todo) - 1  # it has what the clock leaves, also where that is more in the end
                share = self.run.clock.left * len(search.problem) / left
                search.run(self.run.gap, np.inf if last else share)
        except KeyboardInterrupt:
            self._finish_first_patterns([search for search, _ in todo])

    def _finish_first_patterns(self, searches: Sequence[PatternSearch]) -> None:
        """After Ctrl-C let searches that have no pattern yet find a quick one."""
        self.run.clock.stop()
        for search in searches:
            if search.incumbent.pattern is None:
                try:
                    search.run(self.run.gap)
                except SolverError:  # still busy with what was interrupted
                    search.hide_everything()

    def propose_witnesses(self) -> ProposedWitnesses | None:
        """Return witnesses in whole numbers that searches have found, by columns of the problem; None for none."""
        found = [(search.propose_witnesses(), component) for search, component in self.searches]
        known = [component.spread_witnesses(proposed) for proposed, component in found if proposed is not None]
        return ProposedWitnesses.join(known) if known else None

    def join_patterns(self, forced: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
        """Return which columns of the whole problem are hidden, None where a search has no pattern."""
        hidden = forced.copy()
        for search, component in self.searches:
            if search.incumbent.pattern is None:
                return None
            hidden[component.columns] |= component.unmerge(search.incumbent.pattern)
        return hidden

    def forbid(self, columns: NDArray[np.int64], *, proved: bool) -> None:
        """Forbid the patterns of components in which the audit found levels of these columns missed."""
        alone = len(self) == 1
        hit = [(search, own) for search, own in self.searches if alone or np.isin(own.columns, columns).any()]
        if not hit:
            raise SolverError.one("audit", "refutes a pattern that no search made.", "Report this.")
        for search, own in hit:
            search.forbid(own.classes(columns), proved=proved)
