from __future__ import annotations

import pytest

from celosia import DataError, Hierarchy
from celosia.table.dimension import Dimension


def names(dimension: Dimension) -> list[tuple[str, ...]]:
    return [dimension.axis.names(node) for node in range(len(dimension))]


def labels(dimension: Dimension, nodes: list[int]) -> frozenset[str]:
    return frozenset(dimension.axis.labels[node] for node in nodes)


def leaf_sets(dimension: Dimension) -> dict[str, set[str]]:
    """Return the labels of the leaves below every node."""
    starts, holders = dimension.holders
    found: dict[str, set[str]] = {label: set() for label in dimension.axis.labels}
    for leaf, node in enumerate(dimension.leaves.tolist()):
        for holder in holders[starts[leaf] : starts[leaf + 1]].tolist():
            found[dimension.axis.labels[holder]].add(dimension.axis.labels[node])
    return found


def test_nodes_leaves_and_sums_of_a_ragged_tree() -> None:
    dimension = Dimension.of("region", [Hierarchy.from_dict({"N": ["N1", "N2"], "S": None})])
    assert dimension.name == "region"
    assert dimension.axis.labels == ("Total", "N", "N1", "N2", "S")
    assert dimension.axis.depths == (0, 1, 2, 2, 1)
    assert [dimension.axis.labels[node] for node in dimension.leaves] == ["N1", "N2", "S"]
    assert dimension.leaf_of.tolist() == [-1, -1, 0, 1, 2]
    assert [(parent, children.tolist()) for parent, children in dimension.sums] == [(0, [1, 4]), (1, [2, 3])]
    assert leaf_sets(dimension) == {
        "Total": {"N1", "N2", "S"},
        "N": {"N1", "N2"},
        "N1": {"N1"},
        "N2": {"N2"},
        "S": {"S"},
    }


def test_a_single_child_is_the_same_node_as_its_parent() -> None:
    dimension = Dimension.of("x", [Hierarchy.from_dict({"A": {"A1": {"A11": None}}, "B": ["B1", "B2"]})])
    assert names(dimension) == [("Total",), ("A", "A1", "A11"), ("B",), ("B1",), ("B2",)]
    assert dimension.nodes_of["A11"] == dimension.nodes_of["A"] == (1,)


def test_a_single_code_is_the_total() -> None:
    assert names(Dimension.of("x", [Hierarchy.flat(["only"])])) == [("Total", "only")]


def test_the_same_code_in_two_branches_goes_by_its_path() -> None:
    dimension = Dimension.of("x", [Hierarchy.from_dict({"A": ["1", "2"], "B": ["1", "3"], "C": None})])
    assert dimension.axis.labels == ("Total", "A", "A / 1", "2", "B", "B / 1", "3", "C")
    assert len(dimension.nodes_of["1"]) == 2
    assert dimension.node_of_path["B", "1"] == 5


def test_a_code_that_is_called_like_the_total() -> None:
    dimension = Dimension.of("x", [Hierarchy.flat(["Total", "a"])])
    assert dimension.axis.labels == ("Total", "Total / Total", "a")


def test_several_hierarchies_share_total_leaves_and_equal_groups() -> None:
    eu = Hierarchy.from_dict({"EU": ["FR", "DE"], "other": ["NO", "US"]})
    continents = Hierarchy.from_dict({"Europe": {"Union": ["DE", "FR"], "NO": None}, "America": ["US"]})
    dimension = Dimension.of("country", [eu, continents])
    assert set(names(dimension)) == {
        ("Total",), ("EU", "Union"), ("FR",), ("DE",), ("other",), ("NO",), ("America", "US"), ("Europe",)
    }  # fmt: skip
    assert leaf_sets(dimension)["Europe"] == {"FR", "DE", "NO"}
    assert leaf_sets(dimension)["other"] == {"NO", "America"}
    assert {
        (dimension.axis.labels[parent], labels(dimension, children.tolist())) for parent, children in dimension.sums
    } == {
        ("Total", frozenset(["EU", "other"])),
        ("EU", frozenset(["FR", "DE"])),
        ("other", frozenset(["NO", "America"])),
        ("Total", frozenset(["Europe", "America"])),
        ("Europe", frozenset(["EU", "NO"])),
    }


def test_several_hierarchies_must_have_the_same_total_and_leaves() -> None:
    first = Hierarchy.flat(["a", "b"])
    second = Hierarchy.from_dict({"g": ["a", "c", "c2"], "h": ["c"]}, total="All")
    with pytest.raises(DataError) as caught:
        Dimension.of("x", [first, second])
    said = str(caught.value)
    assert len(caught.value.problems) == 3
    assert all(problem.place == "hierarchies of 'x'" and problem.remedy for problem in caught.value.problems)
    assert "different totals, 'Total' and 'All'" in said
    assert "number 2 has leaves of the same code: 'c'" in said
    assert "number 1 and number 2 do not have the same leaves: 'b', 'c', 'c2'" in said


def test_partial_is_remembered() -> None:
    assert Dimension.of("x", [Hierarchy.flat(["a", "b"], partial=True)]).partial
    assert not Dimension.of("x", [Hierarchy.flat(["a", "b"])]).partial


@pytest.mark.parametrize(
    "hierarchies",
    [
        [Hierarchy.from_dict({"A": ["B", "D"], "C": ["B", "E"], "A / B": None})],
        [Hierarchy.from_dict({"Total": ["1", "2"], "1": None})],
        [Hierarchy.from_dict({"g": ["a", "b"], "c": None}), Hierarchy.from_dict({"g": ["b", "c"], "a": None})],
    ],
    ids=["a code that looks like a path", "a code called like the total", "one group code, two meanings"],
)
def test_labels_are_unique_or_the_hierarchies_are_refused(hierarchies: list[Hierarchy]) -> None:
    try:
        dimension = Dimension.of("x", hierarchies)
    except DataError:
        return
    assert len(set(dimension.axis.labels)) == len(dimension)


def test_a_code_that_a_hierarchy_has_twice_under_one_parent_is_summed_once() -> None:
    """`with_code` may add a code that is there already: a missing category in data that have such a code."""
    dimension = Dimension.of("x", [Hierarchy.flat(["a", "(missing)"]).with_code("(missing)")])
    assert [sorted(children.tolist()) for _, children in dimension.sums] == [[1, 2]]
