"""Attacks of respondents on linked tables, from records and labels: unknown is what a firm contributes to a joint cell.

It shares no line with celosia's audits and searches: which records stand in a cell follows from its labels, every
choice of signs of a target's contributions is a program of its own, and that is solved by SciPy, or in fractions where
doubles would not do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pandas as pd
from tests.oracles import attack_oracle
from tests.oracles.respondent_oracle import exposed

from celosia import Pattern, PPercent, PriorPosterior, Table, publish

Rule = PPercent | PriorPosterior
Leaf = tuple[str, ...]


@dataclass(frozen=True)
class LinkedRecords:
    """What everybody contributes to every joint cell, and which of these stand in every cell.

    Parameters
    ----------
    contributions
        By joint cell and owner, without zeros.
    parts
        The joint cells of every cell, by its labels.
    cells
        The labels of every cell, in the order of the table.
    """

    contributions: dict[tuple[Leaf, str], Fraction]
    parts: dict[Leaf, list[Leaf]]
    cells: list[Leaf]

    @classmethod
    def of(cls, records: pd.DataFrame, names: Sequence[str], table: Table, owner: str, value: str) -> LinkedRecords:
        """Return those of a table that was tabulated from records by these dimensions, all of them flat."""
        sums: dict[tuple[Leaf, str], Fraction] = {}
        for line in records[[*names, owner, value]].itertuples(index=False):
            *leaf, who, amount = line
            key = (tuple(leaf), str(who))
            sums[key] = sums.get(key, Fraction(0)) + Fraction(str(amount))
        joint = sorted({leaf for leaf, _ in sums})
        axes = [[axis.name for axis in table.axes].index(name) for name in names]
        cells = [tuple(table.labels(axis)[cell] for axis in axes) for cell in range(len(table))]
        parts = {
            cell: [leaf for leaf in joint if all(a in ("Total", b) for a, b in zip(cell, leaf, strict=True))]
            for cell in cells
        }
        return cls({key: amount for key, amount in sums.items() if amount}, parts, cells)

    def exposed(self, pattern: Pattern, rule: Rule) -> set[tuple[tuple[str, ...], str]]:
        """Return every coalition and target such that the coalition comes too close, by SciPy."""
        low, high = publish(pattern).bounds()
        entries = {
            cell: (-np.inf if low.infinite[k] else low.floats[k], np.inf if high.infinite[k] else high.floats[k])
            for k, cell in enumerate(self.cells)
        }
        amounts = {key: float(amount) for key, amount in self.contributions.items()}
        q = float(rule.q) if isinstance(rule, PriorPosterior) else 100.0
        share = float(rule.p) / 100
        return set(exposed(entries, self.parts, amounts, lambda size: size * share, q, rule.coalition))

    def exactly_exposed(self, pattern: Pattern, rule: Rule) -> set[tuple[tuple[str, ...], str]]:
        """Return the same in fractions."""
        who = sorted({owner for _, owner in self.contributions})
        most = min(rule.coalition, len(who) - 1)
        return {
            (attackers, target)
            for attackers in combinations(who, most)
            for target in who
            if target not in attackers and any(self._shares(pattern, rule, attackers, target))
        }

    def _shares(self, pattern: Pattern, rule: Rule, attackers: tuple[str, ...], target: str) -> Iterator[bool]:
        """Yield for every corner of a target's box whether attackers can exclude it."""
        p, q = Fraction(str(rule.p)), Fraction(str(rule.q)) if isinstance(rule, PriorPosterior) else Fraction(100)
        keys, n, one = list(self.contributions), len(self.cells), Fraction(1)
        size = [abs(self.contributions[key]) for key in keys]
        own = [k for k, (_, name) in enumerate(keys) if name == target]
        low, high = self._entries(pattern)
        rows = [
            [int(leaf in self.parts[cell]) for leaf, _ in keys] + [-int(k == other) for other in range(n)] + [0]
            for k, cell in enumerate(self.cells)
        ]
        for signs in product((1, -1), repeat=len(own)):
            bound: list[Fraction | None] = [
                Fraction(0) if name in attackers else None if name == target else q / 100 * size[k]
                for k, (_, name) in enumerate(keys)
            ]
            down = [None if far is None else -far for far in bound]
            ties = []
            for k, sign in zip(own, signs, strict=True):
                error = p / 100 * size[k]
                row = [0] * (len(keys) + n + 1)
                row[k], row[-1] = error.denominator, -sign * error.numerator
                ties.append(row)
            truth = [Fraction(0)] * (len(keys) + n + 1)
            case = attack_oracle.Situation(
                [*rows, *ties], truth, [*down, *low, Fraction(0)], [*bound, *high, Fraction(1)]
            )
            share = attack_oracle.furthest(case, len(keys) + n)
            assert share is not None  # it has a bound
            yield share < one

    def _entries(self, pattern: Pattern) -> tuple[list[Fraction | None], list[Fraction | None]]:
        """Return how far below and above the truth a release lets every cell be, None where there is no end."""
        truth = [
            sum((amount for (leaf, _), amount in self.contributions.items() if leaf in self.parts[cell]), Fraction(0))
            for cell in self.cells
        ]
        sides: list[list[Fraction | None]] = []
        for side in publish(pattern).bounds():
            ends = [Fraction(int(count), 10**side.decimals) for count in side.counts]
            open_ = side.infinite.tolist()
            sides.append([None if none else end - value for none, end, value in zip(open_, ends, truth, strict=True)])
        return sides[0], sides[1]
