"""Altered certificates: each field in turn, with and without hashes that fit, and never proved."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest
from tests.unit.certificate.conftest import intervals, two_attackers

from celosia import DataError

MakeCase = Callable[..., Any]

PARTS = (
    "confidential",
    "note",
    "format",
    "format_version",
    "versions",
    "verdict",
    "whole_numbers",
    "sha256",
    "table",
    "requirements",
    "release",
    "proofs",
    "ranges",
    "witnesses",
)


def altered(part: Any) -> Iterator[Any]:  # noqa: ANN401
    """Yield a part with each of its numbers, texts and entries altered, one at a time."""
    if isinstance(part, bool):
        yield not part
    elif part is None:
        yield 0
    elif isinstance(part, int):
        yield part + 1
        yield part - 1
        yield str(part)
    elif isinstance(part, str):
        yield from altered_text(part)
    elif isinstance(part, list):
        for place, entry in enumerate(part):
            yield part[:place] + part[place + 1 :]
            yield [*part[: place + 1], *part[place:]]
            for other in altered(entry):
                yield [*part[:place], other, *part[place + 1 :]]
    else:
        for name, entry in part.items():
            yield {key: value for key, value in part.items() if key != name}
            for other in altered(entry):
                yield part | {name: other}


def altered_text(text: str) -> Iterator[Any]:
    words = text.split(" ")
    if all(word.lstrip("-").isdigit() for word in words):
        for place, word in enumerate(words):
            before, after = words[:place], words[place + 1 :]
            others = (str(int(word) + 1), str(int(word) - 1), word + "e0", "+" + word, "0" + word, word + ".0", "")
            for other in others:
                yield " ".join([*before, other, *after])
            yield " ".join(before + after)
            yield " ".join([*before, word, word, *after])
        yield int(words[0])
        yield float(words[0])
    yield text + "5"
    yield from {"", "inf", "1"} - {text}


def survives(made: Any, content: object, **options: bool) -> bool:  # noqa: ANN401
    """Return whether nothing is found to be wrong with an altered certificate."""
    try:
        return bool(made.judged(content, **options).consistent)
    except DataError:
        return False


def some(every: Iterable[Any], most: int) -> list[Any]:
    """Return at most so many alterations, spread evenly."""
    tried = list(every)
    return tried[:: -(-len(tried) // most)]


how_many = pytest.mark.parametrize(
    "most", [60, pytest.param(10**9, marks=pytest.mark.slow)], ids=["some alterations", "all alterations"]
)


@how_many
@pytest.mark.parametrize("part", PARTS)
def test_nothing_altered_is_proved(case: MakeCase, part: str, most: int) -> None:
    made = case(attackers=two_attackers, integer=True)
    content = made.content()
    assert survives(made, content, rehash=False, alone=True)
    tried = [content | {part: other} for other in some(altered(content[part]), most)]
    assert tried
    assert [other[part] for other in tried if survives(made, other, rehash=False, alone=True)] == []


@how_many
@pytest.mark.parametrize(
    "part", [part for part in PARTS if part not in {"note", "versions", "whole_numbers", "sha256"}]
)
def test_nothing_altered_is_proved_when_its_hashes_are_mended(case: MakeCase, part: str, most: int) -> None:
    made = case(attackers=two_attackers)
    content = made.content()
    tried = [content | {part: other} for other in some(altered(content[part]), most)]
    assert [other[part] for other in tried if survives(made, other)] == []


@how_many
@pytest.mark.parametrize("part", ["ranges", "witnesses", "release"])
def test_nothing_about_ranges_is_proved_when_altered(case: MakeCase, part: str, most: int) -> None:
    made = intervals(case)
    content = made.content()
    tried = [content | {part: other} for other in some(altered(content[part]), most)]
    assert [other[part] for other in tried if survives(made, other)] == []


def test_missing_and_unknown_parts_are_unreadable(case: MakeCase) -> None:
    made = case()
    content = made.content()
    for part in PARTS:
        with pytest.raises(DataError):
            made.judged({name: content[name] for name in content if name != part}, rehash=False)
    with pytest.raises(DataError, match="entries"):
        made.judged(content | {"more": 1}, rehash=False)


def test_a_dropped_requirement_with_mended_hashes_is_refused_beside_the_problem(case: MakeCase, columns: Any) -> None:  # noqa: ANN401
    made = case(attackers=two_attackers)
    content = made.content()
    wanted = content["requirements"]
    for part in (*(wanted[name] for name in wanted if name != "attackers"), *content["proofs"].values()):
        columns.write(part, columns.read(part)[:1])
    assert made.judged(copy.deepcopy(content), alone=True).consistent  # of what it says itself it is a proof
    found = made.judged(content)
    assert not found.proved
    assert "leaves out 1 requirement, the first about II x C" in str(found.problems[0])


def test_lowered_levels_and_narrowed_bounds_with_mended_hashes_are_refused(case: MakeCase, columns: Any) -> None:  # noqa: ANN401
    made = case()
    content = made.content()
    columns.write(content["requirements"]["lower"], [10])
    assert "other levels" in str(made.judged(content).problems[0])
    content = made.content()
    content["requirements"]["attackers"][0]["lower"] |= {"given": "0 1 15", "times": "15"}
    assert "other bounds" in str(made.judged(content).problems[0])
