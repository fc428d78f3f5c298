"""The orthogonal projection on the moves of a table, by its trees or by a basis."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.protection.intervals.admm.parameters import SPLITTING, SplittingParameters
from celosia.protection.intervals.admm.product import Product, gather, project
from celosia.solve import deadline
from celosia.tolerance import PROJECTION_ZERO


class ProductProjector:
    """The orthogonal projection on the moves of a product of trees, for many tables at once, ``(n, ...)``."""

    def __init__(self, product: Product) -> None:
        self._trees = product.arrays()
        self._leaves = product.leaves()

    def apply(self, x: NDArray[np.float64]) -> None:
        """Project in place."""
        project(x.reshape(-1), self._trees, x.size // len(x))

    def residuals(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by how much multipliers miss being combinations of relations, to be added to their sizes."""
        y = y.copy()
        gather(y.reshape(-1), self._trees, y.size // len(y))
        y[~self._leaves] = 0.0
        return np.asarray(np.abs(y))


class BasisProjector:
    """The orthogonal projection on the moves of relations of any kind, by an orthonormal basis, for few cells.

    Raises
    ------
    DeadlineError
        There is no time for the eigenvectors: nothing interrupts them.
    """

    def __init__(self, matrix: sp.csr_array, parameters: SplittingParameters = SPLITTING) -> None:
        if deadline.left() < parameters.eigen_seconds * float(matrix.shape[1]) ** 3:
            raise deadline.run_out()
        gram = (matrix.T @ matrix).toarray()
        values, vectors = np.linalg.eigh(gram)
        self._basis = np.ascontiguousarray(vectors[:, values < PROJECTION_ZERO * max(1.0, float(values[-1]))])

    def apply(self, x: NDArray[np.float64]) -> None:
        """Project in place."""
        flat = x.reshape(len(x), -1)
        flat[...] = self._basis @ (self._basis.T @ flat)
