"""Tables without labels, relations of products of trees, and chance that is the same in every run."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import product

import numpy as np
import scipy.sparse as sp

from celosia import Table
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations

Tree = dict[int, list[int]]
"""The children of every parent; 0 is the total."""

FLAT_2: Tree = {0: [1, 2]}
FLAT_3: Tree = {0: [1, 2, 3]}
DEEP: Tree = {0: [1, 2], 1: [3, 4]}


def seeded(name: str) -> random.Random:
    """Return chance that is the same in every run."""
    return random.Random(name)  # noqa: S311


def lattice(trees: Sequence[Tree]) -> list[list[int]]:
    """Return the relations of a table whose dimensions are these trees."""
    nodes = [sorted({0, *(child for children in tree.values() for child in children)}) for tree in trees]
    place = {codes: k for k, codes in enumerate(product(*nodes))}
    rows = []
    for axis, tree in enumerate(trees):
        for parent, children in tree.items():
            for codes in product(*(codes for k, codes in enumerate(nodes) if k != axis)):
                row = [0] * len(place)
                row[place[*codes[:axis], parent, *codes[axis:]]] = -1
                for child in children:
                    row[place[*codes[:axis], child, *codes[axis:]]] = 1
                rows.append(row)
    return rows


def make_table(
    rows: Sequence[Sequence[int]], values: Sequence[int], *, decimals: int = 0, counts: bool = False
) -> Table:
    """Return the table with these relations; values are counts of the last decimal, or whole numbers by nature."""
    n = len(values)
    matrix = sp.csr_array(np.array(rows, dtype=np.int64).reshape(len(rows), n))
    amounts = Fixed(np.array(values, dtype=np.int64), decimals)
    return Table(
        axes=(),
        codes=np.zeros((n, 0), dtype=np.int32),
        variables=("value",),
        variable=np.zeros(n, dtype=np.int32),
        amounts=amounts,
        relations=Relations(matrix, np.asarray(matrix @ amounts.counts)),
        counts=frozenset({"value"} if counts else ()),
    )
