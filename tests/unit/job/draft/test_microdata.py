"""A first job file for a data file: it runs as it stands, and tells nothing but the names of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

from celosia import DataError
from celosia.job.demo.data import firms
from celosia.job.draft.microdata import Guess, draft
from celosia.job.pipeline import assess_file
from celosia.job.schema import job_schema
from celosia.job.spec import read_job


def drafted(folder: Path, columns: Mapping[str, Any] | pa.Table, ending: str = "parquet") -> tuple[str, Guess]:
    table = columns if isinstance(columns, pa.Table) else pa.table(dict(columns))
    path = folder / f"data.{ending}"
    (pyarrow.parquet.write_table if ending == "parquet" else pyarrow.csv.write_csv)(table, path)
    text, guess = draft(path, folder / "job.toml")
    (folder / "job.toml").write_text(text)
    assert isinstance(guess, Guess)
    return text, guess


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_the_demo_s_firms_are_understood_and_the_job_runs(tmp_path: Path, ending: str) -> None:
    text, guess = drafted(tmp_path, firms(500, 1), ending)
    assert guess.dimensions == ("industry", "region", "size")
    assert (guess.respondent, guess.holding, guess.request, guess.waiver) == ("firm", "group", "request", "waiver")
    assert guess.values[0] == "turnover"
    risk = assess_file(tmp_path / "job.toml")
    assert risk.table.variables == ("turnover",)
    assert [axis.name for axis in risk.table.axes] == ["industry", "region"]
    assert not any(name in text for name in ("F000001", "Alten", "C10"))


def test_records_without_a_code_are_a_category(tmp_path: Path) -> None:
    _, guess = drafted(tmp_path, {"area": ["N", "S", None] * 20, "amount": list(range(60))})
    assert guess.missing
    assert guess.respondent is None
    assert "(missing)" in assess_file(tmp_path / "job.toml").table.axes[0].labels


def test_without_numbers_the_table_counts(tmp_path: Path) -> None:
    text, guess = drafted(tmp_path, {"area": ["N", "S"] * 20, "size": [1, 2, 3, 4] * 10})
    assert guess.dimensions == ("area", "size")
    assert not guess.values
    assert "p-percent" not in text
    assert len(assess_file(tmp_path / "job.toml")) == 11


def test_numbers_with_gaps_or_without_end_are_no_values(tmp_path: Path) -> None:
    gaps = [float("nan"), 1.5] * 20
    _, guess = drafted(tmp_path, {"area": ["N", "S"] * 20, "a": gaps, "b": [None, 2] * 20, "c": list(range(40))})
    assert guess.values == ("c",)


def test_strange_names_do_no_harm(tmp_path: Path) -> None:
    names = ['the "area"', "value\n[rules]", "naïve.key", "back\\slash"]
    columns = [["N", "S"] * 20, list(range(40)), ["a", "b", "c", "d"] * 10, ["x", "y"] * 20]
    _, guess = drafted(tmp_path, dict(zip(names, columns, strict=True)))
    assert guess.dimensions == (names[0], names[2], names[3])
    job = read_job(tmp_path / "job.toml")
    assert job.tables[0].value == [names[1]]
    assert len(assess_file(tmp_path / "job.toml")) > 1


def test_data_without_a_classification_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"data\.parquet.*none looks like a classification"):
        drafted(tmp_path, {"amount": list(range(50))})
    with pytest.raises(DataError, match="has no rows"):
        drafted(tmp_path, {"amount": pa.array([], type=pa.int64())})
    with pytest.raises(DataError, match="does not exist"):
        draft(tmp_path / "nothing.parquet", tmp_path / "job.toml")


def test_the_path_is_relative_to_the_job_file(tmp_path: Path) -> None:
    drafted(tmp_path, {"area": ["N", "S"] * 20, "amount": list(range(40))})
    (tmp_path / "jobs").mkdir()
    text, _ = draft(tmp_path / "data.parquet", tmp_path / "jobs" / "job.toml", "./schema.json")
    assert 'file = "../data.parquet"' in text
    assert text.startswith("#:schema ./schema.json\n")


def test_the_schema_knows_every_section_and_says_what_options_mean() -> None:
    schema = job_schema()
    assert set(schema["properties"]) == {
        "data", "cells", "dimensions", "tables", "links", "rules", "assess", "attackers", "method", "methods",
        "limits", "output",
    }  # fmt: skip
    assert schema["additionalProperties"] is False
    method = schema["$defs"]["SuppressPart"]["properties"]
    assert {"$ref": "#/$defs/IntervalsPart"} in schema["properties"]["method"]["anyOf"]
    assert schema["properties"]["methods"]["properties"]["interval"] == {"$ref": "#/$defs/IntervalsPart"}
    assert "KeepPart" in schema["$defs"]
    assert method["at_most"]["description"] == "The most cells that may be hidden, the sensitive ones included."
    assert {"type": "string"} in schema["$defs"]["TablePart"]["properties"]["by"]["anyOf"]
    assert [kind["title"] for kind in schema["properties"]["rules"]["items"]["anyOf"]][:2] == [
        "min-frequency",
        "dominance",
    ]
    json.dumps(schema)
