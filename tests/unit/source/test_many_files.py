"""Folders, patterns and addresses of files are read like one file."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

import celosia as cz
from celosia.cli.main import status


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "SELECT (i % 3)::VARCHAR AS industry, i AS turnover, 2020 + i % 2 AS year FROM range(12) t(i)"
    duckdb.execute(f"COPY ({rows}) TO '{tmp_path / 'firms'}' (FORMAT parquet, PARTITION_BY (year))")
    return tmp_path / "firms"


def test_a_folder_is_read_with_the_codes_of_its_folders(folder: Path) -> None:
    for given in (folder, str(folder), f"{folder}/*/*.parquet"):
        table = cz.tabulate(given, by=["industry", "year"], value="turnover")
        assert len(table) == 12
        assert table.amounts.counts[0] == 66
    assert cz.tabulate(f"{folder}/year=2020/*.parquet", by=["industry"], value="turnover").amounts.counts[0] == 30


def test_a_folder_without_files_is_said(tmp_path: Path) -> None:
    with pytest.raises(cz.DataError, match=r"cannot be read: IO Error: No files found"):
        cz.tabulate(tmp_path, by=["industry"])


@pytest.mark.parametrize(
    ("address", "extension"), [("s3://bucket/firms/*.parquet", "httpfs"), ("az://firms/a.parquet", "azure")]
)
def test_an_extension_that_is_not_installed_is_said(address: str, extension: str) -> None:
    with pytest.raises(cz.DataError) as caught:
        cz.tabulate(address, by=["industry"])
    said = f"{address}: needs DuckDB's extension {extension}, which is not installed on this machine. "
    assert str(caught.value) == said + f"Let somebody with a network run INSTALL {extension} in DuckDB."


def test_a_job_reads_a_folder(folder: Path) -> None:
    job = folder.with_name("job.toml")
    job.write_text(
        """
        [data]
        file = "firms"

        [dimensions.industry]

        [[tables]]
        by = ["industry"]
        value = "turnover"

        [[rules]]
        rule = "min-frequency"
        n = 3
        """
    )
    assert status(["assess", str(job), "--quiet"]) == 0
