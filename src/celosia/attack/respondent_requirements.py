r"""From open pairs to requirements: what a pattern must reach so that nobody comes too close to anybody.

A coalition S that attacks a target in one cell is an attacker like any other (Salazar 2002): it knows every leaf cell
within :math:`q \sum_{r \notin S} |x_l^r|`, totals follow, and the target's cell must be able to move by
:math:`p\,|x^t| - q \sum_{r \notin S, r \ne t} |x_{i_0}^r|` up and down. So the engine that protects cells protects
respondents, once it has been told of those who come too close.

A target in k cells that hang together needs a table for every corner of his box at once. A sum of k tables, one for
each of his cells and each with a k-th of all rooms, is one: k requirements ask for these, which is more than is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from celosia.attack.respondents import OpenPair, RespondentAudit
from celosia.risk.attacker import Attacker
from celosia.risk.requirement import Requirements
from celosia.risk.risk import HIDE, SENSITIVE, Risk
from celosia.table.fixed import INFINITE, Fixed


@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """One attacker and what he must not find out: how far a cell must move, in counts times `share`."""

    name: str
    room: NDArray[np.object_]
    share: int
    cell: int
    level: int


def requiring(risk: Risk, found: RespondentAudit) -> Risk:
    """Return the risk with requirements against the open pairs of an audit.

    Guarantee: a pattern meets the requirement of a pair with a target in one cell if and only if the pair is not open;
    with a target in several cells, only if. Pairs that a worse one implies are left out.

    Parameters
    ----------
    risk
        The table with its sensitive cells. Cells of targets that are not sensitive are to be hidden, too.
    found
        An audit of respondents of a release of the same table.
    """
    wanted = [one for pair in found.open if not pair.implied for one in _wanted_of(found, pair)]
    if not wanted:
        return risk
    decimals = risk.table.decimals + found.asked.decimals
    attackers, place = list(risk.attackers), {attacker.name: k for k, attacker in enumerate(risk.attackers)}
    rows: dict[tuple[int, int], int] = {}
    for one in wanted:
        if one.name not in place:
            place[one.name] = len(attackers)
            attackers.append(_attacker(risk, found, one, decimals))
        key = (one.cell, place[one.name])
        rows[key] = max(rows.get(key, 0), -(-one.level // one.share))
    if risk.further is not None:
        old = zip(risk.further.cells.tolist(), risk.further.attackers.tolist(), strict=True)
        for key in old:
            rows.pop(key, None)
    cells = np.array([cell for cell, _ in rows], dtype=np.int64)
    levels = Fixed.of_counts(np.array(list(rows.values()), dtype=object), decimals)
    zero = Fixed(np.zeros(len(rows), dtype=np.int64), decimals)
    new = Requirements(cells, np.array([who for _, who in rows], dtype=np.int32), levels, levels, zero)
    status = risk.status.copy()
    status[cells] = np.where(status[cells] == SENSITIVE, SENSITIVE, HIDE)
    further = new if risk.further is None else risk.further.joined(new)
    return replace(risk, attackers=tuple(attackers), further=further, status=status)


def _wanted_of(found: RespondentAudit, pair: OpenPair) -> Iterator[_Wanted]:
    """Yield the attackers by whom a pair is described."""
    people, knowledge = found.respondents, found.asked
    sizes = people.sizes.tocsc()
    taken = np.zeros(len(people.leaves), dtype=np.int64)
    for place in pair.attackers:
        part = slice(sizes.indptr[place], sizes.indptr[place + 1])
        taken[sizes.indices[part]] += sizes.data[part]
    own = np.zeros(len(people.leaves), dtype=np.int64)
    part = slice(sizes.indptr[pair.target], sizes.indptr[pair.target + 1])
    own[sizes.indices[part]] = sizes.data[part]
    totals, share = people.totals, len(pair.cells)
    name = f"{people.kind} {', '.join(str(int(people.numbers[place])) for place in pair.attackers)}"
    name = name if pair.attackers else f"anybody among the {people.kind}s"
    rest = (totals - taken).astype(object)
    near = np.isin(people.leaves, pair.cells)
    for cell in pair.cells:
        leaf = int(np.searchsorted(people.leaves, cell))
        level = knowledge.p * int(own[leaf]) * share - knowledge.q * int(totals[leaf] - taken[leaf] - own[leaf])
        if level <= 0:
            continue
        if share == 1:
            yield _Wanted(name, knowledge.q * rest, 1, cell, level)
            continue
        # Of the target's other cells the coalition takes what he contributes for known: his corner is fixed there.
        room = knowledge.q * np.where(near, rest - own, rest)
        room[leaf] = knowledge.q * share * int(totals[leaf])
        label = found.table.label(cell)
        yield _Wanted(f"{name} against {people.name(pair.target)} in {label}", room, share, cell, level)


def _attacker(risk: Risk, found: RespondentAudit, one: _Wanted, decimals: int) -> Attacker:
    leaves, unit = found.respondents.leaves, found.asked.unit
    middle = risk.table.amounts.counts[leaves].astype(object) * unit
    ends = []
    for sign in (-1, 1):
        counts = np.full(len(risk.table), sign * INFINITE, dtype=object)
        counts[leaves] = middle + sign * (one.room // one.share)
        ends.append(Fixed.of_counts(counts, decimals))
    return Attacker(one.name, *ends)
