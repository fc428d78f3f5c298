"""Ten thousand small tables with several attackers, by every method and both solvers, judged in fractions.

What is called safe is safe: the published ends and each attacker's own, attacked in exact arithmetic, leave every
sensitive cell its levels. What is called impossible is: not even hiding everything protects it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from fractions import Fraction

import pytest
from tests.oracles import attack_oracle
from tests.oracles.bare_tables import seeded
from tests.oracles.suppression_cases import KINDS, drawn, put
from tests.oracles.suppression_oracle import Wishes

import celosia as cz
from celosia.protection.method import Method
from celosia.solve.registry import backends
from celosia.table.fixed import INFINITE

METHODS: dict[str, Method] = {
    "suppress": cz.Suppress(),
    "interval": cz.Intervals(secret=1),
    "combined": cz.Combined(cell_cost="unity", secret=1),
    "mixed": cz.Mixed(secret=1),
    "round": cz.Round(base=5),
    "perturb": cz.Perturb(reach=6, secret=1),
}
MOVING = ("round", "perturb")
"""Methods for which there may be no table that adds up and protects, though hiding everything would."""

FEW = 1
MANY = -(-10_000 // (len(METHODS) * len(KINDS)))

End = Fraction | None


def tell(pattern: cz.Pattern) -> tuple[list[End], list[End]]:
    """Return what a pattern tells readers about every cell, None for nothing."""
    sides: list[list[End]] = []
    for side in pattern.bounds():
        unit = 10**side.decimals
        sides.append([None if abs(int(count)) >= INFINITE else Fraction(int(count), unit) for count in side.counts])
    return sides[0], sides[1]


def misses(case: Wishes, lower: Sequence[End], upper: Sequence[End]) -> list[tuple[int, int]]:
    """Return the attackers and sensitive cells of which they conclude too much from published ends."""
    found = []
    for k, (low, high) in enumerate(case.attackers):
        least = [max((end for end in pair if end is not None), default=None) for pair in zip(lower, low, strict=True)]
        most = [min((end for end in pair if end is not None), default=None) for pair in zip(upper, high, strict=True)]
        ends = attack_oracle.ends(attack_oracle.Situation(case.rows, case.values, least, most))
        found += [
            (k, cell)
            for cell, levels in case.levels.items()
            if not attack_oracle.meets(case.values[cell], ends[cell], levels)
        ]
    return found


def check(kind: str, word: str, number: int) -> bool:
    """Protect one table and judge what is said of it; return whether it is protected."""
    case = drawn(seeded(f"ten thousand {kind} {word} {number}"), kind, wishes=False)
    risk, _ = put(case)
    nothing: list[End] = [None] * len(case)
    solvers = backends()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cz.MidpointWarning)
        try:
            found = cz.protect(risk, METHODS[word], solver=solvers[number % len(solvers)].name, seed=number)
        except cz.InfeasibleError:
            assert word in MOVING or misses(case, nothing, nothing), f"{kind} {word} {number}"
            return False
    assert found.safe
    assert not misses(case, *tell(found.pattern)), f"{kind} {word} {number}"
    assert found.bound <= found.cost
    return True


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", METHODS)
def test_what_is_called_safe_is_safe_from_several_attackers(word: str, kind: str) -> None:
    for number in range(FEW):
        check(kind, word, number)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("word", METHODS)
def test_the_same_on_ten_thousand_tables(word: str, kind: str) -> None:
    protected = sum(check(kind, word, number) for number in range(FEW, MANY))
    assert protected >= MANY // 10
