"""An invented business register: generated firms for the demo, the documentation and the tests.

The figures are invented, the shape is that of real business statistics: many small firms and a few giants, industries
of very different size, and holdings that reach over several industries and regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from celosia.errors import SpecError
from celosia.table.hierarchy import Hierarchy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

SIZE_CLASSES = ("0-9", "10-49", "50-249", "250+")
"""Classes of employees, smallest first."""

_SIZE_STARTS = (10, 50, 250)

_PROVINCES = {
    "Norder": ("Alten", "Brink", "Dunmark", "Eikland"),
    "Ostmere": ("Falkau", "Garsten", "Holm"),
    "Sundal": ("Ivarsund", "Jorvik", "Kestrel", "Lindau", "Marsk"),
    "Westra": ("Nessel", "Orten", "Pellwerk"),
}
_PROVINCE_WEIGHTS = (9, 6, 3, 4, 12, 3, 6, 16, 8, 4, 5, 2, 10, 7, 5)


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of the economy.

    Parameters
    ----------
    letter
        Its code.
    firms
        Its weight in the number of firms.
    output
        Turnover per employee, in thousands.
    exporting
        The share of its firms that export.
    groups
        Its groups (``10.1``), and divisions that are not split further (``13``).
    """

    letter: str
    firms: int
    output: int
    exporting: float
    groups: str

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Yield the path from the section to every leaf: ``("C", "C10", "C10.1")``."""
        for code in self.groups.split():
            division = code.partition(".")[0]
            path = (self.letter, self.letter + division)
            yield path if code == division else (*path, self.letter + code)


_SECTIONS = (
    _Section("B", 1, 260, 0.3, "08.1 08.9 09"),
    _Section(
        "C",
        24,
        210,
        0.5,
        "10.1 10.5 10.7 10.8 11 13 16.1 16.2 20.1 20.4 20.5 22.1 22.2 24.1 24.4 24.5 25.1 25.5 25.6 25.9 "
        "26.1 26.5 28.1 28.2 28.9 29.1 29.3 31",
    ),
    _Section("D", 1, 900, 0.1, "35.1 35.3"),
    _Section("E", 2, 230, 0.1, "36 38.1 38.2 38.3"),
    _Section("F", 16, 160, 0.05, "41 42.1 42.2 43.1 43.2 43.3 43.9"),
    _Section("G", 26, 420, 0.25, "45.1 45.2 45.3 46.2 46.3 46.4 46.6 46.7 47.1 47.2 47.5 47.7"),
    _Section("H", 7, 180, 0.3, "49.3 49.4 50 52.1 52.2 53"),
    _Section("I", 10, 60, 0.02, "55.1 55.2 56.1 56.2 56.3"),
    _Section("J", 6, 190, 0.35, "58.1 58.2 61 62 63"),
    _Section("M", 12, 120, 0.15, "69.1 69.2 70.1 70.2 71.1 71.2 73"),
    _Section("N", 6, 80, 0.05, "77 79 81.1 81.2 81.3"),
)

_EMPLOYEES_TAIL = 1.1
_MOST_EMPLOYEES = 6_000
_OUTPUT_SPREAD = 0.6  # standard deviation of log turnover per employee
_IN_HOLDINGS = 0.3


def industry() -> Hierarchy:
    """Return the classification of industries: sections, divisions, groups; some divisions have no groups."""
    return Hierarchy.from_paths(path for section in _SECTIONS for path in section.paths())


def region() -> Hierarchy:
    """Return the classification of regions: four regions and their provinces."""
    return Hierarchy.from_dict(_PROVINCES)


def size() -> Hierarchy:
    """Return the size classes in their order."""
    return Hierarchy.flat(SIZE_CLASSES)


def firms(rows: int = 20_000, seed: int = 0) -> pa.Table:
    """Return a generated business register, one record a firm.

    The same arguments give the same table on every machine and with every version of numpy: the random bits come from
    PCG64, whose stream numpy guarantees, and everything after that is arithmetic on them here.

    Parameters
    ----------
    rows
        The number of firms.
    seed
        Another seed makes another economy of the same shape.

    Returns
    -------
    pyarrow.Table
        ``firm`` and ``group`` (identifiers as text; no group for an independent firm), ``industry`` and ``region`` (the
        finest codes of their classifications), ``size`` (from the employees), ``employees``, ``turnover`` and
        ``export`` (a part of it; whole thousands), ``waiver`` (the firm does without protection) and ``request`` (it
        asks for it).
    """
    if rows < 1:
        raise SpecError.one("rows", f"must be at least 1, not {rows}.")
    dice = _Dice(seed)
    leaves = [(path[-1], section) for section in _SECTIONS for path in section.paths()]
    leaf = dice.pick(_leaf_weights(), rows)
    province = dice.pick(_PROVINCE_WEIGHTS, rows)
    employees = _employees(dice, rows)
    turnover = _turnover(dice, employees, np.array([section.output for _, section in leaves])[leaf])
    exporting = dice.uniform(rows) < np.array([section.exporting for _, section in leaves])[leaf]
    export = np.where(exporting, np.floor(turnover * dice.uniform(rows)), 0).astype(np.int64)
    return pa.table(
        {
            "firm": [f"F{number:06d}" for number in range(1, rows + 1)],
            "group": pa.array(_groups(dice, leaf, employees), type=pa.string()),
            "industry": np.array([code for code, _ in leaves])[leaf].tolist(),
            "region": np.array([name for names in _PROVINCES.values() for name in names])[province].tolist(),
            "size": np.array(SIZE_CLASSES)[np.searchsorted(_SIZE_STARTS, employees, side="right")].tolist(),
            "employees": employees,
            "turnover": turnover,
            "export": export,
            "waiver": dice.uniform(rows) < 0.01,  # noqa: PLR2004
            "request": dice.uniform(rows) < 0.005,  # noqa: PLR2004
        }
    )


class _Dice:
    """Random numbers made of raw bits: numpy promises the stream of PCG64, but not those of its distributions."""

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def uniform(self, n: int) -> NDArray[np.float64]:
        """Return n numbers in [0, 1)."""
        raw: NDArray[np.uint64] = self._bits.random_raw(n)
        return np.asarray((raw >> np.uint64(11)) * 2.0**-53)

    def bell(self, n: int) -> NDArray[np.float64]:
        """Return n numbers of mean 0 and variance 1, nearly normal: twelve uniform ones added up (Irwin-Hall)."""
        return np.asarray(self.uniform(12 * n).reshape(12, n).sum(axis=0) - 6.0)

    def pick(self, weights: Sequence[float], n: int) -> NDArray[np.int64]:
        """Return n places of `weights`, each as often as it weighs."""
        edges = np.cumsum(weights)
        return np.asarray(np.searchsorted(edges, self.uniform(n) * edges[-1], side="right"))


def _leaf_weights() -> list[float]:
    """Return the weight of every leaf industry; within a section they fall off in a fixed, irregular order."""
    weights = []
    for section in _SECTIONS:
        n = len(section.groups.split())
        rank = [(5 * place) % n if n % 5 else place for place in range(n)]
        parts = [1 / (1 + place) for place in rank]
        weights += [section.firms * part / sum(parts) for part in parts]
    return weights


def _employees(dice: _Dice, rows: int) -> NDArray[np.int64]:
    """Return sizes with a Pareto tail: one firm in six has ten employees, one in two hundred has 250."""
    draws = 2.0 * (1.0 - dice.uniform(rows)) ** (-1.0 / _EMPLOYEES_TAIL) - 1.0
    return np.asarray(np.floor(np.minimum(draws, _MOST_EMPLOYEES)), dtype=np.int64)


def _turnover(dice: _Dice, employees: NDArray[np.int64], output: NDArray[np.int64]) -> NDArray[np.int64]:
    factor = np.exp(_OUTPUT_SPREAD * dice.bell(len(employees)))
    return np.asarray(np.maximum(1, np.rint(employees * output * factor)), dtype=np.int64)


def _groups(dice: _Dice, leaf: NDArray[np.int64], employees: NDArray[np.int64]) -> list[str | None]:
    """Return the holding of every firm.

    Larger firms belong to holdings more often. Most firms of a holding are in neighbouring industries, some in quite
    another; their regions are as they come.
    """
    rows = len(leaf)
    eagerness = dice.uniform(rows) * (1.0 + np.log2(employees))
    members = np.argsort(-eagerness, kind="stable")[: int(_IN_HOLDINGS * rows)]
    nearness = leaf[members] / len(_leaf_weights()) + dice.uniform(len(members)) ** 8
    members = members[np.argsort(nearness, kind="stable")]
    sizes = 2 + np.floor(1.5 * ((1.0 - dice.uniform(len(members))) ** -0.6 - 1.0)).astype(np.int64)
    groups: list[str | None] = [None] * rows
    start = 0
    for number, holding_size in enumerate(np.minimum(sizes, 60).tolist(), start=1):
        if len(members) - start < 2:  # noqa: PLR2004  (a single unit is no holding)
            break
        for member in members[start : start + holding_size].tolist():
            groups[member] = f"G{number:05d}"
        start += holding_size
    return groups
