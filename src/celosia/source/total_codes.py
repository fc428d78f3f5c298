"""Codes that are called like a total: a sign that rows are ready-made cells, and no records."""

from __future__ import annotations

import re
from collections.abc import Iterable

from celosia.errors import DataError, Problems, SpecError, list_items
from celosia.table.dimension import Dimension

CHOICES = ("error", "keep")
"""What becomes of microdata with such codes: they are refused, or the codes are taken for codes like any other."""

_CERTAIN = frozenset(("total", "grand total", "_t"))
_LIKELY = re.compile(r"(grand[ _-]?)?(total|totals|tot|totaal|totale|insgesamt|gesamt|ensemble|all|_t)([ _-].*)?")


def names_a_total(code: str) -> bool:
    """Return whether a code looks like the name of a total, in the languages that tables come in."""
    return _LIKELY.fullmatch(code.strip().casefold()) is not None


def refuse_total_codes(place: str, dimensions: Iterable[Dimension], choice: str) -> None:
    """Refuse dimensions of microdata in which a code has the name of a total.

    A table of records that are totals already counts every respondent twice and more: its cells look larger, its
    contributors more, and its largest contributions smaller than they are, and sensitive cells pass for safe.

    Parameters
    ----------
    place
        Where the records are.
    dimensions
        The dimensions of the tables.
    choice
        One of `CHOICES`.

    Raises
    ------
    SpecError
        There is no such choice.
    DataError
        Such codes occur, and are not declared to be codes like any other.
    """
    if choice not in CHOICES:
        raise SpecError.one("total_codes", f"must be one of {', '.join(CHOICES)}, not {choice!r}.")
    if choice == "keep":
        return
    found = Problems()
    for dimension in dimensions:
        codes = sorted(_codes_named_total(dimension))
        if codes:
            said = list_items(codes)
            seen = f"codes that are called like a total: {said}. Are the rows ready-made cells, and no records?"
            remedy = "Then use celosia.cells, in a job [cells]; if they are codes like any other: total_codes='keep'."
            found.add(f"{place}, dimension {dimension.name!r}", seen, remedy)
    found.raise_as(DataError)


def _codes_named_total(dimension: Dimension) -> set[str]:
    """Return the codes without codes below them that have the name of the total, or one that only totals have."""
    names = _CERTAIN | {dimension.axis.labels[0].strip().casefold()}
    above = {path[:-1] for path in dimension.node_of_path}
    leaves = (path[-1] for path in dimension.node_of_path if path not in above)
    return {code for code in leaves if code.strip().casefold() in names}
