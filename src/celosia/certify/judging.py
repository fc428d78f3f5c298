r"""The judge: what a certificate says, checked in whole numbers, without a tolerance.

A table y of the certificate is stored as :math:`y = a + m / d`. As :math:`M a = b` is checked for the true table a, y
satisfies the relations exactly if :math:`M m = 0`, which touches only the relations of cells that move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from celosia.certify.canonical import ALL_REACHED, NO_RANGES, NOT_CERTIFIED, SAFE, digests
from celosia.certify.reading import Bounds, Claim
from celosia.errors import Problem
from celosia.pattern.entries import ADJUSTED, INTERVAL, SHOWN, WITH_BOUNDS, WITH_VALUE


def hash_problems(claim: Claim) -> Iterator[Problem]:
    """Yield the hashes that are not those of what the certificate says."""
    for name, found in digests(claim.content).items():
        if found != claim.content["sha256"][name]:
            what = "its content" if name == "certificate" else f"its {name}"
            yield Problem("certificate", f"the hash is not that of {what}.", "The file was altered.")


def table_problems(claim: Claim) -> Iterator[Problem]:
    """Yield the relations that the true values do not satisfy, and values that ought to be whole and are not."""
    values = claim.values
    for number, (terms, right) in enumerate(zip(claim.relations, claim.right, strict=True)):
        if sum(coefficient * values[cell] for cell, coefficient in terms) != right:
            yield Problem(f"relation {number}", "the values do not satisfy it.")
    if claim.content["whole_numbers"]:
        for cell, value in enumerate(values):
            if value % claim.unit:
                yield Problem(claim.label(cell), "the value is no whole number, though the certificate says so.")


def release_problems(claim: Claim) -> Iterator[Problem]:
    """Yield the entries of the release that contradict themselves or the table."""
    bounds = claim.bounds
    entries = zip(claim.status, claim.published, bounds.lower, bounds.upper, claim.values, strict=True)
    for cell, (status, published, lower, upper, value) in enumerate(entries):
        reason = _contradiction(status, published, lower, upper)
        if not reason and not _within(value, lower, upper):
            reason = "what is published excludes the true value."
        if reason:
            yield Problem(claim.label(cell), reason)
    if ADJUSTED in claim.status:
        yield Problem("release", "has adjusted cells: distance from the truth protects them, and no interval.")


def _contradiction(status: str, published: int | None, lower: int | None, upper: int | None) -> str:
    """Return why an entry of a release contradicts itself, nothing where it does not."""
    reason = ""
    if (published is not None) != (status in WITH_VALUE):
        reason = f"a number is given or missing where the cell is {status}."
    elif status == SHOWN and not (published == lower == upper):
        reason = "lower and upper differ from the number shown."
    elif status not in WITH_BOUNDS and not (lower is None and upper is None):
        reason = f"lower or upper is given where the cell is {status}."
    elif status == INTERVAL and lower is None and upper is None:
        reason = "the interval is infinite on both sides."
    elif status == INTERVAL and lower is not None and upper is not None and lower > upper:
        reason = "lower is above upper."
    elif status in WITH_BOUNDS and status != INTERVAL and (lower is None or upper is None):
        reason = f"lower or upper is missing where the cell is {status}."
    elif status in WITH_BOUNDS and published is not None and not _within(published, lower, upper):
        reason = "the published number lies outside lower .. upper."
    return reason


def attacker_problems(claim: Claim) -> Iterator[Problem]:
    """Yield the cells about which an attacker believes what is not true."""
    for number, bounds in enumerate(claim.attackers):
        for cell, (value, lower, upper) in enumerate(zip(claim.values, bounds.lower, bounds.upper, strict=True)):
            if not _within(value, lower, upper):
                name = claim.content["requirements"]["attackers"][number]["name"]
                yield Problem(claim.label(cell), f"the bounds of attacker {name!r} exclude the true value.")


def _within(number: int, lower: int | None, upper: int | None) -> bool:
    return (lower is None or lower <= number) and (upper is None or number <= upper)


@dataclass(slots=True, eq=False)
class Tables:
    """Looks at each table of a certificate once, and once for every attacker who is to be deceived by it.

    Parameters
    ----------
    claim
        What the certificate says.
    """

    claim: Claim
    _relations_of: list[list[tuple[int, int]]] = field(init=False)
    _balanced: dict[int, bool] = field(init=False, default_factory=dict)
    _fitting: dict[tuple[int, int], bool] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._relations_of = [[] for _ in self.claim.values]
        for number, terms in enumerate(self.claim.relations):
            for cell, coefficient in terms:
                self._relations_of[cell].append((number, coefficient))

    def fault(self, place: int, attacker: int) -> str:
        """Return what is wrong with a table in the eyes of an attacker, nothing where it might be the true one."""
        if place not in self._balanced:
            self._balanced[place] = self._is_table(place)
        if not self._balanced[place]:
            return f"table {place} does not satisfy every relation, or is not whole."
        if (place, attacker) not in self._fitting:
            fits = self._fits(place, self.claim.bounds) and self._fits(place, self.claim.attackers[attacker])
            self._fitting[place, attacker] = fits
        return "" if self._fitting[place, attacker] else f"table {place} is not what the attacker could believe."

    def _is_table(self, place: int) -> bool:
        denominator, moves = self.claim.witnesses[place]
        if self.claim.content["whole_numbers"] and any(move % denominator for move in moves.values()):
            return False
        sums: defaultdict[int, int] = defaultdict(int)
        for cell, move in moves.items():
            for relation, coefficient in self._relations_of[cell]:
                sums[relation] += coefficient * move
        return not any(sums.values())

    def _fits(self, place: int, bounds: Bounds) -> bool:
        """Return whether a table lies within bounds; cells that do not move do, as the true table does."""
        denominator, moves = self.claim.witnesses[place]
        unit, values = self.claim.unit, self.claim.values
        for cell, move in moves.items():
            reached = values[cell] * denominator + move * unit
            lower, upper = bounds.lower[cell], bounds.upper[cell]
            if (lower is not None and reached < lower * denominator) or (
                upper is not None and reached > upper * denominator
            ):
                return False
        return True

    def requirement_problems(self) -> Iterator[Problem]:
        """Yield the requirements that the tables do not prove."""
        proofs = self.claim.content["proofs"]
        for (cell, attacker, lower, upper, sliding), proof in zip(self.claim.required, proofs, strict=True):
            if proof is None:
                yield Problem(self.claim.label(cell), "the certificate has no tables that prove the requirement.")
                continue
            reason = self.fault(proof[0], attacker) or self.fault(proof[1], attacker)
            (one, downs), (other, ups) = (self.claim.witnesses[place] for place in proof)
            down, up = -downs.get(cell, 0), ups.get(cell, 0)
            if not reason and down * lower.denominator < lower.numerator * one:
                reason = "the lower protection level is not reached."
            if not reason and up * upper.denominator < upper.numerator * other:
                reason = "the upper protection level is not reached."
            wide = (down * other + up * one) * sliding.denominator
            if not reason and wide < sliding.numerator * one * other:
                reason = "the sliding protection level is not reached."
            if reason:
                yield Problem(self.claim.label(cell), reason)

    def range_problems(self) -> Iterator[Problem]:
        """Yield the published ranges whose ends are said to be reached and are not."""
        claim, ranges = self.claim.content["ranges"]["claim"], self.claim.content["ranges"]["reached"]
        published = {cell for cell, status in enumerate(self.claim.status) if status == INTERVAL}
        named = {(cell, attacker) for cell, attacker, _, _ in ranges}
        wanted = {(cell, attacker) for cell in published for attacker in range(len(self.claim.attackers))}
        if (claim == NO_RANGES and published) or (claim == NOT_CERTIFIED and not published):
            yield Problem("ranges", "the certificate says otherwise than its release.")
        if not named <= wanted or len(named) < len(ranges) or (ranges and claim in {NO_RANGES, NOT_CERTIFIED}):
            yield Problem("ranges", "the certificate has tables for ranges that are not published, or twice.")
        if (claim == ALL_REACHED) != (bool(wanted) and named == wanted):
            yield Problem("ranges", "the certificate does not hold the tables for ranges of which it speaks.")
        for cell, attacker, *places in ranges:
            for place, end in zip(places, (self.claim.bounds.lower[cell], self.claim.bounds.upper[cell]), strict=True):
                if not self._reaches(cell, attacker, place, end):
                    yield Problem(self.claim.label(cell), "the end of the published range is not reached.")

    def _reaches(self, cell: int, attacker: int, place: int | None, end: int | None) -> bool:
        if place is None or end is None:
            return place is None and end is None
        denominator, moves = self.claim.witnesses[place]
        reached = self.claim.values[cell] * denominator + moves.get(cell, 0) * self.claim.unit
        return reached == end * denominator and not self.fault(place, attacker)


def verdict_problems(claim: Claim, proved: int, *, integer: bool) -> Iterator[Problem]:
    """Yield why the certificate, taken at its word, does not call the release safe.

    Parameters
    ----------
    claim
        What it says.
    proved
        How many requirements its tables prove.
    integer
        Attackers know that values are whole numbers.
    """
    required = len(claim.required)
    if claim.content["verdict"] != SAFE:
        seen = f"says that the release is not safe: {proved:,} of {required:,} requirements are met."
        yield Problem("certificate", seen)
    elif proved < required:
        yield Problem("certificate", "says that the release is safe, which it does not prove.")
    if integer and not claim.content["whole_numbers"]:
        seen = "the values are counts, and the tables are not said to be whole: attackers know better."
        yield Problem("certificate", seen, "Audit with whole numbers, or verify without them (integer=False).")
