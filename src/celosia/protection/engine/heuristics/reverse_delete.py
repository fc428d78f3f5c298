"""Reverse delete: show cells of a safe pattern again, one after another, while every requirement has a witness.

A cell can be shown when the requirements whose witnesses move it have others that do not; all other requirements keep
theirs. The result hides no cell in vain, and is safe as far as doubles can tell.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np
from numpy.typing import NDArray

from celosia.arrays import longer, plain
from celosia.kernels import inner, kernel
from celosia.protection.engine.parameters import PARAMETERS, HeuristicParameters
from celosia.protection.engine.subproblems.flow import (
    Capacities,
    FlowRequirements,
    Network,
    Workspace,
    clear,
    make_flow_problem,
    make_workspace,
    send_flow,
)
from celosia.protection.engine.subproblems.lp import AttackerProgram
from celosia.protection.engine.subproblems.reroute import Rerouting
from celosia.protection.engine.subproblems.support import SupportGraph
from celosia.protection.engine.subproblems.witnesses import LearnedCuts, PatternWitnesses, reduce_component
from celosia.tolerance import FLOW_ZERO, LEVEL_REACHED

if TYPE_CHECKING:
    from celosia.protection.engine.capacity import CutBuilder
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.master import CutPool
    from celosia.protection.engine.subproblems.requirements import SideRequirements

_CELL = np.dtype([("first", "i8"), ("tried", "i4"), ("asks", "i4")], align=True)
_ENTRY = np.dtype([("requirement", "i8"), ("table", "i8"), ("after", "i8")], align=True)
_Cells = Annotated[NDArray[np.void], _CELL]
"""For every cell the first entry of its list, -1 for none, whether it is tried, and whether it is required."""
_Entries = Annotated[NDArray[np.void], _ENTRY]
"""The lists: a witness of a requirement moves the cell, and which entry follows. A requirement has its last witness:
entries of earlier ones stay."""

Known = NDArray[np.float64]
"""How far the witness of every requirement moves every column of a problem, ``(s, n)``."""


@dataclass(frozen=True, slots=True, eq=False)
class ReverseDelete:
    """Reduces patterns of a problem.

    Parameters
    ----------
    separator
        Solves the subproblems.
    pool
        Valid cuts: a cell without which one is violated stays hidden. Cuts learned here are added.
    late
        Tells when to stop: what has not been tried by then stays hidden.
    parameters
        How much effort a cell is worth.
    """

    separator: Separator
    pool: CutPool
    late: Callable[[], bool]
    parameters: HeuristicParameters = PARAMETERS.heuristics

    def reduce(
        self, pattern: NDArray[np.bool_], weight: NDArray[np.float64], known: Known | None = None
    ) -> NDArray[np.bool_] | None:
        """Return the pattern without the cells that it does not need; None where no part of it is safe.

        Parameters
        ----------
        pattern
            Which columns are hidden, ``(n,)``, forced ones at the end perhaps left out; those that would miss their
            width (`show_narrow_cells`) are shown first.
        weight
            The heaviest are tried first, ``(n,)``.
        known
            Witnesses of the requirements, where no level slides.
        """
        builder, n = self.separator.builder, len(pattern)
        problem = builder.problem
        pattern = builder.padded_with_forced(self.show_narrow_cells(pattern))
        weight = builder.padded_with_forced(weight)
        sides = self._targets(pattern)
        if sides is None:
            return None
        order = np.flatnonzero(pattern & ~problem.forced)
        order = order[np.argsort(-weight[order], kind="stable")]
        kept = problem.forced & pattern
        if self.separator.is_network:
            stays = _reduce_networks(builder, self.separator.subproblems.networks[0], pattern, sides, order)
        else:
            stays = self._reduce_components(pattern, sides, order, known)
        if stays is None:
            return None
        kept[stays] = True
        return kept[:n]

    def _reduce_components(
        self, pattern: NDArray[np.bool_], sides: SideRequirements, order: NDArray[np.int64], known: Known | None
    ) -> NDArray[np.int64] | None:
        """Return the columns that stay hidden: those of networks together, those of other components apart."""
        builder = self.separator.builder
        problem = builder.problem
        hidden = SupportGraph.of(problem, np.flatnonzero(pattern))
        place = hidden.place(len(problem))
        component, own = hidden.parts.component[place[sides.columns]], hidden.parts.component[place[order]]
        if bool((component < 0).any()):
            return None
        flows = np.append(hidden.parts.network, np.False_)  # the last for determined cells
        stays = _reduce_networks(builder, hidden, pattern, sides.take(flows[component]), order[flows[own]])
        if stays is None:
            return None
        found = [stays]
        split = bool(self.separator.sides.sliding.any())  # then levels are not those of the problem
        for number in np.unique(component[~flows[component]]).tolist():
            members = hidden.columns[hidden.parts.members(number)]
            learned = LearnedCuts(builder, self.pool, members, known=not split)
            program = AttackerProgram.of(builder, members, np.ones(len(members)), self.separator.backend)
            rerouting = Rerouting.of(builder, members, self.separator.backend, self.parameters.longest_detour)
            witnesses = PatternWitnesses(program, sides.take(component == number), learned, rerouting, self.parameters)
            given = None if known is None else known[component == number][:, members]
            stays = reduce_component(witnesses, order[own == number], given, self.late)
            if stays is None:
                return None
            found.append(stays)
        return np.concatenate(found)

    def show_narrow_cells(self, pattern: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the largest part of a pattern in which cells that keep a width if they are hidden do so.

        Hiding more only helps others, so those that miss their width even with all the rest hidden are shown, one
        round after another.
        """
        problem = self.separator.problem
        if bool(problem.forced[problem.requirements.columns].all()):
            return pattern
        pattern = pattern.copy()
        while True:
            missed = self.separator.find_missed(pattern)
            columns = np.unique(problem.requirements.columns[missed])
            shown = columns[~problem.forced[columns] & pattern[columns]]
            if not len(shown):
                return pattern
            pattern[shown] = False

    def _targets(self, pattern: NDArray[np.bool_]) -> SideRequirements | None:
        """Return the requirements, sliding ones with the part of their level that each side reaches now."""
        everything = self.separator.sides
        counts = pattern[everything.columns]  # a cell that is shown has nothing to keep
        if bool(counts.all()) and not bool(everything.sliding.any()):
            return everything
        sides = everything.take(counts)
        if not bool(sides.sliding.any()):
            return sides
        part = self.separator.subproblems.cap_at_own_bounds(sides, self.separator.measure_reach(pattern)[counts])
        first = np.flatnonzero(sides.sliding & sides.upward)
        both = part[first] + part[first + 1]
        if bool((both < 1.0 - LEVEL_REACHED).any()):
            return None
        levels = sides.levels.copy()
        levels[first] *= part[first] / both
        levels[first + 1] *= part[first + 1] / both
        split = replace(sides, levels=levels, sliding=np.zeros(len(sides), dtype=bool))
        return split.take(levels > 0)


