"""Searches with concealed levels: they ask for more than the levels of the risk, and results are judged by these."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

import numpy as np

from celosia.attack.findings import Verdicts, judge_requirements
from celosia.attack.result import Audit
from celosia.errors import pluralise
from celosia.pattern.entries import SHOWN
from celosia.protection.method import Method
from celosia.protection.result import Protection
from celosia.risk.concealment import conceal_levels
from celosia.risk.risk import Levels, Risk

_SECRET_BITS = 64
_AFRESH = (
    "Levels are concealed by a secret that was drawn afresh: give it (`secret`) whenever this table is published "
    "again. Two draws leave readers two thirds of a range on average, and next to nothing of some."
)


def draw_secret(method: Method) -> tuple[Method, tuple[str, ...]]:
    """Return a method that conceals levels with a secret, and what to say of it."""
    asked: Any = method
    if not method.conceals_levels or asked.secret is not None:
        return method, ()
    return replace(asked, secret=secrets.randbits(_SECRET_BITS)), (_AFRESH,)


def conceal(risk: Risk, method: Method) -> tuple[Risk, tuple[str, ...]]:
    """Return the risk with the levels that a search asks for, and what to say of it.

    Parameters
    ----------
    risk
        With the wishes of the method.
    method
        With its secret.
    """
    if not method.conceals_levels:
        return risk, ()
    asked: Any = method
    aimed, kept = conceal_levels(risk, asked.secret)
    if not kept:
        return aimed, ()
    few = pluralise(kept, "sensitive cell")
    said = f"Levels of {few} are not concealed: they are no part of the value, or attackers know too much of it."
    return aimed, (said,)


def restore_levels(found: Protection, risk: Risk) -> Protection:
    """Return a result that was found with concealed levels as one of the risk itself.

    Guarantee: nothing is called met but what the conclusions of the audit meet.

    Parameters
    ----------
    found
        The result.
    risk
        With the wishes of the method, and its own levels.
    """
    audited = found.found
    if not isinstance(audited, Audit) or not isinstance(audited.verdicts, Verdicts):
        return found
    hidden = np.asarray(found.pattern.status != SHOWN)
    own = _take_levels(audited.risk, found.method.require_widths(risk, hidden).levels)
    wanted, by_distance = own.requirements, audited.release.criterion == "distance"
    results = judge_requirements(wanted, audited.verdicts.findings, by_distance=by_distance)
    judged = replace(audited, risk=own, verdicts=Verdicts(wanted, audited.verdicts.findings, results))
    return replace(found, risk=_take_levels(found.risk, risk.levels), found=judged)


def _take_levels(risk: Risk, levels: Levels) -> Risk:
    return replace(risk, levels=levels)
