r"""Levels that tell nothing of contributions: values fall into classes, and all values of a class have its levels.

A level of a rule is a part of the largest contribution, so a range that is as narrow as levels allow tells it by its
width. Here the range of a sensitive cell is that of its class. Ends and width of the range depend on the class alone,
and levels that a reader takes off again are padding around it: he is left with the whole class, whatever he knows of
rule and mechanism. Classes of all cells fit together, and a reader who knows all of them is one of the attackers
(docs/mathematics.md, *Concealed levels*).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from celosia.risk.attacker import Attacker
from celosia.risk.class_boxes import ClassBoxes, draw_boxes, sum_exactly
from celosia.risk.classes import classes_of
from celosia.risk.risk import SHOW, Levels, Risk
from celosia.table.fixed import INFINITE, Fixed

TWO_DRAWS = "Two draws leave readers two thirds of a range on average, and next to nothing of some."
"""What comes of another secret for a table that was published."""

_KEY_BYTES = 16


@dataclass(frozen=True, slots=True, eq=False)
class ConcealedRisk:
    """A risk with levels that reach to the ends of classes.

    Parameters
    ----------
    risk
        For every attacker it has a second one, who knows all classes, and from whom no value of a class may be kept.
    classes
        The classes, in units.
    concealed
        Which cells have levels of classes, ``(n_cells,)``; other sensitive ones keep their own.
    fits
        Everything that is asked for can be met by ranges of all cells, and some may be met by fewer.
    """

    risk: Risk
    classes: ClassBoxes
    concealed: NDArray[np.bool_]
    fits: bool


def conceal_levels(risk: Risk, secret: int, among: NDArray[np.bool_] | None = None) -> ConcealedRisk:
    """Return the risk with levels that reach to the ends of classes.

    Guarantee: every level that is changed asks for at least what it asked for before: lower, upper and sliding.

    Parameters
    ----------
    risk
        What is to be protected.
    secret
        The key by which classes are drawn, leaf by leaf.
    among
        Which cells may be concealed, ``(n_cells,)``; by default all.
    """
    table, shares = risk.table, risk.shares
    values = table.amounts.counts
    allowed = np.asarray(risk.sensitive & (values >= 0), dtype=bool)
    allowed &= np.zeros(len(risk), dtype=bool) if shares is None else shares.width > 0
    if among is not None:
        allowed &= among
    for cell in np.flatnonzero(allowed).tolist():
        allowed[cell] = shares is not None and classes_of(shares, cell) is not None
    levels, decimals = _open_levels(risk)
    unit = 10 ** (decimals - table.decimals)
    while shares is not None:  # a total whose parts are not concealed has other classes
        drawn = draw_boxes(table.relations, values, allowed, shares, lambda leaf: draw_start(secret, table.label(leaf)))
        asked = {cell: _pad(risk, drawn, cell) for cell in np.flatnonzero(allowed).tolist()}
        short = [
            cell for cell, ends in asked.items() if not _suffices(ends, cell, int(values[cell]), levels, unit, risk)
        ]
        if not short:
            break
        allowed[short] = False
    else:
        return ConcealedRisk(risk, _no_boxes(len(risk)), allowed, fits=True)
    for cell, (below, above) in asked.items():
        value = int(values[cell])
        levels[0][cell], levels[1][cell], levels[2][cell] = (value - below) * unit, (above - value) * unit, 0
    changed = Levels(*(Fixed.of_counts(level, decimals) for level in levels))
    if not bool(allowed.any()):
        return ConcealedRisk(risk, drawn, allowed, fits=True)
    readers = [tell_classes(attacker, drawn, risk, allowed) for attacker in risk.attackers]
    aimed = replace(risk, levels=changed, attackers=(*risk.attackers, *readers))
    return ConcealedRisk(aimed, drawn, allowed, _fits(risk, drawn))


def tell_classes(attacker: Attacker, classes: ClassBoxes, risk: Risk, cells: NDArray[np.bool_]) -> Attacker:
    """Return a reader who knows of every cell its class, beside what an attacker knows, and may rule nothing out of it.

    Parameters
    ----------
    attacker
        What he knows otherwise.
    classes
        The classes.
    risk
        The table.
    cells
        From which cells he is kept, ``(n_cells,)``.
    """
    decimals, known = risk.table.decimals, classes.known
    least, most = (np.where(known, ends, 0) for ends in (classes.least, classes.most))
    told = Attacker(
        f"{attacker.name}, told classes",
        _bounded(least, known, decimals, -INFINITE),
        _bounded(most, known, decimals, INFINITE),
    )
    both = Attacker.together([replace(attacker, levels=None), told], told.name)
    value = risk.table.amounts.counts.astype(object)
    own = Levels(
        Fixed.of_counts(np.where(cells, value - least, 0), decimals),
        Fixed.of_counts(np.where(cells, most - value, 0), decimals),
        Fixed(np.zeros(len(value), dtype=np.int64)),
    )
    return replace(both, levels=own, told_classes=True)


def draw_start(secret: int, name: str) -> float:
    """Return a number from 0 to below 1 that follows from a secret and the name of a cell, and from nothing else.

    The same secret gives the same classes for every period and revision of a table: two releases do not intersect them.
    """
    key = secret.to_bytes(max(_KEY_BYTES, (secret.bit_length() + 7) // 8), "big")
    digest = hashlib.blake2b(name.encode(), key=hashlib.blake2b(key).digest(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2**48


def _open_levels(risk: Risk) -> tuple[list[NDArray[np.object_]], int]:
    """Return lower, upper and sliding levels as exact counts that can be changed, and their decimals."""
    sides = (risk.levels.lower, risk.levels.upper, risk.levels.sliding)
    decimals = max(risk.table.decimals, *(level.decimals for level in sides))
    return [level.to(decimals).counts.astype(object) for level in sides], decimals


def _pad(risk: Risk, drawn: ClassBoxes, cell: int) -> tuple[int, int]:
    """Return the ends of the range of a class, with levels as padding around it."""
    assert risk.shares is not None  # noqa: S101  (without shares nothing is concealed)
    own = classes_of(risk.shares, cell)
    assert own is not None  # noqa: S101
    return own.pad(int(drawn.below[cell]), int(drawn.most[cell]))


def _suffices(
    ends: tuple[int, int], cell: int, value: int, levels: list[NDArray[np.object_]], unit: int, risk: Risk
) -> bool:
    """Return whether the range of a class leaves what levels ask for, and no attacker knows closer ends beforehand."""
    lower, upper, sliding = (int(level[cell]) for level in levels)
    down, up = (value - ends[0]) * unit, (ends[1] - value) * unit
    return down >= lower and up >= upper and down + up >= sliding and _within_knowledge(risk, cell, *ends)


def _within_knowledge(risk: Risk, cell: int, below: int, above: int) -> bool:
    """Return whether no attacker knows beforehand that a value lies closer than the ends of a range."""
    ends = Fraction(below, 10**risk.table.decimals), Fraction(above, 10**risk.table.decimals)
    for attacker in risk.attackers:
        low, high = attacker.lower, attacker.upper
        if not low.infinite[cell] and low.fraction(cell) > ends[0]:
            return False
        if not high.infinite[cell] and high.fraction(cell) < ends[1]:
            return False
    return True


def _no_boxes(n_cells: int) -> ClassBoxes:
    nothing = np.zeros(n_cells, dtype=object)
    return ClassBoxes(nothing, nothing, nothing, np.zeros(n_cells, dtype=bool))


def _bounded(ends: NDArray[np.object_], known: NDArray[np.bool_], decimals: int, endless: int) -> Fixed:
    return Fixed.of_counts(np.where(known, ends, endless), decimals)


def _fits(risk: Risk, drawn: ClassBoxes) -> bool:
    """Return whether all cells can have their least value at a time, and their greatest, whoever asks.

    These two tables show that ranges of all cells leave every class open.
    """
    table = risk.table
    shown = np.asarray(risk.status == SHOW)
    for ends in (drawn.least, drawn.most):
        if bool((ends[shown] != table.amounts.counts[shown]).any()):
            return False
        if bool(np.any(sum_exactly(table.relations.matrix, ends) != table.relations.right)):
            return False
        if not all(_allows(attacker, ends, table.decimals) for attacker in risk.attackers):
            return False
    return True


def _allows(attacker: Attacker, values: NDArray[np.object_], decimals: int) -> bool:
    """Return whether an attacker thinks it possible that cells have these values, in units."""
    fine = max(decimals, attacker.lower.decimals, attacker.upper.decimals)
    counts, low, high = values * 10 ** (fine - decimals), attacker.lower.to(fine), attacker.upper.to(fine)
    return bool((low.infinite | (low.counts <= counts)).all() and (high.infinite | (counts <= high.counts)).all())
