"""Parameters of the joint search, and where it pays: known without loading it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celosia.protection.engine.cuts.separation import Separator
    from celosia.protection.engine.null_space.coordinates import KernelCoordinates


@dataclass(frozen=True, slots=True)
class JointParameters:
    """Effort of the search for joint moves.

    Parameters
    ----------
    least_columns
        Problems with fewer columns need no joint moves: a tree solves them sooner.
    largest_share, most_coordinates
        Degrees of freedom up to which joint moves are looked for, as a share of the columns (0 to 1), and in number:
        beyond that relations are sparser than kernel coordinates.
    least_moved, shrink, least_of_all
        Part of its level by which a joint move takes every target at least, so that it hardly meets a bound; it is
        multiplied by `shrink` whenever no move goes that far, and given up below the last. 0 to 1 each: the witness of
        a target is scaled up.
    chunk_growth
        Factor by which more targets get their direction in every program of a first move; 1 or more.
    most_simplex, most_crossed
        Degrees of freedom up to which joint programs are solved by the simplex method, and up to which by an
        interior-point method with a crossover, which takes a third of the time at 370 and half of it at 530. Above
        that they are solved without one, which takes a fifth of the time at 1,400. Each takes seconds there, so first
        moves are made of few.
    near_bounds
        With the interior-point method bounds are in the program from the start if they are less than so many times the
        longest move that is required.
    first_chunk, growth_of_many, least_moved_of_many
        For so many degrees of freedom: share of the targets that get their direction in the first program of a first
        move (0 to 1), the factor by which there are more in every further one, and the part of its level by which it
        takes every target (0 to 1).
    shortfall
        What falling short of that costs by unit, as a multiple of the median price: some directions contradict others.
    most_reweighted, damping_of_first, least_gain
        Programs with costs divided by how far each class moved that follow a first move, at most; what that division
        adds to moves, as a part of the mean required; and the share by which a pattern must get cheaper for another.
    few_targets, many_growth
        With more targets than this the other factor is used, so that there are about ten programs.
    price_of_moved
        What a class that moves already costs in the next program of a first move, as a part of its cost; 0 to 1.
    price_of_hidden
        What a hidden class costs in a program of the search, as a part of the median price: short moves are preferred.
    forgotten
        Shares of the hidden classes that a step forgets; one is drawn.
    spreads, raises
        Standard deviations of the logarithm of prices, and the most by which prices of forgotten classes rise, as
        multiples; one of each is drawn.
    reweighted
        Share of the steps whose program is solved once more with costs divided by how far each class moved; 0 to 1.
    damping
        Moves to which that division adds, as parts of the mean level; one is drawn.
    afresh
        Share of the steps that reweight the current move in place of forgetting classes; 0 to 1.
    least_group
        A group that costs less than this part of the pattern stays hidden in the search; 0 to 1. The last pattern is
        reduced without it.
    tolerated
        A pattern that is dearer than the best by no more than this part is still a place to go on from; 0 to 1. It
        falls to nothing while the time of the search passes.
    patience, most_idle
        Steps without a new place after which the search goes back to the best pattern, and steps without a better
        pattern after which it ends.
    starts, start_share, starting_share
        First moves with other directions from which the search starts, the share of its time that it takes for each of
        them, and the share for all together; it goes on from the best.
    most_annealed
        Degrees of freedom up to which patterns are annealed: the tableau has as many columns, and is made again and
        again. At 126 that is worth a tenth of the cost, at 370 joint moves do as well, at 530 it is too slow.
    annealing_share
        Share of the time of a search for simulated annealing of the best pattern; 0 to 1.
    annealings, restart_share
        Annealings among which that time is divided, the first from the best pattern, others from first moves; fewer
        where finding these would take more than this share of it (0 to 1). On tables of 126 degrees of freedom one
        annealing of 5 s ends within 5 % of the best of four.
    temperature
        The mean cost by which it lets a pattern get dearer at first, as a part of the cost; it falls to nothing.
    most_left_out, another
        Generators that a step leaves out, at most, and the chance that after each of them there is another (0 to 1). On
        tables of 126 degrees of freedom steps of 6 end a tenth above those of 40; more take too long each.
    contest
        Generators that are drawn for each that is left out: the one without which least is hidden in addition.
    spread_of_groups
        Standard deviation of the logarithm of costs by which groups are shown again: the dearest come first, mostly.
    steps_a_tableau, most_accepted, most_tableaux
        Steps with one tableau, and patterns that are accepted meanwhile, at most, and tableaux in one annealing:
        without a limit of time the temperature falls with their number.
    order_spread
        Standard deviation of the logarithm of costs by which the dearest shown classes become generators.
    least_annealed
        Part of its cost by which a pattern must be cheaper for its witnesses to be looked for during the annealing.
    detours
        Columns of a kernel's basis that are tried as detours round a group.
    least_rerouted
        Part of its level that a witness keeps when it is led round a group, at least; 0 to 1.
    tight_groups
        Groups whose bounds are in a witness program from the start, as a multiple of its degrees of freedom.
    least_common, common_share
        Targets without a witness for which one program finds a common move, at least; and the share of them that it may
        leave without one for another such program to follow (0 to 1).
    most_extended
        Targets without a witness in the support of a joint move that get a least-cost program of their own in the
        search; with more the step is given up. A first pattern is extended for all.
    most_reduced
        Degrees of freedom of a constructed pattern up to which it is reduced in its kernel: programs there have dense
        columns of that length, and beyond that relations are quicker.
    """

    least_columns: int = 250
    largest_share: float = 0.6
    most_coordinates: int = 3000
    least_moved: float = 0.2
    shrink: float = 0.3
    least_of_all: float = 1e-6
    chunk_growth: float = 1.6
    most_simplex: int = 250
    most_crossed: int = 600
    near_bounds: float = 3.0
    first_chunk: float = 0.02
    growth_of_many: float = 4.0
    least_moved_of_many: float = 0.03
    shortfall: float = 1e4
    most_reweighted: int = 4
    damping_of_first: float = 0.02
    least_gain: float = 0.005
    few_targets: int = 150
    many_growth: float = 3.0
    price_of_moved: float = 0.05
    price_of_hidden: float = 1e-7
    forgotten: tuple[float, ...] = (0.01, 0.03, 0.08, 0.2, 0.5)
    spreads: tuple[float, ...] = (0.0, 0.15, 0.4, 0.8)
    raises: tuple[float, ...] = (0.2, 2.0, 10.0)
    reweighted: float = 0.6
    damping: tuple[float, ...] = (0.02, 0.1, 0.5)
    afresh: float = 0.3
    least_group: float = 0.002
    tolerated: float = 0.015
    patience: int = 20
    most_idle: int = 60
    starts: int = 6
    start_share: float = 0.06
    starting_share: float = 0.4
    most_annealed: int = 200
    annealing_share: float = 0.9
    annealings: int = 4
    restart_share: float = 0.1
    temperature: float = 0.02
    most_left_out: int = 40
    another: float = 0.95
    contest: int = 6
    spread_of_groups: float = 0.3
    steps_a_tableau: int = 25
    most_accepted: int = 100
    most_tableaux: int = 60
    order_spread: float = 0.3
    least_annealed: float = 0.01
    detours: int = 6
    least_rerouted: float = 0.02
    tight_groups: int = 3
    least_common: int = 4
    common_share: float = 0.7
    most_extended: int = 3
    most_reduced: int = 600


PARAMETERS = JointParameters()


def has_few_coordinates(
    separator: Separator, coordinates: KernelCoordinates | None, parameters: JointParameters = PARAMETERS
) -> bool:
    """Return whether joint moves pay: many columns, far fewer degrees of freedom, no network, no conditional level."""
    if coordinates is None or separator.is_network or not len(separator.sides):
        return False
    n, d = coordinates.combinations.shape
    certain = bool(separator.problem.forced[separator.sides.columns].all())
    return (
        certain
        and n >= parameters.least_columns
        and d <= min(parameters.largest_share * n, parameters.most_coordinates)
    )
