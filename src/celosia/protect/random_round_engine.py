"""Random rounding at work: the draw, the table around it, the audit."""

from __future__ import annotations

import contextlib
import math
import secrets
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.audit import MET, Audit, audit
from celosia.attack.redundancy import implied
from celosia.errors import InfeasibleError, OutOfTimeError, SpecError, listed
from celosia.pattern.pattern import Pattern
from celosia.pattern.perturbed import Perturbed
from celosia.pattern.rounded import rounded_modes
from celosia.protect.adjust import kept_totals
from celosia.protect.adjust_leaves import leaves_of
from celosia.protect.call import Call
from celosia.protect.levels import refuse_levels_that_nobody_meets
from celosia.protect.protection import Protection
from celosia.protect.random_round import RandomRound
from celosia.protect.random_round_nearest import Nearest, nearest_of
from celosia.protect.random_round_sets import Sets, sets_of
from celosia.protect.random_round_walk import arcs_of, walk
from celosia.protect.round import grains_of
from celosia.risk.risk import SHOW, Risk
from celosia.table.fixed import Fixed
from celosia.table.table import Table

_SEED_BITS = 63
_MOST_SETS = 64
"""So many sets are tried one by one to state a bias exactly; of more, so many are drawn to say how large it may be."""


def random_round(risk: Risk, method: RandomRound, call: Call) -> Protection:
    """Return a table whose cells were rounded at random; see `celosia.protect` and `RandomRound`.

    Guarantee: the published table adds up, exactly; what it says about its own reach is true; it has passed the audit.
    """
    asked = method.checked(risk, integer=call.integer)
    refuse_levels_that_nobody_meets(asked)
    seeded = replace(call, seed=call.seed or secrets.randbits(_SEED_BITS) or 1)
    way: dict[str, Callable[[Risk, RandomRound, Call], Protection]] = {
        "plain": _plain,
        "controlled": _controlled,
        "sensitive": _sensitive,
    }
    return way[method.scheme](asked, method, seeded)


