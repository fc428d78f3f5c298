"""Where moves of few cells are worth it: known without loading what finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celosia.protection.engine.parameters import PARAMETERS, EngineParameters, MoveParameters

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.problem import ProtectionProblem


def is_worth_moves(problem: ProtectionProblem, parameters: MoveParameters = PARAMETERS.moves) -> bool:
    """Return whether a problem is a product of dimensions that are not too large, and is large itself."""
    product = problem.product
    if product is None or len(problem) < parameters.least_columns:
        return False
    return all(holding.shape[1] <= parameters.most_leaves for holding in product.holding)


def may_begin_with_moves(separator: Separator, parameters: EngineParameters = PARAMETERS) -> bool:
    """Return whether a problem is a product, no network, and of a size for which moves are worth it."""
    return is_worth_moves(separator.problem, parameters.moves) and not separator.is_network
