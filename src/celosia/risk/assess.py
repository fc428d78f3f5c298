"""The verb: from a table and rules to a table that knows its risks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from celosia.arguments import kind_error, takes
from celosia.errors import DataError, Problems, SpecError, list_items, nearest, pluralise
from celosia.risk.attacker import Attacker
from celosia.risk.cost import Cost
from celosia.risk.respondents.knowledge import Knowledge, respondents_of
from celosia.risk.respondents.rules import LEFT_OUT, NAMED_WITHOUT, RespondentRules, as_rules, default_rules
from celosia.risk.risk import HIDE, SAFE, SENSITIVE, SHOW, Levels, LevelShares, Risk
from celosia.risk.rules.cell_rules import GivenStatus, OwnRule
from celosia.risk.rules.contributor_rules import RespondentRule
from celosia.risk.rules.exact import divide_rounding_up, roomy, spread, whole
from celosia.risk.rules.finding import Finding, Rule
from celosia.table.fixed import Fixed
from celosia.table.table import Table
from celosia.tolerance import LEVEL_DECIMALS

_STATUS = {"": SAFE, "safe": SAFE, "sensitive": SENSITIVE, "hide": HIDE, "show": SHOW}


@dataclass(frozen=True, slots=True)
class LevelShape:
    """How a rule's distance becomes protection levels.

    Parameters
    ----------
    lower, upper, sliding
        Multiples of the distance: symmetric levels are 1, 1, 0; a sliding level alone, as wide in all, is 0, 0, 2.
    """

    lower: float = 1
    upper: float = 1
    sliding: float = 0

    def __post_init__(self) -> None:
        found = Problems()
        for name in ("lower", "upper", "sliding"):
            factor = getattr(self, name)
            if not 0 <= factor < float("inf"):
                found.add(f"levels.{name}", f"must be zero or more, not {factor}.")
        if not self.lower and not self.upper and not self.sliding:
            found.add("levels", "are all zero: nothing would be protected.", "Make one of them positive.")
        found.raise_as(SpecError)


SHAPES: Mapping[str, LevelShape] = MappingProxyType({"symmetric": LevelShape(1, 1, 0), "sliding": LevelShape(0, 0, 2)})
"""The usual shapes by name."""


@takes(table=Table)
def assess(
    table: Table,
    *rules: Rule | Callable[[Table], NDArray[np.bool_]],
    cost: str | Cost = "value",
    levels: str | LevelShape = "symmetric",
    attackers: Sequence[Attacker] | None = None,
    exempt: Mapping[str, Sequence[str]] | None = None,
    respondents: RespondentRule | Sequence[RespondentRule] | None = None,
) -> Risk:
    """Return the table with its sensitive cells, their reasons, their levels and costs.

    Parameters
    ----------
    table
        The table.
    rules
        Rules, or functions from a table to a truth value per cell. A cell is sensitive if one of them says so; of
        several the largest level counts. There may be none where attackers have levels of their own.
    cost
        What hiding a cell costs (`celosia.risk.cost`).
    levels
        ``symmetric``, ``sliding``, or a `LevelShape`.
    attackers
        Against whom to protect; by default an outsider who knows that values are not negative, where they are not, and
        contributors where they are known (see `respondents`). Cells for which one of them has levels of his own are
        sensitive, too (`Attacker.with_levels`); the others are kept from them as the rules say.
    exempt
        Codes by dimension whose cells are always safe, such as the code for missing.
    respondents
        Also protect contributors from each other, as this rule says, or all of these; the table must know single
        contributions, as it does from `celosia.tabulate`. By default all p%, prior-posterior, frequency and dominance
        rules among `rules`, where contributions are known and `attackers` are not named: p% and prior-posterior rules
        as they are, by the others no respondent may compute another's contribution exactly. `Risk.unasked` says why
        not.

    Raises
    ------
    SpecError
        A rule cannot be applied to this table.
    DataError
        Something contradicts itself, such as a sensitive cell that must be shown.

    Notes ----- Guarantee: every sensitive cell has a positive level of at least one unit of the last decimal. Lower
    levels reach down to what the attackers themselves believe possible, no further: an attacker who knows that values
    are not negative cannot be made to doubt it.
    """
    if not rules and not any(attacker.levels is not None for attacker in attackers or ()):
        raise SpecError.one("rules", "are missing.", "Give at least one, for instance PPercent(10).")
    found = Problems()
    named = _name_rules(table, rules)
    who = tuple(attackers) if attackers is not None else (Attacker.external(table),)
    with found.gather():
        _check_attackers(table, who)
    findings = []
    for rule in named:
        with found.gather():
            findings.append(rule.find(table))
    exempted = _given_safe(table)
    with found.gather():
        exempted = exempted | _exempt(table, exempt or {})
    shape = LevelShape()
    with found.gather():
        shape = _shape(levels)
    costs = np.zeros(0)
    with found.gather():
        costs = (Cost.parse(cost) if isinstance(cost, str) else cost).of(table)
    asked = RespondentRules((), NAMED_WITHOUT)
    with found.gather():
        asked = (
            RespondentRules(as_rules(respondents), LEFT_OUT if not respondents else "")
            if respondents is not None
            else asked
        )
    if respondents is None and attackers is None:
        asked = default_rules(table, named)
    found.raise_as(SpecError)
    for rule in asked.rules:
        respondents_of(table, Knowledge.of(rule).by)  # what is wrong with them is said now
    by_rules = np.zeros((len(findings), len(table)), dtype=bool)
    for row, finding in zip(by_rules, findings, strict=True):
        row[:] = finding.sensitive & ~exempted
    by_attackers = {words: levels.required for words, levels in _levels_of_attackers(who)}
    _check_exempt(table, by_attackers, exempted)
    words = (*(rule.words for rule in named), *by_attackers)
    reasons = np.vstack([by_rules, *by_attackers.values()])
    sensitive = np.asarray(reasons.any(axis=0))
    status = _given_status(table)
    _check_shown(table, status, sensitive, reasons, words)
    return Risk(
        table=_without_claims(table, exempted),
        status=np.where(sensitive, SENSITIVE, np.where(status == SENSITIVE, SAFE, status)),
        levels=_levels(table, named, findings, by_rules, shape, who),
        cost=costs,
        attackers=who,
        rules=words,
        reasons=reasons,
        evidence=MappingProxyType({name: column for finding in findings for name, column in finding.evidence.items()}),
        respondents=asked.rules,
        unasked=asked.reason,
        shares=_shares(findings, by_rules, shape),
    )


def _name_rules(table: Table, rules: Sequence[Rule | Callable[[Table], NDArray[np.bool_]]]) -> list[Rule]:
    """Return the rules, functions among them by their names; a status that came with the cells is never overlooked."""
    named: list[Rule] = []
    found = Problems()
    for number, rule in enumerate(rules):
        if not isinstance(rule, type) and hasattr(rule, "find") and hasattr(rule, "words"):
            named.append(cast("Rule", rule))
        elif not isinstance(rule, type) and callable(rule):
            named.append(OwnRule(rule, name=getattr(rule, "__name__", "own rule")))
        else:
            found.extend(kind_error(rule, f"rules[{number}]", "rule such as PPercent(10)", "function").problems)
    found.raise_as(SpecError)
    given = "status" in table.extras and bool((table.extras["status"] == "sensitive").any())
    if given and not any(isinstance(rule, GivenStatus) for rule in named):
        named.append(GivenStatus())
    return named


def _shape(levels: str | LevelShape) -> LevelShape:
    if isinstance(levels, LevelShape):
        return levels
    if levels not in SHAPES:
        raise SpecError.one("levels", f"{levels!r} is not known.", nearest(levels, SHAPES))
    return SHAPES[levels]


def _given_status(table: Table) -> NDArray[np.str_]:
    if "status" not in table.extras:
        return np.full(len(table), SAFE)
    return np.array([_STATUS[word] for word in table.extras["status"].tolist()])


def _given_safe(table: Table) -> NDArray[np.bool_]:
    """Return the cells that were declared safe by hand."""
    if "status" not in table.extras:
        return np.zeros(len(table), dtype=bool)
    return np.asarray(table.extras["status"] == "safe")


def _without_claims(table: Table, exempted: NDArray[np.bool_]) -> Table:
    """Return the table without requests for protection in cells that are always safe."""
    said = table.contributions
    if said is None or not bool(exempted[said.cell].any()):
        return table
    waived = exempted[said.cell] | (False if said.waived is None else said.waived)
    return replace(table, contributions=replace(said, waived=np.asarray(waived)))


def _exempt(table: Table, exempt: Mapping[str, Sequence[str]]) -> NDArray[np.bool_]:
    found = Problems()
    out = np.zeros(len(table), dtype=bool)
    axes = {axis.name: k for k, axis in enumerate(table.axes)}
    for name, codes in exempt.items():
        if name not in axes:
            found.add(f"exempt.{name}", "is not a dimension of the table.", nearest(name, axes))
            continue
        axis = table.axes[axes[name]]
        nodes = [node for node in range(len(axis.labels)) if set(axis.names(node)) & set(codes)]
        unknown = [code for code in codes if not any(code in axis.names(node) for node in nodes)]
        if unknown:
            found.add(f"exempt.{name}", f"holds codes that the dimension does not have: {list_items(unknown)}.")
        out |= np.isin(table.codes[:, axes[name]], nodes)
    found.raise_as(SpecError)
    return out


def _check_attackers(table: Table, attackers: Sequence[Attacker]) -> None:
    found = Problems()
    for attacker in attackers:
        with found.gather():
            attacker.check(table)
    if not attackers:
        found.add("attackers", "are missing.", "Leave the option out for the usual one.")
    found.raise_as(DataError)


def _levels_of_attackers(attackers: Sequence[Attacker]) -> Iterator[tuple[str, Levels]]:
    """Yield the levels that attackers have for themselves, with the words for them."""
    for attacker in attackers:
        if attacker.levels is not None:
            yield f"levels of attacker {attacker.name!r}", attacker.levels


def _check_exempt(table: Table, asked: Mapping[str, NDArray[np.bool_]], exempted: NDArray[np.bool_]) -> None:
    """Refuse levels of attackers for cells that are always safe."""
    found = Problems()
    for words, cells in asked.items():
        clash = np.flatnonzero(cells & exempted)
        if len(clash):
            labels = list_items([table.label(int(cell)) for cell in clash])
            found.add(words, f"name cells that are always safe: {labels}.", "A cell cannot be both.")
    found.raise_as(SpecError)


def _check_shown(
    table: Table,
    status: NDArray[np.str_],
    sensitive: NDArray[np.bool_],
    reasons: NDArray[np.bool_],
    words: Sequence[str],
) -> None:
    clash = np.flatnonzero(sensitive & (status == SHOW))
    if len(clash):
        cell = int(clash[0])
        rule = next(word for word, says in zip(words, reasons, strict=True) if says[cell])
        count = pluralise(len(clash), "cell")
        message = f"{count} to be shown and sensitive, the first being {table.label(cell)} ({rule})."
        raise DataError.one("status", message, "Declare them safe if they are published anyway, or hide them.")


def _levels(
    table: Table,
    rules: Sequence[Rule],
    findings: Sequence[Finding],
    reasons: NDArray[np.bool_],
    shape: LevelShape,
    attackers: Sequence[Attacker],
) -> Levels:
    """Return the levels of every cell: the largest of the rules', at least one unit of the last decimal.

    A level that came with the cell stands in for the one of its given status.
    """
    decimals = table.decimals + LEVEL_DECIMALS
    unit = 10**LEVEL_DECIMALS
    sensitive = np.flatnonzero(reasons.any(axis=0))
    found: NDArray[Any] = np.zeros(len(sensitive), dtype=np.int64)
    given: NDArray[Any] = found
    for rule, finding, says in zip(rules, findings, reasons, strict=True):
        counts = np.where(says[sensitive], finding.distance[sensitive].round_up(decimals).counts, 0)
        if isinstance(rule, GivenStatus):
            given = np.maximum(given, counts)
        else:
            found = np.maximum(found, counts)
    found = np.where((found == 0) & (given == 0), unit, found)
    parts = {}
    for name in ("lower", "upper", "sliding"):
        factor = getattr(shape, name)
        own = _use_given_levels(table, f"{name}_level", sensitive, _scale_levels(given, factor), decimals)
        part = np.maximum(_scale_levels(found, factor), own)
        parts[name] = np.where(part > 0, np.maximum(part, unit), 0)
    parts["lower"] = _within_reach(parts["lower"], table, attackers, sensitive, decimals)
    nothing = (parts["lower"] <= 0) & (parts["upper"] <= 0) & (parts["sliding"] <= 0)
    parts["upper"] = np.where(nothing, unit, parts["upper"])
    return Levels(**{name: spread(part, sensitive, len(table), decimals) for name, part in parts.items()})


def _shares(findings: Sequence[Finding], reasons: NDArray[np.bool_], shape: LevelShape) -> LevelShares:
    """Return which parts of the value levels can be: zero for cells with a rule whose distances are no such part."""
    part = np.zeros(reasons.shape[1])
    for finding, says in zip(findings, reasons, strict=True):
        own = np.inf if finding.share is None else float(finding.share)
        part = np.where(says, np.maximum(part, own), part)
    part = np.where(np.isfinite(part), part, 0.0)
    return LevelShares(part * shape.lower, part * shape.upper, part * shape.sliding)


def _scale_levels(distance: NDArray[Any], factor: float) -> NDArray[Any]:
    multiple, scale = whole(factor)
    (distance,) = roomy(max(multiple, 1), distance)
    return divide_rounding_up(distance * multiple, scale)


def _use_given_levels(
    table: Table, name: str, cells: NDArray[np.int64], part: NDArray[Any], decimals: int
) -> NDArray[Any]:
    """Return the levels with those that came with the cells in the place of the rules'."""
    if name not in table.extras:
        return part
    own = table.extras[name][cells].astype(np.float64)
    given = np.flatnonzero(~np.isnan(own))
    out = part.astype(object)
    out[given] = Fixed.of_floats(own[given]).round_up(decimals).counts
    return out


def _within_reach(
    lower: NDArray[Any], table: Table, attackers: Sequence[Attacker], cells: NDArray[np.int64], decimals: int
) -> NDArray[Any]:
    """Return lower levels cut to the value itself where an attacker knows that it is not negative."""
    value = table.amounts[cells].to(decimals).counts
    for attacker in attackers:
        lower = np.where(attacker.lower.counts[cells] == 0, np.minimum(lower, value), lower)
    return lower
