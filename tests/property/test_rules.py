"""Rules against the oracle: verdicts and levels in fractions, ties included."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import polars as pl
from hypothesis import strategies as st
from tests.oracles import brute_force
from tests.oracles.brute_force import Contributor, Record
from tests.oracles.examples import few_and_many

from celosia import Dominance, MinFrequency, PPercent, PriorPosterior, Requests, Table, assess, tabulate
from celosia.risk.rules.contributor_rules import By
from celosia.risk.rules.finding import Rule
from celosia.tolerance import LEVEL_DECIMALS

PERCENTAGES = ["1", "5", "10", "12.5", "20", "25", "33.3", "50", "66.67", "90"]
LARGE = 2**50 + 1
"""Makes small numbers such as no double holds and no 64-bit product of them."""

Kinds = dict[str, list[Contributor]]
Judge = Callable[[Kinds, Fraction], Fraction | None]


@dataclass(frozen=True)
class Drawn:
    """Records in flat cells, and the roles of their columns."""

    records: tuple[Record, ...]
    roles: tuple[str, ...]
    decimals: int = 0

    def table(self) -> Table:
        number: Any = pl.Float64 if self.decimals else pl.Int64
        written = [float(each.value) if self.decimals else int(each.value) for each in self.records]
        shadow = [float(each.shadow) if self.decimals else int(each.shadow) for each in self.records]
        frame = pl.DataFrame(
            {
                "cell": [record.leaf[0][0] for record in self.records],
                "value": pl.Series(written, dtype=number),
                "shadow": pl.Series(shadow, dtype=number),
                "weight": [float(record.weight) for record in self.records],
                "respondent": [record.respondent for record in self.records],
                "holding": pl.Series([record.holding for record in self.records], dtype=pl.String),
                "request": [record.asks for record in self.records],
                "waiver": [record.waives for record in self.records],
            }
        )
        options: dict[str, Any] = {role: role for role in self.roles}
        return tabulate(frame, by=["cell"], value="value", largest=16, **options)

    def cells(self, table: Table) -> list[tuple[Kinds, Fraction]]:
        """Return every cell's contributors and value, in the order of the table."""
        dimension = brute_force.classification(
            [{record.leaf[0][0]: {} for record in self.records}], {record.leaf[0] for record in self.records}
        )
        held = brute_force.cells(self.records, [dimension])
        found = []
        for label in table.labels(0):
            mine = held[dimension.named[label],]
            kinds = {
                kind: brute_force.contributors(mine, kind, lambda record: record.shadow)
                for kind in ("respondent", "holding")
            }
            found.append((kinds, sum((record.value * record.weight for record in mine), Fraction(0))))
        return found


@st.composite
def drawn(
    draw: st.DrawFn, *roles: str, signed: bool = True, units: int = 0, most: int = 12, decimals: int | None = None
) -> Drawn:
    """Return records; `units`: the least tenths of a weight, 0 for no weights."""
    places = draw(st.sampled_from([0, 0, 1])) if decimals is None else decimals
    factor = LARGE if not places and not units and draw(st.booleans()) else 1
    numbers = st.integers(-8 if signed else 0, 30) | st.sampled_from([0, 1, 2, 10, 20, 80, 100])
    jitter = st.sampled_from([0, 0, 0, 1]) if factor > 1 else st.just(0)

    @st.composite
    def amounts(draw: st.DrawFn) -> Fraction:
        return Fraction(draw(numbers) * factor + draw(jitter), 10**places)

    records = []
    for number in range(draw(st.integers(1, most))):
        value = draw(amounts())
        records.append(
            Record(
                leaf=((draw(st.sampled_from(["A", "A", "A", "B"])),),),
                value=value,
                weight=Fraction(draw(st.integers(units, 45)), 10) if units else Fraction(1),
                respondent=draw(st.sampled_from("abcdefgh")) if "respondent" in roles else str(number),
                holding=draw(st.sampled_from([None, "H", "K"])) if "holding" in roles else None,
                asks=draw(st.booleans()) if "request" in roles else False,
                waives=draw(st.booleans()) if "waiver" in roles else False,
                shadow=draw(amounts()) if "shadow" in roles else value,
            )
        )
    return Drawn(tuple(records), roles, places)


