from __future__ import annotations

import pyarrow as pa

from celosia.source.tabulation.names import keys_of


def distinct(names: list[str]) -> int:
    key, second, _ = keys_of(pa.array(names))
    return len(set(zip(key.tolist(), second.tolist(), strict=True)))


def test_equal_names_have_equal_keys_wherever_they_stand() -> None:
    key, second, empty = keys_of(pa.array(["Müller", "x", "Müller", "a name of more than eight letters", "x"]))
    assert key[0] == key[2]
    assert second[0] == second[2]
    assert key[1] == key[4]
    assert not empty.any()


def test_names_that_differ_in_anything_have_different_keys() -> None:
    names = [
        "a",
        "A",
        "a ",
        " a",
        "",
        "ab",
        "ba",
        "abcdefgh",
        "abcdefg",
        "abcdefghabcdefgh",
        "abcdefghi",
        "\x00",
        "\x00\x00",
    ]
    names += [f"firm {number}" for number in range(50_000)]
    names += [f"{number:012d}" for number in range(50_000)]
    assert distinct(names) == len(names)


def test_names_that_differ_in_one_bit_of_a_far_word_have_different_keys() -> None:
    stem = "0" * 64
    names = [stem[:place] + "1" + stem[place + 1 :] for place in range(64)]
    assert distinct([*names, stem]) == 65


def test_empty_names_and_none_are_told() -> None:
    _, _, empty = keys_of(pa.array(["a", None, ""]))
    assert empty.tolist() == [False, True, True]


def test_a_slice_of_a_column_has_the_keys_of_its_own_names() -> None:
    whole = pa.array(["a", "b", None, "c", "d"])
    key, _, empty = keys_of(whole)
    part, _, gaps = keys_of(whole.slice(1, 3))
    assert part.tolist() == key[1:4].tolist()
    assert gaps.tolist() == empty[1:4].tolist()


def test_a_column_of_empty_names_only() -> None:
    _, _, empty = keys_of(pa.array([None, None], type=pa.string()))
    assert empty.tolist() == [True, True]
