"""JJ files: the bare problem that tau-ARGUS hands to its optimisers, read and written without losing a digit.

::

    0
    n                                           number of cells
    k value cost status lb ub lpl upl spl       n lines, k = 0 .. n-1
    m                                           number of equations
    b q : c1 (f1) c2 (f2) ...                   m lines of q terms: f1 times cell c1 plus f2 times cell c2 ... makes b

A status is `s` safe, `u` sensitive, `m` to be hidden or `z` to be shown; lb and ub are the attacker's bounds, `inf`
where there are none; lpl, upl and spl are distances. Entries are parted by blanks; blank lines do not count.
"""

from __future__ import annotations

import codecs
import contextlib
import math
import uuid
from collections import Counter
from dataclasses import dataclass, replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.errors import DataError, Problem, SpecError
from celosia.risk.attacker import Attacker
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, SHOW, Levels, Risk
from celosia.table.fixed import Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table
from celosia.tolerance import LARGEST_COUNT, additivity_units

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_ENTRIES = ("cell number", "value", "cost", "status", "lb", "ub", "lpl", "upl", "spl")
_NOTHING = ("", "0", "0", SAFE, "0", "0", "0", "0", "0")
_STATUSES = frozenset((SAFE, SENSITIVE, HIDE, SHOW))
_MOST_SHOWN = 20
_MOST_DIGITS = 100  # before or behind the point: 1e999999999 would be exact too, and fill the memory
_CUT = "Has the file been cut off or edited?"

_Flags: TypeAlias = NDArray[np.bool_]
_Finding: TypeAlias = tuple[_Flags, str, str]


def read_jj(path: str | Path) -> Risk:
    """Return the problem of a JJ file: a table without axes, its sensitive cells, and the file's attacker.

    Values, levels and bounds are those of the file, digit by digit. Where the figures of an equation miss its right
    side by no more than their rounding explains, the right side takes the difference, so that the relations hold
    exactly; a note of the table tells how many there are.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    DataError
        The file cannot be read or contradicts itself: every problem with its line, the first 20 of them in words.
    """
    lines = _Lines.of_file(Path(path))
    n_cells, cell_lines, equation_lines = _blocks(lines)
    risk, sound = _cells(cell_lines)
    equation_lines, equations = _equations(equation_lines, max(n_cells, len(risk)))
    if _in_order(cell_lines) and len(risk) == n_cells and _fits(risk.table.amounts, cell_lines):
        risk = replace(risk, table=_related(risk.table, sound, equation_lines, equations))
    if lines.found:
        found = sorted(lines.found, key=lambda problem: problem[0])
        raise DataError(_shown([Problem(f"{path}, line {line}", *said) for line, *said in found]))
    return risk


