from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest

from celosia import Dominance, MinFrequency, PPercent, PriorPosterior, SpecError, Table, assess
from celosia.risk.rules.finding import Rule

Make = Callable[..., Table]


def sensitive(table: Table, rule: Rule) -> list[str]:
    """Return the labels of the sensitive cells."""
    found = rule.find(table).sensitive
    return [table.label(cell) for cell in range(len(table)) if found[cell]]


def level(table: Table, rule: Rule, label: str) -> Fraction:
    finding = rule.find(table)
    return next(finding.distance.fraction(cell) for cell in range(len(table)) if table.label(cell) == label)


@pytest.mark.parametrize(
    ("rule", "places"),
    [
        (lambda: MinFrequency(0), ["n"]),
        (lambda: MinFrequency(-3), ["n"]),
        (lambda: MinFrequency(2.5), ["n"]),  # type: ignore[arg-type]
        (lambda: MinFrequency(3, percent=0), ["percent"]),
        (lambda: MinFrequency(3, percent=float("inf")), ["percent"]),
        (lambda: MinFrequency(3, percent=float("nan")), ["percent"]),
        (lambda: MinFrequency(3, by="household"), ["by"]),  # type: ignore[arg-type]
        (lambda: MinFrequency(0, percent=-1, by="x"), ["n", "percent", "by"]),  # type: ignore[arg-type]
        (lambda: Dominance(0, 80), ["n"]),
        (lambda: Dominance(1, 100.5), ["k"]),
        (lambda: Dominance(1, 0), ["k"]),
        (lambda: Dominance(1, float("nan")), ["k"]),
        (lambda: Dominance(0, 101, by="x"), ["n", "k", "by"]),  # type: ignore[arg-type]
        (lambda: PPercent(0), ["p"]),
        (lambda: PPercent(100), ["p"]),
        (lambda: PPercent(-10), ["p"]),
        (lambda: PPercent(float("nan")), ["p"]),
        (lambda: PPercent(10, coalition=0), ["coalition"]),
        (lambda: PPercent(10, coalition=1.5), ["coalition"]),  # type: ignore[arg-type]
        (lambda: PriorPosterior(50, 50), ["p"]),
        (lambda: PriorPosterior(60, 50), ["p"]),
        (lambda: PriorPosterior(0, 50), ["p"]),
        (lambda: PriorPosterior(10, 101), ["q"]),
        (lambda: PriorPosterior(10, 0), ["q", "p"]),
        (lambda: PriorPosterior(-1, 200, coalition=0, by="x"), ["p", "q", "coalition", "by"]),  # type: ignore[arg-type]
    ],
)
def test_impossible_parameters_are_refused_by_name_all_at_once(rule: Callable[[], object], places: list[str]) -> None:
    with pytest.raises(SpecError) as caught:
        rule()
    assert [problem.place for problem in caught.value.problems] == places
    assert all("must be" in problem.message and "not" in problem.message for problem in caught.value.problems)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (MinFrequency(3), "fewer than 3 contributors"),
        (Dominance(2, 87.5), "(2, 87.5) dominance"),
        (PPercent(10), "p% rule (p = 10)"),
        (PPercent(12.5, coalition=2), "p% rule (p = 12.5) against coalitions of 2"),
        (PriorPosterior(10, 50), "(10, 50) prior-posterior"),
    ],
)
def test_rules_say_what_they_are(rule: Rule, words: str) -> None:
    assert rule.words == words


def test_min_frequency_counts_contributors_and_leaves_empty_cells_alone(contributed: Make) -> None:
    table = contributed({"one": [5], "two": [5, 0], "three": [1, 1, 1]})
    assert sensitive(table, MinFrequency(3)) == ["one", "two"]
    assert sensitive(table, MinFrequency(1)) == []
    assert level(table, MinFrequency(3, percent=12.5), "one") == Fraction("0.625")


def test_dominance_is_strict(contributed: Make) -> None:
    """80 of 100 are not more than 80 percent."""
    table = contributed({"tie": [80, 20], "more": [81, 19], "less": [79, 21]})
    assert sensitive(table, Dominance(1, 80)) == ["more"]
    assert level(table, Dominance(1, 80), "more") == Fraction("1.25")
    assert sensitive(table, Dominance(2, 100)) == []


@pytest.mark.parametrize("exponent", [0, 3, 50, 54])
def test_ties_of_p_percent_are_safe_at_any_size(contributed: Make, exponent: int) -> None:
    """10 percent of 80 is 8, which is what remains without the two largest."""
    size = 2**exponent
    table = contributed({"tie": [80 * size, 12 * size, 8 * size], "below": [80 * size + 1, 12 * size, 8 * size]})
    found = sensitive(table, PPercent(10))
    assert found == ["below"]
    assert level(table, PPercent(10), "below") == Fraction("0.1")


@pytest.mark.parametrize(("p", "rest"), [(12.5, 100), (33.3, 266.4), (0.1, 0.8), (99.9, 799.2), (0.001, 0.008)])
def test_percentages_with_decimals_are_exact(contributed: Make, p: float, rest: float) -> None:
    table = contributed({"tie": [800.0, 799.5, rest], "below": [800.001, 799.5, rest]})
    assert sensitive(table, PPercent(p)) == ["below"]


