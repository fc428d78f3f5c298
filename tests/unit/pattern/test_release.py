from __future__ import annotations

import gc
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from celosia import DataError, Pattern, Release, SpecError, Table, publish
from celosia.pattern.labels import Labels
from celosia.pattern.modes.adjusted import Adjusted
from celosia.pattern.modes.interval import Interval
from celosia.pattern.modes.perturbed import Perturbed
from celosia.pattern.modes.rounded import Rounded
from celosia.pattern.modes.suppressed import Suppressed
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations

Maker = Callable[[Sequence[object]], Table]


def fixed(*texts: str) -> Fixed:
    return Fixed.of_texts(texts)


def at(*cells: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(cells, dtype=np.int64)


def reachable(thing: object) -> Iterator[object]:
    """Yield every object that can be reached from one, classes and modules left out; arrays with what they view."""
    seen: set[int] = set()
    waiting = [thing]
    while waiting:
        found = waiting.pop()
        if id(found) in seen or isinstance(found, type):
            continue
        seen.add(id(found))
        yield found
        waiting += gc.get_referents(found)
        if isinstance(found, np.ndarray) and found.base is not None:
            waiting.append(found.base)


def every_mode(table: Table) -> Pattern:
    """Return a pattern of five cells, one in each mode but shown, which is the first."""
    return Pattern.of(
        table,
        Suppressed(at(1)),
        Interval(at(2), fixed("90"), fixed("200.5")),
        Rounded(at(3), fixed("100"), fixed("50"), table.decimals),
        Perturbed(at(4), fixed("120"), fixed("30")),
        Adjusted(at(5), fixed("100")),
    )


def content(release: Release) -> dict[str, Any]:
    """Return everything that a release is made of, types and bytes."""
    arrays = {
        "codes": release.codes,
        "variable": release.labels.variable,
        "status": release.status,
        "published": release.published.counts,
        "lower": release.lower.counts,
        "upper": release.upper.counts,
    }
    said = {name: (array.dtype, array.shape, array.tolist()) for name, array in arrays.items()}
    decimals = (release.decimals, release.lower.decimals, release.upper.decimals)
    return {**said, "decimals": decimals, "axes": release.axes, "variables": release.labels.variables}


# What is published


def test_a_release_has_what_each_mode_publishes(bare: Maker) -> None:
    release = publish(every_mode(bare([7, 101, 102, 103, 104, 105])))
    assert release.status.tolist() == ["shown", "hidden", "interval", "rounded", "perturbed", "adjusted"]
    assert release.has_value.tolist() == [True, False, False, True, True, True]
    assert release.published.texts() == ["7", "0", "0", "100", "120", "100"]
    lower, upper = release.bounds()
    assert lower.texts() == ["7", "-inf", "90", "51", "90", "-inf"]
    assert upper.texts() == ["7", "inf", "200.5", "149", "150", "inf"]
    assert release.decimals == lower.decimals == upper.decimals == 1
    assert release.criterion == "distance"
    assert repr(release) == (
        "Release(bare problem: 6 cells, 1 shown, 1 hidden, 1 interval, 1 rounded, 1 perturbed, 1 adjusted)"
    )
    assert release._repr_html_() == f"<pre>{release!r}</pre>"


def test_decimals_of_what_is_hidden_do_not_show(bare: Maker) -> None:
    release = publish(Pattern.hide(bare(["5", "1.2345", "7.5"]), [1]))
    assert release.decimals == 1


def test_a_release_of_hidden_cells_alone_has_no_decimals(bare: Maker) -> None:
    assert publish(Pattern.hide(bare(["5.5", "1.2345"]), [0, 1])).decimals == 0


# What must never leave the house


@pytest.mark.parametrize("others", [[111, 112, 113, 114, 115], [999, 200, 149, 150, -4], ["1e30", 90, 51, 90, "1e25"]])
def test_releases_of_tables_that_agree_in_what_is_published_are_equal(bare: Maker, others: list[object]) -> None:
    one = publish(every_mode(bare([7, 101, 102, 103, 104, 105])))
    other = publish(every_mode(bare([7, *others])))
    assert content(one) == content(other)
    assert pickle.dumps(one) == pickle.dumps(other)


def test_finer_decimals_of_hidden_cells_change_nothing(bare: Maker) -> None:
    one = publish(Pattern.hide(bare([7, 10, 20]), [1, 2]))
    other = publish(Pattern.hide(bare(["7", "1.23456", "1e20"]), [1, 2]))
    assert content(one) == content(other)


def test_congruent_tables_have_one_release(regions: Maker) -> None:
    one, other = regions([20, 9, 11, 12, 5, 7, 8, 4, 4]), regions([20, 9, 11, 12, 3, 9, 8, 6, 2])
    assert not other.relations.residuals(other.amounts.counts).any()
    releases = [publish(Pattern.hide(table, [4, 5, 7, 8])) for table in (one, other)]
    assert content(releases[0]) == content(releases[1])
    assert pickle.dumps(releases[0]) == pickle.dumps(releases[1])


def test_neither_the_table_nor_a_hidden_value_can_be_reached_from_a_release(regions: Maker) -> None:
    secret = 987_654_321
    table = regions([2 * secret, secret, secret, secret, secret - 7, 7, secret, 7, secret - 7])
    table = replace(table, notes=(f"secret {secret}",), extras={"value": table.amounts.counts})
    release = publish(Pattern.hide(table, [0, 1, 2, 3, 4, 6, 8]))
    assert set(np.concatenate([table.amounts.counts[[5, 7]], [0]])) == set(release.published.counts.tolist())
    confidential = (table.amounts.counts, table.codes, table.variable, table.relations.matrix)
    everything = list(reachable(release))
    assert sum(isinstance(found, np.ndarray) for found in everything) == 6
    for found in everything:
        assert not isinstance(found, Table | Pattern | Relations)
        assert not any(found is array for array in confidential)
        if isinstance(found, np.ndarray):
            assert found.base is None
            assert not np.isin([secret, 2 * secret, secret - 7], found).any()
        assert str(secret) not in repr(found)
    assert str(secret).encode() not in pickle.dumps(release)
    assert secret.to_bytes(8, "little") not in pickle.dumps(release)


def test_numbers_where_none_is_shown_are_wiped_out(bare: Maker) -> None:
    labels = Labels.of_table(bare([1, 2]))
    status = np.array(["hidden", "shown"])
    release = Release(labels, status, fixed("12.75", "3"), fixed("-inf", "3"), fixed("inf", "3"))
    assert release.published.texts() == ["0", "3"]
    assert release.decimals == 0


def test_changing_a_mode_later_does_not_change_the_release(bare: Maker) -> None:
    adjusted = fixed("5")
    release = publish(Pattern.of(bare([4, 4]), Adjusted(at(0), adjusted)))
    adjusted.counts[0] = 6
    assert release.published.texts() == ["5", "4"]


# What contradicts itself


def test_a_release_that_contradicts_itself_is_refused(bare: Maker) -> None:
    status = np.array(["shown", "hidden", "interval", "rounded", "adjusted", "secret", "perturbed", "shown"])
    published = fixed("1", "0", "0", "9", "5", "0", "1", "inf")
    lower = fixed("1", "0", "3", "1", "-inf", "-inf", "0", "inf")
    upper = fixed("2", "inf", "2", "8", "3", "inf", "inf", "inf")
    with pytest.raises(DataError) as caught:
        Release(Labels.of_table(bare([0] * 8)), status, published, lower, upper)
    assert [str(problem).split(".")[0] for problem in caught.value.problems] == [
        "cell 0: lower and upper differ from the number shown",
        "cell 1: lower or upper is given",
        "cell 2: lower is above upper",
        "cell 3: the published number lies outside lower ",
        "cell 4: lower or upper is given",
        "cell 5: the status is unknown",
        "cell 6: lower or upper is infinite",
        "cell 7: the published number is infinite",
    ]


def test_a_longer_word_is_not_cut_to_a_status(bare: Maker) -> None:
    with pytest.raises(DataError, match="the status is unknown"):
        Release(Labels.of_table(bare([0])), np.array(["perturbedly"]), fixed("0"), fixed("0"), fixed("0"))


def test_columns_of_different_lengths_are_refused(bare: Maker) -> None:
    with pytest.raises(SpecError, match="different lengths"):
        Release(Labels.of_table(bare([0])), np.array(["hidden"]), fixed("0", "1"), fixed("-inf"), fixed("inf"))


# Does it belong to the table?


def test_a_release_belongs_to_its_table_and_to_what_it_does_not_exclude(bare: Maker) -> None:
    release = publish(every_mode(bare([7, 101, 102, 103, 104, 105])))
    release.check(bare([7, 101, 102, 103, 104, 105]))
    release.check(bare([7, 0, "200.5", 149, 150, 0]))


def test_all_cells_that_the_table_refutes_are_named_without_their_values(bare: Maker) -> None:
    release = publish(every_mode(bare([7, 101, 102, 103, 104, 105])))
    with pytest.raises(DataError) as caught:
        release.check(bare([88888, 88888, 88888, 88888, 88888, 88888]))
    assert [str(problem) for problem in caught.value.problems] == [
        "cell 0: the number shown is not the table's. Is it that of another table?",
        "cell 2: what is published excludes the true value. Is it the release of another table?",
        "cell 3: what is published excludes the true value. Is it the release of another table?",
        "cell 4: what is published excludes the true value. Is it the release of another table?",
    ]


def test_cells_are_named_by_their_labels_the_first_twenty(regions: Maker, bare: Maker) -> None:
    release = publish(Pattern.hide(regions(range(9)), [0]))
    with pytest.raises(DataError, match=r"^North: the number shown is not the table's\.[^\n]*$"):
        release.check(regions([5, 1, 2, 33, 4, 5, 6, 7, 8]))
    with pytest.raises(DataError) as caught:
        publish(Pattern.of(bare(range(30)))).check(bare(range(1, 31)))
    assert str(caught.value.problems[20]) == "... and 10 more"


def test_the_truth_is_compared_exactly(bare: Maker) -> None:
    release = publish(Pattern.of(bare(["0.30000000000000001", "1e25"])))
    release.check(bare(["0.30000000000000001", "1e25"]))
    with pytest.raises(DataError, match="cell 0"):
        release.check(bare(["0.3", "1e25"]))
    with pytest.raises(DataError, match="cell 1"):
        release.check(bare(["0.30000000000000001", "10000000000000000000000001"]))


def test_another_number_of_cells_is_refused(bare: Maker) -> None:
    with pytest.raises(DataError, match="release: has 2 cells, and the table has 3"):
        publish(Pattern.of(bare([1, 2]))).check(bare([1, 2, 3]))


def test_other_labels_are_refused(regions: Maker) -> None:
    table = regions(range(9))
    release = publish(Pattern.of(table))
    turned = replace(table, axes=table.axes[::-1])
    with pytest.raises(DataError, match="column 'region' has another label"):
        release.check(turned)
    with pytest.raises(DataError, match=r"release: has an unknown column 'region'\. Did you mean 'regions'"):
        release.check(replace(table, axes=(replace(table.axes[0], name="regions"), table.axes[1])))


def test_the_alias_of_a_code_is_as_good_as_its_label(regions: Maker) -> None:
    table = regions(range(9))
    region = replace(table.axes[0], labels=("Total", "N", "South"), aliases=((), ("North",), ()))
    publish(Pattern.of(table)).check(replace(table, axes=(region, table.axes[1])))


def test_a_release_without_labels_is_compared_by_number(regions: Maker, bare: Maker) -> None:
    publish(Pattern.of(bare(range(9)))).check(regions(range(9)))
    publish(Pattern.of(regions(range(9)))).check(bare(range(9)))


# Frames


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_every_library_have_the_columns_of_the_file(regions: Maker, library: str) -> None:
    frame = publish(Pattern.hide(regions(range(9)), [4])).to_frame(library)
    assert type(frame).__module__.startswith(library)
    columns = frame.column_names if library == "pyarrow" else list(frame.columns)
    assert columns == ["cell", "region", "status_", "status", "published", "lower", "upper"]
    row = pa.table(frame).to_pylist()[4] if library != "pyarrow" else frame.to_pylist()[4]
    assert (row["cell"], row["region"], row["status_"], row["status"]) == (4, "North", "old", "hidden")
    assert row["published"] is None or np.isnan(row["published"])
    assert (row["lower"], row["upper"]) == (-np.inf, np.inf)


def test_a_frame_comes_back_in_the_library_of_the_data(bare: Maker) -> None:
    table = replace(bare([1]), library="polars")
    assert isinstance(publish(Pattern.of(table)).to_frame(), pl.DataFrame)
    with pytest.raises(SpecError):
        publish(Pattern.of(table)).to_frame("excel")
