"""Further attackers of a JJ problem, which has room for one: a CSV file beside it.

``problem.attackers.csv`` belongs to ``problem.jj``, and has one line for an attacker and a cell::

    attacker,cell,lower,upper,lower_level,upper_level,sliding_level,own
    Miller,3,40,60,,,,
    Smith,3,,,5,5,,
    Smith,7,12,12,,,,1

An attacker knows what the file's attacker knows, and that the value lies between `lower` and `upper`. Where one of his
lines has a level he has levels of his own, in these cells alone; otherwise those of the file. He is
not kept from cells that are his `own` (1). What is empty is not said.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from celosia.errors import CelosiaError, DataError, Problem, Problems, SpecError, pluralise
from celosia.files import read_text
from celosia.risk.attacker import Attacker, Closeness, Known
from celosia.risk.risk import LEVELS, SAFE, SENSITIVE, SHOW, Risk

_NAMES = ("attacker", "cell", "lower", "upper", *(f"{kind}_level" for kind in LEVELS), "own")
_OWN = {"": False, "0": False, "1": True}


def attackers_file(path: Path) -> Path:
    """Return where the further attackers of a problem stand."""
    return path.with_name(f"{path.stem}.attackers.csv")


def read_attackers(path: Path, risk: Risk) -> Risk:
    """Return a problem with the further attackers of a file.

    Raises
    ------
    DataError
        Every line that cannot be read, or says what is not so.
    """
    found, said = Problems(), dict[str, dict[int, Mapping[str, str]]]()
    for number, line in _read_lines(path, found):
        place, name = f"{path}, line {number}", line["attacker"]
        cell = int(line["cell"]) if line["cell"].isdecimal() else len(risk)
        if not name or name == risk.attackers[0].name:
            found.add(
                place, "needs the name of a further attacker.", f"{risk.attackers[0].name!r} is the problem's own."
            )
        if cell >= len(risk):
            found.add(place, f"names no cell of the problem, which has {len(risk)}.", "Cells count from 0.")
        elif cell in said.setdefault(name, {}):
            found.add(place, "says something about a cell a second time.", "One line for an attacker and a cell.")
        elif line["own"] not in _OWN:
            found.add(place, "has something else than 0 or 1 in the column 'own'.")
        else:
            said[name][cell] = line
    found.raise_as(DataError)
    attackers = []
    for name, lines in said.items():
        try:
            attackers.append(_attacker(name, lines, risk))
        except CelosiaError as error:
            found.extend(Problem(f"{path}, {one.place}", one.message, one.remedy) for one in error.problems)
    found.raise_as(DataError)
    return _with_attackers(risk, attackers, path)


def _read_lines(path: Path, found: Problems) -> Iterator[tuple[int, Mapping[str, str]]]:
    """Yield the lines of a file with their numbers, every column by its name."""
    rows = csv.reader(read_text(path).splitlines())
    names = [name.strip() for name in next(rows, [])]
    unknown = [name for name in names if name not in _NAMES]
    if unknown or not {"attacker", "cell"} <= set(names):
        found.add(
            f"{path}, line 1", "must name the columns attacker and cell.", f"Further ones: {', '.join(_NAMES[2:])}."
        )
        return
    for number, row in enumerate(rows, start=2):
        if len(row) > len(names):
            found.add(f"{path}, line {number}", "has more entries than columns.")
        elif any(row):
            yield number, dict.fromkeys(_NAMES, "") | dict(zip(names, (text.strip() for text in row), strict=False))


def _attacker(name: str, lines: Mapping[int, Mapping[str, str]], risk: Risk) -> Attacker:
    """Return an attacker of whom these lines tell, by cells."""
    known: dict[int, Known] = {
        cell: (line["lower"] or None, line["upper"] or None)
        for cell, line in lines.items()
        if line["lower"] or line["upper"]
    }
    levels: dict[int, Closeness] = {}
    own = np.zeros(len(risk), dtype=bool)
    for cell, line in lines.items():
        below, above, sliding = (line[f"{kind}_level"] for kind in LEVELS)
        if below or above or sliding:
            levels[cell] = below or "0", above or "0", sliding or "0"
        own[cell] = _OWN[line["own"]]
    made = replace(risk.attackers[0], name=name, own=own if bool(own.any()) else None)
    made = made.with_knowledge(risk.table, known) if known else made
    return made.with_levels(risk.table, levels) if levels else made


def _with_attackers(risk: Risk, attackers: list[Attacker], path: Path) -> Risk:
    """Return the problem with further attackers; cells for which they have levels are sensitive.

    Raises
    ------
    DataError
        Some of them must be shown.
    """
    if not attackers:
        return risk
    found = risk.with_attackers((*risk.attackers, *attackers))
    shown = np.flatnonzero((found.status == SENSITIVE) & (risk.status == SHOW))
    if len(shown):
        raise DataError.one(str(path), f"has levels for cells that must be shown, the first being {shown[0]}.")
    said = f"{pluralise(len(attackers), 'further attacker')} beside that of the problem, from {path.name}."
    return replace(found, table=risk.table.with_notes(said))


def of_first_attacker(risk: Risk) -> Risk:
    """Return what the problem itself says: cells that are sensitive for further attackers alone are safe in it."""
    status = np.where(risk.required_of_single & ~risk.levels.required, SAFE, risk.status)
    return replace(risk, status=status, attackers=risk.attackers[:1])


def attacker_lines(risk: Risk) -> Iterator[str]:
    """Yield the lines of the file with all attackers but the first.

    Raises
    ------
    SpecError
        The first attacker has levels of his own, or knows more than another one: there is no room for that.
    """
    first, *others = risk.attackers
    if first.levels is not None or first.own is not None:
        raise SpecError.one("attackers", f"{first.name!r} comes first and has levels or cells of his own.", _REMEDY)
    yield ",".join(_NAMES) + "\n"
    for attacker in others:
        both = Attacker.together([first, replace(attacker, levels=None, own=None)])
        if not _same_bounds(both, attacker):
            raise SpecError.one(
                "attackers", f"{first.name!r} comes first and knows what {attacker.name!r} does not.", _REMEDY
            )
        yield from _lines_of(attacker, first, risk)


_REMEDY = "Put an attacker first who knows least, and is judged by the levels of the rules."


def _same_bounds(one: Attacker, other: Attacker) -> bool:
    return one.lower.texts() == other.lower.texts() and one.upper.texts() == other.upper.texts()


def _lines_of(attacker: Attacker, first: Attacker, risk: Risk) -> Iterator[str]:
    """Yield the lines of one attacker: at least one, so that he is not lost."""
    known = [
        ["" if text == before else text for text, before in zip(mine.texts(), his.texts(), strict=True)]
        for mine, his in ((attacker.lower, first.lower), (attacker.upper, first.upper))
    ]
    nothing = [""] * len(risk)
    levels = [nothing] * len(LEVELS)
    if attacker.levels is not None:
        asked = attacker.levels.required.tolist()
        exact = (getattr(attacker.levels, kind).texts() for kind in LEVELS)
        levels = [[text if is_asked else "" for text, is_asked in zip(side, asked, strict=True)] for side in exact]
    own = nothing if attacker.own is None else ["1" if is_own else "" for is_own in attacker.own.tolist()]
    name = f'"{attacker.name.replace(chr(34), chr(34) * 2)}"'
    rows = [(name, str(cell), *said) for cell, said in enumerate(zip(*known, *levels, own, strict=True)) if any(said)]
    for row in rows or [(name, "0", *[""] * (len(_NAMES) - 2))]:
        yield ",".join(row) + "\n"
