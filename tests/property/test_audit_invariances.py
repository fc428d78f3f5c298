"""What must hold of audits of any size: more hidden, more known, other units, orders and parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

from tests.oracles import attack_oracle as oracle
from tests.oracles.audit_cases import KINDS, Case, Entry, Found, audited, drawn_case, found_by, joined
from tests.oracles.bare_tables import seeded


def drawn_cases(name: str, number: int = 16) -> list[Case]:
    """Return cases of every kind, many side by side in one table: with decimals, then with whole numbers."""
    out = []
    for kind, whole in product(KINDS, (False, True)):
        chance = seeded(f"{name} {kind} {whole}")
        decimals, attackers = (0 if whole else chance.choice([0, 1, 2])), chance.choice([1, 2])
        cases = [drawn_case(chance, kind, whole=whole, decimals=decimals, attackers=attackers) for _ in range(number)]
        out.append(joined(cases))
    return out


def compare(before: Found, after: Found, holds: Callable[[Any, Any], bool]) -> int:
    """Check what holds between the exact intervals before and after a change; return how many there were."""
    compared = 0
    for place, (interval, exact) in before.items():
        other, other_exact = after[place]
        if exact and other_exact:
            assert holds(interval, other), (place, interval, other)
            compared += 1
    return compared


def test_hiding_more_never_narrows_an_interval() -> None:
    compared = 0
    for case in drawn_cases("more"):
        chance = seeded(repr(case.counts))
        shown = [cell for cell in range(len(case.counts)) if cell not in case.entries]
        told = [cell for cell, entry in case.entries.items() if entry.status != "hidden"]
        more = [*chance.sample(shown, len(shown) // 6), *told[::3]]
        after = found_by(replace(case, entries=case.entries | {cell: Entry("hidden") for cell in more}))
        compared += compare(found_by(case), after, oracle.inside)
    assert compared > 1_000


def test_an_attacker_who_knows_more_never_gets_a_wider_interval() -> None:
    compared = 0
    for case in drawn_cases("knows"):
        chance = seeded(repr(case.counts))
        lower, upper = ([*side] for side in case.attackers[0])
        for cell in chance.sample(range(len(case.counts)), len(case.counts) // 4):
            near = chance.choice([0, 100, 250])
            low, high = lower[cell], upper[cell]
            least, most = case.counts[cell] * 100 - near, case.counts[cell] * 100 + near
            lower[cell] = least if low is None else max(least, low)
            upper[cell] = most if high is None else min(most, high)
        wiser = replace(case, attackers=((tuple(lower), tuple(upper)), *case.attackers[1:]))
        compared += compare(found_by(case), found_by(wiser), lambda wide, narrow: oracle.inside(narrow, wide))
    assert compared > 1_000


def test_the_unit_of_measurement_changes_nothing_but_the_unit() -> None:
    """Seven times as much of everything; rounded cells are left out, whose unit is that of the last decimal."""
    compared, factor = 0, 7
    for case in drawn_cases("unit"):
        entries = {cell: entry for cell, entry in case.entries.items() if entry.status != "rounded"}
        levels = {cell: level for cell, level in case.levels.items() if cell in entries}
        plain = replace(case, entries=entries, levels=levels, whole=False)
        scaled = replace(
            plain,
            counts=tuple(factor * count for count in case.counts),
            entries={cell: Entry(entry.status, _times(entry.numbers, factor)) for cell, entry in entries.items()},
            attackers=tuple((_times(lower, factor), _times(upper, factor)) for lower, upper in case.attackers),
        )
        before, after = found_by(plain), found_by(scaled)
        compared += compare(before, after, lambda one, other: _times(one, factor) == other)
    assert compared > 1_000


def _times(numbers: tuple[Any, ...], factor: int) -> tuple[Any, ...]:
    return tuple(None if number is None else number * factor for number in numbers)


def test_the_order_of_cells_and_relations_changes_nothing() -> None:
    compared = 0
    for case in drawn_cases("order"):
        chance = seeded(repr(case.counts))
        n = len(case.counts)
        old = chance.sample(range(n), n)  # the cell that stands in each place now
        new = {cell: place for place, cell in enumerate(old)}
        shuffled = replace(
            case,
            rows=tuple(tuple(row[cell] for cell in old) for row in chance.sample(case.rows, len(case.rows))),
            counts=tuple(case.counts[cell] for cell in old),
            entries={new[cell]: entry for cell, entry in case.entries.items()},
            attackers=tuple(
                (tuple(lower[cell] for cell in old), tuple(upper[cell] for cell in old))
                for lower, upper in case.attackers
            ),
            levels={new[cell]: level for cell, level in case.levels.items()},
        )
        before, after = found_by(case), found_by(shuffled)
        moved = {(who, old[place]): found for (who, place), found in after.items()}
        compared += compare(before, moved, lambda one, other: one == other)
    assert compared > 1_000


def test_splitting_cells_into_two_hidden_parts_changes_no_other() -> None:
    """The parts are hidden and sum to the old cell, which stays: nothing about the others is learnt or lost."""
    compared = 0
    for case in drawn_cases("split"):
        chance = seeded(repr(case.counts))
        n = len(case.counts)
        chosen = chance.sample(range(n), n // 8)
        nothing = (None,) * (2 * len(chosen))
        halves = [half for cell in chosen for half in (case.counts[cell] // 2, -(-case.counts[cell] // 2))]
        sums = [
            (*(-(i == cell) for i in range(n)), *(int(i // 2 == k) for i in range(len(nothing))))
            for k, cell in enumerate(chosen)
        ]
        split = replace(
            case,
            rows=(*((*row, *[0] * len(nothing)) for row in case.rows), *sums),
            counts=(*case.counts, *halves),
            entries=case.entries | {n + k: Entry("hidden") for k in range(len(nothing))},
            attackers=tuple(((*lower, *nothing), (*upper, *nothing)) for lower, upper in case.attackers),
        )
        compared += compare(found_by(case), found_by(split), lambda one, other: one == other)
    assert compared > 1_000


def test_a_requirement_is_met_exactly_up_to_the_end_of_the_interval() -> None:
    """Levels that equal the distance to the ends are met, a hundredth more is not: no tolerance, either way."""
    seen: Counter[str] = Counter()
    for drawn in drawn_cases("edge"):
        case = replace(drawn, attackers=drawn.attackers[:1])
        found = found_by(case)
        for more in (0, 1):
            levels: dict[int, tuple[int, int, int]] = {}
            for (_, cell), ((low, high), exact) in found.items():
                if exact and low is not None and high is not None:
                    down, up = (case.value(cell) - low) / case.fine(1), (high - case.value(cell)) / case.fine(1)
                    if down.denominator == up.denominator == 1:
                        own = [
                            (int(down) + more, int(up), 0),
                            (int(down), int(up) + more, 0),
                            (0, 0, int(down + up) + more),
                        ][cell % 3]
                        if any(own):
                            levels[cell] = own
            for verdict in audited(replace(case, levels=levels)).verdicts:
                # Of whole numbers it may stay open that nothing lies beyond the level; it is never said to be met.
                open_ = more and case.whole and verdict.result == "not shown safe"
                assert verdict.result == ("missed" if more else "met") or open_, verdict.requirement
                seen[verdict.result] += 1
    assert min(seen["met"], seen["missed"]) > 200
    assert seen["not shown safe"] < seen["missed"] / 100, seen