def write_jj(risk: Risk, path: str | Path) -> None:
    """Write the problem as a JJ file, exactly; the file appears whole or not at all.

    Labels, rules, reasons and contributors have no place in such a file.

    Parameters
    ----------
    risk
        The sensitive cells of a table, with one attacker.
    path
        The file to write; one that is there is replaced.

    Raises
    ------
    SpecError
        There is not exactly one attacker, or the file cannot be written.
    DataError
        A cell contradicts itself, so that the file could not be read again.
    """
    if len(risk.attackers) != 1:
        seen = f"a JJ file has room for one attacker, and there are {len(risk.attackers)}."
        raise SpecError.one("attackers", seen, "Write one file for each of them.")
    found = [
        Problem(risk.table.label(cell), message, remedy)
        for wrong, message, remedy in (*_impossible(risk), *_contradictions(risk))
        for cell in np.flatnonzero(wrong).tolist()
    ]
    if found:
        raise DataError(_shown(found))
    target = Path(path)
    temporary = target.parent / f".{uuid.uuid4().hex}.tmp"
    try:
        with temporary.open("x", encoding="ascii", newline="\n") as file:
            file.writelines(_written(risk))
        temporary.replace(target)
    except OSError as error:
        raise SpecError.one(str(path), f"cannot be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _written(risk: Risk) -> Iterator[str]:
    """Yield the lines of the file."""
    table, (attacker,) = risk.table, risk.attackers
    costs = [repr(cost).removesuffix(".0") for cost in risk.cost.tolist()]
    exact = [numbers.texts() for numbers in (attacker.lower, attacker.upper, *_three(risk.levels))]
    yield f"0\n{len(risk)}\n"
    for cell, entries in enumerate(zip(table.amounts.texts(), costs, risk.status.tolist(), *exact, strict=True)):
        yield f"{cell} {' '.join(entries)}\n"
    yield f"{len(table.relations)}\n"
    for relation, right in enumerate(Fixed.of_counts(table.relations.right, table.decimals).texts()):
        terms = table.relations.terms(relation)
        yield " ".join([right, str(len(terms)), ":", *(f"{cell} ({factor})" for cell, factor in terms)]) + "\n"


def _impossible(risk: Risk) -> Iterator[_Finding]:
    """Yield which cells have a number that makes no sense by itself, and why."""
    yield ~np.isfinite(risk.cost), "the cost is infinite or not a number.", "Costs are zero or more."
    yield risk.cost < 0, "the cost is negative.", "Costs are zero or more."
    for name, level in zip(_ENTRIES[6:], _three(risk.levels), strict=True):
        yield level.infinite, f"{name} is infinite.", "No table protects that much."
        yield np.asarray(level.counts < 0, dtype=bool), f"{name} is negative.", "Levels are distances from the value."


def _contradictions(risk: Risk) -> Iterator[_Finding]:
    """Yield which cells have numbers that contradict each other, and why."""
    amounts, (attacker,) = risk.table.amounts, risk.attackers
    protected = np.logical_or.reduce([np.asarray(level.counts > 0, dtype=bool) for level in _three(risk.levels)])
    naked = "the cell is sensitive and has no protection level above zero."
    yield risk.sensitive & ~protected, naked, "It would count as safe when it is disclosed: give lpl, upl or spl."
    idle = "the cell has a protection level and is not sensitive."
    yield ~risk.sensitive & protected, idle, "Make its status u, or its levels 0."
    crossed = _exceeds(attacker.lower, attacker.upper)
    yield crossed, "lb is above ub.", "The attacker knows that the value lies between them."
    outside = _exceeds(attacker.lower, amounts) | _exceeds(amounts, attacker.upper)
    yield outside & ~crossed, "the value lies outside lb .. ub.", "What the attacker knows must be true."


def _three(levels: Levels) -> tuple[Fixed, Fixed, Fixed]:
    return levels.lower, levels.upper, levels.sliding


def _exceeds(left: Fixed, right: Fixed) -> _Flags:
    """Return where `left` is greater than `right`, exactly."""
    decimals = max(left.decimals, right.decimals)
    greater = np.asarray(_counted(left, decimals) > _counted(right, decimals), dtype=bool)
    endless = left.infinite | right.infinite
    greater[endless] = left.floats[endless] > right.floats[endless]
    return greater


def _counted(numbers: Fixed, decimals: int) -> NDArray[Any]:
    """Return the counts in a decimal at least as fine; in a finer one as Python integers, which do not overflow."""
    if decimals == numbers.decimals:
        return numbers.counts
    return Fixed(numbers.counts.astype(object), numbers.decimals).to(decimals).counts


def _shown(problems: list[Problem]) -> list[Problem]:
    more = len(problems) - _MOST_SHOWN
    return [*problems[:_MOST_SHOWN], Problem("", f"... and {more} more")] if more > 0 else problems


def _quoted(text: str) -> str:
    said = text.strip()
    return repr(said if len(said) <= _MOST_SHOWN else said[:_MOST_SHOWN] + "...")


@dataclass(frozen=True, slots=True)
class _Lines:
    """Lines of a file that are not blank, with their numbers, and the problems found in the whole file so far."""

    numbers: list[int]
    texts: list[str]
    found: list[tuple[int, str, str]]

    @classmethod
    def of_file(cls, path: Path) -> _Lines:
        """Return the lines of a file, or raise DataError where it is no text."""
        try:
            content = path.read_bytes()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise DataError.one(str(path), f"cannot be read: {reason}.", "Is the path right?") from error
        try:
            text = content.removeprefix(codecs.BOM_UTF8).decode("ascii")
        except UnicodeDecodeError as error:
            line = 1 + content.count(b"\n", 0, error.start)
            remedy = "A JJ file has numbers and letters only: save it as ASCII or UTF-8."
            raise DataError.one(f"{path}, line {line}", "is not plain text.", remedy) from error
        texts = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        numbers = [number for number, said in enumerate(texts, 1) if said and not said.isspace()]
        if not numbers:
            raise DataError.one(str(path), "is empty.", "A JJ file begins with 0 and the number of cells.")
        return cls(numbers, [texts[number - 1] for number in numbers], [])

    def __len__(self) -> int:
        return len(self.texts)

    def part(self, start: int, end: int | None = None) -> _Lines:
        """Return some of the lines."""
        return _Lines(self.numbers[start:end], self.texts[start:end], self.found)

    def complain(self, place: int, message: str, remedy: str = "") -> None:
        """Note a problem of one line."""
        self.found.append((self.numbers[place], message, remedy))


def _blocks(lines: _Lines) -> tuple[int, _Lines, _Lines]:
    """Return how many cells are announced, -1 where that is not known, the lines of the cells, and of the equations."""
    if lines.texts[0].strip() not in {"0", "0.0"}:
        lines.complain(0, f"the file begins with {_quoted(lines.texts[0])} instead of 0.", "Is it a JJ file?")
    n_cells = _announced(lines, 1, "cells", least=1)
    middle = _middle(lines.texts, n_cells)
    cells = lines.part(2, middle)
    if len(cells) != n_cells >= 0:
        lines.complain(1, f"the file announces {n_cells} cells and has {len(cells)} lines of cells.", _CUT)
    n_equations = _announced(lines, middle, "equations", least=0)
    equations = lines.part(middle + 1)
    if len(equations) < n_equations:
        lines.complain(-1, f"the file announces {n_equations} equations and has {len(equations)}.", _CUT)
    elif len(equations) > n_equations >= 0:
        remedy = "Remove what follows, or announce more equations."
        equations.complain(n_equations, f"the file goes on after the last of {n_equations} equations.", remedy)
        equations = equations.part(0, n_equations)
    return n_cells, cells, equations


def _announced(lines: _Lines, place: int, what: str, *, least: int) -> int:
    """Return the number of cells or equations that a line announces, -1 where it does not."""
    if place >= len(lines):
        lines.complain(-1, f"the file breaks off: no number of {what} follows.", _CUT)
        return -1
    with contextlib.suppress(ValueError):
        number = _whole(lines.texts[place])
        if number >= least:
            return number
    seen = f"the number of {what} is {_quoted(lines.texts[place])}."
    lines.complain(place, seen, f"It must be a whole number, at least {least}.")
    return -1


def _middle(texts: list[str], n_cells: int) -> int:
    """Return where the number of equations stands; where the number of cells is wrong, the first equation tells."""
    if 0 <= n_cells < len(texts) - 2 and len(texts[2 + n_cells].split()) == 1:
        return 2 + n_cells
    equation = next((place for place in range(2, len(texts)) if ":" in texts[place]), None)
    if equation is not None:
        return max(2, equation - 1)
    return next((place for place in range(2, len(texts)) if len(texts[place].split()) == 1), len(texts))


def _cells(lines: _Lines) -> tuple[Risk, _Flags]:
    """Return the cells without their relations, and of which of them every entry could be read, ``(n_cells,)``."""
    rows: list[Sequence[str]] = [text.split() for text in lines.texts]
    entries = _Entries(lines, np.array([len(row) == len(_ENTRIES) for row in rows], dtype=bool))
    for place in np.flatnonzero(~entries.sound).tolist():
        seen = f"a line of {len(rows[place])} entries where a cell has {len(_ENTRIES)}."
        lines.complain(place, seen, f"Wanted: {', '.join(_ENTRIES)}.")
        rows[place] = _NOTHING
    columns = zip(*rows, strict=True) if rows else [()] * len(_ENTRIES)
    _, values, costs, letters, lower, upper, *levels = columns
    attacker = Attacker("file", entries.exact("lb", lower, endless=True), entries.exact("ub", upper, endless=True))
    amounts, n = entries.exact("value", values), len(rows)
    risk = Risk(
        table=Table((), np.zeros((n, 0), np.int32), ("value",), np.zeros(n, np.int32), amounts, Relations.none(n)),
        status=entries.statuses(letters),
        levels=Levels(*(entries.exact(name, texts) for name, texts in zip(_ENTRIES[6:], levels, strict=True))),
        cost=entries.doubles("cost", costs),
        attackers=(attacker,),
    )
    entries.refuse(_impossible(risk))
    entries.refuse((wrong & entries.sound, message, remedy) for wrong, message, remedy in _contradictions(risk))
    return risk, entries.sound


def _in_order(lines: _Lines) -> bool:
    """Return whether the cells are numbered 0, 1, 2 ...; complain where they are not, but not about all that follow."""
    numbers = [text.split(None, 1)[0] for text in lines.texts]
    if numbers == [str(place) for place in range(len(numbers))]:
        return True
    before, ordered = -1, True
    for place, text in enumerate(numbers):
        number = None
        with contextlib.suppress(ValueError):
            number = _whole(text)
        if number not in {place, before + 1}:
            lines.complain(place, f"cell number {_quoted(text)} where {before + 1} comes next.", "Cells count from 0.")
            ordered = False
        before = before + 1 if number is None else number
    return ordered


@dataclass(frozen=True, slots=True)
class _Entries:
    """Reads one entry of many lines, and marks the lines that are not `sound`: an entry could not be read."""

    lines: _Lines
    sound: _Flags

    def exact(self, name: str, texts: Sequence[str], *, endless: bool = False) -> Fixed:
        """Return decimals digit by digit, zero where a text is not a number that can be kept."""
        doubles = _parsed(texts)
        beyond = _out_of_reach(texts, doubles)
        infinite = np.isinf(doubles) & ~beyond
        wrong = {
            "is not a number.": np.isnan(doubles),
            "is infinite.": infinite & (not endless),
            f"is out of reach: numbers have up to {_MOST_DIGITS} digits.": beyond,
        }
        usable = (~np.logical_or.reduce(list(wrong.values())) & (doubles != 0)).tolist()
        with localcontext(prec=4 * _MOST_DIGITS):
            numbers = Fixed.of_texts([text if kept else "0" for text, kept in zip(texts, usable, strict=True)])
        wrong["cannot be told from infinity: write inf."] = numbers.infinite & ~infinite
        for message, places in wrong.items():
            self._unread(f"{name} {{}} {message}", texts, np.flatnonzero(places).tolist())
        return numbers

    def doubles(self, name: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the nearest doubles, zero where a text is not a number."""
        doubles = _parsed(texts)
        unknown = np.isnan(doubles)
        self._unread(f"{name} {{}} is not a number.", texts, np.flatnonzero(unknown).tolist())
        return np.where(unknown, 0.0, doubles) + 0.0  # no negative zero

    def statuses(self, texts: Sequence[str]) -> NDArray[np.str_]:
        """Return the statuses, safe where a text is none."""
        letters = [text.lower() for text in texts]
        unknown = [place for place, letter in enumerate(letters) if letter not in _STATUSES]
        self._unread("status {} is unknown: it must be s, u, m or z.", texts, unknown)
        for place in unknown:
            letters[place] = SAFE
        return np.array(letters, dtype="<U1")

    def refuse(self, findings: Iterable[_Finding]) -> None:
        """Complain about numbers that could be read and make no sense."""
        for wrong, message, remedy in findings:
            for place in np.flatnonzero(wrong).tolist():
                self.lines.complain(place, f"cell {place}: {message}", remedy)

    def _unread(self, message: str, texts: Sequence[str], places: list[int]) -> None:
        self.sound[places] = False
        for place in places:
            self.lines.complain(place, message.format(_quoted(texts[place])))


def _parsed(texts: Sequence[str]) -> NDArray[np.float64]:
    """Return the nearest doubles, not-a-number where a text is none."""
    if "_" not in "".join(texts):
        with contextlib.suppress(ValueError):
            return np.array([float(text) for text in texts], dtype=np.float64)
    return np.array([_double(text) for text in texts], dtype=np.float64)


def _double(text: str) -> float:
    with contextlib.suppress(ValueError):
        return math.nan if "_" in text else float(text)  # 1_000 is a number for Python alone
    return math.nan


def _out_of_reach(texts: Sequence[str], doubles: NDArray[np.float64]) -> _Flags:
    """Return which numbers have too many digits, also where their doubles are infinite or zero because of that."""
    size = np.abs(doubles)
    usual = np.isnan(size) | ((size > 10.0**-_MOST_DIGITS) & (size < 10.0**_MOST_DIGITS))
    out = np.array([len(text) > _MOST_DIGITS for text in texts], dtype=bool) & ~np.isnan(size)
    for place in np.flatnonzero(~usual).tolist():
        if texts[place] != "0" and not _within_reach(texts[place]):
            out[place] = True
    return out


def _within_reach(text: str) -> bool:
    try:
        number = Decimal(text)
    except ArithmeticError:  # not even Decimal takes such an exponent
        return False
    return number.is_zero() or number.is_infinite() or abs(number.adjusted()) < _MOST_DIGITS


def _whole(text: str) -> int:
    """Return a whole number, also one written as ``-1.0`` or, as R does, ``1e+05``; ValueError for anything else."""
    if "_" in text:
        raise ValueError(text)
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


@dataclass(frozen=True, slots=True)
class _Equation:
    """One equation as it is written."""

    right: str
    announced: int
    cells: list[int]
    factors: list[int]

    @classmethod
    def of_text(cls, text: str) -> _Equation:
        """Return the equation of a line; ValueError with the part that is none."""
        head, _, tail = text.partition(":")
        *pieces, piece = tail.split(")")
        if piece and not piece.isspace():
            raise ValueError(piece)
        cells, factors = [], []
        try:
            for piece in pieces:
                cell, _, factor = piece.partition("(")
                cells.append(_whole(cell))
                factors.append(_whole(factor))
            piece = head
            right, announced = head.split()
            return cls(right, _whole(announced), cells, factors)
        except ValueError:
            raise ValueError(piece) from None

    def flaws(self, n_cells: int) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with the terms, and what to do."""
        cells = self.cells
        if len(cells) != self.announced:
            yield f"the equation announces {self.announced} terms and has {len(cells)}.", _CUT
        if cells and not 0 <= min(cells) <= max(cells) < n_cells:
            beyond = next(cell for cell in cells if not 0 <= cell < n_cells)
            yield f"there is no cell {beyond}.", f"Cells count from 0 to {n_cells - 1}."
        if len(set(cells)) < len(cells):
            twice = Counter(cells).most_common(1)[0][0]
            yield f"cell {twice} stands more than once in the equation.", "Add up its coefficients."
        if cells and max(map(abs, self.factors)) >= LARGEST_COUNT:
            yield "a coefficient does not fit into 64 bits.", "Divide the equation by a common factor."


def _equations(lines: _Lines, n_cells: int) -> tuple[_Lines, list[_Equation]]:
    """Return the equations without flaws, and their lines."""
    wanted = "Wanted: 0 3 : 0 (-1) 1 (1) 2 (1), with whole coefficients."
    good, read = _Lines([], [], lines.found), []
    for place, text in enumerate(lines.texts):
        try:
            equation = _Equation.of_text(text)
        except ValueError as error:
            lines.complain(place, f"{_quoted(str(error))} is no part of an equation.", wanted)
            continue
        flaws = list(equation.flaws(n_cells))
        for flaw in flaws:
            lines.complain(place, *flaw)
        if not flaws:
            good.numbers.append(lines.numbers[place])
            good.texts.append(text)
            read.append(equation)
    return good, read


def _fits(amounts: Fixed, lines: _Lines) -> bool:
    """Return whether the values are short enough for sums in 64-bit integers."""
    if amounts.counts.dtype != object and np.abs(amounts.counts).max(initial=0) < LARGEST_COUNT:
        return True
    largest = int(np.argmax(np.abs(amounts.counts)))
    seen = f"cell {largest}: the value has too many digits where values have {amounts.decimals} decimals."
    lines.complain(largest, seen, "Values have up to 18 digits with their decimals: round them.")
    return False


def _related(table: Table, sound: _Flags, lines: _Lines, equations: list[_Equation]) -> Table:
    """Return the table with relations that hold exactly; complain about equations that its values do not satisfy.

    Coefficients are whole, so ``M a`` has the decimals of the values, whatever those of the right side: the values'
    last decimal is the unit in which an equation may miss.
    """
    counts, matrix = table.amounts.counts, _matrix(equations, len(table))
    entries = _Entries(lines, np.ones(len(lines), dtype=bool))
    right = entries.exact("right side", [equation.right for equation in equations])
    size = abs(matrix)
    endless = size.astype(np.float64) @ np.abs(counts).astype(np.float64) >= LARGEST_COUNT
    for place in np.flatnonzero(endless).tolist():
        lines.complain(place, "the sum of the equation does not fit into 64 bits.", "Round the values.")
    doubtful = (size @ (~sound).astype(np.int64) > 0) | endless | ~entries.sound
    sums = np.where(doubtful, 0, matrix @ counts)
    decimals = max(table.decimals, right.decimals)
    misses = np.abs(_counted(Fixed(sums, table.decimals), decimals) - _counted(right, decimals))
    rounded = 0
    for place in np.flatnonzero((misses != 0) & ~doubtful).tolist():
        units = Fraction(int(misses[place]), 10 ** (decimals - table.decimals))
        allowed = additivity_units(int(matrix.indptr[place + 1] - matrix.indptr[place]))
        if units > allowed:
            seen = f"the values miss the right side by {float(units):g} units of their last decimal"
            lines.complain(
                place, f"{seen}, and rounding explains {allowed:g}.", "Correct the values or the right side."
            )
        rounded += units <= allowed
    note = f"{rounded} of {len(lines)} equations miss by rounding: their right sides take the difference."
    return replace(table, relations=Relations(matrix, sums)).noting(*([note] if rounded else []))


def _matrix(equations: list[_Equation], n_cells: int) -> sp.csr_array:
    """Return the coefficients, ``(n_equations, n_cells)``."""
    starts = np.cumsum([0, *(len(equation.cells) for equation in equations)])
    cells = np.fromiter(chain.from_iterable(equation.cells for equation in equations), dtype=np.int64)
    factors = np.fromiter(chain.from_iterable(equation.factors for equation in equations), dtype=np.int64)
    matrix = sp.csr_array((factors, cells, starts), shape=(len(equations), n_cells))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix
