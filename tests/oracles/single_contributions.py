r"""The full audit of respondents: every one against every other, contribution by contribution.

It exists to be believed rather than to be fast, and shares nothing with `celosia.attack.respondents.audit`: no
dominance, no certificates, no leaf capacities. For a coalition S and a target t the unknowns are the errors
:math:`e_{ir}` of all single contributions. S knows its own, everybody else's within q percent, and everything that is
published. Of t it may not know that some corner of the box :math:`x_i^t \pm p\,|x_i^t|` is impossible, or of one unit
each way where figures must not be found exactly: every choice of signs is tried, and the others' errors must make up
for it. With t in one cell the corners are p percent more and p percent less.
"""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia import Pattern, PPercent, PriorPosterior, Release, RespondentAudit, SolverError, SpecError, Table, publish
from celosia.risk.rules.contributor_rules import RespondentRule
from celosia.solve.backend import Backend
from celosia.solve.problem import LinearProgram
from celosia.solve.registry import backends
from celosia.solve.solution import Status
from celosia.table.fixed import Fixed

_BEYOND = 1.0001  # times p where a tie is too close
_OUT_OF_REACH = 1e6  # bounds beyond so many times the target's error: doubles do not hold both


@dataclass(frozen=True, slots=True)
class OpenAttack:
    """An attack that succeeds: who comes too close to whom.

    Parameters
    ----------
    attackers
        The anonymous numbers of those who tell each other what they contribute.
    target
        The anonymous number of the one they attack.
    """

    attackers: tuple[int, ...]
    target: int


def open_attacks(
    release: Release | Pattern,
    table: Table,
    rule: RespondentRule,
    *,
    ties: str = "safe",
    backend: Backend | None = None,
) -> list[OpenAttack]:
    """Return every attack of as many respondents as the rule says that comes too close to another, in order.

    All programs are solved by one thread: the main thread would hand every single one of them to another.

    Parameters
    ----------
    release
        What is published.
    table
        The table with single contributions; up to some hundred cells.
    rule
        What respondents know, and how close they may come.
    ties
        ``safe``: a level that is reached is enough; ``sensitive``: it is not.
    backend
        A solver.
    """
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(lambda: list(_attacks(release, table, rule, ties, backend))).result()


def is_open(release: Release | Pattern, table: Table, rule: RespondentRule) -> bool:
    """Return whether there is an open attack; the first one will do."""
    with ThreadPoolExecutor(1) as executor:
        return executor.submit(lambda: any(True for _ in _attacks(release, table, rule))).result()


def _attacks(
    release: Release | Pattern, table: Table, rule: RespondentRule, ties: str = "safe", backend: Backend | None = None
) -> Iterator[OpenAttack]:
    """Yield the open attacks target by target."""
    if table.contributions is None:
        raise SpecError.one("contributions", "the table does not know single contributions.")
    release = publish(release) if isinstance(release, Pattern) else release
    release.check(table)
    every, claims = sizes_of(table, rule.by)
    who = sorted({number for _, number in every})
    sizes = {key: size for key, size in every.items() if size}
    together = min(getattr(rule, "coalition", 1), len(who) - 1)
    room = _Room(table, release, rule, sizes, claims, backend or backends()[0])
    beyond = _BEYOND if ties == "sensitive" else 1.0
    for target in who:
        left = list(combinations([number for number in who if number != target], together))
        hit: set[tuple[int, ...]] = set()
        for corner in room.corners(target):
            hit |= {attackers for attackers in left if not room.possible(attackers, target, corner, beyond)}
            left = [attackers for attackers in left if attackers not in hit]
        yield from (OpenAttack(attackers, target) for attackers in sorted(hit))


def every_pair(audit: RespondentAudit) -> list[tuple[int, int]]:
    """Return attacker and target of every open pair by their anonymous numbers, for attackers that work alone."""
    pairs: set[tuple[int, int]] = set()
    for part in audit.parts:
        numbers = part.respondents.numbers.tolist()
        for one in part.open:
            who = one.attackers or range(len(numbers))
            pairs |= {(numbers[place], numbers[one.target]) for place in who if place != one.target}
    return sorted(pairs, key=lambda pair: pair[::-1])


def sizes_of(table: Table, by: str) -> tuple[dict[tuple[int, int], Fraction], set[tuple[int, int]]]:
    """Return the absolute contribution by cell and number, in units of the table; and which are to be protected."""
    said = table.contributions
    assert said is not None
    holdings = by == "holding" or (by == "auto" and not np.array_equal(said.respondent, said.holding))
    number = said.holding if holdings else said.respondent
    sums: dict[tuple[int, int], int] = {}
    claims = set()
    waived = [False] * len(number) if said.waived is None else said.waived.tolist()
    for cell, own, amount, free in zip(said.cell.tolist(), number.tolist(), said.amount.tolist(), waived, strict=True):
        sums[cell, own] = sums.get((cell, own), 0) + amount
        if not free:
            claims.add((cell, own))
    return {key: Fraction(abs(amount), 10**table.decimals) for key, amount in sums.items()}, claims