def test_a_percentage_with_the_noise_of_doubles_is_taken_as_it_prints(contributed: Make) -> None:
    table = contributed({"a": [1000, 3, 3], "zero": [0, 0]})
    assert sensitive(table, PPercent(0.1 + 0.2)) == ["Total", "a"]
    assert sensitive(table, PPercent(0.3)) == []


@pytest.mark.parametrize(
    "rule",
    [PPercent(0.1 + 0.2), MinFrequency(2, percent=100 / 3), Dominance(1, 100 / 3), PriorPosterior(1 / 30, 200 / 3)],
    ids=lambda rule: str(rule.words),
)
@pytest.mark.parametrize("contributions", [[0, 0], [100, 100, 100, 100, 100]])
def test_parameters_of_many_digits_do_not_fail_where_nothing_is_sensitive(
    contributed: Make, rule: Rule, contributions: list[int]
) -> None:
    # itself (10^19, or 3.3 * 10^22) does not fit: OverflowError.
    assert sensitive(contributed({"x": contributions}), rule) == []


def test_one_or_two_contributors_are_always_sensitive_by_p_percent(contributed: Make) -> None:
    table = contributed({"one": [1], "two": [1000, 1], "nothing": [0, 0, 0]})
    assert sensitive(table, PPercent(0.0001)) == ["one", "two"]


def test_a_coalition_subtracts_all_of_its_members(contributed: Make) -> None:
    table = contributed({"x": [100, 50, 40, 9]})
    assert sensitive(table, PPercent(10)) == []
    assert sensitive(table, PPercent(10, coalition=2)) == ["Total"]
    assert level(table, PPercent(10, coalition=2), "Total") == 1
    assert level(table, PPercent(10, coalition=3), "Total") == 10


def test_prior_posterior_follows_the_thesis(contributed: Make) -> None:
    table = contributed({"x": [60, 20, 30 - 6, 6]})
    # q R = 50 * 26 against p c1 = 20 * 60: safe at 50, sensitive at 45.
    assert sensitive(table, PriorPosterior(20, 50)) == []
    assert sensitive(table, PriorPosterior(20, 45)) == ["Total"]
    assert level(table, PriorPosterior(20, 45), "Total") == Fraction(20 * 60 - 45 * 26, 100)


def test_p_percent_is_prior_posterior_with_q_100(contributed: Make) -> None:
    table = contributed({"a": [60, 20, 5], "b": [10, 9, 1], "c": [7]})
    first, second = PPercent(12.5).find(table), PriorPosterior(12.5, 100).find(table)
    assert first.sensitive.tolist() == second.sensitive.tolist()
    assert first.distance.counts.tolist() == second.distance.counts.tolist()


def test_negative_contributions_count_by_their_size(contributed: Make) -> None:
    """Daalmans and de Waal: -90 moves the cell more than 5 and 5 do; the cell's own value is -80."""
    table = contributed({"x": [-90, 5, 5], "y": [1, 2, 3, 4]})
    assert "x" in sensitive(table, Dominance(1, 80))
    assert "x" in sensitive(table, PPercent(10))
    assert level(table, PPercent(10), "x") == Fraction(4)
    assert level(table, MinFrequency(4), "x") == 16


def test_records_of_one_respondent_are_netted_before_they_are_sized(contributed: Make) -> None:
    table = contributed({"x": [100, -95, 4, 3, 2]}, respondent=["a", "a", "b", "c", "d"])
    assert table.statistics is not None
    assert table.statistics.respondents.largest[0].tolist() == [5, 4, 3, 2]


def test_holdings_are_looked_at_where_they_are_known(contributed: Make) -> None:
    table = contributed({"x": [50, 45, 6, 5]}, respondent=list("abcd"), holding=["H", "H", None, None])
    assert sensitive(table, PPercent(10)) == ["Total"]
    assert sensitive(table, PPercent(10, by="holding")) == ["Total"]
    assert sensitive(table, PPercent(10, by="respondent")) == []
    assert sensitive(table, MinFrequency(4)) == ["Total"]


def test_holdings_that_nobody_knows_cannot_be_looked_at(contributed: Make) -> None:
    with pytest.raises(
        SpecError, match=r"p% rule \(p = 10\) by holding: looks at holdings, .* Name the holding column"
    ):
        PPercent(10, by="holding").find(contributed({"x": [1, 2]}))


def test_who_waived_is_no_target_but_stays_an_attacker(contributed: Make) -> None:
    """The largest waived; he can still work out the second largest."""
    table = contributed({"x": [60, 35, 5], "y": [60, 35, 1]}, waiver=[1, 0, 0, 1, 1, 0])
    assert sensitive(table, PPercent(15)) == ["x"]
    assert level(table, PPercent(15), "x") == Fraction("0.25")


