"""How a table is rounded at random: the draw, the table around it, the audit."""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from celosia.attack.audit import audit
from celosia.attack.findings import MET
from celosia.attack.result import Audit
from celosia.attack.system.redundancy import find_implied_rows
from celosia.errors import InfeasibleError, OutOfTimeError, SpecError, list_items, pluralise
from celosia.pattern.modes.rounded import rounded_modes
from celosia.pattern.pattern import Pattern
from celosia.protection.adjustment.integer import leaves_of
from celosia.protection.adjustment.method import find_kept_totals
from celosia.protection.infeasibility import refuse_unreachable_levels
from celosia.protection.random_rounding.bias import bias_notes
from celosia.protection.random_rounding.completion import CompletedTable, TableCompleter, refuse_sum_beside_respondents
from celosia.protection.random_rounding.every_draw import Draws, describe_draws, find_base_of_safe_draws
from celosia.protection.random_rounding.formulation import sets_of
from celosia.protection.random_rounding.method import RandomRound
from celosia.protection.random_rounding.parameters import BIAS, BiasParameters
from celosia.protection.random_rounding.walk import arcs_of, walk
from celosia.protection.result import Protection
from celosia.protection.run import Run
from celosia.risk.risk import SHOW, Risk
from celosia.table.fixed import Fixed
from celosia.table.table import Table
from celosia.table.units import refuse_fractions

_SEED_BITS = 63

_SUM_IS_KEPT = "The sum of the sensitive cells is that of the true values. It was attacked by readers who know that."


def solve(risk: Risk, method: RandomRound, run: Run, parameters: BiasParameters = BIAS) -> Protection:
    """Return a table whose cells were rounded at random; see `celosia.protect` and `RandomRound`.

    Guarantee: the published table adds up, exactly; what it says about its own reach is true; it has passed the audit.
    """
    if run.integer:
        refuse_fractions(risk.table, np.ones(len(risk), dtype=bool))
    refuse_unreachable_levels(risk)
    seeded = replace(run, seed=run.seed or secrets.randbits(_SEED_BITS) or 1)
    if method.scheme == "plain":
        return _round_leaves(risk, method, seeded)
    if method.scheme == "controlled":
        return _round_network(risk, method, seeded)
    return _round_sensitive(risk, method, seeded, parameters)


def _round_leaves(risk: Risk, method: RandomRound, run: Run) -> Protection:
    """Return leaves rounded one by one, and totals that follow."""
    table, base = risk.table, method.count_base(risk.table)
    matrix, right = _relations(table, base)
    kept = np.flatnonzero(risk.status == SHOW)
    if len(kept):
        said = f"rounds everything, also cells that must be shown: {_labels(table, kept)}."
        raise SpecError.one("scheme", said, "Say scheme='sensitive'.")
    leaves = leaves_of(matrix)
    truth = np.asarray(table.amounts.counts, dtype=np.int64)
    over = truth % base
    random = np.random.default_rng(run.seed)
    values = truth - over + base * (random.integers(base, size=len(truth)) < over)
    for rows, totals in leaves.layers:
        values[totals] = 0
        values[totals] = matrix[rows] @ values - right[rows]
    if len(leaves.rest) and bool((matrix[leaves.rest] @ values != right[leaves.rest]).any()):
        raise SpecError.one("scheme", "the relations are no sums of cells.", "Say scheme='sensitive'.")
    layers = [(matrix[rows], totals, right[rows]) for rows, totals in leaves.layers]
    draws = partial(Draws.of_leaves, table, layers)
    return _audit_pattern(risk, method, run, _make_pattern(table, values, base, draws(base).extra), draws)


def _round_network(risk: Risk, method: RandomRound, run: Run) -> Protection:
    """Return every cell rounded to a neighbouring multiple."""
    table, base = risk.table, method.count_base(risk.table)
    arcs = arcs_of(_relations(table, base)[0])
    if arcs is None:
        said = "'controlled' needs one or two dimensions, of which at most one has a hierarchy: a network."
        raise SpecError.one("scheme", said, "Elsewhere unbiased ones need not exist: say 'plain' or 'sensitive'.")
    truth = np.asarray(table.amounts.counts, dtype=np.int64)
    kept = np.flatnonzero((risk.status == SHOW) & (truth % base != 0))
    if len(kept):
        said = f"rounds cells that must be shown and are no multiples of the base: {_labels(table, kept)}."
        raise SpecError.one("scheme", said, "Say scheme='sensitive'.")
    values = walk(truth, base, arcs, np.random.default_rng(run.seed))
    pattern = _make_pattern(table, values, base, np.zeros(len(truth), dtype=np.int64))
    return _audit_pattern(risk, method, run, pattern, partial(Draws.of_every_cell, table))


