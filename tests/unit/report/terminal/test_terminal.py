from __future__ import annotations

import io
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from celosia.report.summary import summary
from celosia.report.terminal.assessment import panel

if TYPE_CHECKING:
    from celosia.risk.risk import Risk


def test_a_summary_fits_into_eighty_columns_with_all_its_figures(two_way: Risk) -> None:
    text = _printed(two_way)
    assert max(len(line) for line in text.splitlines()) <= 80
    for figure in ("3 of 24 cells are sensitive", "1 to be hidden", "1 to be shown", "fewer than 3 contributors"):
        assert figure in text
    assert "Two records had no region." in text


def test_words_in_square_brackets_are_no_markup(two_way: Risk) -> None:
    assert "[red] rule" in _printed(replace(two_way, rules=("[red] rule", "[/] other")))


def test_a_table_without_risk_is_said_to_be_so(two_way: Risk) -> None:
    text = _printed(replace(two_way, status=np.full(len(two_way), "s")))
    assert "0 of 24 cells are sensitive" in text
    assert "why" not in text


def test_bare_problems_and_linked_tables_show_too(bare: Risk, linked: Risk) -> None:
    assert "given as sensitive" in _printed(bare)
    assert "of export in the finest detail" in _printed(linked)


def _printed(risk: Risk) -> str:
    out = io.StringIO()
    Console(file=out, width=80, force_terminal=False).print(panel(summary(risk)))
    return out.getvalue()