def test_who_waived_stays_an_attacker_by_the_dominance_rule_too(contributed: Make) -> None:
    """60 + 35 of 100: with 60 as one of the two, 35 is known to within 5, whatever 60 signed for himself."""
    table = contributed({"x": [60, 35, 5]}, waiver=[1, 0, 0])
    # (docs/howto/contributors.md: "he stays an attacker"). The target is 35, the n - 1 largest others are 60.
    assert sensitive(table, Dominance(2, 90)) == ["Total"]


def test_where_everybody_waived_nothing_is_sensitive(contributed: Make) -> None:
    table = contributed({"x": [60, 35]}, waiver=[1, 1])
    for rule in (PPercent(15), Dominance(1, 50), MinFrequency(3)):
        assert sensitive(table, rule) == []


def test_a_few_waivers_do_not_raise_the_number_of_contributors(contributed: Make) -> None:
    table = contributed({"x": [60, 35]}, waiver=[1, 0])
    assert sensitive(table, MinFrequency(3)) == ["Total"]


def test_a_weighted_unit_is_so_many_equal_units(contributed: Make) -> None:
    """One of weight 4 attacks his own kind: 100, 100, 100, 100 and 10 seven times."""
    table = contributed({"x": [100, 10]}, weight=[4, 7])
    assert sensitive(table, PPercent(99)) == []
    assert sensitive(table, PPercent(99, coalition=3)) == ["Total"]
    assert level(table, PPercent(99, coalition=3), "Total") == 99 - 70
    assert level(table, Dominance(5, 80), "Total") == Fraction(410 * 100, 80) - 470


def test_a_weight_with_decimals_is_taken_in_part(contributed: Make) -> None:
    """1.5 units of 100 and 2 of 10: the two largest units are 100 and half of 100, half of 10."""
    table = contributed({"x": [100.0, 10.0]}, weight=[1.5, 2.0])
    assert level(table, Dominance(2, 50), "Total") == 155 * 2 - 170
    assert sensitive(table, Dominance(2, 92)) == []
    assert sensitive(table, Dominance(2, 91)) == ["Total"]


def test_who_waived_does_not_share_his_last_unit_with_the_target(contributed: Make) -> None:
    """2.1 units of 2, waived, and one of 1: two units of 2 attack the 1, and a tenth of 2 remains."""
    table = contributed({"x": [2, 1]}, weight=[2.1, 1.0], waiver=[1, 0])
    # stricter than the rule (docs/mathematics.md: R = T - t - S of the others = 0.2), so nothing is called safe.
    assert level(table, PPercent(50, coalition=2), "Total") == Fraction("0.3")


def test_a_respondent_whose_records_cancel_but_for_their_weights_is_not_overlooked(contributed: Make) -> None:
    """The cell is -10, and all of it is one respondent's."""
    table = contributed({"x": [10, -10]}, weight=[1, 2], respondent=["only", "only"])
    assert sensitive(table, PPercent(10)) == ["Total"]


def test_rules_need_contributors(contributed: Make) -> None:
    bare = contributed({"x": [1]})
    table = Table(bare.axes, bare.codes, bare.variables, bare.variable, bare.amounts, bare.relations)
    for rule in (PPercent(10), Dominance(1, 80), MinFrequency(3)):
        with pytest.raises(SpecError, match="needs contributors, which the table does not know"):
            rule.find(table)


def test_the_numbers_behind_a_verdict_are_there_for_the_office(contributed: Make) -> None:
    table = contributed({"x": [60, 30, 10]})
    assert PPercent(10).find(table).evidence["p% rule (p = 10): largest contribution"].tolist() == [60]
    assert PPercent(10).find(table).evidence["p% rule (p = 10): left without the coalition"].tolist() == [10]
    assert Dominance(2, 80).find(table).evidence["(2, 80) dominance: share of the largest"].tolist() == [90]
    assert MinFrequency(3).find(table).evidence["fewer than 3 contributors: contributors"].tolist() == [3]


def test_levels_are_rounded_up_a_million_times_finer_than_the_table(contributed: Make) -> None:
    table = contributed({"x": [7, 0]})
    assert level(table, PPercent(33.3333333), "Total") == Fraction("2.333334")
    assert level(contributed({"x": [Decimal("0.07"), Decimal("0.01")]}), PPercent(10), "Total") == Fraction("0.007")


def test_the_largest_of_several_levels_counts(contributed: Make) -> None:
    table = contributed({"x": [90, 10]})
    risk = assess(table, PPercent(10), Dominance(1, 50), MinFrequency(3, percent=1))
    assert risk.levels.upper.fraction(0) == 80
    assert risk.reason(0) == ("p% rule (p = 10)", "(1, 50) dominance", "fewer than 3 contributors")


def test_two_rules_of_the_same_name_keep_their_own_evidence(contributed: Make) -> None:
    table = contributed({"x": [50, 45, 6, 5]}, respondent=list("abcd"), holding=["H", "H", None, None])
    risk = assess(table, PPercent(10, by="respondent"), PPercent(10, by="holding"))
    assert len(set(risk.rules)) == 2
    assert len(risk.evidence) == 4
