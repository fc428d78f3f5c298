from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from celosia.attack.findings import Conclusions, Verdicts, judge_requirements, levels_in_counts
from celosia.attack.subproblems.questions import Answer, Answers
from celosia.risk.requirement import Requirements
from celosia.table.fixed import Fixed
from celosia.tolerance import ENDLESS

NOTHING = np.zeros(0, dtype=np.int64)


def answers(*reaches: Fraction | None, furthest: bool = True) -> Answers:
    said = [Fraction(ENDLESS) if reach is None else reach for reach in reaches]
    return Answers.of_list([Answer(r.numerator, r.denominator, furthest, NOTHING, NOTHING) for r in said])


def findings(down: Answers, up: Answers, *, decimals: int = 0) -> Conclusions:
    n = len(down)
    who = np.zeros(n, dtype=np.int32)
    return Conclusions(np.arange(n), who, Fixed(np.full(n, 50), 1), np.full(n, decimals), down, up)


def required(*levels: tuple[int, int, int], decimals: int = 0) -> Requirements:
    n = len(levels)
    sides = (Fixed.of_counts(np.array(side, dtype=object), decimals) for side in zip(*levels, strict=True))
    return Requirements(np.arange(n), np.zeros(n, dtype=np.int32), *sides)


def test_findings_are_made_when_somebody_looks() -> None:
    found = findings(answers(Fraction(3), None), answers(Fraction(1, 3), Fraction(2**70, 2**69 + 1)), decimals=1)
    assert [(f.lower, f.upper) for f in found] == [
        (5 - Fraction(3, 10), 5 + Fraction(1, 30)),
        (None, 5 + Fraction(2**70, 10 * (2**69 + 1))),
    ]
    assert found.lower() == [4.7, None]
    assert found.upper() == [float(f.upper) for f in found if f.upper is not None]
    assert [f.cell for f in found[1:]] == [1]
    with pytest.raises(IndexError):
        found[2]


def test_a_long_numerator_is_not_a_reach_without_end() -> None:
    """The reach is just above one, however many digits say so."""
    close = Fraction(2**80 + 1, 2**80)
    found = findings(answers(close), answers(close))
    assert found[0].upper == 5 + close
    assert judge_requirements(required((2, 2, 0)), found, by_distance=False).tolist() == ["missed"]
    assert judge_requirements(required((1, 1, 2)), found, by_distance=False).tolist() == ["met"]


@pytest.mark.parametrize("level", [(1, 1, 0), (0, 0, 2), (10**30, 0, 0), (0, 0, 10**30), (ENDLESS, 0, 0)])
def test_results_are_those_of_fractions(level: tuple[int, int, int]) -> None:
    ends = [Fraction(0), Fraction(1), Fraction(2), Fraction(1, 2), Fraction(ENDLESS - 1), None]
    pairs = [(down, up) for down in ends for up in ends]
    found = findings(answers(*(down for down, _ in pairs)), answers(*(up for _, up in pairs)))
    said = judge_requirements(required(*[level] * len(pairs)), found, by_distance=False)
    for (down, up), result in zip(pairs, said.tolist(), strict=True):
        wide = down is None or up is None or down + up >= level[2]
        good = (down is None or down >= level[0]) and (up is None or up >= level[1]) and wide
        assert result == ("met" if good else "missed")


def test_what_is_not_proved_or_has_no_level_is_open() -> None:
    found = findings(answers(Fraction(1), furthest=False), answers(Fraction(1)))
    assert judge_requirements(required((2, 0, 0)), found, by_distance=False).tolist() == ["not shown safe"]
    assert judge_requirements(required((1, 0, 0)), found, by_distance=True).tolist() == ["not shown safe"]
    assert judge_requirements(required((0, 0, 0)), found, by_distance=False).tolist() == ["not shown safe"]


def test_levels_are_rounded_up_to_counts() -> None:
    level = Fixed.of_counts(np.array([15, 20, 10**30], dtype=object), 1)
    assert levels_in_counts(level, np.array([0, 0, 0])).tolist() == [2, 2, ENDLESS]
    assert levels_in_counts(level, np.array([1, 2, 2])).tolist() == [15, 200, ENDLESS]


def test_verdicts_are_a_sequence() -> None:
    found = findings(answers(Fraction(1), Fraction(3)), answers(Fraction(1), Fraction(3)))
    asked = required((2, 2, 0), (2, 2, 0))
    verdicts = Verdicts(asked, found, judge_requirements(asked, found, by_distance=False))
    assert [verdict.result for verdict in verdicts] == ["missed", "met"]
    assert [verdict.finding.cell for verdict in verdicts.of_result("met")] == [1]
    assert verdicts[-1:][0].requirement.cell == 1


@pytest.mark.parametrize("seed", range(8))
def test_verdicts_in_whole_numbers_are_those_in_fractions(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reaches in fractions of counts, levels in finer and coarser decimals, sizes at which products leave 64 bits."""
    random, n = np.random.default_rng(seed), 60
    largest = int(random.choice([10, 10**6, 10**15, 10**17]))

    def draw() -> Answers:
        reach = np.where(random.random(n) < 0.1, ENDLESS, random.integers(0, largest, n))
        units = random.choice([1, 1, 2, 3, 7, 1000, 10**9], n).astype(np.int64)
        every = np.ones(n, dtype=bool)
        return Answers(reach, units, every, np.full(n, -1), np.zeros(1, dtype=np.int64), NOTHING, NOTHING)

    who, decimals = np.zeros(n, dtype=np.int32), random.integers(0, 3, n)
    found = Conclusions(np.arange(n), who, Fixed(random.integers(0, 10**6, n), 2), decimals, draw(), draw())
    near = np.where(found.up.endless, 5, found.up.reach) // found.up.denominator
    sides = (Fixed(near * random.integers(0, 3) + random.integers(0, 3, n), int(random.integers(0, 4))) for _ in "abc")
    asked = Requirements(np.arange(n), who, *sides)
    quick = judge_requirements(asked, found, by_distance=False)
    monkeypatch.setattr("celosia.attack.findings._PRODUCT", 0.0)
    assert np.array_equal(quick, judge_requirements(asked, found, by_distance=False))


def test_fractions_beyond_all_doubles_are_compared_too() -> None:
    huge = 10**400
    found = findings(answers(Fraction(10 * huge + 1, huge)), answers(Fraction(10 * huge - 1, huge)))
    assert judge_requirements(required((10, 9, 0)), found, by_distance=False).tolist() == ["met"]
    assert judge_requirements(required((10, 10, 0)), found, by_distance=False).tolist() != ["met"]
