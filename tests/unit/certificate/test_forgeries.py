"""Forged certificates: made by celosia itself of another problem, so that all in them fits, and never proved."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden.test_daalmans_dewaal_2010 import TABLE_3, TWENTY

import celosia as cz
from celosia import Pattern, Release, audit, certify, publish, verify, write_release
from celosia.risk.risk import Levels
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations

MakeCase = Callable[..., Any]


def insiders(table: cz.Table) -> list[cz.Attacker]:
    """Return an outsider, and somebody who knows the cell II x A within 4."""
    external = cz.Attacker.external(table)
    lower = external.lower.counts.copy()
    lower[9] = table.amounts.counts[9] - 4
    return [external, replace(external, name="insider", lower=Fixed(lower))]


def without_requirements(risk: cz.Risk) -> cz.Risk:
    return replace(risk, status=np.full(len(risk), "s"))


def with_smaller_levels(risk: cz.Risk) -> cz.Risk:
    levels = risk.levels
    return replace(risk, levels=Levels(*(Fixed(side.counts, side.decimals + 1) for side in _sides(levels))))


def _sides(levels: Levels) -> tuple[Fixed, Fixed, Fixed]:
    return levels.lower, levels.upper, levels.sliding


def with_fewer_attackers(risk: cz.Risk) -> cz.Risk:
    return replace(risk, attackers=risk.attackers[:1])


def with_other_values(risk: cz.Risk) -> cz.Risk:
    """The row II x C has 12 more, so that a level of 20 % of the old value is little."""
    counts = risk.table.amounts.counts.copy()
    counts[[9, 8, 1, 0]] += 12
    return replace(risk, table=replace(risk.table, amounts=Fixed(counts)))


def with_fewer_relations(risk: cz.Risk) -> cz.Risk:
    none = Relations(risk.table.relations.matrix[:0], risk.table.relations.right[:0])
    return replace(risk, table=replace(risk.table, relations=none))


def with_another_cell(risk: cz.Risk) -> cz.Risk:
    status = risk.status.copy()
    status[11], status[5] = "s", "u"
    levels = [side.counts.copy() for side in _sides(risk.levels)]
    for counts in levels:
        counts[5], counts[11] = counts[11], 0
    sides = (Fixed(counts, side.decimals) for counts, side in zip(levels, _sides(risk.levels), strict=True))
    return replace(risk, status=status, levels=Levels(*sides))


FIGURE_2 = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]
TIGHT = [[20, 50, 10], [2, 19, 22], [17, 32, 2]]
SQUARE = [("II", "A"), ("II", "C"), ("III", "A"), ("III", "C")]

FORGERIES: dict[str, tuple[Callable[[cz.Risk], cz.Risk], dict[str, Any]]] = {
    "no requirements": (without_requirements, {"hidden": []}),
    "smaller levels": (with_smaller_levels, {"hidden": SQUARE, "body": TIGHT}),
    "fewer attackers": (with_fewer_attackers, {"hidden": SQUARE, "attackers": insiders}),
    "fewer relations": (with_fewer_relations, {"hidden": [("II", "C")]}),
    "another cell": (with_another_cell, {"hidden": [("I", "A"), ("I", "B"), ("II", "A"), ("II", "B")]}),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_a_certificate_of_a_weaker_problem_fits_itself_and_is_not_proved(
    case: MakeCase, tmp_path: Path, name: str
) -> None:
    weakened, options = FORGERIES[name]
    made = case(**{"body": FIGURE_2} | options)
    assert not audit(made.release, made.risk).safe
    forged = certify(audit(made.release, weakened(made.risk)))
    forged.write(tmp_path / "forged.json")
    assert forged.safe
    for certificate in (forged, tmp_path / "forged.json"):
        alone = verify(certificate)
        assert alone.consistent
        assert not alone.proved
        assert not verify(certificate, release=made.release).proved
        beside = verify(certificate, made.risk, made.release)
        assert not beside.proved
        assert {problem.place for problem in beside.problems} == {"problem"}


def test_a_certificate_of_other_values_is_not_proved(case: MakeCase) -> None:
    made = case()
    other = with_other_values(made.risk)
    forged = certify(audit(publish(Pattern.hide(other.table, [9, 11, 13, 15])), other))
    found = verify(forged, made.risk, made.release)
    assert not found.proved
    assert "other values" in str(found.problems[0])


def test_a_certificate_that_forgets_whole_numbers_is_not_proved(case: MakeCase) -> None:
    made = case(counts=True)
    forged = certify(audit(made.release, made.risk, integer=False))
    found = verify(forged, made.risk, made.release)
    assert not found.proved
    assert "attackers know better" in str(found.problems[0])


def test_a_certificate_that_counts_nothing_is_not_proved_of_a_table_of_counts(case: MakeCase) -> None:
    """Also where the forged table says that its variable is an amount."""
    made = case(counts=True)
    amounts = replace(made.risk.table, counts=frozenset())
    forged = certify(audit(made.release, replace(made.risk, table=amounts)))
    assert verify(forged).consistent
    assert not verify(forged, made.risk, made.release).proved


def test_a_certificate_against_other_respondents_is_not_proved() -> None:
    """By a weaker rule for respondents all is well; by the rule of the problem they compute each other."""
    problem = cz.assess(TABLE_3, TWENTY, cost="unity", respondents=TWENTY)
    weak = replace(problem, respondents=(cz.PPercent(12),))
    alone = replace(problem, respondents=())
    found = cz.protect(alone, cz.Suppress())
    for told in (alone, weak):
        seen = audit(found.pattern, told)
        claiming = replace(seen, risk=replace(seen.risk, respondents=problem.respondents))
        for forged in (certify(seen), certify(claiming)):
            assert not verify(forged, problem, publish(found)).proved


def altered_files(release: Release, path: Path) -> list[str]:
    """Return the file of a release, altered in one place each."""
    write_release(release, path)
    lines = path.read_text().splitlines()
    head, rows = lines[0], lines[1:]
    shown = next(place for place, row in enumerate(rows) if ",shown," in row)
    hidden = next(place for place, row in enumerate(rows) if ",hidden," in row)
    number = rows[shown].split(",")[-1]

    def with_row(place: int, row: str) -> str:
        return "\n".join([head, *rows[:place], row, *rows[place + 1 :]]) + "\n"

    near = f"{number}.0000001"
    cell, *labels = rows[hidden].split(",")[:3]
    return [
        with_row(shown, rows[shown].replace(f",{number}", f",{int(number) + 1}")),
        with_row(shown, rows[shown].replace(f",{number}", f",{near}")),
        with_row(hidden, ",".join([cell, *labels, "shown", "8", "8", "8"])),
        with_row(hidden, ",".join([cell, *labels, "interval", "", "0", "1000"])),
        with_row(hidden, rows[hidden].replace(f",{labels[0]},", ",I,", 1)),
        with_row(shown, ",".join([*rows[shown].split(",")[:3], "hidden", "", "", ""])),
        "\n".join([head, *rows[:-1]]) + "\n",
        "\n".join([head, *rows, rows[-1].replace(f"{len(rows) - 1},", f"{len(rows)},", 1)]) + "\n",
    ]


def test_a_release_that_differs_in_one_place_is_not_proved(case: MakeCase, tmp_path: Path) -> None:
    made = case()
    certificate, path = made.certificate(), tmp_path / "out.csv"
    write_release(made.release, path)
    assert verify(certificate, made.risk, path).proved
    for text in altered_files(made.release, path):
        path.write_text(text)
        said = verify(certificate, made.risk, path)
        assert not said.proved
        assert said.problems[0].place.startswith("release")


def test_a_release_that_writes_the_same_numbers_in_another_way_is_proved(case: MakeCase, tmp_path: Path) -> None:
    made = case()
    write_release(made.release, tmp_path / "out.csv")
    text = (tmp_path / "out.csv").read_text()
    (tmp_path / "out.csv").write_text(text.replace(",190,190,190", ",190.00,190.0,190"))
    assert ",190.00," in (tmp_path / "out.csv").read_text()
    assert verify(made.certificate(), made.risk, tmp_path / "out.csv").proved


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((12,), "certificate: must be a Certificate or a file name, not an int. First call celosia.certify(result)."),
        (({},), "certificate: must be a Certificate or a file name, not a dict."),
    ],
)
def test_what_is_no_certificate_is_refused(arguments: tuple[Any, ...], words: str) -> None:
    with pytest.raises(cz.SpecError) as refused:
        verify(*arguments)
    assert words in str(refused.value)


def test_what_is_no_problem_or_release_is_refused(case: MakeCase) -> None:
    made = case()
    certificate = made.certificate()
    with pytest.raises(cz.SpecError, match=r"problem: must be a Risk, not a Table\. First call celosia\.assess"):
        verify(certificate, made.risk.table)
    with pytest.raises(
        cz.SpecError, match=r"release: must be a Release or a file name, not a Risk\. First call celosia\.protect"
    ):
        verify(certificate, made.risk, made.risk)
