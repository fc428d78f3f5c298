r"""From open pairs to requirements: what a pattern must reach so that no respondent comes too close to another.

A coalition S that attacks a target in one cell is an attacker like any other (Salazar 2002b): it knows every leaf cell
within :math:`q \sum_{r \notin S} |x_l^r|`, totals follow, and the target's cell must be able to move by
:math:`p\,|x^t| - q \sum_{r \notin S, r \ne t} |x_{i_0}^r|` up and down. So the engine that protects cells protects
respondents, once it has been told of those who come too close.

A target in several cells of a component needs a table for every corner of his box, p percent more here and less
there. Where others in a cell make up for his error there, nothing has to move; so a corner in which that is so for all
of his cells but one is a requirement about that one, in which the others may move a little further to one side. Where
several cells of a corner must move, each must be able to while the others need not; that is needed, and mostly enough.
Where it is not, the corner itself is what is needed (`find_corners`); for methods that cannot take it each must be
able to move alone by what all of them need together: the tables that do, weighed by what each cell needs, add up to one
for the corner. That asks for more than is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.respondents.coalitions import OpenPair
from celosia.attack.respondents.findings import RespondentAudit, RuleAudit
from celosia.risk.attacker import Attacker
from celosia.risk.corner import Corner
from celosia.risk.requirement import Requirements
from celosia.risk.respondents.joint import JointCells
from celosia.risk.risk import HIDE, SENSITIVE, Risk
from celosia.table.fixed import INFINITE, Fixed


@dataclass(frozen=True, slots=True, eq=False)
class _PairRequirement:
    """One attacker, between what he knows every leaf cell, and how far a cell must move down and up, in counts."""

    name: str
    down: NDArray[np.object_]
    up: NDArray[np.object_]
    cell: int
    levels: tuple[int, int]


def add_requirements(
    risk: Risk, found: RespondentAudit, *, hide: bool = True, enough: bool = True, every_corner: bool = False
) -> Risk:
    """Return the risk with requirements against the open pairs of an audit.

    Guarantee: a pattern meets the requirement of a pair with a target in one cell if and only if the pair is not open.
    With a target in several cells the corner is possible if (`enough`) or only if (otherwise) they are met, and both
    where one cell must move. Pairs that a worse one implies are left out.

    Parameters
    ----------
    risk
        The table with its sensitive cells.
    found
        An audit of respondents of a release of the same table.
    hide
        Cells of targets that are not sensitive are to be hidden, too.
    enough
        Ask for enough, and perhaps for more than is needed; otherwise for no more than is needed.
    every_corner
        Ask for what is enough for all corners of a target's box at once, which are many, not only for the open one.
    """
    for part in found.parts:
        pairs = [pair for pair in part.open if not pair.implied]
        wanted = [one for pair in pairs for one in _pair_requirements(part, pair, enough=enough, every=every_corner)]
        risk = _add_requirements_of_rule(risk, part, wanted, _suffix(found, part), hide=hide)
    return risk


def _suffix(found: RespondentAudit, part: RuleAudit) -> str:
    """Return what distinguishes attackers of one rule from those of another: the same respondents know more or less."""
    return f", {part.rule.words}" if len(found.parts) > 1 else ""


def _add_requirements_of_rule(
    risk: Risk, found: RuleAudit, wanted: list[_PairRequirement], suffix: str, *, hide: bool
) -> Risk:
    """Return the risk with requirements against the open pairs of one rule."""
    wanted = [replace(one, name=one.name + suffix) for one in wanted]
    if not wanted:
        return risk
    decimals = risk.table.decimals + found.knowledge.decimals
    attackers, place = list(risk.attackers), {attacker.name: k for k, attacker in enumerate(risk.attackers)}
    rows: dict[tuple[int, int], tuple[int, int]] = {}
    for one in wanted:
        if one.name not in place:
            place[one.name] = len(attackers)
            attackers.append(_attacker(risk, found, one, decimals))
        key = (one.cell, place[one.name])
        before = rows.get(key, (0, 0))
        rows[key] = max(before[0], one.levels[0]), max(before[1], one.levels[1])
    if risk.further is not None:
        old = zip(risk.further.cells.tolist(), risk.further.attackers.tolist(), strict=True)
        for key in old:
            rows.pop(key, None)
    if not rows:
        return risk
    cells = np.array([cell for cell, _ in rows], dtype=np.int64)
    lower, upper = (
        Fixed.of_counts(np.array(levels, dtype=object), decimals) for levels in zip(*rows.values(), strict=True)
    )
    zero = Fixed(np.zeros(len(rows), dtype=np.int64), decimals)
    new = Requirements(cells, np.array([who for _, who in rows], dtype=np.int32), lower, upper, zero)
    status = risk.status.copy()
    if hide:
        status[cells] = np.where(status[cells] == SENSITIVE, SENSITIVE, HIDE)
    further = new if risk.further is None else risk.further.join(new)
    return replace(risk, attackers=tuple(attackers), further=further, status=status)


def find_corners(found: RespondentAudit, joint: JointCells | None = None) -> list[Corner]:
    """Return the corners in which several cells must move together, of the open pairs of an audit, and their opposites.

    Of linked tables, where `joint` says which joint cells there are, also those in which one must: no requirement about
    a cell of the table says so much.

    Guarantee: such a corner is possible if and only if some table moves every needed cell as far as is said, and every
    leaf cell no further beside that; the target is protected only if it is.
    """
    fewest = 2 if joint is None else 1
    made = []
    for part in found.parts:
        pairs = [
            replace(pair, signs=pair.signs or (1,))
            for pair in part.open
            if not pair.implied and len(pair.cells) >= fewest
        ]
        # The opposite corner mostly follows; it is as necessary.
        opposite = [replace(pair, signs=tuple(-sign for sign in pair.signs)) for pair in pairs]
        every = (_corner(part, pair) for pair in (*pairs, *opposite))
        made += [replace(one, name=one.name + _suffix(found, part), joint=joint) for one in every]
    return [one for one in made if len(one.needs) >= fewest]


def _corner(found: RuleAudit, pair: OpenPair) -> Corner:
    name, down, up = _box(found, pair)
    places = np.searchsorted(found.respondents.leaves, pair.cells).tolist()
    signs = dict(zip(places, pair.signs, strict=True))
    needs = tuple((leaf, signs[leaf] * level) for leaf, level in sorted(_needs(found, pair).items()))
    for leaf, need in needs:
        # The box begins at what is needed: from there it reaches to one side only.
        side = up if need > 0 else down
        side[leaf] -= abs(need)
    decimals = found.table.decimals + found.knowledge.decimals
    return Corner(name, found.respondents.leaves, needs, down, up, decimals)


@dataclass(frozen=True, slots=True, eq=False)
class _Sizes:
    """What a coalition, its target, and all others contribute to every leaf cell, ``(k,)`` each."""

    own: NDArray[np.object_]
    rest: NDArray[np.object_]

    @classmethod
    def of(cls, found: RuleAudit, pair: OpenPair) -> _Sizes:
        sizes = found.respondents.sizes
        taken = sizes[:, list(pair.attackers)].sum(axis=1) if pair.attackers else np.zeros(sizes.shape[0], dtype=int)
        own = np.asarray(sizes[:, [pair.target]].sum(axis=1), dtype=np.int64).astype(object)
        return cls(own, found.respondents.totals.astype(object) - np.asarray(taken).astype(object) - own)


def _needs(found: RuleAudit, pair: OpenPair) -> dict[int, int]:
    """Return how far leaf cells of the target must move because no other contributor makes up for his error."""
    sizes, knowledge = _Sizes.of(found, pair), found.knowledge
    leaves = np.searchsorted(found.respondents.leaves, pair.cells).tolist()
    needed = {leaf: knowledge.error(int(sizes.own[leaf])) - knowledge.q * int(sizes.rest[leaf]) for leaf in leaves}
    return {leaf: level for leaf, level in needed.items() if level > 0}


def _pair_requirements(
    found: RuleAudit, pair: OpenPair, *, enough: bool, every: bool = False
) -> Iterator[_PairRequirement]:
    """Yield the attackers by whom a pair is described; for every corner their boxes hold what all corners allow."""
    people, knowledge, sizes = found.respondents, found.knowledge, _Sizes.of(found, pair)
    needs = _needs(found, pair)
    if len(pair.cells) == 1:
        width = knowledge.q * (sizes.rest + sizes.own)
        for level in needs.values():
            yield _PairRequirement(_who(found, pair), width, width, pair.cells[0], (level, level))
        return
    said, down, up = _box(found, pair)
    if every:
        # With more hidden a target may have more cells that hang together: then he needs more than was asked before.
        said = f"{_who(found, pair)} against {people.name(pair.target)} ({' '.join(map(str, pair.cells))})"
        down = up = np.minimum(down, up)
    leaves = np.searchsorted(people.leaves, pair.cells).tolist()
    together = sum(needs.values()) if enough else 0
    words = "alone in" if together and len(needs) > 1 else "in"
    for leaf, level in needs.items():
        sign, far = pair.signs[leaves.index(leaf)], max(level, together)
        below, above = down.copy(), up.copy()
        for other in needs if enough else ():
            below[other] = above[other] = 0
        for side in (above, below) if every else (above if sign > 0 else below,):
            side[leaf] = far + knowledge.q * int(sizes.rest[leaf]) + knowledge.error(int(sizes.own[leaf]))
        cell, label = int(people.leaves[leaf]), found.table.label(int(people.leaves[leaf]))
        levels = (far, far) if every else (0, far) if sign > 0 else (far, 0)
        yield _PairRequirement(f"{said} {words} {label}", below, above, cell, levels)


def _who(found: RuleAudit, pair: OpenPair) -> str:
    people = found.respondents
    members = ", ".join(str(int(people.numbers[place])) for place in pair.attackers)
    return f"{people.kind} {members}" if pair.attackers else f"anybody among the {people.kind}s"


def _box(found: RuleAudit, pair: OpenPair) -> tuple[str, NDArray[np.object_], NDArray[np.object_]]:
    """Return the name of a corner, and how far down and up leaf cells can be in it, no less than nothing."""
    people, knowledge, sizes = found.respondents, found.knowledge, _Sizes.of(found, pair)
    claims = np.asarray(people.protected[:, [pair.target]].sum(axis=1)) > 0
    # Of cells beyond the component every corner must be possible; here one of them is enough.
    errors = np.array([knowledge.error(own) for own in sizes.own.tolist()], dtype=object)
    width = knowledge.q * sizes.rest + np.where(claims, errors, knowledge.q * sizes.own)
    down, up = width.copy(), width.copy()
    for leaf, sign in zip(np.searchsorted(people.leaves, pair.cells).tolist(), pair.signs, strict=True):
        spread, middle = knowledge.q * sizes.rest[leaf], sign * errors[leaf]
        down[leaf], up[leaf] = max(spread - middle, 0), max(spread + middle, 0)
    corner = " ".join(f"{'+' if sign > 0 else '-'}{cell}" for cell, sign in zip(pair.cells, pair.signs, strict=True))
    return f"{_who(found, pair)} against {people.name(pair.target)} ({corner})", down, up


def _attacker(risk: Risk, found: RuleAudit, one: _PairRequirement, decimals: int) -> Attacker:
    leaves, unit = found.respondents.leaves, found.knowledge.unit
    middle = risk.table.amounts.counts[leaves].astype(object) * unit
    ends = []
    for sign, width in ((-1, one.down), (1, one.up)):
        counts = np.full(len(risk.table), sign * INFINITE, dtype=object)
        counts[leaves] = middle + sign * width
        ends.append(Fixed.of_counts(counts, decimals))
    return Attacker(one.name, *ends)