@st.composite
def judged(draw: st.DrawFn, *roles: str) -> tuple[Rule, Judge]:
    """Return a rule and how the oracle judges by it."""
    kinds = ["frequency", "dominance", "dominance", "p", "p", "pq", *(["request"] if "request" in roles else [])]
    kind = draw(st.sampled_from(kinds))
    by: By = draw(st.sampled_from(["auto", "respondent", *(["holding"] if "holding" in roles else [])]))
    whose = ("holding" if "holding" in roles else "respondent") if by == "auto" else by
    n = draw(st.integers(1, 3))
    share = draw(st.sampled_from(PERCENTAGES))
    exact = Fraction(share)
    match kind:
        case "frequency":
            n = draw(st.integers(1, 5))
            return (
                MinFrequency(n, float(share), by=by),
                lambda found, value: brute_force.min_frequency(found[whose], n, exact, value),
            )
        case "dominance":
            return Dominance(n, float(share), by=by), lambda found, _: brute_force.dominance(found[whose], n, exact)
        case "request":
            return (
                Requests(float(share), 12.5),
                lambda found, value: brute_force.request(found["respondent"], exact, Fraction("12.5"), value),
            )
        case "p":
            rule: Rule = PPercent(float(share), n, by=by)
            return rule, lambda found, _: brute_force.prior_posterior(found[whose], exact, Fraction(100), n)
        case _:
            wider = draw(st.sampled_from([each for each in [*PERCENTAGES, "100"] if Fraction(each) > exact]))
            rule = PriorPosterior(float(share), float(wider), n, by=by)
            return rule, lambda found, _: brute_force.prior_posterior(found[whose], exact, Fraction(wider), n)


def proportional(level: Fraction, contributors: Sequence[Contributor], value: Fraction, rule: Rule) -> Fraction:
    """Return a level that keeps its share of the shadow; levels that are a share of the value stay as they are."""
    if isinstance(rule, MinFrequency | Requests):
        return level
    return level * abs(value) / max(masses(contributors), Fraction(1, 10**30))


def masses(contributors: Sequence[Contributor]) -> Fraction:
    return sum((each.mass for each in contributors), Fraction(0))


def check(drawn: Drawn, rules: Sequence[tuple[Rule, Judge]]) -> None:
    """Compare verdicts and levels of all cells with the oracle, rule by rule and together.

    Lower levels reach down to zero where the usual attacker knows that nothing is negative, no contribution either.
    """
    table = drawn.table()
    grid = table.decimals + LEVEL_DECIMALS
    unit = Fraction(1, 10**table.decimals)
    largest = [Fraction(0)] * len(table)
    cells = drawn.cells(table)
    for rule, judge in rules:
        finding = rule.find(table)
        for place, (found, value) in enumerate(cells):
            level = judge(found, value)
            assert bool(finding.sensitive[place]) == (level is not None)
            if level is None:
                assert finding.distance.fraction(place) == 0
                continue
            if "shadow" in drawn.roles:
                by = getattr(rule, "by", "respondent")
                whose = ("holding" if "holding" in drawn.roles else "respondent") if by == "auto" else by
                level = proportional(level, found[whose], value, rule)
            assert finding.distance.fraction(place) == brute_force.rounded_up(level, grid)
            largest[place] = max(largest[place], brute_force.rounded_up(level, grid), unit)
    risk = assess(table, *(rule for rule, _ in rules))
    floor = all(
        value >= 0 and ("shadow" in drawn.roles or masses(found["respondent"]) == value) for found, value in cells
    )
    assert [risk.levels.upper.fraction(place) for place in range(len(table))] == largest
    assert [risk.levels.lower.fraction(place) for place in range(len(table))] == [
        min(level, value) if floor else level for level, (_, value) in zip(largest, cells, strict=True)
    ]
    assert risk.sensitive.tolist() == [level > 0 for level in largest]
    assert [len(risk.reason(place)) > 0 for place in range(len(table))] == risk.sensitive.tolist()


@few_and_many(
    6,
    120,
    drawn("respondent", "holding", "request", "waiver"),
    st.lists(judged("respondent", "holding", "request", "waiver"), min_size=1, max_size=5),
)
def test_verdicts_and_levels_on_respondents_and_holdings_equal_brute_force(
    drawn: Drawn, rules: list[tuple[Rule, Judge]]
) -> None:
    check(drawn, rules)


@few_and_many(
    6, 120, drawn("weight", "waiver", "request", units=10), st.lists(judged("request"), min_size=1, max_size=5)
)
def test_a_weighted_unit_counts_as_so_many_equal_units(drawn: Drawn, rules: list[tuple[Rule, Judge]]) -> None:
    check(drawn, rules)


@few_and_many(
    6, 120, drawn("respondent", "holding", "shadow"), st.lists(judged("respondent", "holding"), min_size=1, max_size=5)
)
def test_rules_look_at_the_shadow_and_levels_keep_their_proportion(
    drawn: Drawn, rules: list[tuple[Rule, Judge]]
) -> None:
    check(drawn, rules)


@few_and_many(
    6,
    120,
    drawn("respondent", "holding", "weight", "waiver", units=1),
    st.lists(judged("respondent", "holding"), min_size=1, max_size=5),
)
def test_no_mixture_of_weights_makes_a_sensitive_cell_safe(drawn: Drawn, rules: list[tuple[Rule, Judge]]) -> None:
    """Units of several weights, and of less than one, count as their average: verdicts may be stricter, never laxer."""
    table = drawn.table()
    for rule, judge in rules:
        finding = rule.find(table)
        for place, (found, value) in enumerate(drawn.cells(table)):
            level = judge(found, value)
            if level is not None:
                assert finding.sensitive[place]
                assert finding.distance.fraction(place) >= level


@few_and_many(
    6,
    120,
    drawn("respondent", "holding", "waiver"),
    st.lists(st.sampled_from(PERCENTAGES), min_size=2, max_size=2, unique=True),
    st.integers(1, 3),
)
def test_a_stricter_parameter_never_makes_a_sensitive_cell_safe(drawn: Drawn, percent: list[str], n: int) -> None:
    low, high = sorted(map(float, percent))
    table = drawn.table()
    pairs: list[tuple[Rule, Rule]] = [
        (PPercent(low, n), PPercent(high, n)),
        (PPercent(low, n), PPercent(low, n + 1)),
        (PriorPosterior(low, 95, n), PriorPosterior(high, 95, n)),
        (PriorPosterior(low, 100, n), PriorPosterior(low, 95, n)),
        (Dominance(n, high), Dominance(n, low)),
        (Dominance(n, low), Dominance(n + 1, low)),
        (MinFrequency(n), MinFrequency(n + 1)),
    ]
    for lax, strict in pairs:
        before, after = lax.find(table), strict.find(table)
        assert not (before.sensitive & ~after.sensitive).any()
        if not isinstance(lax, MinFrequency):
            decimals = before.distance.decimals
            assert (before.distance.counts <= after.distance.to(decimals).counts).all()


@few_and_many(6, 120, drawn("respondent", "waiver", signed=False), st.data())
def test_merging_two_respondents_never_makes_a_sensitive_cell_safe(drawn: Drawn, data: st.DataObject) -> None:
    names = sorted({record.respondent for record in drawn.records})
    first, second = data.draw(st.sampled_from(names)), data.draw(st.sampled_from(names))
    merged = replace(
        drawn,
        records=tuple(
            replace(record, respondent=first) if record.respondent == second else record for record in drawn.records
        ),
    )
    before, after = drawn.table(), merged.table()
    share = float(data.draw(st.sampled_from(PERCENTAGES)))
    rules: list[Rule] = [
        PPercent(share, 1),
        PPercent(share, 2),
        Dominance(1, share),
        Dominance(2, share),
        MinFrequency(3),
    ]
    for rule in rules:
        assert not (rule.find(before).sensitive & ~rule.find(after).sensitive).any()


def flat(**cells: Sequence[int]) -> Table:
    """Return the table of these contributions, a respondent each."""
    rows = [(code, amount) for code, amounts in cells.items() for amount in amounts]
    return tabulate(pl.DataFrame(rows, schema=["cell", "value"], orient="row"), by=["cell"], value="value", largest=8)


def verdicts(table: Table, rule: Rule) -> dict[str, bool]:
    return dict(zip(table.labels(0), rule.find(table).sensitive.tolist(), strict=True))


@few_and_many(
    6,
    120,
    st.sampled_from(PERCENTAGES),
    st.sampled_from(["91", "95.5", "100"]),
    st.integers(1, 3),
    st.integers(1, 20) | st.integers(2**42, 2**43),
)
def test_a_tie_is_safe_and_a_unit_less_is_not(p: str, q: str, coalition: int, size: int) -> None:
    """What remains is exactly p / q of the target, in the smallest whole numbers and in large ones."""
    ratio = Fraction(p) / Fraction(q)
    target, rest = ratio.denominator * size, ratio.numerator * size
    table = flat(tie=[rest, *[target] * (coalition + 1)], less=[*[target] * (coalition + 1), rest - 1])
    found = verdicts(table, PriorPosterior(float(p), float(q), coalition))
    assert (found["tie"], found["less"]) == (False, True)


