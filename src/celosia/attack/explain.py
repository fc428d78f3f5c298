r"""Why an attacker's interval ends where it does: relations with multipliers that, added up, give the end.

Every end has a proof that needs no solver. For multipliers :math:`\gamma_k` of the relations :math:`M_k y = b_k`

.. math:: y_p = \sum_k \gamma_k b_k + \sum_i r_i y_i, \qquad r = e_p - M'\gamma,

whatever the table y. With :math:`r_p = 0` and each :math:`y_i` at the bound that the sign of :math:`r_i` asks for, the
right side is an end of the interval (weak duality), and for the right multipliers it is *the* end. A solver proposes
them; they are made exact (`celosia.attack.system.exact`) and the end is their sum in fractions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

import numpy as np

from celosia.arguments import takes
from celosia.attack.result import Audit
from celosia.attack.subproblems.duals import prove_end, subtract_relations
from celosia.errors import SolverError, SpecError, nearest
from celosia.solve.registry import backends
from celosia.table.cell_names import CellName, find_cell
from celosia.table.table import Table

SIDES = ("lower", "upper")

_MOST_TERMS = 12  # cells or relations that are named one by one


@dataclass(frozen=True, slots=True)
class ProofTerm:
    """A term of the proof of a bound: a multiplier times a cell, at a value or bound that the attacker knows.

    Parameters
    ----------
    cell
        The cell.
    multiplier
        How often it is counted.
    bound
        The value, or the bound on the side that the multiplier's sign asks for.
    side
        ``value``, ``at least`` or ``at most``.
    source
        Who says so: ``release``, or the attacker's name.
    """

    cell: int
    multiplier: Fraction
    bound: Fraction
    side: str
    source: str


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why an attacker can be sure of one end of a cell's interval. Confidential: it leads to what is hidden.

    Parameters
    ----------
    table
        The table.
    cell, attacker, side
        Whose interval ends there, for whom, and on which side: ``lower`` or ``upper``.
    end
        Where it ends.
    relations
        The relations used, each with its multiplier.
    cells
        The cells that remain when the relations are added up, and what is known about them.
    whole
        The attacker knows values to be whole numbers: the sum is rounded where that of the cell is one of them.
    exact
        A table that agrees with everything published and reaches the end is known: no attacker gets closer. Without one
        the end holds all the same, but whole numbers, say, may narrow the interval further.
    """

    table: Table
    cell: int
    attacker: str
    side: str
    end: Fraction
    relations: tuple[tuple[int, Fraction], ...]
    cells: tuple[ProofTerm, ...]
    whole: bool
    exact: bool

    @property
    def total(self) -> Fraction:
        """The sum of the relations' right sides and of the cells at their bounds, each times its multiplier."""
        right = self.table.relations.right
        unit = 10**self.table.decimals
        constants = sum((factor * Fraction(int(right[row]), unit) for row, factor in self.relations), Fraction(0))
        return constants + sum((used.multiplier * used.bound for used in self.cells), Fraction(0))

    def words(self) -> list[str]:
        """Return the explanation in sentences, with numbers: what adds up to the end, and by which relations."""
        label = self.table.label(self.cell)
        most = "at most" if self.side == "upper" else "at least"
        if not self.relations:
            (used,) = self.cells
            return [f"{label} is {self._bound_text(used)}."]
        said = [f"{label} is {most} {_number_text(self.end)}:", f"  {self._sum()} = {_number_text(self.total)}"]
        if self.total != self.end:
            said.append(f"  rounded to {_number_text(self.end)}, because values are whole numbers")
        if self.whole and not self.exact:
            said.append("  (whole numbers may narrow it further than any sum shows)")
        equations = [f"{_factor_text(factor)}{self.table.equation(row)}" for row, factor in self.relations]
        if len(equations) == 1:
            return [*said, f"by {equations[0]}"]
        said += ["by these relations, added up:", *(f"  {equation}" for equation in equations[:_MOST_TERMS])]
        if len(self.relations) > _MOST_TERMS:
            said.append(f"  ... and {len(self.relations) - _MOST_TERMS:,} more")
        return said

    def equations(self) -> list[str]:
        """Return the relations used, in words and without any number but coefficients."""
        return [self.table.equation(row) for row, _ in self.relations]

    def __str__(self) -> str:
        return "\n".join(self.words())

    def _sum(self) -> str:
        parts = []
        right = self.table.relations.right
        constants = sum((factor * int(right[row]) for row, factor in self.relations), Fraction(0))
        if constants:
            parts.append(("+", _number_text(constants / 10**self.table.decimals)))
        for used in self.cells[:_MOST_TERMS]:
            said = f"{self.table.label(used.cell)} ({self._bound_text(used)})"
            size = abs(used.multiplier)
            parts.append(("-" if used.multiplier < 0 else "+", said if size == 1 else f"{_number_text(size)} * {said}"))
        if len(self.cells) > _MOST_TERMS:
            parts.append(("+", f"{len(self.cells) - _MOST_TERMS:,} more"))
        (sign, first), *others = parts or [("+", "0")]
        return " ".join(["- " + first if sign == "-" else first, *(f"{sign} {said}" for sign, said in others)])

    def _bound_text(self, used: ProofTerm) -> str:
        who = "" if used.source == "release" else f" for {used.source}"
        return (
            f"{_number_text(used.bound)}{who}"
            if used.side == "value"
            else f"{used.side} {_number_text(used.bound)}{who}"
        )


