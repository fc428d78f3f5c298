"""The sections of methods that publish a number for every cell, and not always the true one."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from celosia.errors import SpecError
from celosia.job.methods.section import MethodPart
from celosia.job.sections.selection import Bases, Cells
from celosia.job.sections.tables import CostText, Decimals
from celosia.protection.adjustment.method import Adjust
from celosia.protection.perturbation.method import Perturb
from celosia.protection.random_rounding.method import MOST_DRAWS, RandomRound
from celosia.protection.rounding.method import Round
from celosia.risk.risk import Risk


class PerturbPart(MethodPart):
    """``name = "perturb"``: publish values near the true ones, with their reach, additively; see `celosia.Perturb`.

    Parameters
    ----------
    name
        The method.
    reach
        How far published values may be from true ones; readers are told.
    move
        How far sensitive cells are moved at least; by default by their protection level.
    side
        To which side sensitive cells are moved: a known side gives an end of the range away.
    up, down
        Sensitive cells that are moved to this side.
    cost
        What a unit of distance from the true value costs in a cell: unity, value, frequency, log, sums of them.
    at_most
        At most so many cells are published with another value.
    must_show
        Cells that are published as they are.
    decimals
        Of the published values; by default those of the table.
    secret
        The seed of random sides, which must stay secret; by default drawn afresh.
    zeros_known
        Everybody knows which cells are zero.
    """

    kind = Perturb
    renamed = {"must_show": "frozen"}  # noqa: RUF012  (a constant of the class)
    name: Literal["perturb"] = "perturb"
    reach: float | None = None
    move: float | None = None
    side: Literal["random", "up", "down"] = "random"
    up: Cells | None = None
    down: Cells | None = None
    cost: CostText | None = None
    at_most: Annotated[int, Field(ge=0)] | None = None
    must_show: Cells | None = None
    decimals: Decimals | None = None
    secret: Annotated[int, Field(ge=0)] | None = None
    zeros_known: bool = False

    def adapted(self, options: dict[str, Any], risk: Risk) -> dict[str, Any]:
        """Return the sides of single cells as the method takes them."""
        up, down = (options.pop(side, np.zeros(0, dtype=np.int64)) for side in ("up", "down"))
        both = np.intersect1d(up, down)
        if len(both):
            label = risk.table.label(int(both[0]))
            raise SpecError.one("method.up", f"{label} is in up and in down.", "Take it out of one of them.")
        return options | {"sides": dict.fromkeys(up.tolist(), "up") | dict.fromkeys(down.tolist(), "down")}


class AdjustPart(MethodPart):
    """``name = "adjust"``: move sensitive cells far enough, and all others as little as possible; see `celosia.Adjust`.

    What protects is distance from the truth: nothing is said about what attackers can conclude.

    Parameters
    ----------
    name
        The method.
    norm
        1 for the sum of weighted deviations, 2 for the sum of their squares.
    weight
        What a deviation weighs: the same in every cell, or by the inverse of the value or of its root.
    totals
        Which totals are published as they are: none, the grand ones, or all.
    must_show
        Cells that are published as they are.
    keep_zeros
        Zeros stay zeros.
    decimals
        Of the published values; by default those of the table.
    """

    kind = Adjust
    renamed = {"must_show": "keep"}  # noqa: RUF012  (a constant of the class)
    criterion = "distance"
    name: Literal["adjust"] = "adjust"
    norm: Literal[1, 2] = 1
    weight: Literal["1", "1/a", "1/sqrt(a)"] = "1/a"
    totals: Literal["free", "grand", "all"] = "free"
    must_show: Cells | None = None
    keep_zeros: bool = False
    decimals: Decimals | None = None


class RoundPart(MethodPart):
    """``name = "round"``: round every cell to a multiple of a base next to it, additively; see `celosia.Round`.

    Parameters
    ----------
    name
        The method.
    base
        Values are rounded to multiples of it.
    bases
        Bases of their own for some cells.
    cost
        What a unit of distance from the true value costs in a cell: unity, value, frequency, log, sums of them.
    must_show
        Cells that are published as they are.
    extra
        How many multiples further than to the next one values may be rounded; by default as few as needed.
    relax_levels
        Ask for less where no rounding meets all protection levels; the result is not safe then.
    zeros_known
        Everybody knows which cells are zero.
    """

    kind = Round
    renamed = {"must_show": "frozen"}  # noqa: RUF012  (a constant of the class)
    name: Literal["round"] = "round"
    base: float = 5
    bases: Bases | None = None
    cost: CostText | None = None
    must_show: Cells | None = None
    extra: Annotated[int, Field(ge=0)] | None = None
    relax_levels: bool = False
    zeros_known: bool = False

    def adapted(self, options: dict[str, Any], risk: Risk) -> dict[str, Any]:
        """Return one base per cell where some have their own."""
        own = options.pop("bases", None)
        if own is None:
            return options
        return options | {"base": [own.get(cell, Fraction(repr(self.base))) for cell in range(len(risk))]}


class RandomRoundPart(MethodPart):
    """``name = "random-round"``: round up or down at random, right on average; see `celosia.RandomRound`.

    What is drawn comes from the seed in ``[limits]``, which is a secret then; by default a fresh one is drawn.

    Parameters
    ----------
    name
        The method.
    base
        Values are rounded to multiples of it.
    scheme
        Round sensitive cells and move others a little, round every cell by itself, or round so that all adds up.
    keep_totals
        Totals are published as they are, where sensitive cells are rounded.
    reach
        How far published values may be from true ones, where sensitive cells are rounded; by default below the base.
    draws
        So many sets of rounded values are drawn at most.
    """

    kind = RandomRound
    name: Literal["random-round"] = "random-round"
    base: float | None = None
    scheme: Literal["sensitive", "plain", "controlled"] = "sensitive"
    keep_totals: bool = True
    reach: float | None = None
    draws: Annotated[int, Field(ge=1)] = MOST_DRAWS
