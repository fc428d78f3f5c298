"""The one place that owns tolerances.

Values of a table are whole numbers of the last decimal (`celosia.table.fixed`), so additivity and ties need no
tolerance at all. What remains is how printed numbers may miss each other (every printed figure is off by up to half a
unit of its last decimal), and what counts as zero, reached or violated where programs are solved in doubles: the audit
has the last word on that.
"""

from __future__ import annotations

from fractions import Fraction

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

LARGEST_COORDINATE = 2**20
"""Entries of kernel coordinates stay below this: sums of products of two of them over all cells fit into 64 bits."""

KERNEL_ZERO = 1e-9
"""Entries of the kernel of a pattern below this are zero: they are ratios of small whole numbers."""

TABLEAU_ZERO = 1e-7
"""Entries of a tableau below this are zero: rounding errors of some hundred exchanges add up."""

LARGEST_IN_KERNEL = 2**31
"""Entries of an exact basis of the kernel of a pattern stay below this: 64 bits hold their products."""

PROPOSAL_MARGIN = 1e-4
"""By this share of levels and bounds witnesses that are proposed to the audit keep off them, so that their coordinates
can be rounded."""

EXACT_DOUBLE = 2**52
"""Whole numbers below this are doubles without loss."""

DOUBLE_ROUNDING = 1e-12
"""More than the rounding error of a single coefficient or of a projection, relative to the largest entry."""

SUM_ROUNDING = 1e-9
"""More than what the rounding errors of a sum add up to, relative to the sizes of its terms: bounds and right sides of
cuts are lowered by it, so that they stay valid."""

ROUNDED_COEFFICIENT = 1e-10
"""Share by which coefficients of rounded cuts are raised, and their right sides lowered: more than rounding errors."""

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
"""A choice that an integer solution makes by more is made: solvers return integers up to a tolerance."""

INTEGRAL = 1e-6
"""What is closer to a whole number than this is one."""

CUT_SATISFIED = 1e-6
"""A cut, or a further row of the master, that a pattern misses by less is satisfied; one with more slack is slack."""

CUT_VIOLATED = 1e-4
"""A cut that a fractional point violates by less is not worth adding: the master is solved to about 1e-7."""

CUT_VIOLATED_NEARBY = 1e-3
"""The same where the master is solved by a first-order method, whose points miss rows by about as much."""

LEVEL_REACHED = 1e-7
"""A protection level that is missed by less than this share is reached, as far as doubles can tell; the audit decides.
"""

LEVEL_EXCEEDED = 1e-5
"""A protection level that is exceeded by this share is reached whatever the rounding errors."""

LEVEL_REACHED_BY_CUTS = 1e-5
"""A master's point that violates no cut may miss a level by this share: cuts are rounded, and solvers have tolerances.
"""

WITNESS_REACHED = 1e-9
"""A witness that misses a level by less than this share reaches it."""

WITNESS_ZERO = 1e-9
"""A cell that a witness moves by less than this share of the level is not used; it may leave bounds by as much."""

LONGEST_MOVE = 1e5
"""No class need move further than this, in parts of a level, for a witness in the kernel of a pattern."""

MOVE_ZERO = 1e-7
"""A cell that a linear program moves by less than this share of the level is not used: solvers have tolerances."""

FLOW_ZERO = 1e-11
"""Less than this part of a level is no flow, and no residual capacity."""

UNBOUNDED = 1e15
"""Attackers' bounds without an end stop here, in parts of a level."""

FAR_BOUND = 1e9
"""Where a solver gives no answer, bounds of moves that lie so many levels away are taken for none."""

SAME_COST = 1e-9
"""Two costs that are relatively closer than this are the same, where costs have no step."""

STEP_ROUNDING = 1e-6
"""By this part of a cost step a solver's bound may be too high."""

ONE_STEP = 1.001
"""A gap of so many cost steps is one step, whatever the rounding errors."""

BELOW_ONE_STEP = 0.99
"""The absolute gap of a tree, in cost steps: two solutions that are closer cost the same."""

WITNESS_EXCEEDS = 1e-6
"""A witness that was scaled up may exceed the attacker's bounds by this share."""

HIDDEN_FULLY = 1e-9
"""A column whose hiding variable misses one by no more is hidden."""

LARGEST_CAPACITY = 1e9
"""Capacities of an attacker's columns end here, in units of slacks: no level needs more, doubles hold their sums."""

CAPACITY_IN_LEVELS = 2.0**20
"""In an attacker's linear program they end here, in levels: solvers cycle beside endless ones."""

SCALED_LEVEL = 64
"""Levels beyond are told to solvers as about so much: doubles hold capacities beside it to their tolerance of 1e-7."""

LEAST_MOVE = 1e-9
"""Flows are sent as far as this share of a level even where the cell itself cannot move."""

TREE_BOUND = 1e-5
"""By this share a bound that a branch-and-bound tree proves is lowered: it holds to the solver's tolerances."""

GAP_CLOSED = 1e-6
"""A gap of no more than this share is closed where nothing is whole: rounding ends to decimals costs as much."""

PROJECTION_ZERO = 1e-9
"""A cell that a projection moves by less, when it is pushed by one, is determined by the others; an eigenvalue below
this, relative to the largest, is zero."""