def _round_sensitive(risk: Risk, method: RandomRound, run: Run, parameters: BiasParameters) -> Protection:
    """Return sensitive cells rounded, totals kept, and the others as close to the truth as can be."""
    table = risk.table
    base, reach = method.count_base(table), method.count_reaches(table)
    totals = find_kept_totals(table, "all" if method.keep_totals else "free")
    clash = np.flatnonzero(totals & risk.sensitive)
    if len(clash):
        said = f"keeps cells that are sensitive: {_labels(table, clash)}."
        raise SpecError.one("keep_totals", said, "Say keep_totals=False.")
    if method.keep_sum and risk.respondents:
        refuse_sum_beside_respondents(risk)
    sets, given = replace(sets_of(risk, base, reach), keeps_sum=method.keep_sum), method.count_given(risk)
    kept = totals | (risk.status == SHOW)

    completer = TableCompleter(risk, run, sets, kept, reach)
    random = np.random.default_rng(run.seed)
    failed, reason = 0, ""
    while failed < (method.draws if given is None else 1):
        try:
            made = completer.complete(sets.draw(random) if given is None else given, run.clock)
        except TimeoutError:
            late = OutOfTimeError.one("time_limit", "was reached before a table was known.", "Allow more time.")
            raise late from None
        if made is not None and made.checked.safe:
            seconds = run.clock.seconds
            if given is None:
                notes = bias_notes(table, sets, completer.complete_safely, run.seed, failed, run.clock, parameters)
            else:
                notes = ("Rounded values were given, not drawn: they are not right on average.",)
            notes = (*notes, _SUM_IS_KEPT) if method.keep_sum else notes
            return _protection(risk, method, run, made, seconds, notes)
        reason = "the other cells could not make up for it"
        reason = reason if made is None else f"attackers came too close to {_unmet(made.checked)}"
        failed += 1
    tried = f"in {failed} draws; at last {reason}" if given is None else f"with these values: {reason}"
    remedy = "Take a larger base or reach, or say keep_totals=False."
    remedy = "Leave out keep_sum, or take a larger base or reach." if method.keep_sum else remedy
    raise InfeasibleError.one("random-round", f"found no safe table {tried}.", remedy)


def _relations(table: Table, base: int) -> tuple[sp.csr_array, NDArray[np.int64]]:
    """Return the relations that the others do not imply; all must hold for multiples of the base."""
    if bool((table.relations.right % base != 0).any()):
        said = "the relations hold up to rounding only, so multiples of the base cannot satisfy them."
        raise SpecError.one("base", said, "Tabulate from the data, or say scheme='sensitive'.")
    matrix = table.relations.matrix
    needed = ~find_implied_rows(matrix)
    return sp.csr_array(matrix[needed]), table.relations.right[needed]


def _make_pattern(table: Table, values: NDArray[np.int64], base: int, extra: NDArray[np.int64]) -> Pattern:
    """Return multiples of the base, with how many multiples the truth may be away."""
    width = Fixed(np.full(len(table), base, dtype=np.int64), table.decimals)
    modes = rounded_modes(np.arange(len(table)), Fixed(values, table.decimals), width, table, extra)
    return Pattern(table, tuple(modes))


def _audit_pattern(
    risk: Risk, method: RandomRound, run: Run, pattern: Pattern, draws: Callable[[int], Draws]
) -> Protection:
    """Return the result for a pattern, if it is safe; a note says whether every draw would be.

    Drawing again until it is would bias what is published, cell by cell.
    """
    began = run.clock.seconds
    checked = audit(pattern, risk, integer=run.integer)
    seconds, base = run.clock.seconds - began, method.count_base(risk.table)
    if not checked.safe:
        said = f"does not protect {_unmet(checked)} with the base {method.base}."
        larger = find_base_of_safe_draws(risk, run, base, draws, seconds)
        remedy = "Take a larger base, or scheme='sensitive'."
        text = None if larger is None else Fixed(np.array([larger]), risk.table.decimals).texts()[0]
        more = "" if text is None else f" With a base of {text} every draw is safe."
        raise InfeasibleError.one("random-round", said, remedy + more)
    away = np.abs(pattern.published().to(risk.table.decimals).counts - risk.table.amounts.counts)
    cost = math.fsum((away / 10.0**risk.table.decimals).tolist())
    notes = (describe_draws(risk, run, draws(base), seconds),)
    return Protection(risk, method, pattern, cost, cost, checked, run.clock.seconds, "none", (), run.seed, notes)


def _protection(
    risk: Risk,
    method: RandomRound,
    run: Run,
    made: CompletedTable,
    seconds: float,
    notes: tuple[str, ...],
) -> Protection:
    return Protection(
        risk=risk,
        method=method,
        pattern=made.pattern,
        cost=made.nearest.cost,
        bound=made.nearest.bound,
        found=made.checked,
        seconds=seconds,
        solver=run.solver_name,
        trace=(),
        seed=run.seed,
        notes=notes,
    )


def _unmet(checked: Audit) -> str:
    cells = sorted({verdict.requirement.cell for verdict in checked.verdicts if verdict.result != MET})
    if not cells and checked.exposed:
        return f"{pluralise(checked.exposed, 'contributor')} to linked tables"
    return _labels(checked.risk.table, np.array(cells, dtype=np.int64))


def _labels(table: Table, cells: NDArray[np.int64]) -> str:
    return list_items([table.label(int(cell)) for cell in cells])
