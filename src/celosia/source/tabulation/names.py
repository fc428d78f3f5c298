"""Names of respondents become keys the moment they are read: 96 bits that tell them apart and say nothing else.

Two names fall on one key with a probability below 1e-13 at a hundred million names, and then count as one contributor,
which can only make a rule stricter where contributions are not negative.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from celosia.kernels import READ_ONLY, inner, kernel

_KEY_FACTOR = np.uint64(0xC6A4A7935BD1E995)
_SECOND_FACTOR = np.uint64(0x9FB21C651E98DF25)


def keys_of(column: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.bool_]]:  # noqa: ANN401  (pyarrow)
    """Return the two parts of every name's key, and which names are empty.

    Parameters
    ----------
    column
        An Arrow array of strings.
    """
    _, offsets, data = column.buffers()
    starts = np.frombuffer(offsets, dtype=np.int32)[column.offset : column.offset + len(column) + 1]
    text = np.frombuffer(b"" if data is None else data, dtype=np.uint8)
    key, second, empty = _keys(text, starts)
    if column.null_count:
        empty |= column.is_null().to_numpy(zero_copy_only=False)
    return key, second, empty


@kernel()
def _keys(
    text: Annotated[NDArray[np.uint8], READ_ONLY], starts: Annotated[NDArray[np.int32], READ_ONLY]
) -> tuple[NDArray[np.uint64], NDArray[np.uint32], NDArray[np.bool_]]:
    n = len(starts) - 1
    key = np.empty(n, dtype=np.uint64)
    second = np.empty(n, dtype=np.uint32)
    empty = np.zeros(n, dtype=np.bool_)
    for name in range(n):
        begin, end = starts[name], starts[name + 1]
        empty[name] = begin == end
        a = np.uint64(end - begin) * _KEY_FACTOR
        b = np.uint64(end - begin) ^ _SECOND_FACTOR
        place = begin
        while place < end:
            word = np.uint64(0)
            stop = min(place + 8, end)
            for byte in range(place, stop):
                word = (word << np.uint64(8)) | np.uint64(text[byte])
            place = stop
            a = (a ^ _mix(word * _KEY_FACTOR)) * _KEY_FACTOR
            b = (b ^ _mix(word * _SECOND_FACTOR)) * _SECOND_FACTOR
        key[name] = _mix(_mix(a) * _KEY_FACTOR)
        second[name] = np.uint32(_mix(_mix(b) * _SECOND_FACTOR) >> np.uint64(32))
    return key, second, empty


@inner(inline=True)
def _mix(word: np.uint64) -> np.uint64:
    return word ^ (word >> np.uint64(29)) ^ (word >> np.uint64(47))
