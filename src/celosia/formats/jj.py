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

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from celosia.arguments import takes
from celosia.errors import DataError, Problem, SpecError
from celosia.files import write_texts
from celosia.formats.jj_attackers import attacker_lines, attackers_file, of_first_attacker, read_attackers
from celosia.formats.jj_entries import Entries, Finding, Flags, counts_in
from celosia.formats.jj_equations import add_relations, equations_of, fits
from celosia.formats.jj_lines import FileLines, blocks, quote_stripped, whole
from celosia.risk.attacker import Attacker
from celosia.risk.risk import SAFE, Levels, Risk
from celosia.table.fixed import INFINITE, Fixed
from celosia.table.relations import Relations
from celosia.table.table import Table

_ENTRIES = ("cell number", "value", "cost", "status", "lb", "ub", "lpl", "upl", "spl")
_NOTHING = ("", "0", "0", SAFE, "0", "0", "0", "0", "0")
_MOST_SHOWN = 20


@takes(path=(str, Path))
def read_jj(path: str | Path) -> Risk:
    """Return the problem of a JJ file: a table without axes, its sensitive cells, and the file's attacker.

    Where ``problem.attackers.csv`` stands beside ``problem.jj``, its attackers attack, too, with what they know and
    with levels of their own; a note of the table says so.

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
    lines = FileLines.of_file(Path(path))
    n_cells, cell_lines, equation_lines = blocks(lines)
    risk, sound = _cells(cell_lines)
    equation_lines, equations = equations_of(equation_lines, max(n_cells, len(risk)))
    if _in_order(cell_lines) and len(risk) == n_cells and fits(risk.table.amounts, cell_lines):
        risk = replace(risk, table=add_relations(risk.table, sound, equation_lines, equations))
    if lines.found:
        found = sorted(lines.found, key=lambda problem: problem[0])
        raise DataError(_shorten([Problem(f"{path}, line {line}", *said) for line, *said in found]))
    beside = attackers_file(Path(path))
    return read_attackers(beside, risk) if beside.is_file() else risk


@takes(risk=Risk, path=(str, Path))
def write_jj(risk: Risk, path: str | Path) -> None:
    """Write the problem as a JJ file, exactly; its files appear whole, together, or not at all.

    Attackers but the first, who is the file's, go into ``problem.attackers.csv`` beside ``problem.jj``. Labels, rules,
    reasons and contributors have no place in such files.

    Parameters
    ----------
    risk
        The sensitive cells of a table; the first attacker knows no more than any other, and has no own levels.
    path
        The file to write; one that is there is replaced.

    Raises
    ------
    SpecError
        There are attackers of whom the files have no room to tell, or a file cannot be written.
    DataError
        A cell contradicts itself, so that the file could not be read again.
    """
    if not risk.attackers:
        raise SpecError.one("attackers", "are missing: a JJ file tells what one of them knows.", "Give at least one.")
    beside = attackers_file(Path(path))
    further = list(attacker_lines(risk)) if len(risk.attackers) > 1 or beside.is_file() else []
    risk = of_first_attacker(risk)
    found = [
        Problem(risk.table.label(cell), message, remedy)
        for wrong, message, remedy in (*_impossible(risk), *_contradictions(risk))
        for cell in np.flatnonzero(wrong).tolist()
    ]
    if found:
        raise DataError(_shorten(found))
    texts = {Path(path): _file_lines(risk)} | ({beside: further} if further else {})
    write_texts(texts)


def _file_lines(risk: Risk) -> Iterator[str]:
    """Yield the lines of the file."""
    table, attacker = risk.table, risk.attackers[0]
    costs = [repr(cost).removesuffix(".0") for cost in risk.cost.tolist()]
    exact = [numbers.texts() for numbers in (attacker.lower, attacker.upper, *_three(risk.levels))]
    yield f"0\n{len(risk)}\n"
    for cell, entries in enumerate(zip(table.amounts.texts(), costs, risk.status.tolist(), *exact, strict=True)):
        yield f"{cell} {' '.join(entries)}\n"
    yield f"{len(table.relations)}\n"
    for relation, right in enumerate(Fixed.of_counts(table.relations.right, table.decimals).texts()):
        terms = table.relations.terms(relation)
        yield " ".join([right, str(len(terms)), ":", *(f"{cell} ({factor})" for cell, factor in terms)]) + "\n"


def _impossible(risk: Risk) -> Iterator[Finding]:
    """Yield which cells have a number that makes no sense by itself, and why."""
    yield ~np.isfinite(risk.cost), "the cost is infinite or not a number.", "Costs are zero or more."
    yield risk.cost < 0, "the cost is negative.", "Costs are zero or more."
    for name, level in zip(_ENTRIES[6:], _three(risk.levels), strict=True):
        yield level.infinite, f"{name} is infinite.", "No table protects that much."
        yield np.asarray(level.counts < 0, dtype=bool), f"{name} is negative.", "Levels are distances from the value."


def _contradictions(risk: Risk) -> Iterator[Finding]:
    """Yield which cells have numbers that contradict each other, and why."""
    amounts, attacker = risk.table.amounts, risk.attackers[0]
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


def _exceeds(left: Fixed, right: Fixed) -> Flags:
    """Return where `left` is greater than `right`, exactly."""
    decimals = max(left.decimals, right.decimals)
    greater = np.asarray(counts_in(left, decimals) > counts_in(right, decimals), dtype=bool)
    endless = left.infinite | right.infinite
    greater[endless] = left.floats[endless] > right.floats[endless]
    return greater


def _shorten(problems: list[Problem]) -> list[Problem]:
    more = len(problems) - _MOST_SHOWN
    return [*problems[:_MOST_SHOWN], Problem("", f"... and {more} more")] if more > 0 else problems


def _cells(lines: FileLines) -> tuple[Risk, Flags]:
    """Return the cells without their relations, and of which of them every entry could be read, ``(n_cells,)``."""
    rows: list[Sequence[str]] = [text.split() for text in lines.texts]
    entries = Entries(lines, np.array([len(row) == len(_ENTRIES) for row in rows], dtype=bool))
    for place in np.flatnonzero(~entries.sound).tolist():
        seen = f"a line of {len(rows[place])} entries where a cell has {len(_ENTRIES)}."
        lines.complain(place, seen, f"Wanted: {', '.join(_ENTRIES)}.")
        rows[place] = _NOTHING
    columns = zip(*rows, strict=True) if rows else [()] * len(_ENTRIES)
    _, values, costs, letters, lower, upper, *levels = columns
    attacker = _attacker(entries, lower, upper)
    amounts, n = entries.exact("value", values), len(rows)
    risk = Risk(
        table=Table((), np.zeros((n, 0), np.int32), ("value",), np.zeros(n, np.int32), amounts, Relations.none(n)),
        status=entries.statuses(letters),
        levels=Levels(*(entries.exact(name, texts) for name, texts in zip(_ENTRIES[6:], levels, strict=True))),
        cost=entries.doubles("cost", costs),
        attackers=(attacker,),
        unasked="a JJ file names no contributors",
    )
    entries.refuse(_impossible(risk))
    risk = _without_idle_levels(risk, lines, complain=bool(entries.sound.all()))
    entries.refuse((wrong & entries.sound, message, remedy) for wrong, message, remedy in _contradictions(risk))
    return risk, entries.sound


def _attacker(entries: Entries, lower: Sequence[str], upper: Sequence[str]) -> Attacker:
    """Return the attacker of the file; bounds that no number meets are complained of and left aside."""
    lowest, highest = entries.exact("lb", lower, endless=True), entries.exact("ub", upper, endless=True)
    beyond = np.asarray((lowest.counts == INFINITE) | (highest.counts == -INFINITE), dtype=bool)
    entries.refuse([(beyond, "the value lies outside lb .. ub.", "What the attacker knows must be true.")])
    return Attacker(
        "file",
        Fixed(np.where(beyond, -INFINITE, lowest.counts), lowest.decimals),
        Fixed(np.where(beyond, INFINITE, highest.counts), highest.decimals),
    )


def _without_idle_levels(risk: Risk, lines: FileLines, *, complain: bool) -> Risk:
    """Return the problem without the levels of cells that are not sensitive, which tau-ARGUS and sdcTable write too.

    A file with levels and no sensitive cell is refused: something has been lost.
    """
    idle = np.logical_or.reduce([np.asarray(level.counts > 0, dtype=bool) for level in _three(risk.levels)])
    idle &= ~risk.sensitive
    if not idle.any():
        return risk
    if complain and not risk.sensitive.any():
        first = int(np.flatnonzero(idle)[0])
        lines.complain(first, "there are protection levels and no sensitive cell.", "Give what to protect status u.")
    levels = [Fixed(np.where(idle, 0, level.counts), level.decimals) for level in _three(risk.levels)]
    note = f"the levels of {int(idle.sum())} cells that are not sensitive are left aside."
    return replace(risk, levels=Levels(*levels), table=risk.table.with_notes(note))


def _in_order(lines: FileLines) -> bool:
    """Return whether the cells are numbered 0, 1, 2 ...; complain where they are not, but not about all that follow."""
    numbers = [text.split(None, 1)[0] for text in lines.texts]
    if numbers == [str(place) for place in range(len(numbers))]:
        return True
    before, ordered = -1, True
    for place, text in enumerate(numbers):
        number = None
        with contextlib.suppress(ValueError):
            number = whole(text)
        if number not in {place, before + 1}:
            lines.complain(
                place, f"cell number {quote_stripped(text)} where {before + 1} comes next.", "Cells count from 0."
            )
            ordered = False
        before = before + 1 if number is None else number
    return ordered
