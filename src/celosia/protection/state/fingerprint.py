"""Fingerprints of a problem: a state belongs to one table, one set of requirements and one method.

Hashes of what a search is about, and of nothing else: a limit, a solver or a seed may be another one. Names of
respondents are known to no table, and go into none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import fields, is_dataclass

import numpy as np
import scipy.sparse as sp

from celosia.protection.method import Method
from celosia.risk.risk import Risk

TABLE, REQUIREMENTS, METHOD = "table", "requirements", "method"
"""The parts of a problem, each with a fingerprint of its own."""

SETTLED = ("secret", "extra")
"""Options that a search settles where they are left open, and that a later run takes over."""


def fingerprints_of(risk: Risk, method: Method, integer: bool | None) -> dict[str, str]:  # noqa: FBT001  (as a run says it)
    """Return the fingerprint of each part of a problem.

    Parameters
    ----------
    risk
        The table with its sensitive cells, without the wishes of the method.
    method
        How it is protected, cells by their places.
    integer
        Which values attackers know to be whole numbers.
    """
    table = risk.table
    cells = (table.variables, table.variable, sorted(table.counts), table.codes, [axis.labels for axis in table.axes])
    single = table.contributions if risk.respondents else None
    known = None if single is None else (single.cell, single.respondent, single.holding, single.amount, single.waived)
    required = (risk.status, risk.levels, risk.cost, risk.attackers, risk.further)
    rules = tuple(rule.words for rule in risk.respondents)
    options = {field.name: getattr(method, field.name) for field in fields(method)}  # type: ignore[arg-type]  # all are
    own = {name: value for name, value in options.items() if name not in SETTLED}
    return {
        TABLE: digest_of((cells, table.amounts, table.relations.matrix, table.relations.right)),
        REQUIREMENTS: digest_of((required, rules, known, integer)),
        METHOD: digest_of((method.name, own)),
    }


def digest_of(thing: object) -> str:
    """Return a digest of numbers, texts, arrays, and of dataclasses and collections of them."""
    found = hashlib.sha256()
    _feed(found, thing)
    return found.hexdigest()


def _feed(digest: hashlib._Hash, thing: object) -> None:
    """Feed a thing into a digest, with its kind and length, so that no two things feed the same."""
    if sp.issparse(thing):
        rows = sp.csr_array(thing)
        _feed(digest, (rows.shape, rows.indptr, rows.indices, rows.data))
    elif isinstance(thing, np.ndarray) and thing.dtype != object:
        digest.update(f"array {thing.dtype.str} {thing.shape};".encode())
        digest.update(np.ascontiguousarray(thing).tobytes())
    elif isinstance(thing, Mapping):
        _feed(digest, sorted(((repr(name), value) for name, value in thing.items()), key=lambda item: item[0]))
    elif isinstance(thing, AbstractSet):
        _feed(digest, sorted(map(repr, thing)))
    elif isinstance(thing, np.ndarray) or (isinstance(thing, Sequence) and not isinstance(thing, str)):
        digest.update(f"{len(thing)} of;".encode())
        for part in thing:
            _feed(digest, part)
    elif is_dataclass(thing):
        digest.update(f"{type(thing).__name__};".encode())
        for field in fields(thing):
            _feed(digest, getattr(thing, field.name))
    else:
        text = repr(thing).encode()
        digest.update(f"{type(thing).__name__} {len(text)};".encode())
        digest.update(text)
