"""A run goes on from the state of another: never worse, never for another problem, and never unsafe."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from benchmarks.fingerprints import firms_of_groups
from benchmarks.instances import OPTIMA, instance

import celosia as cz
from celosia import (
    Adjust,
    Combined,
    Intervals,
    Mixed,
    OutOfTimeError,
    Perturb,
    RandomRound,
    Risk,
    Round,
    SpecError,
    Suppress,
    protect,
)
from celosia.pattern.modes.suppressed import Suppressed
from celosia.progress import Silent
from celosia.protection.method import Method
from celosia.protection.state.file import PackedCuts, SearchState, read_state, write_state
from celosia.protection.state.keeper import StateKeeper, StateParameters
from celosia.table.fixed import Fixed

pytestmark = pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
METHODS: list[Method] = [
    Suppress(),
    Intervals(conceal=False),
    Combined(conceal=False),
    Mixed(conceal=False),
    Round(base=200),
    Perturb(reach=3_000, conceal=False),
]
CONTRADICTS, RESTS, LEFT_OUT = "contradicts what the audit says", "rests on the state", "is not safe, and was left out"


class Interrupting(Silent):
    """Presses Ctrl-C when it has heard of so many steps."""

    def __init__(self, after: int) -> None:
        self.left = after

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:  # noqa: ARG002
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


class InterruptingOnce(Silent):
    """Presses Ctrl-C once, as soon as it is time to."""

    def __init__(self, is_time: Callable[[float | None, int], bool]) -> None:
        self.is_time, self.pressed = is_time, False

    def search(self, cost: float | None, bound: float | None, cuts: int) -> None:  # noqa: ARG002
        if not self.pressed and self.is_time(cost, cuts):
            self.pressed = True
            raise KeyboardInterrupt


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_later_run_never_ends_worse(tmp_path: Path, method: Method) -> None:
    risk, path = instance("t20x10"), tmp_path / "s"
    first = protect(risk, method, time_limit=20, gap=0.05, state=path)
    again = protect(risk, method, time_limit=20, gap=0.0, resume=path, state=path)
    last = protect(risk, method, time_limit=20, gap=1.0, resume=path)
    assert first.safe
    assert again.safe
    assert last.safe
    assert again.cost <= first.cost * (1 + 1e-12)
    assert again.bound >= first.bound * (1 - 1e-12)
    assert last.cost == pytest.approx(again.cost)
    assert last.bound == pytest.approx(again.bound)
    assert any(RESTS in note for note in again.notes)


def test_a_proved_optimum_is_audited_and_returned(tmp_path: Path) -> None:
    risk, path = instance("h1"), tmp_path / "s"
    found = protect(risk, state=path)
    again = protect(risk, resume=path, time_limit=60)
    assert found.optimal
    assert again.optimal
    assert again.safe
    assert again.cost == found.cost == OPTIMA["h1"].value
    assert len(again.trace) == 1  # nothing was searched


@pytest.mark.parametrize("after", [1, 3, 10])
def test_ctrl_c_leaves_a_state_that_leads_to_the_optimum(tmp_path: Path, after: int) -> None:
    risk, path = instance("hh1"), tmp_path / "s"
    first = protect(risk, progress=Interrupting(after), state=path)
    known = read_state(path)
    assert known.modes is not None
    assert known.bound <= first.cost
    again = protect(risk, resume=path, state=path)
    assert again.safe
    assert again.cost == OPTIMA["hh1"].value
    assert again.optimal


def test_cuts_are_taken_over(tmp_path: Path) -> None:
    def many(cost: float | None, cuts: int) -> bool:
        return cost is not None and cuts > 150

    risk, path = instance("d3a"), tmp_path / "s"
    first = protect(risk, state=path, progress=InterruptingOnce(many))
    assert read_state(path).n_cuts > 100
    again = protect(risk, resume=path, progress=InterruptingOnce(many))
    assert again.trace[0][3] >= 100
    assert again.cost <= first.cost
    assert again.bound >= first.bound


@pytest.mark.parametrize(
    "method",
    [Intervals(secret=1, conceal=False), Combined(secret=1, conceal=False), Mixed(secret=1, conceal=False)],
    ids=lambda how: how.name,
)
def test_cuts_of_ranges_are_taken_over(tmp_path: Path, method: Method) -> None:
    risk, path = instance("t20x10", sliding=True), tmp_path / "s"
    protect(risk, method, progress=Interrupting(30), state=path, gap=0.05)
    known = read_state(path)
    assert known.n_cuts > 0
    again = protect(risk, method, resume=path, gap=0.02, time_limit=10)
    alone = protect(risk, method, gap=0.02, time_limit=10)
    assert again.safe
    assert again.trace[0][3] > alone.trace[0][3]
    assert again.bound <= alone.cost * (1 + 1e-9)
    assert alone.bound <= again.cost * (1 + 1e-9)


def test_what_was_resumed_is_not_lost_where_there_is_no_time_to_audit_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s"
    risk = kept(path)
    known = read_state(path)

    def late(*_args: object, **_options: object) -> None:
        raise OutOfTimeError.one("time_limit", "was reached.")

    monkeypatch.setattr("celosia.protection.resume.audit", late)
    with pytest.raises(OutOfTimeError):
        protect(risk, resume=path, state=path)
    left = read_state(path)
    assert (left.bound, left.n_cuts) == (known.bound, known.n_cuts)
    assert known.modes is not None
    assert left.modes is not None
    assert np.array_equal(left.modes[0].cells, known.modes[0].cells)


def test_a_state_is_kept_while_the_search_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    often = partial(StateKeeper, parameters=StateParameters(pause=0.05))
    monkeypatch.setattr("celosia.protection.resume.StateKeeper", often)
    path, seen = tmp_path / "s", list[float]()

    def twice(_cost: float | None, _cuts: int) -> bool:
        if path.exists():
            seen.append(read_state(path).bound)
        return len(set(seen)) > 1

    found = protect(instance("d3a"), time_limit=60, state=path, progress=InterruptingOnce(twice))
    assert len(set(seen)) > 1
    assert seen == sorted(seen)
    assert seen[-1] <= found.bound


def test_the_secret_of_the_first_run_is_taken_over(tmp_path: Path) -> None:
    risk, path = instance("t20x10", sliding=True), tmp_path / "s"
    first = protect(risk, Intervals(conceal=False), gap=0.2, state=path)
    again = protect(risk, Intervals(conceal=False), resume=path)
    assert isinstance(first.method, Intervals)
    assert isinstance(again.method, Intervals)
    assert first.method.secret is not None
    assert again.method.secret == first.method.secret
    with pytest.raises(SpecError, match="another secret"):
        protect(risk, Intervals(secret=first.method.secret + 1, conceal=False), resume=path)


def other_level(risk: Risk) -> Risk:
    upper = risk.levels.upper
    return replace(risk, levels=replace(risk.levels, upper=Fixed(upper.counts + (upper.counts > 0), upper.decimals)))


def other_table(risk: Risk) -> Risk:
    amounts = risk.table.amounts
    return replace(risk, table=replace(risk.table, amounts=Fixed(amounts.counts * 2, amounts.decimals)))


OTHERS: dict[str, Any] = {
    "other rules, levels, costs or attackers": [
        lambda risk: (other_level(risk), Suppress()),
        lambda risk: (replace(risk, cost=risk.cost + 1), Suppress()),
        lambda risk: (replace(risk, attackers=risk.attackers * 2), Suppress()),
    ],
    "another table": [lambda risk: (other_table(risk), Suppress())],
    "another method": [
        lambda risk: (risk, Suppress("unity")),
        lambda risk: (risk, Suppress(at_most=200)),
        lambda risk: (risk, Intervals(conceal=False)),
    ],
}


@pytest.mark.parametrize(("said", "change"), [(said, change) for said, many in OTHERS.items() for change in many])
def test_a_state_of_another_problem_is_refused(tmp_path: Path, said: str, change: Any) -> None:  # noqa: ANN401
    risk, path = instance("t20x10"), tmp_path / "s"
    protect(risk, state=path)
    with pytest.raises(SpecError, match=said):
        protect(*change(risk), resume=path)


def test_another_seed_solver_gap_or_limit_is_the_same_problem(tmp_path: Path) -> None:
    risk, path = instance("t20x10"), tmp_path / "s"
    protect(risk, gap=0.2, state=path)
    assert protect(risk, resume=path, seed=3, solver="highs", time_limit=60).optimal


@pytest.mark.parametrize("method", [Adjust(), RandomRound(base=5)], ids=lambda method: method.name)
def test_a_method_without_such_a_search_says_so(tmp_path: Path, method: Method) -> None:
    with pytest.raises(SpecError, match=f"not by '{method.name}'"):
        protect(instance("t20x10"), method, state=tmp_path / "s")


def test_nothing_is_written_over_but_what_is_resumed(tmp_path: Path) -> None:
    risk, path = instance("t20x10"), tmp_path / "job.toml"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(SpecError, match="exists, and is not what is resumed"):
        protect(risk, state=path)
    assert path.read_text(encoding="utf-8") == "precious"
    with pytest.raises(SpecError, match="there is no folder"):
        protect(risk, state=tmp_path / "none" / "s")


def forge(path: Path, **changes: Any) -> SearchState:  # noqa: ANN401
    """Write a state with another content, and a digest that fits it."""
    forged = replace(read_state(path), **changes)
    write_state(forged, path)
    return forged


def kept(path: Path, name: str = "hh1", gap: float = 0.2) -> Risk:
    """Write the state of a search that was not finished."""
    risk = instance(name)
    protect(risk, gap=gap, state=path)
    return risk


def test_a_forged_pattern_is_never_called_safe(tmp_path: Path) -> None:
    path = tmp_path / "s"
    risk = kept(path)
    for cells in (np.flatnonzero(risk.sensitive), np.zeros(0, dtype=np.int64)):
        forge(path, modes=(Suppressed(cells),), bound=0.0)
        found = protect(risk, resume=path)
        assert found.safe
        assert found.cost == OPTIMA["hh1"].value
        assert cz.audit(found.pattern, risk).safe
        assert any(LEFT_OUT in note for note in found.notes)


def test_a_pattern_of_cells_that_do_not_exist_is_refused(tmp_path: Path) -> None:
    risk = kept(tmp_path / "s")
    forge(tmp_path / "s", modes=(Suppressed(np.array([len(risk) + 5])),))
    with pytest.raises(SpecError, match="does not fit the table"):
        protect(risk, resume=tmp_path / "s")


def test_a_forged_bound_that_the_audit_refutes_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "s"
    risk = kept(path)
    forge(path, bound=1e9)
    found = protect(risk, resume=path)
    assert found.safe
    assert found.bound == 0
    assert not found.optimal
    assert any(CONTRADICTS in note for note in found.notes)


def test_forged_cuts_do_not_make_a_safe_pattern_impossible(tmp_path: Path) -> None:
    path = tmp_path / "s"
    risk = kept(path)
    free = int(np.flatnonzero(~risk.sensitive & (risk.table.amounts.counts > 0))[0])
    no = np.zeros(1, dtype=bool)
    wrong = PackedCuts(np.array([0, 1]), np.array([free]), np.array([0.1]), np.array([1.0]), no, no)
    forge(path, cuts={"cells": wrong})
    found = protect(risk, resume=path)
    assert found.safe
    assert not found.optimal or found.cost == OPTIMA["hh1"].value or any(RESTS in note for note in found.notes)


def test_an_audit_that_finds_no_time_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "s"
    risk = kept(path, "d3a")
    before = path.read_bytes()
    try:
        found = protect(risk, resume=path, state=path, time_limit=1e-6)
    except OutOfTimeError:
        assert path.read_bytes() == before
    else:
        assert found.safe


def test_respondents_are_asked_again(tmp_path: Path) -> None:
    risk, path = firms_of_groups(), tmp_path / "s"
    first = protect(risk, gap=0.3, state=path)
    again = protect(risk, resume=path)
    assert again.safe
    assert cz.audit_respondents(again).safe
    assert again.cost <= first.cost
    assert again.bound >= first.bound
    cells = np.flatnonzero(cz.protect(replace(risk, respondents=())).pattern.status != "shown")
    forge(path, modes=(Suppressed(cells),), bound=0.0)
    found = protect(risk, resume=path)
    assert cz.audit_respondents(found).safe


def test_other_contributions_are_another_problem(tmp_path: Path) -> None:
    risk, path = firms_of_groups(), tmp_path / "s"
    protect(risk, gap=0.3, state=path)
    single = risk.table.contributions
    assert single is not None
    other = replace(single, holding=np.roll(single.holding, 1))
    with pytest.raises(SpecError, match="other rules"):
        protect(replace(risk, table=replace(risk.table, contributions=other)), resume=path)


def test_a_state_names_no_respondent(tmp_path: Path) -> None:
    path = tmp_path / "s"
    firms = {"r": ["a", "a", "b", "b", "c"], "c": ["x", "y", "x", "y", "x"], "v": [70, 20, 30, 44, 60]}
    named = firms | {"f": [f"Nobodyknows {k}" for k in range(5)]}
    table = cz.tabulate(pl.DataFrame(named), by=["r", "c"], value="v", respondent="f")
    protect(cz.assess(table, cz.PPercent(10), attackers=[cz.Attacker.external(table)]), state=path)
    with zipfile.ZipFile(path) as file:
        assert not any(b"Nobody" in file.read(name) for name in file.namelist())


def test_a_disk_that_is_full_is_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_state: SearchState, path: Path) -> None:
        raise SpecError.one(str(path), "cannot be written: no space left on device.")

    monkeypatch.setattr("celosia.protection.state.keeper.write_state", refuse)
    found = protect(instance("t20x10"), state=tmp_path / "s")
    assert found.safe
    assert any("no space left" in note for note in found.notes)


def test_bounds_of_states_are_finite_numbers(tmp_path: Path) -> None:
    kept(tmp_path / "s", "t20x10", gap=1.0)
    known: Mapping[str, str] = read_state(tmp_path / "s").fingerprints
    assert math.isfinite(read_state(tmp_path / "s").bound)
    assert set(known) == {"table", "requirements", "method"}
