r"""What respondents have to solve: leaf cells with capacities, and who takes how much of them away.

Notation: leaf cell l has absolute contributions :math:`x_l^r` with sum :math:`T_l`. To a coalition S everything but its
own contributions is open by q percent, so that leaf l can be wrong by :math:`q\,(T_l - \sum_{r \in S} x_l^r)` either
way, and by what is published about it. Totals can be wrong by whatever their leaves allow and they themselves publish.
All amounts are counts of one decimal in which p and q percent of any contribution are whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from celosia.attack.respondents.push import PushSolver
from celosia.attack.respondents.witness import WitnessMoves
from celosia.attack.system.decomposition import Parts, decompose
from celosia.attack.system.system import System, attacker_system
from celosia.pattern.release import Release
from celosia.risk.respondents.knowledge import Knowledge, Respondents
from celosia.solve import deadline
from celosia.solve.backend import Backend
from celosia.solve.clock import Clock
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.table import Table

if TYPE_CHECKING:
    from celosia.attack.respondents.boxes import Cover
    from celosia.attack.subproblems.proposals import ProposedWitnesses


@dataclass(frozen=True, eq=False)
class RespondentProblem:
    r"""The attackers' system of a release and its contributors. Leaves are places in `Respondents.leaves`.

    Parameters
    ----------
    table, respondents, knowledge
        What the attacks are about.
    system, parts, pushes
        The cells that an attacker without contributions does not know.
    q, scale
        As whole numbers: a contribution of n counts of the table is known within ``q * n`` counts of the system, of
        which `scale` make one count of what respondents know.
    column
        The column of every leaf in the system, -1 where it is known, ``(k,)``.
    component
        Leaves with different numbers have nothing to do with each other, ``(k,)``.
    published_up, published_down
        How far what is published lets columns go, ``(n,)`` each.
    capacity
        :math:`q\,T_l`, ``(k,)``.
    clock
        For how long there are attacks.
    attackers
        Who attacks, by their places; None for all.
    kept
        The tables that were found, by target and his leaves, where they are kept for a certificate; None where not.
    """

    table: Table
    respondents: Respondents
    knowledge: Knowledge
    system: System
    parts: Parts
    pushes: PushSolver
    q: int
    scale: int
    column: NDArray[np.int64]
    component: NDArray[np.int64]
    published_up: NDArray[np.int64]
    published_down: NDArray[np.int64]
    capacity: NDArray[np.int64]
    clock: Clock
    attackers: frozenset[int] | None = None
    kept: dict[tuple[int, tuple[int, ...]], list[Cover]] | None = None
    _largest: dict[int, NDArray[np.int64]] = field(default_factory=dict)

    def error(self, size: int) -> int:
        """Return how close no attacker may come to a contribution, in counts of the system."""
        return self.scale * self.knowledge.error(size)

    def keep(self, place: int, leaves: tuple[int, ...], cover: Cover) -> None:
        """Keep tables that protect a target from some coalitions, where tables are kept."""
        if self.kept is not None:
            self.kept.setdefault((place, leaves), []).append(cover)

    @property
    def late(self) -> bool:
        """There is no more time for attacks."""
        return self.clock.left == 0 or deadline.left() == 0

    @cached_property
    def symmetric(self) -> bool:
        """Whatever can go up can go down as far."""
        return bool(np.array_equal(self.published_up, self.published_down))

    @cached_property
    def leaf_of(self) -> NDArray[np.int64]:
        """The leaf of every column, -1 for totals, ``(n,)``."""
        out = np.full(len(self.system), -1, dtype=np.int64)
        unknown = np.flatnonzero(self.column >= 0)
        out[self.column[unknown]] = unknown
        return out

    @property
    def contributors(self) -> list[list[tuple[int, int]]]:
        """The contributors to every leaf, as (size, place), the largest first."""
        return self.respondents.contributors

    @cached_property
    def attackers_in(self) -> list[list[tuple[int, int]]]:
        """Those of the contributors to every leaf who attack, as (size, place), the largest first."""
        who = self.attackers
        if who is None:
            return self.contributors
        return [[one for one in own if one[1] in who] for own in self.contributors]

    def count_attackers(self, target: int) -> int:
        """Return how many respondents attack a target: nobody attacks himself."""
        if self.attackers is None:
            return len(self.respondents) - 1
        return len(self.attackers - {target})

    @property
    def holdings(self) -> list[dict[int, int]]:
        """What each respondent contributes, by leaf."""
        return self.respondents.holdings

    def protected_leaves(self, place: int, component: int) -> list[int]:
        """Return the leaves of one component in which a respondent is to be protected."""
        return [leaf for leaf in self.leaves_of(place, component) if leaf in self.respondents.claims[place]]

    def leaves_of(self, place: int, component: int) -> list[int]:
        """Return the leaves of one component to which a respondent contributes."""
        return [leaf for leaf in self.holdings[place] if self.component[leaf] == component]

    def is_single(self, place: int, leaf: int) -> bool:
        """Return whether a respondent contributes to no other leaf of the component."""
        return len(self.leaves_of(place, int(self.component[leaf]))) == 1

    def contribution_of(self, members: Collection[int], leaf: int) -> int:
        """Return what some respondents contribute to a leaf together."""
        return sum(self.holdings[place].get(leaf, 0) for place in members)

    def bounds(self, taken: dict[int, int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the bounds of all moves, up and down, when attackers contribute `taken` to leaves, ``(n,)`` each."""
        up, down = self.system.up.copy(), self.system.down.copy()
        leaves = np.fromiter(taken, dtype=np.int64, count=len(taken))
        sizes = np.fromiter(taken.values(), dtype=np.int64, count=len(taken))
        column, bound = self.column[leaves], self.capacity[leaves] - self.q * sizes
        open_ = column >= 0
        column, bound = column[open_], bound[open_]
        up[column] = np.minimum(self.published_up[column], bound)
        down[column] = np.minimum(self.published_down[column], bound)
        return up, down

    @cached_property
    def members(self) -> dict[int, NDArray[np.int64]]:
        """The leaves of every component, increasing."""
        order = np.argsort(self.component, kind="stable")
        numbers, starts = np.unique(self.component[order], return_index=True)
        return dict(zip(numbers.tolist(), np.split(order, starts[1:]), strict=True))

    def largest_sums(self, number: int) -> NDArray[np.int64]:
        """Return what the largest attackers, this number of them, contribute to every leaf, ``(k,)``."""
        if number not in self._largest:
            sums = [sum(size for size, _ in own[:number]) for own in self.attackers_in]
            self._largest[number] = np.array(sums, dtype=np.int64)
        return self._largest[number]