SHIFT_FEASIBLE = 1e-6
"""Shifts of ranges that miss whole numbers, or sums of zero, by no more than this share of their unit do not miss them.
"""

SHIFT_MARGIN = 1e-9
"""By this share of the widest range bounds of a shift are widened, so that rounding errors rule out none."""

END_ON_GRID = 1e-5
"""An end of a range that exceeds a point of the grid by no more, in its units, lies on it; the audit decides."""

END_ON_GRID_SHARE = 1e-9
"""The same relative to the slack."""

SEARCHED_END_ON_GRID_SHARE = 5e-7
"""The same for slacks that a search proposes, which reaches levels to no more than this share."""

NUMBER_ON_GRID = 1e-3
"""A slack next to rounded and perturbed numbers that is this close to the decimals of the table, in steps, is there."""

LEAST_WIDENING = 1e-7
"""Ranges that a program widens by less than this share of a step are not widened."""

SMALLEST_USUAL_SIDE, LARGEST_USUAL_SIDE = 2.0**-10, 2.0**20
"""Cuts whose right sides lie between these are given to solvers as they are; others are multiplied by powers of two."""

MOST_SCALING_BITS = 40
"""By no more than two to this power: coefficients of cuts are at most one, and solvers refuse more than 1e15."""

LEVEL_SPREAD = 2.0**8
"""No level is more than so many units of slacks."""

LARGEST_COST = 1e12
"""Costs of a master, of which the median is one, are no more than this for a solver."""

SMALLEST_COST = 1e-8
"""In a row that limits costs those below are left out: solvers would drop them."""

USUAL_ENTRIES = (2.0**-20, 2.0**30)
"""Rows of a formulation whose entries lie between these are given to solvers as they are; others are balanced."""

NEGLIGIBLE_LEVEL = 2.0**-28
"""Levels below this share of the largest are left to the placing of ranges: beside it a solver does not see them."""

LARGEST_STRETCH = Fraction(10001, 10000)
"""Witnesses that reach so much less than a level are stretched to it; where more is missing, others may cost less."""

NEW_RANGE_NOISE = 1e-6
"""A cell that a program of widening moves by less than this share of the level need not become a range for it."""

WIDENING_SHARE = 2.0**-34
"""Ranges that doubles call wide enough and the audit does not are widened by this share of their level, then more."""

WIDENING_GROWTH = 8.0
"""By so many times as much in every further round: a dozen rounds reach the level itself."""

LARGEST_WHOLE_LEVEL = 1e6
"""Levels of no more than so many whole numbers are widened to in whole numbers: solvers tell them from fractions."""

LARGEST_MOVE = 2**50
"""Moves of adjusted cells without an end stop here, in units: doubles hold the number exactly."""

BALANCE_VIOLATED = 1e-6
"""A balance row of an adjustment that a solution misses by less than this share of a unit is not worth adding."""

SIDE_REACHED = 1e-6
"""An adjusted cell closer to a side than this share of the gap between its sides has reached it."""

TERM_ROUNDING = 16 * 2.0**-53
"""A term of a bound by weak duality is off by no more than this share: a handful of operations on doubles."""

SMALLEST_WEIGHT, LARGEST_WEIGHT = 1e-12, 1e12
"""Weights of adjusted cells beyond these would be lost in floating point beside the others."""

BOUND_LOWERED = 1e-8
"""Bounds of linear programs are lowered by less than this share, so that they hold whatever doubles have rounded."""

GAP_IN_PRINT = 5e-5
"""A smaller gap is 0.00% in print."""

RANGE_OPTIMAL = 1e-5
"""A bound that is closer to the cost of ranges than this share is the optimum: their ends lie on decimals."""

SAME_RANGE_COST = 1e-6
"""Releases of ranges whose costs differ by no more than this share cost the same: ends are rounded to decimals."""

BOUND_ROUNDING = 1e-6
"""A solver's point may miss a whole number or an attacker's bound by this: exact arithmetic decides."""

BOUND_ROUNDING_SHARE = 1e-9
"""A solver's point may miss a large bound by this share of it: exact arithmetic decides."""

REDUCED_COST_ZEROS = (1e-7, 1e-10)
"""Reduced costs up to the first, then up to the second, are tried as zero: exact arithmetic decides."""

RAY_ZERO = 1e-7
"""A cell that a ray in a box of size one moves by less does not move along it."""

AGGREGATION_ZERO = 1e-7
"""Coefficients and multipliers of an aggregation up to this may be zero: exact arithmetic decides."""

EXCESS_ROUNDING = 1e-7
"""A solver's bound on the excess of an aggregation may be wrong by this share of the target's contribution."""

ROW_SATISFIED = 1e-6
"""A lazy row that a point violates by no more is satisfied: solvers do not tell such points apart."""


def additivity_units(terms: int) -> float:
    """Return by how many units of the last decimal a relation of `terms` printed figures may miss.

    Each printed figure differs from the truth by at most half a unit, so a relation of `terms` figures misses by at
    most `terms` / 2 units; a table that misses by more is not additive.
    """
    return terms / 2
