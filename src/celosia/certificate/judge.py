r"""The judge: what a certificate says, checked in whole numbers, without a tolerance.

A table y of the certificate is stored as :math:`y = a + m / d`. As :math:`M a = b` is checked for the true table a, y
satisfies the relations exactly if :math:`M m = 0`, which touches only the relations of cells that move.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from celosia.certificate.canonical import ALL_REACHED, NO_RANGES, SAFE, digests
from celosia.certificate.claim import Claim, RangeEnds, Terms
from celosia.certificate.whole import Whole, compact, minus, remainders, starts_of, sums, times, within
from celosia.errors import Problem, pluralise
from celosia.pattern.entries import ADJUSTED, INTERVAL, SHOWN, WITH_BOUNDS, WITH_VALUE, Fault

_AT_A_TIME = 1 << 20  # moves that are looked at together


def hash_problems(claim: Claim) -> Iterator[Problem]:
    """Yield the hashes that are not those of what the certificate says."""
    for name, found in digests(dict(claim.content)).items():
        if found != claim.content["sha256"][name]:
            what = "its content" if name == "certificate" else f"its {name}"
            yield Problem("certificate", f"the hash is not that of {what}.", "The file was altered.")


def broken_relations(claim: Claim) -> NDArray[np.bool_]:
    """Return the relations that the true values do not satisfy."""
    terms = claim.relations
    found = sums(times(terms.numbers, claim.values[terms.cells]), terms.starts)
    return np.asarray(found != claim.right, dtype=bool)


def cell_findings(claim: Claim) -> Iterator[Fault]:
    """Yield the cells about which table, release and attackers contradict themselves or each other."""
    lower, upper = claim.bounds
    broken = claim.whole & np.asarray(remainders(claim.values, claim.unit) != 0, dtype=bool)
    yield broken, "the value is no whole number, though the certificate says so.", ""
    valued, bounded = claim.of_status(*WITH_VALUE), claim.of_status(*WITH_BOUNDS)
    shown, interval, shows = claim.of_status(SHOWN), claim.of_status(INTERVAL), claim.published.given
    yield shows != valued, "a number is given or missing, and its status says otherwise.", ""
    equal = lower.given & upper.given & _equal(lower, claim.published) & _equal(upper, claim.published)
    yield shown & shows & ~equal, "lower and upper differ from the number shown.", ""
    yield ~bounded & (lower.given | upper.given), "lower or upper is given where the status leaves everything open.", ""
    yield interval & ~lower.given & ~upper.given, "the interval is infinite on both sides.", ""
    half = bounded & ~interval & ~(lower.given & upper.given)
    yield half, "lower or upper is missing where the status gives both away.", ""
    outside = bounded & shows & ~_holds(claim.bounds, claim.published.counts)
    yield outside, "the published number lies outside lower .. upper.", ""
    yield ~_holds(claim.bounds, claim.values), "what is published excludes the true value.", ""
    yield claim.of_status(ADJUSTED), "is adjusted: distance from the truth protects it, and no interval.", ""
    for number, bounds in enumerate(claim.attackers):
        name = claim.content["requirements"]["attackers"][number]["name"]
        yield ~_holds(bounds, claim.values), f"the bounds of attacker {name!r} exclude the true value.", ""


def _equal(one: RangeEnds, other: RangeEnds) -> NDArray[np.bool_]:
    return np.asarray(one.counts == other.counts, dtype=bool)


def _holds(bounds: tuple[RangeEnds, RangeEnds], numbers: Whole) -> NDArray[np.bool_]:
    """Return where numbers lie within bounds."""
    lower, upper = bounds
    above = ~lower.given | np.asarray(lower.counts <= numbers, dtype=bool)
    below = ~upper.given | np.asarray(numbers <= upper.counts, dtype=bool)
    return np.asarray(above & below)


@dataclass(frozen=True, slots=True, eq=False)
class _MoveLimits:
    """How far cells may move, in units; where `ends` says so, there is no further."""

    down: Whole
    ends_down: NDArray[np.bool_]
    up: Whole
    ends_up: NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class WitnessJudge:
    """The judge of witness tables: each is checked once, and once more for every attacker it must deceive.

    Parameters
    ----------
    claim
        What the certificate says.

    Attributes
    ----------
    balanced
        Which tables satisfy every relation, ``(n_tables,)``.
    """

    claim: Claim
    balanced: NDArray[np.bool_] = field(init=False)
    _sound: NDArray[np.bool_] = field(init=False)
    _limits: _MoveLimits = field(init=False)
    _keys: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        claim, moves = self.claim, self.claim.moves
        number = np.repeat(np.arange(len(moves)), np.diff(moves.starts))
        self._keys = number * len(claim.values) + moves.cells
        self._sound = np.ones(len(moves), dtype=bool)
        self.balanced = np.ones(len(moves), dtype=bool)
        self._limits = _move_limits(claim.values, claim.bounds)
        by_cell = _transpose(claim.relations, len(claim.values))
        for some in self._chunks(np.arange(len(moves))):
            self.balanced[some] = self._are_tables(some, by_cell)
            self._sound[some] = self.balanced[some] & self._are_whole(some) & self._fit(some, self._limits)

    def _chunks(self, tables: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
        """Yield tables by and by, as many as have about a million moves."""
        sizes = np.diff(self.claim.moves.starts)[tables]
        group = np.cumsum(sizes) // _AT_A_TIME
        yield from np.split(tables, np.flatnonzero(np.diff(group)) + 1)

    def _are_tables(self, tables: NDArray[np.int64], by_cell: Terms) -> NDArray[np.bool_]:
        """Return which tables satisfy every relation."""
        entry, number = within(self.claim.moves.starts, tables)
        cells, moves = self.claim.moves.cells[entry], compact(self.claim.moves.numbers[entry])
        good = np.ones(len(tables), dtype=bool)
        term, which = within(by_cell.starts, cells)
        key = number[which] * len(self.claim.relations) + by_cell.cells[term]
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        amounts = times(by_cell.numbers[term[order]], moves[which[order]])
        unbalanced = sums(amounts, np.append(first, len(key))) != 0
        good[key[first][np.asarray(unbalanced, dtype=bool)] // max(1, len(self.claim.relations))] = False
        return good

    def _are_whole(self, tables: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which tables are whole where values are said to be."""
        entry, number = within(self.claim.moves.starts, tables)
        cells, moves = self.claim.moves.cells[entry], compact(self.claim.moves.numbers[entry])
        good = np.ones(len(tables), dtype=bool)
        whole = self.claim.whole[cells]
        broken = moves[whole] % compact(self.claim.denominators[tables])[number[whole]] != 0
        good[number[whole][np.asarray(broken, dtype=bool)]] = False
        return good

    def allows(self, cell: int, low: int, high: int, denominator: int) -> bool:
        """Return whether the release lets a cell move from `low` to `high`, both divided by a denominator."""
        limits, unit = self._limits, self.claim.unit
        below = not limits.ends_down[cell] or -low * unit <= int(limits.down[cell]) * denominator
        above = not limits.ends_up[cell] or high * unit <= int(limits.up[cell]) * denominator
        return below and above

    def _fit(self, tables: NDArray[np.int64], limits: _MoveLimits) -> NDArray[np.bool_]:
        """Return which tables lie within bounds; cells that do not move do, as the true table does."""
        entry, number = within(self.claim.moves.starts, tables)
        cells = self.claim.moves.cells[entry]
        moves = times(compact(self.claim.moves.numbers[entry]), self.claim.unit)
        denominators = compact(self.claim.denominators[tables])[number]
        good = np.ones(len(tables), dtype=bool)
        for limit, ends, sign in ((limits.up, limits.ends_up, 1), (limits.down, limits.ends_down, -1)):
            beyond = np.asarray(sign * moves > times(compact(limit[cells]), denominators), dtype=bool) & ends[cells]
            good[number[beyond]] = False
        return good

    def _check_tables(self, tables: NDArray[np.int64], bounds: tuple[RangeEnds, RangeEnds]) -> NDArray[np.bool_]:
        """Return which tables, -1 for none, satisfy relations, agree with the release and lie within more bounds."""
        used = np.unique(tables[tables >= 0])
        good = np.zeros(len(self._sound) + 1, dtype=bool)  # the last stands for none
        limits = _move_limits(self.claim.values, bounds)
        for some in self._chunks(used):
            good[some] = self._sound[some] & self._fit(some, limits)
        return np.asarray(good[tables])

    def _move_cells(self, tables: NDArray[np.int64], cells: NDArray[np.int64]) -> tuple[Whole, Whole]:
        """Return how far up each of some tables moves a cell, and what that is divided by."""
        key = tables * len(self.claim.values) + cells
        place = np.searchsorted(self._keys, key)
        there = np.append(self._keys, -1)[place] == key
        moves = np.append(self.claim.moves.numbers, 0)[np.where(there, place, -1)]
        denominators = np.append(self.claim.denominators, 1)[tables]
        return compact(np.where(tables < 0, 0, moves)), compact(denominators)

    def requirement_findings(self) -> Iterator[Fault]:
        """Yield the requirements that the tables do not prove, each with one reason only."""
        required, proofs = self.claim.required, self.claim.proofs
        empty = np.logical_and.reduce(
            [np.asarray(level == 0, dtype=bool) for level, _ in (required.lower, required.upper, required.sliding)]
        )
        yield empty, "the requirement asks for nothing, which a disclosed cell would meet.", ""
        missing = empty | (proofs.down < 0) | (proofs.up < 0)
        yield missing & ~empty, "the certificate has no tables that prove the requirement.", ""
        believed = np.zeros(len(required), dtype=bool)
        for number, bounds in enumerate(self.claim.attackers):
            own = np.flatnonzero(required.attackers == number)
            believed[own] = self._check_tables(proofs.down[own], bounds) & self._check_tables(proofs.up[own], bounds)
        unsound = ~(self._sound[proofs.down] & self._sound[proofs.up]) if len(self._sound) else missing
        yield ~missing & unsound, "a table does not satisfy every relation, or contradicts the release.", ""
        doubted = missing | unsound | ~believed
        yield doubted & ~missing & ~unsound, "a table is not what the attacker could believe.", ""
        (down, one), (up, other) = (self._move_cells(side, required.cells) for side in (proofs.down, proofs.up))
        short = self._short((-down, one), required.lower)
        yield ~doubted & short, "the lower protection level is not reached.", ""
        low = self._short((up, other), required.upper)
        yield ~doubted & ~short & low, "the upper protection level is not reached.", ""
        width = minus(times(up, one), times(down, other)), times(one, other)
        narrow = self._short(width, required.sliding)
        yield ~doubted & ~short & ~low & narrow, "the sliding protection level is not reached.", ""

    @staticmethod
    def _short(reach: tuple[Whole, Whole], level: tuple[Whole, int]) -> NDArray[np.bool_]:
        """Return which reaches, numerators and denominators, stop short of their levels."""
        return np.asarray(times(reach[0], level[1]) < times(level[0], reach[1]), dtype=bool)

    def unreached_ranges(self) -> NDArray[np.bool_]:
        """Return which of the ranges that are said to be reached are not, ``(n_ranges,)``.

        They are reached by tables that a reader can believe who knows no more than every attacker does; an end that is
        infinite needs none.
        """
        claim, cells = self.claim, self.claim.range_cells
        common = _common(claim)
        wrong = np.zeros(len(cells), dtype=bool)
        for tables, ends in ((claim.ranges.down, claim.bounds[0]), (claim.ranges.up, claim.bounds[1])):
            moves, denominators = self._move_cells(tables, cells)
            far = times(compact(minus(ends.counts, claim.values)[cells]), denominators)
            reached = self._check_tables(tables, common) & np.asarray(times(moves, claim.unit) == far, dtype=bool)
            wrong |= np.where(ends.given[cells], ~reached, tables >= 0)
        return wrong

    def range_problems(self) -> Iterator[Problem]:
        """Yield what is wrong with the account of published ranges as a whole."""
        said, cells = self.claim.content["ranges"]["claim"], self.claim.range_cells
        published = np.flatnonzero(self.claim.of_status(INTERVAL))
        if (said == NO_RANGES) != (not len(published)):
            yield Problem("ranges", "the certificate says otherwise than its release.")
        if not np.isin(cells, published).all() or len(np.unique(cells)) < len(cells):
            yield Problem("ranges", "the certificate has tables for ranges that are not published, or twice.")
        if (said == ALL_REACHED) != (len(published) > 0 and len(cells) == len(published)):
            yield Problem("ranges", "the certificate does not hold the tables for ranges of which it speaks.")