def respondent_problem(
    table: Table,
    release: Release,
    respondents: Respondents,
    knowledge: Knowledge,
    backend: Backend,
    clock: Clock,
    proposed: ProposedWitnesses | None = None,
    attackers: frozenset[int] | None = None,
    *,
    keep: bool = False,
) -> RespondentProblem:
    """Return the problem for a release; moves that are proposed are tried first, and checked as all are.

    Who attacks is given by places among the respondents; all do by default. Tables that are found are kept on request.

    Raises
    ------
    DataError
        Numbers have too many digits.
    """
    leaves, totals = respondents.leaves, respondents.totals.astype(object)
    decimals = table.decimals + knowledge.decimals
    middle = table.amounts.counts[leaves].astype(object) * knowledge.unit
    ends = []
    for sign in (-1, 1):
        counts = np.full(len(table), sign * INFINITE, dtype=object)
        counts[leaves] = middle + sign * knowledge.q * totals
        ends.append(Fixed.of_counts(counts, decimals))
    said = [release.bounds(), (ends[0], ends[1])]
    system = attacker_system(table, said, names=["release", "knowledge of the respondents"])
    parts = decompose(system)
    published = attacker_system(
        table, [release.bounds(), _unbounded_ends(len(table), system.decimals)], names=["release", ""]
    )
    scale = 10 ** (system.decimals - decimals)
    place_of = np.full(len(table), -1, dtype=np.int64)
    place_of[system.cells] = np.arange(len(system))
    column = place_of[leaves]
    component = np.append(parts.component, -1)[column].astype(np.int64)
    known = np.flatnonzero(component < 0)
    component[known] = len(parts) + np.arange(len(known))
    also = np.searchsorted(published.cells, system.cells)  # whatever is open to respondents is not published
    return RespondentProblem(
        *(table, respondents, knowledge, system, parts),
        PushSolver(system, parts, backend, {} if proposed is None else _moves_by_column(proposed, place_of)),
        *(knowledge.q * scale, scale, column, component),
        *(published.up[also], published.down[also]),
        np.array([knowledge.q * scale * int(total) for total in totals.tolist()], dtype=np.int64),
        clock,
        attackers,
        {} if keep else None,
    )


def _moves_by_column(proposed: ProposedWitnesses, place_of: NDArray[np.int64]) -> dict[int, list[WitnessMoves]]:
    """Return proposed moves of cells that are not known, by the column that they push."""
    tables: list[WitnessMoves | None] = []
    for start, end in itertools.pairwise(proposed.starts.tolist()):
        columns, moves = place_of[proposed.moved[start:end]], proposed.moves[start:end]
        order, known = np.argsort(columns), bool((columns >= 0).all())
        tables.append(WitnessMoves(columns[order], moves[order] // np.gcd.reduce(moves), 1) if known else None)
    found: dict[int, list[WitnessMoves]] = {}
    for cell, table in zip(proposed.cells.tolist(), proposed.tables.tolist(), strict=True):
        if (one := tables[table]) is not None:
            found.setdefault(int(place_of[cell]), []).append(one)
    return found


def _unbounded_ends(n: int, decimals: int) -> tuple[Fixed, Fixed]:
    return Fixed(np.full(n, -INFINITE), decimals), Fixed(np.full(n, INFINITE), decimals)
