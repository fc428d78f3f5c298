"""Relations between variables that a user states: ``turnover = domestic + export``."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from celosia.errors import Problems, SpecError, nearest
from celosia.table.lattice import Lattice
from celosia.table.relations import Relations

_TERM = re.compile(r"\s*([+-])?\s*(?:(\d+)\s*\*\s*)?([^+\-*=]+?)\s*(?=[+-]|$)")


def parse_equation(text: str) -> dict[str, int]:
    """Return the coefficients of an equation by variable; the left side is negative, like a total.

    >>> parsed("turnover = domestic + export")
    {'turnover': -1, 'domestic': 1, 'export': 1}

    Raises
    ------
    ValueError
        The text is no equation of sums.
    """
    left, equals, right = text.partition("=")
    if not equals or "=" in right:
        raise ValueError("needs one equals sign")
    coefficients: dict[str, int] = {}
    for side, sign in ((left, -1), (right, 1)):
        for name, coefficient in _terms(side):
            coefficients[name] = coefficients.get(name, 0) + sign * coefficient
    return {name: coefficient for name, coefficient in coefficients.items() if coefficient}


def _terms(side: str) -> list[tuple[str, int]]:
    terms: list[tuple[str, int]] = []
    place = 0
    while place < len(side.rstrip()):
        match = _TERM.match(side, place)
        if match is None or (terms and not match[1]):
            raise ValueError(f"cannot be read at {side[place:].strip()!r}")
        terms.append((match[3].strip(), (-1 if match[1] == "-" else 1) * int(match[2] or 1)))
        place = match.end()
    if not terms:
        raise ValueError("has nothing on one side")
    return terms


def variable_relations(texts: Sequence[str], variables: Sequence[str], lattice: Lattice) -> list[Relations]:
    """Return the relations that the texts state, for every combination of codes in which all their variables exist.

    Parameters
    ----------
    texts
        Equations between variables.
    variables
        The variables; the first column of the lattice's codes is a place in this list.
    lattice
        The cells.
    """
    found = Problems()
    out = []
    for number, text in enumerate(texts):
        place = f"relations[{number}]"
        try:
            coefficients = parse_equation(text)
        except ValueError as error:
            found.add(place, f"{text!r} {error}.", "Write it like 'turnover = domestic + export'.")
            continue
        if not coefficients:
            found.add(place, f"{text!r} says nothing: everything in it cancels.")
            continue
        unknown = [name for name in coefficients if name not in variables]
        for name in unknown:
            found.add(place, f"{name!r} is not a variable of the tables.", nearest(name, variables))
        if not unknown:
            out.append(_relation({variables.index(name): c for name, c in coefficients.items()}, lattice))
    found.raise_as(SpecError)
    return out


def _relation(coefficients: dict[int, int], lattice: Lattice) -> Relations:
    base = lattice.codes[lattice.codes[:, 0] == next(iter(coefficients))]
    columns: list[NDArray[np.int64]] = []
    for variable in coefficients:
        codes = base.copy()
        codes[:, 0] = variable
        columns.append(lattice.find(codes))
    cells = np.column_stack(columns)
    cells = cells[(cells >= 0).all(axis=1)]
    row = np.repeat(np.arange(len(cells)), cells.shape[1])
    coefficient = np.tile(np.array(list(coefficients.values())), len(cells))
    return Relations.of_terms(row, cells.ravel(), coefficient, shape=(len(cells), len(lattice)))
