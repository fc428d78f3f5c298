"""Cells as a job file names them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pydantic import TypeAdapter, ValidationError

from celosia import Hierarchy, SpecError, Table, tabulate
from celosia.job.sections.part import faults_of, place_of
from celosia.job.sections.selection import Bounds, Cells, Factors, Selection, Widths

ROWS = [("C10", "N", 5, 1), ("C11", "N", 6, 2), ("C11", "S", 7, 3), ("F", "S", 8, 4)]


@pytest.fixture
def table() -> Table:
    frame = pl.DataFrame(ROWS, schema=["industry", "region", "turnover", "export"], orient="row")
    industry = Hierarchy.from_dict({"C": ["C10", "C11"], "F": None})
    return tabulate(frame, by=["industry", "region"], value=["turnover", "export"], hierarchies={"industry": industry})


def read(written: object, kind: Any = Cells, folder: Path = Path()) -> Selection:  # noqa: ANN401  (an annotated type)
    selection: Selection = TypeAdapter(kind).validate_python(written, context={"folder": folder})
    return selection


def faults(written: object, kind: Any = Cells, folder: Path = Path()) -> list[str]:  # noqa: ANN401  (an annotated type)
    with pytest.raises(ValidationError) as caught:
        read(written, kind, folder)
    return [f"{place_of(fault.way)}: {fault.message} {fault.remedy}".strip() for fault in faults_of(caught.value)]


def labels(selection: Selection, table: Table) -> list[str]:
    return [table.label(int(cell)) for cell in selection.cells(table, "cells")]


def test_a_dimension_left_out_is_its_total(table: Table) -> None:
    assert labels(read([{"industry": "C", "variable": "turnover"}]), table) == ["turnover: C"]
    assert labels(read([{"industry": "C", "region": "N"}]), table) == ["turnover: C x N", "export: C x N"]


def test_lists_and_stars_name_many_cells(table: Table) -> None:
    chosen = read([{"industry": ["C10", "F"], "region": "*", "variable": "export"}])
    assert labels(chosen, table) == ["export: C10", "export: C10 x N", "export: F", "export: F x S"]
    several = read([{"industry": ["C10", "F"], "region": ["N", "S"], "variable": ["export"]}])
    assert labels(several, table) == ["export: C10 x N", "export: F x S"]


def test_entries_that_overlap_name_a_cell_once(table: Table) -> None:
    assert len(read([{"industry": "C"}, {"industry": "C"}]).cells(table, "cells")) == 2


def test_cells_go_by_their_numbers_too(table: Table) -> None:
    assert read([3, {"cell": 5}]).cells(table, "cells").tolist() == [3, 5]


def test_numbers_come_with_their_cells(table: Table) -> None:
    chosen = read([{"industry": "C", "factor": 2}, {"region": "N", "factor": 0.5}], Factors)
    assert [(len(cells), said) for cells, said in chosen.places(table, "factors")] == [
        (2, {"factor": 2.0}),
        (2, {"factor": 0.5}),
    ]


def test_what_the_table_does_not_have_is_said_all_at_once(table: Table) -> None:
    wrong = read(
        [{"industri": "C"}, {"industry": "C12"}, {"variable": "exports"}, 99, {"industry": "C10", "region": "S"}]
    )
    with pytest.raises(SpecError) as caught:
        wrong.cells(table, "method.must_show")
    assert [str(problem) for problem in caught.value.problems] == [
        "method.must_show[0].industri: is not a dimension of the table. Did you mean 'industry'?",
        "method.must_show[1].industry: has no code 'C12'. Did you mean 'C11'?",
        "method.must_show[2].variable: 'exports' is not a variable of the table. Did you mean 'export'?",
        "method.must_show[3]: there is no cell 99. Cells count from 0 to 25.",
        "method.must_show[4]: names no cell of the table. Cells without records do not exist.",
    ]


def test_a_file_names_cells_in_rows(table: Table, tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("industry;region;factor\nC10;N;2\n;S;3\n")
    chosen = read("cells.csv", Factors, tmp_path)
    assert chosen.file == tmp_path / "cells.csv"
    assert [said["factor"] for _, said in chosen.places(table, "factors")] == [2, 3]
    assert [table.label(int(cells[0])) for cells, _ in chosen.places(table, "factors")] == [
        "turnover: C10 x N",
        "turnover: S",
    ]


def test_a_wrong_row_of_a_file_is_named(table: Table, tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("industry,factor\nC10,two\nC11\nC10,1,1\n")
    path = str(tmp_path / "cells.csv")
    assert faults("cells.csv", Factors, tmp_path) == [
        f": {path!r}, row 1: 'factor' must be a number from zero up, not 'two'.",
        f": {path!r}, row 2: says nothing about its cells. Give 'factor'.",
        f": {path!r}, row 3: has more entries than columns.",
    ]
    (tmp_path / "cells.csv").write_text("industry\nC12\n")
    with pytest.raises(SpecError, match=r"cells\.csv, row 1\.industry: has no code 'C12'"):
        read("cells.csv", folder=tmp_path).cells(table, "cells")


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ([], ": must be a list of cells or the name of a file, not []."),
        (7, ": must be a list of cells or the name of a file, not 7."),
        ([-1], "[0]: must be the number of a cell, not -1. Cells count from 0."),
        ([True], "[0]: must name a cell, not true."),
        ([{"cell": "x"}], "[0].cell: must be the number of a cell, not 'x'."),
        ([{"industry": 10}], "[0].industry: must be a code in quotes or a list of them, not 10."),
        ("nowhere.csv", ": there is no file 'nowhere.csv'."),
    ],
)
def test_what_names_no_cell_is_refused(written: object, said: str) -> None:
    (found,) = faults(written)
    assert found.startswith(said)


def test_a_number_is_given_once_where_one_is_wanted() -> None:
    assert faults([{"width": 3, "percent": 4}, {}, {"width": -1}], Widths) == [
        "[0]: says two things about its cells. Give 'width' or 'percent'.",
        "[1]: says nothing about its cells. Give 'width' or 'percent'.",
        "[2].width: must be a number from zero up, not -1.",
    ]
    assert read([{"lower": -3, "upper": 4}], Bounds).entries[0].numbers == {"lower": -3, "upper": 4}
