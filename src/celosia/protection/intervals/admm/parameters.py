"""Parameters of the splitting method (ADMM); what counts as zero stands in `celosia.tolerance`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from celosia.arguments import check_ranges


@dataclass(frozen=True, slots=True)
class SplittingParameters:
    """How the splitting method goes.

    Parameters
    ----------
    relaxation
        Over-relaxation, 1 to 2: between 1.5 and 1.8 it makes the method about a third faster.
    penalty
        The penalty rho, in mean costs over mean levels, above 0.
    clip_margin
        Share by which moves are clipped within the attacker's bounds, 0 to 1, so that projected ones soon lie within
        them.
    least_multiplier
        Multipliers whose cut has a right side below this share of the largest make no cut, 0 to 1.
    eigen_seconds
        Seconds that the eigenvectors of n cells take, over the cube of n, above 0: nothing interrupts them.
    best_gap
        The gap that splitting reaches in reasonable time, 0 to 1; for less there are cuts.
    largest
        Products with more cells times targets are solved by blocks, 1 or more: splitting keeps five doubles for each.
    steps_per_look
        Steps between two looks at ranges, 1 or more; bounds are computed every second time.
    fewest_steps, most_steps
        Steps that are taken even without time, and at most, 1 or more: by the first it is clear which cells matter, and
        nothing else is as quick.
    polishing_steps
        Steps that make ranges zero in cells that do not matter, 1 or more.
    polishes_late
        They are taken even without time, until ranges are safe: not where others find safe ranges.
    approach_share
        Share of the gap that is left to the first run, 0 to 1; the rest is for polishing.
    program_factor
        A linear program over the cuts, which takes as long as a hundred steps, is tried where the gap is no more than
        this factor too large, 1 or more: it mostly makes the gap smaller by that.
    stall
        It is also tried where the gap is still more than this share of the last one, 0 to 1.
    program_again
        The next one is tried after so many times as many steps, 1 or more.
    matters
        A cell matters that is clipped at more than this, in mean levels, 0 or more.
    reaches
        Where time is up and targets cannot move within the cells that matter, others join that move by more than this,
        in mean levels, 0 or more.
    least_coefficient
        Smaller coefficients are left out of the linear program, 0 or more; the bound is computed with them.
    """

    relaxation: float = 1.7
    penalty: float = 0.8
    clip_margin: float = 1e-3
    least_multiplier: float = 1e-4
    eigen_seconds: float = 2e-9
    best_gap: float = 1e-3
    largest: int = 20_000_000
    steps_per_look: int = 25
    fewest_steps: int = 100
    most_steps: int = 4000
    polishing_steps: int = 250
    polishes_late: bool = True
    approach_share: float = 0.9
    program_factor: float = 1.6
    stall: float = 0.97
    program_again: float = 1.3
    matters: float = 1e-6
    reaches: tuple[float, ...] = (np.inf, 0.1, 0.01, 0.0)
    least_coefficient: float = 1e-7

    def __post_init__(self) -> None:
        shares = "clip_margin", "least_multiplier", "best_gap", "approach_share", "stall"
        counts = "largest", "steps_per_look", "fewest_steps", "most_steps", "polishing_steps"
        ones = *counts, "program_factor", "program_again"
        check_ranges(self, relaxation=(1.0, 2.0), **dict.fromkeys(shares, (0.0, 1.0)), **dict.fromkeys(ones, (1, None)))


SPLITTING = SplittingParameters()
"""The parameters of the splitting method that suit all tables known so far."""
