"""Small tables in which some cells are counts and others are not, tied to each other by relations or not."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from tests.oracles import attack_oracle as oracle
from tests.oracles.audit_cases import Case, Entry, drawn_case, joined, pattern_of, risk_of, table_of
from tests.oracles.partly_whole_oracle import partly_whole_ends

from celosia import Table, audit
from celosia.attack.result import Audit


@dataclass(frozen=True)
class PartlyWhole:
    """A case, and which of its cells are counts."""

    case: Case
    whole: frozenset[int]

    def table(self) -> Table:
        plain, cells = table_of(self.case), range(len(self.case.counts))
        variable = np.array([int(cell in self.whole) for cell in cells], dtype=np.int32)
        return replace(plain, variables=("amount", "count"), variable=variable, counts=frozenset({"count"}))

    def audited(self) -> Audit:
        table = self.table()
        return audit(pattern_of(self.case, table), risk_of(self.case, table), intervals=True)

    def truth(self, number: int) -> list[tuple[oracle.End, oracle.End]] | None:
        return partly_whole_ends(self.case.situation(number), self.whole)


def drawn_partly_whole(chance: random.Random, kind: str, decimals: int) -> PartlyWhole:
    """Return a case in which counts are whole numbers, and other values about as large have decimals."""
    case = drawn_case(chance, kind, whole=False, decimals=decimals, attackers=1)
    n, unit = len(case.counts), 10**decimals
    share = chance.choice([0.3, 0.5, 0.8])
    whole = frozenset(cell for cell in range(n) if chance.random() < share)
    factor = [unit if cell in whole else chance.randint(1, 2 * unit) for cell in range(n)]
    entries = {cell: entry if entry.status == "interval" else Entry("hidden") for cell, entry in case.entries.items()}
    return PartlyWhole(
        replace(
            case,
            counts=_times(case.counts, factor),
            entries={
                cell: replace(one, numbers=_all_times(one.numbers, factor[cell])) for cell, one in entries.items()
            },
            attackers=tuple((_times_ends(low, factor), _times_ends(high, factor)) for low, high in case.attackers),
            levels={cell: _three(levels, factor[cell]) for cell, levels in case.levels.items()},
        ),
        whole,
    )


def _times(counts: Sequence[int], factor: Sequence[int]) -> tuple[int, ...]:
    return tuple(count * own for count, own in zip(counts, factor, strict=True))


def _times_ends(ends: Sequence[int | None], factor: Sequence[int]) -> tuple[int | None, ...]:
    return tuple(None if end is None else end * own for end, own in zip(ends, factor, strict=True))


def _all_times(numbers: Sequence[int | None], factor: int) -> tuple[int | None, ...]:
    return tuple(None if number is None else number * factor for number in numbers)


def _three(levels: tuple[int, int, int], factor: int) -> tuple[int, int, int]:
    lower, upper, sliding = levels
    return lower * factor, upper * factor, sliding * factor


def side_by_side(cases: Sequence[PartlyWhole]) -> PartlyWhole:
    """Return cases of the same decimals in one table."""
    starts = np.cumsum([0, *(len(one.case.counts) for one in cases)]).tolist()
    whole = frozenset(start + cell for one, start in zip(cases, starts, strict=False) for cell in one.whole)
    return PartlyWhole(joined([one.case for one in cases]), whole)
