"""Certificates of random audits say what the oracle says; altered ones never say more."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.oracles.audit_cases import (
    KINDS,
    Case,
    Entry,
    drawn_case,
    intervals_of,
    joined,
    pattern_of,
    risk_of,
    table_of,
)
from tests.oracles.bare_tables import seeded
from tests.oracles.examples import first_few

import celosia as cz
from celosia import DataError, publish, verify
from celosia.certificate.canonical import digests
from celosia.certificate.columns import column, read_column


@pytest.mark.parametrize("whole", [False, True], ids=["decimals", "whole"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("numbers", first_few(1, [range(4), range(4, 20)]), ids=["few", "many"])
def test_what_is_proved_is_what_is_met(kind: str, tmp_path: Path, numbers: range, *, whole: bool) -> None:
    seen: Counter[str] = Counter()
    for number in numbers:
        chance = seeded(f"certificate {kind} {whole} {number}")
        drawn = [drawn_case(chance, kind, whole=whole, decimals=0, attackers=1) for _ in range(9)]
        seen += compared([told(case) if number % 2 else case for case in drawn], tmp_path / "proof.json")
    assert min(seen["proved"], seen["not proved"], seen["reached"]) > 5


def told(case: Case) -> Case:
    """Return the case in which every range that can be concluded about a hidden cell is published."""
    entries = dict(case.entries)
    for cell, interval in enumerate(case.truth(0) or ()):
        whole = all(end is None or end.denominator == 1 for end in interval)
        if cell in entries and whole and interval != (None, None):
            entries[cell] = Entry("interval", tuple(None if end is None else int(end) for end in interval))
    return replace(case, entries=entries)


def compared(cases: list[Case], path: Path) -> Counter[str]:
    """Compare certificates with audit and oracle."""
    case = joined(cases)
    table = table_of(case)
    risk, release = risk_of(case, table), publish(pattern_of(case, table))
    found = cz.audit(release, risk)
    certificate = cz.certify(found)
    certificate.write(path)
    judged = verify(path, risk, release)
    assert judged.proved == found.safe == certificate.safe
    met = len(found.of_result("met"))
    assert judged.counts["requirements_proved"] == met
    reached = set(read_column(certificate.content["ranges"]["cells"], "").tolist())
    truths = intervals_of(cases)
    seen = Counter({"proved": met, "not proved": len(found.verdicts) - met})
    for cell, entry in case.entries.items():
        true = truths[0][cell]
        if entry.status == "interval" and true is not None:
            ends = tuple(None if end is None else Fraction(end, 10**case.decimals) for end in entry.numbers[:2])
            exact = all(end is None or end == own for end, own in zip(ends, true, strict=True))
            assert case.whole or exact == (cell in reached)
            assert exact or cell not in reached
            seen["reached" if exact else "narrowed"] += 1
    return seen


def lying(body: list[list[int]]) -> tuple[cz.Risk, Any, dict[str, Any]]:
    """Return a problem whose release is not safe, the release, and a certificate that says it is."""
    cells = [(r, c, v) for r, line in zip("PQR", body, strict=True) for c, v in zip("ABC", line, strict=True)]
    table = cz.tabulate(pd.DataFrame(cells, columns=["r", "c", "v"]), by=["r", "c"], value="v")
    sensitive = [table.find(r="Q", c="C"), table.find(r="Q", c="A")]
    risk = cz.assess(table, lambda rows: np.isin(np.arange(len(rows)), sensitive))
    hidden = [table.find(r=r, c=c) for r in "QR" for c in "AC"]
    release = publish(cz.Pattern.hide(table, hidden))
    content: dict[str, Any] = json.loads(cz.certify(cz.audit(release, risk)).text())
    content["verdict"] = "safe"
    tables = len(read_column(content["witnesses"]["denominators"], ""))
    for side in ("down", "up"):
        places = read_column(content["proofs"][side], "")
        content["proofs"][side] = column(np.where(places < 0, max(0, tables - 1), places))
    return risk, release, content


def leaves(part: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401
    """Yield the ways to all entries of a certificate that are no lists or objects."""
    if isinstance(part, dict):
        for name, entry in part.items():
            yield from leaves(entry, (*path, name))
    elif isinstance(part, list) and part:
        for place, entry in enumerate(part):
            yield from leaves(entry, (*path, place))
    else:
        yield path


CASES = {
    "not safe": lying([[20, 50, 10], [8, 19, 22], [1, 32, 2]]),
    "half safe": lying([[20, 50, 10], [8, 19, 60], [17, 32, 5]]),
}


def words_altered(draw: st.DrawFn, text: str) -> object:
    """Return a text with one of its numbers altered, or another text."""
    words = text.split(" ")
    place = draw(st.integers(0, len(words) - 1))
    if words[place].lstrip("-").isdigit() and draw(st.booleans()):
        number = int(words[place])
        near = st.sampled_from([number + 1, number - 1, -number, 0, 2 * number, 10 * number])
        words[place] = str(draw(st.one_of(near, st.integers(-100, 100), st.integers())))
        return " ".join(words)
    if draw(st.booleans()):
        del words[place]
        return " ".join(words)
    return draw(st.one_of(st.text(alphabet="0123456789 -", max_size=12), st.sampled_from(["", "safe", "0", "1", "16"])))


@st.composite
def alterations(draw: st.DrawFn) -> tuple[str, tuple[Any, ...], object]:
    """Draw a case, a place in its certificate, and what is written there."""
    name = draw(st.sampled_from(sorted(CASES)))
    content = CASES[name][2]
    way = draw(st.sampled_from([way for way in leaves(content) if way[0] != "sha256"]))
    entry: Any = content
    for step in way:
        entry = entry[step]
    if isinstance(entry, str):
        return name, way, words_altered(draw, entry)
    if isinstance(entry, bool):
        return name, way, not entry
    if isinstance(entry, int):
        return name, way, draw(st.one_of(st.integers(-3, 20), st.just(entry + 1), st.none()))
    return name, way, draw(st.sampled_from([None, 0, "", [0]]))


@given(alterations())
@example(("half safe", ("table", "values", "decimals"), 19))  # units that 64 bits do not hold
@settings(max_examples=250, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_alteration_of_a_certificate_that_lies_is_proved(altered: tuple[str, tuple[Any, ...], object]) -> None:
    name, way, other = altered
    risk, release, content = CASES[name]
    content = copy.deepcopy(content)
    entry = content
    for step in way[:-1]:
        entry = entry[step]
    entry[way[-1]] = other
    content["sha256"] = digests(content)
    assert not proved(content, risk, release)


def proved(content: object, risk: cz.Risk, release: Any) -> bool:  # noqa: ANN401
    """Return whether a certificate proves that a release is safe."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "proof.json"
        path.write_text(json.dumps(content))
        try:
            return verify(path, risk, release).proved
        except DataError:
            return False
