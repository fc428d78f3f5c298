"""Blocks of a product of trees: the leaves below one parent in every dimension, with their margins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from celosia.protection.intervals.admm.product import Product


@dataclass(frozen=True, slots=True, eq=False)
class ProductBlock:
    """Leaves below one parent in every dimension, with their margins.

    Parameters
    ----------
    places
        The cells in the product, ``(k,)``.
    parents
        The block's own trees: a total and its parts in every dimension.
    inner
        Which cells are no margins, ``(k,)``.
    members
        Which targets lie in it.
    """

    places: NDArray[np.int64]
    parents: tuple[NDArray[np.int64], ...]
    inner: NDArray[np.bool_]
    members: NDArray[np.int64]


def blocks_of(product: Product, targets: NDArray[np.int64]) -> list[ProductBlock]:
    """Return the blocks in which targets lie that are leaves among leaves in every dimension.

    Guarantee: no cell is in two blocks, and inner cells are leaves, so a move among them that leaves the block's
    margins alone satisfies every relation of the product.
    """
    coordinates = np.unravel_index(targets, product.sizes)
    keys = np.stack([own[node] for own, node in zip(product.parents, coordinates, strict=True)], axis=1)
    good = np.all(keys >= 0, axis=1)
    for axis, parent in enumerate(product.parents):
        inside = np.zeros(len(parent) + 1, dtype=bool)  # the last for -1
        inside[parent[parent >= 0]] = True
        mixed = np.zeros(len(parent) + 1, dtype=bool)
        np.logical_or.at(mixed, parent[1:], inside[np.arange(1, len(parent))])
        good &= ~mixed[keys[:, axis]]
    blocks = []
    for key in np.unique(keys[good], axis=0):
        members = np.flatnonzero(good & np.all(keys == key, axis=1))
        nodes = [
            np.concatenate([[own], np.flatnonzero(parent == own)])
            for own, parent in zip(key.tolist(), product.parents, strict=True)
        ]
        places = np.ravel_multi_index(np.ix_(*nodes), product.sizes).ravel()
        inner = np.ones(1, dtype=bool)
        for own in nodes:
            inner = np.logical_and.outer(inner, np.arange(len(own)) > 0).ravel()
        blocks.append(
            ProductBlock(
                places,
                tuple(np.concatenate([[-1], np.zeros(len(own) - 1)]).astype(np.int64) for own in nodes),
                inner,
                members,
            )
        )
    return blocks