def _reduce_networks(
    builder: CutBuilder,
    hidden: SupportGraph,
    pattern: NDArray[np.bool_],
    sides: SideRequirements,
    order: NDArray[np.int64],
) -> NDArray[np.int64] | None:
    """Return the columns of the networks of a pattern that stay hidden, None where a requirement is missed."""
    place = hidden.place(len(builder.problem))
    network = hidden.network_among(pattern[hidden.columns])
    put = FlowRequirements(place[sides.columns], sides.attackers, sides.upward, sides.levels)
    if bool((network.tail[put.columns] < 0).any()):
        return None
    capacities = (builder.up, builder.down)
    if len(hidden.columns) < len(builder.problem):
        capacities = builder.capacities(hidden.columns)
    share = np.ones(len(hidden.columns))
    cells = np.zeros(len(share), dtype=_CELL)
    cells["first"], cells["tried"][place[order]], cells["asks"][put.columns] = -1, 1, 1
    entries = np.empty(16 * (len(put.columns) + 16), dtype=_ENTRY)
    safe = _reverse_delete(put, place[order], Capacities(*capacities, share), network, cells, entries)
    return order[share[place[order]] > 0] if safe else None


@kernel()
def _reverse_delete(  # noqa: C901  (one loop, compiled)
    requirements: FlowRequirements,
    order: NDArray[np.int64],
    capacities: Capacities,
    network: Network,
    cells: _Cells,
    entries: _Entries,
) -> bool:
    """Set the share of cells to zero that need not be hidden; return whether all requirements are met at all."""
    n_requirements = len(requirements.columns)
    workspace, share = make_workspace(network), capacities.share
    now, renewed = np.full(n_requirements, -1, dtype=np.int64), np.empty(n_requirements, dtype=np.int64)
    before = np.empty(n_requirements, dtype=np.int64)
    n_entries = n_tables = plain(0)
    for requirement in range(n_requirements):
        entries, n_entries, reached = _find_witness(
            requirement, n_tables, requirements, capacities, network, workspace, cells, entries, n_entries
        )
        if not reached:
            return False
        now[requirement] = n_tables
        n_tables += 1
    for cell in order:
        share[cell] = 0.0
        n_renewed = 0
        safe = True
        entry = cells[cell].first
        while safe and entry >= 0:
            requirement = entries[entry].requirement
            if entries[entry].table == now[requirement] and requirements.columns[requirement] != cell:
                entries, n_entries, safe = _find_witness(
                    requirement, n_tables, requirements, capacities, network, workspace, cells, entries, n_entries
                )
                if safe:
                    renewed[n_renewed], before[n_renewed] = requirement, now[requirement]
                    n_renewed += 1
                    now[requirement] = n_tables
                n_tables += 1
            entry = entries[entry].after
        if not safe:
            share[cell] = 1.0
            for k in range(n_renewed):
                now[renewed[k]] = before[k]
        elif cells[cell].asks:
            for requirement in range(n_requirements):
                if requirements.columns[requirement] == cell:
                    now[requirement] = -1  # a cell that is shown has nothing to keep
    return True


@inner(inline=True)
def _find_witness(
    requirement: int,
    table: int,
    requirements: FlowRequirements,
    capacities: Capacities,
    network: Network,
    workspace: Workspace,
    cells: _Cells,
    entries: _Entries,
    n_entries: int,
) -> tuple[_Entries, int, bool]:
    """Return whether a requirement is met, and list the cells that are tried which its witness moves."""
    problem = make_flow_problem(requirement, requirements, capacities, network)
    total, n_touched = send_flow(problem, 0.0, plain(0), network, workspace)
    reached = total / problem.level >= 1.0 - FLOW_ZERO
    if reached:
        if n_entries + n_touched > len(entries):
            entries = longer(entries, 2 * len(entries) + n_touched)
        least = FLOW_ZERO * problem.level
        for k in range(n_touched):
            arc = workspace.touched[k]
            if cells[arc].tried and abs(workspace.flow[arc]) > least:
                entries[n_entries].requirement = requirement
                entries[n_entries].table = table
                entries[n_entries].after = cells[arc].first
                cells[arc].first = n_entries
                n_entries += 1
    clear(workspace, n_touched)
    return entries, n_entries, reached
