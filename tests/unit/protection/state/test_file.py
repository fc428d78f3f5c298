"""The state of a search as a file: it survives the way there and back, and a broken one is refused."""

from __future__ import annotations

import contextlib
import json
import pickle
import time
import zipfile
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from celosia import SpecError
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.mode import Mode
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.suppressed import Suppressed
from celosia.protection.state.file import PackedCuts, SearchState, read_state, write_state
from celosia.protection.state.keeper import StateKeeper, StateParameters
from celosia.table.fixed import Fixed

CELLS = np.array([1, 4])
HUGE = Fixed(np.array([-(10**30), 10**25], dtype=object), 2)
MODES: list[Mode] = [
    Suppressed(CELLS),
    Interval(CELLS, Fixed(np.array([1, 5]), 1), Fixed(np.array([9, 2**63 - 1]), 1), fixed_cost=np.array([1.5, 2.0])),
    Interval(CELLS, HUGE, Fixed(np.array([10**26, 10**26], dtype=object), 2)),
    Rounded(CELLS, Fixed(np.array([10, 20])), Fixed(np.array([5, 5])), 0, 1),
    Perturbed(CELLS, Fixed(np.array([10, 20])), Fixed(np.array([3, 3]))),
]
CUTS = PackedCuts(
    np.array([0, 2, 3]),
    np.array([0, 3, 2]),
    np.array([0.5, 1.0, -1.0]),
    np.array([1.0, 0.0]),
    np.array([False, True]),
    np.array([True, False]),
)


def state(*modes: Mode, bound: float = 7.25) -> SearchState:
    return SearchState({"table": "a"}, modes or None, bound, {"secret": 2**200}, ("A note.",), {"x": CUTS})


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.status)
def test_a_state_survives_the_way_there_and_back(tmp_path: Path, mode: Mode) -> None:
    write_state(state(mode), tmp_path / "s")
    back = read_state(tmp_path / "s")
    assert (back.fingerprints, back.bound, back.settled, back.notes) == (
        {"table": "a"},
        7.25,
        {"secret": 2**200},
        ("A note.",),
    )
    assert back.modes is not None
    (same,) = back.modes
    assert type(same) is type(mode)
    for field in fields(mode):  # type: ignore[arg-type]
        one, other = getattr(mode, field.name), getattr(same, field.name)
        if isinstance(one, Fixed):
            assert (one.decimals, one.counts.tolist()) == (other.decimals, other.counts.tolist())
        else:
            assert np.array_equal(one, other)
    for name in ("starts", "columns", "values", "right", "lean", "rounded"):
        assert np.array_equal(getattr(back.cuts["x"], name), getattr(CUTS, name))


def test_a_file_says_that_it_is_confidential(tmp_path: Path) -> None:
    write_state(state(MODES[0]), tmp_path / "s")
    head = json.loads(zipfile.ZipFile(tmp_path / "s").read("head.json"))
    assert "stays in the office" in head["confidential"]


@pytest.mark.parametrize("place", [0.1, 0.3, 0.5, 0.7, 0.9])
def test_a_flipped_bit_and_a_lost_end_are_noticed(tmp_path: Path, place: float) -> None:
    path = tmp_path / "s"
    write_state(state(*MODES[:2]), path)
    whole = path.read_bytes()
    at = int(place * len(whole))
    for broken in (whole[:at], bytes([*whole[:at], whole[at] ^ 1, *whole[at + 1 :]])):
        path.write_bytes(broken)
        with contextlib.suppress(SpecError):
            back = read_state(path)  # a bit that nothing is read from, such as the date of a member
            assert back.bound == 7.25
            assert back.modes is not None


@pytest.mark.parametrize("content", [b"", b"not a state", pickle.dumps(MODES), b'{"format": "celosia state"}'])
def test_what_is_no_state_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "s").write_bytes(content)
    with pytest.raises(SpecError, match="is not the state of a search"):
        read_state(tmp_path / "s")


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="cannot be read: no such file"):
        read_state(tmp_path / "s")


def test_nothing_in_a_file_is_run(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("head.json", "{}")
        with file.open("starts.npy", "w") as member:
            np.lib.format.write_array(member, np.array([time.sleep], dtype=object), allow_pickle=True)
    with pytest.raises(SpecError, match="is not the state of a search"):
        read_state(path)


@pytest.mark.parametrize(
    ("part", "wrong"),
    [
        ("starts", [0, 2, 9]),
        ("starts", [0, 0, 3]),
        ("columns", [3, 0, 2]),
        ("columns", [0, 3, 12]),
        ("values", [0.5, np.inf, 1.0]),
        ("right", [1.0]),
        ("lean", [True]),
    ],
)
def test_cuts_that_cannot_be_ones_of_the_table_are_known(part: str, wrong: list[float]) -> None:
    assert CUTS.fits(4)
    parts = {name: getattr(CUTS, name) for name in ("starts", "columns", "values", "right", "lean", "rounded")}
    assert not PackedCuts(**parts | {part: np.array(wrong)}).fits(4)


def test_a_keeper_waits_between_two_writings_and_writes_the_rest_at_the_end(tmp_path: Path) -> None:
    keeper = StateKeeper(tmp_path / "s", {"table": "a"}, StateParameters(pause=1000.0))
    keeper.raise_bound(1.0)
    keeper.raise_bound(2.0)
    assert read_state(tmp_path / "s").bound == 1.0
    keeper.raise_bound(1.5)
    keeper.write()
    assert read_state(tmp_path / "s").bound == 2.0


def test_cuts_are_kept_where_there_is_no_pattern_yet(tmp_path: Path) -> None:
    keeper = StateKeeper(tmp_path / "s", {"table": "a"})
    keeper.keep_cuts("x", lambda _most: CUTS)
    keeper.touch()
    left = read_state(tmp_path / "s")
    assert left.modes is None
    assert left.n_cuts == len(CUTS)


def test_what_another_run_found_stays_until_there_is_something_better(tmp_path: Path) -> None:
    keeper = StateKeeper(tmp_path / "s", {"table": "a"})
    keeper.begin(state(MODES[0]))
    keeper.raise_bound(3.0)
    keeper.touch()
    left = read_state(tmp_path / "s")
    assert left.bound == 7.25
    assert left.modes is not None
    assert left.settled == {"secret": 2**200}
    assert left.n_cuts == len(CUTS)
    keeper.withdraw_pattern()
    keeper.forget_bound()
    keeper.write()
    left = read_state(tmp_path / "s")
    assert (left.modes, left.bound, left.n_cuts) == (None, 0.0, 0)


def test_a_disk_that_says_no_does_not_end_the_search(tmp_path: Path) -> None:
    keeper = StateKeeper(tmp_path / "gone" / "s", {})
    keeper.raise_bound(1.0)
    assert "cannot be written" in keeper.failure


@pytest.mark.parametrize("wrong", [{"pause": -1.0}, {"pause_factor": 0.5}, {"most_entries": -1}])
def test_parameters_out_of_range_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        StateParameters(**wrong)  # type: ignore[arg-type]