def _plain(risk: Risk, method: RandomRound, call: Call) -> Protection:
    """Return leaves rounded one by one, and totals that follow."""
    table, base = risk.table, method.counted_base(risk.table)
    matrix, right = _relations(table, base)
    kept = np.flatnonzero(risk.status == SHOW)
    if len(kept):
        said = f"rounds everything, also cells that must be shown: {_labels(table, kept)}."
        raise SpecError.one("scheme", said, "Say scheme='sensitive'.")
    leaves = leaves_of(matrix)
    truth = np.asarray(table.amounts.counts, dtype=np.int64)
    over = truth % base
    random = np.random.default_rng(call.seed)
    values = truth - over + base * (random.integers(base, size=len(truth)) < over)
    parts = np.ones(len(truth), dtype=np.int64)
    for rows, totals in leaves.layers:
        for numbers in (values, parts):
            numbers[totals] = 0
            numbers[totals] = matrix[rows] @ numbers
        values[totals] -= right[rows]
    if len(leaves.rest) and bool((matrix[leaves.rest] @ values != right[leaves.rest]).any()):
        raise SpecError.one("scheme", "the relations are no sums of cells.", "Say scheme='sensitive'.")
    grain = grains_of(table)
    extra = -(-(parts * (base - grain) + grain) // base) - 1
    return _audited(risk, method, call, _rounded(table, values, base, extra))


def _controlled(risk: Risk, method: RandomRound, call: Call) -> Protection:
    """Return every cell rounded to a neighbouring multiple."""
    table, base = risk.table, method.counted_base(risk.table)
    arcs = arcs_of(_relations(table, base)[0])
    if arcs is None:
        said = "'controlled' needs one or two dimensions, of which at most one has a hierarchy: a network."
        raise SpecError.one("scheme", said, "Elsewhere unbiased ones need not exist: say 'plain' or 'sensitive'.")
    truth = np.asarray(table.amounts.counts, dtype=np.int64)
    kept = np.flatnonzero((risk.status == SHOW) & (truth % base != 0))
    if len(kept):
        said = f"rounds cells that must be shown and are no multiples of the base: {_labels(table, kept)}."
        raise SpecError.one("scheme", said, "Say scheme='sensitive'.")
    values = walk(truth, base, arcs, np.random.default_rng(call.seed))
    return _audited(risk, method, call, _rounded(table, values, base, np.zeros(len(truth), dtype=np.int64)))


def _sensitive(risk: Risk, method: RandomRound, call: Call) -> Protection:
    """Return sensitive cells rounded, totals kept, and the others as close to the truth as can be."""
    table = risk.table
    base, reach = method.counted_base(table), method.counted_reaches(table)
    totals = kept_totals(table, "all" if method.keep_totals else "free")
    clash = np.flatnonzero(totals & risk.sensitive)
    if len(clash):
        said = f"keeps cells that are sensitive: {_labels(table, clash)}."
        raise SpecError.one("keep_totals", said, "Say keep_totals=False.")
    sets = sets_of(risk, base, reach)
    kept = totals | (risk.status == SHOW)
    random = np.random.default_rng(call.seed)
    failed, reason = 0, ""
    while failed < method.draws:
        values = sets.drawn(random)
        found = nearest_of(risk, sets.cells, values, kept, reach, call.solver, call.clock)
        if found is None and call.clock.left <= 0:
            raise OutOfTimeError.one("time_limit", "was reached before a table was known.", "Allow more time.")
        if found is not None:
            pattern = _perturbed(risk, found.values, kept, reach)
            checked = audit(pattern, risk, integer=call.integer)
            if checked.safe:
                notes = _notes(risk, method, call, sets, kept, failed)
                return _protection(risk, method, call, pattern, checked, found, notes)
            reason = f"attackers came too close to {_unmet(checked)}"
        else:
            reason = "the other cells could not make up for it"
        failed += 1
    said = f"found no safe table in {failed} draws; at last {reason}."
    raise InfeasibleError.one("random-round", said, "Take a larger base or reach, or say keep_totals=False.")


def _notes(
    risk: Risk, method: RandomRound, call: Call, sets: Sets, kept: NDArray[np.bool_], failed: int
) -> tuple[str, ...]:
    """Return what must be known about the bias."""
    notes = []
    forced = [
        f"{risk.table.label(cell)} {float(off / 10**risk.table.decimals):+g}"
        for cell, off in zip(sets.cells.tolist(), sets.bias, strict=True)
        if off
    ]
    if forced:
        notes.append(f"Bias: only one multiple protects some cells, whose expected value is off: {', '.join(forced)}.")
    if failed:
        times = "once" if failed == 1 else f"{failed} times"
        said = _exact_bias(risk, method, call, sets, kept) or _largest_bias(risk, method, call, sets, kept, failed)
        notes.append(
            f"Drawn again {times}, because no safe table had these values; the bias that this makes is {said}."
        )
    return tuple(notes)


def _is_usable(
    risk: Risk, method: RandomRound, call: Call, sets: Sets, kept: NDArray[np.bool_], values: NDArray[np.int64]
) -> bool:
    """Return whether a set can be completed to a safe table.

    Raises
    ------
    TimeoutError
        The time is up.
    """
    reach = method.counted_reaches(risk.table)
    found = nearest_of(risk, sets.cells, values, kept, reach, call.solver, call.clock)
    if found is None and call.clock.left <= 0:
        raise TimeoutError
    return found is not None and audit(_perturbed(risk, found.values, kept, reach), risk, integer=call.integer).safe


def _exact_bias(risk: Risk, method: RandomRound, call: Call, sets: Sets, kept: NDArray[np.bool_]) -> str | None:
    """Return the bias given that the set can be completed, by trying all sets; None where there are too many."""
    if sets.number > _MOST_SETS:
        return None
    mass, mean = Fraction(0), [Fraction(0)] * len(sets.cells)
    for values, probability in sets.all():
        try:
            usable = _is_usable(risk, method, call, sets, kept, values)
        except TimeoutError:
            return None
        if usable:
            mass += probability
            mean = [total + probability * int(value) for total, value in zip(mean, values, strict=True)]
    unit = 10**risk.table.decimals
    off = [(total / mass - int(truth)) / unit for total, truth in zip(mean, sets.truth, strict=True)]
    said = [f"{risk.table.label(cell)} {float(b):+.6g}" for cell, b in zip(sets.cells.tolist(), off, strict=True) if b]
    return "exactly " + (", ".join(said) or "none")


def _largest_bias(risk: Risk, method: RandomRound, call: Call, sets: Sets, kept: NDArray[np.bool_], failed: int) -> str:
    r"""Return how large the bias of a cell is at most, from the share of usable sets among some that are drawn for it.

    With that share :math:`s`, the mean over all sets is that of usable ones times s and that of the others times 1 - s.
    Both lie between the neighbouring multiples, so that no cell is off by more than :math:`(1 - s) / s` bases, and
    never by a whole one.
    """
    random = np.random.default_rng([call.seed, 1])
    usable, tried = 1, failed + 1
    with contextlib.suppress(TimeoutError):
        for _ in range(_MOST_SETS):
            usable += _is_usable(risk, method, call, sets, kept, sets.drawn(random))
            tried += 1
    most = min(1.0, (tried - usable) / usable)
    return f"about {most:.0%} of the base at most in any cell ({usable:,} of {tried:,} sets could be completed)"


def _relations(table: Table, base: int) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return the relations that the others do not imply; all must hold for multiples of the base."""
    if bool((table.relations.right % base != 0).any()):
        said = "the relations hold up to rounding only, so multiples of the base cannot satisfy them."
        raise SpecError.one("base", said, "Tabulate from the data, or say scheme='sensitive'.")
    matrix = table.relations.matrix
    needed = ~implied(matrix)
    return sp.csr_array(matrix[needed]), table.relations.right[needed]


def _rounded(table: Table, values: NDArray[np.int64], base: int, extra: NDArray[np.int64]) -> Pattern:
    """Return multiples of the base, with how many multiples the truth may be away."""
    width = Fixed(np.full(len(table), base, dtype=np.int64), table.decimals)
    modes = rounded_modes(np.arange(len(table)), Fixed(values, table.decimals), width, table, extra)
    return Pattern(table, tuple(modes))


def _perturbed(risk: Risk, values: NDArray[np.int64], kept: NDArray[np.bool_], reach: NDArray[np.int64]) -> Pattern:
    """Return values within a reach, and the cells that are kept as they are."""
    table, cells = risk.table, np.flatnonzero(~kept)
    far = Fixed(reach[cells], table.decimals)
    return Pattern.of(table, Perturbed(cells, Fixed(values[cells], table.decimals), far, table=table))


def _audited(risk: Risk, method: RandomRound, call: Call, pattern: Pattern) -> Protection:
    """Return the result for a pattern, if it is safe.

    Drawing again until it is would bias what is published, cell by cell; here nobody does.
    """
    checked = audit(pattern, risk, integer=call.integer)
    if not checked.safe:
        said = f"does not protect {_unmet(checked)} with the base {method.base}."
        raise InfeasibleError.one("random-round", said, "Take a larger base, or scheme='sensitive'.")
    away = np.abs(pattern.published().to(risk.table.decimals).counts - risk.table.amounts.counts)
    cost = math.fsum((away / 10.0**risk.table.decimals).tolist())
    return Protection(risk, method, pattern, cost, cost, checked, call.clock.seconds, "none", (), call.seed)


def _protection(
    risk: Risk,
    method: RandomRound,
    call: Call,
    pattern: Pattern,
    checked: Audit,
    found: Nearest,
    notes: tuple[str, ...],
) -> Protection:
    return Protection(
        risk=risk,
        method=method,
        pattern=pattern,
        cost=found.cost,
        bound=found.bound,
        found=checked,
        seconds=call.clock.seconds,
        solver=call.solver_name,
        trace=(),
        seed=call.seed,
        notes=notes,
    )


def _unmet(checked: Audit) -> str:
    cells = sorted({verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET})
    return _labels(checked.risk.table, np.array(cells, dtype=np.int64))


def _labels(table: Table, cells: NDArray[np.int64]) -> str:
    return listed([table.label(int(cell)) for cell in cells])
