"""The one place that owns tolerances.

Values of a table are whole numbers of the last decimal (`celosia.table.fixed`), so additivity and ties need no
tolerance at all. What remains is how printed numbers may miss each other (every printed figure is off by up to half a
unit of its last decimal), and what counts as zero, reached or violated where programs are solved in doubles: the audit
has the last word on that.
"""

from __future__ import annotations

LARGEST_COUNT = 2**62
"""Sums of fixed-point counts stay below this, so that 64-bit integers hold them with room for one addition."""

ENDLESS = LARGEST_COUNT >> 2
"""Distances from here on, in counts, have no end; a sum of two of them still fits."""

MOST_DECIMALS = 9
"""Real-valued data (no decimal representation) are read on a grid of at most this many decimals."""

LEVEL_DECIMALS = 6
"""Protection levels are rounded up to a grid this many decimals finer than the table."""

COST_DECIMALS = 6
"""Costs with more decimals than this have no step of which all of them are multiples."""

EXACT_DOUBLE = 2**52
"""Whole numbers below this are doubles without loss."""

SUM_ROUNDING = 1e-9
"""More than what the rounding errors of a sum add up to, relative to the sizes of its terms: bounds and right sides of
cuts are lowered by it, so that they stay valid."""

COEFFICIENT_GRID = 1e-7
"""Coefficients of capacity cuts are rounded up to multiples of this: larger coefficients keep a cut valid."""

MULTIPLIER_GRID = 2.0**-40
"""Multipliers are rounded to this grid, so that sums over relations of a table are exact in doubles."""

MULTIPLIER_PARTS = 6
"""Before that, multipliers are tried as whole numbers of the smallest one divided by up to this."""

MULTIPLIER_ZERO = 1e-9
"""Multipliers of an attacker's program below this are zero."""

PIVOT_ZERO = 1e-6
"""Multipliers whose combination contains the cell itself by less than this say nothing about it."""

HIDDEN_ZERO = 1e-6
"""A cell that a point of the master hides by less is shown."""

HALF = 0.5
"""A cell that an integer solution hides by more is hidden: solvers return integers up to a tolerance."""

INTEGRAL = 1e-6
"""What is closer to a whole number than this is one."""

CUT_SATISFIED = 1e-6
"""A cut, or a further row of the master, that a pattern misses by less is satisfied; one with more slack is slack."""

CUT_VIOLATED = 1e-4
"""A cut that a fractional point violates by less is not worth adding: the master is solved to about 1e-7."""

LEVEL_REACHED = 1e-7
"""A protection level that is missed by less than this share is reached, as far as doubles can tell; the audit decides.
"""

LEVEL_EXCEEDED = 1e-5
"""A protection level that is exceeded by this share is reached whatever the rounding errors."""

WITNESS_REACHED = 1e-9
"""A witness that misses a level by less than this share reaches it."""

WITNESS_ZERO = 1e-9
"""A cell that a witness moves by less than this share of the level is not used; it may leave bounds by as much."""

MOVE_ZERO = 1e-7
"""A cell that a linear program moves by less than this share of the level is not used: solvers have tolerances."""

FLOW_ZERO = 1e-11
"""Less than this part of a level is no flow, and no residual capacity."""

UNBOUNDED = 1e15
"""Attackers' bounds without an end stop here, in parts of a level."""

SAME_COST = 1e-9
"""Two costs that are relatively closer than this are the same, where costs have no step."""

STEP_ROUNDING = 1e-6
"""By this part of a cost step a solver's bound may be too high."""

ONE_STEP = 1.001
"""A gap of so many cost steps is one step, whatever the rounding errors."""

BELOW_ONE_STEP = 0.99
"""The absolute gap of a tree, in cost steps: two solutions that are closer cost the same."""


def additivity_units(terms: int) -> float:
    """Return by how many units of the last decimal a relation of `terms` printed figures may miss.

    Each printed figure differs from the truth by at most half a unit, so a relation of `terms` figures misses by at
    most `terms` / 2 units; a table that misses by more is not additive.
    """
    return terms / 2
