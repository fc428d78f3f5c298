"""A first job file for ready-made cells: it runs as it stands, and its totals are those of the file."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from celosia import DataError, SpecError
from celosia.job.draft.cells import CellsGuess
from celosia.job.draft.microdata import Guess, draft
from celosia.job.pipeline import assess_file

TREE = {"AZ": {"A": ["01", "02"]}, "BE": {"B": ["05", "06", "07"], "C": ["10"]}, "FZ": {"F": ["41", "42"]}}


def leaves(tree: Any) -> list[str]:  # noqa: ANN401
    return list(tree) if isinstance(tree, list) else [leaf for deeper in tree.values() for leaf in leaves(deeper)]


def groups(order: str, total: str) -> dict[str, list[str]]:
    """Return the leaves of every code of the tree, in one of the orders of files."""
    by_levels = {total: leaves(TREE)} | {code: leaves(deeper) for code, deeper in TREE.items()}
    by_levels |= {code: leaf for deeper in TREE.values() for code, leaf in deeper.items()}
    by_levels |= {leaf: [leaf] for leaf in leaves(TREE)}
    names = list(by_levels)
    if order == "total last":
        names = [*names[1:], total]
    return {name: by_levels[name] for name in names}


def cells_of(order: str = "levels", total: str = "Total", decimals: int = 4) -> pd.DataFrame:
    """Return the cells of activity by size, with numbers and maxima of contributors."""
    chance = np.random.default_rng(3)
    sizes = {total: ["s", "m", "l"], "s": ["s"], "m": ["m"], "l": ["l"]}
    records = {
        key: chance.lognormal(4, 2, int(chance.integers(0, 9))).round(decimals) for key in product(leaves(TREE), "sml")
    }
    rows = []
    for (code, below), (size, parts) in product(groups(order, total).items(), sizes.items()):
        found = np.concatenate([records[leaf, part] for leaf in below for part in parts])
        if len(found):
            rows.append((code, size, len(found), round(float(found.sum()), decimals), float(found.max())))
    return pd.DataFrame(rows, columns=["ACTIVITY", "SIZE", "N_OBS", "TOT", "MAX"])


def drafted(folder: Path, frame: pd.DataFrame) -> tuple[str, Guess | CellsGuess]:
    frame.to_csv(folder / "data.csv", index=False)
    text, guess = draft(folder / "data.csv", folder / "job.toml")
    (folder / "job.toml").write_text(text)
    return text, guess


@pytest.mark.parametrize("total", ["Total", "ALL", "FRANCE"])
@pytest.mark.parametrize("order", ["levels", "total last"])
def test_a_table_with_its_totals_becomes_a_job_of_cells_that_runs(tmp_path: Path, order: str, total: str) -> None:
    rows = cells_of(order, total)
    text, guess = drafted(tmp_path, rows)
    assert isinstance(guess, CellsGuess)
    assert (guess.by, guess.value, guess.count, guess.largest) == (("ACTIVITY", "SIZE"), "TOT", "N_OBS", ("MAX",))
    assert (guess.sound, guess.compute) == (True, False)
    assert "[cells]" in text
    assert "DECIDE" not in text
    risk = assess_file(tmp_path / "job.toml")
    whole = rows[(rows["ACTIVITY"] == total) & (rows["SIZE"] == total)]["TOT"].item()
    assert float(risk.table.amounts.floats[0]) == whole
    assert risk.table.axes[0].labels[0] == total
    assert max(risk.table.axes[0].depths) == 3
    assert len(risk.rules) == 2


def test_what_adds_up_is_what_was_added(tmp_path: Path) -> None:
    _, guess = drafted(tmp_path, cells_of())
    assert isinstance(guess, CellsGuess)
    tree = guess.dimensions[0].tree
    assert tree is not None
    assert {code: {below: list(leaf) for below, leaf in deeper.items()} for code, deeper in tree.items()} == TREE


def test_codes_that_begin_like_their_parents_may_stand_in_any_order(tmp_path: Path) -> None:
    codes = ["Total", "FR1", "FR11", "FR2", "FR12", "FR21", "FR22"]
    rows = pd.DataFrame({"nuts": codes, "sales": [100, 60, 25, 40, 35, 13, 27], "n": [9, 5, 2, 4, 3, 1, 3]})
    _, guess = drafted(tmp_path, rows)
    assert isinstance(guess, CellsGuess)
    assert guess.dimensions[0].tree == {"FR1": {"FR11": {}, "FR12": {}}, "FR2": {"FR21": {}, "FR22": {}}}
    assert len(assess_file(tmp_path / "job.toml")) == 7


def test_a_table_without_totals_has_them_computed(tmp_path: Path) -> None:
    rows = cells_of()
    inner = rows[rows["ACTIVITY"].isin(leaves(TREE)) & (rows["SIZE"] != "Total")]
    text, guess = drafted(tmp_path, inner)
    assert isinstance(guess, CellsGuess)
    assert guess.compute
    assert 'totals = "compute"' in text
    assert "# DECIDE: who contributes to computed totals" in text
    with pytest.raises(SpecError, match="contributors"):
        assess_file(tmp_path / "job.toml")


def test_what_does_not_add_up_must_be_decided(tmp_path: Path) -> None:
    rows = cells_of()
    rows.loc[rows["ACTIVITY"] == "AZ", "TOT"] += 1000
    text, guess = drafted(tmp_path, rows)
    assert isinstance(guess, CellsGuess)
    assert not guess.sound
    assert "# DECIDE: no hierarchy was found in which these codes add up to Total" in text
    with pytest.raises(DataError):
        assess_file(tmp_path / "job.toml")


def test_cells_without_anything_about_contributors_leave_the_rules_to_decide(tmp_path: Path) -> None:
    text, _ = drafted(tmp_path, cells_of()[["ACTIVITY", "SIZE", "TOT"]])
    assert "# DECIDE: what makes a cell sensitive?" in text
    with pytest.raises(SpecError, match="rules"):
        assess_file(tmp_path / "job.toml")


def test_counts_alone_are_values_that_count(tmp_path: Path) -> None:
    text, guess = drafted(tmp_path, cells_of()[["ACTIVITY", "SIZE", "N_OBS"]])
    assert isinstance(guess, CellsGuess)
    assert (guess.value, guess.counts) == ("N_OBS", True)
    assert "counts = true" in text
    assert assess_file(tmp_path / "job.toml").table.counts == {"N_OBS"}


def test_statuses_and_several_maxima_are_known(tmp_path: Path) -> None:
    rows = cells_of().assign(status="s", TOP2=0.0).rename(columns={"MAX": "TOP1"})
    rows = rows[rows["N_OBS"] > 0]
    rows["TOP2"] = (rows["TOT"] - rows["TOP1"]).clip(upper=rows["TOP1"]).round(4)
    text, guess = drafted(tmp_path, rows)
    assert isinstance(guess, CellsGuess)
    assert (guess.largest, guess.status) == (("TOP1", "TOP2"), "status")
    assert 'rule = "p-percent"' in text
    assert 'rule = "given-status"' in text


def test_a_template_without_values_is_refused(tmp_path: Path) -> None:
    rows = cells_of(total="_T")[["ACTIVITY", "SIZE"]].assign(period=2022)
    with pytest.raises(DataError, match="no column of numbers has their values"):
        drafted(tmp_path, rows)


def test_labels_beside_codes_are_no_dimension(tmp_path: Path) -> None:
    rows = cells_of()
    rows.insert(1, "ACTIVITY_NAME", rows["ACTIVITY"].map(lambda code: f"called {code}"))
    _, guess = drafted(tmp_path, rows)
    assert guess.by == ("ACTIVITY", "SIZE")


@pytest.mark.parametrize("firm", [True, False])
def test_records_stay_records(tmp_path: Path, *, firm: bool) -> None:
    """Also where each has another combination of codes, and no name."""
    pairs = list(product("ABCDEFGH", ["North", "South", "East", "West", "Allover"]))
    rows = pd.DataFrame(pairs, columns=["sector", "region"]).assign(turnover=np.arange(40) ** 2 + 7)
    rows["n_staff"] = np.arange(40) % 7
    if firm:
        rows["firm"] = [f"Total {k}" for k in range(40)]
    text, guess = drafted(tmp_path, rows)
    assert isinstance(guess, Guess)
    assert "[data]" in text
    assess_file(tmp_path / "job.toml")
