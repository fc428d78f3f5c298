from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from celosia import SpecError
from celosia.job.demo.data import SIZE_CLASSES, firms, industry, region, size

if TYPE_CHECKING:
    from celosia.table.hierarchy import Hierarchy


@pytest.fixture(scope="module")
def register() -> list[dict[str, object]]:
    rows: list[dict[str, object]] = firms().to_pylist()
    return rows


def test_the_columns_are_those_of_a_business_register() -> None:
    table = firms(10)
    text, whole, flag = pa.string(), pa.int64(), pa.bool_()
    assert dict(zip(table.schema.names, table.schema.types, strict=True)) == {
        "firm": text,
        "group": text,
        "industry": text,
        "region": text,
        "size": text,
        "employees": whole,
        "turnover": whole,
        "export": whole,
        "waiver": flag,
        "request": flag,
    }


def test_the_same_seed_gives_the_same_firms_on_every_machine() -> None:
    told = json.dumps(firms(2_000, seed=7).to_pydict()).encode()
    assert hashlib.sha256(told).hexdigest() == "07db9c871cdd2ebb4c27cfc4dc324376254c7924ab45e2727bd67427d09d995f"


def test_another_seed_gives_other_firms() -> None:
    assert firms(100, seed=0).equals(firms(100, seed=0))
    assert not firms(100, seed=0).equals(firms(100, seed=1))


@pytest.mark.parametrize("rows", [1, 2, 5])
def test_a_register_may_be_tiny(rows: int) -> None:
    assert firms(rows).num_rows == rows


def test_no_firms_are_no_register() -> None:
    with pytest.raises(SpecError, match="rows: must be at least 1, not 0"):
        firms(0)


def test_every_code_is_a_leaf_of_its_classification(register: list[dict[str, object]]) -> None:
    for name, hierarchy in (("industry", industry()), ("region", region()), ("size", size())):
        leaves = {hierarchy.labels[node] for node, below in enumerate(hierarchy.children()) if not below}
        assert {row[name] for row in register} == leaves


def test_industries_go_three_levels_deep_and_regions_two() -> None:
    assert {len(path) for path in industry().paths()} == {0, 1, 2, 3}
    assert {len(path) for path in region().paths()} == {0, 1, 2}
    assert all(path[-1].startswith(path[0]) for path in industry().paths()[1:])
    below = region().children()
    assert len(below[0]) == 4
    assert {len(below[node]) for node in below[0]} <= {3, 4, 5}


def test_firms_are_unique_and_a_part_of_their_turnover_is_export(register: list[dict[str, object]]) -> None:
    assert len({row["firm"] for row in register}) == len(register)
    assert all(0 <= row["export"] <= row["turnover"] and row["turnover"] >= 1 for row in register)  # type: ignore[operator]


def test_the_size_class_follows_from_the_employees(register: list[dict[str, object]]) -> None:
    bounds = dict(zip(SIZE_CLASSES, ((0, 9), (10, 49), (50, 249), (250, 10**9)), strict=True))
    for row in register:
        least, most = bounds[str(row["size"])]
        assert least <= row["employees"] <= most  # type: ignore[operator]


def test_three_firms_in_ten_belong_to_holdings_of_several_firms(register: list[dict[str, object]]) -> None:
    sizes = Counter(row["group"] for row in register if row["group"] is not None)
    assert min(sizes.values()) >= 2
    assert sum(sizes.values()) / len(register) == pytest.approx(0.3, abs=0.02)


def test_holdings_spread_over_industries_and_regions(register: list[dict[str, object]]) -> None:
    reach: dict[object, set[tuple[object, object]]] = defaultdict(set)
    for row in register:
        reach[row["group"]].add((row["industry"], row["region"]))
    del reach[None]
    assert sum(len(places) > 1 for places in reach.values()) > 0.8 * len(reach)


def test_waivers_and_requests_are_rare_and_there(register: list[dict[str, object]]) -> None:
    for name in ("waiver", "request"):
        assert 0.001 < sum(bool(row[name]) for row in register) / len(register) < 0.02


def test_some_eight_to_fifteen_percent_of_the_cells_are_sensitive(register: list[dict[str, object]]) -> None:
    cells: dict[tuple[frozenset[str], frozenset[str]], dict[object, int]] = defaultdict(lambda: defaultdict(int))
    industries, regions = _holders(industry()), _holders(region())
    for row in register:
        for over in industries[str(row["industry"])]:
            for where in regions[str(row["region"])]:
                cells[over, where][row["group"] or row["firm"]] += int(row["turnover"])  # type: ignore[call-overload]
    assert 0.08 < sum(_within_ten_percent(list(cell.values())) for cell in cells.values()) / len(cells) < 0.15


def _holders(hierarchy: Hierarchy) -> dict[str, set[frozenset[str]]]:
    """Return for every leaf the nodes that hold it, each as its set of leaves: an only child is its parent."""
    leaves = [path for path, below in zip(hierarchy.paths(), hierarchy.children(), strict=True) if not below]
    return {
        leaf[-1]: {
            frozenset(other[-1] for other in leaves if other[:depth] == leaf[:depth]) for depth in range(len(leaf) + 1)
        }
        for leaf in leaves
    }


def _within_ten_percent(contributions: list[int]) -> bool:
    """Tell whether the second largest contributor knows the largest within ten percent: the p% rule with p = 10."""
    largest = sorted(contributions, reverse=True)
    return 10 * sum(largest[2:]) < largest[0]