def _transpose(terms: Terms, n: int) -> Terms:
    """Return relations by cell: of every cell the relations it stands in, with its coefficients."""
    order = np.argsort(terms.cells, kind="stable")
    relation = np.repeat(np.arange(len(terms)), np.diff(terms.starts))
    starts = starts_of(np.bincount(terms.cells, minlength=n))
    return Terms(starts, relation[order], terms.numbers[order])


def _move_limits(values: Whole, bounds: tuple[RangeEnds, RangeEnds]) -> _MoveLimits:
    lower, upper = bounds
    return _MoveLimits(minus(values, lower.counts), lower.given, minus(upper.counts, values), upper.given)


def _common(claim: Claim) -> tuple[RangeEnds, RangeEnds]:
    """Return what every attacker knows: of all their bounds the widest."""
    n = len(claim.values)
    sides = []
    for side, widest in ((0, np.minimum), (1, np.maximum)):
        ends = [bounds[side] for bounds in claim.attackers]
        given = np.logical_and.reduce([end.given for end in ends]) if ends else np.zeros(n, dtype=bool)
        counts = ends[0].counts if ends else np.zeros(n, dtype=np.int64)
        for end in ends[1:]:
            counts = widest(counts, end.counts)
        sides.append(RangeEnds(given, counts))
    return sides[0], sides[1]


def verdict_problems(claim: Claim, proved: int, whole: NDArray[np.bool_]) -> Iterator[Problem]:
    """Yield why the certificate, taken at its word, does not call the release safe.

    Parameters
    ----------
    claim
        What it says.
    proved
        How many requirements its tables prove.
    whole
        Which values attackers know to be whole numbers, ``(n_cells,)``.
    """
    required = len(claim.required)
    if claim.content["verdict"] != SAFE:
        seen = f"says that the release is not safe: {proved:,} of {required:,} requirements are met."
        yield Problem("certificate", seen)
    elif proved < required:
        yield Problem("certificate", "says that the release is safe, which it does not prove.")
    known = whole & ~claim.whole
    if bool(known.any()):
        values = "the values" if bool(known.all()) else f"{pluralise(int(known.sum()), 'value')} of them"
        seen = f"{values} are counts, and the tables are not said to be whole: attackers know better."
        yield Problem("certificate", seen, "Audit with whole numbers, or verify without them (integer=False).")