@takes(audit=Audit)
def explain(audit: Audit, cell: CellName, side: str = "upper", *, attacker: int | str = 0) -> Explanation | None:
    """Return why an attacker's interval of a cell ends where it does, None where it has no end on that side.

    Confidential: an explanation is the office's view, and leads to what is hidden.

    Parameters
    ----------
    audit
        An audit (`celosia.audit`), of verdicts or of intervals.
    cell
        The cell: its number, its label (``"C x North"``) or its codes.
    side
        ``lower`` or ``upper``.
    attacker
        The attacker: his place in the list, or his name.

    Raises
    ------
    SpecError
        There is no such cell, attacker or side.
    SolverError
        No solver found multipliers that hold exactly.

    Notes
    -----
    Guarantee: the end equals the sum of the multiplied right sides and bounds in fractions (rounded to the inner side
    for whole numbers), and every table that the attacker believes possible lies on its inner side. Both are recomputed
    here, from the table's relations and not from what the solver saw. No tolerance.
    """
    place = find_cell(audit.risk.table, cell)
    number = _attacker_place(audit, side, attacker)
    upward = side == "upper"
    proof = prove_end(audit.risk.table, audit.systems[number], place, backends()[0], upward=upward)
    return None if proof is None else _state_explanation(audit, number, place, *proof, upward=upward)


def _attacker_place(audit: Audit, side: str, attacker: int | str) -> int:
    """Return the attacker's place in the list; refuse unknown sides and attackers."""
    names = [known.name for known in audit.risk.attackers]
    if side not in SIDES:
        raise SpecError.one("side", f"must be lower or upper, not {side!r}.")
    if isinstance(attacker, str):
        if attacker not in names:
            raise SpecError.one("attacker", f"{attacker!r} is none of this audit.", nearest(attacker, names))
        return names.index(attacker)
    if not 0 <= attacker < len(names):
        raise SpecError.one("attacker", f"there is no attacker {attacker}.", f"They are 0 to {len(names) - 1}.")
    return attacker


def _state_explanation(
    audit: Audit, number: int, cell: int, found: dict[int, Fraction], reached: Fraction | None, *, upward: bool
) -> Explanation:
    """Return the explanation that multipliers of relations give, in units of the table."""
    table, attacker = audit.risk.table, audit.risk.attackers[number]
    rest = subtract_relations(table, cell, found)
    if found:  # the cell may have come back with a share of its own: y = s y + ..., so y = (...) / (1 - s)
        share = 1 - rest.pop(cell, Fraction(0))
        found = {relation: factor / share for relation, factor in found.items()}
        rest = {other: factor / share for other, factor in rest.items()}
    cells = sorted(
        (
            _best_known_bound(audit, number, other, factor, above=(factor > 0) == upward)
            for other, factor in rest.items()
        ),
        key=lambda used: (used.multiplier < 0, used.side != "value", used.cell),
    )
    side = "upper" if upward else "lower"
    relations = tuple(sorted(found.items()))
    stated = Explanation(
        table,
        cell,
        attacker.name,
        side,
        Fraction(0),
        relations,
        tuple(cells),
        whole=bool(audit.whole.any()),
        exact=False,
    )
    end = stated.total if not audit.whole[cell] else Fraction((floor if upward else ceil)(stated.total))
    moved = abs(end - table.amounts.fraction(cell)) * 10 ** int(audit.systems[number].digits_of(np.array([cell]))[0])
    return replace(stated, end=end, exact=moved == reached)


def _best_known_bound(audit: Audit, number: int, cell: int, multiplier: Fraction, *, above: bool) -> ProofTerm:
    """Return the term of a cell with the tightest bound that the release or the attacker knows on one side."""
    attacker = audit.risk.attackers[number]
    ends = []
    for source, lower, upper in (
        ("release", *audit.release.bounds()),
        (attacker.name, attacker.lower, attacker.upper),
    ):
        low, high = (None if part.infinite[cell] else part.fraction(cell) for part in (lower, upper))
        end = high if above else low
        if end is not None:
            end = end if not audit.whole[cell] else Fraction((floor if above else ceil)(end))
            ends.append((end, source, "value" if low == high else "at most" if above else "at least"))
    if not ends:
        raise SolverError.one("explain", f"{audit.risk.table.label(cell)} has no bound where one is needed.")
    end, source, side = (min if above else max)(ends, key=lambda known: known[0])
    return ProofTerm(cell, multiplier, end, side, source)


def _factor_text(factor: Fraction) -> str:
    return "" if factor == 1 else f"{_number_text(factor)} times  "


def _number_text(value: Fraction) -> str:
    """Return a number as a decimal where it is one with few places, as a fraction elsewhere."""
    for places in range(10):
        if (value * 10**places).denominator == 1:
            count = int(value * 10**places)
            sign, digits = "-" if count < 0 else "", str(abs(count)).rjust(places + 1, "0")
            return f"{sign}{digits[: len(digits) - places]}" + (f".{digits[-places:]}" if places else "")
    return str(value)
