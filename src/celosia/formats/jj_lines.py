"""The lines of a JJ file: what is announced, what is there, and every problem with its line."""

from __future__ import annotations

import codecs
import contextlib
from dataclasses import dataclass
from pathlib import Path

from celosia.errors import DataError
from celosia.files import read_bytes

CUT = "Has the file been cut off or edited?"
_LONGEST = 20  # characters of a file that a message quotes


def quote_stripped(text: str) -> str:
    """Return the beginning of a text as a message shows it."""
    said = text.strip()
    return repr(said if len(said) <= _LONGEST else said[:_LONGEST] + "...")


@dataclass(frozen=True, slots=True)
class FileLines:
    """Lines of a file that are not blank, with their numbers, and the problems found in the whole file so far."""

    numbers: list[int]
    texts: list[str]
    found: list[tuple[int, str, str]]

    @classmethod
    def of_file(cls, path: Path) -> FileLines:
        """Return the lines of a file, or raise DataError where it is no text."""
        content = read_bytes(path)
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

    def part(self, start: int, end: int | None = None) -> FileLines:
        """Return some of the lines."""
        return FileLines(self.numbers[start:end], self.texts[start:end], self.found)

    def complain(self, place: int, message: str, remedy: str = "") -> None:
        """Note a problem of one line."""
        self.found.append((self.numbers[place], message, remedy))


def blocks(lines: FileLines) -> tuple[int, FileLines, FileLines]:
    """Return how many cells are announced, -1 where that is not known, the lines of the cells, and of the equations."""
    if lines.texts[0].strip() not in {"0", "0.0"}:
        lines.complain(0, f"the file begins with {quote_stripped(lines.texts[0])} instead of 0.", "Is it a JJ file?")
    n_cells = _read_announcement(lines, 1, "cells", least=1)
    middle = _middle(lines.texts, n_cells)
    cells = lines.part(2, middle)
    if len(cells) != n_cells >= 0:
        lines.complain(1, f"the file announces {n_cells} cells and has {len(cells)} lines of cells.", CUT)
    n_equations = _read_announcement(lines, middle, "equations", least=0)
    equations = lines.part(middle + 1)
    if len(equations) < n_equations:
        lines.complain(-1, f"the file announces {n_equations} equations and has {len(equations)}.", CUT)
    elif len(equations) > n_equations >= 0:
        remedy = "Remove what follows, or announce more equations."
        equations.complain(n_equations, f"the file goes on after the last of {n_equations} equations.", remedy)
        equations = equations.part(0, n_equations)
    return n_cells, cells, equations


def _read_announcement(lines: FileLines, place: int, what: str, *, least: int) -> int:
    """Return the number of cells or equations that a line announces, -1 where it does not."""
    if place >= len(lines):
        lines.complain(-1, f"the file breaks off: no number of {what} follows.", CUT)
        return -1
    with contextlib.suppress(ValueError):
        number = whole(lines.texts[place])
        if number >= least:
            return number
    seen = f"the number of {what} is {quote_stripped(lines.texts[place])}."
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


def whole(text: str) -> int:
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
