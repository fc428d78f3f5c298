"""Tabulation beside DuckDB's own GROUP BY of the leaf cells over the same Parquet file.

python -m benchmarks.tabulation floor|tabulate|contributions FILE      one measurement, in a process of its own
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import duckdb
import matplotlib as mpl
import matplotlib.pyplot as plt

import celosia as cz
from benchmarks.measure import Cost, apart, report, timed
from benchmarks.records import records
from benchmarks.registry import Row, benchmark

_SIZES = {1_000_000: 5, 10_000_000: 3}
_LARGE = 100_000_000
_PICTURE = Path(__file__).parent / "tabulation.svg"


@benchmark("tabulation")
def tabulation(*, smoke: bool) -> list[Row]:
    """Measure the ratio to the floor, the memory, and how both scale."""
    sizes = [100_000] if smoke else [*_SIZES, *([_LARGE] if "--large" in sys.argv else [])]
    costs = {rows: _beside(rows) for rows in sizes}
    rows = [row for size, (floor, ours) in costs.items() for row in _rows(size, floor, ours)]
    rows += [_contributions_row(size, ours) for size, (_, ours) in costs.items() if size < _LARGE]
    if not smoke:
        first, last = min(costs), max(costs)
        growth = costs[last][1].cpu / costs[first][1].cpu / (last / first)
        rows.append(
            Row(
                f"CPU per record, {last:.0e} against {first:.0e} rows",
                "linear: at most 1.5",
                f"{growth:.2f}",
                growth <= 1.5,
            )
        )
        _draw(costs)
    return rows


def _beside(rows: int) -> tuple[Cost, Cost]:
    path = str(records(rows))
    return apart("benchmarks.tabulation", "floor", path), apart("benchmarks.tabulation", "tabulate", path)


def _rows(size: int, floor: Cost, ours: Cost) -> list[Row]:
    name = f"tabulate {size:.0e} rows"
    ratio, wall = ours.cpu / floor.cpu, ours.wall / floor.wall
    said = f"{ratio:.1f} times in CPU ({ours.cpu:.2f} against {floor.cpu:.2f} s), {wall:.1f} in wall time"
    speed = f"{size / ours.wall / 1e6:.2f} million rows per second"
    rows = [
        Row(
            f"{name}: ratio to GROUP BY",
            "at most 4" if size == 10_000_000 else "",
            said,
            ratio <= 4 if size == 10_000_000 else None,
        )
    ]
    memory = {10_000_000: 1_500, _LARGE: 6_000}.get(size)
    rows.append(
        Row(
            f"{name}: peak memory",
            f"at most {memory} MB" if memory else "",
            f"{ours.peak:.0f} MB",
            ours.peak <= memory if memory else None,
        )
    )
    rows.append(Row(f"{name}: speed", "", speed))
    return rows


def _contributions_row(size: int, without: Cost) -> Row:
    kept = apart("benchmarks.tabulation", "contributions", str(records(size)))
    ratio = kept.cpu / without.cpu
    said = f"{ratio:.2f} times in CPU, and {kept.peak - without.peak:.0f} MB of peak memory on top"
    judged = size == 10_000_000
    name = f"tabulate {size:.0e} rows: single contributions kept"
    return Row(name, "at most 1.5 times" if judged else "", said, ratio <= 1.5 if judged else None)


def _draw(costs: dict[int, tuple[Cost, Cost]]) -> None:
    mpl.use("svg")
    figure, axes = plt.subplots(figsize=(6, 4))
    sizes = sorted(costs)
    axes.loglog(sizes, [costs[size][1].cpu for size in sizes], "o-", label="celosia: sums, contributors, largest")
    axes.loglog(sizes, [costs[size][0].cpu for size in sizes], "s--", label="DuckDB: GROUP BY leaf cells")
    axes.set_xlabel("records")
    axes.set_ylabel("CPU seconds")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(_PICTURE, metadata={"Date": None})


def _floor(path: str) -> Cost:
    connection = duckdb.connect()
    sql = f"SELECT industry, region, sum(turnover), count(*) FROM '{path}' GROUP BY ALL"
    connection.execute(sql).fetchall()
    return timed(lambda: connection.execute(sql).fetchall(), 3)


def _tabulate(path: str, *, contributions: bool = False) -> Cost:
    def run(file: str) -> None:
        cz.tabulate(
            file,
            by=["industry", "region"],
            value="turnover",
            respondent="firm",
            holding="holding",
            hierarchies={"industry": cz.Digits((1, 1, 1)), "region": cz.Digits((1, 1))},
            contributions=contributions,
        )

    run(str(records(10_000)))  # compiled code is loaded before the clock starts
    return timed(lambda: run(path), 1 if Path(path).stat().st_size > _LARGE else 3)


if __name__ == "__main__":
    ways: dict[str, Callable[[str], Cost]] = {
        "floor": _floor,
        "tabulate": _tabulate,
        "contributions": partial(_tabulate, contributions=True),
    }
    report(ways[sys.argv[1]](sys.argv[2]))
