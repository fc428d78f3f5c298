"""Tables of other people, and those of the demo, for the benchmark `real`; files lie beside the checkout."""

from __future__ import annotations

import csv
import runpy
from collections.abc import Callable, Sequence
from pathlib import Path

import polars as pl

import celosia as cz
from benchmarks.instances import instance
from celosia.job.demo.data import firms, industry, region
from celosia.risk.risk import Risk
from celosia.risk.rules.finding import Rule
from celosia.table.hierarchy import Classification
from celosia.table.table import Table

SHARED = Path(__file__).parents[2] / "shared"
TAU, INSEE, SURVEY = SHARED / "data" / "tau-argus", SHARED / "data" / "rtauargus", SHARED / "faults" / "survey.py"
_FIELDS = {"IndustryCode": (3, 8), "Size": (8, 10), "Region": (11, 13), "Var2": (27, 37)}
"""Where `Tau_TestW.rda` says that the fields stand, counted from 0."""

INSEE_TABLES = ("act_size", "act_cj", "nuts_size", "nuts_cj")
_LEVELS = {"act": ("ACTIVITY", "activity_corr_table.csv"), "nuts": ("NUTS", "nuts23_fr_corr_table.csv")}


def _assess(table: Table, *rules: Rule, outsiders: bool) -> Risk:
    return cz.assess(table, *rules, attackers=[cz.Attacker.external(table)] if outsiders else None)


def _tau(by: Sequence[str], p: int) -> Callable[..., Risk]:
    def made(*, outsiders: bool) -> Risk:
        lines = (TAU / "tau_testW.asc").read_text(encoding="latin-1").splitlines()
        columns = {name: [line[start:end] for line in lines] for name, (start, end) in _FIELDS.items()}
        columns["Var2"] = [text.strip() for text in columns["Var2"]]
        known: dict[str, Classification] = {
            "IndustryCode": cz.Digits((3, 1, 1)),
            "Region": cz.Hierarchy.from_hrc(TAU / "region2.hrc"),
        }
        hierarchies = {name: known[name] for name in by if name in known}
        table = cz.tabulate(pl.DataFrame(columns), by=list(by), value="Var2", hierarchies=hierarchies)
        return _assess(table, cz.PPercent(p), cz.MinFrequency(3), outsiders=outsiders)

    return made


def _survey(by: Sequence[str]) -> Callable[..., Risk]:
    def made(*, outsiders: bool) -> Risk:
        data = runpy.run_path(str(SURVEY))["survey"]()
        sector = {"sector": cz.Digits((1, 1))}
        table = cz.tabulate(data, by=list(by), value="turnover", respondent="firm", hierarchies=sector)
        return _assess(table, cz.PPercent(10), cz.MinFrequency(3), outsiders=outsiders)

    return made


def _insee(name: str) -> Callable[..., Risk]:
    def made(*, outsiders: bool) -> Risk:
        first, second = name.split("_")
        column, levels = _LEVELS[first]
        with (INSEE / levels).open(encoding="utf-8", newline="") as file:
            _, *paths = csv.reader(file)
        table = cz.cells(
            INSEE / f"turnover_{name}.csv",
            by=[column, second.upper()],
            value="TOT",
            count="N_OBS",
            largest=["MAX"],
            hierarchies={column: cz.Hierarchy.from_levels([tuple(path) for path in paths])},
        )
        return _assess(table, cz.Dominance(1, 85), cz.MinFrequency(3), outsiders=outsiders)

    return made


def _demo(*, outsiders: bool) -> Risk:
    table = cz.tabulate(
        firms(),
        by=["industry", "region"],
        value="turnover",
        respondent="firm",
        holding="group",
        request="request",
        waiver="waiver",
        hierarchies={"industry": industry(), "region": region()},
    )
    return _assess(table, cz.PPercent(10), cz.MinFrequency(3), cz.Requests(50), outsiders=outsiders)


def _drawn(name: str) -> Callable[..., Risk]:
    return lambda *, outsiders: instance(name, sliding=outsiders)


TABLES: dict[str, tuple[Path | None, Callable[..., Risk]]] = {
    "tau-ARGUS 2-D": (TAU, _tau(["IndustryCode", "Region"], 15)),
    "tau-ARGUS Size x Region": (TAU, _tau(["Size", "Region"], 15)),
    "tau-ARGUS 3-D": (TAU, _tau(["IndustryCode", "Region", "Size"], 15)),
    "survey 3-D": (SURVEY, _survey(["sector", "region", "size"])),
    "survey 4-D": (SURVEY, _survey(["sector", "region", "size", "age"])),
    **{f"INSEE {name}": (INSEE, _insee(name)) for name in INSEE_TABLES},
    "demo": (None, _demo),
    "hh2": (None, _drawn("hh2")),
    "t20x10": (None, _drawn("t20x10")),
}
"""Where the data lie, None for drawn ones, and what makes the risk, against outsiders alone or everybody."""


def is_there(name: str) -> bool:
    """Return whether the data of a table are there."""
    path, _ = TABLES[name]
    return path is None or path.exists()


def risk_of(name: str, *, outsiders: bool) -> Risk:
    """Return a table with its sensitive cells."""
    return TABLES[name][1](outsiders=outsiders)
