"""Where commands run: a folder with firms, a job that writes every kind of file, and a bare problem."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.oracles.firms_job import write_inputs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Go into a folder with the smallest inputs; modules with inputs of their own have another."""
    monkeypatch.chdir(tmp_path)
    write_inputs(tmp_path)
    return tmp_path