class _Room:
    """Everything that can be wrong, in one model that stays open."""

    def __init__(
        self,
        table: Table,
        release: Release,
        rule: RespondentRule,
        sizes: dict[tuple[int, int], Fraction],
        claims: set[tuple[int, int]],
        backend: Backend,
    ) -> None:
        q = rule.q if isinstance(rule, PriorPosterior) else 100
        self._errors = list(sizes)
        self._size = np.array([float(size) for size in sizes.values()])
        self._most = self._size * q / 100
        exactly = np.full(len(self._size), 10.0**-table.decimals)  # what a frequency or dominance rule forbids
        self._error = self._size * rule.p / 100 if isinstance(rule, PPercent | PriorPosterior) else exactly
        self._owner = np.array([own for _, own in self._errors], dtype=np.int64)
        self._claimed = np.array([key in claims for key in self._errors], dtype=bool)
        self._bounds = [np.zeros(len(self._errors) + len(table))] * 2
        self._model = backend.open(self._problem(table, release))

    def corners(self, target: int) -> Iterator[tuple[int, ...]]:
        """Yield all signs of the target's contributions."""
        own = int(((self._owner == target) & self._claimed).sum())
        return product((1, -1), repeat=own) if own else iter(())

    def possible(self, attackers: tuple[int, ...], target: int, corner: tuple[int, ...], beyond: float) -> bool:
        """Return whether the attackers must take a corner of the target's box for possible."""
        most = np.where(np.isin(self._owner, attackers), 0.0, self._most)
        lower, upper = -most, most.copy()
        own = np.flatnonzero((self._owner == target) & self._claimed)
        lower[own] = upper[own] = np.array(corner) * self._error[own] * beyond
        self._set_bounds(lower, upper, max(1.0, float(self._error[own].max(initial=0.0))))
        found = self._model.solve(method="dual", duals=False)
        if found.status not in {Status.OPTIMAL, Status.INFEASIBLE}:
            raise SolverError.one("audit", f"a program ended {found.status.value}.")
        return found.status is Status.OPTIMAL

    def _set_bounds(self, lower: NDArray[np.float64], upper: NDArray[np.float64], unit: float) -> None:
        """Tell the model bounds of errors, and what is published, in a unit; those that are out of reach are none."""
        sides = []
        for ends in (np.concatenate([lower, self._low]), np.concatenate([upper, self._high])):
            scaled = ends / unit
            sides.append(np.where(np.abs(scaled) > _OUT_OF_REACH, np.copysign(np.inf, scaled), scaled))
        changed = np.flatnonzero((sides[0] != self._bounds[0]) | (sides[1] != self._bounds[1]))
        self._model.change_bounds(changed, sides[0][changed], sides[1][changed])
        self._bounds = sides

    def _problem(self, table: Table, release: Release) -> LinearProgram:
        """Return the program: errors of contributions sum to errors of leaf cells, and those satisfy all relations."""
        m, n = len(self._errors), len(table)
        leaves = sorted({cell for cell, _ in self._errors} | set(leaves_without_contributions(table, self._errors)))
        row_of = {cell: row for row, cell in enumerate(leaves)}
        rows = sp.lil_array((len(leaves), m + n))
        for column, (cell, _) in enumerate(self._errors):
            rows[row_of[cell], column] = 1.0
        for cell, row in row_of.items():
            rows[row, m + cell] = -1.0
        relations = table.relations.matrix.astype(np.float64)
        k = relations.shape[0]
        zero = np.zeros(len(leaves) + k)
        lower, upper = release.bounds()
        self._low = np.minimum(_differences(lower, table), 0.0)
        self._high = np.maximum(_differences(upper, table), 0.0)
        return LinearProgram(
            sp.csr_array(sp.vstack([rows, sp.hstack([sp.csr_array((k, m)), relations])])),
            zero,
            zero,
            np.zeros(m + n),
            np.zeros(m + n),
            np.zeros(m + n),
        )


def _differences(ends: Fixed, table: Table) -> NDArray[np.float64]:
    """Return ends less the true values, ``(n,)``: computed in whole numbers, as both may have all digits in common."""
    decimals = max(ends.decimals, table.decimals)
    factors = 10 ** (decimals - ends.decimals), 10 ** (decimals - table.decimals)
    differences = ends.counts.astype(object) * factors[0] - table.amounts.counts.astype(object) * factors[1]
    out: NDArray[np.float64] = differences.astype(np.float64) / 10.0**decimals
    out[ends.infinite] = np.sign(ends.counts[ends.infinite]) * np.inf
    return out


def leaves_without_contributions(table: Table, listed: list[tuple[int, int]]) -> Iterator[int]:
    """Yield zeros that are part of some sum and not a sum themselves: nobody contributes to them."""
    told = {cell for cell, _ in listed}
    matrix = table.relations.matrix
    total = set(matrix.indices[matrix.data < 0].tolist())
    for cell in np.flatnonzero(table.amounts.counts == 0).tolist():
        if cell not in told and cell not in total:
            yield cell
