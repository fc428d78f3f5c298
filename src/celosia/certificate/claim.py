"""What a certificate claims, in exact numbers: table, requirements, release, and the tables that prove them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from celosia.certificate.respondents.tables import TargetTables
from celosia.certificate.whole import Whole
from celosia.pattern.entries import STATUSES


@dataclass(frozen=True, slots=True, eq=False)
class RangeEnds:
    """One end of a range for every cell, in units of the last decimal.

    Parameters
    ----------
    given
        Where there is one, ``(n_cells,)``.
    counts
        The ends, ``(n_cells,)``, zero where there is none.
    """

    given: NDArray[np.bool_]
    counts: Whole


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """Whole numbers for some cells, part after part: relations, or tables.

    Parameters
    ----------
    starts
        Where each part begins, and at last where they end.
    cells, numbers
        The cells, those of a part in ascending order, and their numbers.
    """

    starts: NDArray[np.int64]
    cells: NDArray[np.int64]
    numbers: Whole

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Required:
    """What is required, an entry per requirement.

    Parameters
    ----------
    cells, attackers
        Of whom the requirement speaks.
    lower, upper, sliding
        LPL, UPL and SPL as counts, and what one stands for.
    """

    cells: NDArray[np.int64]
    attackers: NDArray[np.int64]
    lower: tuple[Whole, int]
    upper: tuple[Whole, int]
    sliding: tuple[Whole, int]

    def __len__(self) -> int:
        return len(self.cells)


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairs of tables, one that leads down and one that leads up: places among the tables, -1 for none.

    Parameters
    ----------
    down, up
        The places.
    """

    down: NDArray[np.int64]
    up: NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class JointTables:
    """Tables that protect respondents of linked tables from each other: joint cells move, too.

    Parameters
    ----------
    n_joint
        How many joint cells there are; their numbers follow those of cells.
    denominators, moves
        As in `Claim`.
    """

    n_joint: int
    denominators: Whole
    moves: Terms


@dataclass(frozen=True, slots=True, eq=False)
class Claim:
    """What a certificate says, in exact numbers.

    Parameters
    ----------
    content
        The file as it is.
    unit
        How many units of the last decimal make one; values, right sides and bounds count in these.
    values, relations, right
        The table.
    variable, codes
        What the cells are called: places among the variables, and among the labels of each axis.
    whole
        Which cells attackers are said to know to be whole numbers, ``(n_cells,)``.
    required
        The requirements.
    attackers
        The lower and upper ends that each attacker knows.
    status, published, bounds
        The release: places among `celosia.pattern.entries.STATUSES`, numbers shown, lower and upper ends.
    proofs
        The tables that prove each requirement.
    range_cells, ranges
        The cells whose published ranges are said to be reached, and the tables that reach them.
    contributors
        The tables that protect respondents from each other, rule by rule.
    denominators, moves
        The tables: moves away from the true values, and what those of each are divided by.
    joint
        Of linked tables, those to which `contributors` refers; None elsewhere, where these are among the others.
    """

    content: Mapping[str, Any]
    unit: int
    values: Whole
    relations: Terms
    right: Whole
    variable: NDArray[np.int64]
    codes: list[NDArray[np.int64]]
    whole: NDArray[np.bool_]
    required: Required
    attackers: list[tuple[RangeEnds, RangeEnds]]
    status: NDArray[np.int64]
    published: RangeEnds
    bounds: tuple[RangeEnds, RangeEnds]
    proofs: Pairs
    range_cells: NDArray[np.int64]
    ranges: Pairs
    contributors: tuple[tuple[TargetTables, ...], ...]
    denominators: Whole
    moves: Terms
    joint: JointTables | None = None

    def label(self, cell: int) -> str:
        """Return how people call a cell."""
        table = self.content["table"]
        codes = [int(codes[cell]) for codes in self.codes]
        said = [labels[code] for (_, labels), code in zip(table["axes"], codes, strict=True) if code]
        names = [table["variables"][self.variable[cell]], *said] if len(table["variables"]) > 1 else said
        return f"cell {cell} ({' x '.join(names)})" if names else f"cell {cell}"

    def of_status(self, *words: str) -> NDArray[np.bool_]:
        """Return which cells have one of these statuses."""
        return np.isin(self.status, [STATUSES.index(word) for word in words])


def cells_of(names: list[str], variables: list[str], variable: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return the cells of some variables, ``(n_cells,)``."""
    return np.isin(variable, [place for place, name in enumerate(variables) if name in names])