@few_and_many(
    6, 120, st.sampled_from(["12.5", "20", "33.3", "50", "66.67", "90"]), st.integers(1, 3), st.integers(1, 2**40)
)
def test_a_share_of_exactly_k_percent_is_safe_and_a_unit_more_is_not(k: str, n: int, size: int) -> None:
    share = Fraction(k) / 100
    large, rest = share.numerator * size, n * (share.denominator - share.numerator) * size
    others = [large] * (rest // large) + [rest % large]
    table = flat(tie=[*others, *[large] * n], more=[large + 1, *[large] * (n - 1), *others])
    found = verdicts(table, Dominance(n, float(k)))
    assert (found["tie"], found["more"]) == (False, True)


def bound(found: Sequence[Contributor], target: int, q: Fraction, coalition: int, end: Fraction) -> Fraction:
    """Return what a coalition of the largest others finds as the largest possible contribution of the target.

    Thesis, section 2.1.3: it knows that the cell is at most `end`, its own contributions, and of the others that each
    is at least 1 - q / 100 of the truth.
    """
    others = [each for place, each in enumerate(found) if place != target]
    known, unknown = others[:coalition], others[coalition:]
    return (
        end
        - sum((each.mass for each in known), Fraction(0))
        - (1 - q / 100) * sum((each.mass for each in unknown), Fraction(0))
    )


@few_and_many(
    6,
    120,
    drawn("respondent", "waiver"),
    st.sampled_from(PERCENTAGES),
    st.sampled_from(["91", "95.5", "100"]),
    st.integers(1, 3),
)
def test_at_value_plus_level_the_cell_is_safe_by_the_same_rule(drawn: Drawn, p: str, q: str, coalition: int) -> None:
    table = drawn.table()
    finding = PriorPosterior(float(p), float(q), coalition).find(table)
    step = Fraction(1, 10**finding.distance.decimals)
    for place, (kinds, _) in enumerate(drawn.cells(table)):
        found = kinds["respondent"]
        targets = [number for number, each in enumerate(found) if not each.waives and each.size]
        total = masses(found)
        level = finding.distance.fraction(place)

        def safe(end: Fraction, found: Sequence[Contributor] = found, targets: Sequence[int] = targets) -> bool:
            return all(
                bound(found, target, Fraction(q), coalition, end) >= (1 + Fraction(p) / 100) * found[target].size
                for target in targets
            )

        assert safe(total + level)
        assert safe(total) != bool(finding.sensitive[place])
        if finding.sensitive[place]:
            assert not safe(total + level - step)


@few_and_many(6, 120, drawn("respondent", "waiver"), st.sampled_from(PERCENTAGES), st.integers(1, 3))
def test_at_value_plus_level_nobody_dominates(drawn: Drawn, k: str, n: int) -> None:
    table = drawn.table()
    finding = Dominance(n, float(k)).find(table)
    step = Fraction(1, 10**finding.distance.decimals)
    for place, (kinds, _) in enumerate(drawn.cells(table)):
        found = kinds["respondent"]
        total = masses(found)
        top = max((mass for _, mass in brute_force.with_largest_others(found, n - 1)), default=Fraction(0))
        level = finding.distance.fraction(place)
        assert 100 * top <= Fraction(k) * (total + level)
        if finding.sensitive[place]:
            assert 100 * top > Fraction(k) * (total + level - step)


@few_and_many(
    6,
    120,
    drawn("respondent", "holding", "request", "waiver", "weight", units=10),
    st.lists(judged("respondent", "holding", "request"), min_size=1, max_size=3),
)
def test_every_sensitive_cell_has_a_level_of_at_least_one_unit(drawn: Drawn, rules: list[tuple[Rule, Judge]]) -> None:
    table = drawn.table()
    unit = Fraction(1, 10**table.decimals)
    for shape in ("symmetric", "sliding"):
        risk = assess(table, *(rule for rule, _ in rules), levels=shape)
        for requirement in risk.requirements:
            assert max(requirement.lower, requirement.upper, requirement.sliding) >= unit
        assert len(risk.requirements) == risk.sensitive.sum()
