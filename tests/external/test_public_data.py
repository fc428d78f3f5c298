"""Files that other people made, beside the checkout in ``../shared/data``; skipped where they are absent."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest

from celosia import (
    Combined,
    DataError,
    Dominance,
    Hierarchy,
    Intervals,
    MinFrequency,
    Mixed,
    PPercent,
    SpecError,
    Table,
    assess,
    cells,
    link,
    protect,
    tabulate,
)
from celosia.job.draft.cells import CellsGuess
from celosia.job.draft.microdata import draft
from celosia.job.pipeline import assess_file
from celosia.protection.method import Method

DATA = Path(__file__).parents[3] / "shared" / "data"
TAU, FRENCH = DATA / "tau-argus", DATA / "rtauargus"

pytestmark = [
    pytest.mark.external,
    pytest.mark.skipif(not DATA.is_dir(), reason=f"public data are not beside the checkout: {DATA}"),
]

FIELDS = {"Size": (8, 10), "Region": (11, 13), "Var2": (27, 37)}
"""Where `Tau_TestW.rda` says that the fields stand, counted from 0."""


@pytest.fixture(scope="module")
def size_by_region() -> Table:
    lines = (TAU / "tau_testW.asc").read_text(encoding="latin-1").splitlines()
    assert len(lines) == 42_723
    columns = {name: [line[start:end] for line in lines] for name, (start, end) in FIELDS.items()}
    columns["Var2"] = [text.strip() for text in columns["Var2"]]
    region = Hierarchy.from_hrc(TAU / "region2.hrc")
    return tabulate(pl.DataFrame(columns), by=["Size", "Region"], value="Var2", hierarchies={"Region": region})


def expected() -> dict[tuple[str, str], tuple[str, str]]:
    """Return value and status by codes, as tau-ARGUS published them."""
    with (TAU / "expected_size_by_region.txt").open(encoding="latin-1", newline="") as file:
        return {(size, region): (value, status) for size, region, value, status in csv.reader(file)}


def test_tau_testw_all_119_values(size_by_region: Table) -> None:
    published = {codes: Fraction(value) for codes, (value, _) in expected().items() if value != "-"}
    labels = list(zip(size_by_region.labels(0), size_by_region.labels(1), strict=True))
    assert len(published) == 119
    assert {codes: size_by_region.amounts.fraction(place) for place, codes in enumerate(labels)} == published


def test_tau_testw_exactly_the_nine_primaries_at_p_15(size_by_region: Table) -> None:
    risk = assess(size_by_region, PPercent(15))
    labels = list(zip(size_by_region.labels(0), size_by_region.labels(1), strict=True))
    found = {codes for place, codes in enumerate(labels) if risk.sensitive[place]}
    assert found == {codes for codes, (_, status) in expected().items() if status == "3"}
    assert len(found) == 9


def levels(name: str) -> dict[str, list[str]]:
    with (FRENCH / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: [row[column] for row in rows] for column in rows[0]}


@pytest.fixture(scope="module")
def activity() -> Hierarchy:
    return Hierarchy.from_levels(levels("activity_corr_table.csv"))


def french(name: str, by: Sequence[str], hierarchies: Mapping[str, Hierarchy]) -> Table:
    path = FRENCH / f"turnover_{name}.csv"
    return cells(path, by=by, value="TOT", count="N_OBS", largest=["MAX"], hierarchies=hierarchies)


@pytest.fixture(scope="module")
def four_tables(activity: Hierarchy) -> list[Table]:
    nuts = Hierarchy.from_levels(levels("nuts23_fr_corr_table.csv"))
    return [
        french("act_size", ["ACTIVITY", "SIZE"], {"ACTIVITY": activity}),
        french("act_cj", ["ACTIVITY", "CJ"], {"ACTIVITY": activity}),
        french("nuts_size", ["NUTS", "SIZE"], {"NUTS": nuts}),
        french("nuts_cj", ["NUTS", "CJ"], {"NUTS": nuts}),
    ]


def test_four_french_tables_link_to_1493_cells(four_tables: list[Table]) -> None:
    linked = link(four_tables)
    paths = [FRENCH / f"turnover_{name}.csv" for name in ("act_size", "act_cj", "nuts_size", "nuts_cj")]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) - 1 for path in paths) == 1_732
    assert len(linked) == 1_493
    assert linked.components[0] == 1
    assert not linked.relations.residuals(linked.amounts.counts).any()


@pytest.mark.filterwarnings("ignore::celosia.errors.MidpointWarning")
@pytest.mark.parametrize("number", range(4))
@pytest.mark.parametrize(
    "method",
    [Intervals(secret=1, conceal=False), Combined(secret=1, conceal=False), Mixed(secret=1, conceal=False)],
    ids=lambda way: way.name,
)
def test_amounts_of_1e13_units_are_published_as_ranges(four_tables: list[Table], number: int, method: Method) -> None:
    """Turnover with four decimals, levels from one unit to 10^10: ranges are within 2 % of the bound, all are safe."""
    risk = assess(four_tables[number], Dominance(1, 85), MinFrequency(3))
    found = protect(risk, method, time_limit=60)
    assert found.safe
    assert method.name == "mixed" or found.cost <= 1.02 * found.bound


@pytest.mark.parametrize("partial", [True, False])
def test_the_east_of_france_is_not_france(four_tables: list[Table], activity: Hierarchy, *, partial: bool) -> None:
    """Declared a part, its 52 cells that differ are refused; not declared, the names of the totals are."""
    rows = [
        row
        for row in zip(*levels("nuts23_fr_corr_table.csv").values(), strict=True)
        if row[0] in {"FR41", "FR42", "FR43"}
    ]
    east = Hierarchy.from_levels(rows, total="Total_EAST", partial=partial)
    fifth = french("act_nuts_size", ["ACTIVITY", "NUTS", "SIZE"], {"ACTIVITY": activity, "NUTS": east})
    if partial:
        with pytest.raises(DataError, match="52 cells bear the same codes and have different values"):
            link([*four_tables, fifth])
    else:
        with pytest.raises(SpecError, match=r"totals of different names: 'Total' .* and 'Total_EAST'"):
            link([*four_tables, fifth])


@pytest.mark.parametrize("name", ["act_cj", "act_nuts_size", "act_size", "nuts_cj", "nuts_size"])
def test_init_writes_a_job_of_cells_for_every_french_table(name: str, tmp_path: Path) -> None:
    path = FRENCH / f"turnover_{name}.csv"
    text, guess = draft(path, tmp_path / "job.toml")
    assert isinstance(guess, CellsGuess)
    assert "DECIDE" not in text
    (tmp_path / "job.toml").write_text(text)
    table = assess_file(tmp_path / "job.toml").table
    with path.open(newline="") as file:
        largest = max(Fraction(row["TOT"]) for row in csv.DictReader(file))
    assert table.amounts.fraction(0) == largest


def test_init_finds_the_levels_of_the_french_activities(tmp_path: Path) -> None:
    _, guess = draft(FRENCH / "turnover_act_size.csv", tmp_path / "job.toml")
    assert isinstance(guess, CellsGuess)
    tree = guess.dimensions[0].tree
    assert tree is not None
    found = {(one, two, leaf) for one, deeper in tree.items() for two, leaves in deeper.items() for leaf in leaves}
    with (FRENCH / "activity_corr_table.csv").open(newline="") as file:
        known = {tuple(row) for row in list(csv.reader(file))[1:]}
    assert found <= known
    assert len(found) == 83
